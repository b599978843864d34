"""Tickets at the gates: what scanning, which decides, may read and write of them."""

import datetime as dt
import re
from collections.abc import Sequence
from uuid import UUID

from voelgoed.infra.database import Transaction
from voelgoed.infra.keys import key
from voelgoed.ticketing.model.admissions import (
    Attendance,
    FoundTicket,
    ScannedTicket,
)
from voelgoed.ticketing.model.refusals import TicketNotFound
from voelgoed.ticketing.rules.codes import read_code, read_order_number
from voelgoed.ticketing.store import admissions as store
from voelgoed.ticketing.store import event_keys


def last_scan_key(organization_id: UUID, code: str) -> str:
    """Under which the caches remember that somebody just came in with it."""
    return key(organization_id, "ticket", code, "last_scan")


async def find_by_codes(tx: Transaction, codes: Sequence[str]) -> list[ScannedTicket]:
    return await store.find_by_codes(tx, codes) if codes else []


async def lock_ticket(tx: Transaction, ticket_id: UUID) -> None:
    """Nobody else changes it until the transaction ends."""
    if await store.lock_code(tx, ticket_id) is None:
        raise TicketNotFound()


async def require_ticket(tx: Transaction, ticket_id: UUID) -> None:
    if not await store.find_places(tx, [ticket_id]):
        raise TicketNotFound()


async def search(tx: Transaction, event_id: UUID, text: str, limit: int) -> list[FoundTicket]:
    """By code, by the number of the order, or by the beginning of a name in it."""
    code, number, name = read_code(text), read_order_number(text), _pattern(text)
    found = await store.search(tx, event_id, code, number, name, limit)
    if not found and (code or number):  # as which some names pass: Bartholomeus, Elizabeth
        found = await store.search(tx, event_id, None, None, name, limit)
    return found


def _pattern(text: str) -> str:
    """What is typed is not a pattern."""
    return re.sub(r"([\\%_])", r"\\\1", text.strip())


async def count_to_come(tx: Transaction, event_id: UUID, day: dt.date) -> int:
    return await store.count_to_come(tx, event_id, day)


async def write_attendance(tx: Transaction, attendance: Sequence[Attendance]) -> None:
    if attendance:
        await store.write_attendance(tx, attendance)


async def public_keys_of(tx: Transaction, event_id: UUID) -> dict[int, bytes]:
    """By number; of those that sign no more, too."""
    return {key.number: key.public_key for key in await event_keys.list_keys(tx, event_id)}
