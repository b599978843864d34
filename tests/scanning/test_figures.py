"""What /metrics shows of the gates."""

from datetime import timedelta

import httpx
import pytest
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families

from tests.scanning.support import LATER, Device, World, a_world
from tests.scanning.sync_support import signed, sync
from tests.support import MovableClock, Tenant
from voelgoed.infra.refusal import StorageUnavailable
from voelgoed.scanning.actions import figures
from voelgoed.scanning.actions.figures import publish_figures
from voelgoed.services import Services, build_services

pytestmark = pytest.mark.own_database

PREFIX = "voelgoedevents_scanning_"


class Metrics:
    """The metrics of one moment, without those of other tests' events."""

    def __init__(self, text: str, world: World) -> None:
        self._samples = [
            sample
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if sample.labels.get("event_id", str(world.event_id)) == str(world.event_id)
        ]

    def value(self, name: str, **labels: str) -> float | None:
        """The value of a series; None where there is no such series."""
        found = [
            sample.value
            for sample in self._samples
            if sample.name == PREFIX + name and labels.items() <= sample.labels.items()
        ]
        assert len(found) < 2, f"several of {name}{labels}"
        return found[0] if found else None


async def read(world: World) -> Metrics:
    await publish_figures(world.services.database)
    return Metrics((await world.client.get("/metrics")).text, world)


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(PREFIX + name, labels) or 0.0


async def beat(world: World, device: Device, **more: object) -> None:
    body = {"device_time": world.now.isoformat(), **more}
    answer = await world.client.post("/api/scanning/heartbeat", json=body, headers=device.headers)
    assert answer.status_code == 200, answer.text


async def test_metrics_show_how_full_gates_and_events_are(world: World, clock: MovableClock):
    here, there = [await world.device(gate) for gate in world.gates]
    first, second, third = await world.tickets(3)
    for device, ticket in ((here, first), (here, second), (there, third)):
        assert await world.verdict(device, ticket.code) == "admitted"
    clock.ahead += LATER
    assert await world.verdict(there, second.code) == "admitted"
    metrics = await read(world)
    assert metrics.value("event_occupancy") == 3
    assert metrics.value("event_capacity") == 500
    assert metrics.value("gate_occupancy", gate="gate-0") == 1
    assert metrics.value("gate_occupancy", gate="gate-1", gate_id=str(world.gates[1].id)) == 2
    assert metrics.value("gate_capacity", gate="gate-0") == 500


async def test_a_gate_without_a_capacity_has_its_limit_or_none(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    limited = {"capacity": None, "hard_capacity_limit": 7}
    world = await a_world(services, client, tenant, gate=limited)
    assert (await read(world)).value("gate_capacity", gate="gate-0") == 7
    await world.rows("UPDATE gate SET hard_capacity_limit = NULL RETURNING id")
    metrics = await read(world)
    assert metrics.value("gate_capacity", gate="gate-0") is None
    assert metrics.value("gate_occupancy", gate="gate-0") == 0


async def test_metrics_show_silent_devices_and_the_scans_that_wait_on_them(
    world: World, clock: MovableClock
):
    talking, silent = await world.device(name="iPad-1"), await world.device(name="iPad-2")
    await beat(world, silent, queue_length=30)
    clock.ahead += timedelta(minutes=6)
    await beat(world, talking, queue_length=12)
    metrics = await read(world)
    assert metrics.value("devices", status="active") == 1
    assert metrics.value("devices", status="offline") == 1
    assert metrics.value("devices", status="inactive") == 0
    assert metrics.value("pending_syncs") == 42
    silence = metrics.value("device_silent_seconds", device="iPad-2", gate="gate-0")
    assert silence is not None
    assert 360 <= silence < 420
    fresh = metrics.value("device_silent_seconds", device_id=str(talking.id))
    assert fresh is not None
    assert fresh < 60


async def test_a_device_that_scans_and_sends_no_heartbeat_is_not_silent(
    world: World, clock: MovableClock
):
    device, ticket = await world.device(name="iPad-1"), await world.ticket()
    clock.ahead += timedelta(minutes=6)
    assert (await read(world)).value("devices", status="offline") == 1
    assert await world.verdict(device, ticket.code) == "admitted"
    await world.services.signs_of_life.is_idle()
    metrics = await read(world)
    assert (
        metrics.value("devices", status="active"),
        metrics.value("devices", status="offline"),
    ) == (
        1,
        0,
    )
    silence = metrics.value("device_silent_seconds", device="iPad-1")
    assert silence is not None
    assert silence < 60


async def test_devices_at_a_closed_gate_may_be_silent_and_revoked_ones_have_no_series(world: World):
    sleeping, gone = await world.device(world.gates[0]), await world.device(world.gates[1])
    await world.rows("UPDATE gate SET status = 'closed' WHERE id = $1", world.gates[0].id)
    await world.rows("UPDATE scan_device SET deleted_at = now() WHERE id = $1", gone.id)
    metrics = await read(world)
    assert metrics.value("devices", status="active") == 1
    for device in (sleeping, gone):
        assert metrics.value("device_silent_seconds", device_id=str(device.id)) is None


async def test_an_event_that_is_over_has_no_series(world: World):
    await world.device()
    assert (await read(world)).value("event_capacity") == 500
    await world.rows("UPDATE event SET status = 'ended'")
    metrics = await read(world)
    for name in ("event_capacity", "gate_occupancy", "pending_syncs", "device_silent_seconds"):
        assert metrics.value(name) is None, name


async def test_the_number_of_series_is_limited_to_the_fullest_gates_and_most_silent_devices(
    services: Services,
    client: httpx.AsyncClient,
    tenant: Tenant,
    clock: MovableClock,
    monkeypatch: pytest.MonkeyPatch,
):
    world = await a_world(services, client, tenant, gates=3)
    silent = await world.device(world.gates[1], name="silent")
    assert await world.verdict(silent, (await world.ticket()).code) == "admitted"
    clock.ahead += timedelta(minutes=1)
    await world.device(world.gates[0], name="fresh")
    monkeypatch.setattr(figures, "GATES_TOLD_MAX", 1)
    monkeypatch.setattr(figures, "DEVICES_TOLD_MAX", 1)
    metrics = await read(world)
    assert metrics.value("gate_occupancy") == metrics.value("gate_occupancy", gate="gate-1") == 1
    silence = metrics.value("device_silent_seconds")
    assert silence == metrics.value("device_silent_seconds", device="silent") is not None
    assert metrics.value("figures_left_out", what="gates") == 2
    assert metrics.value("figures_left_out", what="devices") == 1
    monkeypatch.setattr(figures, "EVENTS_TOLD_MAX", 0)
    metrics = await read(world)
    assert metrics.value("event_capacity") is None
    assert metrics.value("figures_left_out", what="events") == 1


async def test_without_the_database_there_are_no_figures_rather_than_old_ones(world: World):
    assert (await read(world)).value("event_capacity") == 500
    assert REGISTRY.get_sample_value("voelgoed_database_up") == 1
    away = build_services(world.services.settings, "postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(StorageUnavailable):
        await away.database.open()
    with pytest.raises(StorageUnavailable):
        await publish_figures(away.database)
    assert REGISTRY.get_sample_value("voelgoed_database_up") == 0
    text = (await world.client.get("/metrics")).text
    assert Metrics(text, world).value("event_capacity") is None
    await away.database.close()


async def test_every_scan_is_timed_by_its_outcome(world: World):
    def times() -> dict[str, float]:
        name, outcomes = "scan_duration_seconds_count", ("admitted", "denied", "refused")
        return {each: counted(name, outcome=each) for each in outcomes}

    before = times()
    device, ticket = await world.device(), await world.ticket()
    await world.scan(device, ticket.code)
    await world.scan(device, ticket.code)
    await world.scan(device, "ZZZZ-ZZZZ-ZZZZ")
    await world.scan(device, "no code of ours")
    await world.client.post("/api/scans", json={})
    after = times()
    made = {outcome: after[outcome] - before[outcome] for outcome in before}
    assert made == {"admitted": 1, "denied": 2, "refused": 2}


async def test_scans_are_counted_by_reason_and_duplicates_by_the_tier_that_knew(world: World):
    def counts() -> list[float]:
        return [
            counted("scans_total", status="admitted", reason=""),
            counted("scans_total", status="denied", reason="already_scanned"),
            *(counted("duplicates_total", tier=tier) for tier in ("hot", "warm", "cold")),
        ]

    before = counts()
    device, ticket = await world.device(), await world.ticket()
    for _ in range(3):
        await world.scan(device, ticket.code)
    world.services.cache.forget_all()
    await world.scan(device, ticket.code)
    made = [now - then for now, then in zip(counts(), before, strict=True)]
    assert made == [1, 3, 2, 0, 1]


async def test_how_many_scans_wait_on_each_device(world: World):
    here, there = [await world.device(gate) for gate in world.gates]
    await beat(world, here, queue_length=10_001)
    metrics = await read(world)
    assert metrics.value("device_queue", device_id=str(here.id), gate="gate-0") == 10_001
    assert metrics.value("device_queue", device_id=str(there.id), gate="gate-1") == 0


async def test_the_share_of_duplicates_is_observed_for_batches_that_are_large_enough(world: World):
    device, tickets = await world.device(), await world.tickets(20)
    for ticket in tickets[:2]:
        assert await world.verdict(device, ticket.code) == "admitted"
    before = counted("batch_duplicate_ratio_count"), counted("batch_duplicate_ratio_sum")
    await sync(world, device, await signed(world, device, tickets[0], -timedelta(seconds=1)))
    assert counted("batch_duplicate_ratio_count") == before[0]
    scans = [await signed(world, device, ticket, -timedelta(seconds=2)) for ticket in tickets]
    await sync(world, device, *scans)
    assert counted("batch_duplicate_ratio_count") == before[0] + 1
    assert counted("batch_duplicate_ratio_sum") == pytest.approx(before[1] + 0.1)
