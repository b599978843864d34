"""What an organisation allows and enforces about seating, and what its events may relax."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from voelgoed.infra.shapes import Request, Version

PARTY_MAX = 50
Percent = Annotated[int, Meta(ge=0, le=100)]
Party = Annotated[int, Meta(ge=1, le=PARTY_MAX)]
RowsApart = Annotated[int, Meta(ge=0, le=20)]
Minutes = Annotated[int, Meta(ge=1, le=60)]
HoldCount = Annotated[int, Meta(ge=1, le=10_000)]

PolicyField = Literal[
    "allow_reserved_seating",
    "allow_ga_seating",
    "allow_hybrid_ga_reserved",
    "allow_vip_zones",
    "enforce_accessibility_rules",
    "companion_release_occupancy_threshold",
    "max_wheelchair_seats_per_booking",
    "accessibility_audit_enabled",
    "max_seats_per_booking",
    "orphan_avoidance_strict",
    "group_adjacency_strict",
    "max_group_split",
    "prefer_clustering_over_selection",
    "default_hold_ttl_minutes",
    "max_holds_per_user",
    "max_holds_per_ip",
]


class SeatingPolicy(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    allow_reserved_seating: bool = True
    allow_ga_seating: bool = True
    allow_hybrid_ga_reserved: bool = True
    allow_vip_zones: bool = False
    enforce_accessibility_rules: bool = True
    companion_release_occupancy_threshold: Percent = 85
    max_wheelchair_seats_per_booking: Party = 1
    accessibility_audit_enabled: bool = True
    max_seats_per_booking: Party = 10
    orphan_avoidance_strict: bool = True
    group_adjacency_strict: bool = False
    max_group_split: RowsApart = 2
    """How many rows apart the parts of one group may sit."""
    prefer_clustering_over_selection: bool = False
    """Whether the system chooses the seats; customers then say how many, not which."""
    default_hold_ttl_minutes: Minutes = 5
    max_holds_per_user: HoldCount | None = None
    max_holds_per_ip: HoldCount | None = None
    mandatory: list[PolicyField] = []
    """What no event may override."""
    version: int = 1
    created_at: datetime
    updated_at: datetime


class _PolicyFields(Request):
    allow_reserved_seating: bool | UnsetType = UNSET
    allow_ga_seating: bool | UnsetType = UNSET
    allow_hybrid_ga_reserved: bool | UnsetType = UNSET
    allow_vip_zones: bool | UnsetType = UNSET
    enforce_accessibility_rules: bool | UnsetType = UNSET
    companion_release_occupancy_threshold: Percent | UnsetType = UNSET
    max_wheelchair_seats_per_booking: Party | UnsetType = UNSET
    accessibility_audit_enabled: bool | UnsetType = UNSET
    max_seats_per_booking: Party | UnsetType = UNSET
    orphan_avoidance_strict: bool | UnsetType = UNSET
    group_adjacency_strict: bool | UnsetType = UNSET
    max_group_split: RowsApart | UnsetType = UNSET
    prefer_clustering_over_selection: bool | UnsetType = UNSET
    default_hold_ttl_minutes: Minutes | UnsetType = UNSET
    max_holds_per_user: HoldCount | None | UnsetType = UNSET
    max_holds_per_ip: HoldCount | None | UnsetType = UNSET


class SeatingOverrides(_PolicyFields):
    """What one event does otherwise than its organisation."""


class SeatingPolicyChange(_PolicyFields, kw_only=True):
    version: Version
    mandatory: list[PolicyField] | UnsetType = UNSET
