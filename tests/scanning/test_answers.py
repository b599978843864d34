"""The texts of an answer."""

from datetime import UTC, datetime, timedelta

import pytest

from voelgoed.scanning.rules.answers import denial_message

AT = datetime(2026, 6, 5, 18, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("left_ago_s", "return_in_s", "said"),
    [
        (10, 240, "Left 10 s ago. May return in 4 min."),
        (10.2, 119.5, "Left 11 s ago. May return in 120 s."),
        (121, 0.5, "Left 3 min ago. May return in 1 s."),
        (0, 57_600, "Left 0 s ago. May return in 16 h."),
        (7_201, None, "Left 3 h ago."),
    ],
)
def test_a_person_who_left_learns_how_long_ago_and_when_to_return(
    left_ago_s: float, return_in_s: float | None, said: str
):
    left_at = AT - timedelta(seconds=left_ago_s)
    returns_at = None if return_in_s is None else AT + timedelta(seconds=return_in_s)
    message = denial_message("already_scanned", AT, left_at, returns_at)
    assert message == f"✗ Ticket already scanned. Access denied. {said}"


def test_nothing_is_added_for_a_person_whom_nobody_saw_leaving():
    assert denial_message("exit_required", AT, None, None) == (
        "✗ Already inside: no exit was scanned."
    )
