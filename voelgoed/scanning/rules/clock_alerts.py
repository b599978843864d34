"""Somebody hears of every clock that was changed, however the device says so."""

from datetime import datetime
from uuid import UUID

from voelgoed.scanning.model.alerts import AlertKind, Suspicion
from voelgoed.scanning.model.devices import Device
from voelgoed.scanning.rules.device_clock import ClockChange, jump_details
from voelgoed.scanning.rules.fraud import SEVERITY, SUBJECT


def clock_jump(
    device: Device, event_id: UUID, change: ClockChange | None, at: datetime
) -> list[Suspicion]:
    """Of a measurement that came with no scans. `event_id` is that of the device's gate."""
    if (details := jump_details(change)) is None:
        return []
    kind: AlertKind = "clock_skew"
    return [
        Suspicion(
            event_id=event_id,
            kind=kind,
            severity=SEVERITY[kind],
            subject_type=SUBJECT[kind],
            subject_id=device.id,
            at=at,
            details={"device_name": device.name, **details},
        )
    ]
