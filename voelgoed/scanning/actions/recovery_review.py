"""Somebody decides about scans that came from a file. Accepted, they are told in the stories of their
tickets, and it is as if the device had sent them itself."""

import asyncio
import datetime as dt
from collections.abc import Sequence
from uuid import UUID

import msgspec

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller
from voelgoed.infra.database import ChangedMeanwhile, Database, Transaction
from voelgoed.infra.refusal import StorageBusy
from voelgoed.scanning.actions.intake import PAUSE_AFTER
from voelgoed.scanning.actions.recoveries import ATTEMPTS_MAX, require_recovery
from voelgoed.scanning.actions.stories import Stories
from voelgoed.scanning.actions.supervision import facts_of_event
from voelgoed.scanning.model.decisions import EventFacts
from voelgoed.scanning.model.outcomes import Outcome
from voelgoed.scanning.model.recoveries import Imported, Recovery, RecoveryTransition
from voelgoed.scanning.model.refusals import RecoveryReviewed
from voelgoed.scanning.model.scan_history import HistoryScan
from voelgoed.scanning.model.scans import Scan
from voelgoed.scanning.rules.alerts import alerts_topic
from voelgoed.scanning.rules.decision import day_of
from voelgoed.scanning.rules.messages import recounted
from voelgoed.scanning.rules.reconcile import corrected, frozen_prefix
from voelgoed.scanning.rules.recovery import recovery_told
from voelgoed.scanning.store import recoveries as store
from voelgoed.scanning.store import scan_history, scans, syncs
from voelgoed.seating.rules.messages import occupancy_topic
from voelgoed.ticketing.actions import admissions
from voelgoed.ticketing.model.admissions import ScannedTicket


async def review(
    database: Database, caller: Caller, batch_id: UUID, new: RecoveryTransition
) -> Recovery:
    """IdempotencyKey and for all. Twice the same is once."""
    for _ in range(ATTEMPTS_MAX):
        try:
            return await _review(database, caller, batch_id, new)
        except ChangedMeanwhile:
            continue
    raise StorageBusy()


async def _review(
    database: Database, caller: Caller, batch_id: UUID, new: RecoveryTransition
) -> Recovery:
    async with database.transaction(caller.organization_id) as tx:
        before = await require_recovery(tx, batch_id)
        if before.state == new.to:
            return before
        if before.state != "unverified":
            raise RecoveryReviewed(state=before.state)
        if not await store.review(tx, batch_id, new.to, caller.id, new.note):
            raise ChangedMeanwhile()
        retold = Stories()
        if new.to == "accepted":
            await _tell(tx, batch_id, retold)
        await retold.write_tickets(tx)
        await retold.write_rulings(tx)
        await retold.write_conflicts(tx, caller)
        changes: dict[str, object] = {
            "batch_id": batch_id,
            "device_id": before.device_id,
            "state": {"from": before.state, "to": new.to},
            "note": new.note,
            "conflicts": len(retold.conflicts),
        }
        await record(tx, caller, "recovery_reviewed", "BatchSync", before.id, changes)
        message = recovery_told("recovery_reviewed", batch_id, before.device_id, before.kept)
        tx.publish(alerts_topic(before.event_id), message | {"state": new.to})
        for event_id in {each.event_id for each in await retold.write_counts(tx)}:
            tx.publish(occupancy_topic(tx.organization_id, event_id), recounted(event_id))
        return await require_recovery(tx, batch_id)


async def _tell(tx: Transaction, batch_id: UUID, retold: Stories) -> None:
    """What the device did not sign is not told, whatever somebody decides: nobody vouches for it."""
    kept_ids = await store.find_kept_ids(tx, batch_id)
    await scan_history.rule_apart(tx, kept_ids)
    answered = await _answered(tx, batch_id)
    waiting = await scan_history.find_recovered(tx, kept_ids, only_signed=True)
    ticket_ids = {each.ticket_id for each in waiting} | answered.keys()
    codes = await admissions.find_codes(tx, list(ticket_ids))
    tickets, told, recovered = list[ScannedTicket](), list[HistoryScan](), list[HistoryScan]()
    annulled: list[UUID] = []

    async def find_tickets() -> None:
        tickets.extend(await admissions.find_by_codes(tx, codes))

    async def find_histories() -> None:
        told.extend(await scan_history.find_histories(tx, codes))

    async def find_recovered() -> None:
        recovered.extend(await scan_history.find_recovered(tx, kept_ids, only_signed=True))

    async def find_annulled() -> None:
        ids = [scan.id for each in answered.values() for scan, _ in each]
        annulled.extend(await scans.find_annulled(tx, ids))

    # At one moment: whatever is changed after it is noticed by the ticket.
    await tx.gather(find_tickets(), find_histories(), find_recovered(), find_annulled())
    before_by_ticket, new_by_ticket = _by_ticket(told), _by_ticket(recovered)
    events: dict[UUID, EventFacts] = {}
    for at, ticket in enumerate(tickets):
        if ticket.event_id not in events:
            events[ticket.event_id] = await facts_of_event(tx, ticket.event_id)
        event, before = events[ticket.event_id], before_by_ticket.get(ticket.id, [])
        news = {each.id: each for each in new_by_ticket.get(ticket.id, [])}
        for scan, outcome in answered.get(ticket.id, []):
            day = day_of(event.days, scan.scanned_at_canonical)
            assert day is not None
            story = corrected(scan, ticket.id, before, outcome, dt.date.fromisoformat(day))
            if story is not None and scan.id not in annulled:
                news[scan.id] = story
        if news:
            after = [each for each in before if each.id not in news] + list(news.values())
            retold.tell(ticket, event, before, after, frozen_prefix(after, news))
            tx.drop(admissions.last_scan_key(tx.organization_id, ticket.code))
        if at % PAUSE_AFTER == PAUSE_AFTER - 1:
            await asyncio.sleep(0)


def _by_ticket(told: Sequence[HistoryScan]) -> dict[UUID, list[HistoryScan]]:
    found: dict[UUID, list[HistoryScan]] = {}
    for each in told:
        found.setdefault(each.ticket_id, []).append(each)
    return found


async def _answered(tx: Transaction, batch_id: UUID) -> dict[UUID, list[tuple[Scan, Outcome]]]:
    """By ticket: scans that we had answered when the file came, and what the device did. It may not
    have heard us in time."""
    [kept] = await syncs.find_answers(tx, [batch_id])
    imported = msgspec.json.decode(kept.answer, type=Imported)
    did: dict[UUID, Outcome] = {
        each.scan_id: each.outcome
        for each in imported.results
        if each.result == "known" and each.signature_valid
    }
    found: dict[UUID, list[tuple[Scan, Outcome]]] = {}
    for scan in await scans.find_scans(tx, list(did)):
        if scan.source == "online" and scan.ticket_id is not None:
            found.setdefault(scan.ticket_id, []).append((scan, did[scan.id]))
    return found
