"""Builders for the rules of offline deliveries, which need no database."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from voelgoed.events.model import EventDay
from voelgoed.scanning.model.alerts import Suspicion
from voelgoed.scanning.model.decisions import EventFacts, Reason
from voelgoed.scanning.model.devices import Device, DeviceAssignment
from voelgoed.scanning.model.scan_history import Resolution
from voelgoed.scanning.model.scans import ScanDetails
from voelgoed.scanning.model.stations import ScanningDevice, ScanningGate
from voelgoed.scanning.model.sync import BatchSync
from voelgoed.scanning.model.sync_facts import SyncedScan, SyncFacts
from voelgoed.scanning.rules.batches import BatchFacts, suspicions_of
from voelgoed.scanning.rules.device_clock import DeviceClock
from voelgoed.scanning.rules.offline_scans import OfflineScan, SyncResult
from voelgoed.scanning.rules.presented import read_presented
from voelgoed.ticketing.model.admissions import ScannedTicket

NOW = datetime(2026, 11, 16, 20, tzinfo=UTC)
EVENT, BATCH, DEVICE, GATE = UUID(int=1), UUID(int=2), UUID(int=7), UUID(int=8)
SOMEBODYS_TICKET = UUID(int=5)
DAY = EventDay(
    date=NOW.date(), starts_at=NOW - timedelta(hours=12), ends_at=NOW + timedelta(hours=4)
)
FACTS = EventFacts(id=EVENT, status="live", ends_at=DAY.ends_at, days=[DAY], dedup_window_s=300)


def a_device(id_: UUID = DEVICE, **more: Any) -> Device:
    given: dict[str, Any] = {
        "id": id_,
        "name": "iPad",
        "device_type": "ipad",
        "gate_id": GATE,
        "status": "active",
        "key_version": 1,
        "key_rotated_at": NOW - timedelta(days=9),
        "rotation_demanded_at": None,
        "rotation_id": None,
        "paired_at": NOW - timedelta(days=9),
        "paired_by_id": UUID(int=99),
        "deleted_at": None,
        "last_heartbeat": None,
        "battery_percent": None,
        "queue_length": None,
        "app_version": None,
        "manifest_version": None,
        "clock_offset_seconds": None,
        "clock_measured_at": None,
        "last_sync_at": None,
        "last_seen_at": None,
        "version": 1,
        "created_at": NOW - timedelta(days=9),
        "updated_at": NOW - timedelta(days=9),
    }
    return Device(**given | more)


def a_gate_at(event_id: UUID = EVENT, id_: UUID = GATE, **more: Any) -> ScanningGate:
    given: dict[str, Any] = {
        "id": id_,
        "name": "North",
        "status": "open",
        "allowed_zones": None,
        "capacity": None,
        "hard_capacity_limit": None,
        "event_id": event_id,
        "event_status": "live",
        "event_ends_at": DAY.ends_at,
        "event_capacity": 1_000,
        "layout_id": None,
        "lineage_id": None,
        "dedup_window_s": None,
        "travel_s": None,
    }
    return ScanningGate(**given | more)


def a_ticket(number: int, **more: Any) -> ScannedTicket:
    given: dict[str, Any] = {
        "id": UUID(int=1_000 + number),
        "event_id": EVENT,
        "code": f"AAAA-AAAA-{number:04}",
        "issue": 1,
        "barcode_hash": f"{number:064x}",
        "status": "active",
        "zone_id": None,
        "seat_id": None,
        "seat_label": None,
        "days": [],
        "entry_limit": None,
        "max_daily_entries": None,
        "gate_ids": None,
        "reentry": "allowed",
        "is_membership_active": None,
        "scan_count": 0,
        "day_entries": 0,
        "last_entry_day": None,
        "scanned_at": None,
        "last_scanned_at": None,
        "last_exit_at": None,
        "last_gate_id": None,
        "last_gate_name": None,
        "is_inside": False,
        "irregular": [],
        "status_since": None,
        "seen": "1",
    }
    return ScannedTicket(**given | more)


def an_offline_scan(number: int, code: str, ago: timedelta, **more: Any) -> OfflineScan:
    presented = read_presented(code)
    at = NOW - ago
    given: dict[str, Any] = {
        "scan_id": UUID(int=10_000 + number),
        "sent_id": str(UUID(int=10_000 + number)),
        "device": a_device(),
        "batch_id": BATCH,
        "ticket_id": None,
        "presented": presented,
        "given": code,
        "barcode_hash": presented and presented.barcode_hash,
        "gate": GATE,
        "direction": "entry",
        "scanned_at": at,
        "at": at,
        "tolerance": timedelta(seconds=60),
        "outcome": "valid",
    }
    return OfflineScan(**given | more)


def sync_facts(tickets: list[ScannedTicket], **more: Any) -> SyncFacts:
    """One device that has been at one gate of one event for days."""
    here = DeviceAssignment(
        device_id=DEVICE,
        gate_id=GATE,
        event_id=EVENT,
        from_at=NOW - timedelta(days=9),
        until_at=None,
    )
    device = ScanningDevice(
        id=DEVICE,
        name="iPad",
        status="active",
        key_version=1,
        is_revoked=False,
        is_rotation_demanded=False,
        gate_id=GATE,
    )
    given: dict[str, Any] = {
        "devices": {DEVICE: device},
        "assignments": {DEVICE: [here]},
        "answers": {},
        "gates": {GATE: a_gate_at()},
        "gate_codes": {},
        "events": {EVENT: FACTS},
        "manifest_versions": {},
        "tickets": tickets,
        "reissues": {},
        "keys": {},
        "known": {},
        "annulled": frozenset(),
        "unreviewed": {},
        "histories": {},
        "conflicts": [],
        "checkpoints": {},
        "checkpointed": frozenset(),
        "nearby_entries": {},
    }
    return SyncFacts(**given | more)


def a_result(
    number: int,
    *,
    ago: timedelta | None = None,
    ticket_id: UUID | None = SOMEBODYS_TICKET,
    stateless_reason: Reason | None = None,
    **more: Any,
) -> SyncResult:
    """A new scan of a delivery, one a minute, without faults except for the given changes."""
    ago = timedelta(minutes=number % 60) if ago is None else ago
    scan = an_offline_scan(number, "AAAA-AAAA-AAAA", ago)
    ticket = None if ticket_id is None else a_ticket(0, id=ticket_id)
    is_denied = stateless_reason is not None or ticket is None
    resolution = Resolution("denied", stateless_reason) if is_denied else Resolution("admitted")
    row = SyncedScan(
        id=scan.scan_id,
        event_id=EVENT,
        ticket_id=ticket_id,
        ticket_code=scan.given,
        device_id=DEVICE,
        actor_id=None,
        gate_id=GATE,
        direction="entry",
        status=resolution.status,
        reason_denied=resolution.reason,
        scanned_at=scan.at,
        scanned_at_canonical=scan.at,
        day=DAY.date,
        zone_id=None,
        entry_number=None,
        gate_name="North",
        device_name="iPad",
        source="offline_sync",
        details=ScanDetails(),
        outcome="valid",
        stateless_reason=stateless_reason,
        batch_id=BATCH,
    )
    given: dict[str, Any] = {
        "scan": scan,
        "ticket": ticket,
        "gate": a_gate_at(),
        "stateless_reason": stateless_reason,
        "resolution": resolution,
        "row": row,
    }
    return SyncResult(**given | more)


def suspicions(results: list[SyncResult], **more: Any) -> list[Suspicion]:
    """What the rules suspect of a delivery with these results."""
    batch = BatchSync(
        id=UUID(int=1),
        batch_id=BATCH,
        source="offline_sync",
        device_id=DEVICE,
        event_id=EVENT,
        status="completed",
        batch_size=len(results),
        processed_count=len(results),
        error_count=0,
        offset_seconds=0.0,
        processed_scan_ids=[],
        synced_at=NOW,
    )
    given: dict[str, Any] = {
        "created_at": NOW,
        "clock": DeviceClock(offset=timedelta()),
        "nearby_entries": (),
    }
    facts = BatchFacts(batch=batch, device_name="iPad", results=results, **given | more)
    return suspicions_of(facts)
