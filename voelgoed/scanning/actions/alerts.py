"""Alerts: raised from the suspicions of all rules, and reviewed by people."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller
from voelgoed.events.actions.events import event_of
from voelgoed.infra.database import Database, Transaction, refusing
from voelgoed.infra.ids import new_id
from voelgoed.infra.refusal import VersionConflict
from voelgoed.scanning.metrics import alerts_raised
from voelgoed.scanning.model.alerts import Alert, AlertState, AlertTransition, Suspicion
from voelgoed.scanning.model.refusals import AlertNotFound, AlertRaisedAgain
from voelgoed.scanning.rules.alerts import (
    LISTED_KINDS,
    OCCASIONS_MAX,
    alert_moved,
    alert_raised,
    alert_repeated,
    alerts_topic,
    merge_suspicions,
)
from voelgoed.scanning.store import alerts as store


async def raise_alerts(tx: Transaction, suspicions: Sequence[Suspicion]) -> None:
    """Each one counts. Followers of the event hear of new alerts and of those that are repeated."""
    if not suspicions:
        return
    given = [(new_id(), each) for each in merge_suspicions(suspicions)]
    new_ids = {id_ for id_, _ in given}
    for alert in await store.write_alerts(tx, given, LISTED_KINDS, OCCASIONS_MAX):
        is_new = alert.id in new_ids
        message = alert_raised(alert) if is_new else alert_repeated(alert)
        tx.publish(alerts_topic(alert.event_id), message)
        if is_new:
            tx.once_committed(alerts_raised.labels(alert.kind, alert.severity).inc)


async def resolve_double_entries(
    tx: Transaction, caller: Caller, ticket_ids: Sequence[UUID], note: str = ""
) -> None:
    """Resolves the alerts of these tickets whose conflicts were all reviewed or no longer exist."""
    if not ticket_ids:
        return
    for alert in await store.resolve_double_entries(tx, ticket_ids, caller.id, note):
        changes: dict[str, object] = {
            "kind": alert.kind,
            "state": {"to": alert.state},
            "note": note,
        }
        await record(tx, caller, "alert_moved", "ScanAlert", alert.id, changes)
        tx.publish(alerts_topic(alert.event_id), alert_moved(alert))


async def list_alerts(
    database: Database,
    caller: Caller,
    event_id: UUID,
    state: AlertState | None,
    after: UUID | None,
    limit: int,
) -> list[Alert]:
    async with database.transaction(caller.organization_id) as tx:
        await event_of(tx, event_id)
        return await store.list_alerts(tx, event_id, state, after, limit)


async def move_alert(
    database: Database, caller: Caller, alert_id: UUID, new: AlertTransition
) -> Alert:
    """Repeating a move changes nothing. An alert that was resolved can be opened again, unless it was raised again."""
    async with database.transaction(caller.organization_id) as tx:
        before = await store.find_alert(tx, alert_id)
        if before is None:
            raise AlertNotFound()
        if before.state == new.to and before.note == new.note:
            return before
        if before.version != new.version:
            raise VersionConflict(current_version=before.version)
        after = msgspec.structs.replace(
            before,
            state=new.to,
            note=new.note,
            reviewed_by_id=caller.id,
            reviewed_at=tx.now,
            version=before.version + 1,
        )
        with refusing("scan_alert_unresolved", AlertRaisedAgain):
            if not await store.update_alert(tx, after):
                raise VersionConflict()
        changes: dict[str, object] = {
            "kind": before.kind,
            "state": {"from": before.state, "to": after.state},
            "note": after.note,
        }
        await record(tx, caller, "alert_moved", "ScanAlert", alert_id, changes)
        tx.publish(alerts_topic(after.event_id), alert_moved(after))
        return after
