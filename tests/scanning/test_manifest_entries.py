"""The text of a manifest's entries, and how changed entries are put into it."""

from unittest.mock import patch
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from voelgoed.scanning.rules import manifest_entries
from voelgoed.scanning.rules.manifest_entries import count, merged, replaced, split

SEATS = [b'"a"', b'"b,"', b'"{\\"ticket_id\\":\\""', b'"},{"', b"null", b'"%b"' % (b"x" * 300)]
tickets = st.dictionaries(st.integers(0, 40), st.sampled_from(SEATS))


def entry(number: int, seat: bytes) -> bytes:
    return b'{"ticket_id":"%b","seat":%b}' % (str(UUID(int=number)).encode(), seat)


def entries(of: dict[int, bytes]) -> list[bytes]:
    return [entry(number, of[number]) for number in sorted(of)]


@given(tickets, tickets, st.sampled_from([0, 2_000]))
def test_changed_entries_are_in_their_places_and_the_rest_is_unchanged(
    before: dict[int, bytes], changes: dict[int, bytes], few: int
) -> None:
    """Places are found one by one, or by comparing all entries."""
    with patch.object(manifest_entries, "FEW", few):
        text, really = merged(b",".join(entries(before)), entries(changes))
    assert text == b",".join(entries(before | changes))
    new = {n: seat for n, seat in changes.items() if before.get(n) != seat}
    assert really == entries(new)


@given(tickets, tickets)
def test_all_entries_are_replaced_and_the_new_ones_are_reported(
    before: dict[int, bytes], after: dict[int, bytes]
) -> None:
    text, really = replaced(b",".join(entries(before)), entries(after))
    assert text == b",".join(entries(after))
    assert really == entries({n: seat for n, seat in after.items() if before.get(n) != seat})


@given(tickets)
def test_entries_are_separated_and_counted(given: dict[int, bytes]) -> None:
    text = b",".join(entries(given))
    assert split(text) == entries(given)
    assert count(text) == len(given)
