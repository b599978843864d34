"""What followers of an event's alerts are told."""

from uuid import UUID

import msgspec

from voelgoed.scanning.model.alerts import Alert


def alerts_topic(event_id: UUID) -> str:
    return f"alerts:{event_id}"


def alert_raised(alert: Alert) -> dict[str, object]:
    return {"event": "alert_raised", "alert": msgspec.structs.asdict(alert)}


def alert_moved(alert: Alert) -> dict[str, object]:
    """Somebody acknowledged, resolved or reopened it."""
    return {"event": "alert_moved", "alert": msgspec.structs.asdict(alert)}
