"""How one event uses a layout: a reference and what it does differently, never a copy."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from voelgoed.accounts.model import Role, Tier
from voelgoed.infra.shapes import Request, Version
from voelgoed.seating.model.layout import (
    SEATS_MAX,
    ZONES_MAX,
    AccessMode,
    Capacity,
    SeatId,
    Zone,
    ZoneType,
)
from voelgoed.seating.model.policy import SeatingOverrides


class ZoneOverride(Request):
    zone_type: ZoneType | UnsetType = UNSET
    capacity: Capacity | UnsetType = UNSET
    access_mode: AccessMode | UnsetType = UNSET
    membership_tier: Tier | None | UnsetType = UNSET
    allowed_roles: list[Role] | None | UnsetType = UNSET
    whitelist_id: UUID | None | UnsetType = UNSET


class PricingZone(Request):
    pricing_rule_id: UUID


class Overrides(Request):
    blocked_seat_ids: Annotated[list[SeatId], Meta(max_length=SEATS_MAX)] = []
    disabled_zones: Annotated[list[UUID], Meta(max_length=ZONES_MAX)] = []
    zone_overrides: Annotated[dict[UUID, ZoneOverride], Meta(max_length=ZONES_MAX)] = {}
    pricing_zones: Annotated[dict[UUID, PricingZone], Meta(max_length=ZONES_MAX)] = {}
    seating_overrides: SeatingOverrides = msgspec.field(default_factory=SeatingOverrides)


class EventLayout(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    event_id: UUID
    layout_id: UUID
    layout_version: int
    overrides: Overrides
    version: int
    created_at: datetime
    updated_at: datetime


class Assignment(msgspec.Struct, frozen=True):
    """Which layout an event has. One that was removed and given anew has another id, though
    its versions begin at 1 again."""

    id: UUID
    version: int


class NewEventLayout(Request):
    """Assigns a layout to an event, or, with `version`, replaces what it had."""

    layout_id: UUID
    overrides: Overrides = msgspec.field(default_factory=Overrides)
    version: Version | None = None
    """Of the assignment being replaced; left out for the first."""


class EventSeating(msgspec.Struct, frozen=True, kw_only=True):
    """An event's layout with all that follows from it."""

    event_layout: EventLayout
    zones: list["EventZone"]
    seat_count: int


class EventZone(msgspec.Struct, frozen=True, kw_only=True):
    """A zone as this event has it: the layout's, with the event's overrides."""

    zone: Zone
    """Without its seats."""
    enabled: bool
    pricing_rule_id: UUID | None
