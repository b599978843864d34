"""The audit log: every change is in it, it can be searched, and nobody can rewrite it."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, LiteralString
from uuid import UUID, uuid4

import asyncpg
import httpx
import pytest
from litestar.routes import HTTPRoute

from tests.seating.api_support import QUESTIONS, a_new_layout
from tests.support import PASSWORD, MovableClock, Tenant, a_gate, a_venue, an_event
from tests.ticketing.support import a_ticket_type
from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller, Role
from voelgoed.http import create_app
from voelgoed.services import Services

FROM_ELSEWHERE = {"User-Agent": "Audited/1.0", "X-Forwarded-For": "203.0.113.7"}


async def search(client: httpx.AsyncClient, tenant: Tenant, **params: Any) -> list[dict[str, Any]]:
    answer = await client.get("/api/audit", params=params, headers=tenant.as_("admin"))
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def note(services: Services, caller: Caller, action: str, entity_id: object = "1") -> None:
    async with services.database.transaction(caller.organization_id) as tx:
        await record(tx, caller, action, "Thing", str(entity_id))


@dataclass(frozen=True)
class Write:
    """A request that changes something, and what the log says of it."""

    method: str
    path: str
    body: Any
    action: str
    keeps: str | None = None
    """The name under which the id in the answer is used in later paths."""
    by: Role = "owner"
    query: dict[str, str] | None = None


PAID = Write(
    "POST",
    "/api/orders/{order_id:uuid}/payments",
    {"provider": "manual", "method": "cash"},
    "payment_taken",
    keeps="ticket_id:uuid",
    by="box_office",
)
AFTER_ORDERING = {
    "A10": [Write("POST", "/api/orders/{order_id:uuid}/cancellation", None, "order_cancelled")],
    "B1": [
        PAID,
        Write(
            "POST",
            "/api/tickets/{ticket_id:uuid}/reissues",
            {"reason": "lost"},
            "ticket_reissued",
        ),
        Write("POST", "/api/tickets/{ticket_id:uuid}/void", {"reason": "stolen"}, "ticket_voided"),
    ],
    "B10": [
        PAID,
        Write("POST", "/api/orders/{order_id:uuid}/refunds", {"reason": "ill"}, "order_refunded"),
    ],
}
"""What becomes of the order of each seat."""
ELSEWHERE = {
    ("POST", "/api/payment-notices/{provider:str}/{organization_id:uuid}"),
    ("POST", "/api/payments/{payment_id:uuid}/refund-settlement"),
    ("POST", "/api/orders/{order_id:uuid}/letters"),
    ("POST", "/api/events/{event_id:uuid}/ticket-imports"),
    ("POST", "/api/scans"),
    ("POST", "/api/scanning/pair"),
    ("POST", "/api/scanning/key-rotations"),
    ("POST", "/api/scanning/heartbeat"),
    ("PATCH", "/api/scanning/devices/{device_id:uuid}"),
    ("DELETE", "/api/scanning/devices/{device_id:uuid}"),
    ("POST", "/api/scanning/devices/{device_id:uuid}/key-rotations"),
    ("POST", "/api/scanning/admissions"),
    ("POST", "/api/scanning/events/{event_id:uuid}/occupancy/resets"),
    ("POST", "/api/scanning/scans/{scan_id:uuid}/annulment"),
    ("POST", "/api/scanning/tickets/{ticket_id:uuid}/transitions"),
    ("POST", "/api/scanning/alerts/{alert_id:uuid}/transitions"),
    ("POST", "/api/scans/sync"),
    ("POST", "/api/scanning/sync"),
    ("POST", "/api/scanning/conflicts/{conflict_id:uuid}/transitions"),
    ("POST", "/api/scanning/recoveries"),
    ("POST", "/api/scanning/recoveries/{batch_id:uuid}/transitions"),
}
"""By a payment provider, or after it (tests/ticketing/test_payments.py); by a job, when it is done
(test_order_letters.py, test_import_api.py); by a device, to one, or after a scan (tests/scanning)."""

# In an order in which each is possible; every write route of the app is among them.
WRITES = [
    Write("PATCH", "/api/organization", {"name": "Renamed"}, "organization_renamed"),
    Write(
        "POST",
        "/api/users",
        {"email": "n@a.example", "name": "N", "role": "customer", "password": PASSWORD},
        "user_created",
        keeps="user_id:uuid",
    ),
    Write("PATCH", "/api/users/{user_id:uuid}", {"version": 1, "name": "M"}, "user_changed"),
    Write(
        "PUT",
        "/api/users/{user_id:uuid}/password",
        {"new_password": "another password"},
        "password_reset",
    ),
    Write(
        "POST",
        "/api/users/{user_id:uuid}/memberships",
        {"tier": "gold", "valid_from": "2020-01-01T00:00:00Z"},
        "membership_granted",
        keeps="membership_id:uuid",
    ),
    Write(
        "PATCH",
        "/api/memberships/{membership_id:uuid}",
        {"version": 1, "status": "suspended"},
        "membership_changed",
    ),
    Write("POST", "/api/whitelists", {"name": "W"}, "whitelist_created", keeps="whitelist_id:uuid"),
    Write(
        "POST",
        "/api/whitelists/{whitelist_id:uuid}/entries",
        {"email": "f@a.example"},
        "whitelist_entry_added",
    ),
    Write(
        "DELETE",
        "/api/whitelists/{whitelist_id:uuid}/entries",
        None,
        "whitelist_entry_removed",
        query={"email": "f@a.example"},
    ),
    Write("DELETE", "/api/whitelists/{whitelist_id:uuid}", None, "whitelist_deleted"),
    Write("POST", "/api/venues", a_venue(), "venue_created", keeps="venue_id:uuid"),
    Write("PATCH", "/api/venues/{venue_id:uuid}", {"version": 1, "name": "V"}, "venue_changed"),
    Write(
        "POST", "/api/events", an_event("{venue_id:uuid}"), "event_created", keeps="event_id:uuid"
    ),
    Write("PATCH", "/api/events/{event_id:uuid}", {"version": 1, "name": "E"}, "event_changed"),
    Write(
        "POST", "/api/events/{event_id:uuid}/gates", a_gate(), "gate_created", keeps="gate_id:uuid"
    ),
    Write(
        "PATCH",
        "/api/events/{event_id:uuid}/gates/{gate_id:uuid}",
        {"version": 1, "status": "open"},
        "gate_changed",
    ),
    Write(
        "POST",
        "/api/scanning/pairings",
        {"gate_id": "{gate_id:uuid}", "name": "iPad"},
        "device_pairing_created",
    ),
    Write("DELETE", "/api/events/{event_id:uuid}/gates/{gate_id:uuid}", None, "gate_deleted"),
    Write(
        "PUT",
        "/api/events/{event_id:uuid}/scan-policy",
        {"version": 1, "travel_s": 60},
        "scan_policy_changed",
    ),
    Write(
        "POST",
        "/api/events/{event_id:uuid}/ticket-types",
        a_ticket_type(),
        "ticket_type_created",
        keeps="ticket_type_id:uuid",
    ),
    Write(
        "PATCH",
        "/api/ticket-types/{ticket_type_id:uuid}",
        {"version": 1, "status": "off_sale"},
        "ticket_type_changed",
    ),
    Write("DELETE", "/api/ticket-types/{ticket_type_id:uuid}", None, "ticket_type_deleted"),
    Write("POST", "/api/events/{event_id:uuid}/keys", None, "event_key_rotated"),
    Write("DELETE", "/api/events/{event_id:uuid}", None, "event_deleted"),
    Write("DELETE", "/api/venues/{venue_id:uuid}", None, "venue_deleted"),
    Write("POST", "/api/venues", a_venue(), "venue_created", keeps="venue_id:uuid"),
    Write(
        "POST", "/api/events", an_event("{venue_id:uuid}"), "event_created", keeps="event_id:uuid"
    ),
    Write("POST", "/api/events/{event_id:uuid}/transitions", {"to": "published"}, "event_moved"),
    Write(
        "PATCH",
        "/api/seating-policy",
        {"version": 1, "allow_vip_zones": True},
        "seating_policy_changed",
    ),
    Write(
        "POST",
        "/api/venues/{venue_id:uuid}/layouts",
        a_new_layout(),
        "layout_created",
        keeps="layout_id:uuid",
    ),
    Write(
        "POST",
        "/api/layouts/{layout_id:uuid}/versions",
        a_new_layout(status="draft"),
        "layout_created",
        keeps="layout_id:uuid",
    ),
    Write("DELETE", "/api/layouts/{layout_id:uuid}", None, "layout_deleted"),
    Write(
        "POST",
        "/api/venues/{venue_id:uuid}/layouts",
        a_new_layout(status="draft"),
        "layout_created",
        keeps="layout_id:uuid",
    ),
    Write("POST", "/api/layouts/{layout_id:uuid}/transitions", {"to": "active"}, "layout_moved"),
    Write(
        "PUT",
        "/api/events/{event_id:uuid}/layout",
        {"layout_id": "{layout_id:uuid}"},
        "event_layout_set",
    ),
    Write(
        "POST",
        "/api/events/{event_id:uuid}/seat-blocks",
        {"seat_ids": ["A1"], "reason": "broken"},
        "seats_blocked",
        by="box_office",
    ),
    Write(
        "POST",
        "/api/events/{event_id:uuid}/seat-blocks/lifted",
        {"seat_ids": ["A1"], "reason": "mended"},
        "seats_unblocked",
        by="box_office",
    ),
    Write("DELETE", "/api/events/{event_id:uuid}/layout", None, "event_layout_removed"),
    Write(
        "PUT",
        "/api/events/{event_id:uuid}/layout",
        {"layout_id": "{layout_id:uuid}"},
        "event_layout_set",
    ),
    Write(
        "POST",
        "/api/events/{event_id:uuid}/ticket-types",
        a_ticket_type(),
        "ticket_type_created",
        keeps="ticket_type_id:uuid",
    ),
    Write(
        "POST",
        "/api/events/{event_id:str}/seats/{seat_id:str}/reserve",
        {},
        "seat_reserved",
        keeps="hold_id:uuid",
        by="box_office",
    ),
    Write(
        "POST",
        "/api/holds/{hold_id:uuid}/extension",
        None,
        "seat_hold_extended",
        by="box_office",
    ),
    Write("DELETE", "/api/holds/{hold_id:uuid}", None, "seat_released", by="box_office"),
    *(
        write
        for seat in ("A10", "B1", "B10")
        for write in (
            Write(
                "POST",
                "/api/events/{event_id:uuid}/holds",
                {"seat_ids": [seat]},
                "seat_reserved",
                keeps="hold_id:uuid",
                by="box_office",
            ),
            Write(
                "POST",
                "/api/orders",
                {
                    "buyer_name": "Anna",
                    "items": [
                        {"hold_id": "{hold_id:uuid}", "ticket_type_id": "{ticket_type_id:uuid}"}
                    ],
                },
                "order_placed",
                keeps="order_id:uuid",
                by="box_office",
            ),
            *AFTER_ORDERING[seat],
        )
    ),
    Write(
        "PUT",
        "/api/payment-accounts/{provider:str}",
        {"page_url": "https://pay.example", "secret": "sixteen-or-longer"},
        "payment_account_set",
    ),
    Write(
        "PUT",
        "/api/session/password",
        {"current_password": PASSWORD, "new_password": "another password"},
        "password_changed",
    ),
    Write("DELETE", "/api/session", None, "logged_out", by="organiser"),
    Write("DELETE", "/api/sessions", None, "logged_out_everywhere"),
    Write(
        "POST",
        "/api/sessions",
        {"organization": "{slug}", "email": "box_office@acme.example", "password": PASSWORD},
        "logged_in",
        by="box_office",
    ),
    Write(
        "POST",
        "/api/registrations",
        {"organization": "{slug}", "email": "r@a.example", "name": "R", "password": PASSWORD},
        "user_created",
    ),
]


def test_the_writes_below_are_all_the_writes_there_are(services: Services) -> None:
    routes = {
        (method, route.path)
        for route in create_app(services).app.routes
        if isinstance(route, HTTPRoute)
        for method in route.methods - {"GET", "HEAD", "OPTIONS"}
    }
    asking = {("POST", path) for path in QUESTIONS}
    assert asking <= routes
    assert routes - asking - ELSEWHERE == {(write.method, write.path) for write in WRITES}


async def test_every_write_is_in_the_log_with_who_did_it_and_from_where(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    ids: dict[str, str] = {"slug": tenant.slug, "seat_id:str": "A1", "provider:str": "paylink"}
    for write in WRITES:
        path, body = filled_in(write.path, ids), filled_in(write.body, ids)
        # The newest entries before, to tell which ones this write adds.
        known = {entry["id"] for entry in await search(client, tenant, limit=200)}
        is_public = path in ("/api/sessions", "/api/registrations") and write.method == "POST"
        credential = {} if is_public else tenant.as_(write.by)
        answer = await client.request(
            write.method, path, json=body, params=write.query, headers=credential | FROM_ELSEWHERE
        )
        assert answer.is_success, (write, answer.text)
        added = [e for e in await search(client, tenant, limit=200) if e["id"] not in known]
        [entry] = [e for e in added if e["action"] == write.action]
        assert entry["metadata"] == {"ip_address": "203.0.113.7", "user_agent": "Audited/1.0"}
        assert entry["actor_kind"] == "user"
        if write.path != "/api/registrations":  # who registers is nobody yet
            assert entry["actor_id"] == str(tenant.users[write.by]), write
        if write.keeps:
            ids[write.keeps] = found = kept(answer.json()["data"], write.keeps.partition(":")[0])
            if write.keeps == "event_id:uuid":
                ids["event_id:str"] = found
            if write.keeps != "ticket_id:uuid":  # what was done is the payment that made it
                assert entry["entity_id"] == found
        client.cookies.clear()


def filled_in(value: Any, ids: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: filled_in(each, ids) for name, each in value.items()}
    if isinstance(value, list):
        return [filled_in(each, ids) for each in value]
    if isinstance(value, str):
        for name, found in ids.items():
            value = value.replace(f"{{{name}}}", found)
    return value


def kept(data: dict[str, Any], name: str) -> str:
    """The id under which later paths speak of what was made."""
    if name == "ticket_id":
        return data["tickets"][0]["id"]
    if name == "hold_id":
        return data.get("hold_id") or data["holds"][0]["hold_id"]
    return data.get("membership", data.get("order", data))["id"]


async def test_no_password_is_in_the_log(client: httpx.AsyncClient, tenant: Tenant) -> None:
    secret = "the secret of the day"
    headers = tenant.as_("owner")
    new = {"email": "n@a.example", "name": "N", "role": "customer", "password": secret}
    user = (await client.post("/api/users", json=new, headers=headers)).json()["data"]
    reset = {"new_password": secret}
    await client.put(f"/api/users/{user['id']}/password", json=reset, headers=headers)
    assert secret not in str(await search(client, tenant))


async def test_a_change_is_logged_with_what_was_and_what_is(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    path = f"/api/users/{tenant.users['customer']}"
    change = {"version": 1, "name": "acme customer", "role": "box_office"}
    await client.patch(path, json=change, headers=tenant.as_("owner"))
    [entry] = await search(client, tenant, action="user_changed")
    assert entry["changes"] == {"role": {"from": "customer", "to": "box_office"}}


async def test_a_refused_change_is_not_logged(client: httpx.AsyncClient, tenant: Tenant) -> None:
    path = f"/api/users/{tenant.users['owner']}"
    refused = await client.patch(
        path, json={"version": 1, "role": "admin"}, headers=tenant.as_("owner")
    )
    assert refused.status_code == 409
    assert await search(client, tenant) == []


async def test_the_newest_entry_comes_first_and_pages_lead_to_the_oldest(
    client: httpx.AsyncClient, services: Services, tenant: Tenant
) -> None:
    for number in range(7):
        await note(services, tenant.caller(), f"action_{number}")
    seen: list[str] = []
    params: dict[str, Any] = {"limit": 3}
    while True:
        answer = await client.get("/api/audit", params=params, headers=tenant.as_("admin"))
        page = answer.json()
        seen += [entry["action"] for entry in page["data"]]
        if page["next"] is None:
            break
        params["after"] = page["next"]
    assert seen == [f"action_{number}" for number in reversed(range(7))]


async def test_entries_made_while_paging_disturb_nobody(
    client: httpx.AsyncClient, services: Services, tenant: Tenant
) -> None:
    for number in range(4):
        await note(services, tenant.caller(), f"action_{number}")
    first = (
        await client.get("/api/audit", params={"limit": 2}, headers=tenant.as_("admin"))
    ).json()
    await note(services, tenant.caller(), "meanwhile")
    rest = await search(client, tenant, after=first["next"])
    assert [entry["action"] for entry in rest] == ["action_1", "action_0"]


async def test_the_log_can_be_searched_by_everything_it_knows(
    client: httpx.AsyncClient, services: Services, tenant: Tenant
) -> None:
    thing = uuid4()
    await note(services, tenant.caller("owner"), "opened", thing)
    await note(services, tenant.caller("organiser"), "opened", 2)
    await note(services, tenant.caller("organiser"), "closed", thing)

    async def found(**params: Any) -> list[tuple[str, str]]:
        entries = await search(client, tenant, **params)
        return [(entry["action"], entry["entity_id"]) for entry in entries]

    organiser = str(tenant.users["organiser"])
    assert await found(action="opened") == [("opened", "2"), ("opened", str(thing))]
    assert await found(entity_id=str(thing)) == [("closed", str(thing)), ("opened", str(thing))]
    assert await found(actor_id=organiser) == [("closed", str(thing)), ("opened", "2")]
    assert await found(actor_id=organiser, action="opened") == [("opened", "2")]
    assert len(await found(entity_type="Thing")) == 3
    assert await found(entity_type="Nothing") == []
    assert await found(action="open") == []


async def test_since_includes_its_moment_and_until_does_not(
    client: httpx.AsyncClient, services: Services, tenant: Tenant, clock: MovableClock
) -> None:
    for hours in range(3):
        clock.ahead = timedelta(hours=hours)
        await note(services, tenant.caller(), f"hour_{hours}")
    moments = {entry["action"]: entry["at"] for entry in await search(client, tenant)}

    async def found(**params: str) -> list[str]:
        return [entry["action"] for entry in await search(client, tenant, **params)]

    assert await found(since=moments["hour_1"]) == ["hour_2", "hour_1"]
    assert await found(until=moments["hour_1"]) == ["hour_0"]
    assert await found(since=moments["hour_1"], until=moments["hour_2"]) == ["hour_1"]


@pytest.mark.parametrize(
    "params", [{"since": "yesterday"}, {"actor_id": "me"}, {"after": "x"}, {"limit": 1000}]
)
async def test_a_faulty_question_is_refused(
    client: httpx.AsyncClient, tenant: Tenant, params: dict[str, Any]
) -> None:
    answer = await client.get("/api/audit", params=params, headers=tenant.as_("admin"))
    [fault] = answer.json()["details"]["faults"]
    assert (answer.status_code, fault["path"]) == (422, next(iter(params)))


@pytest.mark.parametrize("path", ["/api/audit", "/api/audit.csv"])
@pytest.mark.parametrize("name", ["since", "until"])
@pytest.mark.parametrize("moment", ["2026-11-17T12:00:00", "0001-01-01T00:00:00Z"])
async def test_a_moment_has_an_offset_and_is_of_this_age(
    client: httpx.AsyncClient, tenant: Tenant, path: str, name: str, moment: str
) -> None:
    answer = await client.get(path, params={name: moment}, headers=tenant.as_("admin"))
    assert answer.status_code == 422, "or it would be read by the clock of whatever machine this is"
    assert [fault["path"] for fault in answer.json()["details"]["faults"]] == [name]


async def test_nobody_reads_the_log_of_another_organisation(
    client: httpx.AsyncClient, services: Services, tenant: Tenant, other_tenant: Tenant
) -> None:
    await note(services, tenant.caller(), "ours")
    await note(services, other_tenant.caller(), "theirs")
    assert [entry["action"] for entry in await search(client, tenant)] == ["ours"]


async def test_devices_and_the_system_act_too(
    client: httpx.AsyncClient, services: Services, tenant: Tenant
) -> None:
    await note(services, Caller(kind="system", id=None, organization_id=tenant.id), "tidied")
    device = Caller(kind="device", id=UUID(int=7), organization_id=tenant.id)
    await note(services, device, "scanned")
    scanned, tidied = await search(client, tenant)
    assert (scanned["actor_kind"], scanned["actor_id"]) == ("device", str(UUID(int=7)))
    assert (tidied["actor_kind"], tidied["actor_id"]) == ("system", None)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_entry SET action = 'something else'",
        "UPDATE audit_entry SET at = at",
        "DELETE FROM audit_entry",
        "TRUNCATE audit_entry",
        "DROP TABLE audit_entry",
        "ALTER TABLE audit_entry DISABLE ROW LEVEL SECURITY",
        "INSERT INTO audit_entry SELECT * FROM audit_entry ON CONFLICT (organization_id, id) DO UPDATE SET action = 'x'",
    ],
)
async def test_the_server_cannot_rewrite_the_log(
    services: Services, tenant: Tenant, statement: LiteralString
) -> None:
    await note(services, tenant.caller(), "happened")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        async with services.database.transaction(tenant.id) as tx:
            await tx.run(statement)
    async with services.database.transaction(tenant.id) as tx:
        assert await tx.value(str, "SELECT action FROM audit_entry") == "happened"
