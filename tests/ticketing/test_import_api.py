"""Tickets sold elsewhere, from a file to the gate: through HTTP, the job, and whatever goes wrong."""

import asyncio
import csv
from collections.abc import AsyncIterator
from datetime import timedelta
from io import StringIO
from random import Random
from types import NoneType
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx
import pytest

from tests.conftest import serving
from tests.seating.api_support import PIT, hold, hold_places, refusal, sell
from tests.support import MovableClock, Tenant, a_client
from tests.ticketing.hold_support import customers, heard
from tests.ticketing.import_support import (
    CSV,
    Desk,
    a_desk,
    a_file,
    codes,
    counts,
    seated,
    standing,
)
from tests.ticketing.support import DAYS, a_ticket_type, made
from voelgoed.infra.database import Database
from voelgoed.infra.jobs import RETRIES_MAX
from voelgoed.infra.refusal import Refusal, StorageUnavailable
from voelgoed.seating.model.refusals import SeatsChangedMeanwhile
from voelgoed.services import Services, build_services, running
from voelgoed.ticketing.actions import import_batch, import_run, imports
from voelgoed.ticketing.actions.event_keys import list_event_keys, signer_of
from voelgoed.ticketing.actions.imports import ABANDONED_AFTER, give_up_abandoned
from voelgoed.ticketing.model.imports import FILE_BYTES_MAX, UNFINISHED_MAX
from voelgoed.ticketing.rules.barcode import barcode_hash, read_barcode, verify_barcode

HEADER = b"code,type,zone\n"


@pytest.fixture
async def desk(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> Desk:
    return await a_desk(services, client, tenant)


@pytest.fixture
def few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a few lines are several batches, and a short file is several chunks."""
    monkeypatch.setattr(import_run, "BATCH_ROWS", 4)
    monkeypatch.setattr(imports, "CHUNK_BYTES", 100)


# What becomes of a line.


async def test_seats_and_places_are_sold_and_tickets_are_there(desk: Desk) -> None:
    imported = await desk.done(
        seated("A1", code="aaaa-0000-0001", name="Anna", email="a@b.example", price_minor=450),
        standing(code="AAAA-0000-0002", days=f"{DAYS[0]} {DAYS[2]}", reference="ORDER 7"),
    )
    assert counts(imported) == (2, 0, 0)
    seat, place = await desk.tickets()
    assert (seat["code"], seat["seat_label"], seat["zone_number"]) == ("AAAA-0000-0001", "A1", 1)
    assert (seat["holder_name"], seat["holder_email"]) == ("Anna", "a@b.example")
    assert (seat["price_minor"], seat["order_id"], seat["status"]) == (450, None, "active")
    assert (seat["days"], seat["days_mask"]) == (DAYS, 0)
    assert (place["seat_id"], place["zone_id"], place["hold_id"]) == (None, UUID(PIT), None)
    assert (place["days"], place["days_mask"]) == ([DAYS[0], DAYS[2]], 0b101)
    assert (place["zone_number"], place["external_reference"]) == (2, "ORDER 7")
    assert await desk.event.seats("sold") == "A1"
    zone = await desk.event.zone(PIT)
    assert [day["sold"] for day in zone["days"]] == [1, 0, 1]
    assert await desk.taken() == {"Standard": 1, "Standing": 1}
    await desk.check()


async def test_barcodes_are_signed_over_what_the_tickets_say(desk: Desk) -> None:
    await desk.done(seated("B7"), standing(reference="7", days=DAYS[1]))
    event_id = UUID(desk.event.event_id)
    database, caller = desk.services.database, desk.tenant.caller()
    [key] = await list_event_keys(database, caller, event_id)
    numbers = {"Standard": 1, "Standing": 2}
    types = {each["id"]: each["name"] for each in await desk.table("SELECT * FROM ticket_type")}
    for ticket in await desk.tickets():
        async with database.transaction(desk.tenant.id) as tx:
            signer = await signer_of(tx, desk.services.master_key, event_id, ticket["key_number"])
        text, _ = signer.sign(
            ticket["code"],
            ticket_id=ticket["id"],
            issue=1,
            ticket_type_number=numbers[types[ticket["ticket_type_id"]]],
            zone_number=ticket["zone_number"],
            days=ticket["days_mask"],
            seat_label=ticket["seat_label"] or "",
        )
        assert barcode_hash(text) == ticket["barcode_hash"]
        barcode = read_barcode(text)
        assert barcode is not None
        assert verify_barcode(barcode, event_id, {1: key.public_key})


async def test_a_seat_that_was_imported_is_given_back_when_its_ticket_is_void(desk: Desk) -> None:
    await desk.done(seated("A1", reference="7"), standing(reference="8"))
    for ticket in await desk.tickets():
        path = f"/api/tickets/{ticket['id']}/void"
        answer = await desk.event.office.ask("POST", path, {"reason": "lost"}, by="box_office")
        assert answer.is_success, answer.text
    assert await desk.event.seats("sold") == ""
    await desk.check()
    again = await desk.done(seated("A1", reference="7"), standing(reference="8"))
    assert counts(again) == (0, 2, 0), "what was made void stays void"


async def test_seats_that_are_held_sold_or_blocked_are_faults_and_the_rest_is_imported(
    desk: Desk, clock: MovableClock
) -> None:
    services, event = desk.services, desk.event
    await hold(services, event, "A1 A2", holder="customer")
    await sell(services, event, "A3")
    await event.block("A4")
    clock.ahead = timedelta(minutes=4, seconds=55)
    await hold(services, event, "A5", until=clock.now() + timedelta(seconds=1))
    clock.ahead = timedelta(minutes=4, seconds=57)
    imported = await desk.done(*(seated(f"A{number}") for number in range(1, 7)))
    assert counts(imported) == (2, 0, 4)
    held = "seat is held by somebody right now"
    assert await desk.faults(imported) == [
        (2, "seat", held),
        (3, "seat", held),
        (4, "seat", "seat is sold"),
        (5, "seat", "seat is blocked"),
    ]
    assert await event.seats("sold") == "A3 A5 A6"


async def test_seats_that_the_events_layout_does_not_sell_are_blocked(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
) -> None:
    desk = await a_desk(services, client, tenant, overrides={"blocked_seat_ids": ["A1"]})
    imported = await desk.done(seated("A1"), seated("A2"))
    assert counts(imported) == (1, 0, 1)
    assert await desk.faults(imported) == [(2, "seat", "seat is blocked")]


async def test_a_zone_is_full_when_places_are_sold_and_held(desk: Desk) -> None:
    await hold_places(desk.services, desk.event, 2, DAYS[1])
    rows = [standing(code=code) for code in codes(5)]
    imported = await desk.done(*rows, standing(code="LAST-0000-0001", days=DAYS[0]))
    assert counts(imported) == (4, 0, 2)
    assert await desk.faults(imported) == [
        (5, "zone", "zone is full"),
        (6, "zone", "zone is full"),
    ]
    await desk.check()


async def test_a_quota_is_respected(desk: Desk) -> None:
    await made(desk.event, name="Few", kind="ga", quota=2)
    imported = await desk.done(
        *(standing("Floor", type="Few", code=code) for code in codes(3)), seated("A1")
    )
    assert counts(imported) == (3, 0, 1)
    assert await desk.faults(imported) == [(4, "type", "ticket type is sold out")]
    assert await desk.taken() == {"Standard": 1, "Standing": 0, "Few": 2}


async def test_a_type_that_is_not_on_sale_here_may_have_been_sold_elsewhere(desk: Desk) -> None:
    await made(desk.event, name="Elsewhere", kind="ga", status="off_sale", sold_by="staff")
    assert counts(await desk.done(standing(type="Elsewhere", reference="1"))) == (1, 0, 0)


async def test_all_faults_of_a_line_are_reported_at_once(desk: Desk) -> None:
    imported = await desk.done(
        {"code": "x", "type": "y", "zone": "z", "seat": "", "email": "e"}, standing(reference="1")
    )
    assert counts(imported) == (1, 0, 1)
    assert [(line, field) for line, field, _ in await desk.faults(imported)] == [
        (2, "code"),
        (2, "type"),
        (2, "zone"),
        (2, "email"),
    ]


async def test_lines_without_any_identity_are_refused(desk: Desk) -> None:
    imported = await desk.done(standing())
    assert await desk.faults(imported) == [(2, "code", "needs a code, or a seat, or a reference")]


async def test_a_draft_without_a_layout_takes_tickets_for_its_gates(
    services: Services, client: httpx.AsyncClient, tenant: Tenant, desk: Desk
) -> None:
    office = desk.event.office
    event_id = await office.event(desk.event.venue_id)
    await office.make(f"/api/events/{event_id}/ticket-types", a_ticket_type(kind="ga", quota=2))
    path = f"/api/events/{event_id}/ticket-imports"
    content = a_file(*({"code": code, "type": "Standard"} for code in codes(3)))
    for expected in ((2, 0, 1), (0, 2, 1)):
        answer = await client.post(path, content=content, headers=tenant.as_("organiser") | CSV)
        await desk.run(UUID(answer.json()["data"]["id"]))
        assert counts(await desk.read(UUID(answer.json()["data"]["id"]))) == expected
    assert {ticket["zone_number"] for ticket in await desk.tickets()} == {0}
    deleted = await office.ask("DELETE", f"/api/events/{event_id}")
    assert refusal(deleted) == (409, "event_has_tickets")


# Again.


async def test_the_same_file_again_changes_nothing(desk: Desk) -> None:
    rows = [
        seated("A1", code=codes(1)[0], name="Anna"),
        seated("A2", name="Ben"),
        seated("A3", reference="ORDER-7"),
        *[standing(reference="ORDER-7", name="Carl")] * 2,
        standing(code=codes(1, start=5)[0], days=DAYS[0]),
    ]
    assert counts(await desk.done(*rows)) == (6, 0, 0)
    before = await desk.tickets()
    assert counts(await desk.done(*rows)) == (0, 6, 0)
    assert counts(await desk.done(*reversed(rows))) == (0, 6, 0)
    assert await desk.tickets() == before
    await desk.check()


async def test_a_code_with_another_content_is_taken_also_at_another_event(
    services: Services, client: httpx.AsyncClient, tenant: Tenant, desk: Desk
) -> None:
    [code] = codes(1)
    await desk.done(standing(code=code))
    changed = await desk.done(standing(code=code, name="Somebody else"))
    assert await desk.faults(changed) == [(2, "code", "code is taken by another ticket")]
    other = await a_desk(services, client, tenant)
    elsewhere = await other.done(standing(code=code))
    assert await other.faults(elsewhere) == [(2, "code", "code is taken by another ticket")]
    assert len(await desk.tickets()) == 1


async def test_another_organisation_may_have_the_same_codes(
    services: Services, client: httpx.AsyncClient, other_tenant: Tenant, desk: Desk
) -> None:
    other = await a_desk(services, client, other_tenant)
    [code] = codes(1)
    for each in (desk, other):
        assert counts(await each.done(standing(code=code))) == (1, 0, 0)


async def test_a_seat_that_was_imported_for_somebody_else_is_sold(desk: Desk) -> None:
    await desk.done(seated("A1", name="Anna"))
    imported = await desk.done(seated("A1", name="Ben"))
    assert await desk.faults(imported) == [(2, "seat", "seat is sold")]


async def test_a_ticket_passed_on_here_is_still_the_one_in_the_file(desk: Desk) -> None:
    row = standing(code=codes(1)[0], name="Anna", email="anna@people.example")
    await desk.done(row)
    [ticket] = await desk.tickets()
    to_ben = {"holder_name": "Ben", "reason": "a present"}
    path = f"/api/tickets/{ticket['id']}/reissues"
    answer = await desk.event.office.ask("POST", path, to_ben, by="box_office")
    assert answer.is_success, answer.text
    assert counts(await desk.done(row)) == (0, 1, 0)


@pytest.mark.usefixtures("few_at_a_time")
async def test_two_imports_of_one_file_at_once_are_one(desk: Desk) -> None:
    rows = [
        *(seated(f"A{number}", name="x") for number in range(1, 11)),
        *(seated(f"B{number}", code=code) for number, code in enumerate(codes(10), start=1)),
        *[standing(reference="7")] * 3,
        standing("Floor", code="AAAA-AAAA-AAAA"),
    ]
    both = [await desk.sent(a_file(*rows)) for _ in range(2)]
    await asyncio.gather(*(desk.run(import_id) for import_id in both))
    one, other = [await desk.read(import_id) for import_id in both]
    assert one["created"] + other["created"] == 24
    assert one["created"] + one["unchanged"] == other["created"] + other["unchanged"] == 24
    assert one["faulty"] == other["faulty"] == 0
    assert len(await desk.tickets()) == 24
    await desk.check()


async def test_without_taking_turns_they_would_be_two(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: the lock on the event's imports is what the test above relies on."""
    begun = asyncio.Barrier(2)

    async def no_lock(*_: object) -> None: ...

    async def together(*arguments: Any) -> Any:
        found = await really(*arguments)
        async with asyncio.timeout(60):
            await begun.wait()
        return found

    really = import_batch.imported_tickets.find_identities
    monkeypatch.setattr(import_batch.imports, "lock_event_imports", no_lock)
    monkeypatch.setattr(import_batch.imported_tickets, "find_identities", together)
    both = [await desk.sent(a_file(standing(reference="7"))) for _ in range(2)]
    outcomes = await asyncio.gather(
        *(desk.run(import_id) for import_id in both), return_exceptions=True
    )
    # By the ticket that is there already, or before that by the places, which are no longer as they were.
    caught = asyncpg.UniqueViolationError | Refusal
    assert any(isinstance(outcome, caught) for outcome in outcomes), outcomes


# Stopped half-way.


class Stopped(Exception):
    pass


@pytest.mark.usefixtures("few_at_a_time")
@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize("how", ["raised", "cancelled"])
async def test_an_import_that_died_half_way_goes_on_where_it_was(
    desk: Desk, how: str, dry_run: bool
) -> None:
    rows = [
        *(seated(f"A{number}") for number in range(1, 11)),
        seated("A1", code="AAAA-AAAA-AAAA"),
        *[standing(reference="7", name="Anna")] * 3,
        {"type": "nothing"},
        *(standing("Floor", code=code) for code in codes(4)),
    ]
    import_id = await desk.sent(a_file(*rows), dry_run=dry_run)
    reached = asyncio.Event()

    def stop(done: int, _total: int) -> None:
        if done == 8 and how == "raised":
            raise Stopped
        if done == 8:
            reached.set()

    task = asyncio.create_task(desk.run(import_id, stop))
    if how == "cancelled":
        await reached.wait()
        task.cancel()
    with pytest.raises((Stopped, asyncio.CancelledError)):
        await task
    half = await desk.read(import_id)
    assert (half["status"], half["created"]) == ("running", half["rows_read"])
    assert half["rows_read"] in (8, 12)
    assert half["rows_total"] == len(rows)
    seen: list[int] = []
    await desk.run(import_id, lambda done, _total: seen.append(done))
    whole = await desk.read(import_id)
    assert counts(whole) == (16, 0, 3)
    assert await desk.faults(whole) == [
        (12, "seat", "seat is on line 2 already"),
        (16, "code", "needs a code, or a seat, or a reference"),
        (16, "type", "is no ticket type of this event"),
        (16, "zone", "is needed by a ticket without a seat"),
        (20, "zone", "zone is full"),
    ]
    assert len(await desk.tickets()) == (0 if dry_run else 16)
    await desk.check()
    await desk.run(import_id)
    assert await desk.read(import_id) == whole, "what is done is done once"


@pytest.mark.usefixtures("few_at_a_time")
async def test_killed_again_and_again_it_still_does_everything_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Right before a COMMIT, and right after."""
    rows = [
        *(seated(f"B{number}", reference="7") for number in range(1, 11)),
        *[standing(reference="8")] * 4,
    ]
    import_id = await desk.sent(a_file(*rows))
    random = Random(7)
    add_progress = import_batch.imports.add_progress
    remember = import_batch.Batches._remember

    async def before(*arguments: Any) -> None:
        await add_progress(*arguments)
        if random.random() < 0.3:
            raise StorageUnavailable()

    def after(*arguments: Any) -> None:
        remember(*arguments)
        if random.random() < 0.3:
            raise Stopped

    monkeypatch.setattr(import_batch.imports, "add_progress", before)
    monkeypatch.setattr(import_batch.Batches, "_remember", after)
    monkeypatch.setattr(import_run, "RETRIES_MAX", 1_000)
    for _ in range(100):
        try:
            await desk.run(import_id)
            break
        except (StorageUnavailable, Stopped):
            continue
    assert counts(await desk.read(import_id)) == (14, 0, 0)
    assert len(await desk.tickets()) == 14
    await desk.check()


@pytest.mark.usefixtures("few_at_a_time")
async def test_two_workers_on_one_import_do_it_once(desk: Desk) -> None:
    rows = [standing("Floor", code=code) for code in codes(3)] + [
        seated(f"A{number}") for number in range(1, 11)
    ]
    import_id = await desk.sent(a_file(*rows))
    outcomes = await asyncio.gather(
        *(desk.run(import_id) for _ in range(3)), return_exceptions=True
    )
    assert {type(each) for each in outcomes} <= {NoneType, import_batch.TakenOver}
    await desk.run(import_id)  # whoever was not first looks again later
    assert counts(await desk.read(import_id)) == (13, 0, 0)
    await desk.check()


async def test_seats_taken_at_the_very_moment_are_faults_and_nobody_loses_theirs(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody is faster between the look and the sale: it is looked at again."""
    really = import_batch.sold_elsewhere.look
    faster = iter(["A1", "A2"])

    async def look(*arguments: Any) -> Any:
        found = await really(*arguments)
        if (seat := next(faster, None)) is not None:
            await hold(desk.services, desk.event, seat)
        return found

    monkeypatch.setattr(import_batch.sold_elsewhere, "look", look)
    imported = await desk.done(*(seated(f"A{number}") for number in range(1, 5)))
    assert counts(imported) == (2, 0, 2)
    assert [line for line, _, _ in await desk.faults(imported)] == [2, 3]
    assert await desk.event.seats("held") == "A1 A2"
    await desk.check()


@pytest.mark.usefixtures("few_at_a_time")
@pytest.mark.parametrize("seed", range(5))
async def test_no_seat_is_imported_from_under_who_holds_it(desk: Desk, seed: int) -> None:
    """While ten people take seats and places of the same zones."""
    seats = [f"{row}{number}" for row in "AB" for number in range(1, 11)]
    Random(seed).shuffle(seats)
    rows = [seated(seat) for seat in seats] + [standing(code=code) for code in codes(5)]
    people = await customers(desk.services, desk.client, desk.tenant, 10)
    import_id = await desk.sent(a_file(*rows))

    async def take(number: int) -> list[httpx.Response]:
        await asyncio.sleep(number * 0.005)
        who, event = people[number], desk.event
        places = [{"zone_id": PIT, "count": 1}]
        return [await who.reserve(event, seats[-number]), await who.book(event, places=places)]

    answers, _ = await asyncio.gather(
        asyncio.gather(*(take(number) for number in range(10))), desk.run(import_id)
    )
    imported = await desk.read(import_id)
    held = [answer.status_code == 201 for pair in answers for answer in pair]
    assert imported["created"] + imported["faulty"] == 25
    assert imported["created"] + sum(held) <= 25
    assert {message for _, _, message in await desk.faults(imported)} <= {
        "seat is held by somebody right now",
        "zone is full",
    }
    found = await desk.table("SELECT seat_id FROM seat_hold WHERE seat_id IS NOT NULL")
    state = await desk.table("SELECT seat_id FROM seat_state WHERE status = 'held'")
    assert sorted(each["seat_id"] for each in found) == sorted(each["seat_id"] for each in state)
    await desk.check()


async def test_a_crowd_makes_the_batches_smaller(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who wants many seats at once is never fast enough while others take some all the time."""
    sizes: list[int] = []
    really = import_batch.sold_elsewhere.sell_seats

    async def crowded(tx: Any, view: Any, look: Any, sold: Any) -> None:
        sizes.append(len(sold))
        if len(sold) > 3:
            raise SeatsChangedMeanwhile
        await really(tx, view, look, sold)

    monkeypatch.setattr(import_batch, "SPLIT_ROWS_MIN", 2)
    monkeypatch.setattr(import_batch.sold_elsewhere, "sell_seats", crowded)
    imported = await desk.done(*(seated(f"A{number}", name="x") for number in range(1, 11)))
    assert counts(imported) == (10, 0, 0)
    assert sizes == [10, 5, 2, 3, 5, 2, 3]
    await desk.check()


async def test_who_is_never_fast_enough_tries_again_later(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def too_slow(*_: object) -> None:
        raise SeatsChangedMeanwhile

    monkeypatch.setattr(import_batch, "RETRY_AFTER_S", (0.0, 0.0))
    import_id = await desk.sent(a_file(seated("A1"), standing(reference="7")))
    with monkeypatch.context() as crowded:
        crowded.setattr(import_batch.sold_elsewhere, "sell_seats", too_slow)
        with pytest.raises(SeatsChangedMeanwhile):
            await desk.run(import_id)
    assert (await desk.read(import_id))["status"] == "running"
    await desk.run(import_id)
    assert counts(await desk.read(import_id)) == (2, 0, 0)
    await desk.check()


async def test_places_and_quotas_taken_at_the_very_moment_are_respected(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await made(desk.event, name="Few", kind="ga", quota=2)
    really = import_batch.sold_elsewhere.look
    first = True

    async def look(*arguments: Any) -> Any:
        nonlocal first
        found = await really(*arguments)
        if first:
            first = False
            await hold_places(desk.services, desk.event, 4)
            await desk.table("UPDATE ticket_type SET taken = 1 WHERE name = 'Few' RETURNING id")
        return found

    monkeypatch.setattr(import_batch.sold_elsewhere, "look", look)
    few = [standing("Floor", type="Few", code=code) for code in codes(2, start=50)]
    imported = await desk.done(*(standing(code=code) for code in codes(3)), *few)
    assert counts(imported) == (2, 0, 3)
    assert await desk.faults(imported) == [
        (3, "zone", "zone is full"),
        (4, "zone", "zone is full"),
        (6, "type", "ticket type is sold out"),
    ]


# Only looked at.


@pytest.mark.usefixtures("few_at_a_time")
async def test_a_dry_run_says_what_an_import_then_does_and_writes_no_ticket(desk: Desk) -> None:
    await made(desk.event, name="Few", kind="ga", quota=3)
    await desk.event.block("A2")
    rows = [
        *(seated(f"A{number}") for number in range(1, 11)),
        *(standing(code=code) for code in codes(7)),
        *(standing("Floor", type="Few", code=code) for code in codes(4, start=100)),
        standing(code=codes(1)[0]),
    ]
    said = await desk.done(*rows, dry_run=True)
    assert (said["dry_run"], said["status"]) == (True, "done")
    assert await desk.tickets() == []
    assert await desk.event.seats("sold") == ""
    assert await desk.table("SELECT * FROM event_key") == []
    assert await desk.table("SELECT * FROM ticket_import_identity") == []
    done = await desk.done(*rows)
    assert counts(said) == counts(done) == (17, 0, 5)
    assert await desk.faults(said) == await desk.faults(done)
    assert counts(await desk.done(*rows, dry_run=True)) == (0, 17, 5)


async def test_a_dry_run_needs_no_master_key_and_an_import_does(
    services: Services, tenant: Tenant, desk: Desk
) -> None:
    without = build_services(services.settings, services.database.url, services.clock)
    async with (
        running(without, with_jobs=False),
        serving(without) as url,
        a_client(url) as client,
    ):
        keyless = Desk(without, desk.event, client)
        refused = await keyless.send(a_file(standing(reference="1")))
        assert refusal(refused) == (503, "master_key_missing")
        assert counts(await keyless.done(standing(reference="1"), dry_run=True)) == (1, 0, 0)


# Files.


async def test_only_a_header_is_an_import_of_nothing(desk: Desk) -> None:
    imported = await desk.file_done(HEADER)
    assert counts(imported) == (0, 0, 0)
    assert imported["file_bytes"] == len(HEADER)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", (1, "file", "is empty; its first line must name the columns")),
        (b"PK\x03\x04\x14\x00" + bytes(200), (1, "file", "is a zip file or a workbook")),
        ("type,zone\nZoë,Pit\n".encode("latin-1"), (2, "file", "is not UTF-8")),
        (b"code,type,colour\n", (1, "header", "`colour` is no column")),
        (b"code,zone\n", (1, "header", "the column `type` is missing")),
    ],
)
async def test_what_is_no_table_of_tickets_is_refused_at_once(
    desk: Desk, content: bytes, fault: tuple[int, str, str]
) -> None:
    answer = await desk.send(content)
    assert refusal(answer) == (422, "invalid_ticket_file")
    [found] = answer.json()["details"]["faults"]
    assert (found["line"], found["field"]) == fault[:2]
    assert found["message"].startswith(fault[2])
    assert await desk.table("SELECT * FROM ticket_import") == []


async def test_a_wrong_encoding_far_into_the_file_fails_before_anything_is_imported(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "CHUNK_BYTES", 100)
    monkeypatch.setattr(import_run, "BATCH_ROWS", 2)
    rows = a_file(*(standing(code=code, name="Anna") for code in codes(20)))
    imported = await desk.file_done(rows + "TEST-0000-9999,Standing,Pit,Zoë\n".encode("latin-1"))
    assert imported["status"] == "failed"
    assert imported["problem"].startswith("Line 22: file is not UTF-8")
    [fault] = await desk.faults(imported)
    assert fault[:2] == (22, "file")
    assert await desk.tickets() == []
    assert await desk.table("SELECT * FROM ticket_import_chunk") == []


async def test_a_file_of_exactly_the_limit_is_taken_and_one_byte_more_is_not(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def pieces(size: int) -> AsyncIterator[bytes]:
        """Without saying beforehand how much there is."""
        yield HEADER
        size -= len(HEADER)
        blank = (b" " * 999 + b"\n") * 1_000
        for at in range(0, size, len(blank)):
            yield blank[: size - at]

    refused = await desk.send(pieces(FILE_BYTES_MAX + 1))
    assert refusal(refused) == (413, "body_too_large")
    assert await desk.table("SELECT * FROM ticket_import") == []
    assert await desk.table("SELECT * FROM ticket_import_chunk") == []
    taken = await desk.send(pieces(FILE_BYTES_MAX))
    assert taken.status_code == 202
    assert taken.json()["data"]["file_bytes"] == FILE_BYTES_MAX
    import_id = UUID(taken.json()["data"]["id"])
    await desk.run(import_id)
    assert counts(await desk.read(import_id)) == (0, 0, 0)


async def test_a_file_that_is_announced_too_large_is_not_read(desk: Desk) -> None:
    """By who says so in `Content-Length`, and then waits."""
    url = desk.client.base_url
    reader, writer = await asyncio.open_connection(url.host, url.port)
    token = desk.tenant.tokens["organiser"]
    head = f"POST {desk.path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
    head += f"Content-Type: text/csv\r\nContent-Length: {FILE_BYTES_MAX + 1}\r\n\r\n"
    writer.write(head.encode())
    assert b" 413 " in await reader.readline()
    writer.close()


async def test_a_sender_who_leaves_leaves_nothing_behind(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "CHUNK_BYTES", 10)
    url = desk.client.base_url
    _, writer = await asyncio.open_connection(url.host, url.port)
    token = desk.tenant.tokens["organiser"]
    head = f"POST {desk.path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
    head += "Content-Type: text/csv\r\nContent-Length: 1000\r\n\r\n"
    writer.write(head.encode() + HEADER + b"x" * 100)
    async with asyncio.timeout(10):
        while not await desk.table("SELECT * FROM ticket_import_chunk"):
            await asyncio.sleep(0.01)
        writer.close()
        while await desk.table("SELECT * FROM ticket_import"):
            await asyncio.sleep(0.01)
    assert await desk.table("SELECT * FROM ticket_import_chunk") == []


async def test_a_file_that_never_comes_is_not_waited_for_for_ever(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("voelgoed.ticketing.api.UPLOAD_S", 0.2)
    monkeypatch.setattr(imports, "CHUNK_BYTES", 10)

    async def stalling() -> AsyncIterator[bytes]:
        yield HEADER
        await asyncio.sleep(2)
        yield HEADER

    assert refusal(await desk.send(stalling())) == (408, "body_too_slow")
    assert await desk.table("SELECT * FROM ticket_import") == []


async def test_other_kinds_of_body_are_refused_and_text_is_taken_nowhere_else(desk: Desk) -> None:
    for kind in ("application/json", "text/plain", "application/zip", "multipart/form-data"):
        answer = await desk.send(HEADER, headers={"Content-Type": kind})
        assert refusal(answer) == (415, "unsupported_media_type"), kind
    with_charset = await desk.send(HEADER, headers={"Content-Type": "Text/CSV; charset=utf-8"})
    assert with_charset.status_code == 202
    for path in ("/api/venues", f"{desk.event.path}/gates", f"{desk.path}/faults"):
        answer = await desk.client.post(
            path, content=HEADER, headers=desk.tenant.as_("owner") | CSV
        )
        assert refusal(answer) == (415, "unsupported_media_type"), path


async def test_a_page_of_another_site_cannot_send_one(desk: Desk) -> None:
    headers = {"Cookie": f"voelgoed_session={desk.tenant.tokens['owner']}", **CSV}
    answer = await desk.client.post(
        desk.path, content=HEADER, headers=headers | {"Sec-Fetch-Site": "cross-site"}
    )
    assert refusal(answer) == (403, "cross_site_request")


async def test_the_file_is_gone_when_it_is_done(desk: Desk) -> None:
    import_id = await desk.sent(a_file(standing(reference="1")))
    assert len(await desk.table("SELECT * FROM ticket_import_chunk")) == 1
    await desk.run(import_id)
    assert await desk.table("SELECT * FROM ticket_import_chunk") == []


# How it is told.


@pytest.mark.own_database
async def test_the_answer_comes_at_once_and_the_job_does_the_work(desk: Desk) -> None:
    answer = await desk.send(
        a_file(standing(reference="1"), seated("A1")), file_name="Sold at the market.csv"
    )
    assert answer.status_code == 202
    waiting = answer.json()["data"]
    assert (waiting["status"], waiting["rows_total"]) == ("waiting", None)
    assert waiting["file_name"] == "Sold at the market.csv"
    assert waiting["actor_id"] == str(desk.tenant.users["organiser"])
    desk.services.jobs.start()
    async with asyncio.timeout(30):
        while (imported := await desk.read(UUID(waiting["id"])))["status"] != "done":
            await asyncio.sleep(0.02)
    assert counts(imported) == (2, 0, 0)
    await desk.check()


@pytest.mark.own_database
@pytest.mark.usefixtures("few_at_a_time")
async def test_progress_is_visible_while_it_runs(desk: Desk) -> None:
    import_id = await desk.sent(a_file(*(seated(f"A{n}") for n in range(1, 11))))
    seen: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    looks: list[asyncio.Task[None]] = []

    async def look() -> None:
        seen.append(await desk.read(import_id))

    await desk.run(import_id, lambda *_: looks.append(loop.create_task(look())))
    await asyncio.gather(*looks)
    assert [each["rows_total"] for each in seen] == [10, 10, 10]
    assert seen[0]["status"] == "running"
    assert seen[0]["rows_read"] < 10


async def test_an_import_is_on_record_once_with_its_counts(desk: Desk) -> None:
    imported = await desk.done(seated("A1"), seated("A2"), seated("Z9"), file_name="x.csv")
    [requested] = await desk.event.office.audit("ticket_import_requested")
    assert requested["actor_id"] == str(desk.tenant.users["organiser"])
    assert requested["changes"]["file_name"] == "x.csv"
    [entry] = await desk.event.office.audit("tickets_imported")
    assert (entry["entity_type"], entry["entity_id"]) == ("TicketImport", imported["id"])
    assert (entry["actor_kind"], entry["actor_id"]) == ("user", requested["actor_id"])
    about = {"rows": 3, "created": 2, "unchanged": 0, "faulty": 1, "file_name": "x.csv"}
    assert entry["changes"] == about | {"event_id": desk.event.event_id}
    [event] = await desk.table("SELECT * FROM domain_event WHERE name = 'TicketsImported'")
    assert str(event["subject_id"]) == imported["id"]
    await desk.done(seated("A3"), dry_run=True)
    assert len(await desk.event.office.audit("tickets_imported")) == 1
    assert len(await desk.event.office.audit("ticket_import_requested")) == 2


@pytest.mark.own_database
async def test_faults_are_read_in_pages_and_as_a_table(desk: Desk) -> None:
    """Ten thousand of them."""
    rows = [{"code": code, "type": "none"} for code in codes(5_000)]
    imported = await desk.done(*rows, file_name="f.csv")
    assert counts(imported) == (0, 0, 5_000)
    path = f"/api/ticket-imports/{imported['id']}/faults"
    first = (await desk.get(path, limit=3)).json()
    assert first["data"] == [
        {"line": 2, "field": "type", "message": "is no ticket type of this event"},
        {"line": 2, "field": "zone", "message": "is needed by a ticket without a seat"},
        {"line": 3, "field": "type", "message": "is no ticket type of this event"},
    ]
    then = (await desk.get(path, limit=1, after=first["next"])).json()
    assert then["data"][0]["line"] == 3
    end = (await desk.get(path, limit=200, after=9_900)).json()
    assert (len(end["data"]), end["next"]) == (100, None)
    answer = await desk.get(f"{path}.csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="faults.csv"'
    table = list(csv.DictReader(StringIO(answer.text, newline="")))
    assert len(table) == 10_000
    assert table[-1] == {
        "line": "5001",
        "field": "zone",
        "message": "is needed by a ticket without a seat",
    }


async def test_faults_beyond_the_limit_are_counted_and_not_kept(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_batch, "FAULTS_MAX", 7)
    monkeypatch.setattr(import_run, "BATCH_ROWS", 3)
    imported = await desk.done(*({"code": code, "type": "none"} for code in codes(10)))
    assert counts(imported) == (0, 0, 10)
    assert len(await desk.faults(imported)) == 7


async def test_imports_are_listed_the_newest_first(desk: Desk) -> None:
    ids = [str(await desk.sent(HEADER, file_name=f"{number}.csv")) for number in range(3)]
    page = (await desk.get(desk.path, limit=2)).json()
    assert [each["id"] for each in page["data"]] == [ids[2], ids[1]]
    rest = (await desk.get(desk.path, limit=2, after=page["next"])).json()
    assert ([each["id"] for each in rest["data"]], rest["next"]) == ([ids[0]], None)


@pytest.mark.own_database
async def test_the_same_key_sends_a_file_once(desk: Desk) -> None:
    key = {"Idempotency-Key": "one", **CSV}
    one, again = [await desk.send(HEADER, headers=key) for _ in range(2)]
    assert one.json() == again.json()
    assert len(await desk.table("SELECT * FROM ticket_import")) == 1
    assert len(await desk.table("SELECT * FROM pgqueuer")) == 1
    other = await desk.send(HEADER + b"x,y,z\n", headers=key)
    assert refusal(other) == (409, "idempotency_key_reused")
    assert len(await desk.table("SELECT * FROM ticket_import")) == 1


@pytest.mark.own_database
async def test_too_many_at_a_time_are_too_many(desk: Desk, clock: MovableClock) -> None:
    for _ in range(UNFINISHED_MAX):
        await desk.sent(HEADER)
    assert refusal(await desk.send(HEADER)) == (409, "too_many_imports")
    clock.ahead = timedelta(hours=2)  # those that stand still keep nobody waiting
    await desk.sent(HEADER)


async def test_who_watches_hears_of_imported_seats_and_that_places_may_be_fewer(desk: Desk) -> None:
    await heard(desk.services, desk.tenant)  # of how the event was made
    wake = asyncio.Event()
    topic = f"seats:{desk.event.event_id}"
    following = desk.services.live.follow(desk.tenant.id, topic, wake)
    await desk.event.map()  # into the cache
    await desk.done(seated("A1"), seated("B2"))
    told: list[object] = []
    async with asyncio.timeout(10):
        while len(told) < 2:  # by two publishers, in either order
            await wake.wait()
            wake.clear()
            told += [envelope.data for envelope in following.take()]
    assert {"event": "seats_changed", "seats": [[0, 2], [11, 2]]} in told
    assert {"event": "places_changed", "seats": [], "places": None} in told
    assert await desk.event.seats("sold") == "A1 B2"


# Who may, and where.


async def test_customers_and_who_only_sells_may_not_import(desk: Desk) -> None:
    import_id = await desk.sent(HEADER)
    for role in ("customer", "gate_supervisor", "box_office"):
        assert refusal(await desk.send(HEADER, by=role)) == (403, "permission_denied")
        for path in (
            desk.path,
            f"/api/ticket-imports/{import_id}",
            f"/api/ticket-imports/{import_id}/faults",
            f"/api/ticket-imports/{import_id}/faults.csv",
        ):
            assert refusal(await desk.get(path, by=role)) == (403, "permission_denied"), path
    assert (await desk.client.post(desk.path, content=HEADER, headers=CSV)).status_code == 401


async def test_another_organisation_finds_nothing(desk: Desk, other_tenant: Tenant) -> None:
    import_id = await desk.sent(a_file({"type": "x"}))
    await desk.run(import_id)
    headers = other_tenant.as_("owner")
    answer = await desk.client.post(desk.path, content=HEADER, headers=headers | CSV)
    assert refusal(answer) == (404, "event_not_found")
    assert refusal(await desk.client.get(desk.path, headers=headers)) == (404, "event_not_found")
    for path in ("", "/faults", "/faults.csv"):
        answer = await desk.client.get(f"/api/ticket-imports/{import_id}{path}", headers=headers)
        assert refusal(answer) == (404, "ticket_import_not_found")


async def test_an_event_that_is_over_takes_no_tickets(desk: Desk) -> None:
    office = desk.event.office
    import_id = await desk.sent(a_file(seated("A1")))
    await office.make(f"{desk.event.path}/transitions", {"to": "cancelled"})
    assert refusal(await desk.send(HEADER)) == (409, "event_frozen")
    await desk.run(import_id)
    imported = await desk.read(import_id)
    assert imported["status"] == "failed"
    assert "can no longer be changed" in imported["problem"]
    assert await desk.tickets() == []


async def test_an_unknown_event_is_not_found(desk: Desk) -> None:
    headers = desk.tenant.as_("owner")
    path = f"/api/events/{uuid4()}/ticket-imports"
    answer = await desk.client.post(path, content=HEADER, headers=headers | CSV)
    assert refusal(answer) == (404, "event_not_found")
    assert refusal(await desk.client.get(path, headers=headers)) == (404, "event_not_found")


@pytest.mark.parametrize("file_name", ["", "x" * 201, "a\nb"])
async def test_a_wrong_file_name_is_refused(desk: Desk, file_name: str) -> None:
    answer = await desk.send(HEADER, file_name=file_name)
    assert refusal(answer) == (422, "invalid_request")


# What cannot be finished.


@pytest.mark.own_database
async def test_an_import_that_fails_every_time_is_failed_in_the_end(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(import_batch, "insert_tickets", broken)
    import_id = await desk.sent(a_file(seated("A1")))
    for _ in range(RETRIES_MAX):
        with pytest.raises(ZeroDivisionError):
            await desk.run(import_id)
        assert (await desk.read(import_id))["status"] == "running"
    with pytest.raises(ZeroDivisionError):
        await desk.run(import_id)
    imported = await desk.read(import_id)
    assert (imported["status"], imported["problem"]) == (
        "failed",
        "could not be finished; import it again",
    )
    await desk.run(import_id)
    assert await desk.read(import_id) == imported


@pytest.mark.own_database
async def test_what_nobody_goes_on_with_is_given_up_after_a_day(
    desk: Desk, clock: MovableClock
) -> None:
    waiting = await desk.sent(HEADER)
    await desk.sent(HEADER)
    await desk.table("UPDATE ticket_import SET status = 'receiving' WHERE id <> $1", waiting)
    database: Database = desk.services.database
    assert await give_up_abandoned(database) == 0
    clock.ahead = ABANDONED_AFTER
    assert await give_up_abandoned(database) == 2
    [left] = await desk.table("SELECT * FROM ticket_import")
    assert (left["id"], left["status"]) == (waiting, "failed")
    assert await desk.table("SELECT * FROM ticket_import_chunk") == []


async def test_an_import_whose_event_was_deleted_is_no_job_any_more(desk: Desk) -> None:
    office = desk.event.office
    event_id = await office.event(desk.event.venue_id)
    path = f"/api/events/{event_id}/ticket-imports"
    answer = await desk.client.post(
        path, content=HEADER, headers=desk.tenant.as_("organiser") | CSV
    )
    import_id = UUID(answer.json()["data"]["id"])
    assert (await office.ask("DELETE", f"/api/events/{event_id}")).status_code == 204
    await desk.run(import_id)
    missing = await desk.get(f"/api/ticket-imports/{import_id}")
    assert refusal(missing) == (404, "ticket_import_not_found")
