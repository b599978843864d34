"""Ticket types through HTTP: made, listed, changed, deleted, and what each zone costs."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from tests.seating.api_support import (
    ONE,
    PIT,
    TWO,
    Office,
    SeatedEvent,
    a_config,
    a_seated_event,
    faults,
    refusal,
)
from tests.support import Tenant, a_gate
from tests.ticketing.support import DAYS, THREE_DAYS, a_ticket_type, made
from voelgoed.accounts.model import Role
from voelgoed.infra.ids import new_id
from voelgoed.services import Services
from voelgoed.ticketing.actions import ticket_types as actions
from voelgoed.ticketing.actions.ticket_types import give_back, take, types_of
from voelgoed.ticketing.model.refusals import TicketTypeNotFound, TicketTypeSoldOut

CONFIG = a_config(("....",), ("....",), places={"Pit": 20})
RULE = str(UUID(int=71))


@pytest.fixture
async def event(client: httpx.AsyncClient, tenant: Tenant) -> SeatedEvent:
    """Published, of three days, with two zones of seats and a pit."""
    return await a_seated_event(client, tenant, CONFIG, **THREE_DAYS)


async def create(
    event: SeatedEvent, by: Role = "organiser", key: str | None = None, **changes: Any
) -> httpx.Response:
    headers = {"Idempotency-Key": key} if key else {}
    path = f"{event.path}/ticket-types"
    return await event.office.ask("POST", path, a_ticket_type(**changes), by=by, **headers)


async def read(event: SeatedEvent, type_id: object, by: Role = "organiser") -> httpx.Response:
    return await event.office.ask("GET", f"/api/ticket-types/{type_id}", by=by)


async def change(
    event: SeatedEvent, type_id: object, by: Role = "organiser", **changes: Any
) -> httpx.Response:
    body = {"version": 1, **changes}
    return await event.office.ask("PATCH", f"/api/ticket-types/{type_id}", body, by=by)


async def delete(event: SeatedEvent, type_id: object, by: Role = "organiser") -> httpx.Response:
    return await event.office.ask("DELETE", f"/api/ticket-types/{type_id}", by=by)


async def names(event: SeatedEvent, by: Role = "organiser") -> list[str]:
    answer = await event.get("ticket-types", by=by)
    assert answer.status_code == 200, answer.text
    return [each["name"] for each in answer.json()["data"]]


async def prices(event: SeatedEvent, by: Role = "customer") -> dict[str, list[tuple[Any, ...]]]:
    """Name, price and how many are left, by zone."""
    answer = await event.get("prices", by=by)
    assert answer.status_code == 200, answer.text
    return {
        zone["zone_id"]: [(o["name"], o["amount_minor"], o["left"]) for o in zone["offers"]]
        for zone in answer.json()["data"]
    }


async def order_one(services: Services, tenant: Tenant, ticket_type: dict[str, Any]) -> None:
    """As checkout does: one of its tickets in an order."""
    type_id, order_id = UUID(ticket_type["id"]), new_id()
    async with services.database.transaction(tenant.id) as tx:
        await tx.run(
            """
            INSERT INTO ticket_order (organization_id, id, number, event_id, buyer_name, status,
                                      currency, total_minor, secret, held_until, created_at, updated_at)
            VALUES (current_organization(), $1, 'N-1', $2, 'B', 'pending', 'ZAR', 1, 's', $3, $3, $3)
            """,
            order_id,
            UUID(ticket_type["event_id"]),
            tx.now,
        )
        await tx.run(
            """
            INSERT INTO order_line (organization_id, order_id, line, hold_id, ticket_type_id, zone_id,
                                    days, holder_name, price_minor)
            VALUES (current_organization(), $1, 1, $1, $2, $1, '{}', '', 1)
            """,
            order_id,
            type_id,
        )
        await take(tx, {type_id: 1})


async def import_one(services: Services, tenant: Tenant, ticket_type: dict[str, Any]) -> None:
    """A ticket sold elsewhere."""
    async with services.database.transaction(tenant.id) as tx:
        await tx.run(
            """
            INSERT INTO ticket (organization_id, id, event_id, code, barcode_hash, key_number, status,
                                ticket_type_id, days, zone_number, days_mask, created_at, updated_at)
            VALUES (current_organization(), $1, $2, 'AAAA-BBBB-CCCC', '', 1, 'active', $3, '{}', 1, 0,
                    $4, $4)
            """,
            new_id(),
            UUID(ticket_type["event_id"]),
            UUID(ticket_type["id"]),
            tx.now,
        )


async def test_a_ticket_type_is_made_with_little_said(event: SeatedEvent):
    answer = await create(event)
    assert answer.status_code == 201, answer.text
    ticket_type = answer.json()["data"]
    assert ticket_type == ticket_type | {
        "event_id": event.event_id,
        "number": 1,
        "name": "Standard",
        "kind": "seated",
        "entitlement": "unlimited_multi_day",
        "entry_limit": None,
        "max_daily_entries": None,
        "valid_days": None,
        "zone_ids": None,
        "gate_ids": None,
        "reentry": "allowed",
        "prices": [{"amount_minor": 15_000, "pricing_rule_id": None}],
        "quota": None,
        "taken": 0,
        "sold_by": "anybody",
        "status": "on_sale",
        "version": 1,
    }
    assert (await read(event, ticket_type["id"])).json()["data"] == ticket_type
    [entry] = await event.office.audit("ticket_type_created")
    assert (entry["entity_id"], entry["changes"]["name"]) == (ticket_type["id"], "Standard")


async def test_all_of_a_ticket_type_is_kept(event: SeatedEvent):
    gate = await event.office.make(f"{event.path}/gates", a_gate())
    given = a_ticket_type(
        kind="ga",
        description="In front of the stage",
        entitlement="limited_reentry_per_day",
        entry_limit=6,
        max_daily_entries=2,
        valid_days=[str(day) for day in DAYS[:2]],
        zone_ids=[PIT],
        gate_ids=[gate["id"]],
        reentry="after_exit",
        prices=[{"amount_minor": 0, "pricing_rule_id": RULE}, {"amount_minor": 1}],
        quota=20,
        max_per_order=4,
        sold_by="staff",
        status="off_sale",
    )
    ticket_type = await made(event, **given)
    stored = (await read(event, ticket_type["id"])).json()["data"]
    given["prices"][1]["pricing_rule_id"] = None
    assert {name: stored[name] for name in given} == given


async def test_the_types_of_the_specification_can_be_made(event: SeatedEvent):
    both = [str(day) for day in DAYS[:2]]
    for name, kind, entitlement, zone_id in (
        ("orchestra_2day", "seated", "unlimited_multi_day", ONE),
        ("ga_floor_2day", "ga", "ga_seated", PIT),
        ("pit_standing_2day", "ga", "ga_standing", PIT),
        ("vip_2day", "seated", "unlimited_multi_day", TWO),
    ):
        new = {"kind": kind, "entitlement": entitlement, "zone_ids": [zone_id]}
        assert (await create(event, name=name, valid_days=both, **new)).status_code == 201
    assert await names(event) == [
        "orchestra_2day",
        "ga_floor_2day",
        "pit_standing_2day",
        "vip_2day",
    ]


@pytest.mark.parametrize(
    ("broken", "path"),
    [
        ({"name": ""}, "$.name"),
        ({"name": "   "}, "$.name"),
        ({"name": "x" * 201}, "$.name"),
        ({"name": 5}, "$.name"),
        ({"name": "a\x00b"}, "$.name"),
        ({"kind": "standing"}, "$.kind"),
        ({"currency": "zar"}, "$.currency"),
        ({"currency": "RAND"}, "$.currency"),
        ({"currency": "ZAR\n"}, "$.currency"),
        ({"prices": []}, "$.prices"),
        ({"prices": None}, "$.prices"),
        ({"prices": [{"amount_minor": -1}]}, "$.prices[0].amount_minor"),
        ({"prices": [{"amount_minor": 1.5}]}, "$.prices[0].amount_minor"),
        ({"prices": [{"amount_minor": 10**12}]}, "$.prices[0].amount_minor"),
        ({"prices": [{"amount_minor": 1, "discount": 1}]}, "$.prices[0]"),
        ({"prices": [{"amount_minor": 1}] * 201}, "$.prices"),
        ({"entitlement": "everything"}, "$.entitlement"),
        ({"entry_limit": 0}, "$.entry_limit"),
        ({"max_daily_entries": "1"}, "$.max_daily_entries"),
        ({"valid_days": []}, "$.valid_days"),
        ({"valid_days": ["today"]}, "$.valid_days[0]"),
        ({"zone_ids": []}, "$.zone_ids"),
        ({"zone_ids": ["pit"]}, "$.zone_ids[0]"),
        ({"gate_ids": []}, "$.gate_ids"),
        ({"quota": 0}, "$.quota"),
        ({"quota": 10_000_001}, "$.quota"),
        ({"max_per_order": -1}, "$.max_per_order"),
        ({"sold_by": "me"}, "$.sold_by"),
        ({"status": "sold_out"}, "$.status"),
        ({"taken": 1}, "$"),
        ({"number": 9}, "$"),
    ],
)
async def test_what_cannot_be_read_is_refused_with_the_fault(
    event: SeatedEvent, broken: dict[str, Any], path: str
):
    answer = await create(event, **broken)
    assert (refusal(answer), faults(answer)) == ((422, "invalid_request"), [path])


async def test_every_fault_is_told_at_once_and_nothing_made(event: SeatedEvent):
    nowhere = str(uuid4())
    answer = await create(
        event,
        entitlement="unlimited_single_day",
        zone_ids=[nowhere, PIT],
        gate_ids=[nowhere],
        prices=[{"amount_minor": 1}, {"amount_minor": 2}],
        quota=1,
        max_per_order=2,
    )
    assert refusal(answer) == (422, "invalid_ticket_type")
    assert faults(answer) == [
        "$.valid_days",
        "$.zone_ids[0]",
        "$.zone_ids[1]",
        "$.gate_ids[0]",
        "$.prices[1].pricing_rule_id",
        "$.max_per_order",
    ]
    assert await names(event) == []


async def test_an_event_without_a_layout_has_ticket_types_but_no_prices(
    client: httpx.AsyncClient, tenant: Tenant
):
    office = Office(client, tenant)
    venue_id = await office.venue()
    event = SeatedEvent(office, await office.event(venue_id), venue_id, "", {})
    assert (await create(event, kind="ga")).status_code == 201
    answer = await create(event, name="Pit", kind="ga", zone_ids=[PIT])
    assert (refusal(answer), faults(answer)) == ((422, "invalid_ticket_type"), ["$.zone_ids[0]"])
    assert refusal(await event.get("prices", by="owner")) == (404, "event_layout_not_found")


async def test_a_single_entry_is_limited_to_one(event: SeatedEvent):
    ticket_type = await made(event, entitlement="single_entry")
    assert ticket_type["entry_limit"] == 1
    answer = await create(event, name="Two", entitlement="single_entry", entry_limit=2)
    assert (refusal(answer), faults(answer)) == ((422, "invalid_ticket_type"), ["$.entry_limit"])
    after = await change(event, ticket_type["id"], entitlement="unlimited_multi_day")
    assert after.json()["data"]["entry_limit"] is None
    [entry] = await event.office.audit("ticket_type_changed")
    assert entry["changes"] == {
        "entitlement": {"from": "single_entry", "to": "unlimited_multi_day"},
        "entry_limit": {"from": 1, "to": None},
    }


async def test_a_name_is_given_once_at_an_event(event: SeatedEvent):
    other = await made(event, name="Other")
    await made(event)
    assert refusal(await create(event)) == (409, "ticket_type_name_taken")
    answer = await change(event, other["id"], name="Standard")
    assert refusal(answer) == (409, "ticket_type_name_taken")
    elsewhere = await a_seated_event(event.office.client, event.tenant)
    assert (await create(elsewhere)).status_code == 201


async def test_all_types_of_an_event_have_one_currency(event: SeatedEvent):
    first = await made(event)
    answer = await create(event, name="Abroad", currency="EUR")
    assert (refusal(answer), faults(answer)) == ((422, "invalid_ticket_type"), ["$.currency"])
    assert (await delete(event, first["id"])).status_code == 204
    assert (await create(event, name="Abroad", currency="EUR")).status_code == 201


async def test_numbers_are_distinct_and_small_even_at_the_same_moment(event: SeatedEvent):
    answers = await asyncio.gather(*(create(event, name=f"Type {n}") for n in range(8)))
    assert {answer.status_code for answer in answers} == {201}
    made_types = [answer.json()["data"] for answer in answers]
    assert sorted(each["number"] for each in made_types) == list(range(1, 9))
    third = next(each for each in made_types if each["number"] == 3)
    await delete(event, third["id"])
    assert (await made(event, name="Another"))["number"] == 3


async def test_of_two_currencies_at_the_same_moment_one_is_the_events(event: SeatedEvent):
    answers = await asyncio.gather(
        *(create(event, name=each, currency=each) for each in ("ZAR", "EUR", "USD", "GBP"))
    )
    assert sorted(answer.status_code for answer in answers) == [201, 422, 422, 422]


async def test_there_is_an_end_to_the_number_of_ticket_types(
    event: SeatedEvent, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(actions, "TYPES_MAX", 2)
    answers = [await create(event, name=f"Type {n}") for n in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 409]
    assert refusal(answers[-1]) == (409, "too_many_ticket_types")


async def test_the_largest_request_there_may_be_is_taken(client: httpx.AsyncClient, tenant: Tenant):
    config = a_config(places={f"Pit {number}": 1 for number in range(199)})
    event = await a_seated_event(client, tenant, config)
    zones = [zone["zone_id"] for zone in config["zones"][1:]]
    rules = [{"amount_minor": 10**11, "pricing_rule_id": str(uuid4())} for _ in range(200)]
    huge = {"kind": "ga", "zone_ids": zones, "prices": rules, "description": "x" * 5_000}
    assert (await create(event, **huge)).status_code == 201


async def test_a_change_changes_what_it_names_and_nothing_else(event: SeatedEvent):
    before = await made(event, quota=5, zone_ids=[ONE])
    answer = await change(event, before["id"], quota=None, status="off_sale", name="Late")
    after = answer.json()["data"]
    differing = {name for name in before if before[name] != after[name]}
    assert differing == {"quota", "status", "name", "version", "updated_at"}
    assert (await read(event, before["id"])).json()["data"] == after
    [entry] = await event.office.audit("ticket_type_changed")
    assert entry["changes"] == {
        "quota": {"from": 5, "to": None},
        "status": {"from": "on_sale", "to": "off_sale"},
        "name": {"from": "Standard", "to": "Late"},
    }


async def test_kind_currency_number_and_what_is_taken_stay(event: SeatedEvent):
    ticket_type = await made(event)
    for name, value in (("kind", "ga"), ("currency", "EUR"), ("number", 2), ("taken", 0)):
        answer = await change(event, ticket_type["id"], **{name: value})
        assert refusal(answer) == (422, "invalid_request"), name


async def test_a_faulty_change_is_refused_with_its_faults(event: SeatedEvent):
    ticket_type = await made(event, max_per_order=5)
    answer = await change(
        event,
        ticket_type["id"],
        quota=4,
        entitlement="limited_reentry_per_day",
        zone_ids=[PIT],
        valid_days=["1999-12-31"],
    )
    assert refusal(answer) == (422, "invalid_ticket_type")
    assert faults(answer) == [
        "$.max_daily_entries",
        "$.valid_days[0]",
        "$.zone_ids[0]",
        "$.max_per_order",
    ]
    assert (await read(event, ticket_type["id"])).json()["data"] == ticket_type


async def test_what_the_layout_has_lost_does_not_keep_a_type_on_sale(
    client: httpx.AsyncClient, tenant: Tenant
):
    event = await a_seated_event(client, tenant, CONFIG)
    ticket_type = await made(event, zone_ids=[TWO])
    smaller = (await event.office.layout(event.venue_id, a_config(("....",))))["id"]
    assert (await event.put_layout(layout_id=smaller)).status_code == 200
    answer = await change(event, ticket_type["id"], zone_ids=[TWO, ONE])
    assert faults(answer) == ["$.zone_ids[0]"]
    assert (await change(event, ticket_type["id"], status="off_sale")).status_code == 200


async def test_a_change_of_an_older_version_is_refused(event: SeatedEvent):
    ticket_type = await made(event)
    assert (await change(event, ticket_type["id"], name="First")).status_code == 200
    late = await change(event, ticket_type["id"], name="Late")
    assert refusal(late) == (409, "version_conflict")
    assert late.json()["details"] == {"current_version": 2}
    assert (await change(event, ticket_type["id"], version=2, name="Now")).status_code == 200


async def test_of_changes_at_the_same_moment_one_is_made(event: SeatedEvent):
    ticket_type = await made(event)
    answers = await asyncio.gather(
        *(change(event, ticket_type["id"], quota=number + 1) for number in range(6))
    )
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 5


async def test_what_is_sold_meanwhile_is_no_other_version(
    event: SeatedEvent, services: Services, tenant: Tenant
):
    ticket_type = await made(event)
    await order_one(services, tenant, ticket_type)
    after = (await change(event, ticket_type["id"], prices=[{"amount_minor": 1}])).json()["data"]
    assert (after["taken"], after["version"]) == (1, 2)
    assert (await read(event, ticket_type["id"])).json()["data"] == after


async def test_a_quota_is_not_less_than_what_is_taken(
    event: SeatedEvent, services: Services, tenant: Tenant
):
    ticket_type = await made(event, quota=10)
    async with services.database.transaction(tenant.id) as tx:
        await take(tx, {UUID(ticket_type["id"]): 5})
    answer = await change(event, ticket_type["id"], quota=4)
    assert (refusal(answer), faults(answer)) == ((422, "invalid_ticket_type"), ["$.quota"])
    assert (await change(event, ticket_type["id"], quota=5)).status_code == 200


async def test_a_deleted_type_is_gone(event: SeatedEvent):
    ticket_type = await made(event)
    assert (await delete(event, ticket_type["id"])).status_code == 204
    answers = [
        await read(event, ticket_type["id"]),
        await change(event, ticket_type["id"], name="Ghost"),
        await delete(event, ticket_type["id"]),
        await read(event, uuid4()),
    ]
    assert {refusal(answer) for answer in answers} == {(404, "ticket_type_not_found")}
    [entry] = await event.office.audit("ticket_type_deleted")
    assert entry["changes"] == {"name": "Standard"}


async def test_of_deletions_at_the_same_moment_one_is_made(event: SeatedEvent):
    ticket_type = await made(event)
    answers = await asyncio.gather(*(delete(event, ticket_type["id"]) for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [204, 404, 404, 404]
    assert len(await event.office.audit("ticket_type_deleted")) == 1


@pytest.mark.parametrize("use", [order_one, import_one])
async def test_what_was_ordered_or_imported_is_taken_off_sale_not_deleted(
    event: SeatedEvent, services: Services, tenant: Tenant, use: Any
):
    ticket_type = await made(event)
    await use(services, tenant, ticket_type)
    assert refusal(await delete(event, ticket_type["id"])) == (409, "ticket_type_in_use")
    assert (await change(event, ticket_type["id"], status="off_sale")).status_code == 200


@pytest.mark.parametrize(
    "states", [["cancelled"], ["live", "ended"], ["live", "ended", "archived"]]
)
async def test_what_is_over_is_frozen(event: SeatedEvent, states: list[str]):
    ticket_type = await made(event)
    for state in states:
        await event.office.make(f"{event.path}/transitions", {"to": state})
    answers = [
        await create(event, name="Late"),
        await change(event, ticket_type["id"], name="Late"),
        await delete(event, ticket_type["id"]),
    ]
    assert {refusal(answer) for answer in answers} == {(409, "event_frozen")}
    assert await names(event) == ["Standard"]


async def test_ticket_types_go_with_their_draft(client: httpx.AsyncClient, tenant: Tenant):
    event = await a_seated_event(client, tenant, states=())
    ticket_type = await made(event)
    await event.office.ask("DELETE", event.path)
    assert refusal(await read(event, ticket_type["id"])) == (404, "ticket_type_not_found")


async def test_customers_see_what_is_on_sale_to_them(event: SeatedEvent):
    shown = await made(event)
    hidden = [
        await made(event, name="Guests", sold_by="staff"),
        await made(event, name="Later", status="off_sale"),
    ]
    assert await names(event, by="customer") == ["Standard"]
    assert (await read(event, shown["id"], by="customer")).status_code == 200
    for each in hidden:
        answer = await read(event, each["id"], by="customer")
        assert refusal(answer) == (404, "ticket_type_not_found")
        assert (await read(event, each["id"], by="gate_supervisor")).status_code == 200
    assert await names(event, by="box_office") == ["Standard", "Guests", "Later"]


async def test_customers_see_nothing_of_a_draft(client: httpx.AsyncClient, tenant: Tenant):
    event = await a_seated_event(client, tenant, states=())
    ticket_type = await made(event)
    for what in ("ticket-types", "prices"):
        assert refusal(await event.get(what, by="customer")) == (404, "event_not_found")
        assert (await event.get(what, by="box_office")).status_code == 200
    answer = await read(event, ticket_type["id"], by="customer")
    assert refusal(answer) == (404, "ticket_type_not_found")


@pytest.mark.parametrize("role", ["customer", "gate_supervisor", "box_office"])
async def test_ticket_types_are_arranged_by_organisers(event: SeatedEvent, role: Role):
    ticket_type = await made(event)
    answers = [
        await create(event, by=role, name="Mine"),
        await change(event, ticket_type["id"], by=role, name="Mine"),
        await delete(event, ticket_type["id"], by=role),
    ]
    assert {refusal(answer) for answer in answers} == {(403, "permission_denied")}


async def test_what_others_have_does_not_exist(event: SeatedEvent, other_tenant: Tenant):
    theirs = await a_seated_event(event.office.client, other_tenant)
    their_type = (await made(theirs))["id"]
    gate = await theirs.office.make(f"{theirs.path}/gates", a_gate())
    for type_id in (their_type, uuid4()):
        answers = [
            await read(event, type_id),
            await change(event, type_id, name="Mine"),
            await delete(event, type_id),
        ]
        assert {refusal(answer) for answer in answers} == {(404, "ticket_type_not_found")}
    stranger = SeatedEvent(event.office, theirs.event_id, "", "", {})
    answers = [
        await create(stranger),
        await stranger.get("ticket-types"),
        await stranger.get("prices"),
    ]
    assert {refusal(answer) for answer in answers} == {(404, "event_not_found")}
    assert faults(await create(event, gate_ids=[gate["id"]])) == ["$.gate_ids[0]"]


async def test_the_same_command_many_times_at_once_is_one_type(event: SeatedEvent):
    answers = await asyncio.gather(*(create(event, key="once") for _ in range(6)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert await names(event) == ["Standard"]
    other = await create(event, key="once", name="Other")
    assert refusal(other) == (409, "idempotency_key_reused")


async def test_each_zone_costs_what_its_rule_says(client: httpx.AsyncClient, tenant: Tenant):
    overrides = {"pricing_zones": {ONE: {"pricing_rule_id": RULE}}}
    event = await a_seated_event(client, tenant, CONFIG, overrides)
    two = [{"amount_minor": 30_000, "pricing_rule_id": RULE}, {"amount_minor": 15_000}]
    await made(event, prices=two, quota=10)
    await made(event, name="Stalls only", prices=two[:1], sold_by="staff")
    await made(event, name="Standing", kind="ga", prices=[{"amount_minor": 8_000}])
    await made(event, name="Later", status="off_sale")
    public = {
        ONE: [("Standard", 30_000, 10)],
        TWO: [("Standard", 15_000, 10)],
        PIT: [("Standing", 8_000, None)],
    }
    assert await prices(event) == public
    stalls = [*public[ONE], ("Stalls only", 30_000, None)]
    assert await prices(event, by="box_office") == public | {ONE: stalls}


async def test_nothing_is_sold_in_a_zone_that_the_event_leaves_out(event: SeatedEvent):
    await made(event)
    assert (await event.put_layout({"disabled_zones": [TWO]})).status_code == 200
    assert await prices(event) == {ONE: [("Standard", 15_000, None)], TWO: [], PIT: []}


async def test_types_are_found_only_at_their_own_event(
    event: SeatedEvent, services: Services, tenant: Tenant
):
    elsewhere = await a_seated_event(event.office.client, tenant)
    ours, theirs = [UUID((await made(each))["id"]) for each in (event, elsewhere)]
    async with services.database.transaction(tenant.id) as tx:
        assert set(await types_of(tx, UUID(event.event_id), [ours, ours])) == {ours}
        assert await types_of(tx, UUID(event.event_id), []) == {}
        for ids in ([ours, theirs], [uuid4()]):
            with pytest.raises(TicketTypeNotFound):
                await types_of(tx, UUID(event.event_id), ids)


async def test_so_many_of_each_are_taken_or_none(
    event: SeatedEvent, services: Services, tenant: Tenant
):
    few, many = [
        UUID((await made(event, name=name, quota=quota))["id"])
        for name, quota in (("Few", 3), ("Many", None))
    ]
    async with services.database.transaction(tenant.id) as tx:
        await take(tx, {few: 2, many: 7})
    with pytest.raises(TicketTypeSoldOut) as refused:
        async with services.database.transaction(tenant.id) as tx:
            await take(tx, {many: 1, few: 2})
    assert refused.value.details == {"ticket_types": [{"id": str(few), "name": "Few", "left": 1}]}
    with pytest.raises(TicketTypeNotFound):
        async with services.database.transaction(tenant.id) as tx:
            await take(tx, {many: 1, uuid4(): 1})
    async with services.database.transaction(tenant.id) as tx:
        found = await types_of(tx, UUID(event.event_id), [few, many])
        assert (found[few].taken, found[many].taken) == (2, 7)
        await give_back(tx, {few: 2, many: 6})
        found = await types_of(tx, UUID(event.event_id), [few, many])
        assert (found[few].taken, found[many].taken) == (0, 1)
