"""What is sold and held at an event, as it is taken to other programs. Never a barcode."""

import datetime as dt
from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec

from voelgoed.infra.refusal import Missing
from voelgoed.ticketing.model.holds import HoldStatus
from voelgoed.ticketing.model.orders import OrderStatus
from voelgoed.ticketing.model.tickets import TicketStatus

Subject = Literal["orders", "tickets", "holds"]
Form = Literal["csv", "json"]


class ExportedOrder(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    number: str
    status: OrderStatus
    buyer_name: str
    buyer_email: str | None
    tickets: int
    currency: str
    total_minor: int
    refunded_minor: int
    payment_methods: str
    """Of the payments that were not refused, with blanks between."""
    sold_by: str | None
    """Who of the staff."""
    note: str
    created_at: datetime
    updated_at: datetime


class ExportedTicket(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    code: str
    status: TicketStatus
    type: str
    zone: str | None
    seat: str | None
    name: str
    email: str | None
    days: list[dt.date]
    price_minor: int
    currency: str
    order_number: str | None
    reference: str | None
    issue: int
    scan_count: int
    scanned_at: datetime | None
    last_scanned_at: datetime | None
    created_at: datetime
    updated_at: datetime


class ExportedHold(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    booking_id: UUID
    status: HoldStatus
    zone: str | None
    seat: str | None
    places: int
    days: list[dt.date] | None
    name: str | None
    email: str | None
    source: str
    notes: str | None
    held_until: datetime
    created_at: datetime
    updated_at: datetime


Exported = ExportedOrder | ExportedTicket | ExportedHold


class ExportNotFound(Missing):
    """There is no such export; there are orders, tickets and holds, as .csv and as .json."""
