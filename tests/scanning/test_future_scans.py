"""Scans that are ahead of their arrival: what is done to their tickets before the claimed moment counts,
whenever the scans arrive."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any, Literal
from uuid import uuid4

import pytest

from tests.scanning.recovery_support import accept, scan_history_of
from tests.scanning.support import World
from tests.scanning.sync_support import signed, sync, take_second_looks
from tests.support import MovableClock
from voelgoed.scanning.actions import history_commit
from voelgoed.scanning.actions.recount import recount_event

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


@pytest.fixture
def clock(clock: MovableClock) -> MovableClock:
    return clock.stop()


async def accept_all(world: World) -> None:
    for row in await world.rows("SELECT batch_id FROM batch_sync WHERE state = 'unverified'"):
        await accept(world, {"batch_id": row["batch_id"]})


@pytest.mark.parametrize("what", ["void", "reissue"])
@pytest.mark.parametrize(
    ("claimed_s", "happens_s", "reviewed_s"),
    [
        pytest.param(50, 30, 18_000, id="by a clock that is ahead"),
        pytest.param(10_800, 3_600, 18_000, id="reviewed after its moment"),
        pytest.param(10_800, 3_600, 1_800, id="reviewed before its moment"),
    ],
)
async def test_what_is_done_to_a_ticket_before_the_claimed_moment_counts_whenever_the_scan_arrives(
    world: World,
    clock: MovableClock,
    what: Literal["void", "reissue"],
    claimed_s: int,
    happens_s: int,
    reviewed_s: int,
):
    """One scan arrives at once, and the other when its moment has come."""
    device, began = await world.device(), clock.ahead
    found: list[Any] = []
    for ticket, arrives_s in zip(await world.tickets(2), (0, claimed_s + 10), strict=True):
        clock.ahead = began
        scan = await signed(world, device, ticket, -timedelta(seconds=claimed_s))
        steps = [
            (arrives_s, partial(sync, world, device, scan)),
            (happens_s, partial(getattr(world.sales, what), ticket.id)),
            (reviewed_s, partial(accept_all, world)),
        ]
        for second, do in sorted(steps, key=lambda each: each[0]):
            clock.ahead = began + timedelta(seconds=second)
            await do()
        clock.ahead = began + 5 * HOUR
        await take_second_looks(world)
        alerts = "SELECT occurrences FROM scan_alert WHERE kind = 'invalid_admission' AND subject_id = $1"
        found.append(
            (await scan_history_of(world, ticket, [scan]), await world.rows(alerts, ticket.id))
        )
        assert await recount_event(world.services.database, world.tenant.id, world.event_id) == []
    assert found[0] == found[1]
    history, alerts = found[0]
    reason = {"void": "ticket_voided", "reissue": "barcode_revoked"}[what]
    assert history["scans"][0]["reason"] == reason
    assert alerts == [{"occurrences": 1}]


@pytest.mark.own_database
async def test_the_second_look_is_a_job(
    world: World, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(history_commit, "SECOND_LOOK_AFTER", -HOUR)  # as if it had passed
    device, ticket = await world.device(), await world.ticket()
    scan = await signed(world, device, ticket, -timedelta(seconds=50))
    await sync(world, device, scan)
    clock.ahead += timedelta(seconds=30)
    await world.sales.void(ticket.id)
    clock.ahead += timedelta(seconds=30)
    world.services.jobs.start()
    async with asyncio.timeout(30):
        while not await world.rows("SELECT 1 FROM scan_ruling"):
            await asyncio.sleep(0.02)
    history = await scan_history_of(world, ticket, [scan])
    assert history["scans"][0]["reason"] == "ticket_voided"


async def test_a_scan_whose_moment_has_come_needs_no_second_look(world: World, clock: MovableClock):
    device, ticket = await world.device(), await world.ticket()
    jobs = "SELECT 1 FROM pgqueuer WHERE entrypoint = $1"
    before = len(await world.rows(jobs, history_commit.SECOND_LOOK))
    await sync(world, device, await signed(world, device, ticket, MINUTE))
    assert len(await world.rows(jobs, history_commit.SECOND_LOOK)) == before
    await sync(world, device, await signed(world, device, ticket, -MINUTE))
    assert len(await world.rows(jobs, history_commit.SECOND_LOOK)) == before + 1


async def test_a_shown_barcode_is_known_by_its_hash_however_often_the_ticket_was_reissued(
    world: World, clock: MovableClock
):
    """The first barcode was worthless and the second was valid when they were shown; now there is a third. The
    device knows their hashes, and of one scan not even the ticket."""
    device, began = await world.device(), clock.ahead
    found: list[Any] = []
    for ticket, is_late in zip(await world.tickets(2), (False, True), strict=True):
        clock.ahead = began
        first = await signed(world, device, ticket, -90 * MINUTE)
        await world.sales.reissue(ticket.id)
        clock.ahead = began + HOUR
        second = await signed(world, device, ticket, -20 * MINUTE, scan_id=str(uuid4()))
        nameless = await signed(world, device, ticket, -21 * MINUTE, ticket_id=None)
        scans = [first, second, nameless]
        for at in (2, 3):
            clock.ahead = began + at * HOUR
            if at == 2 + is_late:
                await sync(world, device, *scans)
            if at == 2:
                await world.sales.reissue(ticket.id)
        found.append(await scan_history_of(world, ticket, scans))
    assert found[0] == found[1]
    reasons = [each["reason"] for _, each in sorted(found[0]["scans"].items())]
    assert reasons == ["barcode_revoked", None, "already_scanned"]
