"""Where scans are taken in that devices made without network: each batch once, all of it or nothing."""

import asyncio
import random
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import structlog

from voelgoed.accounts.actions.audit import NewAuditEntry, record_all
from voelgoed.infra import metrics, rate_limit
from voelgoed.infra.batcher import Batcher
from voelgoed.infra.database import ChangedMeanwhile, Database, Transaction
from voelgoed.infra.rate_limit import Limit
from voelgoed.infra.refusal import RateLimited, Refusal, StorageBusy, Unavailable
from voelgoed.scanning.actions.alerts import raise_alerts
from voelgoed.scanning.actions.blocking import block_devices
from voelgoed.scanning.actions.deliveries import A, Delivery
from voelgoed.scanning.actions.event_context import EventContext
from voelgoed.scanning.actions.figures import count_synced
from voelgoed.scanning.actions.last_scans import LastScans
from voelgoed.scanning.actions.own_device import DeviceCaller, own_device
from voelgoed.scanning.actions.policies import policies_of
from voelgoed.scanning.actions.sync_batch import Answer, SyncBatch, Work
from voelgoed.scanning.model.admission import TicketEntry
from voelgoed.scanning.model.devices import Device
from voelgoed.scanning.model.policies import DEDUP_WINDOW_S
from voelgoed.scanning.model.refusals import DeviceInactive, DeviceMismatch, TooManySyncs
from voelgoed.scanning.model.stations import ScanningGate
from voelgoed.scanning.model.sync import SIGNED_SCANS_MAX
from voelgoed.scanning.rules.batches import failing_device, revoked_device
from voelgoed.scanning.rules.device_clock import ClockMeasurement, clock_of, last_measurement
from voelgoed.scanning.store import stations, syncs

log = structlog.get_logger()

TOGETHER_MAX = 10
"""Deliveries of fifty at most."""
IN_FLIGHT_MAX = 2
"""Of one organisation. The gates that are online come first."""
WAITING_MAX = 200
"""Of one organisation."""
ATTEMPTS_MAX = 10
AGAIN_S = (2, 8)
"""Between which somebody is asked to come again, so that not all come at once."""
LATE_S_MAX = 5
"""Added to the end of a device's minute."""
SYNC_PERIOD = timedelta(minutes=1)
QUEUES_PER_MINUTE_MAX = 60
"""Whole ones, from one device."""
FAILURES_NOTED = Limit(20, SYNC_PERIOD)
"""Of each device."""


class SyncPipeline:
    def __init__(
        self,
        database: Database,
        context: EventContext,
        last_scans: LastScans,
        batches_per_minute_max: int,
    ) -> None:
        self._database = database
        self._context = context
        self._last_scans = last_scans
        self.batch_limit = Limit(batches_per_minute_max, SYNC_PERIOD)
        self.queue_limit = Limit(QUEUES_PER_MINUTE_MAX, SYNC_PERIOD)
        self._waiting = Counter[UUID]()
        self._one_large = asyncio.Lock()
        self._own_large = defaultdict[UUID, asyncio.Lock](asyncio.Lock)
        self._batcher = Batcher[UUID, Work, Answer](
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
        known = last_measurement(device) if measured is None else ClockMeasurement(measured, now)
        clock = clock_of(delivery.claimed, known, now)
        work = Work(proven, device, delivery, clock, measured)
        organization_id = proven.caller.organization_id
        if self._waiting[organization_id] >= WAITING_MAX:
            raise TooManySyncs(retry_after_seconds=random.randint(*AGAIN_S))  # noqa: S311
        self._waiting[organization_id] += 1
        try:
            answer = await self._pass_on(work)
        finally:
            self._waiting[organization_id] -= 1
        assert isinstance(answer, delivery.shape)
        return answer

    async def _pass_on(self, work: Work) -> Answer:
        """Small ones go together, large ones one after the other, the organisations in turn."""
        organization_id = work.proven.caller.organization_id
        if len(work.delivery) <= SIGNED_SCANS_MAX:
            return await self._batcher.submit(organization_id, work)
        async with self._own_large[organization_id], self._one_large:
            [answer] = await self._together(organization_id, [work])
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def _together(
        self, organization_id: UUID, works: Sequence[Work]
    ) -> Sequence[Answer | Exception]:
        """What is sent twice at once is looked at twice, the second time knowing."""
        first = {work.delivery.batch_id: work for work in reversed(works)}
        await self._take_in(organization_id, list(first.values()))
        for work in works:
            if first[work.delivery.batch_id] is not work:
                await self._take_in(organization_id, [work])
        return [work.refusal or work.answer or StorageBusy() for work in works]

    async def _take_in(self, organization_id: UUID, works: Sequence[Work]) -> None:
        begun = time.monotonic()
        for _ in range(ATTEMPTS_MAX):
            try:
                await SyncBatch(self._database, self._context, works).take_in(organization_id)
            except ChangedMeanwhile:
                continue
            await self._follow_up(organization_id, works, begun)
            return
        raise StorageBusy()

    async def _admit(self, proven: DeviceCaller, key: str, limit: Limit | None) -> Device:
        """Apart from the work, so that what fails counts."""
        found, granted = list[Device](), list[bool]()

        async def find_device() -> None:
            found.append(await own_device(tx, proven))

        async def take() -> None:
            if limit is not None:
                granted.append(await rate_limit.take_all(tx, {key: 1}, {key: limit}))

        async with self._database.at_once(proven.caller.organization_id) as tx:
            await tx.gather(find_device(), take())
        if granted == [False]:
            async with self._database.transaction(proven.caller.organization_id) as tx:
                window = (await rate_limit.windows(tx, [key])).get(key)
            left = window.ends_at - tx.now if window else timedelta(seconds=1)
            late = random.randint(1, LATE_S_MAX)  # noqa: S311
            raise RateLimited(retry_after_seconds=int(left.total_seconds()) + late)
        return found[0]

    async def _follow_up(self, organization_id: UUID, works: Sequence[Work], begun: float) -> None:
        """What nothing depends on."""
        now = self._database.clock.now()
        taken = [each for work in works for each in work.taken]
        count_synced(taken, now)
        entries = [
            TicketEntry(scan, ticket.barcode_hash, window)
            for each in taken
            if (scan := each.scan) is not None
            and (ticket := each.ticket) is not None
            and each.is_last_entry
            and (window := _window_of(each.gate))
            > (now - scan.scanned_at_canonical).total_seconds()
        ]
        if entries:
            await self._last_scans.remember(organization_id, entries, begun)

    async def fail(self, proven: DeviceCaller, refusal: Refusal, **about: str) -> None:
        """Told of whatever was not taken in, readable or not."""
        is_asked_to_wait = isinstance(refusal, RateLimited | TooManySyncs)
        metrics.syncs.labels("delayed" if is_asked_to_wait else "failed").inc()
        log.warning("sync.failed", error=refusal.code, device_id=str(proven.caller.id), **about)
        if not is_asked_to_wait and not isinstance(refusal, Unavailable):
            await self._note_failure(proven, refusal)

    async def _note_failure(self, proven: DeviceCaller, refusal: Refusal) -> None:
        """Of a device that failed to bring anything; after a few in a row somebody should know."""
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


async def _is_worth_noting(tx: Transaction, device_id: UUID) -> bool:
    """Whoever has the key of a revoked device could fill the audit log with it."""
    try:
        await rate_limit.take(tx, f"sync-failures:{device_id}", FAILURES_NOTED)
    except RateLimited:
        return False
    return True


def _window_of(gate: ScanningGate | None) -> int:
    window = gate and gate.dedup_window_s
    return DEDUP_WINDOW_S if window is None else window
