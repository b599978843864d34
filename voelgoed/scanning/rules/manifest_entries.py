"""The entries of a manifest as one text, and what becomes of it when some of them change."""

from collections.abc import Sequence

FEW = 2_000
"""Up to so many entries are looked up one by one; more are compared with all there are."""

_BEGIN = b'{"ticket_id":"'
"""Occurs nowhere else: within a text the quotes would be escaped."""
_ID_BYTES = 36


def merged(entries: bytes, changes: Sequence[bytes]) -> tuple[bytes, list[bytes]]:
    """The entries with the changes in their places, and the changes that were no entries before.
    Both are in the order of tickets."""
    if len(changes) > FEW:
        return _merged_all(entries, changes)
    parts: list[bytes] = []
    really: list[bytes] = []
    begin = 0
    for change in changes:
        at, end = _place(entries, _id(change), begin)
        if entries[at:end] == change:
            continue
        really.append(change)
        parts += _trimmed(entries[begin:at]), change
        begin = end
    parts.append(_trimmed(entries[begin:]))
    return b",".join(part for part in parts if part), really


def replaced(entries: bytes, everything: Sequence[bytes]) -> tuple[bytes, list[bytes]]:
    """These in place of all there were, and those of them that were not among them."""
    before = set(split(entries))
    return b",".join(everything), [entry for entry in everything if entry not in before]


def count(entries: bytes) -> int:
    return entries.count(_BEGIN)


def split(entries: bytes) -> list[bytes]:
    return [_BEGIN + rest.rstrip(b",") for rest in entries.split(_BEGIN)[1:]]


def _merged_all(entries: bytes, changes: Sequence[bytes]) -> tuple[bytes, list[bytes]]:
    before = {_id(entry): entry for entry in split(entries)}
    really = [change for change in changes if before.get(_id(change)) != change]
    after = before | {_id(change): change for change in really}
    return b",".join(after[each] for each in sorted(after)), really


def _id(entry: bytes) -> bytes:
    return entry[len(_BEGIN) : len(_BEGIN) + _ID_BYTES]


def _trimmed(part: bytes) -> bytes:
    return part.strip(b",")


def _place(entries: bytes, ticket_id: bytes, low: int) -> tuple[int, int]:
    """The place where the entry of this ticket begins and ends, or where it belongs."""
    high = len(entries)
    while low < high:
        middle = (low + high) // 2
        at = entries.find(_BEGIN, middle, high + len(_BEGIN))
        if at < 0 or at >= high:
            high = middle
            continue
        found = entries[at + len(_BEGIN) : at + len(_BEGIN) + _ID_BYTES]
        if found == ticket_id:
            return at, _end(entries, at)
        if found < ticket_id:
            low = at + len(_BEGIN)
        else:
            high = middle
    at = entries.find(_BEGIN, low)
    at = len(entries) if at < 0 else at
    return at, at


def _end(entries: bytes, at: int) -> int:
    following = entries.find(_BEGIN, at + len(_BEGIN))
    return len(entries) if following < 0 else following - 1
