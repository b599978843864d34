"""The final tables depend on the set of scans, not on when they became known."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import MASTER_KEY, serving
from tests.prove.length import examples
from tests.prove.walks.busy_evenings import (
    accept_all,
    annulments,
    happenings_to_tickets,
    liars,
    made_alone,
    play,
    prepare,
    sensible,
)
from tests.prove.walks.evenings import (
    DEVICES,
    LATE,
    START,
    TICKETS,
    Delivery,
    Evening,
    Form,
    Happening,
    Made,
    alone,
    counts,
    deliver_all,
    deliveries_of,
    gained,
    heard,
    offsets,
    types,
    unheard,
)
from tests.scanning.support import World, a_world
from tests.scanning.sync_support import conflicts, deliver, offline, signed, sync
from tests.seating.race_support import a_node
from tests.support import STOPPED_AT, MovableClock, a_client, a_tenant
from voelgoed.infra.rate_limit import Limit
from voelgoed.scanning.actions.recount import recount_event
from voelgoed.scanning.rules import history_plan
from voelgoed.services import Services

NO_LIMIT = Limit(1_000_000, timedelta(minutes=1))
TELLINGS = 3
FORMS_OF_DEVICES: tuple[Form, ...] = ("signed", "queue")
Node = tuple[Services, httpx.AsyncClient]


@pytest.fixture
def clock(clock: MovableClock) -> MovableClock:
    return clock.stop()


@pytest.fixture
async def nodes(
    services: Services,
    client: httpx.AsyncClient,
    database_url: str,
    clock: MovableClock,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[list[Node]]:
    """Two nodes, so that simultaneous deliveries do not always share a batch."""
    async with (
        a_node(database_url, clock, master_key=MASTER_KEY) as other,
        serving(other) as url,
        a_client(url) as line,
    ):
        for each in (services, other):
            monkeypatch.setattr(each.syncs, "batch_limit", NO_LIMIT)
            monkeypatch.setattr(each.syncs, "queue_limit", NO_LIMIT)
        yield [(services, client), (other, line)]


async def an_event(
    nodes: Sequence[Node], clock: MovableClock, rules: dict[str, Any], gates: int = 2
) -> list[World]:
    """An event, as each node sees it."""
    clock.ahead = START - STOPPED_AT
    [(services, client), (other, line)] = nodes
    tenant = await a_tenant(services, "acme")
    world = await a_world(services, client, tenant, gates=gates, **rules)
    for number in range(DEVICES):
        await world.device(world.gates[number % 2], name=f"Device {number}")
    return [world, replace(world, services=other, client=line, sales=world.sales.on(other))]


@examples(short=8, full=300)
@given(
    made=st.lists(st.one_of(alone, alone, unheard, heard), min_size=2, max_size=10),
    off=offsets,
    rules=types,
    seed=st.integers(0, 2**32),
)
async def test_the_tables_are_the_same_in_every_way_and_order_in_which_scans_become_known(
    nodes: list[Node],
    clock: MovableClock,
    made: list[Made],
    off: tuple[float, ...],
    rules: dict[str, Any],
    seed: int,
):
    """Online gates ask while the others are alone. Afterwards the devices deliver their scans, or a person
    imports a file."""
    worlds = await an_event(nodes, clock, rules)
    [world, _] = worlds
    sold = await world.tickets(TICKETS * TELLINGS)
    results: list[dict[str, Any]] = []
    for again in range(TELLINGS):
        luck = Random(seed + again)
        evening = Evening(worlds, clock, sold[again * TICKETS :][:TICKETS], off)
        await evening.begin()
        before = await counts(world)
        for number, each in sorted(enumerate(made), key=lambda each: each[1].second):
            if each.asked != "no":
                evening.at(each.second)
                await evening.ask(number, each)
        evening.at(LATE.total_seconds())
        await deliver_all(evening, deliveries_of(list(enumerate(made)), luck), luck)
        results.append(await evening.tables() | {"counts": gained(before, await counts(world))})
        assert await recount_event(world.services.database, world.tenant.id, world.event_id) == []
    assert results[0] == results[1] == results[2]


@examples(short=8, full=300)
@given(
    made=st.lists(made_alone, min_size=2, max_size=10),
    happenings=happenings_to_tickets,
    annulled=st.lists(st.integers(0, 9), max_size=2, unique=True),
    off=offsets,
    lies=liars,
    rules=types,
    checkpoint_after=st.sampled_from([2, 100]),
    seed=st.integers(0, 2**32),
)
async def test_the_tables_are_the_same_whatever_else_happens_on_the_evening(
    nodes: list[Node],
    clock: MovableClock,
    made: list[Made],
    happenings: list[Happening],
    annulled: list[int],
    off: tuple[float, ...],
    lies: set[int],
    rules: dict[str, Any],
    checkpoint_after: int,
    seed: int,
):
    """Tickets are voided and reissued, admissions annulled, a device scans on after it was moved away,
    clocks are wrong, some scans claim the future, and a restored device delivers everything again."""
    worlds = await an_event(nodes, clock, rules, gates=3)
    [world, _] = worlds
    await prepare(world)
    sold = await world.tickets(TICKETS * TELLINGS)
    made = sensible(made, happenings)
    gone = [number for number in annulled if number < len(made)]
    results: list[dict[str, Any]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(history_plan, "CHECKPOINT_AFTER", checkpoint_after)
        for again in range(TELLINGS):
            evening = Evening(worlds, clock, sold[again * TICKETS :][:TICKETS], off, lies)
            await evening.begin()
            before = await counts(world)
            tables = await play(evening, made, happenings, gone, Random(seed + again))
            results.append(tables | {"counts": gained(before, await counts(world))})
            database = world.services.database
            assert await recount_event(database, world.tenant.id, world.event_id) == []
    assert results[0] == results[1] == results[2]


@examples(short=8, full=300)
@given(
    made=st.lists(st.one_of(alone, made_alone, heard, unheard), min_size=3, max_size=12),
    happenings=happenings_to_tickets,
    annulments=annulments,
    off=offsets,
    rules=types,
    checkpoint_after=st.sampled_from([2, 100]),
    seed=st.integers(0, 2**32),
)
async def test_with_gates_online_in_between_all_is_as_if_delivered_together(
    nodes: list[Node],
    clock: MovableClock,
    made: list[Made],
    happenings: list[Happening],
    annulments: list[Happening],
    off: tuple[float, ...],
    rules: dict[str, Any],
    checkpoint_after: int,
    seed: int,
):
    """The answers of an online gate depend on what was known then. Given who was let in, the rest does not:
    the same scans, all of them delivered by devices together, give the same tables."""
    worlds = await an_event(nodes, clock, rules, gates=3)
    [world, _] = worlds
    await prepare(world)
    made = sensible([each for each in made if each.second < LATE.total_seconds()], happenings)
    sold, luck = await world.tickets(TICKETS * 2), Random(seed)
    first = Evening(worlds, clock, sold[:TICKETS], off)
    await first.begin()
    before = await counts(world)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(history_plan, "CHECKPOINT_AFTER", checkpoint_after)
        await _live(first, made, [*happenings, *annulments], luck)
        await accept_all(first)
        between = await counts(world)
        database = world.services.database
        assert await recount_event(database, world.tenant.id, world.event_id) == []
        passed = await _as_it_was_at_the_gates(first, made)
        second = Evening(worlds, clock, sold[TICKETS:], off)
        await second.begin()
        for happening in sorted(happenings, key=lambda each: each.second):
            second.at(happening.second)
            await second.happen(happening)
        second.at(LATE.total_seconds())
        await deliver_all(second, deliveries_of(passed, luck), luck)
        await accept_all(second)
        for number in first.annulled:
            await second.annul(number)
    one, two = await first.tables(), await second.tables()
    assert one["tickets"] == two["tickets"]
    assert [each for each in one["scans"] if each[0] in dict(passed)] == two["scans"]
    assert one["conflicts"] == two["conflicts"]
    assert gained(before, between) == gained(between, await counts(world))


async def _live(
    evening: Evening, made: Sequence[Made], happenings: Sequence[Happening], luck: Random
) -> None:
    """Everything happens at its time: first what is done to tickets, then online requests, then
    deliveries."""
    times = [(at, number, 1 if is_asked else 2) for at, number, is_asked in _in_time(made)]
    times += [(each.second, number, 0) for number, each in enumerate(happenings)]
    for at, number, kind in sorted(times, key=lambda each: (each[0], each[2], each[1])):
        evening.at(at)
        if kind == 0:
            await evening.happen(happenings[number])
        elif kind == 1:
            await evening.ask(number, made[number])
        else:
            each, form = made[number], luck.choice(FORMS_OF_DEVICES)
            await evening.deliver(
                Delivery(each.device, form, [(number, each)], luck.randrange(2), 1)
            )


def _in_time(made: Sequence[Made]) -> list[tuple[float, int, bool]]:
    """When each scan becomes known, and whether it does so by an online request."""
    asked = [(each.second, number, True) for number, each in enumerate(made) if each.asked != "no"]
    delivered = [
        (each.second + each.delay, number, False)
        for number, each in enumerate(made)
        if each.is_delivered
    ]
    return sorted([*asked, *delivered], key=lambda each: (each[0], not each[2], each[1]))


async def _as_it_was_at_the_gates(evening: Evening, made: Sequence[Made]) -> list[tuple[int, Made]]:
    """With whom we let in ourselves as if a device had, at the moment that we wrote down. Whom we, or
    who asked us, turned away does not matter."""
    rows = await evening.world.rows(
        "SELECT id, status, scanned_at_canonical AS at FROM scan WHERE source = 'online'"
    )
    answered = {evening.ids[str(row["id"])]: row for row in rows}
    passed: list[tuple[int, Made]] = []
    for number, each in enumerate(made):
        row = answered.get(number)
        if row is None:
            is_here = each.is_delivered
        elif each.asked == "heard":
            is_here = row["status"] == "admitted"
        else:
            is_here = each.outcome == "valid"
        if is_here:
            second = (row["at"] - START).total_seconds() if row else each.second
            passed.append((number, replace(each, second=second, asked="no")))
    return passed


async def test_the_reason_of_a_denial_after_a_missed_answer_does_not_depend_on_the_order(
    world: World,
):
    """The server had admitted them, and did not know then who had come in a minute before."""
    north, south = await world.device(world.gates[0]), await world.device(world.gates[1])
    results: list[Any] = []
    for ticket, turn in zip(await world.tickets(2), (1, -1), strict=True):
        asked = await signed(world, north, ticket, timedelta(0), outcome="invalid")
        scan_id = asked["scan_id"]
        assert await world.verdict(north, ticket.code, scan_id=scan_id) == "admitted"
        before = await signed(world, south, ticket, timedelta(minutes=1))
        for device, scan in [(north, asked), (south, before)][::turn]:
            await sync(world, device, scan)
        rows = await world.ask("GET", f"/api/scanning/tickets/{ticket.id}/scans")
        [resolutions] = [row for row in rows.json()["data"] if row["id"] == scan_id]
        results.append((resolutions["status"], resolutions["reason_denied"]))
    assert results[0] == results[1]


async def test_an_online_entry_after_an_irregular_person_left_is_in_a_conflict_at_once(
    world: World,
):
    """Two people came within the window, though they were never inside at the same time."""
    device, [ticket] = await world.device(), await world.tickets(1)
    [_, wrong] = world.gates
    await world.rows(
        "UPDATE gate SET allowed_zones = ARRAY[gen_random_uuid()] WHERE id = $1", wrong.id
    )
    irregular = await signed(world, device, ticket, timedelta(seconds=60), gate_id=str(wrong.id))
    left = await signed(world, device, ticket, timedelta(seconds=50), direction="exit")
    await sync(world, device, irregular, left)
    assert await world.verdict(device, ticket.code) == "admitted"
    [found] = await conflicts(world)
    assert found["conflict"]["scan_id"] == irregular["scan_id"]
    assert (await world.inside())["event"] == 1
    assert await recount_event(world.services.database, world.tenant.id, world.event_id) == []


async def test_a_scan_delivered_by_both_addresses_at_once_is_stored_once(world: World):
    """A device that did not receive the whole answer of the one address tries the other."""
    device, others = await world.device(), [await world.device() for _ in range(4)]
    for one, two in zip(*[iter(await world.tickets(12))] * 2, strict=True):
        scan = await signed(world, device, one, timedelta(minutes=1))
        same = offline(
            world,
            one.code,
            scanned_at=scan["scanned_at"],
            offline_id=scan["scan_id"],
            gate_id=device.gate.code,
            outcome="valid",
        )
        busy = [sync(world, each, await signed(world, each, two)) for each in others]
        *_, by_one, by_other = await asyncio.gather(
            *busy, sync(world, device, scan), deliver(world, device, same)
        )
        assert by_one["rejected"] == []
        assert by_other["errors"] == []
        assert len(await world.rows("SELECT 1 FROM scan WHERE ticket_id = $1", one.id)) == 1
