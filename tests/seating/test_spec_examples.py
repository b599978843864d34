"""The examples of the seating specification, one by one."""

from datetime import timedelta
from typing import Any

import httpx
import msgspec
import pytest

from tests.seating.api_support import (
    ONE,
    Office,
    SeatedEvent,
    a_config,
    a_new_layout,
    a_seated_event,
    hold,
    hold_places,
    refusal,
    release,
    sell,
    sell_places,
)
from tests.support import SOON, Tenant
from voelgoed.seating.actions import places as place_actions
from voelgoed.seating.actions import seats as seat_actions
from voelgoed.seating.model.refusals import BlockAtCapacity, SeatNotAvailable
from voelgoed.seating.samples import sample
from voelgoed.services import Services

FRIDAY, SATURDAY = SOON.date(), (SOON + timedelta(days=1)).date()
TIER = "voelgoed_vriendinne"


@pytest.fixture
async def festival(client: httpx.AsyncClient, tenant: Tenant) -> SeatedEvent:
    """Two days; orchestra, floor, pit and a lounge for members."""
    await Office(client, tenant).policy(allow_vip_zones=True)
    config = msgspec.to_builtins(sample("festival"))
    ends = (SOON + timedelta(days=1, hours=5)).isoformat()
    return await a_seated_event(client, tenant, config, ends_at=ends, capacity=1_050)


def zone_id(event: SeatedEvent, name: str) -> str:
    return next(zone["zone_id"] for zone in event.config["zones"] if zone["name"] == name)


async def inventory(event: SeatedEvent) -> dict[str, tuple[int, int, int]]:
    """Available, held and sold by zone, and in total."""
    counts = await event.availability()
    counted = {zone["name"]: zone for zone in counts["zones"]} | {"Total": counts}
    return {name: (c["available"], c["held"], c["sold"]) for name, c in counted.items()}


async def test_the_festival_has_four_zones_and_1050_places(festival: SeatedEvent):
    assert await inventory(festival) == {
        "Orchestra": (300, 0, 0),
        "Floor": (400, 0, 0),
        "Pit": (300, 0, 0),
        "VIP Lounge": (50, 0, 0),
        "Total": (1_050, 0, 0),
    }
    assert (await festival.availability())["capacity"] == 1_050


async def test_two_orchestra_seats_a_floor_and_a_pit_ticket_are_booked_together(
    services: Services, festival: SeatedEvent
):
    floor, pit = zone_id(festival, "Floor"), zone_id(festival, "Pit")
    seats = await hold(services, festival, "O-A-5 O-A-6")
    one = await hold_places(services, festival, 1, zone_id=floor)
    other = await hold_places(services, festival, 1, zone_id=pit)
    assert await inventory(festival) == {
        "Orchestra": (298, 2, 0),
        "Floor": (399, 1, 0),
        "Pit": (299, 1, 0),
        "VIP Lounge": (50, 0, 0),
        "Total": (1_046, 4, 0),
    }
    view = await festival.view(services)
    async with services.database.transaction(festival.tenant.id) as tx:
        positions = [view.position("O-A-5"), view.position("O-A-6")]
        await seat_actions.sell(tx, view, positions, [seats])
        for hold_id, places in (one, other):
            await place_actions.sell_places(tx, view, [places], [hold_id])
    assert await inventory(festival) == {
        "Orchestra": (298, 0, 2),
        "Floor": (399, 0, 1),
        "Pit": (299, 0, 1),
        "VIP Lounge": (50, 0, 0),
        "Total": (1_046, 0, 4),
    }


async def test_a_seat_is_one_for_all_days_and_a_place_is_one_a_day(
    services: Services, festival: SeatedEvent
):
    await sell(services, festival, "O-A-5")
    with pytest.raises(SeatNotAvailable):
        await hold(services, festival, "O-A-5")  # there is no Saturday of its own to be had
    orchestra = await festival.zone(zone_id(festival, "Orchestra"))
    assert (orchestra["sold"], orchestra["days"]) == (1, [])
    pit = zone_id(festival, "Pit")
    await sell_places(services, festival, 300, FRIDAY, zone_id=pit)
    with pytest.raises(BlockAtCapacity) as full:
        await hold_places(services, festival, 1, FRIDAY, SATURDAY, zone_id=pit)
    assert full.value.details["available"] == 0
    await sell_places(services, festival, 2, SATURDAY, zone_id=pit)
    found = await festival.zone(pit)
    assert [(day["day"], day["available"], day["sold"]) for day in found["days"]] == [
        (str(FRIDAY), 0, 300),
        (str(SATURDAY), 298, 2),
    ]
    assert found["available"] == 0, "for a pass of both days"


async def test_zones_do_not_share_their_places(services: Services, festival: SeatedEvent):
    await sell_places(services, festival, 400, zone_id=zone_id(festival, "Floor"))
    found = await inventory(festival)
    assert (found["Floor"], found["Pit"]) == ((0, 0, 400), (300, 0, 0))
    assert found["Total"] == (650, 0, 400)


async def test_a_budget_event_leaves_the_lounge_out(festival: SeatedEvent):
    lounge = zone_id(festival, "VIP Lounge")
    answer = await festival.put_layout({"disabled_zones": [lounge]})
    assert answer.status_code == 200
    assert (await inventory(festival))["VIP Lounge"] == (0, 0, 0)
    assert (await inventory(festival))["Total"] == (1_000, 0, 0)


async def test_the_lounge_is_for_voelgoed_vriendinne_and_their_listed_friends(
    festival: SeatedEvent,
):
    office, lounge = festival.office, zone_id(festival, "VIP Lounge")
    friends = await office.make("/api/whitelists", {"name": "friends of Vriendinne"})
    override = {"zone_overrides": {lounge: {"whitelist_id": friends["id"]}}}
    assert (await festival.put_layout(override)).status_code == 200

    async def ask(*guests: str) -> httpx.Response:
        return await festival.post(f"zones/{lounge}/access-checks", {"guests": guests})

    answer = await ask()
    assert refusal(answer) == (403, "zone_access_denied")
    assert answer.json()["details"]["reason"] == "membership_required"
    membership = await grant(office, str(festival.tenant.users["customer"]))
    [admitted] = (await ask()).json()["data"]["admitted"]
    assert admitted["associated_membership_id"] == membership["id"]
    three = ["ann@example.org", "bea@example.org", "cor@example.org"]
    assert (await ask(*three)).json()["details"]["guest"] == "ann@example.org"
    new = {"email": three[0], "name": "Ann", "role": "customer", "password": "correct horse b"}
    ann = (await office.ask("POST", "/api/users", new, by="admin")).json()["data"]
    await grant(office, ann["id"])
    for friend in three[1:]:
        await office.make(f"/api/whitelists/{friends['id']}/entries", {"email": friend})
    assert len((await ask(*three)).json()["data"]["admitted"]) == 4
    path = f"/api/memberships/{membership['id']}"
    await office.ask("PATCH", path, {"version": 1, "status": "cancelled"}, by="admin")
    answer = await ask(*three)
    assert answer.json()["details"]["reason"] == "membership_inactive", "revoked"


async def grant(office: Office, user_id: str) -> dict[str, Any]:
    new = {"tier": TIER, "valid_from": "2020-01-01T00:00:00Z"}
    answer = await office.ask("POST", f"/api/users/{user_id}/memberships", new, by="admin")
    return answer.json()["data"]["membership"]


async def test_a_companion_seat_waits_until_the_zone_is_85_percent_full(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    event = await a_seated_event(client, tenant, a_config(("..wc................",)))
    assert (await event.check("A3"))["bookable"], "a wheelchair place can be booked alone"
    wheelchair = await hold(services, event, "A3")
    assert await event.seats("soft_reserved") == "A4"
    assert [p["code"] for p in (await event.check("A4"))["problems"]] == ["seat_soft_reserved"]
    await release(services, event, "A3", wheelchair)
    assert await event.seats("soft_reserved") == "", "the other way round"
    await sell(services, event, "A3")
    await sell(services, event, " ".join(f"A{n}" for n in range(6, 21)))
    zone = await event.zone()
    assert (zone["percent_full"], zone["soft_reserved"]) == (80.0, 1)
    assert "A4" not in [seat["seat_id"] for seat in (await event.best(2)).json()["data"]["seats"]]
    await sell(services, event, "A5")
    zone = await event.zone()
    assert (zone["percent_full"], zone["soft_reserved"], zone["available"]) == (85.0, 0, 3)
    assert (await event.check("A4"))["bookable"], "anybody's now"
    assert (await event.best(1)).json()["data"]["seats"][0]["seat_id"] == "A4"


async def test_every_accessibility_booking_is_in_the_log_unless_the_policy_says_otherwise(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    event = await a_seated_event(client, tenant, a_config(("..wc..wc..",)))
    await hold(services, event, "A1 A3")
    [entry] = await event.office.audit("wheelchair_booking")
    assert entry["changes"]["seat_id"] == "A3"
    assert entry["changes"]["companion_seat_ids"] == ["A4"]
    assert entry["changes"]["companion_soft_reserved"] is True
    await event.office.policy(accessibility_audit_enabled=False)
    await hold(services, event, "A7")
    assert len(await event.office.audit("wheelchair_booking")) == 1


async def test_booking_a2_and_a4_of_five_would_leave_seats_alone(
    client: httpx.AsyncClient, tenant: Tenant
):
    event = await a_seated_event(client, tenant, a_config((".....",)))
    check = await event.check("A2 A4")
    assert {"A1", "A3"} <= set(check["orphans"])
    assert check["bookable"] is False
    assert all(choice["orphans"] == [] for choice in check["alternatives"])


async def test_a_pair_gets_two_seats_side_by_side_and_leaves_none_alone(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    """1(av) 2(X) 3(av) 4(av) 5(X) 6(av) 7(av) 8(av) 9(X) 10(av). The document says 6 and 7, which
    would leave 8 alone; 3 and 4 leave nothing, as it asks for two lines above."""
    event = await a_seated_event(client, tenant, a_config(("..........",)))
    await sell(services, event, "A2 A5 A9")
    proposal = (await event.best(2)).json()["data"]
    assert [seat["seat_id"] for seat in proposal["seats"]] == ["A3", "A4"]
    assert (proposal["together"], proposal["orphans"]) == (True, [])


async def test_a_row_of_single_seats_has_no_pairs_but_two_seats_apart(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    event = await a_seated_event(client, tenant, a_config((".....",)))
    await hold(services, event, "A2 A4")
    answer = await event.best(2)
    assert refusal(answer) == (409, "no_suitable_seats")
    proposal = (await event.best(2, apart=True)).json()["data"]
    assert proposal["together"] is False
    assert proposal["message"].startswith("1 seat in Row A")
    assert proposal["message"].endswith("1 seat in Row A (same row).")
    await event.office.policy(group_adjacency_strict=True)
    answer = await event.best(2, apart=True)
    assert answer.json()["message"] == "No suitable seat pairs available."


async def test_after_a_sale_a_change_of_the_layout_is_another_version(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    event = await a_seated_event(client, tenant, a_config(("..........",)))
    await sell(services, event, "A5")
    path = f"/api/layouts/{event.layout_id}/versions"
    moved = a_config(("..........", ".........."))
    newer = await event.office.make(path, a_new_layout(moved))
    assert newer["version"] == 2
    answer = await event.put_layout(layout_id=newer["id"])
    assert refusal(answer) == (409, "layout_frozen")
    assert (await event.map())["A5"] == "sold"
    for layout_id, seats in ((event.layout_id, 10), (newer["id"], 20)):
        kept = await event.office.ask("GET", f"/api/layouts/{layout_id}/config")
        assert len(kept.json()["zones"][0]["seats"]) == seats, "both are kept"
    # A seat that is in both is the same seat.
    seat = (await event.get("seats/A5")).json()["data"]
    other_id = await event.office.event(event.venue_id, "published")
    other = SeatedEvent(event.office, other_id, event.venue_id, newer["id"], moved)
    await other.put_layout(version=None)
    assert (await other.get("seats/A5")).json()["data"]["id"] == seat["id"]
    assert (await other.map())["A5"] == "available", "and free at another event"
    assert seat["zone_id"] == ONE
