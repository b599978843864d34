"""The state of an event's seats and places, and what one can ask about them."""

import datetime as dt
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from voelgoed.infra.shapes import Email, Request
from voelgoed.seating.model.layout import ZONES_MAX, SeatCategory, SeatId, ZoneType
from voelgoed.seating.model.policy import Party

SeatStatus = Literal["available", "held", "sold", "blocked"]
STATUSES: tuple[SeatStatus, ...] = ("available", "held", "sold", "blocked")

AVAILABLE, HELD, SOLD, BLOCKED, SOFT_RESERVED, WITHHELD = range(6)
"""A seat in the compact map, four bits each. The first four are the statuses; a soft-reserved
seat waits for the companion of a wheelchair user, a withheld one is sold by staff only."""

Reason = Annotated[str, Meta(min_length=1, max_length=500, pattern=r"^[^\x00]*[^\s\x00][^\x00]*$")]
BLOCK_SEATS_MAX = 5_000
GUESTS_MAX = 50


class SeatState(msgspec.Struct, frozen=True, kw_only=True):
    """A seat of an event that was ever touched; every other one is available, version 0."""

    seat_id: UUID
    position: int
    status: SeatStatus
    held_until: datetime | None
    seat_hold_id: UUID | None
    holder_id: UUID | None
    sold_when_blocked: bool
    version: int


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """All states of an event in one small value: 4-byte positions, 8-byte moments, packed."""

    seq: int
    """Of the topic `seats:{event_id}`: messages up to this one are in here."""
    layout_id: UUID | None = None
    """Whose positions these are."""
    held: bytes
    held_until: bytes
    """Microseconds since 1970, one for each of `held`."""
    sold: bytes
    blocked: bytes
    sold_blocked: bytes = b""
    """Those of the blocked that were sold before, and still are somebody's."""


class ZoneDay(msgspec.Struct, frozen=True, kw_only=True):
    """Places of a general-admission zone on one event day."""

    zone_id: UUID
    day: dt.date
    capacity: int
    held: int
    sold: int


class DayCount(msgspec.Struct, frozen=True, kw_only=True):
    day: dt.date
    available: int
    held: int
    sold: int


class ZoneCount(msgspec.Struct, frozen=True, kw_only=True):
    zone_id: UUID
    name: str
    zone_type: ZoneType
    enabled: bool
    availability_status: Literal["available", "sold_out", "disabled"]
    capacity: int
    available: int
    held: int
    sold: int
    blocked: int
    soft_reserved: int
    withheld: int
    percent_full: float
    """Held and sold, of what can be sold."""
    days: list[DayCount] = []
    """Of zones without seats: a place is free for a ticket when it is on all of its days."""


class Availability(msgspec.Struct, frozen=True, kw_only=True):
    event_id: UUID
    layout_id: UUID
    layout_version: int
    capacity: int
    available: int
    held: int
    sold: int
    blocked: int
    soft_reserved: int
    withheld: int
    percent_full: float
    zones: list[ZoneCount]


class SeatMap(msgspec.Struct, frozen=True, kw_only=True):
    """Every seat's code, in the order of the layout version, two to a byte, low bits first."""

    event_id: UUID
    layout_id: UUID
    layout_version: int
    seat_count: int
    seats: bytes
    seq: int
    """Of the topic `seats:{event_id}`: messages up to this one are in the map."""
    as_of: datetime


class SeatDetails(msgspec.Struct, frozen=True, kw_only=True):
    """One seat as a customer may know it: not who holds it, but for how long."""

    id: UUID
    seat_id: str
    zone_id: UUID
    zone_name: str
    row: str
    number: int
    category: SeatCategory
    status: Literal["available", "held", "sold", "blocked", "soft_reserved", "withheld"]
    expires_in_seconds: int | None = None
    companions: list[str] = []
    """Seats beside a wheelchair place that wait for whoever comes along."""
    blocked_reason: str | None = None
    """Told to those who may block seats."""
    group: str | None = None


class SeatRef(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    seat_id: str
    zone_id: UUID
    row: str
    number: int
    category: SeatCategory


class SeatBlock(Request):
    seat_ids: Annotated[list[SeatId], Meta(min_length=1, max_length=BLOCK_SEATS_MAX)]
    reason: Reason
    including_taken: bool = False
    """Whether held and sold seats are blocked too; a hold loses its seat by it."""


class SeatUnblock(Request):
    seat_ids: Annotated[list[SeatId], Meta(min_length=1, max_length=BLOCK_SEATS_MAX)]
    reason: Reason


class SeatsChanged(msgspec.Struct, frozen=True, kw_only=True):
    changed: list[str]
    unchanged: list[str]
    """Were so already."""


class BestRequest(Request):
    """So many people, and where they would like to sit."""

    party: Party
    zone_ids: Annotated[list[UUID], Meta(min_length=1, max_length=ZONES_MAX)] | None = None
    pricing_rule_ids: Annotated[list[UUID], Meta(min_length=1, max_length=ZONES_MAX)] | None = None
    categories: list[Literal["standard", "restricted_view", "aisle"]] | None = None
    wheelchair_places: Annotated[int, Meta(ge=0, le=50)] = 0
    """How many of the party use a wheelchair; companions are given the seats beside them."""
    apart: bool = False
    """Rather sit apart, some perhaps alone, than not at all."""


class Cluster(msgspec.Struct, frozen=True, kw_only=True):
    zone_id: UUID
    row: str
    seat_ids: list[str]


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """Seats that are free as far as we know; only a hold makes them yours."""

    seats: list[SeatRef]
    clusters: list[Cluster]
    together: bool
    score: float
    """Less is better: the distance to the focal point in seats, and what is left behind."""
    orphans: list[str]
    message: str


class CheckRequest(Request):
    seat_ids: Annotated[list[SeatId], Meta(min_length=1, max_length=200)]


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    code: str
    message: str
    seat_ids: list[str] = []


class SelectionCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What would come of booking these seats."""

    bookable: bool
    problems: list[Problem]
    """Each one refuses the booking."""
    warnings: list[Problem]
    orphans: list[str]
    companions: list[str]
    """Seats that would be kept for companions."""
    alternatives: list[Proposal]
    """The nearest that leave nobody's seat alone."""


class AccessRequest(Request):
    guests: Annotated[list[Email], Meta(max_length=GUESTS_MAX)] = []
    """Each friend must qualify too, or be on the zone's whitelist."""


class Admittance(msgspec.Struct, frozen=True, kw_only=True):
    """One person may book in a zone."""

    email: str
    associated_membership_id: UUID | None
    """By which one; a booker is told only their own."""


class ZoneAccess(msgspec.Struct, frozen=True, kw_only=True):
    zone_id: UUID
    admitted: list[Admittance]


class SeatingReport(msgspec.Struct, frozen=True, kw_only=True):
    event_id: UUID
    orphan_seats: int
    orphan_ratio: float
    vip_utilisation: float | None
    accessibility_utilisation: float | None
    wheelchair_places_sold: int
    unusual: list[str]
    """Names of figures beyond their thresholds."""
