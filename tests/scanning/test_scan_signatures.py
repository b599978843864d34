"""A change of any letter of a scan invalidates its signature; only the device's key makes a new one."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scanning.signature_cases import a_key, document
from voelgoed.scanning.rules.scan_signatures import (
    SignedFields,
    is_signed_by,
    sign_scan,
    signed_bytes,
)

CONTRACT: dict[str, Any] = msgspec.json.decode(
    (Path(__file__).parents[2] / "contracts" / "scan_signatures.json").read_bytes()
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
some = st.builds(
    SignedFields,
    scan_id=texts,
    ticket_id=st.none() | texts,
    barcode_hash=texts,
    scanned_at=texts,
    gate_id=st.none() | texts,
)


def test_the_contract_is_what_its_writer_writes():
    path = Path(__file__).parents[2] / "contracts" / "scan_signatures.json"
    assert path.read_bytes() == document()


@pytest.mark.parametrize("case", CONTRACT["good"], ids=lambda case: case["name"])
def test_good_signatures_are_accepted(case: dict[str, Any]):
    fields = msgspec.convert(case["fields"], SignedFields)
    assert signed_bytes(fields).decode() == case["signed"]
    assert sign_scan(fields, case["api_key"]) == case["signature"]
    assert is_signed_by(case["signature"], fields, case["api_key"])


@pytest.mark.parametrize("case", CONTRACT["bad"], ids=lambda case: case["name"])
def test_bad_signatures_are_refused(case: dict[str, Any]):
    fields = msgspec.convert(case["fields"], SignedFields)
    assert not is_signed_by(case["signature"], fields, case["api_key"])


@given(some, some)
def test_two_scans_have_the_same_signature_only_if_they_are_the_same(
    one: SignedFields, other: SignedFields
):
    assert (sign_scan(one, a_key()) == sign_scan(other, a_key())) == (one == other)
