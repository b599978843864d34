"""What the fraud rules find: exact about thresholds, and the same in whatever order scans arrive."""

from datetime import UTC, datetime, timedelta
from typing import Any, get_args
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voelgoed.infra.ids import new_id
from voelgoed.scanning.model.alerts import (
    AlertKind,
    DeviceCount,
    DeviceError,
    Findings,
    GateCount,
    Round,
    Sighting,
    Suspicion,
    TicketCount,
)
from voelgoed.scanning.model.decisions import Reason
from voelgoed.scanning.model.policies import ScanPolicy
from voelgoed.scanning.model.scans import Scan, ScanDetails
from voelgoed.scanning.rules.fraud import (
    SENT_ELSEWHERE,
    SEVERITY,
    SUBJECT,
    errs_too_often,
    impossible_travel,
    is_near_capacity,
    questions_of,
    subjects_of,
    suspicions_of,
)

NOON = datetime(2030, 6, 1, 12, 0, tzinfo=UTC)
EVENT, TICKET, DEVICE = UUID(int=1), UUID(int=2), UUID(int=3)
NORTH, SOUTH, WEST = UUID(int=11), UUID(int=12), UUID(int=13)
SECONDS = st.integers(0, 1_000)


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def a_scan(at: float = 0, **changes: Any) -> Scan:
    return Scan(
        **{
            "id": new_id(),
            "event_id": EVENT,
            "ticket_id": TICKET,
            "ticket_code": "3KQR-7F92-4M1X",
            "device_id": DEVICE,
            "actor_id": None,
            "gate_id": NORTH,
            "direction": "entry",
            "status": "denied" if changes.get("reason_denied") else "admitted",
            "reason_denied": None,
            "scanned_at": after(at),
            "scanned_at_canonical": after(at),
            "day": None,
            "zone_id": None,
            "entry_number": None,
            "gate_name": "North",
            "device_name": "iPad",
            "source": "online",
            "details": ScanDetails(),
        }
        | changes
    )


def a_sighting(at: float, gate_id: UUID, **changes: Any) -> Sighting:
    return Sighting(
        **{
            "id": new_id(),
            "ticket_id": TICKET,
            "gate_id": gate_id,
            "gate_name": f"Gate {gate_id.int}",
            "at": after(at),
            "reason": None,
            "source": "online",
            "entry_number": None,
        }
        | changes
    )


def an_error(at: float = 0, **changes: Any) -> DeviceError:
    return DeviceError(
        **{
            "event_id": EVENT,
            "gate_id": NORTH,
            "device_id": DEVICE,
            "device_name": "iPad",
            "gate_name": "North",
            "at": after(at),
        }
        | changes
    )


def a_round(
    *scans: Scan, forged: tuple[Scan, ...] = (), refused: tuple[DeviceError, ...] = ()
) -> Round:
    return Round(
        scans=[*scans, *forged],
        forged_ids=frozenset(scan.id for scan in forged),
        refused=list(refused),
    )


def findings(**found: Any) -> Findings:
    return Findings(**{"tickets": [], "sightings": [], "gates": [], "devices": []} | found)


def judged(noted: Round, found: Findings | None = None, **policy: Any) -> list[Suspicion]:
    policies = {EVENT: ScanPolicy(event_id=EVENT, **policy)}
    return suspicions_of(noted, subjects_of(noted), policies, found or findings())


def repeated(count: int) -> Findings:
    return findings(tickets=[TicketCount(ticket_id=TICKET, duplicates=count, is_elsewhere=False)])


def kinds(suspicions: list[Suspicion]) -> list[str]:
    return sorted(each.kind for each in suspicions)


def test_every_kind_has_a_severity_and_a_subject():
    assert set(SEVERITY) == set(SUBJECT) == set(get_args(AlertKind))


@given(st.integers(1, 1_000), SECONDS)
def test_a_ticket_at_two_gates_too_soon_is_impossible_travel(travel_s: int, gap: int):
    seen = [a_sighting(0, NORTH), a_sighting(gap, SOUTH)]
    found = impossible_travel(seen, after(gap), travel_s)
    assert (found is not None) == (gap < travel_s)


@given(st.lists(st.tuples(SECONDS, st.sampled_from([NORTH, SOUTH, WEST])), max_size=8), SECONDS)
def test_impossible_travel_is_found_wherever_two_scans_are_too_close(
    scans: list[tuple[int, UUID]], travel_s: int
):
    seen = [a_sighting(at, gate) for at, gate in scans]
    too_close = any(
        one[1] != other[1] and abs(one[0] - other[0]) < travel_s for one in scans for other in scans
    )
    assert (impossible_travel(seen, NOON, travel_s) is not None) == too_close


@given(
    st.lists(st.tuples(SECONDS, st.sampled_from([NORTH, SOUTH, WEST])), max_size=8), st.randoms()
)
def test_the_order_in_which_a_tickets_scans_arrive_does_not_matter(
    scans: list[tuple[int, UUID]], random: Any
):
    seen = [a_sighting(at, gate) for at, gate in scans]
    shuffled = list(seen)
    random.shuffle(shuffled)
    assert impossible_travel(seen, NOON, 300) == impossible_travel(shuffled, NOON, 300)


def test_two_scans_at_the_same_gate_are_no_travel():
    assert impossible_travel([a_sighting(0, NORTH), a_sighting(1, NORTH)], NOON, 300) is None


def test_a_noticed_scan_is_not_noticed_again():
    seen = [a_sighting(0, NORTH), a_sighting(60, SOUTH), a_sighting(90, SOUTH)]
    assert impossible_travel(seen, after(60), 300) is not None
    assert impossible_travel(seen, after(90), 300) is None


@pytest.mark.parametrize("reason", sorted(map(str, SENT_ELSEWHERE)))
def test_a_visitor_who_was_sent_to_another_gate_may_go_there(reason: str):
    seen = [a_sighting(0, NORTH, reason=reason), a_sighting(60, SOUTH, entry_number=2)]
    assert impossible_travel(seen, NOON, 300) is None


def test_a_first_entry_is_no_travel():
    denied = a_sighting(0, NORTH, reason="event_not_live")
    assert impossible_travel([denied, a_sighting(60, SOUTH, entry_number=1)], NOON, 300) is None
    entry = a_sighting(0, NORTH, entry_number=1)
    again = a_sighting(60, SOUTH, reason="already_scanned")
    assert impossible_travel([entry, again], NOON, 300) == (entry, again)


def test_an_override_by_a_supervisor_is_no_travel():
    seen = [a_sighting(0, NORTH), a_sighting(60, SOUTH, source="supervisor")]
    assert impossible_travel(seen, NOON, 300) is None


def test_impossible_travel_says_where_and_how_fast():
    seen = [a_sighting(0, NORTH, entry_number=1), a_sighting(42, SOUTH, reason="already_scanned")]
    [found] = judged(
        a_round(a_scan(42, gate_id=SOUTH, reason_denied="already_scanned")),
        findings(sightings=seen),
    )
    assert (found.kind, found.severity, found.subject_type) == (
        "impossible_travel",
        "high",
        "ticket",
    )
    assert (found.subject_id, found.at) == (TICKET, after(42))
    assert found.details == {
        "ticket_code": "3KQR-7F92-4M1X",
        "from_gate": "Gate 11",
        "to_gate": "Gate 12",
        "seconds": 42,
    }


@given(st.integers(1, 1_000), st.integers(0, 1_001))
def test_duplicates_are_repeated_when_there_are_more_than_allowed(most: int, count: int):
    noted = a_round(a_scan(reason_denied="already_scanned"))
    raised = judged(noted, repeated(count), duplicates_per_hour_max=most)
    assert kinds(raised) == (["repeated_duplicates"] if count > most else [])


def test_a_re_entry_after_many_duplicates_is_no_duplicate_itself():
    assert judged(a_round(a_scan(entry_number=2)), repeated(6)) == []


@given(st.integers(1, 10_000), st.integers(0, 10_001))
def test_a_gate_is_too_fast_when_there_are_more_scans_than_allowed(most: int, count: int):
    found = findings(gates=[GateCount(gate_id=NORTH, count=count)])
    raised = judged(a_round(a_scan()), found, gate_scans_per_minute_max=most)
    assert kinds(raised) == (["high_velocity"] if count > most else [])


@pytest.mark.parametrize(
    ("count", "errors", "too_often"),
    [(19, 19, False), (20, 2, False), (20, 3, True), (30, 3, False), (30, 4, True), (0, 0, False)],
)
def test_a_device_has_too_many_errors_over_a_tenth_of_at_least_twenty(
    count: int, errors: int, too_often: bool
):
    made = DeviceCount(device_id=DEVICE, count=count, errors=errors)
    assert errs_too_often(made, 0.1) == too_often
    raised = judged(a_round(refused=(an_error(),)), findings(devices=[made]))
    assert kinds(raised) == (["device_malfunction"] if too_often else [])


@pytest.mark.parametrize("reason", get_args(Reason))
def test_only_an_unknown_ticket_is_an_error_of_the_device(reason: Reason):
    erring = subjects_of(a_round(a_scan(reason_denied=reason))).erring
    assert set(erring) == ({DEVICE} if reason == "ticket_not_found" else set())


def test_a_malfunction_is_raised_where_the_device_last_erred():
    wrong = a_scan(5, reason_denied="ticket_not_found", ticket_id=None)
    refused = an_error(9, gate_id=SOUTH, gate_name="South")
    made = DeviceCount(device_id=DEVICE, count=20, errors=3)
    raised = judged(a_round(wrong, refused=(refused,)), findings(devices=[made]))
    [found] = [each for each in raised if each.kind == "device_malfunction"]
    assert (found.subject_id, found.at) == (DEVICE, after(9))
    assert found.details == {
        "device_name": "iPad",
        "gate_name": "South",
        "scans": 20,
        "errors": 3,
        "device_error_rate_max": 0.1,
    }


@given(st.integers(20, 10_000), st.floats(0, 1), st.data())
def test_the_rate_itself_is_still_allowed(count: int, rate_max: float, data: st.DataObject):
    errors = data.draw(st.integers(0, count))
    made = DeviceCount(device_id=DEVICE, count=count, errors=errors)
    assert errs_too_often(made, rate_max) == (errors / count > rate_max)
    assert not errs_too_often(made, 1.0)


def test_an_unknown_ticket_and_a_forged_one_are_distinguished():
    unknown = a_scan(ticket_id=None, reason_denied="ticket_not_found")
    forged = a_scan(1, ticket_id=None, reason_denied="ticket_not_found")
    raised = {each.kind: each for each in judged(a_round(unknown, forged=(forged,)))}
    assert set(raised) == {"ticket_not_found", "forged_barcode"}
    assert raised["forged_barcode"].severity == "critical"
    assert {each.subject_id for each in raised.values()} == {DEVICE}


@given(st.integers(1, 100_000), st.integers(0, 100_000))
def test_a_gate_is_near_capacity_from_nine_tenths_on(capacity: int, current: int):
    details = ScanDetails(gate_capacity=capacity)
    raised = judged(a_round(a_scan(details=details, gate_current=current, entry_number=1)))
    assert kinds(raised) == (["gate_near_capacity"] if current * 10 >= capacity * 9 else [])


def test_an_exit_from_a_full_gate_raises_nothing_and_a_gate_without_limit_is_never_full():
    details = ScanDetails(gate_capacity=100)
    assert judged(a_round(a_scan(details=details, gate_current=100, direction="exit"))) == []
    assert not is_near_capacity(100, None)
    assert not is_near_capacity(None, 100)


def test_a_clock_that_is_off_is_about_its_device():
    [raised] = judged(a_round(refused=(an_error(diff_seconds=301), an_error(1))))
    assert (raised.kind, raised.subject_id) == ("clock_skew", DEVICE)
    assert raised.details["diff_seconds"] == 301


@given(
    st.lists(
        st.tuples(
            SECONDS,
            st.sampled_from([None, "already_scanned", "ticket_not_found", "gate_closed"]),
            st.sampled_from([NORTH, SOUTH]),
            st.sampled_from([DEVICE, UUID(int=4)]),
            st.integers(0, 100),
        ),
        min_size=1,
        max_size=12,
    ),
    st.randoms(),
)
def test_the_order_of_scans_does_not_matter_and_nothing_is_raised_twice(
    drawn: list[tuple[int, Any, UUID, UUID, int]], random: Any
):
    scans = [
        a_scan(
            at,
            reason_denied=reason,
            gate_id=gate,
            device_id=device,
            ticket_id=TICKET if has_ticket(reason) else None,
            gate_current=inside,
            details=ScanDetails(gate_capacity=100),
        )
        for at, reason, gate, device, inside in drawn
    ]
    found = findings(
        tickets=[TicketCount(ticket_id=TICKET, duplicates=6, is_elsewhere=True)],
        sightings=[a_sighting(at, gate) for at, reason, gate, _, _ in drawn if has_ticket(reason)],
        gates=[GateCount(gate_id=gate, count=61) for gate in {scan.gate_id for scan in scans}],
        devices=[
            DeviceCount(device_id=device, count=20, errors=10)
            for device in subjects_of(a_round(*scans)).erring
        ],
    )
    first = judged(a_round(*scans), found)
    assert len({each.about for each in first}) == len(first)
    random.shuffle(scans)
    for each in (found.sightings, found.gates, found.devices):
        random.shuffle(each)
    again = judged(a_round(*scans), found)
    assert sorted(first, key=str) == sorted(again, key=str)


def has_ticket(reason: str | None) -> bool:
    return reason != "ticket_not_found"


def test_the_store_is_only_asked_about_subjects_that_can_have_become_worse():
    first, again = a_scan(0, entry_number=1), a_scan(5, reason_denied="already_scanned")
    policies = {EVENT: ScanPolicy(event_id=EVENT)}
    assert questions_of(subjects_of(a_round(first)), policies).tickets == []
    asked = questions_of(subjects_of(a_round(again, first)), policies)
    [ticket], [gate] = asked.tickets, asked.gates
    assert (ticket.hour_since, ticket.until) == (after(5 - 3_600), after(5))
    assert (ticket.travel_since, ticket.enough, ticket.gate_id) == (after(5 - 300), 6, NORTH)
    assert (gate.since, gate.until, gate.enough) == (after(5 - 60), after(5), 61)
    assert asked.devices == []
    elsewhere = a_scan(6, reason_denied="wrong_gate")
    assert questions_of(subjects_of(a_round(elsewhere)), policies).devices == []
    [device] = questions_of(subjects_of(a_round(refused=(an_error(7),))), policies).devices
    assert (device.device_id, device.gate_id, device.since) == (DEVICE, NORTH, after(7 - 600))
