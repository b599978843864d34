"""Where online scans are answered: requested one by one, decided and written together.

Each batch is loaded (`store/admission.py`), decided (`rules/admit_batch.py`) and written, and its plan
says what to answer. What follows from it (`scan_follow_up.py`) begins when all have their answers, and
nobody at a gate waits for it.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from uuid import UUID

import msgspec

from voelgoed.accounts.model import Caller
from voelgoed.infra.batcher import Batcher
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import AT_ONCE_LOCK_TIMEOUT_MS, Database, Transaction
from voelgoed.infra.ids import new_id
from voelgoed.infra.live import Live
from voelgoed.infra.refusal import StorageBusy, StorageUnavailable
from voelgoed.scanning.actions.event_context import EventContext, together
from voelgoed.scanning.actions.last_scans import LastScans
from voelgoed.scanning.actions.scan_follow_up import CommittedBatch, ScanFollowUp
from voelgoed.scanning.actions.watch import FraudWatch
from voelgoed.scanning.model.admission import (
    AdmissionFacts,
    AdmissionPlan,
    DeviceCredential,
    LastEntry,
    ScanDecision,
    ScanRequest,
)
from voelgoed.scanning.model.occupancy import Counted
from voelgoed.scanning.model.scans import Answer, NewScan, SeatInfo
from voelgoed.scanning.rules.admit_batch import (
    decide,
    gates_of,
    limited_gates,
    stations_behind,
    stations_of,
    with_counts,
)
from voelgoed.scanning.rules.answers import answer_of
from voelgoed.scanning.rules.presented import read_presented
from voelgoed.scanning.store.admission import read_facts, write_plan
from voelgoed.ticketing.actions.admissions import last_scan_key

TOGETHER_MAX = 33
IN_FLIGHT_MAX = 3
"""Batches of one organisation: while PostgreSQL writes one, the next is read and another decided. Larger or fewer
of them leave this process idle: a quarter less scans a second, with fifty devices that scan all the time."""
ATTEMPTS_MAX = 5
ANSWER_S = 1.8
"""A device that hears nothing for longer decides by itself."""
BUSY_S = ANSWER_S - 2 * AT_ONCE_LOCK_TIMEOUT_MS / 1000
"""The time within which a request may queue once more: to wait for the lock together, and then
alone."""


class ScanPipeline:
    def __init__(self, database: Database, cache: Cache, live: Live, watch: FraudWatch) -> None:
        self._database = database
        self.context = EventContext(database, cache)
        self.last_scans = LastScans(cache)
        self._follow_up = ScanFollowUp(database, live, self.last_scans, watch)
        self._batcher = Batcher[UUID, ScanRequest, Answer](
            "scans",
            self._in_time,
            together_max=TOGETHER_MAX,
            in_flight_max=IN_FLIGHT_MAX,
            follow_up=self._follow_up.begin,
        )

    async def scan(self, caller: Caller, key_version: int, new: NewScan) -> Answer:
        scan_id = msgspec.convert(new.scan_id, UUID) if new.scan_id else new_id()
        request = ScanRequest(
            caller=caller,
            by=DeviceCredential(key_version, new.device_id),
            scan_id=scan_id,
            sent_id=new.scan_id or str(scan_id),
            audit_id=new_id(),
            text=new.ticket_code.strip(),
            presented=read_presented(new.ticket_code),
            direction=new.direction,
            scanned_at=new.scanned_at,
            received_at=self._database.clock.now(),
        )
        return await self.submit(request)

    async def submit(self, request: ScanRequest) -> Answer:
        """A request that finds somebody else at work on its ticket queues again, behind the others."""
        begun = time.monotonic()
        while True:
            try:
                return await self._batcher.submit(request.caller.organization_id, request)
            except StorageBusy:
                if time.monotonic() - begun > BUSY_S:
                    raise

    async def is_idle(self) -> None:
        """Returns when all has been done that follows from scans that were answered."""
        await self._follow_up.is_idle()

    async def stop(self) -> None:
        await self._follow_up.stop()

    async def _in_time(
        self, organization_id: UUID, requests: Sequence[ScanRequest]
    ) -> Sequence[Answer | Exception]:
        """What takes longer is given up, with its connection: it may be written or not, and a device that asks
        again under the same ids hears which."""
        try:
            async with asyncio.timeout(ANSWER_S):
                return await self._run(organization_id, requests)
        except TimeoutError:
            raise StorageUnavailable() from None

    async def _run(
        self, organization_id: UUID, requests: Sequence[ScanRequest]
    ) -> Sequence[Answer | Exception]:
        """Load, decide, commit; again where something was missing, or changed meanwhile."""
        hints = await self.last_scans.hints(organization_id, requests)
        for _ in range(ATTEMPTS_MAX):
            begun, answers = time.monotonic(), None
            async with self._database.at_once(organization_id) as tx:
                facts = await self._load(tx, requests, hints)
                missing = self.context.missing_layouts(gates_of(requests, facts) if facts else ())
                plan = decide(requests, facts, tx.now) if facts and not missing else None
                counts = await self._commit(tx, plan) if plan else None
                if plan and counts is not None:  # whatever happens now, it has been written
                    answers = self._answers(organization_id, plan, counts, begun)
            if answers is not None:
                return answers
            if missing:
                await self.context.fetch_layouts(organization_id, missing)
            elif plan is not None:
                hints = {code: hints[code] for code in hints if code not in plan.needs_tickets}
        raise StorageBusy()

    async def _load(
        self, tx: Transaction, requests: Sequence[ScanRequest], hints: Mapping[str, LastEntry]
    ) -> AdmissionFacts | None:
        """None where the stations that are remembered have changed, or more of them are needed."""
        organization_id, context = tx.organization_id, self.context
        wanted = stations_of(requests, hints)
        stations = await context.stations(tx, wanted)
        limited = limited_gates(requests, stations)
        facts = await read_facts(tx, requests, hints, stations, limited)
        if facts is None:
            context.forget_stations(organization_id)
            return None
        further = stations_behind(requests, facts)
        if not context.has_stations(organization_id, further):
            await context.stations(tx, together(wanted, further))
            return None
        return facts

    async def _commit(self, tx: Transaction, plan: AdmissionPlan) -> list[Counted] | None:
        """None where the plan lacks something, or what it was made from changed meanwhile."""
        if plan.needs_tickets:
            return None
        counts = await write_plan(tx, plan)
        if counts is not None and plan.exits:
            tx.drop(*(last_scan_key(tx.organization_id, code) for code in plan.exits))
        return counts

    def _answers(
        self, organization_id: UUID, plan: AdmissionPlan, counts: Sequence[Counted], begun: float
    ) -> list[Answer | Exception]:
        decisions = with_counts(plan, counts)
        seats = [self._seat_of(each) for each in decisions]
        self._follow_up.add(organization_id, CommittedBatch(plan, decisions, seats, begun))
        return [_answer(each, seat) for each, seat in zip(decisions, seats, strict=True)]

    def _seat_of(self, decision: ScanDecision) -> SeatInfo | None:
        gate, place = decision.gate, decision.place
        return self.context.seat(gate.layout_id, place) if gate and place else None


def _answer(decision: ScanDecision, seat: SeatInfo | None) -> Answer | Exception:
    if decision.refusal is not None:
        return decision.refusal
    assert decision.scan is not None
    return answer_of(decision.scan, seat, decision.request.sent_id)
