"""The sync pipeline for scans that devices made without network: each delivery is kept once, in one
transaction."""

import asyncio
import random
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from uuid import UUID

import msgspec
import structlog

from voelgoed.accounts.actions.audit import record_all
from voelgoed.accounts.model import Caller, NewAuditEntry
from voelgoed.infra import rate_limit
from voelgoed.infra.batcher import Batcher
from voelgoed.infra.database import ChangedMeanwhile, Database, Transaction
from voelgoed.infra.ids import new_id
from voelgoed.infra.rate_limit import Limit
from voelgoed.infra.refusal import RateLimited, Refusal, StorageBusy, Unavailable
from voelgoed.scanning import metrics
from voelgoed.scanning.actions.alerts import raise_alerts
from voelgoed.scanning.actions.blocking import block_devices
from voelgoed.scanning.actions.figures import count_synced
from voelgoed.scanning.actions.history_commit import commit_history, forget_last_scans
from voelgoed.scanning.actions.last_scans import LastScans
from voelgoed.scanning.actions.own_device import DeviceCaller, own_device
from voelgoed.scanning.actions.policies import policies_of
from voelgoed.scanning.model.admission import TicketEntry
from voelgoed.scanning.model.devices import Device
from voelgoed.scanning.model.occupancy import Presence
from voelgoed.scanning.model.policies import DEDUP_WINDOW_S
from voelgoed.scanning.model.refusals import (
    ROTATION_DEMANDED,
    DeviceInactive,
    DeviceMismatch,
    TooManySyncs,
)
from voelgoed.scanning.model.stations import ScanningGate
from voelgoed.scanning.model.sync import SIGNED_SCANS_MAX
from voelgoed.scanning.model.sync_facts import SyncQuestion
from voelgoed.scanning.rules.batches import failing_device, revoked_device
from voelgoed.scanning.rules.deliveries import A, Delivery
from voelgoed.scanning.rules.device_clock import read_clock
from voelgoed.scanning.rules.messages import (
    batch_synced,
    batch_topic,
    occupancy_synced,
)
from voelgoed.scanning.rules.occupancy import presence_at
from voelgoed.scanning.rules.offline_scans import question_about
from voelgoed.scanning.rules.sync_batch import (
    DeliveryAnswer,
    DeliveryPlan,
    SyncPlan,
    SyncRequest,
    answered_at,
    audit_entries_of,
    decide,
    origin_of,
    success_of,
    with_duration,
)
from voelgoed.scanning.store import occupancy, offline, stations, syncs
from voelgoed.seating.rules.messages import occupancy_topic

log = structlog.get_logger()

TOGETHER_MAX = 10
"""Deliveries of fifty at most."""
SMALL_MAX = TOGETHER_MAX * SIGNED_SCANS_MAX
"""Scans of which PostgreSQL keeps the plan; for more it plans anew."""
INLINE_MAX = 100
"""Scans, with those that are known of their tickets: so many are decided on the event loop, more in a thread."""
IN_FLIGHT_MAX = 2
"""Groups of deliveries of one organisation; few, because gates that are online come first."""
WAITING_MAX = 200
"""Deliveries of one organisation."""
ATTEMPTS_MAX = 10
AGAIN_S = (2, 8)
"""The range of seconds after which devices are asked to come again, so that not all come at
once."""
LATE_S_MAX = 5
"""Added to the end of a device's minute."""
SYNC_PERIOD = timedelta(minutes=1)
QUEUES_PER_MINUTE_MAX = 60
"""Whole queues from one device."""
FAILURES_NOTED = Limit(20, SYNC_PERIOD)
"""Failures of each device that are recorded."""


class SyncPipeline:
    def __init__(
        self,
        database: Database,
        last_scans: LastScans,
        batches_per_minute_max: int,
    ) -> None:
        self._database = database
        self._last_scans = last_scans
        self.batch_limit = Limit(batches_per_minute_max, SYNC_PERIOD)
        self.queue_limit = Limit(QUEUES_PER_MINUTE_MAX, SYNC_PERIOD)
        self._waiting = Counter[UUID]()
        self._one_large = asyncio.Lock()
        self._own_large = defaultdict[UUID, asyncio.Lock](asyncio.Lock)
        self._batcher = Batcher[UUID, SyncRequest, DeliveryAnswer](
            "syncs", self._together, together_max=TOGETHER_MAX, in_flight_max=IN_FLIGHT_MAX
        )

    async def receive(
        self,
        proven: DeviceCaller,
        delivery: Delivery[A],
        measured: timedelta | None,
        *,
        limit: Limit | None,
    ) -> A:
        begun = time.monotonic()
        about = {"device_id": str(proven.caller.id), "batch_id": str(delivery.batch_id)}
        log.info("sync.attempt", scans=len(delivery), **about)
        try:
            answer = await self._receive(proven, delivery, measured, limit=limit)
        except Refusal as refusal:
            await self.fail(proven, refusal, batch_id=str(delivery.batch_id))
            raise
        elapsed = time.monotonic() - begun
        metrics.syncs.labels("success").inc()
        metrics.sync_duration.observe(elapsed)
        log.info("sync.success", seconds=round(elapsed, 3), **about)
        return answer

    async def _receive(
        self,
        proven: DeviceCaller,
        delivery: Delivery[A],
        measured: timedelta | None,
        *,
        limit: Limit | None,
    ) -> A:
        if delivery.device_id != proven.caller.id:
            raise DeviceMismatch()
        device = await self._admit(proven, f"sync:{delivery.form}:{delivery.device_id}", limit)
        now = self._database.clock.now()
        clock = read_clock(device, delivery.claimed, measured, now)
        request = SyncRequest(
            id=new_id(),
            caller=proven.caller,
            key_version=proven.key_version,
            device=device,
            delivery=delivery,
            clock=clock,
            measured=measured,
            scans=delivery.read(device, clock, now),
        )
        organization_id = proven.caller.organization_id
        if self._waiting[organization_id] >= WAITING_MAX:
            raise TooManySyncs(retry_after_seconds=random.randint(*AGAIN_S))  # noqa: S311
        self._waiting[organization_id] += 1
        try:
            answer = await self._pass_on(organization_id, request)
        finally:
            self._waiting[organization_id] -= 1
        assert isinstance(answer, delivery.shape)
        return answer

    async def _admit(self, proven: DeviceCaller, key: str, limit: Limit | None) -> Device:
        """Counts in a transaction of its own, so that failed deliveries count."""
        async with self._database.transaction(proven.caller.organization_id) as tx:
            device = await own_device(tx, proven)
            if limit is None or await rate_limit.take_all(tx, {key: 1}, {key: limit}):
                return device
            window = (await rate_limit.windows(tx, [key])).get(key)
        left = window.ends_at - tx.now if window else timedelta(seconds=1)
        late = random.randint(1, LATE_S_MAX)  # noqa: S311
        raise RateLimited(retry_after_seconds=int(left.total_seconds()) + late)

    async def _pass_on(self, organization_id: UUID, request: SyncRequest) -> DeliveryAnswer:
        """Small ones go together, large ones one after the other, the organisations in turn."""
        if len(request.delivery) <= SIGNED_SCANS_MAX:
            return await self._batcher.submit(organization_id, request)
        async with self._own_large[organization_id], self._one_large:
            [answer] = await self._together(organization_id, [request])
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def _together(
        self, organization_id: UUID, requests: Sequence[SyncRequest]
    ) -> Sequence[DeliveryAnswer | Exception]:
        """A delivery that is sent twice at once is processed twice, and the second time it is
        known."""
        first = {each.delivery.batch_id: each for each in reversed(requests)}
        planned = await self._take_in(organization_id, list(first.values()))
        for request in requests:
            if first[request.delivery.batch_id] is not request:
                planned |= await self._take_in(organization_id, [request])
        results = [planned[request.id] for request in requests]
        return [each.refusal or each.answer or StorageBusy() for each in results]

    async def _take_in(
        self, organization_id: UUID, requests: Sequence[SyncRequest]
    ) -> dict[UUID, DeliveryPlan]:
        """The result of each delivery, by its id. Starts again when something changed meanwhile."""
        begun = time.monotonic()
        for _ in range(ATTEMPTS_MAX):
            try:
                plan = await self._attempt(organization_id, requests, begun)
            except ChangedMeanwhile:
                continue
            await self._follow_up(organization_id, plan, begun)
            await self._publish_occupancy(organization_id, plan)
            # After all of it is kept: who compares it with a manifest's time errs on the safe side.
            now = self._database.clock.now()
            return {each.request.id: answered_at(each, now) for each in plan.deliveries}
        raise StorageBusy()

    async def _attempt(
        self, organization_id: UUID, requests: Sequence[SyncRequest], begun: float
    ) -> SyncPlan:
        """Load, decide, commit."""
        scans = [scan for request in requests for scan in request.scans]
        is_small = len(scans) <= SMALL_MAX
        system = Caller(kind="system", id=None, organization_id=organization_id)
        # For thousands at once PostgreSQL should plan anew; for fifty that takes longer than they do.
        async with self._database.transaction(organization_id, is_often=is_small) as tx:
            batch_ids = [request.delivery.batch_id for request in requests]
            question = question_about(scans, batch_ids)
            plan = await self._plan(tx, requests, question)
            if plan.needs_whole:
                whole = msgspec.structs.replace(question, is_whole=True)
                plan = await self._plan(tx, requests, whole)
            elapsed_s = round(time.monotonic() - begun, 3)
            plan = msgspec.structs.replace(
                plan, deliveries=[with_duration(each, elapsed_s) for each in plan.deliveries]
            )
            to_write = plan.to_write
            if not to_write:
                return plan
            # Of several deliveries of one device, one that measured its clock comes last and counts.
            measured_last = sorted(to_write, key=lambda each: each.request.measured is not None)
            successes = {each.request.device.id: success_of(each.request) for each in measured_last}
            await commit_history(
                tx,
                system,
                plan.history,
                scans=[row for each in to_write for result in each.results if (row := result.row)],
                batches=[each.batch for each in to_write if each.batch is not None],
                successes=list(successes.values()),
                entries=[entry for each in to_write for entry in audit_entries_of(each)],
                origins=[origin_of(each.request) for each in to_write],
                suspicions=[suspicion for each in to_write for suspicion in each.suspicions],
            )
            forget_last_scans(tx, plan.changed_codes)
            _publish(tx, to_write)
        return plan

    async def _plan(
        self,
        tx: Transaction,
        requests: Sequence[SyncRequest],
        question: SyncQuestion,
    ) -> SyncPlan:
        """Many scans are decided in a thread, so that nobody at a gate waits for them."""
        facts = await offline.read_facts(tx, question)
        decided = partial(decide, requests, facts, tx.now, iter(new_id, None))
        scans = len(question.scan_ids) + sum(map(len, facts.histories.values()))
        return decided() if scans <= INLINE_MAX else await asyncio.to_thread(decided)

    async def _publish_occupancy(self, organization_id: UUID, plan: SyncPlan) -> None:
        """To followers of the events. In a transaction of its own: until the one that changed the counts ends,
        everybody who scans at the event waits for it."""
        changed = {each.event_id for each in plan.history.counts}
        if not changed:
            return
        try:
            async with self._database.transaction(organization_id) as tx:
                present = {event_id: await self._presence(tx, event_id) for event_id in changed}
                for planned in plan.to_write:
                    gate, batch = planned.gate, planned.batch
                    assert gate is not None
                    assert batch is not None
                    if (here := present.get(gate.event_id)) is not None:
                        added = sum(each.is_good and each.is_learnt for each in planned.results)
                        tx.publish(
                            occupancy_topic(organization_id, gate.event_id),
                            occupancy_synced(batch.batch_id, gate, added, here, tx.now),
                        )
        except (
            Unavailable
        ) as refusal:  # the scans are kept, and the next change tells of the counts
            log.warning("occupancy_not_published", error=refusal.code)

    async def _presence(self, tx: Transaction, event_id: UUID) -> Presence:
        return presence_at(await occupancy.read_occupancy_facts(tx, event_id), tx.now)

    async def _follow_up(self, organization_id: UUID, plan: SyncPlan, begun: float) -> None:
        """Figures and caches, on which no answer depends."""
        now = self._database.clock.now()
        results = [result for each in plan.deliveries for result in each.results]
        count_synced(results, now)
        entries = [
            TicketEntry(row, ticket.barcode_hash, window)
            for each in results
            if (row := each.row) is not None
            and (ticket := each.ticket) is not None
            and each.is_last_entry
            and (window := _window_of(each.gate)) > (now - row.scanned_at_canonical).total_seconds()
        ]
        if entries:
            await self._last_scans.remember(organization_id, entries, begun)

    async def fail(self, proven: DeviceCaller, refusal: Refusal, **about: str) -> None:
        """Called for every delivery that was refused, readable or not."""
        # A device that is told to rotate does, and comes again: there is nothing to look at for anybody.
        is_to_come_again = (
            isinstance(refusal, RateLimited | TooManySyncs)
            or refusal.details.get("status") == ROTATION_DEMANDED
        )
        metrics.syncs.labels("delayed" if is_to_come_again else "failed").inc()
        log.warning("sync.failed", error=refusal.code, device_id=str(proven.caller.id), **about)
        if not is_to_come_again and not isinstance(refusal, Unavailable):
            await self._note_failure(proven, refusal)

    async def _note_failure(self, proven: DeviceCaller, refusal: Refusal) -> None:
        """Records that a device failed to deliver; several failures in a row raise an alert."""
        caller = proven.caller
        assert caller.id is not None
        try:
            async with self._database.transaction(caller.organization_id) as tx:
                if not await _is_worth_noting(tx, caller.id):
                    return
                changes: dict[str, object] = {"error": refusal.code, **refusal.details}
                await record_all(
                    tx, [NewAuditEntry(caller, "sync_refused", "ScanDevice", caller.id, changes)]
                )
                gates = await stations.find_gates(tx, [caller.id])
                suspicion = failing_device(
                    await syncs.note_failure(tx, caller.id), caller.id, gates, refusal.code, tx.now
                )
                suspicions = [suspicion] if suspicion else []
                policies = await policies_of(tx, [each.event_id for each in suspicions])
                await block_devices(tx, suspicions, policies)
                if isinstance(refusal, DeviceInactive):
                    suspicions += revoked_device(caller.id, gates, refusal.details, tx.now)
                await raise_alerts(tx, suspicions)
        except Unavailable:
            log.warning("sync_failure_not_noted", device_id=str(caller.id), error=refusal.code)


def _publish(tx: Transaction, to_write: Sequence[DeliveryPlan]) -> None:
    """Publishes results to the devices."""
    for planned in to_write:
        batch = planned.batch
        assert batch is not None
        message = batch_synced(
            batch.batch_id, batch.status, batch.processed_count, batch.error_count, tx.now
        )
        tx.publish(batch_topic(batch.batch_id), message)


async def _is_worth_noting(tx: Transaction, device_id: UUID) -> bool:
    """Limits what is recorded: anybody with the key of a revoked device could fill the audit log."""
    try:
        await rate_limit.take(tx, f"sync-failures:{device_id}", FAILURES_NOTED)
    except RateLimited:
        return False
    return True


def _window_of(gate: ScanningGate | None) -> int:
    window = gate and gate.dedup_window_s
    return DEDUP_WINDOW_S if window is None else window
