"""From a line of a file to a ticket of this event, or to everything that is wrong with the line."""

import datetime as dt
import re
from collections.abc import Sequence
from uuid import UUID

import msgspec

from voelgoed.events.model import Event
from voelgoed.seating.model.event_layout import EventZone
from voelgoed.seating.model.layout import SEATED
from voelgoed.seating.rules.plan import Plan
from voelgoed.ticketing.model.imports import Content, Field, ImportFault, TicketRow
from voelgoed.ticketing.model.ticket_types import AMOUNT_MINOR_MAX, TicketType
from voelgoed.ticketing.rules.barcode import days_mask
from voelgoed.ticketing.rules.codes import read_code
from voelgoed.ticketing.rules.prices import days_of

NAME_CHARACTERS_MAX = 200
EMAIL_CHARACTERS_MAX = 254
REFERENCE_CHARACTERS_MAX = 100
SHOWN_CHARACTERS_MAX = 20
AMBIGUOUS = -1

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_AMOUNT = re.compile(r"[0-9]{1,12}")
_BETWEEN_DAYS = re.compile(r"[\s;,]+")

Days = tuple[dt.date, ...]


class Draft(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A line that makes sense by itself. Whether there is room for its ticket, or the ticket is
    there already, is for `import_ledger` to say."""

    line: int
    code: str | None
    ticket_type_id: UUID
    ticket_type_number: int
    zone_id: UUID | None
    zone_number: int
    """As barcodes count zones: from 1, and 0 for none."""
    position: int | None
    """Of the seat, if it has one."""
    seat_id: UUID | None
    seat_label: str | None
    days: Days
    days_mask: int
    name: str
    email: str | None
    reference: str | None
    price_minor: int

    @property
    def content(self) -> Content:
        return (
            self.ticket_type_id,
            self.zone_id,
            self.seat_id,
            self.days,
            self.name,
            self.email,
            self.reference,
            self.price_minor,
        )


class Names:
    """What the names in a file stand for at one event."""

    def __init__(
        self,
        event: Event,
        ticket_types: Sequence[TicketType],
        zones: Sequence[EventZone] = (),
        plan: Plan | None = None,
    ) -> None:
        """An event without a layout has neither zones nor a plan."""
        self.event = event
        self.zones = zones
        self.plan = plan
        self.event_days = [day.date for day in event.days]
        self.zone_of_seat: list[int] = [] if plan is None else plan.zone.tolist()
        self._types: dict[str, TicketType] = {}
        for each in ticket_types:
            self._types |= {each.name: each, str(each.id): each}
        self._zones: dict[str, int] = {}
        for index, zone in enumerate(zones):
            name = zone.zone.name.strip()
            self._zones[name] = AMBIGUOUS if name in self._zones else index
        self._zones |= {str(zone.zone.zone_id): index for index, zone in enumerate(zones)}
        self._days: dict[tuple[UUID, str], tuple[Days, int] | str] = {}

    def ticket_type(self, cell: str) -> TicketType | None:
        return self._types.get(cell) or self._types.get(cell.lower())

    def zone(self, cell: str) -> int | None:
        """Its index; AMBIGUOUS for a name that several have."""
        found = self._zones.get(cell)
        return self._zones.get(cell.lower()) if found is None else found

    def seat(self, cell: str) -> int | None:
        return None if self.plan is None else self.plan.find(cell)

    def days(self, ticket_type: TicketType, cell: str) -> tuple[Days, int] | str:
        """With their mask; or why these are no days of such a ticket."""
        key = ticket_type.id, cell
        if key not in self._days:
            self._days[key] = self._read_days(ticket_type, cell)
        return self._days[key]

    def _read_days(self, ticket_type: TicketType, cell: str) -> tuple[Days, int] | str:
        possible = days_of(ticket_type, self.event)
        if not possible:
            return "this ticket type is valid on no day of this event"
        wanted = set[dt.date]()
        for word in filter(None, _BETWEEN_DAYS.split(cell)):
            shown = word[:SHOWN_CHARACTERS_MAX]
            try:
                day = dt.date.fromisoformat(word)
            except ValueError:
                return f"`{shown}` is no date such as {self.event_days[0]}"
            if day not in self.event_days:
                return f"{day} is no day of this event"
            if day not in possible:
                return f"{day} is no day of this ticket type"
            wanted.add(day)
        days = tuple(day for day in possible if day in wanted or not wanted)
        return days, days_mask(days, self.event_days)


def draft_of(row: TicketRow, names: Names) -> Draft | list[ImportFault]:
    """All faults of the line at once."""
    line = _Line(row, names)
    code = line.code()
    ticket_type = line.ticket_type()
    zone, position = line.place(ticket_type)
    days = line.days(ticket_type)
    line.name()
    email, reference = line.email(), line.reference()
    price_minor = line.price_minor()
    if line.faults or ticket_type is None or days is None:
        return line.faults
    seat = None if position is None or names.plan is None else names.plan.seats[position].seat_id
    return Draft(
        line=row.line,
        code=code,
        ticket_type_id=ticket_type.id,
        ticket_type_number=ticket_type.number,
        zone_id=None if zone is None else names.zones[zone].zone.zone_id,
        zone_number=0 if zone is None else zone + 1,
        position=position,
        seat_id=None if position is None or names.plan is None else names.plan.ids[position],
        seat_label=seat,
        days=days[0],
        days_mask=days[1],
        name=row.name,
        email=email,
        reference=reference,
        price_minor=price_minor,
    )


class _Line:
    """Reads cell after cell, and notes what is wrong with them."""

    def __init__(self, row: TicketRow, names: Names) -> None:
        self.row = row
        self.names = names
        self.faults: list[ImportFault] = []

    def wrong(self, field: Field, message: str) -> None:
        self.faults.append(ImportFault(self.row.line, field, message))

    def code(self) -> str | None:
        if not self.row.code:
            if not (self.row.seat or self.row.reference):
                # Else it could not be recognised when the file is imported again.
                self.wrong("code", "needs a code, or a seat, or a reference")
            return None
        code = read_code(self.row.code)
        if code is None:
            self.wrong("code", "is no code of the form XXXX-XXXX-XXXX, of letters and digits")
        return code

    def ticket_type(self) -> TicketType | None:
        found = self.names.ticket_type(self.row.type)
        if found is None:
            message = "is no ticket type of this event" if self.row.type else "is missing"
            self.wrong("type", message)
        return found

    def place(self, ticket_type: TicketType | None) -> tuple[int | None, int | None]:
        """The zone's index and the seat's position."""
        if self.names.plan is None:
            self._without_a_layout(ticket_type)
            return None, None
        position = self._seat(ticket_type)
        zone = self._named_zone(ticket_type) if position is None else self._zone_of(position)
        if zone is not None:
            self._check_zone(self.names.zones[zone], ticket_type, with_seat=position is not None)
        return zone, position

    def _without_a_layout(self, ticket_type: TicketType | None) -> None:
        if self.row.zone:
            self.wrong("zone", "is unknown: this event has no layout")
        if self.row.seat or (ticket_type is not None and ticket_type.kind == "seated"):
            self.wrong("seat", "is unknown: this event has no layout")

    def _zone_of(self, position: int) -> int:
        index = self.names.zone_of_seat[position]
        zone = self.names.zones[index].zone
        if self.row.zone and self.row.zone not in (zone.name.strip(), str(zone.zone_id)):
            self.wrong("zone", "is not the zone of this seat")
        return index

    def _named_zone(self, ticket_type: TicketType | None) -> int | None:
        zone = self.names.zone(self.row.zone)
        if zone == AMBIGUOUS:
            self.wrong("zone", "is the name of several zones; give the id of one")
            return None
        if self.row.zone and zone is None:
            self.wrong("zone", "is no zone of this event")
        elif not self.row.zone and (ticket_type is None or ticket_type.kind == "ga"):
            self.wrong("zone", "is needed by a ticket without a seat")
        return zone

    def _seat(self, ticket_type: TicketType | None) -> int | None:
        kind = ticket_type and ticket_type.kind
        if not self.row.seat:
            if kind == "seated":
                self.wrong("seat", "is needed by tickets of this type")
            return None
        position = self.names.seat(self.row.seat)
        if position is None:
            self.wrong("seat", "is no seat of this event")
        elif kind == "ga":
            self.wrong("seat", "tickets of this type have no seat")
        return position

    def _check_zone(
        self, zone: EventZone, ticket_type: TicketType | None, *, with_seat: bool
    ) -> None:
        has_seats = zone.zone.zone_type in SEATED
        if not zone.enabled:
            self.wrong("zone", "is closed at this event")
        elif with_seat and not has_seats:
            self.wrong("zone", "has no numbered seats at this event")
        elif has_seats and not with_seat and (ticket_type is None or ticket_type.kind == "ga"):
            self.wrong("zone", "has numbered seats")
        if ticket_type is None or ticket_type.zone_ids is None:
            return
        if zone.zone.zone_id not in ticket_type.zone_ids:
            self.wrong("type", "is not sold in this zone")

    def days(self, ticket_type: TicketType | None) -> tuple[Days, int] | None:
        if ticket_type is None:
            return None
        days = self.names.days(ticket_type, self.row.days)
        if isinstance(days, str):
            self.wrong("days", days)
            return None
        return days

    def name(self) -> None:
        if len(self.row.name) > NAME_CHARACTERS_MAX:
            self.wrong("name", f"has more than {NAME_CHARACTERS_MAX} characters")

    def email(self) -> str | None:
        email = self.row.email
        if email and (len(email) > EMAIL_CHARACTERS_MAX or not _EMAIL.fullmatch(email)):
            self.wrong("email", "is no e-mail address")
        return email or None

    def reference(self) -> str | None:
        if len(self.row.reference) > REFERENCE_CHARACTERS_MAX:
            self.wrong("reference", f"has more than {REFERENCE_CHARACTERS_MAX} characters")
        return self.row.reference or None

    def price_minor(self) -> int:
        cell = self.row.price_minor
        if not cell:
            return 0
        amount = int(cell) if _AMOUNT.fullmatch(cell) else None
        if amount is None or amount > AMOUNT_MINOR_MAX:
            self.wrong("price_minor", "is no amount in minor units, such as 15000")
            return 0
        return amount
