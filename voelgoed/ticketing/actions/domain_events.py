"""What happened in sales, recorded for whoever counts it afterwards."""

from uuid import UUID

from voelgoed.infra.database import Transaction
from voelgoed.infra.ids import new_id
from voelgoed.ticketing.model.holds import SeatHold
from voelgoed.ticketing.store.domain_events import DomainEvent


def reserved(tx: Transaction, hold: SeatHold) -> DomainEvent:
    return _of_hold(tx, "SeatReserved", hold)


def released(tx: Transaction, hold: SeatHold) -> DomainEvent:
    return _of_hold(tx, "SeatReleased", hold)


def expired(tx: Transaction, hold: SeatHold) -> DomainEvent:
    return _of_hold(tx, "SeatHoldExpired", hold)


def converted(tx: Transaction, hold: SeatHold) -> DomainEvent:
    return _of_hold(tx, "SeatHoldConverted", hold)


def happened(
    tx: Transaction, name: str, event_id: UUID, subject_id: UUID, payload: dict[str, object]
) -> DomainEvent:
    return DomainEvent(
        id=new_id(), name=name, event_id=event_id, subject_id=subject_id, payload=payload
    )


def _of_hold(tx: Transaction, name: str, hold: SeatHold) -> DomainEvent:
    payload: dict[str, object] = {
        "hold_id": hold.id,
        "seat_id": hold.seat_id,
        "zone_id": hold.zone_id,
        "places": hold.places,
        "event_id": hold.event_id,
        "user_id": hold.user_id,
        "organization_id": tx.organization_id,
        "held_until": hold.held_until,
        "timestamp": tx.now,
    }
    return happened(tx, name, hold.event_id, hold.id, payload)
