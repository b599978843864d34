"""What a device could not send itself: its queue, exported to a file that somebody imports. It is kept at
once and counts for nothing until a person has decided; then it is as if the device had sent it."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID, uuid5

import msgspec

from voelgoed.accounts.model import Caller, NewAuditEntry
from voelgoed.events.actions.events import event_of
from voelgoed.infra.database import ChangedMeanwhile, Database, Transaction
from voelgoed.infra.ids import new_id
from voelgoed.infra.master_key import MasterKey
from voelgoed.infra.refusal import StorageBusy
from voelgoed.scanning.actions.devices import keys_of
from voelgoed.scanning.actions.history_commit import commit_history
from voelgoed.scanning.model.devices import Device
from voelgoed.scanning.model.recoveries import (
    ExportedQueue,
    ExportedScan,
    Fate,
    Imported,
    Recovery,
    RecoveryInFull,
    ScanFate,
)
from voelgoed.scanning.model.refusals import (
    BatchIdReused,
    DeviceNotAssignedToGate,
    DeviceNotFound,
    RecoveryNotFound,
)
from voelgoed.scanning.model.stations import ScanningGate
from voelgoed.scanning.model.sync import RecoveryState
from voelgoed.scanning.model.sync_facts import NewBatch
from voelgoed.scanning.rules.alerts import alerts_topic
from voelgoed.scanning.rules.deliveries import fingerprint_of, read_signed, status_of
from voelgoed.scanning.rules.device_clock import DeviceClock
from voelgoed.scanning.rules.offline_scans import OfflineScan, SyncResult, question_about
from voelgoed.scanning.rules.recovery import (
    batch_id_of,
    doubts_about,
    recovery_message,
    suspicion_of,
    which_are_signed,
)
from voelgoed.scanning.rules.sync_batch import main_gate, waiting_elsewhere
from voelgoed.scanning.rules.sync_scans import SyncedScansPlan, judge_scans
from voelgoed.scanning.store import devices, offline
from voelgoed.scanning.store import recoveries as store

ATTEMPTS_MAX = 10


async def import_queue(
    database: Database,
    master_key: MasterKey,
    caller: Caller,
    queue: ExportedQueue,
) -> Imported:
    """Whether the device may still scan does not matter: it could when it did."""
    async with database.transaction(caller.organization_id) as tx:
        device = await devices.find_device(tx, queue.device_id)
    if device is None:
        raise DeviceNotFound()
    keys = keys_of(master_key, caller.organization_id, device)
    signed = await asyncio.to_thread(which_are_signed, queue.scans, keys)
    for _ in range(ATTEMPTS_MAX):
        try:
            return await _import(database, caller, device, queue, signed)
        except ChangedMeanwhile:
            continue
    raise StorageBusy()


async def _import(
    database: Database,
    caller: Caller,
    device: Device,
    queue: ExportedQueue,
    signed: Sequence[bool],
) -> Imported:
    fingerprint = fingerprint_of(queue)
    batch_id = batch_id_of(fingerprint)
    async with database.transaction(caller.organization_id) as tx:
        scans = [
            _read(scan, is_signed, device, batch_id, tx.now)
            for scan, is_signed in zip(queue.scans, signed, strict=True)
        ]
        facts = await offline.read_facts(tx, question_about(scans, [batch_id]))
        if (kept := facts.answers.get(batch_id)) is not None:
            if kept.fingerprint != fingerprint:
                raise BatchIdReused()
            return msgspec.json.decode(kept.answer, type=Imported)
        gate = main_gate(device.id, scans, facts)
        if gate is None:
            raise DeviceNotAssignedToGate()
        decided = partial(judge_scans, scans, facts, tx.now, "recovered", iter(new_id, None))
        plan = await asyncio.to_thread(decided)
        imported = _imported(plan.results, gate, batch_id, device, queue, tx.now)
        await _commit(tx, caller, plan, imported, fingerprint)
        return imported


def _read(
    exported: ExportedScan, is_signed: bool, device: Device, batch_id: UUID, now: datetime
) -> OfflineScan:
    clock = DeviceClock(offset=timedelta(seconds=exported.offset_seconds))
    scan = read_signed(exported, device, batch_id, clock)
    doubts = doubts_about(scan.scanned_at, clock, device, now)
    # What the device did not sign goes by an id of its own: it must not stand in the way of what it did.
    scan_id = scan.scan_id if is_signed else uuid5(batch_id, exported.scan_id)
    return msgspec.structs.replace(scan, scan_id=scan_id, is_signed=is_signed, doubts=doubts)


def _imported(
    judged: Sequence[SyncResult],
    gate: ScanningGate,
    batch_id: UUID,
    device: Device,
    queue: ExportedQueue,
    now: datetime,
) -> Imported:
    results = [_fate(*each) for each in zip(queue.scans, judged, strict=True)]
    kept = [each for each in results if each.result == "kept"]
    return Imported(
        batch_id=batch_id,
        device_id=device.id,
        device_name=device.name,
        event_id=gate.event_id,
        exported_at=queue.exported_at,
        imported_at=now,
        total=len(results),
        kept=len(kept),
        known=sum(each.result == "known" for each in results),
        rejected=sum(each.result == "rejected" for each in results),
        wrong_signatures=sum(not each.signature_valid for each in kept),
        doubtful=sum(bool(each.doubts) for each in kept),
        results=results,
    )


def _fate(exported: ExportedScan, judged: SyncResult) -> ScanFate:
    scan, refusal = judged.scan, judged.refusal
    result: Fate = "rejected" if refusal else "known" if judged.is_known else "kept"
    return ScanFate(
        scan_id=UUID(exported.scan_id),
        result=result,
        outcome=scan.outcome,
        signature_valid=bool(scan.is_signed),
        doubts=list(scan.doubts),
        error=refusal and refusal.code,
        message=refusal and refusal.message,
    )


async def _commit(
    tx: Transaction, caller: Caller, plan: SyncedScansPlan, imported: Imported, fingerprint: str
) -> None:
    batch = NewBatch(
        id=new_id(),
        batch_id=imported.batch_id,
        source="recovered",
        device_id=imported.device_id,
        event_id=imported.event_id,
        status=status_of(plan.results),
        batch_size=imported.total,
        processed_count=imported.kept,
        error_count=imported.rejected,
        offset_seconds=0.0,
        processed_scan_ids=[each.scan.scan_id for each in plan.results if each.is_new],
        synced_at=tx.now,
        state="unverified",
        waiting_elsewhere=waiting_elsewhere(plan.results, imported.event_id),
        fingerprint=fingerprint,
        answer=msgspec.json.encode(imported).decode(),
    )
    summary = msgspec.structs.asdict(imported)
    summary.pop("results")
    entries = [NewAuditEntry(caller, "scans_recovered", "BatchSync", batch.id, summary)]
    for each in imported.results:
        if each.error is not None:
            refused: dict[str, object] = {"error": each.error, "batch_id": imported.batch_id}
            entries.append(NewAuditEntry(caller, "scan_refused", "Scan", each.scan_id, refused))
    await commit_history(
        tx,
        caller,
        plan.history,
        scans=[row for each in plan.results if (row := each.row) is not None],
        batches=[batch],
        entries=entries,
        suspicions=[suspicion_of(imported)] if imported.kept else [],
    )
    message = recovery_message(
        "scans_recovered", imported.batch_id, imported.device_id, imported.kept
    )
    tx.publish(alerts_topic(imported.event_id), message)


async def list_recoveries(
    database: Database,
    caller: Caller,
    event_id: UUID,
    state: RecoveryState | None,
    after: UUID | None,
    limit: int,
) -> list[Recovery]:
    async with database.transaction(caller.organization_id) as tx:
        await event_of(tx, event_id)
        return await store.list_recoveries(tx, event_id, state, after, limit)


async def read_recovery(
    database: Database, caller: Caller, batch_id: UUID, after: UUID | None, limit: int
) -> RecoveryInFull:
    async with database.transaction(caller.organization_id) as tx:
        recovery = await require_recovery(tx, batch_id)
        ids = await store.find_kept_ids(tx, batch_id)
        found = await store.list_scans(tx, ids, after, limit + 1)
    more = len(found) > limit
    shown = found[:limit]
    return RecoveryInFull(recovery=recovery, scans=shown, next=shown[-1].id if more else None)


async def require_recovery(tx: Transaction, batch_id: UUID) -> Recovery:
    found = await store.find_recovery(tx, batch_id)
    if found is None:
        raise RecoveryNotFound()
    return found
