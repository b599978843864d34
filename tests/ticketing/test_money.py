from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voelgoed.ticketing.model.ticket_types import AMOUNT_MINOR_MAX
from voelgoed.ticketing.rules.money import PLACES, PLACES_OTHERWISE, money_text


@pytest.mark.parametrize(
    ("amount_minor", "currency", "text"),
    [
        (15_000, "ZAR", "R 150.00"),
        (0, "ZAR", "R 0.00"),
        (5, "ZAR", "R 0.05"),
        (123_456_789, "ZAR", "R 1,234,567.89"),
        (15_000, "EUR", "EUR 150.00"),
        (1_250, "USD", "USD 12.50"),
        (15_000, "JPY", "JPY 15,000"),
        (7, "KRW", "KRW 7"),
        (15_000, "KWD", "KWD 15.000"),
        (7, "TND", "TND 0.007"),
        (123_456, "CLF", "CLF 12.3456"),
        (-15_050, "ZAR", "R -150.50"),
    ],
)
def test_an_amount_is_written_as_its_currency_is(amount_minor: int, currency: str, text: str):
    assert money_text(amount_minor, currency) == text


@given(
    st.integers(-AMOUNT_MINOR_MAX, AMOUNT_MINOR_MAX),
    st.sampled_from(["ZAR", "EUR", "ZZZ", *PLACES]),
)
def test_no_cent_is_lost_in_words(amount_minor: int, currency: str):
    sign, _, amount = money_text(amount_minor, currency).partition(" ")
    assert sign == ("R" if currency == "ZAR" else currency)
    places = PLACES.get(currency, PLACES_OTHERWISE)
    assert Decimal(amount.replace(",", "")).scaleb(places) == amount_minor
