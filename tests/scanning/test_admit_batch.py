"""The core of online scans, without a database: many requests in order, from facts to a plan."""

import datetime as dt
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from uuid import UUID

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from tests.scanning.test_decision import CASES, case_of
from voelgoed.accounts.model import Caller
from voelgoed.events.model import EventDay, GateNotFound
from voelgoed.infra.refusal import Refusal
from voelgoed.scanning.model.admission import (
    AdmissionFacts,
    AdmissionPlan,
    DeviceCredential,
    KnownScan,
    LastEntry,
    Override,
    ScanDecision,
    ScanRequest,
)
from voelgoed.scanning.model.decisions import Direction, Verdict
from voelgoed.scanning.model.refusals import (
    DeviceInactive,
    DeviceMismatch,
    DeviceNotAssignedToGate,
    InvalidDeviceToken,
    OverrideNotAllowed,
    ScanAnnulled,
    ScanIdReused,
    TimestampOutOfRange,
)
from voelgoed.scanning.model.scans import Scan
from voelgoed.scanning.model.stations import ScanningDevice, ScanningGate
from voelgoed.scanning.rules.admit_batch import decide, with_counts
from voelgoed.scanning.rules.decision import Case
from voelgoed.scanning.rules.facts import attendance_of, history_of
from voelgoed.scanning.rules.presented import read_presented
from voelgoed.ticketing.model.admissions import IrregularHeads, ScannedTicket, TicketPlace
from voelgoed.ticketing.rules.barcode import BarcodeFields, barcode_hash, barcode_text

ORGANIZATION, EVENT, OTHER_EVENT = UUID(int=1), UUID(int=2), UUID(int=3)
NORTH, SOUTH, ELSEWHERE = UUID(int=10), UUID(int=11), UUID(int=12)
ZONE = UUID(int=20)
NOW = datetime(2030, 6, 1, 18, tzinfo=UTC)
MOMENT = timedelta(microseconds=1)
WINDOW_S = 300
TODAY, TOMORROW = dt.date(2030, 6, 1), dt.date(2030, 6, 2)
DAYS = [
    EventDay(TODAY, NOW - timedelta(hours=2), NOW + timedelta(hours=6)),
    EventDay(TOMORROW, NOW + timedelta(hours=22), NOW + timedelta(hours=30)),
]
CODES = ["AAAA-0000-0001", "AAAA-0000-0002", "AAAA-0000-0003", "AAAA-0000-0004"]
UNKNOWN = "ZZZZ-0000-0009"
SIGNING = Ed25519PrivateKey.from_private_bytes(bytes(32))
KEYS = {EVENT: {1: SIGNING.public_key().public_bytes_raw()}}


def a_device(number: int = 1, **more: Any) -> ScanningDevice:
    given: dict[str, Any] = {
        "id": UUID(int=100 + number),
        "name": f"iPad-{number}",
        "status": "active",
        "key_version": 1,
        "is_revoked": False,
        "is_rotation_demanded": False,
        "gate_id": NORTH,
    }
    return ScanningDevice(**given | more)


def a_scanning_gate(gate_id: UUID = NORTH, **more: Any) -> ScanningGate:
    given: dict[str, Any] = {
        "id": gate_id,
        "name": f"Gate {gate_id.int}",
        "status": "open",
        "allowed_zones": None,
        "capacity": None,
        "hard_capacity_limit": None,
        "event_id": EVENT,
        "event_status": "live",
        "event_ends_at": DAYS[-1].ends_at,
        "event_capacity": 500,
        "layout_id": None,
        "lineage_id": None,
        "dedup_window_s": WINDOW_S,
        "travel_s": None,
    }
    return ScanningGate(**given | more)


def a_ticket(code: str = CODES[0], **more: Any) -> ScannedTicket:
    ticket_id = UUID(int=200 + int(code[-4:]))
    given: dict[str, Any] = {
        "id": ticket_id,
        "event_id": EVENT,
        "code": code,
        "issue": 1,
        "barcode_hash": barcode_hash(a_barcode(code)).hex(),
        "status": "active",
        "zone_id": ZONE,
        "seat_id": None,
        "seat_label": None,
        "days": [],
        "entry_limit": None,
        "max_daily_entries": None,
        "gate_ids": None,
        "reentry": "allowed",
        "is_membership_active": None,
        "scan_count": 0,
        "day_entries": 0,
        "last_entry_day": None,
        "scanned_at": None,
        "last_scanned_at": None,
        "last_exit_at": None,
        "last_gate_id": None,
        "last_gate_name": None,
        "is_inside": False,
        "irregular": [],
        "status_since": None,
        "seen": "1",
    }
    return ScannedTicket(**given | more)


def a_barcode(code: str = CODES[0], issue: int = 1, event_id: UUID = EVENT) -> str:
    ticket_id = UUID(int=200 + int(code[-4:]))
    fields = BarcodeFields(key_number=1, ticket_id=ticket_id, issue=issue, ticket_type_number=1)
    return barcode_text(fields, event_id, code, SIGNING)


def facts_with(
    *tickets: ScannedTicket,
    devices: Sequence[ScanningDevice] = (a_device(),),
    gates: Sequence[ScanningGate] = (a_scanning_gate(),),
    **more: Any,
) -> AdmissionFacts:
    given: dict[str, Any] = {
        "devices": {each.id: each for each in devices},
        "gates": {each.id: each for each in gates},
        "inside": {},
        "carried": {},
        "resets": {},
        "tickets": {each.code: each for each in tickets},
        "known": {},
        "event_keys": KEYS,
        "days": {EVENT: DAYS, OTHER_EVENT: DAYS},
    }
    return AdmissionFacts(**given | more)


def a_request(
    text: str = CODES[0],
    number: int = 1,
    *,
    device: int = 1,
    direction: Direction = "entry",
    override_at: UUID | None = None,
    **more: Any,
) -> ScanRequest:
    caller = Caller(kind="device", id=UUID(int=100 + device), organization_id=ORGANIZATION)
    by: DeviceCredential | Override = DeviceCredential(1, UUID(int=100 + device))
    if override_at is not None:
        caller = Caller(kind="user", id=UUID(int=90), organization_id=ORGANIZATION)
        by = Override(override_at, "known to me")
    given: dict[str, Any] = {
        "caller": caller,
        "by": by,
        "scan_id": UUID(int=1_000 + number),
        "sent_id": str(UUID(int=1_000 + number)),
        "audit_id": UUID(int=2_000 + number),
        "text": text,
        "presented": read_presented(text),
        "direction": direction,
        "scanned_at": NOW,
        "received_at": NOW,
    }
    return ScanRequest(**given | more)


def verdict_of(decision: ScanDecision) -> str:
    """`admitted`, the reason why not, or the code of a refusal."""
    if decision.refusal is not None:
        return decision.refusal.code
    assert decision.scan is not None
    return decision.scan.reason_denied or decision.scan.status


def verdicts(plan: AdmissionPlan) -> list[str]:
    return [verdict_of(each) for each in plan.decisions]


def refusal_of(request: ScanRequest, facts: AdmissionFacts) -> Refusal | None:
    return decide([request], facts, NOW).decisions[0].refusal


# The cases of the contract.


def ticket_of(case: Case) -> ScannedTicket | None:
    """The ticket of a case; None while the case has no ticket."""
    ticket, history = case.ticket, case.history
    if ticket is None:
        return None
    day = max(history.entries_by_day, default=history.inside_day)
    return a_ticket(
        id=ticket.id,
        event_id=ticket.event_id,
        barcode_hash="of its present barcode",
        status=ticket.status,
        issue=ticket.issue,
        zone_id=ticket.zone_id,
        days=ticket.days,
        entry_limit=ticket.entry_limit,
        max_daily_entries=ticket.max_daily_entries,
        gate_ids=ticket.gate_ids,
        reentry=ticket.reentry,
        is_membership_active=ticket.is_membership_active,
        scan_count=history.entries,
        day_entries=history.entries_by_day.get(day, 0) if day else 0,
        last_entry_day=day,
        last_scanned_at=history.last_scanned_at,
        last_gate_id=(history.inside_gate_id or SOUTH) if day else None,
        is_inside=history.inside_day is not None,
    )


def fits_in_a_row(case: Case) -> bool:
    """Whether a ticket's row can hold the past of the case: its last day alone, and nothing from the
    future, because the core would place itself after that."""
    ticket, last = ticket_of(case), case.history.last_scanned_at
    if ticket is not None:
        kept = history_of(attendance_of(ticket))
        gate_id = case.history.inside_gate_id or kept.inside_gate_id
        if kept != msgspec.structs.replace(case.history, inside_gate_id=gate_id):
            return False
    return last is None or last < case.attempt.at


KEPT_CASES = [case for case in CASES if fits_in_a_row(case_of(case["with"]))]


def test_most_cases_can_be_kept_in_a_row():
    assert len(KEPT_CASES) > 0.75 * len(CASES)


@pytest.mark.parametrize("given", KEPT_CASES, ids=lambda case: case["name"])
def test_a_batch_of_one_is_decided_as_the_contract_says(given: dict[str, Any]):
    case, gives = case_of(given["with"]), msgspec.convert(given["gives"], Verdict)
    ticket, issue = ticket_of(case), case.attempt.issue
    text = CODES[0]
    if ticket is not None and issue is not None:
        fields = BarcodeFields(key_number=1, ticket_id=ticket.id, issue=issue, ticket_type_number=1)
        text = barcode_text(fields, ticket.event_id, CODES[0], SIGNING)
        if issue == ticket.issue:
            present = barcode_hash(text).hex()
            ticket = msgspec.structs.replace(ticket, barcode_hash=present)
    gate, event = case.gate, case.event
    facts = facts_with(
        *([ticket] if ticket else []),
        devices=[a_device(gate_id=gate.id)],
        gates=[
            a_scanning_gate(
                gate.id,
                status=gate.status,
                allowed_zones=gate.allowed_zones,
                hard_capacity_limit=gate.hard_capacity_limit,
                event_id=event.id,
                event_status=event.status,
                event_ends_at=event.ends_at,
                dedup_window_s=event.dedup_window_s,
            )
        ],
        days={event.id: event.days},
        inside={gate.id: {event.days[0].date: gate.inside}},
        event_keys={ticket.event_id: KEYS[EVENT]} if ticket else {},
    )
    request = a_request(text, direction=case.attempt.direction)
    [decided] = decide([request], facts, case.attempt.at).decisions
    assert decided.scan is not None
    assert decided.scan.status == gives.status
    assert decided.scan.reason_denied == gives.reason
    assert decided.scan.entry_number == gives.entry_number
    if gives.reason == "already_scanned":
        assert decided.scan.details.seconds_since_last_scan == gives.seconds_since_last_scan


# Devices, gates, clocks and codes.


@pytest.mark.parametrize(
    ("device", "refusal"),
    [
        ({"is_revoked": True}, DeviceInactive),
        ({"status": "inactive"}, DeviceInactive),
        ({"key_version": 2}, DeviceInactive),
        ({"gate_id": None}, DeviceNotAssignedToGate),
        ({"gate_id": ELSEWHERE}, GateNotFound),
    ],
)
def test_a_device_that_may_not_scan_is_refused(device: dict[str, Any], refusal: type[Refusal]):
    facts = facts_with(a_ticket(), devices=[a_device(**device)])
    assert isinstance(refusal_of(a_request(), facts), refusal)


def test_a_refusal_writes_an_audit_entry_and_nothing_else():
    plan = decide([a_request()], facts_with(a_ticket(), devices=[]), NOW)
    assert isinstance(plan.decisions[0].refusal, InvalidDeviceToken)
    [entry] = plan.audit
    assert (entry.action, entry.changes["error"]) == ("scan_refused", "invalid_device_token")
    assert (plan.scans, plan.counts, plan.attendance) == ([], [], [])


def test_a_device_that_names_another_is_refused():
    request = a_request(by=DeviceCredential(1, UUID(int=102)))
    assert isinstance(refusal_of(request, facts_with(a_ticket())), DeviceMismatch)


@pytest.mark.parametrize(("seconds", "is_refused"), [(300, False), (-300, False), (301, True)])
def test_a_clock_may_be_five_minutes_off(seconds: int, is_refused: bool):
    request = a_request(scanned_at=NOW - timedelta(seconds=seconds))
    refusal = refusal_of(request, facts_with(a_ticket()))
    assert isinstance(refusal, TimestampOutOfRange) == is_refused
    assert not is_refused or (refusal and refusal.details["diff_seconds"] == seconds)


# Barcodes.


def test_only_the_last_barcode_of_a_ticket_is_valid():
    ticket = a_ticket(issue=2, barcode_hash=barcode_hash(a_barcode(issue=2)).hex())
    plan = decide(
        [a_request(a_barcode()), a_request(a_barcode(issue=2), 2)], facts_with(ticket), NOW
    )
    assert verdicts(plan) == ["barcode_revoked", "admitted"]


@pytest.mark.parametrize("keys", [{}, {EVENT: {2: KEYS[EVENT][1]}}, {EVENT: {1: bytes(32)}}])
def test_a_barcode_that_no_key_of_the_event_signed_is_forged(keys: dict[UUID, dict[int, bytes]]):
    facts = facts_with(a_ticket(barcode_hash="another"), event_keys=keys)
    plan = decide([a_request(a_barcode())], facts, NOW)
    assert verdicts(plan) == ["ticket_not_found"]
    assert plan.decisions[0].is_forged


def test_a_barcode_of_another_ticket_with_this_code_is_forged():
    facts = facts_with(a_ticket(id=UUID(int=999), barcode_hash="another"))
    assert decide([a_request(a_barcode())], facts, NOW).decisions[0].is_forged


# Overrides.


def test_a_supervisor_overrides_the_rule_for_a_valid_ticket():
    facts = facts_with(a_ticket(), gates=[a_scanning_gate(status="closed")])
    plan = decide([a_request(override_at=NORTH)], facts, NOW)
    [decided] = plan.decisions
    assert decided.scan is not None
    assert (decided.scan.status, decided.scan.details.overridden) == ("admitted", "gate_closed")
    assert (decided.scan.source, decided.scan.actor_id) == ("supervisor", UUID(int=90))
    assert [entry.action for entry in plan.audit] == ["ticket_admitted_by_hand"]


@pytest.mark.parametrize("status", ["voided", "refunded", None])
def test_nobody_is_let_in_by_hand_without_a_valid_ticket(status: str | None):
    facts = facts_with(*([a_ticket(status=status)] if status else []))
    refusal = refusal_of(a_request(override_at=NORTH), facts)
    assert isinstance(refusal, OverrideNotAllowed)


def test_a_used_ticket_let_in_by_hand_is_not_remembered_by_caches():
    facts = facts_with(a_ticket(status="used"), a_ticket(CODES[1]))
    plan = decide([a_request(override_at=NORTH), a_request(CODES[1], 2)], facts, NOW)
    assert verdicts(plan) == ["admitted", "admitted"]
    assert [each.scan.ticket_code for each in plan.entries] == [CODES[1]]


# What caches remember.


def a_hint(tier: Literal["hot", "warm"] = "hot", **more: Any) -> LastEntry:
    given: dict[str, Any] = {
        "scan_id": UUID(int=5_000),
        "gate_id": NORTH,
        "scan_at": NOW - timedelta(seconds=10),
        "tier": tier,
    }
    if tier == "hot":
        given |= {
            "ticket_id": a_ticket().id,
            "event_id": EVENT,
            "zone_id": ZONE,
            "gate_name": "Gate 10",
            "barcode_hash": a_ticket().barcode_hash,
        }
    return LastEntry(**given | more)


def by_hint(hint: LastEntry, request: ScanRequest | None = None) -> AdmissionPlan:
    return decide([request or a_request()], facts_with(hints={CODES[0]: hint}), NOW)


@pytest.mark.parametrize("text", [CODES[0], a_barcode()])
def test_a_hint_is_enough_to_deny_a_duplicate(text: str):
    plan = by_hint(a_hint(), a_request(text))
    assert not plan.needs_tickets
    [scan] = plan.scans
    assert (scan.reason_denied, scan.details.seconds_since_last_scan) == ("already_scanned", 10)
    assert (scan.ticket_id, scan.zone_id, scan.details.tier) == (a_ticket().id, ZONE, "hot")
    assert scan.details.last_gate_name == "Gate 10"
    assert (plan.attendance, plan.counts) == ([], [])


@pytest.mark.parametrize(
    ("hint", "request_"),
    [
        (a_hint(scan_at=NOW - timedelta(seconds=WINDOW_S)), a_request()),
        (a_hint(event_id=OTHER_EVENT), a_request()),
        (a_hint(), a_request(a_barcode(issue=2))),
        (a_hint(), a_request(direction="exit")),
        (a_hint(), a_request(override_at=NORTH)),
        (a_hint("warm"), a_request()),
        (a_hint("warm", gate_id=ELSEWHERE), a_request(a_barcode())),
        (a_hint("warm"), a_request(a_barcode(event_id=OTHER_EVENT))),
    ],
    ids=[
        "the window is over",
        "it is of another event",
        "another barcode",
        "an exit",
        "by hand",
        "Redis does not know whose typed code it is",
        "Redis names a gate that we do not know",
        "the barcode is not genuine",
    ],
)
def test_where_a_hint_is_not_enough_the_ticket_is_needed(hint: LastEntry, request_: ScanRequest):
    assert by_hint(hint, request_).needs_tickets == {CODES[0]}


def test_what_redis_remembers_is_enough_with_a_genuine_barcode():
    plan = by_hint(a_hint("warm"), a_request(a_barcode()))
    assert not plan.needs_tickets
    [scan] = plan.scans
    assert (scan.reason_denied, scan.ticket_id) == ("already_scanned", a_ticket().id)
    assert (scan.details.tier, scan.details.last_gate_name) == ("warm", "Gate 10")


@given(st.integers(-2 * WINDOW_S, 2 * WINDOW_S))
def test_a_decision_by_hint_never_contradicts_the_ticket(seconds: int):
    """This holds also where the last entry lies in the future, by another machine's clock."""
    last = NOW - timedelta(seconds=seconds)
    ticket = a_ticket(
        status="scanned",
        scan_count=1,
        day_entries=1,
        last_entry_day=TODAY.isoformat(),
        scanned_at=last,
        last_scanned_at=last,
        last_gate_id=NORTH,
        last_gate_name="Gate 10",
        is_inside=True,
    )
    hinted, asked = by_hint(a_hint(scan_at=last)), decide([a_request()], facts_with(ticket), NOW)
    if hinted.needs_tickets:
        assert verdicts(asked) == ["admitted"]
    else:
        [by_cache], [by_table] = hinted.scans, asked.scans
        without_tier = msgspec.structs.replace(by_cache.details, tier=None)
        assert msgspec.structs.replace(by_cache, details=without_tier) == by_table


# Many at once.


def test_two_requests_with_one_id_in_a_batch_are_one_scan():
    plan = decide([a_request(), a_request()], facts_with(a_ticket()), NOW)
    assert verdicts(plan) == ["admitted", "admitted"]
    assert [each.is_new for each in plan.decisions] == [True, False]
    assert len(plan.scans) == len(plan.audit) == 1


def test_an_id_is_not_used_for_another_scan():
    twins = [a_request(), a_request(CODES[1]), a_request(direction="exit")]
    plan = decide(twins, facts_with(a_ticket(), a_ticket(CODES[1])), NOW)
    assert isinstance(plan.decisions[1].refusal, ScanIdReused)
    assert isinstance(plan.decisions[2].refusal, ScanIdReused)


def test_an_annulled_admission_is_not_given_again():
    first = decide([a_request()], facts_with(a_ticket()), NOW)
    known = {scan.id: known_scan(scan, is_annulled=True) for scan in first.scans}
    assert isinstance(refusal_of(a_request(), facts_with(a_ticket(), known=known)), ScanAnnulled)


def test_one_ticket_at_many_gates_enters_once():
    devices = [a_device(number, gate_id=(NORTH, SOUTH)[number % 2]) for number in range(50)]
    gates = [a_scanning_gate(NORTH), a_scanning_gate(SOUTH)]
    requests = [a_request(number=number, device=number) for number in range(50)]
    plan = decide(requests, facts_with(a_ticket(), devices=devices, gates=gates), NOW)
    assert verdicts(plan) == ["admitted"] + ["already_scanned"] * 49
    assert [each.inside for each in plan.counts] == [1, 1, 1]


def known_scan(scan: Scan, *, is_annulled: bool = False) -> KnownScan:
    fields = {name: getattr(scan, name) for name in scan.__struct_fields__}
    place = TicketPlace(scan.ticket_id, scan.zone_id, None, None) if scan.ticket_id else None
    return KnownScan(**fields, place=place, is_annulled=is_annulled)


def written(facts: AdmissionFacts, plan: AdmissionPlan) -> AdmissionFacts:
    """The facts after the plan was written, as PostgreSQL would return them."""
    gates = facts.gates
    tickets = dict(facts.tickets)
    by_id = {ticket.id: ticket for ticket in tickets.values()}
    for moved in plan.attendance:
        day, gate_id = moved.last_entry_day, moved.last_gate_id
        tickets[by_id[moved.id].code] = msgspec.structs.replace(
            by_id[moved.id],
            status=moved.status,
            scanned_at=moved.scanned_at,
            last_scanned_at=moved.last_scanned_at,
            last_exit_at=moved.last_exit_at,
            last_gate_id=gate_id,
            last_gate_name=gates[gate_id].name if gate_id else None,
            last_entry_day=day and day.isoformat(),
            day_entries=moved.day_entries,
            is_inside=moved.is_inside,
            scan_count=moved.scan_count,
        )
    inside = {gate_id: dict(days) for gate_id, days in facts.inside.items()}
    for change in plan.counts:
        if change.scope == "gate":
            days = inside.setdefault(change.scope_id, {})
            days[change.day] = days.get(change.day, 0) + change.inside
    known = {**facts.known, **{scan.id: known_scan(scan) for scan in plan.scans}}
    return msgspec.structs.replace(facts, tickets=tickets, inside=inside, known=known)


LIMIT = 2
CROWD = facts_with(
    a_ticket(CODES[0]),
    a_ticket(CODES[1], reentry="after_exit"),
    a_ticket(CODES[2], status="voided"),
    a_ticket(CODES[3], entry_limit=1),
    devices=[a_device(1), a_device(2, gate_id=SOUTH), a_device(3, is_revoked=True)],
    gates=[a_scanning_gate(NORTH, hard_capacity_limit=LIMIT), a_scanning_gate(SOUTH)],
)
texts = st.sampled_from([*CODES, UNKNOWN, a_barcode(CODES[0]), a_barcode(CODES[0], issue=2), "?"])
batches = st.lists(
    st.builds(
        a_request,
        texts,
        st.integers(1, 12),
        device=st.sampled_from([1, 1, 2, 3, 4]),
        direction=st.sampled_from(["entry", "entry", "exit"]),
        override_at=st.sampled_from([None, None, None, NORTH]),
    ),
    max_size=14,
)


@given(batches)
def test_deciding_a_batch_gives_the_same_as_deciding_one_by_one(requests: list[ScanRequest]):
    together, facts = decide(requests, CROWD, NOW), CROWD
    for number, (request, decided) in enumerate(zip(requests, together.decisions, strict=True)):
        alone = decide([request], facts, NOW + number * MOMENT)
        [one] = alone.decisions
        assert verdict_of(one) == verdict_of(decided)
        assert one.is_new == decided.is_new
        if one.is_new:
            assert one.scan == decided.scan
        facts = written(facts, alone)
    after = written(CROWD, together)
    assert after.tickets == facts.tickets
    assert after.known.keys() == facts.known.keys()
    for gate_id in (NORTH, SOUTH):
        at_once, one_by_one = after.inside.get(gate_id, {}), facts.inside.get(gate_id, {})
        assert at_once.get(TODAY, 0) == one_by_one.get(TODAY, 0)


@given(batches)
def test_a_decided_scan_is_answered_as_before(requests: list[ScanRequest]):
    first = decide(requests, CROWD, NOW)
    again = decide(requests, written(CROWD, first), NOW + timedelta(hours=1))
    assert again.scans == []
    for before, after in zip(first.decisions, again.decisions, strict=True):
        if before.scan is not None:
            assert after.scan is not None
            assert not after.is_new
            assert (after.scan.id, verdict_of(after)) == (before.scan.id, verdict_of(before))


def test_people_not_seen_leaving_yesterday_count_against_a_hard_limit():
    yesterday = TODAY - timedelta(days=1)
    gate = a_scanning_gate(hard_capacity_limit=8)
    facts = facts_with(
        *(a_ticket(code) for code in CODES), gates=[gate], inside={NORTH: {yesterday: 6, TODAY: 1}}
    )
    requests = [a_request(code, number) for number, code in enumerate(CODES[:2])]
    plan = decide(requests, facts, NOW)
    assert [verdict_of(each) for each in plan.decisions] == ["admitted", "gate_at_capacity"]
    assert [(check.day, check.most) for check in plan.capacity] == [(TODAY, 2)]


@pytest.mark.parametrize("inside", [2, 3])
@pytest.mark.parametrize("came_on", [TODAY, TODAY - timedelta(days=1)])
def test_who_counts_as_inside_by_a_full_gate_comes_again_and_adds_nobody(
    inside: int, came_on: dt.date
):
    """Fuller than full, too: its limit was lowered."""
    before = NOW - timedelta(hours=1)
    there = a_ticket(
        scan_count=1,
        day_entries=1,
        last_entry_day=came_on.isoformat(),
        scanned_at=before,
        last_scanned_at=before,
        last_gate_id=NORTH,
        is_inside=True,
    )
    by_another_gate = msgspec.structs.replace(
        there, id=UUID(int=299), code=CODES[1], last_gate_id=SOUTH
    )
    facts = facts_with(
        there,
        by_another_gate,
        a_ticket(CODES[2]),
        gates=[a_scanning_gate(hard_capacity_limit=2)],
        inside={NORTH: {came_on: inside}},
    )
    plan = decide([a_request(code, n) for n, code in enumerate(CODES[:3])], facts, NOW)
    assert verdicts(plan) == ["admitted", "gate_at_capacity", "gate_at_capacity"]
    assert sum(each.inside for each in plan.counts if each.scope_id == NORTH) == 0
    assert plan.capacity == [], "there is nobody for whom it could be too full"


def test_a_person_without_a_right_to_be_inside_may_leave():
    heads = [IrregularHeads(gate_id=SOUTH, zone_id=ZONE, day=TODAY, count=2, last_at=NOW)]
    ticket = a_ticket(CODES[0], irregular=heads, status="voided")
    request = a_request(direction="exit")
    plan = decide([request], facts_with(ticket), NOW)
    assert [verdict_of(each) for each in plan.decisions] == ["admitted"]
    [attendance] = plan.attendance
    assert [each.count for each in attendance.irregular] == [1]
    lowered = {each.scope_id: (each.inside, each.irregular) for each in plan.counts}
    assert lowered[SOUTH] == lowered[EVENT] == lowered[ZONE] == (-1, -1)
    assert plan.contested == {ticket.id: [request.scan_id]}


@given(batches, st.integers(0, LIMIT))
def test_a_gate_with_a_limit_never_admits_more(requests: list[ScanRequest], inside: int):
    by_rule = [each for each in requests if not isinstance(each.by, Override)]
    facts = msgspec.structs.replace(CROWD, inside={NORTH: {TODAY: inside}})
    plan = decide(by_rule, facts, NOW)
    counts = [
        msgspec.structs.replace(each, inside=each.inside + inside)
        if each.scope_id == NORTH
        else each
        for each in plan.counts
    ]
    for decided in with_counts(plan, counts):
        scan = decided.scan
        if decided.is_new and scan and scan.gate_id == NORTH and scan.status == "admitted":
            assert scan.gate_current is not None
            assert scan.direction == "exit" or scan.gate_current <= LIMIT
    for check in plan.capacity:
        assert [each.inside <= check.most for each in counts if each.scope_id == check.gate_id] == [
            True
        ]


@given(batches)
def test_a_plan_is_complete(requests: list[ScanRequest]):
    """Each request has its decision, each new scan its row, its counts and its audit entry; for one ticket
    the rule admits at most one entry within the window."""
    plan = decide(requests, CROWD, NOW)
    assert [each.request for each in plan.decisions] == requests
    new = [each.scan for each in plan.decisions if each.is_new]
    assert new == plan.scans
    assert len(plan.ahead) == len(plan.scans)
    refused = [each for each in plan.decisions if each.refusal is not None]
    assert len(plan.audit) == len(new) + len(refused)
    entered = [
        scan.ticket_code
        for scan in plan.scans
        if scan.status == "admitted" and scan.direction == "entry" and not scan.details.overridden
    ]
    assert len(entered) == len(set(entered))
    moments = [scan.scanned_at_canonical for scan in plan.scans]
    assert moments == sorted(set(moments))


def test_each_answer_has_the_counts_right_after_its_scan():
    codes = CODES[:3]
    facts = facts_with(*(a_ticket(code) for code in codes))
    plan = decide([a_request(code, at) for at, code in enumerate(codes)], facts, NOW)
    others = 10  # the person is inside already when the plan is written
    counts = [msgspec.structs.replace(each, inside=each.inside + others) for each in plan.counts]
    answered = [each.scan for each in with_counts(plan, counts)]
    assert [scan.gate_current for scan in answered if scan] == [11, 12, 13]
    assert [scan.event_current for scan in answered if scan] == [11, 12, 13]


def test_the_core_can_be_called_thousands_of_times():
    times, step = 3_000, timedelta(seconds=WINDOW_S)
    gate = a_scanning_gate(event_ends_at=NOW + times * step)
    facts = facts_with(a_ticket(), gates=[gate])
    for number in range(times):
        plan = decide([a_request(number=number)], facts, NOW + number * step)
        assert verdicts(plan) == ["admitted"]
        facts = msgspec.structs.replace(written(facts, plan), known={})
    assert facts.tickets[CODES[0]].scan_count == times
