"""Somebody decides about scans that wait for review: what a file brought, and what a device can hardly have
scanned there and then. Accepted, they count as if the device had just delivered them."""

import asyncio
from functools import partial
from uuid import UUID

import msgspec

from voelgoed.accounts.model import Caller, NewAuditEntry
from voelgoed.infra.database import ChangedMeanwhile, Database, Transaction
from voelgoed.infra.ids import new_id
from voelgoed.infra.refusal import StorageBusy
from voelgoed.scanning.actions.history_commit import commit_history, forget_last_scans
from voelgoed.scanning.actions.recoveries import ATTEMPTS_MAX, require_recovery
from voelgoed.scanning.model.outcomes import Outcome
from voelgoed.scanning.model.recoveries import Imported, Recovery, RecoveryTransition
from voelgoed.scanning.model.refusals import RecoveryReviewed
from voelgoed.scanning.model.sync_facts import question_about_scans
from voelgoed.scanning.rules.alerts import alerts_topic
from voelgoed.scanning.rules.invalid_admissions import WhoseDelivery, invalid_admissions
from voelgoed.scanning.rules.messages import recounted
from voelgoed.scanning.rules.recovery import AcceptedScans, accept_scans, recovery_message
from voelgoed.scanning.store import offline
from voelgoed.scanning.store import recoveries as store
from voelgoed.seating.rules.messages import occupancy_topic


async def review(
    database: Database, caller: Caller, batch_id: UUID, new: RecoveryTransition
) -> Recovery:
    """The decision is final; repeating the same one changes nothing."""
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
        accepted = await _accepted(tx, before if new.to == "accepted" else None)
        changes: dict[str, object] = {
            "batch_id": batch_id,
            "device_id": before.device_id,
            "state": {"from": before.state, "to": new.to},
            "note": new.note,
            "conflicts": len(accepted.history.conflicts),
        }
        entry = NewAuditEntry(caller, "recovery_reviewed", "BatchSync", before.id, changes)
        delivery = WhoseDelivery(
            device_id=before.device_id, device_name=before.device_name, batch_id=batch_id
        )
        counts = await commit_history(
            tx,
            caller,
            accepted.history,
            entries=[entry],
            suspicions=invalid_admissions(accepted.invalid, delivery, tx.now),
        )
        forget_last_scans(tx, accepted.changed_codes)
        message = recovery_message("recovery_reviewed", batch_id, before.device_id, before.kept)
        tx.publish(alerts_topic(before.event_id), message | {"state": new.to})
        for event_id in {each.event_id for each in counts}:
            tx.publish(occupancy_topic(tx.organization_id, event_id), recounted(event_id))
        return await require_recovery(tx, batch_id)


async def _accepted(tx: Transaction, recovery: Recovery | None) -> AcceptedScans:
    """The results of the scans; None where the scans were rejected and nothing changes."""
    scan_ids, did = list[UUID](), dict[UUID, Outcome]()
    if recovery is not None:
        scan_ids = await store.find_kept_ids(tx, recovery.batch_id)
        did = await _done(tx, recovery)
    facts = await offline.read_facts(tx, question_about_scans(scan_ids=[*scan_ids, *did]))
    decided = partial(accept_scans, scan_ids, did, facts, tx.now, iter(new_id, None))
    return await asyncio.to_thread(decided)


async def _done(tx: Transaction, recovery: Recovery) -> dict[UUID, Outcome]:
    """What the device did where its file had scans that we knew, by their ids."""
    if recovery.source != "recovered":
        return {}
    answer = await store.find_answer(tx, recovery.batch_id)
    imported = msgspec.json.decode(answer or "", type=Imported)
    return {
        each.scan_id: each.outcome
        for each in imported.results
        if each.result == "known" and each.signature_valid
    }
