"""Judges scans once more that were ahead of their arrival, when their moment has come.

Until then nobody can know what will be done to their tickets before that moment. Afterwards nothing more can
happen before it, so the judgement is that of a scan which arrives only now.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.scanning.model.scan_history import HistoryScan, JudgedHistory
from voelgoed.scanning.model.sync_facts import RecordedScan, SyncFacts
from voelgoed.scanning.rules.history_plan import HistoryPlan, HistoryPlanner
from voelgoed.scanning.rules.invalid_admissions import InvalidAdmission
from voelgoed.scanning.rules.reconcile import frozen_prefix


class SecondLook(msgspec.Struct, frozen=True, kw_only=True):
    history: HistoryPlan
    """Its `ahead` has the scans whose moment has not come yet."""
    changed_codes: list[str]
    """Codes of tickets of which caches must forget what they know."""
    invalid: list[InvalidAdmission]
    """The people whom devices let in with a ticket that was no longer valid at the claimed moment."""


def look_again(
    scan_ids: Iterable[UUID], facts: SyncFacts, now: datetime, new_ids: Iterator[UUID]
) -> SecondLook:
    """`facts` have the whole histories of these scans' tickets."""
    planner = HistoryPlanner(facts, new_ids, now)
    due: dict[UUID, dict[UUID, RecordedScan]] = {}
    ahead: dict[UUID, datetime] = {}
    for scan_id in scan_ids:
        scan = facts.known.get(scan_id)
        if scan is None or scan.ticket_id is None:
            continue
        if scan.scanned_at_canonical >= now:
            ahead[scan_id] = scan.scanned_at_canonical
        else:
            due.setdefault(scan.ticket_id, {})[scan_id] = scan
    codes, invalid = list[str](), list[InvalidAdmission]()
    for ticket in facts.tickets:
        if (scans := due.get(ticket.id)) is not None:
            history = [*facts.histories.get(ticket.id, ()), *_denied(scans.values())]
            frozen, event = frozen_prefix(history, scans), facts.events[ticket.event_id]
            judged = planner.change(ticket, event, history, history, frozen)
            codes.append(ticket.code)
            invalid += _newly_invalid(judged, scans)
    plan = msgspec.structs.replace(planner.plan(), ahead=ahead)
    return SecondLook(history=plan, changed_codes=codes, invalid=invalid)


def _denied(scans: Collection[RecordedScan]) -> list[HistoryScan]:
    """The scans that let nobody in: they are in no history, but they have a reason too."""
    return [
        HistoryScan(
            id=scan.id,
            event_id=scan.event_id,
            gate_id=scan.gate_id,
            zone_id=scan.zone_id,
            device_id=scan.device_id,
            direction=scan.direction,
            scanned_at_canonical=scan.scanned_at_canonical,
            day=scan.day,
            ticket_id=scan.ticket_id,
            source=scan.source,
            is_let_in=False,
            stateless_reason=scan.stateless_reason,
            outcome=scan.outcome,
            resolution=scan.resolution,
            issue=scan.details.issue,
        )
        for scan in scans
        if not scan.is_let_in and scan.day is not None and scan.ticket_id is not None
    ]


def _newly_invalid(
    judged: JudgedHistory, due: Mapping[UUID, RecordedScan]
) -> list[InvalidAdmission]:
    """An alert about what was against a scan when it arrived was raised then."""
    return [
        InvalidAdmission(
            event_id=each.scan.event_id,
            ticket_id=each.scan.ticket_id,
            scan_id=each.scan.id,
            gate_name=due[each.scan.id].gate_name,
            reason=each.scan.stateless_reason,
        )
        for each in judged.scans
        if each.scan.id in due
        and each.scan.is_let_in
        and each.scan.stateless_reason is not None
        and due[each.scan.id].stateless_reason is None
    ]
