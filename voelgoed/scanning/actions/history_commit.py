"""Writes what became of tickets' scan histories, and publishes it to followers of their events."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from functools import partial
from uuid import UUID

import msgspec
import structlog

from voelgoed.accounts.actions.audit import audit_row
from voelgoed.accounts.model import Caller, NewAuditEntry
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.ids import new_id
from voelgoed.infra.jobs import enqueue
from voelgoed.scanning import metrics
from voelgoed.scanning.actions.alerts import raise_alerts, resolve_double_entries
from voelgoed.scanning.model.alerts import Suspicion
from voelgoed.scanning.model.conflicts import Conflict
from voelgoed.scanning.model.occupancy import Counted
from voelgoed.scanning.model.sync_facts import (
    DeliveryOrigin,
    NewBatch,
    SyncedScan,
    SyncSuccess,
    question_about_scans,
)
from voelgoed.scanning.rules.alerts import alerts_topic
from voelgoed.scanning.rules.conflicts import suspicion_of
from voelgoed.scanning.rules.history_plan import HistoryPlan, HistoryPlanner
from voelgoed.scanning.rules.messages import conflict_changed
from voelgoed.scanning.store import offline
from voelgoed.scanning.store.offline import HistoryCheckpoint, SyncRows
from voelgoed.ticketing.actions.admissions import last_scan_key, lock_ticket

log = structlog.get_logger()

SECOND_LOOK = "scanning.second_look"
SECOND_LOOK_AFTER = timedelta(minutes=1)
"""The pause after the first of the moments that the scans claim: by then most of the moments have come, and
what was done to tickets before them is committed."""
RECORDED_MAX = 100
"""Conflicts of one ticket that are named in the audit log."""


class DueScans(msgspec.Struct, frozen=True):
    """Scans that are ahead of their arrival, to be judged once more when their moment has come."""

    organization_id: UUID
    scan_ids: list[UUID]


async def commit_history(
    tx: Transaction,
    caller: Caller,
    plan: HistoryPlan,
    *,
    scans: Sequence[SyncedScan] = (),
    batches: Sequence[NewBatch] = (),
    successes: Sequence[SyncSuccess] = (),
    entries: Sequence[NewAuditEntry] = (),
    origins: Sequence[DeliveryOrigin] = (),
    suspicions: Sequence[Suspicion] = (),
) -> list[Counted]:
    """Alerts first, then everything else in one statement, the counts last: everybody at the event waits
    for the transaction that has changed them. Gives the counts that changed, as they are then. Each scan of
    the deliveries whose origin is given gets an audit entry besides `entries`."""
    found = plan.conflicts
    alerts = [suspicion_of(each, plan.codes[each.ticket_id], tx.now) for each in found]
    await raise_alerts(tx, [*suspicions, *alerts])
    if plan.ahead:
        due = DueScans(tx.organization_id, list(plan.ahead))
        wait = min(plan.ahead.values()) - tx.now
        await enqueue(tx, SECOND_LOOK, due, after=wait + SECOND_LOOK_AFTER)
    withdrawn_tickets = {each.ticket_id for each in plan.withdrawn}
    recorded = [
        *entries,
        *_audit_entries(caller, "conflict_detected", found),
        *_audit_entries(caller, "conflict_withdrawn", plan.withdrawn),
    ]
    counts = await offline.write_plan(
        tx,
        SyncRows(
            attendance=plan.attendance,
            scans=scans,
            rulings=plan.rulings,
            conflicts=found,
            withdrawn=[each.id for each in plan.withdrawn],
            batches=batches,
            successes=successes,
            audit=[audit_row(tx, entry) for entry in recorded],
            origins=origins,
            counts=plan.counts,
            checkpoints=[
                HistoryCheckpoint(ticket_id=ticket_id, state=state)
                for ticket_id, state in plan.checkpoints.items()
            ],
            resets=plan.resets,
        ),
    )
    await resolve_double_entries(tx, caller, list(withdrawn_tickets))
    _publish(tx, found, plan.withdrawn)
    return counts


async def reconcile_ticket(
    database: Database, organization_id: UUID, ticket_id: UUID, scan_ids: Collection[UUID]
) -> None:
    """Finds the conflicts of a ticket, and who is inside with it, after somebody passed online, with these
    scans, while others were inside who had no right to. No scan is judged anew."""
    system = Caller(kind="system", id=None, organization_id=organization_id)
    async with database.transaction(organization_id) as tx:
        await lock_ticket(tx, ticket_id)
        question = question_about_scans(ticket_ids=[ticket_id])
        since = msgspec.structs.replace(question, is_whole=False)
        facts = await offline.read_facts(tx, since)
        if not {each.id for each in facts.histories.get(ticket_id, ())}.issuperset(scan_ids):
            # A device whose clock is ahead brought something that comes after them.
            facts = await offline.read_facts(tx, question)
        [ticket] = facts.tickets
        history = facts.histories.get(ticket_id, ())
        planner = HistoryPlanner(facts, iter(new_id, None), tx.now)
        event, frozen = facts.events[ticket.event_id], {each.id for each in history}
        planner.change(
            ticket,
            event,
            history,
            history,
            frozen,
            checkpoint=facts.checkpoints.get(ticket_id),
            is_locked=True,
        )
        await commit_history(tx, system, planner.plan())


def _publish(tx: Transaction, found: Sequence[Conflict], withdrawn: Sequence[Conflict]) -> None:
    """One message for each ticket: a device that is out of its mind makes thousands of conflicts."""
    tx.once_committed(partial(_count, found))
    for each in {each.ticket_id: each for each in found}.values():
        tx.publish(alerts_topic(each.event_id), conflict_changed("conflict_detected", each))
    for each in {each.ticket_id: each for each in withdrawn}.values():
        tx.publish(alerts_topic(each.event_id), conflict_changed("conflict_withdrawn", each))


def forget_last_scans(tx: Transaction, codes: Iterable[str]) -> None:
    """Every cache forgets what it knew of these tickets."""
    tx.drop(*(last_scan_key(tx.organization_id, code) for code in codes))


def _count(found: Sequence[Conflict]) -> None:
    alike = Counter((each.event_id, each.kind, each.severity) for each in found)
    for (event_id, kind, severity), count in alike.items():
        metrics.conflicts_found.labels(kind, severity).inc(count)
        log.info(
            "conflict.detected",
            event_id=str(event_id),
            kind=kind,
            severity=severity,
            count=count,
        )


def _audit_entries(
    caller: Caller, action: str, conflicts: Sequence[Conflict]
) -> list[NewAuditEntry]:
    """One for each ticket; the conflicts themselves are kept."""
    by_ticket: dict[UUID, list[Conflict]] = {}
    for each in conflicts:
        by_ticket.setdefault(each.ticket_id, []).append(each)
    entries: list[NewAuditEntry] = []
    for ticket_id, those in by_ticket.items():
        changes: dict[str, object] = {
            "count": len(those),
            "conflicts": [
                {
                    "kind": each.kind,
                    "scan_id": each.scan_id,
                    "winner_scan_id": each.winner_scan_id,
                    "state": each.state,
                }
                for each in those[:RECORDED_MAX]
            ],
        }
        entries.append(NewAuditEntry(caller, action, "Ticket", ticket_id, changes))
    return entries
