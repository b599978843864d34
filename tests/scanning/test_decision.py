"""The rule of the gates, tested by the cases that its twin in the scanner app must pass too."""

import datetime as dt
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voelgoed.events.model import EventDay
from voelgoed.scanning.model.decisions import REASONS_OF_HISTORY, Reason, Verdict
from voelgoed.scanning.rules.decision import Case, day_of, decide

CONTRACT: dict[str, Any] = msgspec.json.decode(
    (Path(__file__).parents[2] / "contracts" / "scan_decisions.json").read_bytes()
)
CASES: list[dict[str, Any]] = CONTRACT["cases"]


def case_of(changed: dict[str, Any]) -> Case:
    given: dict[str, Any] = deepcopy(CONTRACT["base"])
    for part, fields in changed.items():
        given[part] = None if fields is None else {**given[part], **fields}
    return msgspec.convert(given, Case)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_cases(case: dict[str, Any]):
    assert decide(case_of(case["with"])) == msgspec.convert(case["gives"], Verdict)


def test_every_reason_has_a_case_and_every_case_its_own_name():
    of_the_rule = set(get_args(Reason)) - {"unverified"}  # no decision has this reason
    assert {case["gives"].get("reason") for case in CASES} - {None} == of_the_rule
    assert len({case["name"] for case in CASES}) == len(CASES)


def test_every_field_that_is_changed_matters_to_some_case():
    """Without the change of a field at least one case is decided otherwise, so no field is there for
    show."""
    matters: set[tuple[str, str]] = set()
    named: set[tuple[str, str]] = set()
    for case in CASES:
        for part, fields in case["with"].items():
            for field in fields or ():
                named.add((part, field))
                rest = {name: value for name, value in fields.items() if name != field}
                if decide(case_of({**case["with"], part: rest})) != decide(case_of(case["with"])):
                    matters.add((part, field))
    assert named == matters


moments = st.datetimes(
    min_value=datetime(2026, 6, 4), max_value=datetime(2026, 6, 9), timezones=st.just(UTC)
)
PARTS: dict[str, list[Any]] = {
    part: [case["with"][part] for case in CASES if part in case["with"]]
    for part in CONTRACT["base"]
}
mixtures = st.fixed_dictionaries(
    {},
    optional={
        part: st.lists(st.sampled_from([each for each in given if each]), max_size=3).map(
            lambda some: {field: value for each in some for field, value in each.items()}
        )
        for part, given in PARTS.items()
    },
)


@given(mixtures, moments)
def test_every_input_has_one_decision_with_all_its_details(mixture: dict[str, Any], at: datetime):
    attempt = {**mixture.get("attempt", {}), "at": at.isoformat()}
    case = case_of({**mixture, "attempt": attempt})
    verdict = decide(case)
    assert (verdict.status == "denied") == (verdict.reason is not None)
    is_entry = verdict.status == "admitted" and case.attempt.direction == "entry"
    assert (verdict.entry_number is not None) == is_entry
    assert (verdict.day is not None) == is_entry
    assert (verdict.seconds_since_last_scan is not None) == (verdict.reason == "already_scanned")
    assert verdict.left_at in (None, case.history.left_at)
    assert verdict.left_at is None or verdict.reason in REASONS_OF_HISTORY
    assert verdict.may_return_at is None or verdict.left_at is not None


@given(mixtures, moments)
def test_a_person_who_returns_when_allowed_is_not_denied_because_of_the_past(
    mixture: dict[str, Any], at: datetime
):
    history = {"entries": 1, "last_scanned_at": at, "left_at": at + timedelta(seconds=5)}
    by_day = {day_of(case_of(mixture).event.days, at): 1}
    history = {**mixture.get("history", {}), "inside_day": None, "entries_by_day": by_day} | history
    attempt = {**mixture.get("attempt", {}), "at": at + timedelta(seconds=10)}
    case = case_of({**mixture, "attempt": attempt, "history": history})
    returns_at = decide(case).may_return_at
    if returns_at is not None:
        later = msgspec.structs.replace(case.attempt, at=returns_at)
        again = decide(msgspec.structs.replace(case, attempt=later))
        assert again.reason not in REASONS_OF_HISTORY


@given(mixtures, st.integers(0, 10_000), st.integers(0, 10_000))
def test_more_earlier_entries_never_lead_to_an_admission(
    mixture: dict[str, Any], before: int, more: int
):
    def with_entries(entries: int) -> Verdict:
        history = {**mixture.get("history", {}), "entries": entries}
        history["entries_by_day"] = {
            day["date"]: entries for day in CONTRACT["base"]["event"]["days"]
        }
        return decide(case_of({**mixture, "history": history}))

    if with_entries(before).status == "denied":
        assert with_entries(before + more).status == "denied"


@given(moments)
def test_every_moment_belongs_to_a_day_in_their_order(at: datetime):
    days = msgspec.convert(CONTRACT["base"]["event"]["days"], list[EventDay])
    assert day_of([], at) is None
    here, later = day_of(days, at), day_of(days, at + timedelta(hours=1))
    assert here is not None
    assert later is not None
    assert dt.date.fromisoformat(here) <= dt.date.fromisoformat(later)
    for day in days:
        if day.starts_at <= at < day.ends_at:
            assert here == day.date.isoformat()
