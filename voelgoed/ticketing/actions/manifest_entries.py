"""Tickets as scanning, which keeps the manifests, has them told to devices."""

from uuid import UUID

from voelgoed.infra.database import Transaction
from voelgoed.ticketing.model.manifest_entries import Entries, Seen
from voelgoed.ticketing.model.ticket_types import TicketType
from voelgoed.ticketing.store import manifest_entries as store
from voelgoed.ticketing.store import ticket_types

PAGE = 20_000
"""Tickets. More at once would keep this process from answering others for too long."""
BEFORE_ALL = UUID(int=0)
ALWAYS_ANOTHER = ""
"""No fingerprint is the same."""
ID = slice(len('{"ticket_id":"'), len('{"ticket_id":"') + 36)


async def changed_entries(
    tx: Transaction, event_id: UUID, code_key: bytes, before: Seen | None
) -> Entries:
    """Of at least those tickets that are otherwise than they were seen before; of all the first time,
    and when something is otherwise that is not of a single ticket."""
    pages = await _pages(tx, event_id, code_key, before)
    fingerprints = {page.fingerprint for page in pages}
    if before is not None and len(fingerprints) > 1:  # some pages were of all, others not
        pages = await _pages(tx, event_id, code_key, None)
        fingerprints = {page.fingerprint for page in pages}
        before = None
    fingerprint = pages[0].fingerprint if len(fingerprints) == 1 else ALWAYS_ANOTHER
    return Entries(
        texts=[text for page in pages for text in page.texts],
        is_all=before is None or before.fingerprint != fingerprint,
        # Of the first page: who was not over then may have been seen by the later ones or not.
        seen=Seen(fingerprint=fingerprint, seen_xid=pages[0].seen_xid),
    )


async def _pages(
    tx: Transaction, event_id: UUID, code_key: bytes, before: Seen | None
) -> list[store.EntriesPage]:
    pages: list[store.EntriesPage] = []
    after = BEFORE_ALL
    while True:
        page = await store.list_changed(tx, event_id, code_key, before, after, PAGE)
        pages.append(page)
        if len(page.texts) < PAGE:
            return pages
        after = UUID(page.texts[-1][ID])


async def types_at(tx: Transaction, event_id: UUID) -> list[TicketType]:
    """By their numbers."""
    return await ticket_types.list_types(tx, event_id)
