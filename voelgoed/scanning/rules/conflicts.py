"""The rule for conflicts: which scans are one, and which of two scans wins.

A conflict is one person more inside than the ticket allows, whatever is wrong with the ticket. The scan
that let that person in loses; the entry because of which the person is one too many wins. A scan that the
device denied is no conflict: the device and the server then agree.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.scanning.model.alerts import Suspicion
from voelgoed.scanning.model.conflicts import Conflict
from voelgoed.scanning.model.scan_history import Clash, JudgedScan
from voelgoed.scanning.rules.fraud import SEVERITY, SUBJECT


class ConflictChanges(msgspec.Struct, frozen=True):
    found: list[Conflict]
    """The conflicts that are new, or in which another scan wins than before."""
    withdrawn: list[Conflict]
    """The conflicts that no longer exist."""


def clashes_of(judged: Iterable[JudgedScan]) -> list[Clash]:
    """Each of one ticket's scans that let in one person too many, with the scan that wins."""
    return [
        Clash(
            event_id=each.scan.event_id,
            ticket_id=each.scan.ticket_id,
            scan_id=each.scan.id,
            winner_scan_id=each.winner.id,
            kind="double_entry",
            severity="critical",
        )
        for each in judged
        if each.winner is not None and each.scan.is_let_in
    ]


def conflict_changes(
    known: Iterable[Conflict], clashes: Iterable[Clash], ids: Iterator[UUID], now: datetime
) -> ConflictChanges:
    """The changes that turn the known conflicts of some tickets into the present ones. `ids` are
    fresh ones."""
    before = {each.scan_id: each for each in known}
    found, left = list[Conflict](), set[UUID]()
    for clash in clashes:
        left.add(clash.scan_id)
        stood = before.get(clash.scan_id)
        if stood is None:
            found.append(_opened(clash, next(ids), now))
        elif stood.winner_scan_id != clash.winner_scan_id:
            found.append(_opened_again(stood, clash))
    withdrawn = [each for scan_id, each in before.items() if scan_id not in left]
    return ConflictChanges(found, withdrawn)


def _opened(clash: Clash, id_: UUID, now: datetime) -> Conflict:
    return Conflict(
        id=id_,
        event_id=clash.event_id,
        ticket_id=clash.ticket_id,
        kind=clash.kind,
        severity=clash.severity,
        scan_id=clash.scan_id,
        winner_scan_id=clash.winner_scan_id,
        state="open",
        detected_at=now,
        reviewed_by_id=None,
        reviewed_at=None,
        note="",
        version=1,
    )


def _opened_again(conflict: Conflict, clash: Clash) -> Conflict:
    """Opens a conflict again, because people reviewed another pair of scans."""
    return msgspec.structs.replace(
        conflict,
        winner_scan_id=clash.winner_scan_id,
        state="open",
        reviewed_by_id=None,
        reviewed_at=None,
        note="",
        version=conflict.version + 1,
    )


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
