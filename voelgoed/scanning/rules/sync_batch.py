"""Deliveries of offline scans that are taken in together: facts in, a plan out.

Each delivery has an answer or a refusal of its own. What is wrong with one is not the others' business.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain
from typing import Any
from uuid import UUID

import msgspec

from voelgoed.accounts.model import Caller, NewAuditEntry
from voelgoed.infra.refusal import Refusal
from voelgoed.scanning.model.alerts import Suspicion
from voelgoed.scanning.model.conflicts import Conflict
from voelgoed.scanning.model.devices import Device
from voelgoed.scanning.model.refusals import (
    BatchIdReused,
    DeviceNotAssignedToGate,
    InvalidDeviceToken,
)
from voelgoed.scanning.model.stations import ScanningGate
from voelgoed.scanning.model.sync import BatchAnswer, SyncAnswer
from voelgoed.scanning.model.sync_facts import (
    DeliveryOrigin,
    KeptAnswer,
    NewBatch,
    SyncFacts,
    SyncSuccess,
)
from voelgoed.scanning.rules.batches import BatchFacts, suspicions_of
from voelgoed.scanning.rules.deliveries import AGAIN, Delivery, status_of
from voelgoed.scanning.rules.device_clock import DeviceClock
from voelgoed.scanning.rules.devices import refusal_to_scan
from voelgoed.scanning.rules.history_plan import HistoryPlan
from voelgoed.scanning.rules.offline_scans import OfflineScan, SyncResult
from voelgoed.scanning.rules.sync_scans import judge_scans, named_gate

DeliveryAnswer = BatchAnswer | SyncAnswer


class SyncRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One delivery, as it was received."""

    id: UUID
    """Under which it is kept."""
    caller: Caller
    key_version: int
    device: Device
    delivery: Delivery[Any]
    clock: DeviceClock
    measured: timedelta | None
    """The offset of the device's clock, if the device told its time with the delivery."""
    scans: Sequence[OfflineScan]


class DeliveryPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan for one delivery: a refusal, the answer that it had before, or a new one."""

    request: SyncRequest
    refusal: Refusal | None = None
    answer: DeliveryAnswer | None = None
    gate: ScanningGate | None = None
    """Where its device is, or was; None where nothing is to be written."""
    results: Sequence[SyncResult] = ()
    conflicts: Sequence[Conflict] = ()
    """The conflicts that its scans are in, if they are new or have changed."""
    suspicions: Sequence[Suspicion] = ()
    batch: NewBatch | None = None

    @property
    def errors(self) -> int:
        return sum(not each.is_good for each in self.results)


class SyncPlan(msgspec.Struct, frozen=True, kw_only=True):
    deliveries: Sequence[DeliveryPlan]
    """The plans in the order of the requests."""
    history: HistoryPlan
    changed_codes: Sequence[str]
    """Codes of tickets of which caches must forget what they know."""
    needs_whole: bool
    """A scan comes before its ticket's checkpoint: whole histories must be read, and all decided again."""

    @property
    def to_write(self) -> list[DeliveryPlan]:
        """The deliveries for which rows are to be written."""
        return [each for each in self.deliveries if each.batch is not None]


def decide(
    requests: Sequence[SyncRequest], facts: SyncFacts, now: datetime, new_ids: Iterator[UUID]
) -> SyncPlan:
    """No two of the requests have the same batch id. `new_ids` are fresh ids for conflicts."""
    looked_at = [_look_at(request, facts, now) for request in requests]
    readable = [each.request for each in looked_at if each.gate is not None]
    scans = [scan for request in readable for scan in request.scans]
    judged = judge_scans(scans, facts, now, "offline_sync", new_ids)
    results = iter(judged.results)
    return SyncPlan(
        deliveries=[
            each
            if each.gate is None
            else _planned(
                each,
                [next(results) for _ in each.request.scans],
                judged.history.conflicts,
                facts,
                now,
            )
            for each in looked_at
        ],
        history=judged.history,
        changed_codes=judged.changed_codes,
        needs_whole=judged.needs_whole,
    )


def _look_at(request: SyncRequest, facts: SyncFacts, now: datetime) -> DeliveryPlan:
    """Whether the device may deliver, has not delivered this before, and is not too late."""
    device = facts.devices.get(request.device.id)
    refusal: Refusal | None = (
        refusal_to_scan(device, request.key_version) if device else InvalidDeviceToken()
    )
    if refusal is not None:
        return DeliveryPlan(request=request, refusal=refusal)
    if (kept := facts.answers.get(request.delivery.batch_id)) is not None:
        return _answered_before(request, kept, facts, now)
    gate = main_gate(request.device.id, request.scans, facts)
    if gate is None:
        return DeliveryPlan(request=request, refusal=DeviceNotAssignedToGate())
    gates = chain([gate], _named_gates(request.scans, facts))
    refusal = request.delivery.lateness(gates, now)
    return DeliveryPlan(request=request, refusal=refusal, gate=None if refusal else gate)


def _answered_before(
    request: SyncRequest, kept: KeptAnswer, facts: SyncFacts, now: datetime
) -> DeliveryPlan:
    """The answer that was given, with the present time and the present version of the manifest."""
    delivery = request.delivery
    if kept.fingerprint != delivery.fingerprint:
        return DeliveryPlan(request=request, refusal=BatchIdReused())
    answer = msgspec.json.decode(kept.answer, type=delivery.shape)
    gate = main_gate(request.device.id, request.scans, facts)
    version = facts.manifest_versions.get(gate.event_id) if gate else None
    answer = stamped(msgspec.structs.replace(answer, message=AGAIN), now, version)
    return DeliveryPlan(request=request, answer=answer)


def main_gate(
    device_id: UUID, scans: Sequence[OfflineScan], facts: SyncFacts
) -> ScanningGate | None:
    """Where the device is; or else where it says that it was."""
    device = facts.devices.get(device_id)
    gate = facts.gates.get(device.gate_id) if device and device.gate_id else None
    if gate is not None:
        return gate
    return next(_named_gates(scans, facts), None)


def _named_gates(scans: Sequence[OfflineScan], facts: SyncFacts) -> Iterator[ScanningGate]:
    named = (named_gate(each, facts) for each in scans if each.refusal is None)
    return (each for each in named if each is not None)


def _planned(
    looked_at: DeliveryPlan,
    results: Sequence[SyncResult],
    conflicts: Sequence[Conflict],
    facts: SyncFacts,
    now: datetime,
) -> DeliveryPlan:
    request, gate = looked_at.request, looked_at.gate
    assert gate is not None
    ids = {each.scan.scan_id for each in results}
    own = [each for each in conflicts if each.scan_id in ids or each.winner_scan_id in ids]
    answer: DeliveryAnswer = request.delivery.answer(results, own, request.clock, now)
    answer = stamped(answer, now, facts.manifest_versions.get(gate.event_id))
    batch = _batch(request, gate, results, answer, now)
    return DeliveryPlan(
        request=request,
        answer=answer,
        gate=gate,
        results=results,
        conflicts=own,
        suspicions=suspicions_of(
            BatchFacts(
                batch=batch,
                device_name=request.device.name,
                created_at=request.delivery.created_at,
                clock=request.clock,
                results=results,
                nearby_entries=facts.nearby_entries.get(request.device.id, ()),
            )
        ),
        batch=batch,
    )


def _batch(
    request: SyncRequest,
    gate: ScanningGate,
    results: Sequence[SyncResult],
    answer: DeliveryAnswer,
    now: datetime,
) -> NewBatch:
    errors = sum(not each.is_good for each in results)
    waits = any(each.is_new and each.unverified for each in results)
    return NewBatch(
        id=request.id,
        batch_id=request.delivery.batch_id,
        source="offline_sync",
        device_id=request.device.id,
        event_id=gate.event_id,
        status=status_of(results),
        batch_size=len(results),
        processed_count=len(results) - errors,
        error_count=errors,
        offset_seconds=request.clock.offset.total_seconds(),
        processed_scan_ids=[each.scan.scan_id for each in results if each.is_learnt],
        synced_at=now,
        waiting_elsewhere=waiting_elsewhere(results, gate.event_id),
        state="unverified" if waits else None,
        fingerprint=request.delivery.fingerprint,
        answer=msgspec.json.encode(answer).decode(),
    )


def waiting_elsewhere(results: Sequence[SyncResult], event_id: UUID) -> list[UUID]:
    """The other events that scans which wait for review are about."""
    waiting = (each.row for each in results if each.row is not None)
    found = {each.event_id for each in waiting if each.reason_denied == "unverified"}
    return sorted(found - {event_id})


def stamped(answer: DeliveryAnswer, now: datetime, manifest_version: int | None) -> DeliveryAnswer:
    if isinstance(answer, BatchAnswer):
        return answer
    return msgspec.structs.replace(answer, server_time=now, manifest_version=manifest_version)


def answered_at(planned: DeliveryPlan, now: datetime) -> DeliveryPlan:
    """The plan with an answer that says when it was given."""
    answer = planned.answer
    if not isinstance(answer, SyncAnswer):
        return planned
    return msgspec.structs.replace(planned, answer=stamped(answer, now, answer.manifest_version))


def with_duration(planned: DeliveryPlan, seconds: float) -> DeliveryPlan:
    """How long it took, which the answer to a queue says, and which is kept with it."""
    answer, batch = planned.answer, planned.batch
    if batch is None or not isinstance(answer, BatchAnswer):
        return planned
    answer = msgspec.structs.replace(answer, sync_duration_seconds=seconds)
    kept = msgspec.structs.replace(batch, answer=msgspec.json.encode(answer).decode())
    return msgspec.structs.replace(planned, answer=answer, batch=kept)


def success_of(request: SyncRequest) -> SyncSuccess:
    measured = request.measured
    return SyncSuccess(
        device_id=request.device.id,
        key_version=request.key_version,
        offset_s=None if measured is None else measured.total_seconds(),
        periods=request.clock.change and request.clock.change.periods,
    )


def origin_of(request: SyncRequest) -> DeliveryOrigin:
    caller = request.caller
    return DeliveryOrigin(
        batch_id=request.delivery.batch_id, ip=caller.ip, user_agent=caller.user_agent
    )


def audit_entries_of(planned: DeliveryPlan) -> list[NewAuditEntry]:
    """One for the delivery, and one for each scan that was refused. Those of new scans say nothing that is
    not in their rows: they are made when these are written."""
    request, batch, answer = planned.request, planned.batch, planned.answer
    assert batch is not None
    changes: dict[str, object] = {
        "batch_id": batch.batch_id,
        "device_id": batch.device_id,
        "batch_size": batch.batch_size,
        "processed_count": batch.processed_count,
        "error_count": batch.error_count,
        "conflicts": len(planned.conflicts),
        "unverified": sum(each.is_new and each.unverified is not None for each in planned.results),
        "offset_seconds": batch.offset_seconds,
    }
    metadata: dict[str, object] = {
        "device_name": request.device.name,
        "batch_created_at": request.delivery.created_at,
    }
    if isinstance(answer, BatchAnswer):
        changes["duplicates"] = answer.summary.duplicate_scans
        changes["missing_tickets"] = answer.summary.missing_tickets
        changes["invalid_tickets"] = answer.summary.invalid_tickets
        metadata["sync_duration_seconds"] = answer.sync_duration_seconds
    entry = NewAuditEntry(
        request.caller, "batch_sync_completed", "BatchSync", batch.id, changes, metadata
    )
    refused = [each for each in planned.results if each.refusal is not None]
    return [entry, *(_refusal_entry(request.caller, each, batch.batch_id) for each in refused)]


def _refusal_entry(caller: Caller, result: SyncResult, batch_id: UUID) -> NewAuditEntry:
    scan, refusal = result.scan, result.refusal
    assert refusal is not None
    changes: dict[str, object] = {
        "ticket_code": scan.given,
        "error": refusal.code,
        "batch_id": batch_id,
    }
    return NewAuditEntry(caller, "scan_refused", "Scan", scan.scan_id, changes)
