"""Conflicts, looked after by people."""

from uuid import UUID

import msgspec

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller
from voelgoed.events.actions.events import event_of
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.refusal import VersionConflict
from voelgoed.scanning.actions.alerts import resolve_double_entries
from voelgoed.scanning.model.conflicts import (
    Conflict,
    ConflictInFull,
    ConflictState,
    ConflictTransition,
)
from voelgoed.scanning.model.refusals import ConflictNotFound
from voelgoed.scanning.rules.alerts import alerts_topic
from voelgoed.scanning.rules.messages import conflict_changed
from voelgoed.scanning.store import conflicts as store


async def list_conflicts(
    database: Database,
    caller: Caller,
    event_id: UUID,
    state: ConflictState | None,
    after: UUID | None,
    limit: int,
) -> list[ConflictInFull]:
    async with database.transaction(caller.organization_id) as tx:
        await event_of(tx, event_id)
        found = await store.list_conflicts(tx, event_id, state, after, limit)
        return await _in_full(tx, found)


async def read_conflict(database: Database, caller: Caller, conflict_id: UUID) -> ConflictInFull:
    async with database.transaction(caller.organization_id) as tx:
        [found] = await _in_full(tx, [await _conflict(tx, conflict_id)])
        return found


async def _conflict(tx: Transaction, conflict_id: UUID) -> Conflict:
    found = await store.find_conflict(tx, conflict_id)
    if found is None:
        raise ConflictNotFound()
    return found


async def _in_full(tx: Transaction, conflicts: list[Conflict]) -> list[ConflictInFull]:
    """The conflicts, each with both of its scans."""
    ids = {each.scan_id for each in conflicts} | {each.winner_scan_id for each in conflicts}
    scans = {scan.id: scan for scan in await store.find_conflicting_scans(tx, list(ids))}
    return [
        ConflictInFull(conflict=each, scan=scans[each.scan_id], winner=scans[each.winner_scan_id])
        for each in conflicts
    ]


async def move_conflict(
    database: Database, caller: Caller, conflict_id: UUID, new: ConflictTransition
) -> Conflict:
    """Repeating a move changes nothing."""
    async with database.transaction(caller.organization_id) as tx:
        before = await _conflict(tx, conflict_id)
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
        if not await store.update_conflict(tx, after):
            raise VersionConflict()
        changes: dict[str, object] = {
            "kind": before.kind,
            "state": {"from": before.state, "to": after.state},
            "note": after.note,
        }
        await record(tx, caller, "conflict_moved", "ScanConflict", conflict_id, changes)
        tx.publish(alerts_topic(after.event_id), conflict_changed("conflict_moved", after))
        await resolve_double_entries(tx, caller, [after.ticket_id], after.note)
        return after
