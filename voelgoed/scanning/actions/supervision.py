"""What supervisors do: let in by hand, take an admission back, mark, reset and void tickets."""

from collections.abc import Sequence
from uuid import UUID

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller
from voelgoed.events.actions.events import event_of
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.ids import new_id
from voelgoed.scanning.actions.scan_desk import ScanDesk
from voelgoed.scanning.actions.wishes import Override, Wanted
from voelgoed.scanning.model.occupancy import Passage
from voelgoed.scanning.model.refusals import ScanNotAdmitted, ScanNotFound, SearchTooShort
from voelgoed.scanning.model.scans import Answer
from voelgoed.scanning.model.supervision import (
    Annulment,
    EventOccupancy,
    ManualAdmission,
    PastScan,
    TicketAtGate,
    TicketTransition,
)
from voelgoed.scanning.rules.answers import percent_full
from voelgoed.scanning.rules.decision import day_of
from voelgoed.scanning.rules.messages import corrected, gate_topic
from voelgoed.scanning.rules.presented import read_presented
from voelgoed.scanning.rules.replay import replay
from voelgoed.scanning.rules.tally import Tally
from voelgoed.scanning.store import occupancy, scans
from voelgoed.scanning.store.scans import Annulled
from voelgoed.seating.rules.messages import occupancy_topic
from voelgoed.ticketing.actions import admissions
from voelgoed.ticketing.actions.checkout import Checkout
from voelgoed.ticketing.actions.refunds import void_ticket
from voelgoed.ticketing.model.admissions import ScannedTicket
from voelgoed.ticketing.model.orders import Because
from voelgoed.ticketing.model.refusals import TicketNotValid
from voelgoed.ticketing.model.tickets import TicketStatus

SEARCH_CHARACTERS_MIN = 3
FOUND_MAX = 20
SCANS_SHOWN_MAX = 100


async def admit_by_hand(
    database: Database, desk: ScanDesk, caller: Caller, new: ManualAdmission
) -> Answer:
    """Whatever the rule says of gate, time, limits and window. It is a scan like any other, with who
    wanted it and why."""
    now = database.clock.now()
    wanted = Wanted(
        caller=caller,
        by=Override(new.gate_id, new.reason),
        scan_id=new.scan_id or new_id(),
        given=new.ticket_code.strip(),
        presented=read_presented(new.ticket_code),
        direction=new.direction,
        scanned_at=now,
        received_at=now,
    )
    return await desk.submit(wanted)


async def annul(database: Database, caller: Caller, scan_id: UUID, new: Annulment) -> None:
    """The turnstile refused, it was the wrong person: as if this admission had not been. Twice is
    once."""
    async with database.transaction(caller.organization_id) as tx:
        found = await scans.find_scans(tx, [scan_id])
        if not found:
            raise ScanNotFound()
        [scan] = found
        if scan.status != "admitted" or scan.ticket_id is None:
            raise ScanNotAdmitted()
        ticket = await admissions.lock_ticket(tx, scan.ticket_id)
        before = await scans.find_passages(tx, ticket.id)
        after = [each for each in before if each.id != scan_id]
        if len(after) == len(before):
            return
        await _tell_again(tx, caller, ticket, ticket.status, before, after, new.reason)
        changes: dict[str, object] = {"ticket_id": ticket.id, "reason": new.reason}
        await record(tx, caller, "admission_annulled", "Scan", scan_id, changes)


async def move_ticket(
    database: Database, checkout: Checkout, caller: Caller, ticket_id: UUID, new: TicketTransition
) -> None:
    if new.to == "voided":
        await void_ticket(checkout, caller, ticket_id, Because(reason=new.reason))
        return
    async with database.transaction(caller.organization_id) as tx:
        ticket = await admissions.lock_ticket(tx, ticket_id)
        if ticket.status not in ("active", "scanned", "used"):
            raise TicketNotValid(status=ticket.status)
        passages = await scans.find_passages(tx, ticket.id)
        left = passages if new.to == "used" else []
        if ticket.status == new.to and len(left) == len(passages):
            return
        await _tell_again(tx, caller, ticket, new.to, passages, left, new.reason)
        action = "ticket_marked_used" if new.to == "used" else "ticket_reset"
        changes: dict[str, object] = {
            "status": {"from": ticket.status, "to": new.to},
            "reason": new.reason,
        }
        await record(tx, caller, action, "Ticket", ticket_id, changes)


async def _tell_again(
    tx: Transaction,
    caller: Caller,
    ticket: ScannedTicket,
    status: TicketStatus,
    before: Sequence[Passage],
    after: Sequence[Passage],
    reason: str,
) -> None:
    """Of a ticket that is locked: its story without some of its admissions, and what that does to
    the counts. Every cache forgets what it knew of it."""
    assert caller.id is not None
    left = {each.id for each in after}
    annulled = [each for each in before if each.id not in left]
    if annulled:
        who = Annulled(caller.id, reason)
        ids = [each.id for each in annulled]
        await scans.insert_annulments(tx, ids, ticket.id, ticket.event_id, who)
    tally = Tally()
    _, moves_before = replay(tally, ticket.id, status, before)
    attendance, moves_after = replay(tally, ticket.id, status, after)
    for move in moves_before:
        tally.take_back(move)
    for move in moves_after:
        tally.add(move)
    if changes := tally.changes():
        await occupancy.add_counts(tx, changes)
    await admissions.write_attendance(tx, [attendance])
    tx.drop(admissions.last_scan_key(tx.organization_id, ticket.code))
    for gate_id in {each.gate_id for each in annulled}:
        tx.publish(gate_topic(gate_id), corrected(ticket.id, ticket.code))
    topic = occupancy_topic(tx.organization_id, ticket.event_id)
    tx.publish(topic, corrected(ticket.id, ticket.code))


async def find_tickets(
    database: Database, caller: Caller, event_id: UUID, text: str
) -> list[TicketAtGate]:
    """Nothing is listed that was not searched for."""
    if len(text.strip()) < SEARCH_CHARACTERS_MIN:
        raise SearchTooShort()
    async with database.transaction(caller.organization_id) as tx:
        await event_of(tx, event_id)
        found = await admissions.search(tx, event_id, text, FOUND_MAX)
        changes: dict[str, object] = {"found": len(found)}
        await record(tx, caller, "tickets_searched", "Event", event_id, changes)
    return [
        TicketAtGate(
            ticket_id=each.id,
            ticket_code=each.code,
            status=each.status,
            status_reason=each.status_reason,
            seat_label=each.seat_label,
            zone_id=each.zone_id,
            entries=each.scan_count,
            is_inside=each.is_inside,
            last_scanned_at=each.last_scanned_at,
            last_gate_name=each.last_gate_name,
        )
        for each in found
    ]


async def scans_of(database: Database, caller: Caller, ticket_id: UUID) -> list[PastScan]:
    """The newest first."""
    async with database.transaction(caller.organization_id) as tx:
        await admissions.require_ticket(tx, ticket_id)
        return await scans.list_scans_of(tx, ticket_id, SCANS_SHOWN_MAX)


async def read_occupancy(database: Database, caller: Caller, event_id: UUID) -> EventOccupancy:
    async with database.transaction(caller.organization_id) as tx:
        event = await event_of(tx, event_id)
        counts = await occupancy.find_counts(tx, event_id)
    today = day_of(event.days, tx.now) or ""
    current = sum(
        each.inside for each in counts if each.scope == "event" and each.day.isoformat() == today
    )
    return EventOccupancy(
        event_id=event_id,
        day=today,
        current=max(current, 0),
        capacity=event.capacity,
        percent_full=percent_full(max(current, 0), event.capacity),
        counts=counts,
    )
