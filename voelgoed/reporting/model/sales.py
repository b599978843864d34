"""What was sold, to whom it is due, and what it earned."""

import datetime as dt
from uuid import UUID

import msgspec

from voelgoed.reporting.model.about import About


class Sold(msgspec.Struct, frozen=True, kw_only=True):
    """Tickets, each counted once: `issued` is the sum of the five that follow it. And money, in minor
    units of the event's currency."""

    issued: int
    """Tickets ever made, whatever became of them."""
    sold: int
    """Good, and paid for here."""
    complimentary: int
    """Good, and given away."""
    imported: int
    """Good, and sold elsewhere."""
    refunded: int
    """No longer good, and paid back."""
    voided: int
    """No longer good, and not paid back."""
    valid: int
    """Good: sold, complimentary or imported."""
    gross_minor: int
    """Prices of all tickets that were paid for here, whatever became of them. What was given away or
    sold elsewhere earned nothing here."""
    refunded_minor: int
    """Prices of those of them that were refunded, on whatever day; the money itself may still be due."""
    net_minor: int
    """Gross without refunded: what is kept."""
    imported_minor: int
    """Prices of good imported tickets: taken elsewhere, in no other figure."""


class SoldOf(Sold, frozen=True, kw_only=True):
    """With how much there was to sell."""

    capacity: int | None
    """Null: there is no limit."""
    percent_sold: float | None
    """Valid tickets, of the capacity; where tickets are for certain days, on the fullest of them."""


class TypeSales(SoldOf, frozen=True, kw_only=True):
    ticket_type_id: UUID
    name: str


class ZoneSales(SoldOf, frozen=True, kw_only=True):
    zone_id: UUID | None
    """Null: imported without a zone."""
    name: str
    """Of a zone that the layout has no longer, its id."""


class MethodSales(Sold, frozen=True, kw_only=True):
    provider: str
    """`manual` is the box office; `import` what was sold elsewhere."""
    method: str


class DaySales(Sold, frozen=True, kw_only=True):
    day: dt.date
    """On which the tickets were sold. A refund counts on the day of the sale that it undoes."""


class OrderCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Each order counts once: `placed` is the sum of the others."""

    placed: int
    pending: int
    paid: int
    partially_refunded: int
    refunded: int
    refund_due: int
    """Paid when the seats were gone: nothing was sold."""
    cancelled: int
    expired: int


class Payments(msgspec.Struct, frozen=True, kw_only=True):
    """Money as the payments of one kind have it, also such as bought nothing and must go back."""

    provider: str
    method: str
    currency: str
    payments: int
    """That succeeded."""
    received_minor: int
    refunded_minor: int
    """Given back."""
    refund_due_minor: int
    """Still to be given back."""
    kept_minor: int
    """Received, and neither given back nor to be. The sum of all kinds is the tickets' `net_minor`."""


class SalesReport(About, frozen=True, kw_only=True):
    currency: str | None
    """All ticket types of an event have one. Null while there are none."""
    orders: OrderCounts
    total: SoldOf
    ticket_types: list[TypeSales]
    zones: list[ZoneSales]
    methods: list[MethodSales]
    """Tickets by how they were paid for."""
    days: list[DaySales]
    payments: list[Payments]
