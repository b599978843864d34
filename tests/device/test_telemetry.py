"""Telemetry events and metrics by their names (scanner_offline_sync.md, section 10; offline_sync.md,
section 11): each is recorded when, and only when, it happens, by a server and devices that run."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from structlog.testing import capture_logs

from tests.device.support import Gatehouse, Sleeper
from tests.support import MovableClock
from voelgoed.device.client import Device
from voelgoed.device.model import KeyRefused
from voelgoed.device.scanning import scan
from voelgoed.device.sync import ATTEMPTS_MAX, sync
from voelgoed.device.whole_queue import sync_whole_queue
from voelgoed.infra.rate_limit import Limit
from voelgoed.scanning.actions.figures import publish_figures

pytestmark = pytest.mark.own_database

NAMES = {
    "manifest.download",
    "manifest.verified",
    "scan.local",
    "scan.valid",
    "scan.invalid",
    "sync.attempt",
    "sync.success",
    "sync.failed",
    "conflict.detected",
    "device.paired",
    "device.revoked",
}


class LogCapture:
    """Collects the log entries with these names."""

    def __init__(self, logs: list[Any]) -> None:
        self._logs = logs
        self._heard = 0

    def now(self) -> list[dict[str, Any]]:
        """The entries since the last call."""
        new, self._heard = self._logs[self._heard :], len(self._logs)
        return [each for each in new if each["event"] in NAMES]

    def names(self) -> list[str]:
        return [each["event"] for each in self.now()]


async def test_every_event_is_logged_by_its_name_when_it_happens(gates: Gatehouse):
    one, two = [await gates.world.barcode(each) for each in await gates.world.tickets(2)]
    with capture_logs() as logs:
        ear = LogCapture(logs)
        north, south = await gates.device(0), await gates.device(1)
        devices = [str(each.identity.device_id) for each in (north, south)]
        logged = ear.now()
        for device in devices:
            about = [each["event"] for each in logged if each.get("device_id") == device]
            assert about[:3] == ["device.paired", "manifest.download", "manifest.verified"]
        await north.hydrate()
        assert ear.names() == ["manifest.download"], "nothing new, so nothing to verify"

        first = await scan(north, one, offline=True)
        logged = ear.now()
        assert [each["event"] for each in logged] == ["scan.local", "scan.valid"]
        assert {each["scan_id"] for each in logged} == {str(first.scan_id)}
        await scan(north, one, offline=True)
        assert ear.names() == ["scan.local", "scan.invalid"]
        assert (await scan(north, two)).colour == "green"
        assert ear.names() == ["scan.valid"], "which was not decided here"
        assert (await scan(south, two)).colour == "red"
        assert ear.names() == ["scan.invalid"]
        gates.pass_(seconds=10)
        await scan(south, one, offline=True)
        assert ear.names() == ["scan.local", "scan.valid"]

        await sync(north)
        logged = ear.now()
        assert [each["event"] for each in logged] == ["sync.attempt", "sync.success"]
        assert {each["device_id"] for each in logged} == {devices[0]}
        await sync_whole_queue(south)
        logged = ear.now()
        assert [each["event"] for each in logged] == [
            "sync.attempt",
            "conflict.detected",
            "sync.success",
        ]
        assert (logged[1]["kind"], logged[1]["severity"]) == ("double_entry", "critical")

        path = f"/api/scanning/devices/{devices[0]}"
        assert (await gates.world.ask("DELETE", path, by="owner")).status_code == 204
        logged = ear.now()
        assert [(each["event"], each["device_id"]) for each in logged] == [
            ("device.revoked", devices[0])
        ]
        await scan(north, one, offline=True)
        ear.now()
        assert (await sync(north)).reason == str(KeyRefused())
        logged = ear.now()
        assert [each["event"] for each in logged] == ["sync.attempt", "sync.failed"]
        assert logged[1]["error"] == "device_inactive"
    assert {each["event"] for each in logs} >= NAMES
    for secret in (one, two, north.identity.api_key, south.identity.api_key):
        assert secret not in str(logs)


async def test_a_failed_sync_is_logged(gates: Gatehouse):
    barcode = await gates.world.barcode(await gates.world.ticket())
    device = await gates.device()
    gates.world.services.syncs.batch_limit = Limit(1, timedelta(minutes=1))
    await scan(device, barcode, offline=True)
    assert (await sync(device)).synced == 1
    await scan(device, barcode, offline=True)
    device.sleep = Sleeper(_abort)
    with capture_logs() as logs, suppress(SleepAborted):
        await sync(device)
    logged = [each for each in logs if each["event"] in NAMES]
    assert [each["event"] for each in logged] == ["sync.attempt", "sync.failed"]
    assert logged[1]["error"] == "rate_limited"
    assert logged[1]["device_id"] == str(device.identity.device_id)


class SleepAborted(Exception):
    pass


async def _abort(seconds: float) -> None:
    raise SleepAborted()


async def test_a_batch_that_does_not_arrive_is_not_logged_as_a_success(gates: Gatehouse):
    barcode = await gates.world.barcode(await gates.world.ticket())
    device = await gates.device()
    await scan(device, barcode, offline=True)
    gates.network.will(*["request_cut"] * ATTEMPTS_MAX)
    with capture_logs() as logs:
        assert (await sync(device)).left == 1
    assert "sync.success" not in {each["event"] for each in logs}


async def test_an_unreadable_batch_is_logged_as_a_failed_sync(gates: Gatehouse):
    device = await gates.device()

    async def cut_short() -> None:
        logged = await device.ask("POST", "/api/scanning/sync", b'{"device_id": "')
        assert logged.status == 400

    failed = ("syncs_total", {"outcome": "failed"})
    with capture_logs() as logs:
        assert await moved(gates, cut_short, [failed]) == [1]
    assert "sync.failed" in {each["event"] for each in logs}


class MetricsSnapshot:
    """The values of /metrics, summed over the labels that are not named."""

    def __init__(self, text: str) -> None:
        self._samples = [
            sample
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name.startswith("voelgoedevents_scanning_")
        ]

    def __call__(self, name: str, **labels: str) -> float:
        return sum(
            sample.value
            for sample in self._samples
            if sample.name == f"voelgoedevents_scanning_{name}"
            and labels.items() <= sample.labels.items()
        )


async def read(gates: Gatehouse) -> MetricsSnapshot:
    await publish_figures(gates.world.services.database)
    answer = await gates.world.client.get("/metrics")
    assert answer.status_code == 200
    return MetricsSnapshot(answer.text)


async def moved(
    gates: Gatehouse, doing: Callable[[], Any], asked: Iterable[tuple[str, dict[str, str]]]
) -> list[float]:
    """The change of each of these metrics while something is done."""
    before = await read(gates)
    await doing()
    after = await read(gates)
    return [after(name, **labels) - before(name, **labels) for name, labels in asked]


async def test_metrics_move_with_what_happens(gates: Gatehouse):
    world = gates.world
    event = {"event_id": str(world.event_id)}
    one, two, three, four = [await world.barcode(each) for each in await world.tickets(4)]
    north, south = await gates.device(0), await gates.device(1)

    async def alone() -> None:
        for barcode in (one, two, three, one):
            await scan(north, barcode, offline=True)
        gates.pass_(seconds=10)
        await scan(south, one, offline=True)
        for device in (north, south):
            await device.beat()

    pending = ("pending_syncs", event)
    assert await moved(gates, alone, [pending, ("scans_total", {})]) == [5, 0]

    asked: list[tuple[str, dict[str, str]]] = [
        ("scans_total", {"status": "admitted"}),
        ("scans_total", {"status": "denied"}),
        ("syncs_total", {"outcome": "success"}),
        ("syncs_total", {"outcome": "failed"}),
        ("sync_duration_seconds_count", {}),
        ("synced_scans_total", {"status": "admitted"}),
        ("synced_scans_total", {"status": "denied"}),
        ("duplicates_total", {}),
        ("conflicts_total", {"kind": "double_entry", "severity": "critical"}),
        ("time_to_sync_seconds_count", {}),
        ("event_occupancy", event),
    ]
    by_north = await moved(gates, lambda: sync(north), asked)
    assert by_north == [3, 1, 1, 0, 1, 3, 1, 1, 0, 1, 3]
    by_south = await moved(gates, lambda: sync_whole_queue(south), asked)
    assert by_south == [0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1]

    async def beats() -> None:
        for device in (north, south):
            await device.beat()

    assert await moved(gates, beats, [pending]) == [-5]

    async def online() -> None:
        assert not (await scan(south, four)).is_offline

    assert await moved(
        gates, online, [("scans_total", {}), ("scan_duration_seconds_count", {})]
    ) == [1, 1]


async def test_metrics_of_manifests_move_with_what_devices_fetch(
    gates: Gatehouse, clock: MovableClock
):
    asked: list[tuple[str, dict[str, str]]] = [
        ("manifest_downloads_total", {"form": "full"}),
        ("manifest_downloads_total", {"form": "delta"}),
        ("manifest_downloads_total", {"form": "unchanged"}),
    ]
    device: list[Device] = []

    async def comes() -> None:
        device.append(await gates.device())

    full, delta, _ = await moved(gates, comes, asked)
    assert (full, delta) == (1, 0)
    [it] = device
    assert await moved(gates, it.hydrate, asked) == [0, 0, 1]
    built = ("manifest_build_duration_seconds_count", {"outcome": "built"})

    async def sells() -> None:
        await gates.world.tickets(1)
        clock.ahead += timedelta(minutes=1)
        assert await it.hydrate()

    assert await moved(gates, sells, [*asked, built]) == [0, 1, 0, 1]
    weight = await moved(gates, it.hydrate, [("manifest_bytes_total", {})])
    assert weight == [0]
