"""The five outcomes of the nineteen reasons."""

from typing import get_args

from voelgoed.scanning.model.decisions import Reason
from voelgoed.scanning.model.outcomes import Outcome
from voelgoed.scanning.rules.outcomes import OUTCOMES, colour_of, outcome_of


def test_every_reason_has_an_outcome_and_every_outcome_a_reason():
    assert set(OUTCOMES) == set(get_args(Reason))
    assert {*OUTCOMES.values(), outcome_of(None)} == set(get_args(Outcome))


def test_valid_is_the_outcome_of_every_admission_and_of_nothing_else():
    assert outcome_of(None) == "valid"
    assert "valid" not in OUTCOMES.values()
    assert {colour_of(outcome) for outcome in OUTCOMES.values()} == {"red"}
    assert colour_of("valid") == "green"
