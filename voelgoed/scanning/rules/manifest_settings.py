"""Makes a manifest's settings, which are the same for all tickets, from the tables."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from uuid import UUID

import numpy as np

from voelgoed.events.model import Event, Gate
from voelgoed.scanning.model.manifests import (
    AccessRules,
    ManifestDay,
    ManifestEvent,
    ManifestGate,
    ManifestKey,
    ManifestSettings,
    ManifestTicketType,
    ManifestZone,
    SeatNotes,
)
from voelgoed.scanning.rules.manifest import moment_text
from voelgoed.seating.rules.plan import COMPANION, RESTRICTED_VIEW, WHEELCHAIR, Plan
from voelgoed.ticketing.model.ticket_types import TicketType
from voelgoed.ticketing.rules.words import seat_notes

ENTRY_RULES = ["check_ticket_valid", "check_not_duplicate"]


def settings_of(
    event: Event,
    dedup_window_s: int,
    gates: Sequence[Gate],
    plan: Plan | None,
    types: Sequence[TicketType],
    public_keys: Mapping[int, bytes],
) -> ManifestSettings:
    """Gates by their codes, types and keys by their numbers."""
    codes = {gate.id: gate.code for gate in gates}
    return ManifestSettings(
        event=_event(event, dedup_window_s),
        gates=[_gate(gate) for gate in sorted(gates, key=lambda gate: gate.code)],
        zones=[] if plan is None else _zones(plan),
        ticket_types=[_type(each, codes) for each in sorted(types, key=lambda each: each.number)],
        public_keys=[
            ManifestKey(number=number, public_key=b64encode(public_keys[number]).decode())
            for number in sorted(public_keys)
        ],
        seat_notes=[] if plan is None else _notes(plan),
    )


def _event(event: Event, dedup_window_s: int) -> ManifestEvent:
    return ManifestEvent(
        status=event.status,
        ends_at=moment_text(event.ends_at),
        dedup_window_s=dedup_window_s,
        days=[
            ManifestDay(
                date=day.date,
                starts_at=moment_text(day.starts_at),
                ends_at=moment_text(day.ends_at),
            )
            for day in event.days
        ],
    )


def _gate(gate: Gate) -> ManifestGate:
    return ManifestGate(
        gate_id=gate.code,
        id=gate.id,
        name=gate.name,
        status=gate.status,
        access_rules=AccessRules(
            zones=gate.allowed_zones,
            max_concurrent=gate.capacity,
            hard_capacity_limit=gate.hard_capacity_limit,
            entry_rules=ENTRY_RULES,
        ),
    )


def _zones(plan: Plan) -> list[ManifestZone]:
    return [
        ManifestZone(number=number, zone=zone.zone_id, name=zone.name)
        for number, zone in enumerate(plan.zones, start=1)
    ]


def _type(ticket_type: TicketType, codes: Mapping[UUID, str]) -> ManifestTicketType:
    """Where it is let in only at gates that are gone, it is let in nowhere."""
    gate_ids = ticket_type.gate_ids
    return ManifestTicketType(
        number=ticket_type.number,
        name=ticket_type.name,
        entry_limit=ticket_type.entry_limit,
        max_daily_entries=ticket_type.max_daily_entries,
        reentry=ticket_type.reentry,
        gate_ids=None if gate_ids is None else sorted(codes[i] for i in gate_ids if i in codes),
    )


def _notes(plan: Plan) -> list[SeatNotes]:
    """The notes of special seats, in the layout's order."""
    special = np.isin(plan.category, (WHEELCHAIR, COMPANION, RESTRICTED_VIEW))
    notes: list[SeatNotes] = []
    for position in np.flatnonzero(special).tolist():
        beside = [*plan.companions(position), *plan.wheelchairs(position)]
        seat = plan.seats[position]
        words = seat_notes(seat, [plan.seats[each].seat_id for each in beside])
        notes.append(SeatNotes(seat=seat.seat_id, notes=words))
    return notes
