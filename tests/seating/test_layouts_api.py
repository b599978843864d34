"""Layouts: made once, never changed, told apart by version, served for ever."""

import asyncio
import copy
import gzip
import json
from hashlib import sha256
from typing import Any, LiteralString
from uuid import UUID, uuid4

import asyncpg
import httpx
import pytest

from tests.seating.api_support import (
    ONE,
    PIT,
    TWO,
    Office,
    a_config,
    a_new_layout,
    a_zone,
    faults,
    refusal,
)
from tests.support import Tenant, an_event
from voelgoed.services import Services

MEGABYTE = 1024 * 1024


@pytest.fixture
def office(client: httpx.AsyncClient, tenant: Tenant) -> Office:
    return Office(client, tenant)


@pytest.fixture
async def venue_id(office: Office) -> str:
    return await office.venue()


async def create(
    office: Office, venue_id: str, config: Any = None, key: str | None = None, **changes: Any
) -> httpx.Response:
    headers = {"Idempotency-Key": key} if key else {}
    body = a_new_layout(**changes) if config is None else a_new_layout(**changes, config=config)
    return await office.ask("POST", f"/api/venues/{venue_id}/layouts", body, **headers)


async def next_version(
    office: Office, layout_id: str, key: str | None = None, **changes: Any
) -> httpx.Response:
    headers = {"Idempotency-Key": key} if key else {}
    body = a_new_layout(**changes)
    return await office.ask("POST", f"/api/layouts/{layout_id}/versions", body, **headers)


async def move(office: Office, layout_id: str, to: str) -> httpx.Response:
    return await office.ask("POST", f"/api/layouts/{layout_id}/transitions", {"to": to})


async def read(office: Office, layout_id: str) -> dict[str, Any]:
    return (await office.ask("GET", f"/api/layouts/{layout_id}")).json()["data"]


async def versions(office: Office, venue_id: str) -> dict[int, str]:
    """Every version and its status."""
    answer = await office.ask("GET", f"/api/venues/{venue_id}/layouts")
    return {layout["version"]: layout["status"] for layout in answer.json()["data"]}


async def test_a_new_layout_is_version_one_and_active(office: Office, venue_id: str):
    answer = await create(office, venue_id, a_config(places={"Pit": 30}), description="2026")
    assert answer.status_code == 201
    layout = answer.json()["data"]
    assert (layout["name"], layout["description"]) == ("Main hall", "2026")
    assert (layout["version"], layout["status"]) == (1, "active")
    assert (layout["id"], layout["venue_id"]) == (layout["lineage_id"], venue_id)
    assert (layout["seat_count"], layout["total_capacity"]) == (20, 50)
    assert await read(office, layout["id"]) == layout


async def test_layouts_are_listed_page_by_page_and_of_one_venue(office: Office, venue_id: str):
    made = [(await office.layout(venue_id, name=f"Layout {n}"))["id"] for n in range(3)]
    await office.layout(await office.venue())
    path = f"/api/venues/{venue_id}/layouts"
    first = (await office.ask("GET", f"{path}?limit=2")).json()
    assert [layout["id"] for layout in first["data"]] == made[:2]
    rest = (await office.ask("GET", f"{path}?limit=2&after={first['next']}")).json()
    assert ([layout["id"] for layout in rest["data"]], rest["next"]) == (made[2:], None)


async def test_every_fault_is_named_at_once_and_a_check_names_the_same(
    office: Office, venue_id: str
):
    config = a_config(("..w..", "....."), places={"Pit": 30})
    seats = config["zones"][0]["seats"]
    seats[1] |= {"seat_id": "A1"}
    seats[2] |= {"companion_seat_id": "Z9"}
    seats[3] |= {"coordinates": seats[4]["coordinates"], "colour": "red"}
    config["zones"][0] |= {"capacity": 11, "access_mode": "membership_tier"}
    config["zones"][1] |= {"zone_type": "ga_flying", "capacity": 0}
    config |= {
        "seat_groups": [{"group_type": "wheelchair_pair", "seat_ids": ["A3", "B1"]}],
        "total_capacity": "many",
    }
    answer = await create(office, venue_id, config)
    assert refusal(answer) == (422, "invalid_layout")
    assert set(faults(answer)) >= {
        "$.zones[0].seats[1].seat_id",
        "$.zones[0].seats[2].companion_seat_id",
        "$.zones[0].seats[3].colour",
        "$.zones[0].seats[4].coordinates",
        "$.zones[0].capacity",
        "$.zones[0].membership_tier",
        "$.zones[1].zone_type",
        "$.zones[1].capacity",
        "$.seat_groups[0].seat_ids",
        "$.total_capacity",
    }
    checked = await office.ask("POST", "/api/layout-checks", {"config": config})
    assert checked.status_code == 200
    assert checked.json()["data"] == answer.json()["details"]["faults"]
    assert await versions(office, venue_id) == {}


async def test_a_check_of_a_sound_layout_finds_nothing_and_stores_nothing(
    office: Office, venue_id: str
):
    answer = await office.ask("POST", "/api/layout-checks", {"config": a_config()})
    assert (answer.status_code, answer.json()["data"]) == (200, [])
    vip = a_zone(a_config(), zone_type="vip_reserved", whitelist_id=str(uuid4()))
    vip = a_zone(vip, access_mode="whitelist")
    answer = await office.ask("POST", "/api/layout-checks", {"config": vip})
    assert {fault["path"] for fault in answer.json()["data"]} == {
        "$.zones[0].whitelist_id",  # nobody has such a list
        "$.zones[0].zone_type",  # and the organisation allows no VIP zones
    }
    assert await versions(office, venue_id) == {}


async def test_a_faulty_request_is_refused_with_the_fault(office: Office, venue_id: str):
    path = f"/api/venues/{venue_id}/layouts"
    layout = (await create(office, venue_id)).json()["data"]
    for broken, fault in (
        ({"name": ""}, "$.name"),
        ({"name": "  "}, "$.name"),
        ({"name": "x" * 201}, "$.name"),
        ({"name": "zero \0"}, "$.name"),
        ({"description": "x" * 5_001}, "$.description"),
        ({"status": "archived"}, "$.status"),
        ({"config": []}, "$.config"),
        ({"config": None}, "$.config"),
        ({"colour": "red"}, "$"),
    ):
        for address in (path, f"/api/layouts/{layout['id']}/versions"):
            answer = await office.ask("POST", address, a_new_layout() | broken)
            assert (refusal(answer), faults(answer)) == ((422, "invalid_request"), [fault])
    for empty, where in (({}, "$.zones"), ({"zones": []}, "$.zones"), ({"zones": {}}, "$.zones")):
        answer = await office.ask("POST", path, {"name": "Hall", "config": empty})
        assert (refusal(answer), faults(answer)) == ((422, "invalid_layout"), [where])
    for body, kind, expected in (
        (b"", "application/json", (422, "invalid_request")),
        (b"{", "application/json", (400, "invalid_json")),
        (b"[]", "application/json", (422, "invalid_request")),
        (b"{}", "text/plain", (415, "unsupported_media_type")),
    ):
        headers = office.tenant.as_("organiser") | {"Content-Type": kind}
        answer = await office.client.post(path, content=body, headers=headers)
        assert refusal(answer) == expected
    assert await versions(office, venue_id) == {1: "active"}


async def test_values_that_postgresql_cannot_keep_are_faults_not_failures(
    office: Office, venue_id: str
):
    for metadata in (
        {"note": "a zero \0 in it"},
        {"zero\0": 1},
        {"deep": json.loads("[" * 30 + "]" * 30)},
        {"long": "x" * 5_000},
    ):
        answer = await create(office, venue_id, a_zone(a_config(), metadata=metadata))
        assert refusal(answer) == (422, "invalid_layout"), metadata
        assert faults(answer) == ["$.zones[0].metadata"]
    for number in ("1e400", "-1e400", "9" * 400, "NaN"):
        text = json.dumps(a_new_layout(a_zone(a_config(), metadata={"n": 12345})))
        answer = await office.client.post(
            f"/api/venues/{venue_id}/layouts",
            content=text.replace("12345", number),
            headers=office.tenant.as_("organiser") | {"Content-Type": "application/json"},
        )
        assert answer.status_code in (201, 400, 422), (number, answer.text)


async def test_a_large_body_is_welcome_and_a_huge_one_is_not(office: Office, venue_id: str):
    path = f"/api/venues/{venue_id}/layouts"
    headers = office.tenant.as_("organiser") | {"Content-Type": "application/json"}
    layout = json.dumps(a_new_layout()).encode()
    large = await office.client.post(path, content=layout.ljust(5 * MEGABYTE), headers=headers)
    assert large.status_code == 201
    check = json.dumps({"config": a_config()}).encode()
    for address, body in (
        (path, layout),
        (f"/api/layouts/{large.json()['data']['id']}/versions", layout),
        ("/api/layout-checks", check),
    ):
        huge = body.ljust(24 * MEGABYTE + 1)
        assert refusal(await office.client.post(address, content=huge, headers=headers)) == (
            413,
            "body_too_large",
        )
    assert await versions(office, venue_id) == {1: "active"}


async def test_the_policy_and_whitelists_are_looked_at(office: Office, venue_id: str):
    vip = a_zone(a_config(), zone_type="vip_reserved")
    layout = (await create(office, venue_id)).json()["data"]
    for answer in (
        await create(office, venue_id, vip),
        await next_version(office, layout["id"], config=vip),
    ):
        assert refusal(answer) == (403, "policy_forbids")
        assert faults(answer) == ["$.zones[0].zone_type"]
    await office.policy(allow_vip_zones=True)
    assert (await create(office, venue_id, vip)).status_code == 201
    listed = a_zone(a_config(), access_mode="whitelist", whitelist_id=str(uuid4()))
    answer = await create(office, venue_id, listed)
    assert refusal(answer) == (422, "invalid_layout")
    assert faults(answer) == ["$.zones[0].whitelist_id"]
    friends = await office.make("/api/whitelists", {"name": "friends"})
    listed = a_zone(listed, whitelist_id=friends["id"])
    assert (await create(office, venue_id, listed)).status_code == 201


async def test_the_same_key_gives_the_same_layout(office: Office, venue_id: str):
    first = await create(office, venue_id, key="one")
    assert (await create(office, venue_id, key="one")).json() == first.json()
    answer = await create(office, venue_id, key="one", name="Another")
    assert refusal(answer) == (409, "idempotency_key_reused")
    layout_id = first.json()["data"]["id"]
    at_once = await asyncio.gather(*(next_version(office, layout_id, "two") for _ in range(4)))
    assert {answer.status_code for answer in at_once} == {201}
    assert len({answer.json()["data"]["id"] for answer in at_once}) == 1
    answer = await next_version(office, layout_id, "two", name="Another")
    assert refusal(answer) == (409, "idempotency_key_reused")
    # The same key for another address is another request.
    assert refusal(await create(office, venue_id, key="two")) == (409, "idempotency_key_reused")
    assert await versions(office, venue_id) == {1: "archived", 2: "active"}


async def test_a_new_version_supersedes_the_active_one_and_a_draft_does_not(
    office: Office, venue_id: str
):
    first = await office.layout(venue_id)
    second = (await next_version(office, first["id"], name="Renamed")).json()["data"]
    assert (second["version"], second["status"], second["name"]) == (2, "active", "Renamed")
    assert (second["lineage_id"], second["venue_id"]) == (first["id"], venue_id)
    # From whichever version: the next number is one more than the latest.
    draft = (await next_version(office, first["id"], status="draft")).json()["data"]
    assert (draft["version"], draft["status"]) == (3, "draft")
    assert await versions(office, venue_id) == {1: "archived", 2: "active", 3: "draft"}
    [entry, *_] = await office.audit("layout_created")
    assert entry["entity_id"] == draft["id"]


async def test_what_was_superseded_is_in_the_audit_log(office: Office, venue_id: str):
    first = await office.layout(venue_id)
    second = (await next_version(office, first["id"])).json()["data"]
    assert (await office.audit("layout_created"))[0]["changes"]["superseded"] == first["id"]
    draft = (await next_version(office, first["id"], status="draft")).json()["data"]
    await move(office, draft["id"], "active")
    assert (await office.audit("layout_moved"))[0]["changes"]["superseded"] == second["id"]


async def test_versions_made_at_once_get_different_numbers_and_one_is_active(
    office: Office, venue_id: str
):
    layout_id = (await office.layout(venue_id))["id"]
    answers = await asyncio.gather(*(next_version(office, layout_id) for _ in range(6)))
    assert sorted(answer.json()["data"]["version"] for answer in answers) == [2, 3, 4, 5, 6, 7]
    assert list((await versions(office, venue_id)).values()).count("active") == 1


async def test_versions_are_numbered_though_the_first_is_gone(office: Office, venue_id: str):
    first = await office.layout(venue_id, status="draft")
    second = (await next_version(office, first["id"])).json()["data"]
    assert (await office.ask("DELETE", f"/api/layouts/{first['id']}")).status_code == 204
    answers = await asyncio.gather(*(next_version(office, second["id"]) for _ in range(6)))
    assert [answer.status_code for answer in answers] == [201] * 6
    assert sorted(await versions(office, venue_id)) == [2, 3, 4, 5, 6, 7, 8]


async def test_a_layout_moves_from_draft_to_active_to_archived_and_never_back(
    office: Office, venue_id: str
):
    first = await office.layout(venue_id)
    draft = (await next_version(office, first["id"], status="draft")).json()["data"]
    answer = await move(office, draft["id"], "active")
    assert (answer.status_code, answer.json()["data"]["status"]) == (200, "active")
    assert await versions(office, venue_id) == {1: "archived", 2: "active"}
    for layout_id, to, allowed in (
        (first["id"], "active", []),
        (first["id"], "draft", []),
        (draft["id"], "draft", ["archived"]),
    ):
        answer = await move(office, layout_id, to)
        assert refusal(answer) == (409, "invalid_layout_transition")
        assert answer.json()["details"]["allowed"] == allowed
    assert (await move(office, draft["id"], "archived")).json()["data"]["status"] == "archived"
    again = await move(office, draft["id"], "archived")
    assert again.status_code == 200
    assert len(await office.audit("layout_moved")) == 2
    assert refusal(await move(office, str(uuid4()), "active")) == (404, "layout_not_found")
    assert refusal(await move(office, draft["id"], "ready")) == (422, "invalid_request")


async def test_drafts_made_active_at_once_leave_one_active(office: Office, venue_id: str):
    first = await office.layout(venue_id)
    drafts = [
        (await next_version(office, first["id"], status="draft")).json()["data"]["id"]
        for _ in range(3)
    ]
    answers = await asyncio.gather(*(move(office, draft, "active") for draft in drafts * 2))
    # Whoever comes second for a draft finds it active, or archived by the next one.
    assert {answer.status_code for answer in answers} <= {200, 409}
    assert {refusal(a)[1] for a in answers if a.status_code == 409} <= {"invalid_layout_transition"}
    assert list((await versions(office, venue_id)).values()).count("active") == 1


async def test_only_a_draft_can_be_deleted(office: Office, venue_id: str):
    active = await office.layout(venue_id)
    draft = (await next_version(office, active["id"], status="draft")).json()["data"]
    path = f"/api/layouts/{draft['id']}"
    assert (await office.ask("DELETE", path)).status_code == 204
    assert refusal(await office.ask("DELETE", path)) == (404, "layout_not_found")
    assert refusal(await office.ask("GET", path)) == (404, "layout_not_found")
    answer = await office.ask("DELETE", f"/api/layouts/{active['id']}")
    assert refusal(answer) == (409, "layout_not_draft")
    await move(office, active["id"], "archived")
    answer = await office.ask("DELETE", f"/api/layouts/{active['id']}")
    assert refusal(answer) == (409, "layout_not_draft")
    assert refusal(await office.ask("DELETE", f"/api/venues/{venue_id}")) == (409, "venue_in_use")


async def test_the_server_cannot_change_a_layout(services: Services, tenant: Tenant):
    statements: tuple[LiteralString, ...] = (
        "UPDATE layout SET config = '{}'",
        "UPDATE layout SET config_hash = 'x'",
        "UPDATE layout SET version = version + 1",
        "UPDATE layout SET name = 'x', status = 'draft'",
        "TRUNCATE layout",
    )
    for statement in statements:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with services.database.transaction(tenant.id) as tx:
                await tx.run(statement)


async def test_a_config_is_served_for_ever_under_its_hash(office: Office, venue_id: str):
    config = a_config(places={"Pit": 30}, links={})
    # In an order and a spelling that PostgreSQL does not keep.
    metadata = {"rows": 2, "a": {"z": 1e16, "b": [1, -0.0, 2.5, None, "\u00e9\u2028"]}}
    config["zones"][0] |= {"metadata": metadata}
    config["zones"][0]["seats"][0]["coordinates"] = {"x": -0.0, "y": 12.25}
    layout = await office.layout(venue_id, config)
    path = f"/api/layouts/{layout['id']}/config"
    plain = await office.ask("GET", path, by="customer", **{"Accept-Encoding": "identity"})
    assert plain.status_code == 200
    assert "content-encoding" not in plain.headers
    assert plain.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert plain.headers["vary"] == "Accept-Encoding"
    assert plain.headers["content-type"].startswith("application/json")
    assert plain.headers["etag"] == f'"{layout["config_hash"]}"'
    assert sha256(plain.content).hexdigest() == layout["config_hash"]
    served = plain.json()
    assert [zone["name"] for zone in served["zones"]] == ["Zone 1", "Pit"]
    assert served["zones"][0]["metadata"] == config["zones"][0]["metadata"]
    assert [seat["seat_id"] for seat in served["zones"][0]["seats"]] == [
        seat["seat_id"] for seat in config["zones"][0]["seats"]
    ]
    async with office.client.stream(
        "GET", path, headers=office.tenant.as_("customer") | {"Accept-Encoding": "br, GZIP"}
    ) as packed:
        raw = b"".join([chunk async for chunk in packed.aiter_raw()])
        assert packed.headers["content-encoding"] == "gzip"
        assert packed.headers["etag"] == plain.headers["etag"]
        assert gzip.decompress(raw) == plain.content


async def test_who_has_the_config_already_is_told_so(office: Office, venue_id: str):
    layout = await office.layout(venue_id)
    path, tag = f"/api/layouts/{layout['id']}/config", f'"{layout["config_hash"]}"'
    for known in (tag, f"W/{tag}", f'"another", {tag}'):
        answer = await office.ask("GET", path, by="customer", **{"If-None-Match": known})
        assert (answer.status_code, answer.content) == (304, b"")
        assert answer.headers["etag"] == tag
        assert "immutable" in answer.headers["cache-control"]
    for unknown in ('"another"', tag.upper(), ""):
        answer = await office.ask("GET", path, by="customer", **{"If-None-Match": unknown})
        assert answer.status_code == 200
    same = await office.layout(venue_id)
    assert same["config_hash"] == layout["config_hash"], "of equal configs"
    answer = await office.ask("GET", f"/api/layouts/{uuid4()}/config")
    assert refusal(answer) == (404, "layout_not_found")


async def test_two_versions_are_compared_seat_by_seat(office: Office, venue_id: str):
    before = a_config(TWO_AND_TWO := ("....", "...."), ("..",), places={"Pit": 30})
    after = copy.deepcopy(a_config(TWO_AND_TWO, ("..",), places={"Floor": 40}))
    after["zones"][2]["zone_id"] = str(UUID(int=300))
    seats = after["zones"][0]["seats"]
    seats[0]["coordinates"] = {"x": -1.0, "y": 0.0}
    seats[1]["category"] = "restricted_view"
    seats[2] |= {"number": 30}
    after["zones"][1]["seats"].append(seats.pop())  # B4 is now upstairs
    after["zones"][0]["seats"] = [*seats[:6], seats[6] | {"seat_id": "new"}]  # B3 is gone
    after["zones"][0] |= {"capacity": 7, "name": "Stalls"}
    after["zones"][1] |= {"capacity": 3}
    first = await office.layout(venue_id, before)
    second = (await next_version(office, first["id"], config=after)).json()["data"]
    answer = await office.ask("GET", f"/api/layouts/{first['id']}/diff/{second['id']}")
    assert answer.json()["data"] == {
        "added": ["new"],
        "removed": ["B3"],
        "moved": [{"seat_id": "A1", "before": {"x": 0, "y": 0}, "after": {"x": -1, "y": 0}}],
        "recategorised": [{"seat_id": "A2", "before": "standard", "after": "restricted_view"}],
        "relabelled": [{"seat_id": "A3", "before": "A 3", "after": "A 30"}],
        "rezoned": [{"seat_id": "B4", "before": ONE, "after": TWO}],
        "zones_added": [str(UUID(int=300))],
        "zones_removed": [PIT],
        "zones_changed": [ONE, TWO],
        "companions_changed": [],
        "groups_changed": False,
        "focal_point_moved": False,
    }
    back = await office.ask("GET", f"/api/layouts/{second['id']}/diff/{first['id']}")
    assert (back.json()["data"]["added"], back.json()["data"]["removed"]) == (["B3"], ["new"])
    same = await office.ask("GET", f"/api/layouts/{first['id']}/diff/{first['id']}")
    assert not any(same.json()["data"].values())
    for pair in (f"{uuid4()}/diff/{first['id']}", f"{first['id']}/diff/{uuid4()}"):
        assert refusal(await office.ask("GET", f"/api/layouts/{pair}")) == (404, "layout_not_found")


async def test_there_are_no_layouts_of_an_unknown_venue(office: Office):
    path = f"/api/venues/{uuid4()}/layouts"
    assert refusal(await office.ask("GET", path)) == (404, "venue_not_found")
    assert refusal(await office.ask("POST", path, a_new_layout())) == (404, "venue_not_found")
    answer = await next_version(office, str(uuid4()))
    assert refusal(answer) == (404, "layout_not_found")
    assert refusal(await office.ask("POST", "/api/events", an_event(str(uuid4())))) == (
        404,
        "venue_not_found",
    )
