"""What supervisors do: let in by hand, take an admission back, mark, reset and void tickets."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from uuid import UUID

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller, NewAuditEntry
from voelgoed.events.actions.events import event_of
from voelgoed.events.actions.gates import gates_of
from voelgoed.infra.database import ChangedMeanwhile, Database, Transaction
from voelgoed.infra.ids import new_id
from voelgoed.infra.refusal import StorageBusy
from voelgoed.scanning.actions.history_commit import commit_history, forget_last_scans
from voelgoed.scanning.actions.scan_pipeline import ScanPipeline
from voelgoed.scanning.model.admission import Override, ScanRequest
from voelgoed.scanning.model.refusals import ScanNotAdmitted, ScanNotFound, SearchTooShort
from voelgoed.scanning.model.scan_history import HistoryScan
from voelgoed.scanning.model.scans import Answer
from voelgoed.scanning.model.supervision import (
    Annulment,
    EventOccupancy,
    GatePresence,
    ManualAdmission,
    PastScan,
    TicketAtGate,
    TicketTransition,
)
from voelgoed.scanning.model.sync_facts import SyncFacts, question_about_scans
from voelgoed.scanning.rules.answers import percent_full
from voelgoed.scanning.rules.history_plan import HistoryPlanner
from voelgoed.scanning.rules.messages import corrected, gate_topic, recounted
from voelgoed.scanning.rules.occupancy import at_gate, presence_at
from voelgoed.scanning.rules.presented import read_presented
from voelgoed.scanning.rules.reconcile import frozen_prefix
from voelgoed.scanning.store import occupancy, occupancy_resets, offline, scans
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
ATTEMPTS_MAX = 10


async def admit_by_hand(
    database: Database, pipeline: ScanPipeline, caller: Caller, new: ManualAdmission
) -> Answer:
    """Whatever the rule says of gate, time, limits and window. It is a scan like any other, with who
    asked for it and why."""
    now = database.clock.now()
    scan_id = UUID(new.scan_id) if new.scan_id else new_id()
    request = ScanRequest(
        caller=caller,
        by=Override(new.gate_id, new.reason),
        scan_id=scan_id,
        sent_id=new.scan_id or str(scan_id),
        audit_id=new_id(),
        text=new.ticket_code.strip(),
        presented=read_presented(new.ticket_code),
        direction=new.direction,
        scanned_at=now,
        received_at=now,
    )
    return await pipeline.submit(request)


async def annul(database: Database, caller: Caller, scan_id: UUID, new: Annulment) -> None:
    """The turnstile refused, it was the wrong person: as if this admission had not been. Twice is
    once. Whoever was let in with the same ticket and did not count because of it, counts then."""
    await _until_unchanged(partial(_annul, database, caller, scan_id, new))


async def _until_unchanged(attempt: Callable[[], Awaitable[None]]) -> None:
    """Again where the venue was declared empty meanwhile."""
    for _ in range(ATTEMPTS_MAX):
        try:
            return await attempt()
        except ChangedMeanwhile:
            continue
    raise StorageBusy()


async def _annul(database: Database, caller: Caller, scan_id: UUID, new: Annulment) -> None:
    async with database.transaction(caller.organization_id) as tx:
        found = await scans.find_scans(tx, [scan_id])
        if not found:
            raise ScanNotFound()
        [scan] = found
        if scan.ticket_id is None:
            await _annul_without_ticket(tx, caller, scan_id, new)
            return
        await admissions.lock_ticket(tx, scan.ticket_id)
        facts = await offline.read_facts(tx, question_about_scans([scan_id], [scan.ticket_id]))
        [ticket] = facts.tickets
        history = facts.histories.get(ticket.id, ())
        annulled = [each for each in history if each.id == scan_id]
        if not annulled:
            if scan.status == "admitted" or scan_id in facts.annulled:
                return
            raise ScanNotAdmitted()
        changes: dict[str, object] = {"ticket_id": ticket.id, "reason": new.reason}
        entry = NewAuditEntry(caller, "admission_annulled", "Scan", scan_id, changes)
        await _change(tx, facts, ticket, annulled, Annulled(_id(caller), new.reason), entry)


async def _annul_without_ticket(
    tx: Transaction, caller: Caller, scan_id: UUID, new: Annulment
) -> None:
    """Somebody was let in with what is no ticket of ours."""
    facts = await offline.read_facts(tx, question_about_scans([scan_id]))
    scan = facts.known[scan_id]
    if scan_id in facts.annulled:
        return
    if not scan.is_let_in or scan.direction == "exit" or scan.is_waiting or scan.day is None:
        raise ScanNotAdmitted()
    by = Annulled(_id(caller), new.reason)
    if not await scans.insert_annulments(tx, [scan_id], None, scan.event_id, by):
        return  # somebody else was first
    planner = HistoryPlanner(facts, iter(new_id, None), tx.now)
    event = facts.events[scan.event_id]
    planner.take_head(event, scan.scanned_at_canonical, scan.day, scan.gate_id)
    changes: dict[str, object] = {"ticket_code": scan.ticket_code, "reason": new.reason}
    entry = NewAuditEntry(caller, "admission_annulled", "Scan", scan_id, changes)
    await commit_history(tx, caller, planner.plan(), entries=[entry])
    tx.publish(occupancy_topic(tx.organization_id, scan.event_id), recounted(scan.event_id))


async def move_ticket(
    database: Database, checkout: Checkout, caller: Caller, ticket_id: UUID, new: TicketTransition
) -> None:
    if new.to == "voided":
        await void_ticket(checkout, caller, ticket_id, Because(reason=new.reason))
        return
    await _until_unchanged(partial(_move_ticket, database, caller, ticket_id, new))


async def _move_ticket(
    database: Database, caller: Caller, ticket_id: UUID, new: TicketTransition
) -> None:
    async with database.transaction(caller.organization_id) as tx:
        await admissions.lock_ticket(tx, ticket_id)
        facts = await offline.read_facts(tx, question_about_scans(ticket_ids=[ticket_id]))
        [ticket] = facts.tickets
        if ticket.status not in ("active", "scanned", "used"):
            raise TicketNotValid(status=ticket.status)
        history = facts.histories.get(ticket.id, ())
        # Whoever was let in with it at another event is there whatever becomes of the ticket.
        here = [each for each in history if each.event_id == ticket.event_id]
        annulled = [] if new.to == "used" else here
        if ticket.status == new.to and not annulled:
            return
        action = "ticket_marked_used" if new.to == "used" else "ticket_reset"
        changes: dict[str, object] = {
            "status": {"from": ticket.status, "to": new.to},
            "reason": new.reason,
        }
        entry = NewAuditEntry(caller, action, "Ticket", ticket_id, changes)
        by = Annulled(_id(caller), new.reason)
        await _change(tx, facts, ticket, annulled, by, entry, status=new.to)


async def _change(
    tx: Transaction,
    facts: SyncFacts,
    ticket: ScannedTicket,
    annulled: Sequence[HistoryScan],
    by: Annulled,
    entry: NewAuditEntry,
    *,
    status: TicketStatus | None = None,
) -> None:
    """The history of a ticket that is locked, without some of its scans. What came after the first of them
    is judged anew, as if they had never been, so it does not matter when they were annulled."""
    gone = {each.id for each in annulled}
    if annulled:
        await scans.insert_annulments(tx, list(gone), ticket.id, annulled[0].event_id, by)
    before = facts.histories.get(ticket.id, ())
    after = [each for each in before if each.id not in gone]
    planner = HistoryPlanner(facts, iter(new_id, None), tx.now)
    event = facts.events[ticket.event_id]
    frozen = frozen_prefix(before, gone)
    planner.change(ticket, event, before, after, frozen, is_locked=True, status=status)
    await commit_history(tx, entry.caller, planner.plan(), entries=[entry])
    forget_last_scans(tx, [ticket.code])
    for gate_id in {each.gate_id for each in annulled}:
        tx.publish(gate_topic(gate_id), corrected(ticket.id, ticket.code))
    for event_id in {ticket.event_id, *(each.event_id for each in annulled)}:
        topic = occupancy_topic(tx.organization_id, event_id)
        tx.publish(topic, corrected(ticket.id, ticket.code))


def _id(caller: Caller) -> UUID:
    assert caller.id is not None
    return caller.id


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
        gates = await gates_of(tx, event_id)
        facts = await occupancy.read_occupancy_facts(tx, event_id)
        emptied = await occupancy_resets.find_last_reset(tx, event_id)
    present = presence_at(facts, tx.now)
    return EventOccupancy(
        event_id=event_id,
        day=present.today.isoformat() if present.today else "",
        current=present.event.inside,
        irregular=present.event.irregular,
        capacity=event.capacity,
        percent_full=percent_full(present.event.inside, event.capacity),
        gates=[
            GatePresence(
                gate_id=gate.id,
                inside=at_gate(present, gate.id).inside,
                irregular=at_gate(present, gate.id).irregular,
                is_limited=gate.id in facts.limited_gates,
            )
            for gate in gates
        ],
        counts=facts.counts,
        emptied_at=emptied and emptied.at,
        emptied_by_id=emptied and emptied.actor_id,
    )
