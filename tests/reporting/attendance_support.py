"""The report on who came, beside the counters of the gates."""

from collections import Counter
from datetime import datetime
from typing import Any

from tests.reporting.support import (
    require_attendance_adds_up,
)
from tests.scanning.support import World
from voelgoed.reporting.actions.attendance import report_attendance
from voelgoed.reporting.model.about import BucketMinutes
from voelgoed.reporting.model.attendance import AttendanceReport

COUNTED = ("entries", "exits", "inside")


async def found_in(
    world: World,
    bucket_minutes: BucketMinutes = 1,
    since: datetime | None = None,
    until: datetime | None = None,
) -> AttendanceReport:
    desk, caller = world.services.reports, world.tenant.caller("gate_supervisor")
    return await report_attendance(desk, caller, world.event_id, since, until, bucket_minutes)


async def counters(world: World) -> dict[str, Counter[Any]]:
    """The live ones: by day, by gate and by zone, over all days. Of who is inside, those who came in rightly:
    the report is about tickets, the counters are about heads."""
    found: dict[str, Counter[Any]] = {"event": Counter(), "gate": Counter(), "zone": Counter()}
    for row in await world.rows("SELECT * FROM occupancy"):
        place = row["day"] if row["scope"] == "event" else row["scope_id"]
        for name in COUNTED:
            found[row["scope"]][place, name] += row[name]
        found[row["scope"]][place, "inside"] -= row["irregular"]
    return {scope: +counts for scope, counts in found.items()}


async def require_as_counted(world: World, found: AttendanceReport) -> None:
    require_attendance_adds_up(found)
    live = await counters(world)
    told = {
        "event": Counter({(each.day, n): getattr(each, n) for each in found.days for n in COUNTED}),
        "gate": Counter(
            {(each.gate_id, n): getattr(each, n) for each in found.gates for n in COUNTED}
        ),
        "zone": Counter(
            {
                (each.zone_id, n): getattr(each, n)
                for each in found.zones
                for n in COUNTED
                if each.zone_id
            }
        ),
    }
    assert {scope: +counts for scope, counts in told.items()} == live
    if (
        found.days and found.days[-1].entries
    ):  # until its first entry, a day has who stayed over night
        assert found.buckets[-1].inside == found.days[-1].inside
