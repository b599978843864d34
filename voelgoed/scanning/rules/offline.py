"""The decision of a device alone, from its manifest and the people that it let through itself.

The rule of the gates (rules/decision.py) decides here too. This module only finds the ticket and the
facts about it. The scanner's twin is tested by contracts/offline_decisions.json.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.scanning.model.decisions import (
    Attempt,
    Direction,
    EventFacts,
    GateFacts,
    TicketFacts,
    Verdict,
)
from voelgoed.scanning.model.manifests import ManifestGate
from voelgoed.scanning.model.offline import Decision, Entry, Manifest, Shown, Undecided
from voelgoed.scanning.rules.decision import Case, decide
from voelgoed.scanning.rules.manifest import barcode_hash, code_hash
from voelgoed.scanning.rules.outcomes import colour_of, outcome_of
from voelgoed.scanning.rules.own_scans import (
    OwnHistory,
    OwnScans,
    history_with,
    inside_of,
    is_inside_by,
    unknown_to,
)
from voelgoed.scanning.rules.presented import read_presented
from voelgoed.scanning.rules.register import Register
from voelgoed.ticketing.rules.barcode import Barcode, event_hint, read_barcode, verify_barcode

NO_DAY = ""
"""Stands for days that the manifest's event does not have."""


class _Found(msgspec.Struct, frozen=True, kw_only=True):
    """The presented code, as far as the manifest and the barcode itself identify it."""

    barcode_hash: str
    ticket: TicketFacts | None = None
    issue: int | None = None
    ticket_id: UUID | None = None
    """The id of a ticket of this event that the barcode or the manifest proves."""
    seat: str | None = None
    is_forged: bool = False


def decide_offline(
    register: Register,
    text: str,
    *,
    gate: str,
    direction: Direction,
    at: datetime,
    own: OwnScans,
) -> Decision | Undecided:
    """`at` in the server's time, `gate` by its code or its id, `own` whom this device let through."""
    lacks = lacking(register, gate=gate, direction=direction, at=at)
    if lacks is not None:
        return lacks
    here = register.gates[gate]
    found = _find(register, text)
    known = _own_history(register, found.ticket_id, own)
    case = Case(
        attempt=Attempt(at=at, direction=direction, issue=found.issue),
        event=_event(register.manifest),
        gate=_gate(here, inside_of(register, here, own)),
        ticket=found.ticket,
        history=msgspec.structs.replace(
            known.history, inside_gate_id=here.id if is_inside_by(register, known, here) else None
        ),
    )
    return _decision(register, found, decide(case), known)


def lacking(
    register: Register, *, gate: str, direction: Direction, at: datetime
) -> Undecided | None:
    """What the device lacks to decide anything; None where it lacks nothing. A person who is inside
    may leave, however old the manifest is."""
    if direction == "entry" and at > register.manifest.expires_at:
        return "manifest_expired"
    return None if gate in register.gates else "gate_unknown"


def _own_history(register: Register, ticket_id: UUID | None, own: OwnScans) -> OwnHistory:
    if ticket_id is None:
        return history_with(register.manifest, None, [])
    manifest, entry = register.manifest, register.by_ticket.get(ticket_id)
    return history_with(manifest, entry, unknown_to(manifest, entry, own.get(ticket_id, ())))


def _find(register: Register, text: str) -> _Found:
    presented = read_presented(text)
    if presented is None:
        return _Found(barcode_hash=barcode_hash(text))
    if presented.barcode_hash is None:
        entry = register.by_code.get(code_hash(register.code_key, presented.code))
        if entry is None:
            return _Found(barcode_hash=barcode_hash(text))
        return _known(register, entry, None)
    shown = barcode_hash(text)
    if (entry := register.by_barcode.get(shown)) is not None:
        return _known(register, entry, entry.issue)
    barcode = read_barcode(text)
    return _Found(barcode_hash=shown) if barcode is None else _signed(register, barcode, shown)


def _known(register: Register, entry: Entry, issue: int | None) -> _Found:
    return _Found(
        barcode_hash=entry.barcode_hash,
        ticket=_entry_facts(register, entry, entry.issue),
        issue=issue,
        ticket_id=entry.ticket_id,
        seat=entry.seat,
    )


def _signed(register: Register, barcode: Barcode, shown: str) -> _Found:
    """A barcode that the manifest does not have: of another event, of a ticket that has another one
    by now, or of one that was sold since."""
    event_id, fields = register.manifest.event_id, barcode.fields
    if barcode.event_hint != event_hint(event_id):
        return _Found(barcode_hash=shown, ticket=_foreign(fields.ticket_id))
    if not verify_barcode(barcode, event_id, register.keys):
        return _Found(barcode_hash=shown, is_forged=True)
    entry = register.by_ticket.get(fields.ticket_id)
    if entry is None:
        facts, seat = _sold_since(register, barcode), fields.seat_label or None
    else:
        # A newer issue than the manifest's is the one that replaced it.
        facts = _entry_facts(register, entry, max(entry.issue, fields.issue))
        seat = entry.seat
    return _Found(
        barcode_hash=shown,
        ticket=facts,
        issue=fields.issue,
        ticket_id=fields.ticket_id,
        seat=seat,
    )


def _entry_facts(register: Register, entry: Entry, issue: int) -> TicketFacts:
    kind = register.types[entry.type]
    return TicketFacts(
        id=entry.ticket_id,
        event_id=register.manifest.event_id,
        status=entry.status,
        issue=issue,
        zone_id=entry.zone,
        days=[day.isoformat() for day in entry.days],
        entry_limit=entry.entry_limit,
        max_daily_entries=kind.max_daily_entries,
        gate_ids=_gate_ids(register, entry.gate_ids),
        reentry=kind.reentry,
        is_membership_active=entry.membership,
    )


def _sold_since(register: Register, barcode: Barcode) -> TicketFacts | None:
    """The facts of a ticket sold since; None where its type came after the manifest too."""
    fields = barcode.fields
    kind = register.types.get(fields.ticket_type_number)
    if kind is None:
        return None
    return TicketFacts(
        id=fields.ticket_id,
        event_id=register.manifest.event_id,
        status="active",
        issue=fields.issue,
        zone_id=register.zones.get(fields.zone_number),
        days=_days(register.manifest, fields.days),
        entry_limit=kind.entry_limit,
        max_daily_entries=kind.max_daily_entries,
        gate_ids=_gate_ids(register, kind.gate_ids),
        reentry=kind.reentry,
        is_membership_active=None,
    )


def _foreign(ticket_id: UUID) -> TicketFacts:
    """All that is known of it is that it is not of this event."""
    return TicketFacts(
        id=ticket_id,
        event_id=UUID(int=0),
        status="active",
        issue=1,
        zone_id=None,
        days=[],
        entry_limit=None,
        max_daily_entries=None,
        gate_ids=None,
        reentry="allowed",
        is_membership_active=None,
    )


def _days(manifest: Manifest, mask: int) -> list[str]:
    if mask == 0:
        return []
    dates = [day.date.isoformat() for day in manifest.event.days]
    return [date for place, date in enumerate(dates) if mask >> place & 1] or [NO_DAY]


def _gate_ids(register: Register, codes: Sequence[str] | None) -> list[UUID] | None:
    if codes is None:
        return None
    return [register.gates[code].id for code in codes if code in register.gates]


def _event(manifest: Manifest) -> EventFacts:
    event = manifest.event
    return EventFacts(
        id=manifest.event_id,
        status=event.status,
        ends_at=event.ends_at,
        days=event.days,
        dedup_window_s=event.dedup_window_s,
    )


def _gate(gate: ManifestGate, inside: int) -> GateFacts:
    rules = gate.access_rules
    return GateFacts(
        id=gate.id,
        status=gate.status,
        allowed_zones=rules.zones,
        hard_capacity_limit=rules.hard_capacity_limit,
        inside=inside,
    )


def _decision(register: Register, found: _Found, verdict: Verdict, known: OwnHistory) -> Decision:
    outcome = outcome_of(verdict.reason)
    return Decision(
        verdict=verdict,
        outcome=outcome,
        colour=colour_of(outcome),
        ticket_id=found.ticket_id,
        barcode_hash=found.barcode_hash,
        is_forged=found.is_forged,
        shown=_shown(register, found, known),
    )


def _shown(register: Register, found: _Found, known: OwnHistory) -> Shown:
    if found.ticket is None or found.ticket_id is None:
        return Shown()
    last, gate = known.history.last_scanned_at, register.gates.get(known.last_gate or "")
    return Shown(
        seat=found.seat,
        zone=register.zone_names.get(found.ticket.zone_id) if found.ticket.zone_id else None,
        notes=register.notes.get(found.seat, []) if found.seat else [],
        last_scanned_at=last,
        last_gate=gate.name if gate and last else None,
    )
