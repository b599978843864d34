"""A few thousand lines of a file of tickets, in one transaction: looked at, decided, signed, written.

What others sell at the same time is left alone as long as possible: the rows that everybody who buys
needs are locked last. If somebody was faster, all of it is rolled back and decided anew.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date
from secrets import token_bytes
from uuid import UUID

import msgspec

from voelgoed.events.actions.events import changeable_event
from voelgoed.events.model import Event
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database, Transaction, refusing
from voelgoed.infra.ids import new_id
from voelgoed.infra.master_key import MasterKey
from voelgoed.seating.actions import sold_elsewhere
from voelgoed.seating.actions.sold_elsewhere import Look
from voelgoed.seating.actions.views import View, require_same_view, see_any
from voelgoed.seating.model.refusals import EventLayoutNotFound, SeatsChangedMeanwhile
from voelgoed.seating.rules.rooms import Rooms
from voelgoed.ticketing.actions.event_keys import Signer, signer_for
from voelgoed.ticketing.actions.ticket_types import take
from voelgoed.ticketing.model.imports import (
    FAULTS_MAX,
    Identity,
    ImportFault,
    Record,
    TicketImport,
    TicketRow,
)
from voelgoed.ticketing.model.refusals import TicketTypeNotFound, TicketTypeSoldOut
from voelgoed.ticketing.model.ticket_types import TicketType
from voelgoed.ticketing.rules.codes import CODE_RANDOM_BYTES, code_from
from voelgoed.ticketing.rules.import_ledger import File, Known, Room, Sorted, sort_out
from voelgoed.ticketing.rules.imports import Draft, Names, draft_of
from voelgoed.ticketing.rules.prices import left_of
from voelgoed.ticketing.store import imported_tickets, imports
from voelgoed.ticketing.store.imports import Progress, Reached
from voelgoed.ticketing.store.ticket_types import list_types, lock_event
from voelgoed.ticketing.store.tickets import NewTicket, insert_tickets

RETRY_AFTER_S = (0.010, 0.020, 0.040, 0.080, 0.160, 0.320)
SPLIT_ROWS_MIN = 100
TOLD_EVERY_S = 1.0
"""Whoever watches the map of seats."""

PlacesTaken = Counter[tuple[UUID, tuple[date, ...]]]
New = tuple[Draft, Identity | None]


class TakenOver(Exception):
    """Somebody else works on this import, or it is over."""


class Context(msgspec.Struct, frozen=True):
    """With what an import is worked on."""

    database: Database
    cache: Cache
    master_key: MasterKey


class Batches:
    """The batches of one import, one after the other."""

    def __init__(self, context: Context, imported: TicketImport, organization_id: UUID, file: File):
        self._database = context.database
        self._cache = context.cache
        self._master_key = context.master_key
        self._organization_id = organization_id
        self._import = imported
        self._file = file
        self._signed: dict[int, tuple[Draft, NewTicket]] = {}
        """By line: to sign takes longest, so what is decided anew is not signed anew."""
        self._signer: Signer | None = None
        self._signs_ahead: tuple[Names, Signer] | None = None
        self._untold: list[int] | None = []
        """Seats that were sold since somebody was told; None for those of a run before this."""
        self._is_untold = False
        """Whether anything was sold since, seats or places."""
        self._told_at_s = 0.0
        self._pretended_places: PlacesTaken = Counter()
        self._pretended_types: Counter[UUID] = Counter()

    async def recall(self, rows: Sequence[Record]) -> None:
        """Lines that were dealt with before this run began."""
        view = await self._view()
        async with self._database.transaction(self._organization_id) as tx:
            event = await changeable_event(tx, self._import.event_id)
            types = await list_types(tx, event.id)
            drafts, _ = await asyncio.to_thread(_read, rows, _names(event, types, view))
            identities = self._file.note(drafts)
            known = await self._known(tx, [], identities)
        self._remember(identities, known, [])
        self._untold, self._is_untold = None, True

    async def prepare(self, rows: Sequence[Record]) -> None:
        """Signs lines that come next, while PostgreSQL writes those before them. Only if those
        before were new: a file that is imported again has nothing to sign. What is not so any more
        when their turn comes is signed anew."""
        if self._signs_ahead is not None:
            names, signer = self._signs_ahead
            self._signed |= await asyncio.to_thread(_read_and_sign, rows, names, signer)

    async def do(self, rows: Sequence[Record], rows_before: int, *, is_last: bool) -> None:
        """Raises TakenOver unless exactly the lines before these are done. The more lines, the
        sooner somebody takes one of their seats meanwhile: then it is tried with half of them."""
        try:
            return await self._attempt(rows, rows_before, is_last)
        except SeatsChangedMeanwhile:
            half = len(rows) // 2
        if half < SPLIT_ROWS_MIN:
            return await self._retry(rows, rows_before, is_last)
        await self.do(rows[:half], rows_before, is_last=False)
        return await self.do(rows[half:], rows_before + half, is_last=is_last)

    async def _retry(self, rows: Sequence[Record], rows_before: int, is_last: bool) -> None:
        for pause_s in RETRY_AFTER_S:
            await asyncio.sleep(pause_s)
            with suppress(SeatsChangedMeanwhile):
                return await self._attempt(rows, rows_before, is_last)
        raise SeatsChangedMeanwhile()

    async def _attempt(self, rows: Sequence[Record], rows_before: int, is_last: bool) -> None:
        view = await self._view()
        async with self._database.transaction(self._organization_id) as tx:
            reached = await imports.lock_running(tx, self._import.id)
            if reached is None or reached.rows_read != rows_before:
                raise TakenOver()
            event = await self._hold_still(tx, view)
            types = await list_types(tx, event.id)
            names = _names(event, types, view)
            drafts, faults = await asyncio.to_thread(_read, rows, names)
            identities = self._file.note(drafts)
            try:
                known = await self._known(tx, drafts, identities)
                found = sort_out(drafts, identities, known, self._file)
                faults += found.faults
                created = await self._create(tx, view, types, found.new, faults)
                await self._note(tx, reached, rows, found, created, faults)
                await self._count(tx, view, created)
                told = self._tell(tx, view, created, is_last=is_last)
            except BaseException:
                self._file.unsay(drafts, identities)
                raise
        self._remember(identities, known, created)
        is_mostly_new = 2 * len(created) > len(rows)
        self._signs_ahead = (names, self._signer) if self._signer and is_mostly_new else None
        for row in rows:
            self._signed.pop(row.line, None)
        if told:
            self._untold, self._is_untold, self._told_at_s = [], False, _now_s()
        elif created and not self._import.dry_run:
            self._is_untold = True
            if self._untold is not None:
                self._untold += _positions(created)

    async def _view(self) -> View | None:
        try:
            return await see_any(
                self._database, self._cache, self._organization_id, self._import.event_id
            )
        except EventLayoutNotFound:
            return None

    async def _hold_still(self, tx: Transaction, view: View | None) -> Event:
        """The event and its layout; and only one import of this event goes on at a time."""
        await imports.lock_event_imports(tx, self._import.event_id)
        if view is None:
            await lock_event(tx, self._import.event_id)
        else:
            await require_same_view(tx, view)
        return await changeable_event(tx, self._import.event_id)

    async def _known(
        self, tx: Transaction, drafts: Sequence[Draft], identities: Sequence[Identity | None]
    ) -> Known:
        codes = [draft.code for draft in drafts if draft.code is not None]
        seats = [draft.seat_id for draft in drafts if draft.seat_id and draft.code is None]
        wanted = [each for each in identities if each is not None]
        event_id = self._import.event_id
        by_code = await imported_tickets.find_by_codes(tx, codes) if codes else []
        by_seat = await imported_tickets.find_by_seats(tx, event_id, seats) if seats else []
        references = list({each.reference for each in wanted})
        return Known(
            by_code={ticket.code: ticket for ticket in by_code},
            by_seat={ticket.seat_id: ticket for ticket in by_seat if ticket.seat_id},
            identities=await imported_tickets.find_identities(tx, event_id, wanted)
            if wanted
            else set(),
            identities_of=await imported_tickets.count_identities(tx, event_id, references)
            if wanted
            else {},
        )

    async def _create(
        self,
        tx: Transaction,
        view: View | None,
        types: Sequence[TicketType],
        new: Sequence[New],
        faults: list[ImportFault],
    ) -> list[New]:
        """Those that there is room for; the others are added to the faults."""
        if not new:
            return []
        if not self._import.dry_run:
            await self._sign(tx, [draft for draft, _ in new])
        look = await self._look(tx, view, [draft for draft, _ in new])
        room = self._room(tx, view, look, types)
        fitting: list[New] = []
        for draft, identity in new:
            if (fault := room.refuse(draft)) is not None:
                faults.append(fault)
            else:
                fitting.append((draft, identity))
        if self._import.dry_run:
            self._pretend(fitting)
        elif fitting:
            await self._write(tx, view, look, fitting)
        return fitting

    async def _sign(self, tx: Transaction, drafts: Sequence[Draft]) -> None:
        self._signer = signer = await signer_for(tx, self._master_key, self._import.event_id)
        signed = self._signed
        wanted = [
            draft
            for draft in drafts
            if draft.line not in signed
            or signed[draft.line][0] != draft
            or signed[draft.line][1].key_number != signer.key_number
        ]
        self._signed |= await asyncio.to_thread(_sign_all, wanted, signer)

    async def _look(self, tx: Transaction, view: View | None, drafts: Sequence[Draft]) -> Look:
        if view is None:
            return Look({}, Rooms([]))
        positions = [draft.position for draft in drafts if draft.position is not None]
        look = await sold_elsewhere.look(tx, view, positions)
        for (zone_id, days), count in self._pretended_places.items():
            look.rooms.take(zone_id, days, count)
        return look

    def _room(
        self, tx: Transaction, view: View | None, look: Look, types: Sequence[TicketType]
    ) -> Room:
        left = {
            each.id: None
            if (left := left_of(each)) is None
            else left - self._pretended_types[each.id]
            for each in types
        }
        return Room({} if view is None else look.statuses(view, tx.now), look.rooms, left)

    def _pretend(self, fitting: Sequence[New]) -> None:
        self._pretended_places += _places(draft for draft, _ in fitting)
        self._pretended_types += Counter(draft.ticket_type_id for draft, _ in fitting)

    async def _write(
        self, tx: Transaction, view: View | None, look: Look, fitting: Sequence[New]
    ) -> None:
        event_id = self._import.event_id
        tickets = {draft.line: self._signed[draft.line][1] for draft, _ in fitting}
        drafts = [draft for draft, _ in fitting]
        seats = {
            each.position: tickets[each.line].id for each in drafts if each.position is not None
        }
        if view is not None:
            await sold_elsewhere.sell_seats(tx, view, look, seats)
        with (
            refusing("ticket_code_taken", SeatsChangedMeanwhile),
            refusing("ticket_organization_id_ticket_type_id_fkey", SeatsChangedMeanwhile),
        ):
            await insert_tickets(tx, list(tickets.values()))
        named = {each: tickets[draft.line].id for draft, each in fitting if each is not None}
        if named:
            await imported_tickets.insert_identities(tx, event_id, named)

    async def _note(
        self,
        tx: Transaction,
        reached: Reached,
        rows: Sequence[Record],
        found: Sorted,
        created: Sequence[New],
        faults: list[ImportFault],
    ) -> None:
        faults.sort(key=lambda fault: fault.line)
        kept = faults[: max(0, FAULTS_MAX - reached.faults_kept)]
        if kept:
            await imports.insert_faults(tx, self._import.id, reached.faults_kept, kept)
        progress = Progress(
            rows=len(rows),
            created=len(created),
            unchanged=found.unchanged,
            faulty=len({fault.line for fault in faults}),
            faults_kept=len(kept),
        )
        await imports.add_progress(tx, self._import.id, progress)

    async def _count(self, tx: Transaction, view: View | None, created: Sequence[New]) -> None:
        """Last of all, for everybody who buys waits for these rows."""
        if self._import.dry_run or not created:
            return
        if view is not None:
            await sold_elsewhere.sell_places(tx, view, _places(draft for draft, _ in created))
        try:
            await take(tx, Counter(draft.ticket_type_id for draft, _ in created))
        except (TicketTypeSoldOut, TicketTypeNotFound):
            raise SeatsChangedMeanwhile() from None

    def _tell(
        self, tx: Transaction, view: View | None, created: Sequence[New], *, is_last: bool
    ) -> bool:
        if view is None or self._import.dry_run or not (created or self._is_untold):
            return False
        if not is_last and _now_s() < self._told_at_s + TOLD_EVERY_S:
            return False
        untold = None if self._untold is None else self._untold + _positions(created)
        sold_elsewhere.publish_sold(tx, view, untold)
        return True

    def _remember(
        self, identities: Sequence[Identity | None], known: Known, created: Sequence[New]
    ) -> None:
        """After the commit: these are no tickets that the file says nothing of."""
        self._file.imported.update(
            each.reference for each in identities if each and each in known.identities
        )
        if not self._import.dry_run:
            self._file.imported.update(each.reference for _, each in created if each is not None)


def _now_s() -> float:
    return asyncio.get_running_loop().time()


def _names(event: Event, types: Sequence[TicketType], view: View | None) -> Names:
    return Names(event, types) if view is None else Names(event, types, view.zones, view.plan)


def _read(rows: Iterable[Record], names: Names) -> tuple[list[Draft], list[ImportFault]]:
    drafts: list[Draft] = []
    faults: list[ImportFault] = []
    for row in rows:
        draft = draft_of(row, names) if isinstance(row, TicketRow) else [row]
        if isinstance(draft, Draft):
            drafts.append(draft)
        else:
            faults += draft
    return drafts, faults


def _positions(created: Iterable[New]) -> list[int]:
    return [draft.position for draft, _ in created if draft.position is not None]


def _places(drafts: Iterable[Draft]) -> PlacesTaken:
    return Counter(
        (draft.zone_id, draft.days)
        for draft in drafts
        if draft.position is None and draft.zone_id is not None
    )


def _read_and_sign(
    rows: Iterable[Record], names: Names, signer: Signer
) -> dict[int, tuple[Draft, NewTicket]]:
    return _sign_all(_read(rows, names)[0], signer)


def _sign_all(drafts: Iterable[Draft], signer: Signer) -> dict[int, tuple[Draft, NewTicket]]:
    return {draft.line: (draft, _signed(draft, signer)) for draft in drafts}


def _signed(draft: Draft, signer: Signer) -> NewTicket:
    ticket_id = new_id()
    code = draft.code or code_from(token_bytes(CODE_RANDOM_BYTES))
    _, barcode_hash = signer.sign(
        code,
        ticket_id=ticket_id,
        issue=1,
        ticket_type_number=draft.ticket_type_number,
        zone_number=draft.zone_number,
        days=draft.days_mask,
        seat_label=draft.seat_label or "",
    )
    return NewTicket(
        id=ticket_id,
        event_id=signer.event_id,
        code=code,
        barcode_hash=barcode_hash,
        key_number=signer.key_number,
        ticket_type_id=draft.ticket_type_id,
        order_id=None,
        order_line=None,
        hold_id=ticket_id if draft.seat_id is not None else None,
        zone_id=draft.zone_id,
        seat_id=draft.seat_id,
        seat_label=draft.seat_label,
        days=list(draft.days),
        zone_number=draft.zone_number,
        days_mask=draft.days_mask,
        holder_name=draft.name,
        holder_email=draft.email,
        price_minor=draft.price_minor,
        associated_membership_id=None,
        external_reference=draft.reference,
    )
