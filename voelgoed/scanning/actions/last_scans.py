"""Who came in a moment ago, as this process and Redis remember it.

It may deny a second entry early, for as long as the event's window is; it never admits. What is
wrong with a ticket besides, PostgreSQL says: whatever changes a ticket drops what is remembered of it.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

import msgspec

from voelgoed.infra.cache import Cache, Command
from voelgoed.infra.keys import key
from voelgoed.scanning.model.scans import Scan
from voelgoed.ticketing.actions.admissions import last_scan_key

RECENT_S = 300
"""How long an event's recent entries are kept, and their key after the last of them."""


class LastScan(msgspec.Struct, frozen=True, kw_only=True):
    """Of an entry. Redis remembers only the first three."""

    scan_id: UUID
    gate_id: UUID
    scan_at: datetime
    tier: Literal["hot", "warm"]
    ticket_id: UUID | None = None
    event_id: UUID | None = None
    zone_id: UUID | None = None
    gate_name: str | None = None
    barcode_hash: str | None = None
    """Of the ticket's only valid barcode."""


class Entered(msgspec.Struct, frozen=True):
    scan: Scan
    barcode_hash: str
    window_s: int


def recent_key(organization_id: UUID, event_id: UUID) -> str:
    """An event's entries of the last minutes, by their time."""
    return key(organization_id, "event", event_id, "scans", "recent")


class LastScans:
    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def hot(self, organization_id: UUID, code: str) -> LastScan | None:
        return self._cache.hot(last_scan_key(organization_id, code), LastScan)

    @property
    def has_warm(self) -> bool:
        return self._cache.has_warm

    async def warm(self, organization_id: UUID, codes: Sequence[str]) -> list[LastScan | None]:
        keys = [last_scan_key(organization_id, code) for code in codes]
        return [_read(value) for value in await self._cache.warm(keys)]

    async def remember(
        self, organization_id: UUID, entries: Sequence[Entered], begun: float
    ) -> None:
        """After the commit: what is not committed was not. Nor was what somebody took back since."""
        entries = [
            each
            for each in entries
            if not self._cache.was_forgotten(
                last_scan_key(organization_id, each.scan.ticket_code), since=begun
            )
        ]
        for entered in entries:
            scan = entered.scan
            last = LastScan(
                scan_id=scan.id,
                gate_id=scan.gate_id,
                scan_at=scan.scanned_at_canonical,
                tier="hot",
                ticket_id=scan.ticket_id,
                event_id=scan.event_id,
                zone_id=scan.zone_id,
                gate_name=scan.gate_name,
                barcode_hash=entered.barcode_hash,
            )
            self._cache.put_hot(
                last_scan_key(organization_id, scan.ticket_code), last, ttl_s=entered.window_s
            )
        if self._cache.has_warm:
            await self._cache.tell_warm(_commands(organization_id, entries))


def _commands(organization_id: UUID, entries: Sequence[Entered]) -> list[Command]:
    commands: list[Command] = []
    newest: dict[str, int] = {}
    for entered in entries:
        scan = entered.scan
        at = int(scan.scanned_at_canonical.timestamp())
        recent = recent_key(organization_id, scan.event_id)
        commands.append(
            ("ZADD", recent, at, f"{scan.ticket_id}:{scan.device_id or ''}:{scan.gate_id}")
        )
        newest[recent] = max(at, newest.get(recent, at))
        if entered.window_s:
            value = f"{scan.id}:{scan.gate_id}:{at}"
            text_key = last_scan_key(organization_id, scan.ticket_code)
            commands.append(("SET", text_key, value, "EX", entered.window_s))
    for recent, at in newest.items():
        commands.append(("ZREMRANGEBYSCORE", recent, "-inf", at - RECENT_S))
        commands.append(("EXPIRE", recent, RECENT_S))
    return commands


def _read(value: bytes | None) -> LastScan | None:
    if value is None:
        return None
    try:
        scan_id, gate_id, at = value.decode().split(":")
        scan_at = datetime.fromtimestamp(int(at), UTC)
        return LastScan(scan_id=UUID(scan_id), gate_id=UUID(gate_id), scan_at=scan_at, tier="warm")
    except (ValueError, OverflowError):
        return None  # not written by us
