from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.accounts.model import Caller
from voelgoed.reporting.actions.desk import ReportDesk, about
from voelgoed.reporting.model.about import BucketMinutes, ZonePlaces
from voelgoed.reporting.model.attendance import (
    AttendanceReport,
    Attended,
    Bucket,
    Busiest,
    DayAttendance,
    DeniedFor,
    GateAttendance,
    ZoneAttendance,
)
from voelgoed.reporting.rules.attendance import Change, Counts, buckets_of, fullest_of
from voelgoed.reporting.rules.sales import without, zone_name
from voelgoed.reporting.rules.spans import (
    buckets_refusal,
    full_hour,
    limit_refusal,
    span_refusal,
)
from voelgoed.reporting.store import attendance as store
from voelgoed.reporting.store.attendance import GateNamed, PassedRow

Rows = Sequence[PassedRow]


async def report_attendance(
    desk: ReportDesk,
    caller: Caller,
    event_id: UUID,
    since: datetime | None,
    until: datetime | None,
    bucket_minutes: BucketMinutes,
) -> AttendanceReport:
    if (refusal := span_refusal(since, until)) is not None:
        raise refusal
    zones = await desk.zones_of(caller, event_id)
    async with desk.reading(caller) as tx:
        event, timezone, told = await about(tx, event_id)
        if (refusal := buckets_refusal(event.days, since, until, bucket_minutes)) is not None:
            raise refusal
        origin = full_hour(event.starts_at, timezone)
        counted = await store.count_scans(tx, event_id, since, until, bucket_minutes, origin)
        gates = await store.list_gates(tx, event_id)
    [total] = _part(counted, "total")
    buckets = _buckets(counted)
    if (refusal := limit_refusal(len(buckets))) is not None:
        raise refusal
    return AttendanceReport(
        **told,
        as_of=tx.now,
        since=since,
        until=until,
        bucket_minutes=bucket_minutes,
        total=_attended(total),
        days=_days(counted),
        gates=_gates(counted, gates),
        zones=_zones(counted, zones),
        reasons=_reasons(counted),
        buckets=buckets,
        busiest_minute=_busiest(counted),
        fullest=fullest_of(buckets),
    )


def _part(counted: Rows, part: store.Part) -> list[PassedRow]:
    return [row for row in counted if row.part == part]


def _attended(row: PassedRow | None) -> Attended:
    if row is None:
        return Attended(entries=0, first_entries=0, reentries=0, exits=0, denied=0, inside=0)
    return Attended(
        entries=row.entries,
        first_entries=row.first_entries,
        reentries=row.entries - row.first_entries,
        exits=row.exits,
        denied=row.denied,
        inside=row.inside,
    )


def _figures(row: PassedRow | None) -> dict[str, int]:
    return msgspec.structs.asdict(_attended(row))


def _days(counted: Rows) -> list[DayAttendance]:
    found = {row.day: row for row in _part(counted, "day") if row.day is not None}
    return [
        DayAttendance(
            day=day,
            entries=row.entries,
            first_entries=row.first_entries,
            reentries=row.entries - row.first_entries,
            exits=row.exits,
            inside=row.inside,
        )
        for day, row in sorted(found.items())
    ]


def _gates(counted: Rows, gates: Sequence[GateNamed]) -> list[GateAttendance]:
    """All of the event's, and after them those that were deleted."""
    found = {row.gate_id: row for row in _part(counted, "gate")}
    known = [
        GateAttendance(
            **_figures(found.pop(gate.id, None)), gate_id=gate.id, code=gate.code, name=gate.name
        )
        for gate in gates
    ]
    deleted = [
        GateAttendance(
            **_figures(row), gate_id=gate_id, code=None, name=row.gate_name or str(gate_id)
        )
        for gate_id, row in found.items()
        if gate_id is not None
    ]
    return known + sorted(deleted, key=lambda each: (each.name, each.gate_id))


def _zones(counted: Rows, zones: Sequence[ZonePlaces]) -> list[ZoneAttendance]:
    found = {row.zone_id: row for row in _part(counted, "zone")}
    known = [
        ZoneAttendance(
            **_figures(found.get(zone.id)),
            zone_id=zone.id,
            name=zone.name,
            capacity=zone.capacity,
        )
        for zone in zones
    ]
    left = [
        ZoneAttendance(**_figures(found[each]), zone_id=each, name=zone_name(each), capacity=None)
        for each in without(found, zones)
    ]
    return known + left


def _reasons(counted: Rows) -> list[DeniedFor]:
    found = [
        DeniedFor(row.reason, row.denied)
        for row in _part(counted, "reason")
        if row.reason is not None and row.denied
    ]
    return sorted(found, key=lambda each: (-each.denied, each.reason))


def _buckets(counted: Rows) -> list[Bucket]:
    return buckets_of(
        [
            Counts(
                since=row.since,
                entries=row.entries,
                first_entries=row.first_entries,
                exits=row.exits,
                denied=row.denied,
            )
            for row in _part(counted, "bucket")
            if row.since is not None
        ],
        [
            Change(row.since, row.day, row.inside)
            for row in _part(counted, "change")
            if row.day is not None
        ],
    )


def _busiest(counted: Rows) -> Busiest | None:
    for row in _part(counted, "minute"):
        if row.since is not None:
            return Busiest(row.since, row.entries)
    return None
