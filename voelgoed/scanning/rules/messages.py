"""The messages that followers of a gate, and of an event's occupancy, get."""

from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec

from voelgoed.scanning.model.conflicts import Conflict
from voelgoed.scanning.model.occupancy import Presence
from voelgoed.scanning.model.scans import Scan, SeatInfo
from voelgoed.scanning.model.stations import ScanningGate
from voelgoed.scanning.model.sync import BatchStatus
from voelgoed.scanning.rules.answers import percent_full, warning_of
from voelgoed.scanning.rules.occupancy import at_gate


def gate_topic(gate_id: UUID) -> str:
    return f"gate:{gate_id}"


def device_topic(device_id: UUID) -> str:
    """The topic that only the device itself follows."""
    return f"device:{device_id}"


def device_changed(device_id: UUID) -> dict[str, object]:
    return {"event": "device_changed", "device_id": device_id}


def passed(scan: Scan, seat: SeatInfo | None) -> dict[str, object]:
    """The message to followers of the gate."""
    at = scan.scanned_at_canonical
    message: dict[str, object] = {
        "event": "ticket_admitted" if scan.direction == "entry" else "ticket_exited",
        "scan_id": scan.id,
        "ticket_code": scan.ticket_code,
        "status": scan.status,
        "seat_info": seat,
        "scanned_at": at,
        "scan_time": at,
        "gate_occupancy": scan.gate_current,
        "timestamp": at,
    }
    if (warning := warning_of(scan)) is not None:
        message["warning"] = warning
    return message


def corrected(ticket_id: UUID, ticket_code: str) -> dict[str, object]:
    """A supervisor changed what is known of a ticket; apps that show counts read them again."""
    return {"event": "ticket_corrected", "ticket_id": ticket_id, "ticket_code": ticket_code}


def denied(scan: Scan) -> dict[str, object]:
    return {
        "event": "ticket_denied",
        "scan_id": scan.id,
        "ticket_code": scan.ticket_code,
        "status": scan.status,
        "reason": scan.reason_denied,
        "timestamp": scan.scanned_at_canonical,
    }


def counted(scan: Scan, gates: msgspec.Raw | None = None) -> dict[str, object]:
    """The message for followers of the event. It has the levels of all its gates where they are
    given; of scans that are written together, the last message has them."""
    current, capacity = scan.event_current or 0, scan.details.event_capacity or 1
    message: dict[str, object] = {
        "event": "ticket_scanned",
        "direction": scan.direction,
        "ticket_id": scan.ticket_id,
        "gate_id": scan.gate_id,
        "gate_name": scan.gate_name,
        "timestamp": scan.scanned_at_canonical,
        "gate_occupancy": scan.gate_current,
        "total_occupancy": current,
        "percent_full": percent_full(current, capacity),
    }
    if gates is not None:
        message["occupancy_levels"] = {"gates": gates}
    return message


def recounted(event_id: UUID) -> dict[str, object]:
    """The counts were repaired; apps that show them read them again."""
    return {"event": "occupancy_corrected", "event_id": event_id}


def batch_topic(batch_id: UUID) -> str:
    """The topic that the device follows that delivers the batch."""
    return f"batch:{batch_id}"


def batch_synced(
    batch_id: UUID, status: BatchStatus, processed: int, errors: int, at: datetime
) -> dict[str, object]:
    return {
        "event": "sync_complete",
        "batch_id": batch_id,
        "status": status,
        "processed_count": processed,
        "error_count": errors,
        "timestamp": at,
    }


def occupancy_synced(
    batch_id: UUID, gate: ScanningGate, added: int, present: Presence, at: datetime
) -> dict[str, object]:
    """The message for followers of the event after a delivery: it is one for all gates, so the
    other gates are to be read."""
    return {
        "event": "batch_sync_completed",
        "batch_id": batch_id,
        "scans_added": added,
        "gate_id": gate.id,
        "gate_name": gate.name,
        "gate_occupancy": at_gate(present, gate.id).inside,
        "total_occupancy": present.event.inside,
        "timestamp": at,
    }


def conflict_changed(
    what: Literal["conflict_detected", "conflict_withdrawn", "conflict_moved"], conflict: Conflict
) -> dict[str, object]:
    return {"event": what, "conflict": msgspec.structs.asdict(conflict)}
