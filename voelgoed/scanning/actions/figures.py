"""What the operators watch: how full it is, which devices are silent, who was sent away and why.

Labels name events, gates and devices, so there is a limit to each kind: the fullest gates and the
devices silent for longest are told, the rest is counted as left out.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import get_args
from uuid import UUID

from voelgoed.infra.database import Database, Transaction
from voelgoed.scanning import metrics
from voelgoed.scanning.actions.devices import DEVICES_MAX
from voelgoed.scanning.model.devices import Device, ShownStatus
from voelgoed.scanning.model.scans import Scan
from voelgoed.scanning.rules.devices import shown_status, silence
from voelgoed.scanning.rules.occupancy import at_gate, presence_at
from voelgoed.scanning.rules.offline_scans import SyncResult
from voelgoed.scanning.store import devices, figures, occupancy, recount
from voelgoed.scanning.store.figures import MeasuredGate
from voelgoed.scanning.store.recount import LiveEvent

EVENTS_TOLD_MAX = 200
GATES_TOLD_MAX = 1_000
DEVICES_TOLD_MAX = 1_000
DUPLICATES_OF_MIN = 20
"""Scans in a batch of which a share of duplicates says something: one of two may be chance."""

_GAUGES = (
    metrics.event_occupancy,
    metrics.event_capacity,
    metrics.gate_occupancy,
    metrics.gate_capacity,
    metrics.scanning_devices,
    metrics.device_silence,
    metrics.pending_syncs,
    metrics.device_queue,
)
_DUPLICATES = {tier: metrics.scan_duplicates.labels(tier) for tier in ("hot", "warm", "cold")}


def count_scans(made: Sequence[Scan]) -> None:
    """Counts new scans."""
    alike = Counter((scan.status, scan.reason_denied or "", scan.details.tier) for scan in made)
    for (status, reason, tier), count in alike.items():
        metrics.scans_made.labels(status, reason).inc(count)
        if reason == "already_scanned":
            _DUPLICATES[tier or "cold"].inc(count)


def count_synced(results: Sequence[SyncResult], now: datetime) -> None:
    """How long it took is told of the oldest of what was brought together."""
    made = [each.row for each in results if each.row is not None]
    count_scans(made)
    rejected = sum(each.refusal is not None for each in results)
    for status, count in (
        *Counter(scan.status for scan in made).items(),
        ("rejected", rejected),
        ("known", len(results) - len(made) - rejected),
    ):
        metrics.synced_scans.labels(status).inc(count)
    if len(made) >= DUPLICATES_OF_MIN:
        duplicates = sum(scan.reason_denied == "already_scanned" for scan in made)
        metrics.batch_duplicates.observe(duplicates / len(made))
    if made:
        oldest = min(scan.scanned_at_canonical for scan in made)
        metrics.time_to_sync.observe((now - oldest).total_seconds())


@dataclass
class Figures:
    """The figures of all organisations, at one moment."""

    events: list[tuple[LiveEvent, int]] = field(default_factory=list[tuple[LiveEvent, int]])
    gates: list[tuple[UUID, MeasuredGate, int]] = field(
        default_factory=list[tuple[UUID, MeasuredGate, int]]
    )
    """The number of people inside, with the event."""
    statuses: Counter[tuple[UUID, ShownStatus]] = field(
        default_factory=Counter[tuple[UUID, ShownStatus]]
    )
    pending: Counter[UUID] = field(default_factory=Counter[UUID])
    silent: list[tuple[float, UUID, str, Device]] = field(
        default_factory=list[tuple[float, UUID, str, Device]]
    )
    """The seconds of silence of a device, with its event and gate."""
    queues: list[tuple[int, UUID, str, Device]] = field(
        default_factory=list[tuple[int, UUID, str, Device]]
    )
    """The number of waiting scans of a device, with its event and gate."""
    events_left_out: int = 0


async def publish_figures(database: Database) -> None:
    """Old figures are worse than none: where they cannot be read they are taken away."""
    try:
        found = await _look(database)
    except BaseException:
        for gauge in _GAUGES:
            gauge.clear()
        raise
    _publish(found)


async def _look(database: Database) -> Figures:
    found = Figures()
    for organization_id in await database.organization_ids():
        async with database.transaction(organization_id) as tx:
            for event in await recount.find_live_events(tx):
                if len(found.events) < EVENTS_TOLD_MAX:
                    await _look_at(tx, event, found)
                else:
                    found.events_left_out += 1
    return found


async def _look_at(tx: Transaction, event: LiveEvent, found: Figures) -> None:
    present = presence_at(await occupancy.read_occupancy_facts(tx, event.id), tx.now)
    if present.today is None:
        return
    found.events.append((event, present.event.inside))
    gates = {gate.id: gate for gate in await figures.list_measured_gates(tx, event.id)}
    found.gates += [(event.id, gate, at_gate(present, gate.id).inside) for gate in gates.values()]
    for each in await devices.list_devices(tx, event.id, False, None, DEVICES_MAX):
        device = each.device
        status = shown_status(device, tx.now)
        found.statuses[event.id, status] += 1
        found.pending[event.id] += device.queue_length or 0
        gate = gates.get(device.gate_id) if device.gate_id else None
        gate_code = gate.code if gate else ""
        found.queues.append((device.queue_length or 0, event.id, gate_code, device))
        if status != "inactive" and gate is not None and gate.is_open:
            silent_s = silence(device, tx.now).total_seconds()
            found.silent.append((silent_s, event.id, gate.code, device))


def _publish(found: Figures) -> None:
    """Replaces all values without a pause, so that no reader sees half of them."""
    for gauge in _GAUGES:
        gauge.clear()  # of what is over
    for event, inside in found.events:
        labels = (str(event.id),)
        metrics.event_occupancy.labels(*labels).set(inside)
        metrics.event_capacity.labels(*labels).set(event.capacity)
        metrics.pending_syncs.labels(*labels).set(found.pending[event.id])
        for status in get_args(ShownStatus):
            count = found.statuses[event.id, status]
            metrics.scanning_devices.labels(*labels, status).set(count)
    found.gates.sort(key=_fullness, reverse=True)
    for event_id, gate, inside in found.gates[:GATES_TOLD_MAX]:
        labels = (str(event_id), str(gate.id), gate.code)
        metrics.gate_occupancy.labels(*labels).set(inside)
        if gate.capacity is not None:
            metrics.gate_capacity.labels(*labels).set(gate.capacity)
    found.silent.sort(key=lambda each: each[0], reverse=True)
    for silent_s, event_id, gate_code, device in found.silent[:DEVICES_TOLD_MAX]:
        labels = (str(event_id), gate_code, str(device.id), device.name)
        metrics.device_silence.labels(*labels).set(silent_s)
    found.queues.sort(key=lambda each: each[0], reverse=True)
    for waiting, event_id, gate_code, device in found.queues[:DEVICES_TOLD_MAX]:
        labels = (str(event_id), gate_code, str(device.id), device.name)
        metrics.device_queue.labels(*labels).set(waiting)
    left_out = metrics.figures_left_out.labels
    left_out("events").set(found.events_left_out)
    left_out("gates").set(max(len(found.gates) - GATES_TOLD_MAX, 0))
    left_out("devices").set(max(len(found.queues) - DEVICES_TOLD_MAX, 0))


def _fullness(of: tuple[UUID, MeasuredGate, int]) -> tuple[float, int]:
    _, gate, inside = of
    return (inside / gate.capacity if gate.capacity else 0.0), inside
