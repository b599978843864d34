"""A ticket's scan history, judged as its scans become known, without a database."""

import datetime as dt
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voelgoed.events.model import EventDay
from voelgoed.scanning.model.decisions import EventFacts, TicketFacts
from voelgoed.scanning.model.scan_history import HistoryScan, JudgedScan, Resolution
from voelgoed.scanning.rules.conflicts import clashes_of
from voelgoed.scanning.rules.reconcile import frozen_prefix, reconcile

EVENT, TICKET = UUID(int=1), UUID(int=3)
START = datetime(2030, 6, 1, 16, tzinfo=UTC)
DAY = EventDay(date=dt.date(2030, 6, 1), starts_at=START, ends_at=START + timedelta(hours=8))
FACTS = EventFacts(id=EVENT, status="live", ends_at=DAY.ends_at, days=[DAY], dedup_window_s=300)

CONTRACT: dict[str, Any] = msgspec.json.decode(
    (Path(__file__).parents[2] / "contracts" / "conflicts.json").read_bytes()
)


def a_ticket(limit: int | None = None, reentry: str = "allowed") -> TicketFacts:
    return TicketFacts(
        id=TICKET,
        event_id=EVENT,
        status="active",
        issue=1,
        zone_id=None,
        days=[],
        entry_limit=limit,
        max_daily_entries=None,
        gate_ids=None,
        reentry=reentry,  # pyright: ignore[reportArgumentType]
        is_membership_active=None,
    )


def a_scan(number: int, second: int, **more: object) -> HistoryScan:
    given: dict[str, object] = {
        "direction": "entry",
        "source": "offline_sync",
        "is_let_in": True,
        "stateless_reason": None,
        **more,
    }
    given.setdefault("outcome", "valid" if given["is_let_in"] else "duplicate")
    return HistoryScan(
        id=UUID(int=100 + number),
        event_id=EVENT,
        gate_id=UUID(int=10),
        zone_id=None,
        device_id=UUID(int=50 + number % 3),
        scanned_at_canonical=START + timedelta(seconds=second),
        day=DAY.date,
        ticket_id=TICKET,
        resolution=None,
        **given,  # pyright: ignore[reportArgumentType]
    )


def learn(
    known: list[HistoryScan], new: list[HistoryScan], ticket: TicketFacts, event: EventFacts = FACTS
) -> tuple[list[HistoryScan], list[JudgedScan]]:
    after = [*known, *new]
    judged = reconcile(event, ticket, after, frozen_prefix(after, {each.id for each in new})).scans
    return [
        msgspec.structs.replace(each.scan, resolution=each.resolution) for each in judged
    ], judged


def resolutions(judged: list[JudgedScan]) -> list[tuple[UUID, Resolution, UUID | None]]:
    return [(each.scan.id, each.resolution, each.winner and each.winner.id) for each in judged]


scans = st.lists(
    st.builds(
        lambda number, second, way, source, is_let_in, apart: a_scan(
            number,
            second,
            direction=way,
            source=source,
            is_let_in=is_let_in,
            stateless_reason=apart,
        ),
        st.integers(0, 10_000),
        st.sampled_from([0, 1, 100, 299, 300, 301, 500, 600, 900]),
        st.sampled_from(["entry", "entry", "entry", "exit"]),
        st.sampled_from(["offline_sync", "offline_sync", "online", "supervisor"]),
        st.sampled_from([True, True, False]),
        st.sampled_from([None, None, None, "ticket_voided", "wrong_gate"]),
    ).filter(lambda scan: scan.is_let_in or scan.source == "offline_sync"),
    max_size=10,
    unique_by=lambda scan: scan.id,
)


@given(
    scans,
    st.sampled_from([None, 1, 2]),
    st.sampled_from(["allowed", "after_exit", "never"]),
    st.integers(),
)
def test_the_order_and_grouping_in_which_scans_become_known_do_not_matter(
    history: list[HistoryScan], limit: int | None, reentry: str, seed: int
):
    ticket, random = a_ticket(limit, reentry), Random(seed)
    at_once = learn([], history, ticket)[1]
    left, known = list(history), list[HistoryScan]()
    judged: list[JudgedScan] = []
    random.shuffle(left)
    while left:
        some = random.randint(1, len(left))
        known, judged = learn(known, left[:some], ticket)
        left = left[some:]
    assert resolutions(judged) == resolutions(at_once)
    assert clashes_of(judged) == clashes_of(at_once)


@given(
    scans,
    st.sampled_from([None, 1, 2]),
    st.sampled_from(["allowed", "after_exit", "never"]),
    st.integers(0, 10),
    st.sampled_from([[], [START + timedelta(seconds=400)]]),
)
def test_a_history_may_begin_at_any_of_its_scans(
    history: list[HistoryScan], limit: int | None, reentry: str, at: int, resets: list[datetime]
):
    """A checkpoint has the same effect as the scans that it is made of."""
    ticket, event = a_ticket(limit, reentry), msgspec.structs.replace(FACTS, resets=resets)
    whole = reconcile(event, ticket, history)
    ordered = [each.scan for each in whole.scans]
    before = reconcile(event, ticket, ordered[:at])
    after = reconcile(event, ticket, ordered[at:], state=before.state)
    assert after.attendance == whole.attendance
    if ordered[at:]:
        assert after.state == whole.state
    parts = {each.scan.id: each for each in (*before.scans, *after.earlier, *after.scans)}
    assert clashes_of(parts[each.id] for each in ordered) == clashes_of(whole.scans)
    assert [parts[each.id].resolution for each in ordered] == [
        each.resolution for each in whole.scans
    ]


@given(scans, st.sampled_from([None, 1]), st.sampled_from(["allowed", "after_exit", "never"]))
def test_a_denied_scan_never_counts_and_changes_nothing(
    history: list[HistoryScan], limit: int | None, reentry: str
):
    ticket = a_ticket(limit, reentry)
    judged = learn([], history, ticket)[1]
    by_hand = [each for each in judged if each.scan.source == "supervisor"]
    assert all(each.resolution.status == "admitted" for each in by_hand)
    denied = [each for each in judged if not each.scan.is_let_in and each not in by_hand]
    assert all(each.resolution.status == "denied" for each in denied)
    let_in = [each for each in history if each.is_let_in or each.source == "supervisor"]
    assert resolutions(learn([], let_in, ticket)[1]) == [
        each for each in resolutions(judged) if each[0] not in {a.scan.id for a in denied}
    ]


def test_two_let_in_are_a_conflict_and_one_denied_is_none():
    first, second, third = a_scan(1, 0), a_scan(2, 60), a_scan(3, 90, is_let_in=False)
    judged = learn([], [third, second, first], a_ticket())[1]
    assert [
        (each.kind, each.severity, each.scan_id, each.winner_scan_id) for each in clashes_of(judged)
    ] == [("double_entry", "critical", second.id, first.id)]


def test_an_earlier_scan_can_remove_a_conflict():
    """The scan at minute 4 was too soon after minute 0; but minute 0 itself was too soon after minute
    -4."""
    zero, four, before = a_scan(1, 0), a_scan(2, 240), a_scan(3, -240)
    known, judged = learn([], [zero, four], a_ticket())
    assert [each.scan_id for each in clashes_of(judged)] == [four.id]
    _, judged = learn(known, [before], a_ticket())
    assert [each.scan_id for each in clashes_of(judged)] == [zero.id]
    assert [each.resolution.status for each in judged] == ["admitted", "denied", "admitted"]


def test_a_scan_that_the_server_denied_is_no_conflict():
    entered = a_scan(1, 0)
    away = a_scan(2, 10, source="online", is_let_in=False)
    judged = reconcile(FACTS, a_ticket(), [entered, away]).scans
    assert judged[1].resolution.status == "denied"
    assert clashes_of(judged) == []


def test_scans_at_the_same_moment_are_ordered_by_device_then_by_scan():
    one, two, three = a_scan(3, 0), a_scan(1, 0), a_scan(6, 0)  # devices 50, 51, 50
    judged = learn([], [three, two, one], a_ticket())[1]
    assert [each.scan.id for each in judged] == [one.id, three.id, two.id]


def test_a_stateless_reason_stays_whatever_else_is_known():
    wrong = a_scan(1, 0, stateless_reason="wrong_gate")
    judged = learn([], [wrong, a_scan(2, 10)], a_ticket())[1]
    assert [each.resolution.reason for each in judged] == ["wrong_gate", None]
    judged = learn([], [a_scan(2, -10), wrong], a_ticket())[1]
    assert judged[1].resolution.reason == "already_scanned"  # this is checked first


def test_a_double_entry_is_one_whatever_else_is_wrong_with_it():
    never = a_ticket(reentry="never")
    judged = learn([], [a_scan(1, 0), a_scan(2, 600, stateless_reason="wrong_gate")], never)[1]
    assert judged[1].resolution.reason == "wrong_gate"
    assert [each.kind for each in clashes_of(judged)] == ["double_entry"]
    judged = learn([], [a_scan(1, 0), a_scan(2, 60, stateless_reason="ticket_voided")], a_ticket())[
        1
    ]
    assert judged[1].resolution.reason == "ticket_voided"
    assert [each.kind for each in clashes_of(judged)] == ["double_entry"]


@pytest.mark.parametrize("case", CONTRACT["cases"], ids=lambda case: case["name"])
def test_the_cases_in_every_order_in_which_their_scans_become_known(case: dict[str, Any]):
    base, gives = CONTRACT["base"], case["gives"]
    event = msgspec.convert({**base["event"], "resets": case.get("resets", [])}, EventFacts)
    ticket = msgspec.convert({**base["ticket"], **case["with"]}, TicketFacts)
    scans = [msgspec.convert({**CONTRACT["scan"], **each}, HistoryScan) for each in case["scans"]]
    for order in permutations(scans):
        known, judged = list[HistoryScan](), list[JudgedScan]()
        for scan in order:
            known, judged = learn(known, [scan], ticket, event)
        assert [
            {"scan_id": str(each.scan.id), **msgspec.to_builtins(each.resolution)}
            for each in judged
        ] == gives["resolutions"]
        clashes = msgspec.to_builtins(clashes_of(judged))
        assert [
            {key: each[key] for key in ("scan_id", "winner_scan_id", "kind", "severity")}
            for each in clashes
        ] == gives["conflicts"]
        attendance = reconcile(event, ticket, known).attendance
        irregular = sum(each.count for each in attendance.irregular)
        assert gives["heads"] == {
            "inside": attendance.is_inside + irregular,
            "irregular": irregular,
        }
