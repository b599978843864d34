"""Whether anything was lost: what every device has on its disk, beside what the server says."""

from collections import Counter
from collections.abc import Sequence
from uuid import UUID

import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from voelgoed.device.model import LoggedScan
from voelgoed.device.simulation.crowd import Post
from voelgoed.device.simulation.venue import ListedConflict, ListedScan
from voelgoed.scanning.model.decisions import Direction

SHOWN_MAX = 5


class Findings(msgspec.Struct, kw_only=True):
    made: int
    """Scans, by all devices."""
    kept: int
    """The scans that the server stored."""
    missing: list[UUID]
    """Made, and not kept."""
    repeated: list[UUID]
    """Kept more than once."""
    strange: list[UUID]
    """Kept, and made by no device."""
    changed: list[UUID]
    """The scans that their device still has to deliver, or could not."""
    unnoticed: list[UUID]
    """Tickets with which more than one was let in, and of which there is no conflict."""
    double: int
    """Tickets with which more than one was let in."""

    @property
    def is_sound(self) -> bool:
        return not (self.missing or self.repeated or self.strange or self.changed or self.unnoticed)


def findings_of(
    posts: Sequence[Post], listed: Sequence[ListedScan], conflicts: Sequence[ListedConflict]
) -> Findings:
    logged = [scan for post in posts for scan in post.device.store.scans()]
    made, kept = {scan.scan_id for scan in logged}, Counter(scan.id for scan in listed)
    double = _let_in_twice(logged)
    noticed = {each.ticket_id for each in conflicts}
    return Findings(
        made=len(logged),
        kept=len(listed),
        missing=sorted(made - kept.keys()),
        repeated=sorted(scan_id for scan_id, count in kept.items() if count > 1),
        strange=sorted(kept.keys() - made),
        changed=[scan.scan_id for scan in logged if scan.sync_status != "synced"],
        unnoticed=sorted(double - noticed),
        double=len(double),
    )


def _let_in_twice(logged: Sequence[LoggedScan]) -> set[UUID]:
    """Tickets with which somebody came in, and then somebody else: nobody had left in between."""
    double: set[UUID] = set()
    last: dict[UUID, Direction] = {}
    for scan in sorted(logged, key=lambda each: each.scanned_at_corrected):
        if scan.ticket_id is None or scan.outcome != "valid":
            continue
        if scan.direction == "entry" and last.get(scan.ticket_id) == "entry":
            double.add(scan.ticket_id)
        last[scan.ticket_id] = scan.direction
    return double


def show(
    console: Console,
    posts: Sequence[Post],
    listed: Sequence[ListedScan],
    conflicts: Sequence[ListedConflict],
    findings: Findings,
) -> None:
    console.print(_outcomes(posts, listed))
    kinds = Counter((each.kind, each.severity) for each in conflicts)
    told = ", ".join(f"{count} {kind} ({severity})" for (kind, severity), count in kinds.items())
    console.print(f"Conflicts: {told or 'none'}")
    console.print(
        f"Tickets with which two were let in, at gates that could not ask: {findings.double}"
    )
    for post in posts:
        for fault in post.faults[:SHOWN_MAX]:
            console.print(f"  {post.gate.code}: {fault}", style="red")
    for name, found in (
        ("made by a device and not kept by the server", findings.missing),
        ("kept more than once", findings.repeated),
        ("kept though no device made it", findings.strange),
        ("not brought", findings.changed),
        ("let in twice, and no conflict", findings.unnoticed),
    ):
        if found:
            console.print(
                f"{len(found)} {name}: {', '.join(map(str, found[:SHOWN_MAX]))}", style="red"
            )
    if findings.is_sound:
        console.print(
            f"Nothing was lost: {findings.made} scans were made, "
            f"{findings.kept} are kept, every one of them once.",
            style="bold green",
        )
    else:
        console.print("Something is wrong.", style="bold red")


def _outcomes(posts: Sequence[Post], listed: Sequence[ListedScan]) -> Table:
    """The answers by kind of visitor, and their resolutions by the server."""
    table = Table(box=SIMPLE_HEAD)
    resolution = {scan.id: scan.status for scan in listed}
    for column in ("visitor", "came", "let in", "sent away", "decided alone", "stand"):
        table.add_column(column, justify="left" if column == "visitor" else "right")
    answers = [each for post in posts for each in post.answers]
    for kind in sorted({visit.kind for visit, _ in answers}):
        mine = [answer for visit, answer in answers if visit.kind == kind]
        green = sum(answer.colour == "green" for answer in mine)
        alone = sum(answer.is_offline for answer in mine)
        stand = sum(resolution.get(answer.scan_id) == "admitted" for answer in mine)
        cells = (len(mine), green, len(mine) - green, alone, stand)
        table.add_row(kind, *map(str, cells))
    return table
