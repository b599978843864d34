"""The most recent entries, as this process and Redis remember them.

They may deny a second entry early, within the event's duplicate window; they never admit. All other
reasons come from PostgreSQL: every change of a ticket drops what is remembered of it.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from voelgoed.infra.cache import Cache, Command
from voelgoed.infra.keys import key
from voelgoed.scanning.model.admission import LastEntry, Override, ScanRequest, TicketEntry
from voelgoed.ticketing.actions.admissions import last_scan_key

RECENT_S = 300
"""How long an event's recent entries are kept, and their key after the last of them."""


def recent_key(organization_id: UUID, event_id: UUID) -> str:
    """An event's entries of the last minutes, by their time."""
    return key(organization_id, "event", event_id, "scans", "recent")


class LastScans:
    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def hot(self, organization_id: UUID, code: str) -> LastEntry | None:
        return self._cache.hot(last_scan_key(organization_id, code), LastEntry)

    async def hints(
        self, organization_id: UUID, requests: Sequence[ScanRequest]
    ) -> dict[str, LastEntry]:
        """What is remembered of tickets with which devices want to enter, by code. Redis knows
        enough only where a barcode says the rest."""
        hints: dict[str, LastEntry] = {}
        unknown: list[str] = []
        for request in requests:
            presented = request.presented
            if presented is None or request.direction == "exit" or isinstance(request.by, Override):
                continue
            last = self.hot(organization_id, presented.code)
            if last is not None:
                hints[presented.code] = last
            elif presented.barcode_hash is not None:
                unknown.append(presented.code)
        if unknown and self._cache.has_warm:
            keys = [last_scan_key(organization_id, code) for code in unknown]
            for code, value in zip(unknown, await self._cache.warm(keys), strict=True):
                if (last := _read(value)) is not None:
                    hints[code] = last
        return hints

    async def remember(
        self, organization_id: UUID, entries: Sequence[TicketEntry], begun: float
    ) -> None:
        """Remembers entries after the commit, because nothing else is sure; entries that were
        annulled since are left out."""
        kept: list[tuple[str, TicketEntry]] = []
        for entry in entries:
            scan = entry.scan
            name = last_scan_key(organization_id, scan.ticket_code)
            if self._cache.was_forgotten(name, since=begun):
                continue
            last = LastEntry(
                scan_id=scan.id,
                gate_id=scan.gate_id,
                scan_at=scan.scanned_at_canonical,
                tier="hot",
                ticket_id=scan.ticket_id,
                event_id=scan.event_id,
                zone_id=scan.zone_id,
                gate_name=scan.gate_name,
                barcode_hash=entry.barcode_hash,
            )
            self._cache.put_hot(name, last, ttl_s=entry.window_s)
            kept.append((name, entry))
        if kept and self._cache.has_warm:
            await self._cache.tell_warm(_commands(organization_id, kept))


def _commands(organization_id: UUID, entries: Sequence[tuple[str, TicketEntry]]) -> list[Command]:
    """The commands that remember each ticket's last entry under its key."""
    commands: list[Command] = []
    newest: dict[str, int] = {}
    for name, entry in entries:
        scan = entry.scan
        at = int(scan.scanned_at_canonical.timestamp())
        recent = recent_key(organization_id, scan.event_id)
        commands.append(
            ("ZADD", recent, at, f"{scan.ticket_id}:{scan.device_id or ''}:{scan.gate_id}")
        )
        newest[recent] = max(at, newest.get(recent, at))
        if entry.window_s:
            value = f"{scan.id}:{scan.gate_id}:{at}"
            commands.append(("SET", name, value, "EX", entry.window_s))
    for recent, at in newest.items():
        commands.append(("ZREMRANGEBYSCORE", recent, "-inf", at - RECENT_S))
        commands.append(("EXPIRE", recent, RECENT_S))
    return commands


def _read(value: bytes | None) -> LastEntry | None:
    if value is None:
        return None
    try:
        scan_id, gate_id, at = value.decode().split(":")
        scan_at = datetime.fromtimestamp(int(at), UTC)
        return LastEntry(scan_id=UUID(scan_id), gate_id=UUID(gate_id), scan_at=scan_at, tier="warm")
    except (ValueError, OverflowError):
        return None  # not written by us
