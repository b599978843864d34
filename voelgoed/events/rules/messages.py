"""What followers of an event are told."""

from uuid import UUID

from voelgoed.events.model import Event, Gate


def event_topic(event_id: UUID) -> str:
    return f"event:{event_id}"


def event_changed(event: Event) -> dict[str, object]:
    return {"event": "event_changed", "id": str(event.id), "status": event.status}


def gate_changed(gate: Gate) -> dict[str, object]:
    """Only that it changed: who follows an event need not be allowed to see its gates."""
    return {"event": "gate_changed", "id": str(gate.id), "version": gate.version}


def gate_deleted(gate: Gate) -> dict[str, object]:
    return {"event": "gate_deleted", "id": str(gate.id)}
