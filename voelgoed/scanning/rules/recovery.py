"""The checks of scans that come from a file and not from the device itself."""

import datetime as dt
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from uuid import UUID, uuid5

import msgspec

from voelgoed.scanning.model.alerts import AlertKind, Suspicion
from voelgoed.scanning.model.decisions import EventFacts, Reason
from voelgoed.scanning.model.devices import Device
from voelgoed.scanning.model.outcomes import Outcome
from voelgoed.scanning.model.recoveries import Imported
from voelgoed.scanning.model.scan_history import HistoryScan, JudgedHistory
from voelgoed.scanning.model.scans import Doubt
from voelgoed.scanning.model.sync import SignedScan
from voelgoed.scanning.model.sync_facts import RecordedScan, SyncFacts
from voelgoed.scanning.rules.decision import day_of
from voelgoed.scanning.rules.device_clock import DeviceClock, canonical, is_from_future
from voelgoed.scanning.rules.fraud import SEVERITY, SUBJECT
from voelgoed.scanning.rules.history_plan import HistoryPlan, HistoryPlanner
from voelgoed.scanning.rules.invalid_admissions import InvalidAdmission
from voelgoed.scanning.rules.reconcile import corrected, frozen_prefix
from voelgoed.scanning.rules.scan_signatures import SignedFields, is_signed_by

_FILES = UUID("0b1f7c64-8a5e-5d0e-9d3b-6f1d1c7a2e10")
"""A random namespace for ids that are made from files."""


def batch_id_of(fingerprint: str) -> UUID:
    """The same file is the same import, however often and by whom it is imported."""
    return uuid5(_FILES, fingerprint)


def fields_of(scan: SignedScan) -> SignedFields:
    return SignedFields(
        scan_id=scan.scan_id,
        ticket_id=scan.ticket_id,
        barcode_hash=scan.barcode_hash,
        scanned_at=scan.scanned_at,
        gate_id=scan.gate_id,
    )


def which_are_signed(scans: Sequence[SignedScan], api_keys: Sequence[str]) -> list[bool]:
    """Whether each scan is signed with any of the keys. Most have the same key as those before
    them."""
    keys, found = list(api_keys), list[bool]()
    for scan in scans:
        fields = fields_of(scan)
        key = next((key for key in keys if is_signed_by(scan.signature, fields, key)), None)
        if key is not None and key != keys[0]:
            keys.remove(key)
            keys.insert(0, key)
        found.append(key is not None)
    return found


def doubts_about(
    scanned_at: datetime, clock: DeviceClock, device: Device, now: datetime
) -> list[Doubt]:
    """The doubts about a scan's moment. It is not refused for that: a wrong clock may be why the
    device could not send it."""
    at, doubts = canonical(scanned_at, clock), list[Doubt]()
    if at < device.created_at:
        doubts.append("before_pairing")
    if is_from_future(at, clock.tolerance, now):
        doubts.append("from_future")
    if device.deleted_at is not None and at > device.deleted_at:
        doubts.append("after_revocation")
    return doubts


def suspicion_of(imported: Imported) -> Suspicion:
    """The finding that something waits for a person to review it; it suspects nobody."""
    kind: AlertKind = "unverified_scans"
    return Suspicion(
        event_id=imported.event_id,
        kind=kind,
        severity=SEVERITY[kind],
        subject_type=SUBJECT[kind],
        subject_id=imported.device_id,
        at=imported.imported_at,
        details={
            "device_name": imported.device_name,
            "batch_id": imported.batch_id,
            "scans": imported.kept,
            "wrong_signatures": imported.wrong_signatures,
            "doubtful": imported.doubtful,
        },
    )


class AcceptedScans(msgspec.Struct, frozen=True):
    history: HistoryPlan
    changed_codes: list[str]
    """Codes of tickets of which caches must forget what they know."""
    invalid: list[InvalidAdmission]
    """Whom devices let in with a ticket that was void, or not for there."""


def accept_scans(
    scan_ids: Iterable[UUID],
    did: Mapping[UUID, Outcome],
    facts: SyncFacts,
    now: datetime,
    new_ids: Iterator[UUID],
) -> AcceptedScans:
    """Scans that waited for review count from now on, as if the device had just delivered them. What a file
    brought and the device did not sign never counts: nobody vouches for it. `did` is what devices did where
    we had answered the scan already; they may not have heard us in time."""
    planner = HistoryPlanner(facts, new_ids, now)
    learnt: dict[UUID, dict[UUID, HistoryScan]] = {}
    invalid: list[InvalidAdmission] = []
    for scan_id in scan_ids:
        known = facts.known.get(scan_id)
        if known is None or not known.is_waiting or not _is_authentic(known):
            continue
        if (waiting := facts.unreviewed.get(scan_id)) is not None:
            learnt.setdefault(waiting.ticket_id, {})[scan_id] = waiting
        elif known.ticket_id is None and known.day is not None:
            planner.rule_without_ticket(
                facts.events[known.event_id], known, known.day, is_let_in=known.outcome == "valid"
            )
    for scan_id, outcome in did.items():
        if (corrected_scan := _corrected(scan_id, outcome, facts)) is not None:
            learnt.setdefault(corrected_scan.ticket_id, {})[scan_id] = corrected_scan
        else:
            _correct_without_ticket(scan_id, outcome, facts, planner)
    codes: list[str] = []
    for ticket in facts.tickets:
        if (news := learnt.get(ticket.id)) is not None:
            before = facts.histories.get(ticket.id, ())
            after = [*(each for each in before if each.id not in news), *news.values()]
            frozen = frozen_prefix(after, news)
            judged = planner.change(ticket, facts.events[ticket.event_id], before, after, frozen)
            codes.append(ticket.code)
            invalid += _invalid_of(judged, news, facts, now)
    return AcceptedScans(planner.plan(), codes, invalid)


def _invalid_of(
    judged: JudgedHistory, accepted: Collection[UUID], facts: SyncFacts, now: datetime
) -> list[InvalidAdmission]:
    """Of the scans that were accepted. One whose moment is yet to come is judged once more then, and what it
    has got against it until then is told then."""
    found: list[InvalidAdmission] = []
    for scan in (each.scan for each in judged.scans):
        known = facts.known[scan.id] if scan.id in accepted else None
        if known is not None and known.source != "online":
            is_ahead = scan.scanned_at_canonical >= now
            found += _invalid(known, known.stateless_reason if is_ahead else scan.stateless_reason)
    return found


def _invalid(scan: RecordedScan, reason: Reason | None) -> list[InvalidAdmission]:
    if scan.ticket_id is None or reason is None or scan.outcome != "valid":
        return []
    return [
        InvalidAdmission(
            event_id=scan.event_id,
            ticket_id=scan.ticket_id,
            scan_id=scan.id,
            gate_name=scan.gate_name,
            reason=reason,
        )
    ]


def _is_authentic(scan: RecordedScan) -> bool:
    return scan.source != "recovered" or bool(scan.details.is_signed)


def _corrected(scan_id: UUID, outcome: Outcome, facts: SyncFacts) -> HistoryScan | None:
    known = facts.known.get(scan_id)
    if known is None or known.source != "online" or known.ticket_id is None:
        return None
    event = facts.events.get(known.event_id)
    if event is None or scan_id in facts.annulled:
        return None
    return corrected(known, known.ticket_id, outcome, _day(event, known))


def _correct_without_ticket(
    scan_id: UUID, outcome: Outcome, facts: SyncFacts, planner: HistoryPlanner
) -> None:
    known, is_let_in = facts.known.get(scan_id), outcome == "valid"
    if known is None or known.source != "online" or known.ticket_id is not None:
        return
    event = facts.events.get(known.event_id)
    if event is not None and scan_id not in facts.annulled and known.is_let_in != is_let_in:
        planner.rule_without_ticket(event, known, _day(event, known), is_let_in=is_let_in)


def _day(event: EventFacts, scan: RecordedScan) -> dt.date:
    day = day_of(event.days, scan.scanned_at_canonical)
    assert day is not None
    return dt.date.fromisoformat(day)


def recovery_message(what: str, batch_id: UUID, device_id: UUID, scans: int) -> dict[str, object]:
    return {"event": what, "batch_id": batch_id, "device_id": device_id, "scans": scans}
