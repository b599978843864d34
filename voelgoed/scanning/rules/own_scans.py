"""A ticket's history as a device knows it: the manifest's entry, and the device's own scans."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.scanning.model.decisions import History
from voelgoed.scanning.model.manifests import ManifestGate
from voelgoed.scanning.model.offline import Entry, Manifest, OwnScan
from voelgoed.scanning.rules.decision import day_of
from voelgoed.scanning.rules.facts import NOBODY_CAME
from voelgoed.scanning.rules.register import Register

OwnScans = Mapping[UUID, Sequence[OwnScan]]
"""A device's own scans by ticket, in any order."""


class OwnHistory(msgspec.Struct, frozen=True):
    """The history of one ticket, as far as the device knows it."""

    history: History
    last_gate: str | None
    """The place of the last entry with it: the code of the gate, or its id."""


def unknown_to(manifest: Manifest, entry: Entry | None, own: Sequence[OwnScan]) -> list[OwnScan]:
    """The device's own scans that its manifest does not count yet, in their order."""
    last = entry.last_scanned_at if entry else None
    return sorted(
        (each for each in own if not _is_counted(manifest, last, each)), key=lambda each: each.at
    )


def _is_counted(manifest: Manifest, last: datetime | None, scan: OwnScan) -> bool:
    if scan.acknowledged_at is not None and scan.acknowledged_at < manifest.generated_at:
        return True
    # The answer was lost, but the manifest shows that the scan arrived.
    return scan.direction == "entry" and scan.at == last


def history_with(manifest: Manifest, entry: Entry | None, unknown: Sequence[OwnScan]) -> OwnHistory:
    """The manifest's history with the scans added that it does not know. An entry before its last one counts, but
    changes neither when somebody last came nor whether they are inside."""
    before = _history_of(entry)
    entries, last = before.entries, before.last_scanned_at
    inside, left = before.inside_day, before.left_at
    by_day, gate = dict(before.entries_by_day), entry and entry.last_gate
    for scan in unknown:
        is_later, day = last is None or scan.at > last, day_of(manifest.event.days, scan.at)
        if scan.direction == "entry":
            entries += 1
            if day is not None:
                by_day[day] = by_day.get(day, 0) + 1
            if is_later:
                last, inside, left, gate = scan.at, day, None, scan.gate
        elif is_later:
            inside, left = None, scan.at if left is None else max(left, scan.at)
    history = History(
        entries=entries,
        entries_by_day=by_day,
        last_scanned_at=last,
        inside_day=inside,
        left_at=left,
    )
    return OwnHistory(history, gate)


def _history_of(entry: Entry | None) -> History:
    if entry is None or entry.day is None:
        return NOBODY_CAME
    day = entry.day.isoformat()
    return History(
        entries=entry.entries,
        entries_by_day={day: entry.day_entries},
        last_scanned_at=entry.last_scanned_at,
        inside_day=day if entry.is_inside else None,
        left_at=entry.last_exit_at,
    )


def inside_of(register: Register, gate: ManifestGate, own: OwnScans) -> int:
    """The people inside by this gate: as the manifest counted them, and as this device's own scans
    moved them since. Only counted where there is a limit, and there people stay counted
    overnight."""
    manifest = register.manifest
    if gate.access_rules.hard_capacity_limit is None:
        return 0
    inside = sum(each.inside for each in manifest.occupancy if each.gate_id == gate.gate_id)
    for ticket_id, scans in own.items():
        entry = register.by_ticket.get(ticket_id)
        unknown = unknown_to(manifest, entry, scans)
        if unknown:
            before, after = (history_with(manifest, entry, some) for some in ([], unknown))
            inside += is_inside_by(register, after, gate)
            inside -= is_inside_by(register, before, gate)
    return max(inside, 0)


def is_inside_by(register: Register, known: OwnHistory, gate: ManifestGate) -> bool:
    """Whether the ticket's holder is inside by this gate, since whatever day."""
    is_inside = known.history.inside_day is not None
    return is_inside and register.gates.get(known.last_gate or "") is gate
