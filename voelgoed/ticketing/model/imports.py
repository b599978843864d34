"""Tickets that were sold elsewhere, as they come in files, and why a file is refused."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Literal
from uuid import UUID

import msgspec

from voelgoed.infra.refusal import Conflict, Invalid, Missing

ImportStatus = Literal["receiving", "waiting", "running", "done", "failed"]
Column = Literal[
    "code", "type", "zone", "seat", "name", "email", "days", "reference", "price_minor"
]
Field = Column | Literal["file", "header", "line"]
"""What a fault is about: a column, or all of the file, its header, or the line."""

FILE_BYTES_MAX = 32 * 1024 * 1024
ROWS_MAX = 250_000
FAULTS_MAX = 100_000
"""Those after them are counted, not kept."""
UNFINISHED_MAX = 10
"""Imports of one organisation that wait or run."""


class ImportFault(msgspec.Struct, frozen=True):
    line: int
    """Of the file, from 1; a line that goes over several is named by its first."""
    field: Field
    message: str


class TicketRow(msgspec.Struct, frozen=True, gc=False):
    """One line's cells, without blanks around them; empty for what it does not say."""

    line: int
    code: str = ""
    type: str = ""
    zone: str = ""
    seat: str = ""
    name: str = ""
    email: str = ""
    days: str = ""
    reference: str = ""
    price_minor: str = ""


Record = TicketRow | ImportFault
"""A line, or why it is none."""


Content = tuple[UUID, UUID | None, UUID | None, tuple[date, ...], str, str | None, str | None, int]
"""All that a ticket says but its code: type, zone, seat, days, name, e-mail, reference, price."""


class Identity(msgspec.Struct, frozen=True, gc=False):
    """What a line without a code, but with a reference, is known by when it comes again."""

    reference: str
    content_hash: bytes
    number: int
    """Among lines with the same content, from 1."""


class KnownTicket(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A ticket that there is already, as far as a line of a file may be the same."""

    code: str
    issue: int
    order_id: UUID | None
    ticket_type_id: UUID
    zone_id: UUID | None
    seat_id: UUID | None
    days: Sequence[date]
    holder_name: str
    holder_email: str | None
    external_reference: str | None
    price_minor: int

    @property
    def content(self) -> Content:
        return (
            self.ticket_type_id,
            self.zone_id,
            self.seat_id,
            tuple(self.days),
            self.holder_name,
            self.holder_email,
            self.external_reference,
            self.price_minor,
        )


class TicketImport(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    event_id: UUID
    status: ImportStatus
    """`waiting` until a worker takes it up; `failed` when the file could not be used."""
    dry_run: bool
    """Everything is checked, nothing is imported: `created` are those that would be."""
    file_name: str
    file_bytes: int
    rows_total: int | None
    """Null until they have been counted."""
    rows_read: int
    """How far it has come."""
    created: int
    unchanged: int
    """Tickets that were there already, with the same content."""
    faulty: int
    """Lines that were skipped; `faults` says why."""
    problem: str | None
    """Why it failed, for a person."""
    actor_id: UUID | None
    created_at: datetime
    updated_at: datetime


class TicketImportNotFound(Missing):
    """There is no such import of tickets."""


class InvalidTicketFile(Invalid):
    """This is not a table of tickets; `details.faults` names each fault with its line."""

    def __init__(self, faults: Sequence[ImportFault] = ()) -> None:
        self.faults = faults
        super().__init__(faults=faults)


class TooManyImports(Conflict):
    """Ten imports of this organisation are not done yet; wait for them."""
