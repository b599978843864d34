"""Tickets at the gates: what scanning, which decides, may read and write of them."""

from collections.abc import Sequence
from uuid import UUID

from voelgoed.infra.database import Transaction
from voelgoed.infra.keys import key
from voelgoed.ticketing.model.admissions import Attendance, ScannedTicket
from voelgoed.ticketing.store import admissions as store
from voelgoed.ticketing.store import event_keys


def last_scan_key(organization_id: UUID, code: str) -> str:
    """Under which the caches remember that somebody just came in with it."""
    return key(organization_id, "ticket", code, "last_scan")


async def lock_by_codes(tx: Transaction, codes: Sequence[str]) -> list[ScannedTicket]:
    return await store.lock_by_codes(tx, codes)


async def write_attendance(tx: Transaction, attendance: Sequence[Attendance]) -> None:
    if attendance:
        await store.write_attendance(tx, attendance)


async def public_keys_of(tx: Transaction, event_id: UUID) -> dict[int, bytes]:
    """By number; of those that sign no more, too."""
    return {key.number: key.public_key for key in await event_keys.list_keys(tx, event_id)}


async def seats_of(tx: Transaction, ticket_ids: Sequence[UUID]) -> dict[UUID, UUID | None]:
    """By ticket."""
    return {each.id: each.seat_id for each in await store.find_seats(tx, ticket_ids)}
