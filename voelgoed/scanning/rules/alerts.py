"""Suspicions about the same subject become one alert, and followers of an event hear of each."""

from collections.abc import Iterable
from uuid import UUID

import msgspec

from voelgoed.scanning.model.alerts import Alert, AlertKind, Suspicion

OCCASIONS_MAX = 10_000
"""The newest are listed; the count is exact. No delivery has more scans."""
LISTED_KINDS: tuple[AlertKind, ...] = ("invalid_admission", "double_entry")
"""Whoever looks at these looks at each person: what is repeated is added to the list."""


def merge_suspicions(suspicions: Iterable[Suspicion]) -> list[Suspicion]:
    """One suspicion for each subject and kind. It has the details of the last one, the number of all of
    them, and, if there are several, a list of the details of each."""
    alike: dict[tuple[UUID, AlertKind, UUID], list[Suspicion]] = {}
    for each in suspicions:
        alike.setdefault(each.about, []).append(each)
    return [_merged(those) if len(those) > 1 else those[0] for those in alike.values()]


def _merged(suspicions: list[Suspicion]) -> Suspicion:
    last = suspicions[-1]
    occasions = [each.details for each in suspicions[-OCCASIONS_MAX:]]
    return msgspec.structs.replace(
        last,
        details={**last.details, "occasions": occasions},
        occurrences=sum(each.occurrences for each in suspicions),
    )


def alerts_topic(event_id: UUID) -> str:
    return f"alerts:{event_id}"


def alert_raised(alert: Alert) -> dict[str, object]:
    return {"event": "alert_raised", "alert": msgspec.structs.asdict(alert)}


def alert_repeated(alert: Alert) -> dict[str, object]:
    """It happened again while nobody had resolved it."""
    return {"event": "alert_repeated", "alert": msgspec.structs.asdict(alert)}


def alert_moved(alert: Alert) -> dict[str, object]:
    """Somebody acknowledged, resolved or reopened it."""
    return {"event": "alert_moved", "alert": msgspec.structs.asdict(alert)}
