"""Which lines of a file are new tickets, which are there already, and which cannot be.

So that a file can be imported again and again, every line is somebody: by its code, by its seat, or
by its reference. Of what was imported by its reference it is remembered what the line said, and
which of those that said the same it was: an order may have several tickets.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import blake2b
from uuid import UUID

import msgspec

from voelgoed.seating.model.seats import SeatStatus
from voelgoed.seating.rules.rooms import Rooms
from voelgoed.ticketing.model.imports import Content, Identity, ImportFault, KnownTicket
from voelgoed.ticketing.rules.imports import Draft

HASH_BYTES = 16
NOT_FREE: Mapping[SeatStatus, str] = {
    "sold": "seat is sold",
    "held": "seat is held by somebody right now",
    "blocked": "seat is blocked",
}


class Known(msgspec.Struct, kw_only=True):
    """What there is already that lines of the file may be."""

    by_code: Mapping[str, KnownTicket] = {}
    """Of every event of the organisation."""
    by_seat: Mapping[UUID, KnownTicket] = {}
    """Valid ones, of this event."""
    identities: Collection[Identity] = frozenset()
    """Those of the lines' that were imported before."""
    identities_of: Mapping[str, int] = {}
    """How many were, by reference."""


class File:
    """What the lines so far said, for those after them."""

    def __init__(self, first_line_of_code: Mapping[str, int]) -> None:
        self.first_line_of_code = first_line_of_code
        """Of all codes in the file."""
        self.first_line_of_seat: dict[int, int] = {}
        self.imported: Counter[str] = Counter()
        """Identities of these lines that are imported, by reference."""
        self._alike: Counter[bytes] = Counter()

    def note(self, drafts: Iterable[Draft]) -> list[Identity | None]:
        """The identity of each that has one."""
        return [self._note(draft) for draft in drafts]

    def _note(self, draft: Draft) -> Identity | None:
        if draft.position is not None:
            self.first_line_of_seat.setdefault(draft.position, draft.line)
        if draft.code is not None or draft.reference is None:
            return None
        content_hash = _hash(draft.content)
        self._alike[content_hash] += 1
        return Identity(draft.reference, content_hash, self._alike[content_hash])

    def unsay(self, drafts: Iterable[Draft], identities: Iterable[Identity | None]) -> None:
        """For lines that are read once more."""
        for draft in drafts:
            at = draft.position
            if at is not None and self.first_line_of_seat.get(at) == draft.line:
                del self.first_line_of_seat[at]
        self._alike.subtract(each.content_hash for each in identities if each is not None)


def _hash(content: Content) -> bytes:
    return blake2b(msgspec.json.encode(content), digest_size=HASH_BYTES).digest()


class Sorted(msgspec.Struct):
    new: list[tuple[Draft, Identity | None]] = []
    unchanged: int = 0
    faults: list[ImportFault] = []


def sort_out(
    drafts: Sequence[Draft], identities: Sequence[Identity | None], known: Known, file: File
) -> Sorted:
    """By who they are; whether there is room for the new ones is `fit`'s question."""
    found = Sorted()
    others = _others(identities, known, file)
    for draft, identity in zip(drafts, identities, strict=True):
        fault = _named_twice(draft, file)
        if fault is None and _is_known(draft, identity, known):
            found.unchanged += 1
            continue
        fault = fault or _contradiction(draft, known, others)
        if fault is None:
            found.new.append((draft, identity))
        else:
            found.faults.append(fault)
    return found


def _others(identities: Sequence[Identity | None], known: Known, file: File) -> frozenset[str]:
    """References of tickets that no line so far was about: a new one with such a reference may be
    one of those, changed since."""
    here = Counter(each.reference for each in identities if each and each in known.identities)
    return frozenset(
        reference
        for reference, count in known.identities_of.items()
        if count > here[reference] + file.imported[reference]
    )


def _named_twice(draft: Draft, file: File) -> ImportFault | None:
    if draft.code is not None:
        line = file.first_line_of_code[draft.code]
        if line != draft.line:
            return ImportFault(draft.line, "code", f"code is on line {line} already")
    if draft.position is not None:
        line = file.first_line_of_seat[draft.position]
        if line != draft.line:
            return ImportFault(draft.line, "seat", f"seat is on line {line} already")
    return None


def _is_known(draft: Draft, identity: Identity | None, known: Known) -> bool:
    if draft.code is not None:
        return _is_same(draft, known.by_code.get(draft.code))
    if identity is not None and identity in known.identities:
        return True
    return draft.seat_id is not None and _is_same(draft, known.by_seat.get(draft.seat_id))


def _is_same(draft: Draft, ticket: KnownTicket | None) -> bool:
    """Also when it was given to somebody else since, which made it a new issue."""
    if ticket is None or ticket.order_id is not None:
        return False
    content = ticket.content
    if ticket.issue > 1:
        content = (*content[:4], draft.name, draft.email, *content[6:])
    return draft.content == content


def _contradiction(draft: Draft, known: Known, others: Collection[str]) -> ImportFault | None:
    if draft.code is not None:
        if draft.code in known.by_code:
            return ImportFault(draft.line, "code", "code is taken by another ticket")
    elif draft.position is None and draft.reference in others:
        message = "reference is of another ticket, which is not among the lines so far"
        return ImportFault(draft.line, "reference", message)
    return None


class Room:
    """What is left, while tickets take it one after the other."""

    def __init__(
        self, seats: Mapping[int, SeatStatus], places: Rooms, types: Mapping[UUID, int | None]
    ) -> None:
        self._seats = seats
        """Of the positions that matter."""
        self._places = places
        self._types = dict(types)
        """None for any number."""

    def refuse(self, draft: Draft) -> ImportFault | None:
        """Why there is none for this one. Where there is, it is taken."""
        left = self._types[draft.ticket_type_id]
        if left is not None and left <= 0:
            return ImportFault(draft.line, "type", "ticket type is sold out")
        if draft.position is not None:
            status = self._seats[draft.position]
            if status != "available":
                return ImportFault(draft.line, "seat", NOT_FREE[status])
        elif draft.zone_id is not None:
            if self._places.room(draft.zone_id, draft.days) < 1:
                return ImportFault(draft.line, "zone", "zone is full")
            self._places.take(draft.zone_id, draft.days, 1)
        if left is not None:
            self._types[draft.ticket_type_id] = left - 1
        return None
