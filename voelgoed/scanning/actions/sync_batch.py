"""What several devices brought at the same moment, taken in by one transaction, each with its answer."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec

from voelgoed.accounts.actions.audit import NewAuditEntry, record_all
from voelgoed.accounts.model import Caller
from voelgoed.infra.database import ChangedMeanwhile, Database, Transaction
from voelgoed.infra.ids import new_id
from voelgoed.infra.refusal import Refusal
from voelgoed.scanning.actions.alerts import raise_alerts
from voelgoed.scanning.actions.deliveries import AGAIN, Delivery, status_of
from voelgoed.scanning.actions.event_context import EventContext
from voelgoed.scanning.actions.intake import Intake
from voelgoed.scanning.actions.own_device import DeviceCaller
from voelgoed.scanning.actions.sync_results import SyncResult
from voelgoed.scanning.model.alerts import Suspicion
from voelgoed.scanning.model.conflicts import Conflict
from voelgoed.scanning.model.devices import Device
from voelgoed.scanning.model.occupancy import Counted
from voelgoed.scanning.model.refusals import BatchIdReused, InvalidDeviceToken
from voelgoed.scanning.model.stations import ScanningDevice, ScanningGate
from voelgoed.scanning.model.sync import (
    SIGNED_SCANS_MAX,
    BatchAnswer,
    BatchSync,
    SyncAnswer,
)
from voelgoed.scanning.rules.batches import (
    Facts,
    InvalidAdmission,
    invalid_admissions,
    suspicions_of,
)
from voelgoed.scanning.rules.device_clock import DeviceClock, is_from_future
from voelgoed.scanning.rules.devices import refusal_to_scan
from voelgoed.scanning.rules.messages import batch_synced, batch_topic, occupancy_synced
from voelgoed.scanning.store import manifests, occupancy, stations, syncs
from voelgoed.scanning.store.syncs import KeptAnswer, NewBatch, Success
from voelgoed.seating.rules.messages import occupancy_topic

Answer = BatchAnswer | SyncAnswer


@dataclass(slots=True, eq=False)
class Work:
    """One delivery, on its way through."""

    proven: DeviceCaller
    device: Device
    """As it was a moment ago."""
    delivery: Delivery[Any]
    clock: DeviceClock
    measured: timedelta | None
    taken: list[SyncResult] = field(default_factory=list[SyncResult])
    gate: ScanningGate | None = None
    conflicts: list[Conflict] = field(default_factory=list[Conflict])
    answer: Answer | None = None
    refusal: Refusal | None = None

    @property
    def is_open(self) -> bool:
        """There is something to be done about it."""
        return self.answer is None and self.refusal is None

    @property
    def main_gate(self) -> ScanningGate:
        assert self.gate is not None
        return self.gate

    @property
    def errors(self) -> int:
        return sum(not each.is_good for each in self.taken)


class SyncBatch:
    """No two of the works have the same batch id."""

    def __init__(self, database: Database, context: EventContext, works: Sequence[Work]) -> None:
        self._database = database
        self._context = context
        self._works = works
        self._answers: dict[UUID, KeptAnswer] = {}
        self._devices: dict[UUID, ScanningDevice] = {}
        self._counts: list[Counted] = []
        self._versions: dict[UUID, int] = {}
        """Of manifests, by their events."""

    async def take_in(self, organization_id: UUID) -> None:
        begun = time.monotonic()
        system = Caller(kind="system", id=None, organization_id=organization_id)
        # For thousands at once PostgreSQL should think anew; for fifty that takes longer than they do.
        is_small = all(len(work.delivery) <= SIGNED_SCANS_MAX for work in self._works)
        async with self._database.transaction(organization_id, is_often=is_small) as tx:
            for work in self._works:
                work.taken, work.answer, work.refusal = [], None, None
                _refusing(work, lambda work=work: self._read(work, tx.now))
            taken = [each for work in self._works for each in work.taken]
            intake = Intake(tx, self._context, system, "offline_sync", taken)
            await intake.read(self._find_devices(tx), self._find_answers(tx))
            for work in self._works:
                if work.is_open:
                    _refusing(work, lambda work=work: self._check(work, intake, tx.now))
            works = [work for work in self._works if work.is_open]
            if not works:
                return
            intake.taken = [each for work in works for each in work.taken]
            await intake.decide()
            await intake.write()
            for work in works:
                ids = {each.brought.scan_id for each in work.taken}
                work.conflicts = [
                    each
                    for each in intake.stories.conflicts
                    if each.scan_id in ids or each.winner_scan_id in ids
                ]
                elapsed = round(time.monotonic() - begun, 3)
                work.answer = _answer(work, tx.now, elapsed)
            await self._record(tx, works, intake)
            await self._tell(tx, works)
        now = self._database.clock.now()
        for work in works:
            assert work.answer is not None
            version = self._versions.get(work.main_gate.event_id)
            work.answer = _stamped(work.answer, now, version)

    def _read(self, work: Work, now: datetime) -> None:
        work.taken = work.delivery.read(work.device, work.clock, now)
        for each in work.taken:
            if is_from_future(each.brought.at, work.clock.tolerance, now):
                each.brought = msgspec.structs.replace(each.brought, at=now)
                each.is_from_future = True

    async def _find_devices(self, tx: Transaction) -> None:
        found = await stations.find_devices(tx, [work.device.id for work in self._works])
        self._devices = {device.id: device for device in found}

    async def _find_answers(self, tx: Transaction) -> None:
        ids = [work.delivery.batch_id for work in self._works]
        self._answers = {kept.batch_id: kept for kept in await syncs.find_answers(tx, ids)}

    def _check(self, work: Work, intake: Intake, now: datetime) -> None:
        """Whether the device still may, and has not brought it before."""
        device = self._devices.get(work.device.id)
        if device is None:
            raise InvalidDeviceToken()
        if (refusal := refusal_to_scan(device, work.proven.key_version)) is not None:
            raise refusal
        delivery, kept = work.delivery, self._answers.get(work.delivery.batch_id)
        if kept is not None:
            if kept.fingerprint != delivery.fingerprint:
                raise BatchIdReused()
            answer = msgspec.json.decode(kept.answer, type=delivery.shape)
            work.answer = _stamped(msgspec.structs.replace(answer, message=AGAIN), now, None)
            return
        work.gate = intake.main_gate(work.device)
        delivery.require_timely(work.gate, now)

    async def _record(self, tx: Transaction, works: Sequence[Work], intake: Intake) -> None:
        """And the counts, the last of all."""
        batches = [_new_batch(work, tx.now) for work in works]
        entries = [
            entry
            for work, batch in zip(works, batches, strict=True)
            for entry in _audit_entries(work, batch)
        ]
        suspicions = [
            each
            for work, batch in zip(works, batches, strict=True)
            for each in (*suspicions_of(_facts(work, batch)), *_invalid_admissions(work, batch))
        ]
        await raise_alerts(tx, suspicions)
        successes = {
            work.device.id: Success(
                device_id=work.device.id,
                key_version=work.proven.key_version,
                offset_s=None if work.measured is None else work.measured.total_seconds(),
            )
            for work in works
        }

        async def note_successes() -> None:
            """Who was revoked since we looked has brought nothing: all is looked at again."""
            if await syncs.note_successes(tx, list(successes.values())) != len(successes):
                raise ChangedMeanwhile()

        async def find_versions() -> None:
            event_ids = list({work.main_gate.event_id for work in works})
            found = await manifests.find_versions(tx, event_ids)
            self._versions = {each.event_id: each.version for each in found}

        async def count() -> None:
            self._counts = await intake.stories.write_counts(tx)

        await tx.gather(
            syncs.insert_batches(tx, batches),
            record_all(tx, entries),
            note_successes(),
            find_versions(),
            count(),
        )

    async def _tell(self, tx: Transaction, works: Sequence[Work]) -> None:
        """Devices, of what they brought; and who watches an event, of how full it is."""
        inside = await self._inside(tx, works)
        for work in works:
            gate, errors, batch_id = work.main_gate, work.errors, work.delivery.batch_id
            good, status = len(work.taken) - errors, status_of(work.taken)
            added = sum(each.is_good and each.is_learnt for each in work.taken)
            message = batch_synced(batch_id, status, good, errors, tx.now)
            tx.publish(batch_topic(batch_id), message)
            if gate.event_id in inside:
                tx.publish(
                    occupancy_topic(tx.organization_id, gate.event_id),
                    occupancy_synced(batch_id, gate, added, inside, tx.now),
                )

    async def _inside(self, tx: Transaction, works: Sequence[Work]) -> dict[UUID, int]:
        """Who is, at events and gates where that changed, on the last of their days."""
        counts = list(self._counts)
        known = {each.scope_id for each in counts}
        for event_id in {
            work.main_gate.event_id
            for work in works
            if work.main_gate.event_id in known and work.main_gate.id not in known
        }:
            counts += await occupancy.find_counts(tx, event_id)
        return {each.scope_id: each.inside for each in sorted(counts, key=lambda each: each.day)}


def _refusing(work: Work, step: Any) -> None:
    """What is wrong with one delivery is not the others' business."""
    try:
        step()
    except Refusal as refusal:
        work.refusal, work.taken = refusal, []


def _answer(work: Work, now: datetime, elapsed_s: float) -> Answer:
    answer: Answer = work.delivery.answer(work.taken, work.conflicts, work.clock, now)
    if isinstance(answer, BatchAnswer):
        return msgspec.structs.replace(answer, sync_duration_seconds=elapsed_s)
    return answer


def _stamped(answer: Answer, now: datetime, manifest_version: int | None) -> Answer:
    """After all of it was kept, so that who compares it with a manifest's time errs on the safe
    side."""
    if isinstance(answer, BatchAnswer):
        return answer
    return msgspec.structs.replace(answer, server_time=now, manifest_version=manifest_version)


def _new_batch(work: Work, now: datetime) -> NewBatch:
    taken, errors = work.taken, work.errors
    return NewBatch(
        id=new_id(),
        batch_id=work.delivery.batch_id,
        source="offline_sync",
        device_id=work.device.id,
        event_id=work.main_gate.event_id,
        status=status_of(taken),
        batch_size=len(taken),
        processed_count=len(taken) - errors,
        error_count=errors,
        offset_seconds=work.clock.offset.total_seconds(),
        processed_scan_ids=[each.brought.scan_id for each in taken if each.is_learnt],
        synced_at=now,
        fingerprint=work.delivery.fingerprint,
        answer=msgspec.json.encode(work.answer).decode(),
    )


def _audit_entries(work: Work, batch: BatchSync) -> list[NewAuditEntry]:
    caller, answer = work.proven.caller, work.answer
    changes: dict[str, object] = {
        "batch_id": batch.batch_id,
        "device_id": batch.device_id,
        "batch_size": batch.batch_size,
        "processed_count": batch.processed_count,
        "error_count": batch.error_count,
        "conflicts": len(work.conflicts),
        "offset_seconds": batch.offset_seconds,
    }
    metadata: dict[str, object] = {
        "device_name": work.device.name,
        "batch_created_at": work.delivery.created_at,
    }
    if isinstance(answer, BatchAnswer):
        changes["duplicates"] = answer.summary.duplicate_scans
        changes["missing_tickets"] = answer.summary.missing_tickets
        changes["invalid_tickets"] = answer.summary.invalid_tickets
        metadata["sync_duration_seconds"] = answer.sync_duration_seconds
    entries = [
        NewAuditEntry(caller, "batch_sync_completed", "BatchSync", batch.id, changes, metadata)
    ]
    for each in work.taken:
        if each.refusal is not None:
            refused: dict[str, object] = {
                "ticket_code": each.brought.given,
                "error": each.refusal.code,
                "batch_id": batch.batch_id,
            }
            entries.append(
                NewAuditEntry(caller, "scan_refused", "Scan", each.brought.scan_id, refused)
            )
    return entries


def _is_wrong(taken: SyncResult) -> bool:
    """Somebody was let in who should not have been, or what was read is no ticket at all. Whoever was
    turned away with a ticket was turned away rightly."""
    if taken.refusal is not None:
        return True
    is_wrong = taken.brought.outcome == "valid" or taken.ticket is None
    return taken.is_learnt and is_wrong and not taken.is_good


def _invalid_admissions(work: Work, batch: BatchSync) -> list[Suspicion]:
    found = [
        InvalidAdmission(
            ticket_id=taken.ticket.id,
            scan_id=taken.brought.scan_id,
            gate_name=taken.gate.name,
            reason=taken.apart,
        )
        for taken in work.taken
        if taken.ticket is not None
        and taken.gate is not None
        and taken.apart is not None
        and taken.brought.outcome == "valid"
    ]
    return invalid_admissions(batch, work.device.name, found)


def _facts(work: Work, batch: BatchSync) -> Facts:
    taken = work.taken
    errors: dict[str, int] = {}
    for each in taken:
        if each.refusal is not None:
            errors[each.refusal.code] = errors.get(each.refusal.code, 0) + 1
    return Facts(
        batch=batch,
        device_name=work.device.name,
        created_at=work.delivery.created_at,
        newest=max(each.brought.at for each in taken),
        clock=work.clock,
        errors=errors,
        wrong=sum(_is_wrong(each) for each in taken),
        from_future=sum(each.is_from_future for each in taken),
        forged=sum(each.is_new and each.is_forged for each in taken),
        unknown=sum(each.is_new and each.ticket is None and not each.is_forged for each in taken),
    )
