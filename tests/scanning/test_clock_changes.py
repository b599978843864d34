"""A device that says twice what its clock is, and differently: it may have been changed, or the device lies."""

from datetime import timedelta
from typing import Any

from tests.scanning.support import Device, World
from tests.scanning.sync_support import conflicts, deliver, iso, send, signed, signed_batch, sync
from tests.scanning.test_gate_findings import alerts_of, heads, resolutions, review
from tests.support import MovableClock

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


async def beat(world: World, device: Device, ahead: timedelta = timedelta()) -> None:
    """A heartbeat of a device whose clock is so much ahead."""
    body = {"device_time": iso(world.now + ahead)}
    answer = await world.client.post("/api/scanning/heartbeat", json=body, headers=device.headers)
    assert answer.status_code == 200, answer.text


async def sync_ahead(
    world: World, device: Device, ahead: timedelta, *scans: dict[str, Any]
) -> dict[str, Any]:
    """A delivery of a device that says twice that its clock is so much ahead."""
    body = signed_batch(device, *scans, offset_seconds=-ahead.total_seconds())
    answer = await send(world, device, body, **{"X-Device-Time": iso(world.now + ahead)})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def waiting(world: World) -> list[str]:
    """The causes for which scans wait."""
    return [
        cause
        for each in await alerts_of(world, "unverified_scans")
        for cause in each["details"]["causes"]
    ]


async def test_a_lie_about_the_clock_told_twice_moves_no_scan_and_somebody_hears_of_it(
    world: World, clock: MovableClock
):
    one, other = await world.device(world.gates[0]), await world.device(world.gates[1])
    [ticket] = await world.tickets(1)
    await beat(world, one)
    clock.ahead += 3 * HOUR
    first = await signed(world, other, ticket, 10 * MINUTE)
    await sync(world, other, first)
    lie = await signed(world, one, ticket, 9 * MINUTE)
    answer = await sync_ahead(world, one, 2 * HOUR, lie)
    assert answer["processed"] == [lie["scan_id"]]
    assert (await resolutions(world, ticket))[lie["scan_id"]] == ("denied", "unverified")
    assert (await resolutions(world, ticket))[first["scan_id"]] == ("admitted", None)
    assert await waiting(world) == ["clock_changed"]
    [told] = await alerts_of(world, "clock_skew")
    assert abs(told["details"]["diff_seconds"] + 7_200) < 60


async def test_a_lie_that_a_heartbeat_prepared_is_told_and_moves_no_scan(
    world: World, clock: MovableClock
):
    one, other = await world.device(world.gates[0]), await world.device(world.gates[1])
    [ticket] = await world.tickets(1)
    await beat(world, one)
    clock.ahead += 3 * HOUR
    await beat(world, one, 2 * HOUR)
    [told] = await alerts_of(world, "clock_skew")
    assert (told["subject_id"], told["occurrences"]) == (str(one.id), 1)
    await sync(world, other, await signed(world, other, ticket, 10 * MINUTE))
    lie = await signed(world, one, ticket, 9 * MINUTE)
    await sync(world, one, lie, offset_seconds=-7_200)
    assert (await resolutions(world, ticket))[lie["scan_id"]] == ("denied", "unverified")
    assert await heads(world) == {"inside": 1, "irregular": 0, "entries": 1}


async def test_a_manifest_asked_for_with_another_clock_is_told(world: World, clock: MovableClock):
    device = await world.device()
    path = f"/api/scanning/events/{world.event_id}/manifest"
    for ahead in (timedelta(), 20 * MINUTE):
        at = {"X-Device-Time": iso(world.now + ahead)}
        answer = await world.client.get(path, headers=device.headers | at)
        assert answer.status_code == 200, answer.text
    [told] = await alerts_of(world, "clock_skew")
    assert abs(told["details"]["diff_seconds"] + 1_200) < 60


async def test_scans_of_an_honest_device_whose_clock_was_changed_wait_and_count_once_accepted(
    world: World, clock: MovableClock
):
    device, [before, since, later] = await world.device(), await world.tickets(3)
    await beat(world, device)
    clock.ahead += 3 * HOUR
    by_the_old = await signed(world, device, before, HOUR)
    by_the_new = await signed(world, device, since, at=world.now + 2 * HOUR - 30 * MINUTE)
    await sync_ahead(world, device, 2 * HOUR, by_the_new)
    await sync_ahead(world, device, timedelta(), by_the_old)
    assert await heads(world) == {"inside": 1, "irregular": 0, "entries": 1}
    [waits] = (await world.ask("GET", f"/api/scanning/events/{world.event_id}/recoveries")).json()[
        "data"
    ]
    assert (await review(world, waits["batch_id"])).status_code == 200
    assert await heads(world) == {"inside": 2, "irregular": 0, "entries": 2}
    await beat(world, device, 2 * HOUR)
    clock.ahead += 10 * MINUTE
    await sync_ahead(
        world,
        device,
        2 * HOUR,
        await signed(world, device, later, at=world.now + 2 * HOUR - MINUTE),
    )
    assert await heads(world) == {"inside": 3, "irregular": 0, "entries": 3}


async def test_a_queue_is_asked_the_same(world: World, clock: MovableClock):
    device, [ticket] = await world.device(), await world.tickets(1)
    await beat(world, device)
    clock.ahead += HOUR
    await beat(world, device, 2 * HOUR)
    item = {
        "ticket_code": ticket.code,
        "scanned_at": iso(world.now + 110 * MINUTE),
        "offline_id": "1",
    }
    answer = await deliver(world, device, item)
    assert [each["reason"] for each in answer["errors"]] == ["unverified"]
    assert await conflicts(world) == []
