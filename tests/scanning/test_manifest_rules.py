"""The manifest's bytes, tested by the cases that devices in every language must pass too."""

import json
from datetime import UTC
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scanning.manifest_cases import (
    API_KEY,
    CODE_KEY,
    a_head,
    an_entry,
    document,
    documents,
    some_settings,
)
from voelgoed.scanning.model.manifests import DeltaDoesNotFit, GateInside, Head, SeatNotes
from voelgoed.scanning.rules.manifest import (
    apply_delta,
    barcode_hash,
    body_of,
    code_hash,
    content_hash,
    cut,
    delta_text,
    document_text,
    is_delta,
    moment_text,
    settings_text,
    sign,
    tag_of,
    tail_text,
    verify,
)

CONTRACT: dict[str, Any] = msgspec.json.decode(
    (Path(__file__).parents[2] / "contracts" / "manifests.json").read_bytes()
)


def test_the_contract_is_what_its_generator_writes(repository: Path) -> None:
    assert (repository / "contracts" / "manifests.json").read_bytes() == document()


@pytest.mark.parametrize("case", CONTRACT["signed"], ids=lambda case: case["name"])
def test_a_manifest_signed_for_a_device_is_verified_by_it(case: dict[str, Any]) -> None:
    body, signed = case["body"].encode(), case["document"].encode()
    assert verify(body, case["api_key"]) == signed
    assert sign(signed, case["api_key"]) == case["signature"]
    assert content_hash(signed) == case["content_hash"]
    parts = cut(body)
    assert parts is not None
    assert (parts[1].offset_seconds, parts[1].signature) == (
        case["offset_seconds"],
        case["signature"],
    )
    assert not is_delta(signed)
    tail = tail_text(case["offset_seconds"], bytes.fromhex(case["code_key"]), case["signature"])
    assert body_of(signed, tail) == body
    json.loads(body)


@pytest.mark.parametrize("case", CONTRACT["forged"], ids=lambda case: case["reason"])
def test_a_forged_manifest_is_refused(case: dict[str, Any]) -> None:
    assert verify(case["body"].encode(), case["api_key"]) is None


@pytest.mark.parametrize("case", CONTRACT["deltas"], ids=lambda case: case["name"])
def test_a_delta_leads_to_the_next_manifest(case: dict[str, Any]) -> None:
    after = apply_delta(case["before"].encode(), case["delta"].encode())
    assert after == case["after"].encode()
    assert content_hash(after) == case["content_hash"]
    assert is_delta(case["delta"].encode())


@pytest.mark.parametrize("case", CONTRACT["misfits"], ids=lambda case: case["reason"])
def test_a_delta_that_does_not_fit_is_refused(case: dict[str, Any]) -> None:
    with pytest.raises(DeltaDoesNotFit):
        apply_delta(case["before"].encode(), case["delta"].encode())


def test_tags_are_of_version_and_content() -> None:
    for case in CONTRACT["tags"]:
        assert tag_of(case["manifest_version"], case["content_hash"]) == case["tag"]


def test_codes_and_barcodes_are_found_under_their_hashes() -> None:
    for case in CONTRACT["codes"]:
        assert code_hash(bytes.fromhex(case["code_key"]), case["code"]) == case["code_hash"]
    for case in CONTRACT["barcodes"]:
        assert barcode_hash(case["text"]) == case["barcode_hash"]


@pytest.mark.parametrize("text", [each["document"] for each in CONTRACT["signed"]])
def test_parsing_and_writing_the_json_again_gives_the_same_bytes(text: str) -> None:
    """A browser has no other way. It would write objects whose keys look like numbers in another order, and
    floats perhaps in another form."""
    assert json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":")) == text

    def look(value: Any) -> None:
        assert not isinstance(value, float)
        if isinstance(value, dict):
            assert not any(key.isdecimal() for key in value)
        for each in value.values() if isinstance(value, dict) else value:
            if isinstance(each, dict | list):
                look(each)

    look(json.loads(text))


def test_every_flipped_bit_is_noticed() -> None:
    """Bits of the signed text, and of the signature itself."""
    signed = documents()["no tickets"]
    body = body_of(signed, tail_text(1.5, CODE_KEY, sign(signed, API_KEY)))
    assert verify(body, API_KEY) == signed
    tail = len(signed) - 1
    free = range(tail + len(b',"offset_seconds":'), body.index(b'"signature"') - 2)
    for place in range(len(body)):
        for bit in range(8):
            flipped = body[:place] + bytes([body[place] ^ 1 << bit]) + body[place + 1 :]
            assert verify(flipped, API_KEY) in ([None, signed] if place in free else [None]), place


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
moments = st.datetimes(timezones=st.just(UTC))
ids = st.uuids()


@st.composite
def heads(draw: st.DrawFn, version: int) -> Head:
    inside = st.builds(GateInside, gate_id=texts, inside=st.integers(0, 2**31))
    return a_head(
        version,
        event_name=draw(texts),
        generated_at=draw(moments),
        expires_at=draw(moments),
        occupancy=draw(st.lists(inside, max_size=3)),
    )


settings = st.builds(
    lambda notes: settings_text(some_settings(seat_notes=notes)),
    st.lists(st.builds(SeatNotes, seat=texts, notes=st.lists(texts, max_size=2)), max_size=3),
)
tickets = st.dictionaries(ids, texts, max_size=20)


def entries(given: dict[UUID, str]) -> bytes:
    return b",".join(an_entry(1, ticket_id=each, seat=given[each]) for each in sorted(given))


@given(
    heads(1),
    heads(5),
    settings,
    st.none() | settings,
    tickets,
    tickets,
    st.sets(st.integers(0, 19)),
    texts,
)
def test_a_delta_leads_to_exactly_the_next_manifest_whatever_changed(
    old_head: Head,
    head: Head,
    old_settings: bytes,
    new_settings: bytes | None,
    before: dict[UUID, str],
    added: dict[UUID, str],
    touched: set[int],
    seat: str,
) -> None:
    changed = {each: seat for place, each in enumerate(before) if place in touched} | added
    old = document_text(old_head, old_settings, entries(before))
    new = document_text(head, new_settings or old_settings, entries(before | changed))
    delta = delta_text(head, 1, content_hash(new), new_settings, entries(changed))
    assert apply_delta(old, delta) == new
    assert apply_delta(new, delta) == new, "applied twice it is applied once"


@given(st.binary() | st.text().map(str.encode), st.text())
def test_no_body_is_more_than_refused(body: bytes, api_key: str) -> None:
    assert verify(body, "vgd_" + repr(api_key)) is None
    assert verify(b'{"x":1,"offset_seconds":' + body, "vgd_") is None
    with pytest.raises(DeltaDoesNotFit):
        apply_delta(documents()["no tickets"], body)


def test_moments_are_in_utc_and_have_all_six_digits() -> None:
    assert moment_text(a_head(1).generated_at) == "2026-11-16T17:45:01.123001Z"
    assert moment_text(a_head(1).expires_at) == "2026-11-16T22:00:00.000000Z"
