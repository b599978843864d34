"""What can be sold for an event, where it lets in and how often, and what it costs."""

import datetime as dt
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from voelgoed.events.model import DAYS_MAX, GATES_MAX
from voelgoed.infra.shapes import Count, Name, Request, Text, Version
from voelgoed.seating.model.layout import ZONES_MAX

TicketKind = Literal["seated", "ga"]
Entitlement = Literal[
    "single_entry",
    "unlimited_single_day",
    "unlimited_multi_day",
    "limited_reentry_per_day",
    "ga_seated",
    "ga_standing",
]
Reentry = Literal["allowed", "after_exit", "never"]
SoldBy = Literal["anybody", "staff"]
SaleStatus = Literal["on_sale", "off_sale"]

AMOUNT_MINOR_MAX = 100_000_000_000
PRICES_MAX = 200
TYPES_MAX = 500
"""Of one event."""
Amount = Annotated[int, Meta(ge=0, le=AMOUNT_MINOR_MAX)]
Currency = Annotated[str, Meta(pattern=r"^[A-Z]{3}$(?!\n)")]
Entries = Annotated[int, Meta(ge=1, le=10_000)]
Days = Annotated[list[dt.date], Meta(min_length=1, max_length=DAYS_MAX)]
Zones = Annotated[list[UUID], Meta(min_length=1, max_length=ZONES_MAX)]
Gates = Annotated[list[UUID], Meta(min_length=1, max_length=GATES_MAX)]


class Price(Request):
    """In zones with this pricing rule, or, without one, in every zone that has no other."""

    amount_minor: Amount
    pricing_rule_id: UUID | None = None


Prices = Annotated[list[Price], Meta(min_length=1, max_length=PRICES_MAX)]


class TicketType(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    event_id: UUID
    number: int
    """Within the event; barcodes carry it."""
    name: str
    description: str
    kind: TicketKind
    entitlement: Entitlement
    entry_limit: int | None
    """Entries per event; null for any number."""
    max_daily_entries: int | None
    valid_days: list[dt.date] | None
    """Null for every day of the event."""
    zone_ids: list[UUID] | None
    """Where it is sold; null for every zone that it has a price for."""
    gate_ids: list[UUID] | None
    """Where it is let in; null for every gate that its zone is let in at."""
    reentry: Reentry
    """`after_exit`: once an exit scan has seen them leave."""
    currency: str
    """One for all ticket types of an event, because an order has one."""
    prices: list[Price]
    quota: int | None
    taken: int
    """By pending orders and valid tickets."""
    max_per_order: int | None
    sold_by: SoldBy
    """`staff`: at the box office only."""
    status: SaleStatus
    version: int
    """Of what somebody decided; sales, which change `taken`, do not count."""
    created_at: datetime
    updated_at: datetime


class NewTicketType(Request):
    name: Name
    kind: TicketKind
    currency: Currency
    prices: Prices
    description: Text = ""
    entitlement: Entitlement = "unlimited_multi_day"
    entry_limit: Entries | None = None
    """Left out, 1 for `single_entry`."""
    max_daily_entries: Entries | None = None
    valid_days: Days | None = None
    zone_ids: Zones | None = None
    gate_ids: Gates | None = None
    reentry: Reentry = "allowed"
    quota: Count | None = None
    max_per_order: Entries | None = None
    sold_by: SoldBy = "anybody"
    status: SaleStatus = "on_sale"


class TicketTypeChange(Request):
    """For orders from now on; what was ordered keeps its price. Kind and currency stay."""

    version: Version
    name: Name | UnsetType = UNSET
    description: Text | UnsetType = UNSET
    entitlement: Entitlement | UnsetType = UNSET
    entry_limit: Entries | None | UnsetType = UNSET
    max_daily_entries: Entries | None | UnsetType = UNSET
    valid_days: Days | None | UnsetType = UNSET
    zone_ids: Zones | None | UnsetType = UNSET
    gate_ids: Gates | None | UnsetType = UNSET
    reentry: Reentry | UnsetType = UNSET
    prices: Prices | UnsetType = UNSET
    quota: Count | None | UnsetType = UNSET
    max_per_order: Entries | None | UnsetType = UNSET
    sold_by: SoldBy | UnsetType = UNSET
    status: SaleStatus | UnsetType = UNSET


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """A ticket type as it is sold in one zone."""

    ticket_type_id: UUID
    name: str
    currency: str
    amount_minor: int
    left: int | None
    """Of its quota; null where only seats and places are counted."""
    max_per_order: int | None


class ZoneOffers(msgspec.Struct, frozen=True, kw_only=True):
    zone_id: UUID
    name: str
    offers: list[Offer]
    """By the numbers of the ticket types; none where nothing is sold."""
