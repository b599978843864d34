"""Which delivered scans count, by the cases of contracts/provenance.json."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voelgoed.scanning.model.decisions import EventFacts
from voelgoed.scanning.model.devices import DeviceAssignment
from voelgoed.scanning.rules.provenance import (
    ScanOrigin,
    UnverifiedCause,
    assignment_at,
    unverified_cause,
)

CONTRACT: dict[str, Any] = msgspec.json.decode(
    (Path(__file__).parents[2] / "contracts" / "provenance.json").read_bytes()
)
CASES: list[dict[str, Any]] = CONTRACT["cases"]
EVENT = msgspec.convert(CONTRACT["base"]["event"], EventFacts)
NOON = datetime(2026, 6, 5, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def origin_of(changed: dict[str, Any]) -> ScanOrigin:
    given = CONTRACT["base"]["origin"] | changed
    tolerance = timedelta(seconds=given.pop("tolerance_s"))
    return msgspec.structs.replace(
        msgspec.convert(given | {"tolerance": "PT0S"}, ScanOrigin), tolerance=tolerance
    )


def assignments_of(case: dict[str, Any]) -> list[DeviceAssignment]:
    given = case.get("assignments", CONTRACT["base"]["assignments"])
    return msgspec.convert(given, list[DeviceAssignment])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_cases(case: dict[str, Any]):
    found = unverified_cause(origin_of(case["origin"]), EVENT, assignments_of(case))
    assert found == case["gives"]


def test_every_cause_has_a_case_and_every_case_its_own_name():
    assert {case["gives"] for case in CASES} == {None, *get_args(UnverifiedCause)}
    assert len({case["name"] for case in CASES}) == len(CASES)


@given(
    at=st.integers(-2_000, 2_000),
    first=st.integers(0, 5_000),
    later=st.integers(0, 5_000),
    case=st.sampled_from(CASES),
)
def test_the_arrival_of_a_scan_changes_only_whether_it_is_from_the_future(
    at: int, first: int, later: int, case: dict[str, Any]
):
    moment, assignments = NOON + timedelta(minutes=at), assignments_of(case)
    causes = {
        unverified_cause(
            ScanOrigin(
                at=moment,
                tolerance=timedelta(seconds=60),
                direction="entry",
                received_at=moment + timedelta(minutes=delay),
            ),
            EVENT,
            assignments,
        )
        for delay in (first, later)
    }
    assert len(causes) == 1
    assert causes != {"from_future"}


def assigned(event: int, begin: float, end: float | None) -> DeviceAssignment:
    return DeviceAssignment(
        device_id=UUID(int=1),
        gate_id=UUID(int=event),
        event_id=UUID(int=event),
        from_at=NOON + begin * HOUR,
        until_at=None if end is None else NOON + end * HOUR,
    )


@given(st.integers(-5, 5), st.integers(0, 3))
def test_a_later_assignment_does_not_change_an_earlier_scan(at: int, ends: int):
    """An assignment begins now and never in the past, so the time before it stays the same."""
    origin = ScanOrigin(
        at=NOON + at * HOUR,
        tolerance=timedelta(seconds=60),
        direction="entry",
        received_at=NOON + 10 * HOUR,
    )
    event = msgspec.structs.replace(EVENT, id=UUID(int=7))
    open_ended, ended = [assigned(7, -3, None)], [assigned(7, -3, 5 + ends), assigned(8, 6, None)]
    before = unverified_cause(origin, event, open_ended)
    assert unverified_cause(origin, event, ended) == before


def test_the_assignment_at_a_moment_is_the_last_that_had_begun():
    there = [assigned(1, 0, 2), assigned(2, 2, 4), assigned(3, 5, None)]
    found = [assignment_at(there, NOON + each * HOUR) for each in (-1, 0, 1, 2, 3, 4.5, 9)]
    assert [each and each.event_id.int for each in found] == [None, 1, 1, 2, 2, None, 3]
