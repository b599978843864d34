"""A barcode has exactly one text: whatever else is shown is not read, or not verified."""

import datetime as dt
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest
import segno
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.ticketing.barcode_cases import CODE, EVENT, KEYS, document, some_fields
from voelgoed.ticketing.rules.barcode import (
    BarcodeFields,
    barcode_hash,
    barcode_text,
    code_of,
    days_mask,
    event_hint,
    read_barcode,
    short_label,
    verify_barcode,
)
from voelgoed.ticketing.rules.base45 import ALPHABET, from_base45, to_base45

CONTRACT = msgspec.json.decode(
    (Path(__file__).parents[2] / "contracts" / "barcodes.json").read_bytes()
)
PUBLIC_KEYS = {number: key.public_key().public_bytes_raw() for number, key in KEYS.items()}
TEXT = barcode_text(some_fields(), EVENT, CODE, KEYS[1])

short = st.integers(1, 65535)
codes = st.from_regex(r"[A-Z0-9]{4}(-[A-Z0-9]{4}){2}", fullmatch=True)
labels = st.text(max_size=32).map(short_label)
some = st.builds(
    BarcodeFields,
    key_number=st.sampled_from([1, 2]),
    ticket_id=st.uuids(),
    issue=short,
    ticket_type_number=short,
    zone_number=st.integers(0, 65535),
    days=st.integers(0, (1 << 60) - 1),
    seat_label=labels,
)


def is_genuine(text: str, event_id: UUID = EVENT) -> bool:
    barcode = read_barcode(text)
    return barcode is not None and verify_barcode(barcode, event_id, PUBLIC_KEYS)


def reencoded(text: str) -> str | None:
    """From what was read alone."""
    barcode = read_barcode(text)
    if barcode is None:
        return None
    fields = barcode.fields
    text = barcode_text(fields, EVENT, barcode.code, KEYS[1])
    whole = from_base45(text[15:])
    assert whole is not None
    payload = bytearray(whole[:-64])
    payload[23:27] = barcode.event_hint
    return text[:15] + to_base45(bytes(payload) + barcode.signature)


@given(some, st.uuids(), codes)
def test_what_was_signed_is_read_and_verified(
    fields: BarcodeFields, event_id: UUID, code: str
) -> None:
    text = barcode_text(fields, event_id, code, KEYS[fields.key_number])
    barcode = read_barcode(text)
    assert barcode is not None
    assert (barcode.fields, barcode.code) == (fields, code)
    assert barcode.event_hint == event_hint(event_id)
    assert verify_barcode(barcode, event_id, PUBLIC_KEYS)
    assert code_of(text) == code
    assert set(text) <= set(ALPHABET)
    assert text == text.strip()
    assert barcode_text(fields, event_id, code, KEYS[fields.key_number]) == text


@given(some, st.data())
def test_any_character_changed_makes_it_worthless(fields: BarcodeFields, data: Any) -> None:
    text = barcode_text(fields, EVENT, CODE, KEYS[fields.key_number])
    at = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.sampled_from(ALPHABET) | st.characters())
    assume(other != text[at])
    assert not is_genuine(text[:at] + other + text[at + 1 :])


def test_every_single_character_of_one_barcode_counts() -> None:
    for at in range(len(TEXT)):
        for other in ALPHABET:
            changed = TEXT[:at] + other + TEXT[at + 1 :]
            assert is_genuine(changed) == (changed == TEXT)


@given(some, st.data())
def test_anything_added_or_left_out_or_moved_makes_it_worthless(
    fields: BarcodeFields, data: Any
) -> None:
    text = barcode_text(fields, EVENT, CODE, KEYS[fields.key_number])
    at, to = (data.draw(st.integers(0, len(text))) for _ in range(2))
    more = data.draw(st.text(alphabet=ALPHABET, min_size=1, max_size=12) | st.text(min_size=1))
    assert not is_genuine(text + more)
    assert not is_genuine(text[:at] + more + text[at:])
    assert is_genuine(text[:at]) == (at == len(text))
    if at < to:
        assert not is_genuine(text[:at] + text[to:])
        turned = text[:at] + text[at:to][::-1] + text[to:]
        assert is_genuine(turned) == (turned == text)


@given(some, st.data())
def test_another_case_makes_it_worthless(fields: BarcodeFields, data: Any) -> None:
    text = barcode_text(fields, EVENT, CODE, KEYS[fields.key_number])
    places = [at for at, character in enumerate(text) if character.isalpha()]
    for at in data.draw(st.lists(st.sampled_from(places), min_size=1)):
        text = text[:at] + text[at].lower() + text[at + 1 :]
    assert read_barcode(text) is None


@given(some, st.uuids(), codes)
def test_another_event_another_key_and_another_code_do_not_verify(
    fields: BarcodeFields, event_id: UUID, code: str
) -> None:
    assume(event_id != EVENT)
    assume(code != CODE)
    key = KEYS[fields.key_number]
    text = barcode_text(fields, EVENT, CODE, key)
    barcode = read_barcode(text)
    assert barcode is not None
    assert not verify_barcode(barcode, event_id, PUBLIC_KEYS)
    assert not verify_barcode(barcode, EVENT, {})
    assert not verify_barcode(barcode, EVENT, {fields.key_number % 2 + 1: PUBLIC_KEYS[1]})
    assert not verify_barcode(barcode, EVENT, {1: PUBLIC_KEYS[2], 2: PUBLIC_KEYS[1]})
    assert not is_genuine(text[:3] + code.replace("-", "") + text[15:])


@given(some, some)
def test_a_signature_is_good_for_one_payload_only(one: BarcodeFields, other: BarcodeFields) -> None:
    assume(one != other)
    mine, theirs = (
        from_base45(barcode_text(each, EVENT, CODE, KEYS[each.key_number])[15:])
        for each in (one, other)
    )
    assert mine is not None
    assert theirs is not None
    assert not is_genuine(TEXT[:15] + to_base45(mine[:-64] + theirs[-64:]))


@given(some)
def test_random_keys_sign_nothing_that_verifies(fields: BarcodeFields) -> None:
    assert not is_genuine(barcode_text(fields, EVENT, CODE, Ed25519PrivateKey.generate()))


@given(st.binary(min_size=100, max_size=132))
def test_whatever_is_read_is_what_would_be_written(raw: bytes) -> None:
    text = TEXT[:15] + to_base45(raw)
    assert reencoded(text) in (None, text)


@given(st.data())
def test_whatever_is_read_of_a_damaged_one_is_what_would_be_written(data: Any) -> None:
    changed = list(TEXT)
    for at in data.draw(st.lists(st.integers(0, len(TEXT) - 1), max_size=5)):
        changed[at] = data.draw(st.sampled_from(ALPHABET))
    text = "".join(changed)
    assert reencoded(text) in (None, text)


@given(st.text() | st.text(alphabet=ALPHABET).map(lambda text: TEXT[:15] + text))
def test_any_text_at_all_is_read_or_not_and_breaks_nothing(text: str) -> None:
    assert not is_genuine(text)
    assert code_of(text) is None or read_barcode(text) is not None


@pytest.mark.parametrize("case", CONTRACT["good"], ids=lambda case: case["name"])
def test_the_good_cases_of_the_contract_are_written_and_read_so(case: dict[str, Any]) -> None:
    given = case["fields"] | {"days": sum(1 << day for day in case["fields"]["days"])}
    fields = msgspec.convert(given, BarcodeFields)
    event_id, keys = UUID(CONTRACT["event_id"]), contract_keys()
    private = bytes.fromhex(CONTRACT["private_keys"][str(fields.key_number)])
    key = Ed25519PrivateKey.from_private_bytes(private)
    assert barcode_text(fields, event_id, case["code"], key) == case["text"]
    assert barcode_hash(case["text"]).hex() == case["sha256"]
    barcode = read_barcode(case["text"])
    assert barcode is not None
    assert (barcode.fields, barcode.code) == (fields, case["code"])
    assert verify_barcode(barcode, event_id, keys)


@pytest.mark.parametrize("case", CONTRACT["bad"], ids=lambda case: case["reason"])
def test_the_bad_cases_of_the_contract_are_refused_so(case: dict[str, Any]) -> None:
    barcode = read_barcode(case["text"])
    assert (barcode is not None) == case["readable"]
    if barcode is not None:
        assert not verify_barcode(barcode, UUID(CONTRACT["event_id"]), contract_keys())


def test_the_contract_is_what_its_generator_writes(repository: Path) -> None:
    assert (repository / "contracts" / "barcodes.json").read_bytes() == document()


def contract_keys() -> dict[int, bytes]:
    return {int(number): bytes.fromhex(key) for number, key in CONTRACT["public_keys"].items()}


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"", ""),
        (b"AB", "BB8"),
        (b"Hello!!", "%69 VD92EX0"),
        (b"base-45", "UJCLQE7W581"),
        (b"ietf!", "QED8WEX0"),
    ],
)
def test_base45_is_that_of_the_rfc(raw: bytes, text: str) -> None:
    assert to_base45(raw) == text
    assert from_base45(text) == raw


@given(st.binary(max_size=300))
def test_base45_gives_back_what_it_was_given(raw: bytes) -> None:
    assert from_base45(to_base45(raw)) == raw


@given(st.text(alphabet=ALPHABET, max_size=12) | st.text(max_size=12))
def test_of_every_bytes_base45_reads_one_text_only(text: str) -> None:
    raw = from_base45(text)
    assert raw is None or to_base45(raw) == text


@pytest.mark.parametrize(
    "text",
    ["A", "ABCD", "GGW", ":::", "V5", "::", "ab8", "A\n", "É00", "00\N{FULLWIDTH DIGIT ONE}"],
)
def test_base45_refuses_what_stands_for_no_bytes(text: str) -> None:
    assert from_base45(text) is None


def test_every_group_of_two_is_one_byte_or_refused() -> None:
    pairs = [first + second for first in ALPHABET for second in ALPHABET]
    read = [raw for pair in pairs if (raw := from_base45(pair)) is not None]
    assert sorted(read) == [bytes([value]) for value in range(256)]


@pytest.mark.parametrize(
    "changes",
    [
        {"key_number": 0},
        {"key_number": 256},
        {"issue": 0},
        {"issue": 65536},
        {"ticket_type_number": 0},
        {"ticket_type_number": 65536},
        {"zone_number": -1},
        {"zone_number": 65536},
        {"days": -1},
        {"days": 1 << 60},
        {"seat_label": "A" * 33},
        {"seat_label": "é" * 17},
        {"seat_label": "\ud800"},
    ],
)
def test_what_could_not_be_read_again_is_not_signed(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        some_fields(**changes)


@pytest.mark.parametrize(
    "code", ["", "7K2M9QXD4F1A", "7k2m-9qxd-4f1a", "7K2M-9QXD-4F1A\n", "7K2M-9QXD-4F1É"]
)
def test_only_a_code_as_it_is_kept_is_signed(code: str) -> None:
    with pytest.raises(ValueError, match="not a ticket code"):
        barcode_text(some_fields(), EVENT, code, KEYS[1])


@given(st.text())
def test_a_label_is_shortened_to_what_fits_and_ends_with_a_whole_letter(label: str) -> None:
    shown = short_label(label)
    assert label.startswith(shown)
    assert len(shown.encode()) <= 32
    assert shown == label or len(label[: len(shown) + 1].encode()) > 32


def test_days_are_counted_among_the_events_and_all_of_them_are_none() -> None:
    event = [dt.date(2030, 6, day) for day in (1, 2, 4)]
    assert days_mask([dt.date(2030, 6, 1)], event) == 0b001
    assert days_mask([dt.date(2030, 6, 4), dt.date(2030, 6, 1)], event) == 0b101
    assert days_mask(event, event) == 0
    assert days_mask([*event, dt.date(2031, 1, 1)], event) == 0
    for none in ([], [dt.date(2030, 6, 3)]):  # 0 would let them in on every day
        with pytest.raises(ValueError, match="none of these days"):
            days_mask(none, event)


def test_sixty_days_fit() -> None:
    event = [dt.date(2030, 1, 1) + dt.timedelta(days=day) for day in range(60)]
    mask = days_mask(event[1:], event)
    text = barcode_text(some_fields(days=mask), EVENT, CODE, KEYS[1])
    assert is_genuine(text)


@pytest.mark.parametrize(
    ("label", "version"), [("", 7), ("A-12", 7), ("Balc-A12", 7), ("A" * 32, 8)]
)
def test_a_ticket_is_a_qr_code_of_so_many_modules(label: str, version: int) -> None:
    text = barcode_text(some_fields(seat_label=label), EVENT, CODE, KEYS[1])
    code = segno.make(text, error="m", boost_error=False)
    assert (code.version, code.mode) == (version, "alphanumeric")
