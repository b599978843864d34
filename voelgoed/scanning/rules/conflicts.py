"""What is told of a conflict."""

from datetime import datetime
from typing import Literal

import msgspec

from voelgoed.scanning.model.alerts import Suspicion
from voelgoed.scanning.model.conflicts import Conflict
from voelgoed.scanning.rules.fraud import SEVERITY, SUBJECT


def conflict_changed(
    what: Literal["conflict_detected", "conflict_withdrawn", "conflict_moved"], conflict: Conflict
) -> dict[str, object]:
    return {"event": what, "conflict": msgspec.structs.asdict(conflict)}


def suspicion_of(conflict: Conflict, ticket_code: str, at: datetime) -> Suspicion:
    return Suspicion(
        event_id=conflict.event_id,
        kind="double_entry",
        severity=SEVERITY["double_entry"],
        subject_type=SUBJECT["double_entry"],
        subject_id=conflict.ticket_id,
        at=at,
        details={
            "ticket_code": ticket_code,
            "conflict_id": conflict.id,
            "scan_id": conflict.scan_id,
            "winner_scan_id": conflict.winner_scan_id,
        },
    )
