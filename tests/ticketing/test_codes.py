"""Codes and order numbers: made to be read out, read however they were typed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voelgoed.ticketing.rules.codes import (
    SYMBOLS,
    code_from,
    order_number_from,
    read_code,
    read_order_number,
)

PATTERN = r"[A-Z0-9]{4}(-[A-Z0-9]{4}){2}"
codes = st.binary(min_size=8, max_size=8).map(code_from)
order_numbers = st.binary(min_size=5, max_size=5).map(order_number_from)


def test_there_are_32_symbols_and_none_looks_like_another() -> None:
    assert len(set(SYMBOLS)) == 32
    assert not set("ILOU") & set(SYMBOLS)


def test_a_code_has_sixty_bits_and_every_one_counts() -> None:
    assert code_from(bytes(8)) == "0000-0000-0000"
    assert code_from(b"\xff" * 8) == "ZZZZ-ZZZZ-ZZZZ"
    ones = {code_from((1 << bit).to_bytes(8, "big")) for bit in range(4, 64)}
    assert len(ones) == 60


@given(st.binary(min_size=8, max_size=8), st.binary(min_size=8, max_size=8))
def test_different_bits_are_different_codes(one: bytes, other: bytes) -> None:
    same_bits = int.from_bytes(one, "big") >> 4 == int.from_bytes(other, "big") >> 4
    assert (code_from(one) == code_from(other)) == same_bits


@given(st.binary(max_size=20))
def test_a_code_is_made_of_exactly_eight_bytes(raw: bytes) -> None:
    if len(raw) != 8:
        with pytest.raises(ValueError, match="8 bytes"):
            code_from(raw)


@given(codes)
def test_a_code_is_read_however_it_was_typed(code: str) -> None:
    bare = code.replace("-", "")
    for typed in (
        code,
        code.lower(),
        f"  {code}\t\n",
        bare,
        bare.lower(),
        code.replace("-", " "),
        f"{bare[:4]}-{bare[4:]}",
        f"\N{NO-BREAK SPACE}{code}",
    ):
        assert read_code(typed) == code


@given(st.from_regex(PATTERN, fullmatch=True))
def test_whatever_has_the_pattern_is_a_code_and_no_letter_of_it_is_corrected(code: str) -> None:
    assert read_code(code) == read_code(code.lower()) == code


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-",
        "ABCD-EFGH",
        "ABCD-EFGH-123",
        "ABCD-EFGH-12345",
        "ABCD--EFGH-1234",
        "ABCD - EFGH - 1234",
        "AB-CDEF-GH12-34",
        "-ABCD-EFGH-1234",
        "ABCD-EFGH-1234-",
        "ABCD_EFGH_1234",
        "ABCD\nEFGH\n1234",
        "ABCD\N{EN DASH}EFGH\N{EN DASH}1234",
        "ABCD-EFGH-123\N{LATIN SMALL LETTER LONG S}",  # its capital is S
        "ABCD-EFGH-123\N{LATIN SMALL LETTER DOTLESS I}",  # its capital is I
        "ABCD-EFGH-12\N{LATIN SMALL LETTER SHARP S}",  # its capitals are SS
        "ABCD-EFGH-123\N{FULLWIDTH DIGIT FOUR}",
        "ABCD-EFGH-123\N{ARABIC-INDIC DIGIT FOUR}",
        "ABCD-EFGH-1234\0",
        "AB\0D-EFGH-1234",
        "\ud800",
    ],
)
def test_nothing_else_is_a_code(text: str) -> None:
    assert read_code(text) is None


@given(st.text())
def test_any_text_gives_a_code_that_reads_as_itself_or_none(text: str) -> None:
    code = read_code(text)
    assert code is None or read_code(code) == code


def test_an_order_number_is_short_and_has_forty_bits() -> None:
    assert order_number_from(bytes.fromhex("3cc544dfad")) == "VG-7K2-M9Q-XDE"
    assert len({order_number_from((1 << bit).to_bytes(5, "big")) for bit in range(40)}) == 40


@given(order_numbers)
def test_an_order_number_is_read_however_it_was_typed(number: str) -> None:
    bare = number.removeprefix("VG-")
    for typed in (
        number,
        number.lower(),
        f" {number}\n",
        number.replace("-", " "),
        number.replace("-", ""),
        bare,
        bare.replace("-", ""),
        bare.replace("0", "O").replace("1", "l"),
    ):
        assert read_order_number(typed) == number


@given(order_numbers)
def test_an_order_number_with_any_one_symbol_wrong_is_none(number: str) -> None:
    for at in range(3, len(number)):
        for symbol in SYMBOLS if number[at] != "-" else "":
            wrong = number[:at] + symbol + number[at + 1 :]
            assert read_order_number(wrong) == (number if wrong == number else None)


@given(order_numbers)
def test_an_order_number_with_any_two_symbols_exchanged_is_none(number: str) -> None:
    symbols = list(number.removeprefix("VG-").replace("-", ""))
    for one in range(9):
        for other in range(one):
            swapped = symbols.copy()
            swapped[one], swapped[other] = swapped[other], swapped[one]
            expected = number if swapped == symbols else None
            assert read_order_number("".join(swapped)) == expected


@given(st.text())
def test_any_text_gives_an_order_number_that_reads_as_itself_or_none(text: str) -> None:
    number = read_order_number(text)
    assert number is None or read_order_number(number) == number


@pytest.mark.parametrize(
    "text", ["", "VG", "VG-", "VG-000-000-00U", "XX-000-000-000", "VG-0000-0000-0"]
)
def test_nothing_else_is_an_order_number(text: str) -> None:
    assert read_order_number(text) is None


def test_an_order_number_is_made_of_exactly_five_bytes() -> None:
    for raw in (b"", b"1234", b"123456"):
        with pytest.raises(ValueError, match="5 bytes"):
            order_number_from(raw)
