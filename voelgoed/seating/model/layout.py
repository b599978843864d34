"""A venue's layout: zones, their seats, and groups of seats."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from voelgoed.accounts.model import Role, Tier
from voelgoed.infra.shapes import Name, Request, Text

ZoneType = Literal["reserved_seating", "ga_seated", "ga_standing", "vip_reserved", "vip_standing"]
AccessMode = Literal["public", "membership_tier", "role_based", "whitelist"]
SeatCategory = Literal["standard", "wheelchair", "companion", "restricted_view", "aisle"]
GroupType = Literal["wheelchair_pair", "family_block", "vip_table", "reserved_block"]
LayoutStatus = Literal["draft", "active", "archived"]

SEATED: frozenset[ZoneType] = frozenset({"reserved_seating", "vip_reserved"})
"""Zones of numbered seats; the others are so many places."""
VIP: frozenset[ZoneType] = frozenset({"vip_reserved", "vip_standing"})

ZONES_MAX = 200
SEATS_MAX = 120_000
GROUPS_MAX = 20_000
GROUP_SEATS_MAX = 500
CAPACITY_MAX = 1_000_000
COORDINATE_MAX = 1_000_000
METADATA_BYTES_MAX = 4_000
LAYOUT_CHARACTERS_MAX = 24_000_000

SeatId = Annotated[str, Meta(min_length=1, max_length=63, pattern=r"^[^\s/?#%\x00-\x1f]+$(?!\n)")]
"""Stable, unique in its layout, and what people call the seat: `A-1`."""
RowName = Annotated[str, Meta(min_length=1, max_length=20, pattern=r"^[^\x00-\x1f]+$(?!\n)")]
SeatNumber = Annotated[int, Meta(ge=0, le=1_000_000)]
Coordinate = Annotated[float, Meta(ge=-COORDINATE_MAX, le=COORDINATE_MAX)]
Capacity = Annotated[int, Meta(ge=1, le=CAPACITY_MAX)]
Metadata = dict[str, Any]


class Point(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    x: Coordinate
    y: Coordinate


class Seat(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    kw_only=True,
    gc=False,
):
    seat_id: SeatId
    row: RowName
    number: SeatNumber
    category: SeatCategory = "standard"
    coordinates: Point
    companion_seat_id: SeatId | None = None
    """Of a wheelchair place, its companion; of a companion, its wheelchair place."""


class Zone(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True
):
    zone_id: UUID
    zone_type: ZoneType
    name: Name
    capacity: Capacity
    access_mode: AccessMode = "public"
    membership_tier: Tier | None = None
    allowed_roles: list[Role] | None = None
    whitelist_id: UUID | None = None
    """Who is let in by name: everybody of a `whitelist` zone, a member's friends of another."""
    metadata: Metadata = {}
    seats: list[Seat] = []


class SeatGroup(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True
):
    """`metadata.whole` of a vip_table: it is taken whole or not at all."""

    group_type: GroupType
    seat_ids: Annotated[list[SeatId], Meta(min_length=1, max_length=GROUP_SEATS_MAX)]
    name: Name | None = None
    metadata: Metadata = {}


class LayoutConfig(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True
):
    """The order of zones, and of seats in them, is the order of every map of seat states."""

    zones: Annotated[list[Zone], Meta(min_length=1, max_length=ZONES_MAX)]
    seat_groups: Annotated[list[SeatGroup], Meta(max_length=GROUPS_MAX)] = []
    focal_point: Point | None = None
    """What everybody came to look at. Left out, it is the middle of the front edge."""
    total_capacity: Capacity | None = None


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """One version. Its config never changes; a change is the next version."""

    id: UUID
    lineage_id: UUID
    """The id of version 1: what all versions of one layout share."""
    venue_id: UUID
    name: str
    description: str
    version: int
    status: LayoutStatus
    total_capacity: int
    seat_count: int
    config_hash: str
    created_at: datetime
    updated_at: datetime


class NewLayout(Request):
    name: Name
    config: Metadata
    """See `LayoutConfig`; every fault is named at once, with its path."""
    description: Text = ""
    status: Literal["draft", "active"] = "active"


class LayoutCheck(Request):
    config: Metadata


class LayoutTransition(Request):
    to: LayoutStatus


class Fault(msgspec.Struct, frozen=True):
    path: str
    message: str


class TextFault(msgspec.Struct, frozen=True, order=True):
    """In a layout that people wrote line by line."""

    line: int
    message: str
    path: str = ""
    """Of what the line made in the config; empty if it made nothing."""


class LayoutText(Request):
    """A layout as text or as a table. docs/layouts.md explains both."""

    form: Literal["text", "csv"]
    text: Annotated[str, Meta(max_length=LAYOUT_CHARACTERS_MAX)]


class LayoutReading(msgspec.Struct, frozen=True):
    """What a text says, as far as it can be read, and everything that is wrong with it."""

    config: Metadata
    faults: list[TextFault]


class SeatMove(msgspec.Struct, frozen=True):
    seat_id: str
    before: Point
    after: Point


class SeatRecategorised(msgspec.Struct, frozen=True):
    seat_id: str
    before: SeatCategory
    after: SeatCategory


class SeatRelabelled(msgspec.Struct, frozen=True):
    """Another row or number on the same seat."""

    seat_id: str
    before: str
    after: str


class SeatRezoned(msgspec.Struct, frozen=True):
    seat_id: str
    before: UUID
    after: UUID


class LayoutDiff(msgspec.Struct, frozen=True, kw_only=True):
    added: list[str]
    removed: list[str]
    moved: list[SeatMove]
    recategorised: list[SeatRecategorised]
    relabelled: list[SeatRelabelled]
    rezoned: list[SeatRezoned]
    zones_added: list[UUID]
    zones_removed: list[UUID]
    zones_changed: list[UUID]
    companions_changed: list[str]
    """Seats whose companion, or wheelchair place, is another one now."""
    groups_changed: bool
    focal_point_moved: bool
