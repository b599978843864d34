"""Where scans are answered: one by one as devices ask, together as they are written."""

import asyncio
import time
from collections.abc import Sequence
from uuid import UUID

import msgspec

from voelgoed.accounts.model import Caller
from voelgoed.infra.batcher import Batcher
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import (
    AT_ONCE_LOCK_TIMEOUT_MS,
    ChangedMeanwhile,
    Database,
    Transaction,
)
from voelgoed.infra.ids import new_id
from voelgoed.infra.refusal import StorageBusy, StorageUnavailable
from voelgoed.scanning.actions.batch import Batch, HintsWrong
from voelgoed.scanning.actions.event_context import EventContext, PlansMissing
from voelgoed.scanning.actions.figures import count_scans
from voelgoed.scanning.actions.last_scans import Entered, LastScans
from voelgoed.scanning.actions.scan_requests import Credential, Outcome, Wanted
from voelgoed.scanning.actions.watch import FraudWatch
from voelgoed.scanning.model.policies import DEDUP_WINDOW_S
from voelgoed.scanning.model.scans import Answer, NewScan, Scan, SeatInfo
from voelgoed.scanning.model.stations import ScanningGate
from voelgoed.scanning.rules.answers import answer_of
from voelgoed.scanning.rules.messages import counted, denied, gate_topic, passed
from voelgoed.scanning.rules.presented import read_presented
from voelgoed.scanning.store import stations
from voelgoed.seating.rules.messages import occupancy_topic
from voelgoed.ticketing.actions import admissions

TOGETHER_MAX = 100
IN_FLIGHT_MAX = 2
"""Of one organisation: while PostgreSQL writes one batch, the next is read and decided."""
ATTEMPTS_MAX = 5
ANSWER_S = 1.8
"""A device that hears nothing for longer decides by itself."""
BUSY_S = ANSWER_S - 2 * AT_ONCE_LOCK_TIMEOUT_MS / 1000
"""How long there is time to queue once more: to wait for the lock together, and then alone."""


class ScanPipeline:
    def __init__(self, database: Database, cache: Cache, watch: FraudWatch) -> None:
        self._database = database
        self._watch = watch
        self.context = EventContext(database, cache)
        self.last_scans = LastScans(cache)
        self._given_up: set[asyncio.Future[Sequence[Answer | Exception]]] = set()
        self._batcher = Batcher[UUID, Wanted, Answer](
            "scans", self._in_time, together_max=TOGETHER_MAX, in_flight_max=IN_FLIGHT_MAX
        )

    async def scan(self, caller: Caller, key_version: int, new: NewScan) -> Answer:
        now = self._database.clock.now()
        presented = read_presented(new.ticket_code)
        last = None
        if presented is not None and new.direction == "entry":
            last = self.last_scans.hot(caller.organization_id, presented.code)
        wanted = Wanted(
            caller=caller,
            by=Credential(key_version, new.device_id),
            scan_id=new.scan_id or new_id(),
            given=new.ticket_code.strip(),
            presented=presented,
            direction=new.direction,
            scanned_at=new.scanned_at,
            received_at=now,
            last=last,
        )
        return await self.submit(wanted)

    async def submit(self, wanted: Wanted) -> Answer:
        """Who finds somebody else at work on their ticket queues again, behind those who do not."""
        begun = time.monotonic()
        while True:
            try:
                return await self._batcher.submit(wanted.caller.organization_id, wanted)
            except StorageBusy:
                if time.monotonic() - begun > BUSY_S:
                    raise

    async def _in_time(
        self, organization_id: UUID, wishes: Sequence[Wanted]
    ) -> Sequence[Answer | Exception]:
        """One timer for all of them. What takes longer is given up, and not waited for: it may be
        written or not, and who asks again under the same ids will hear which."""
        work = asyncio.ensure_future(self._together(organization_id, wishes))
        self._given_up.add(work)
        work.add_done_callback(self._let_go)
        done, _ = await asyncio.wait({work}, timeout=ANSWER_S)
        if not done or work.cancelled():
            work.cancel()
            raise StorageUnavailable()
        return work.result()

    def _let_go(self, work: "asyncio.Future[Sequence[Answer | Exception]]") -> None:
        self._given_up.discard(work)
        if not work.cancelled():
            work.exception()  # of what was given up nobody asks for it

    async def _together(
        self, organization_id: UUID, wishes: Sequence[Wanted]
    ) -> Sequence[Answer | Exception]:
        """Again from the start, when what was at hand was not enough or is of yesterday."""
        wishes = await self._asked_redis(organization_id, wishes)
        for _ in range(ATTEMPTS_MAX):
            try:
                return await self._attempt(organization_id, wishes)
            except PlansMissing as missing:
                await self.context.bring(missing)
            except HintsWrong:
                wishes = [msgspec.structs.replace(wanted, last=None) for wanted in wishes]
            except ChangedMeanwhile:
                pass
        raise StorageBusy()

    async def _asked_redis(
        self, organization_id: UUID, wishes: Sequence[Wanted]
    ) -> Sequence[Wanted]:
        """About entries that this process does not remember; what Redis knows of a ticket is only
        enough where its barcode says the rest."""
        asked = [
            (at, wanted.presented.code)
            for at, wanted in enumerate(wishes)
            if wanted.presented is not None
            and wanted.presented.barcode_hash is not None
            and wanted.last is None
            and wanted.direction == "entry"
        ]
        if not asked or not self.last_scans.has_warm:
            return wishes
        found = await self.last_scans.warm(organization_id, [code for _, code in asked])
        hinted = list(wishes)
        for (at, _), last in zip(asked, found, strict=True):
            if last is not None:
                hinted[at] = msgspec.structs.replace(wishes[at], last=last)
        return hinted

    async def _attempt(
        self, organization_id: UUID, wishes: Sequence[Wanted]
    ) -> Sequence[Answer | Exception]:
        begun = time.monotonic()
        async with self._database.at_once(organization_id) as tx:
            batch = Batch(tx, self._database, self.context, wishes)
            await batch.read()
            await batch.decide()
            await self._complete(organization_id, batch.outcomes)
            await batch.write()
            answers = [self._answer(tx, outcome) for outcome in batch.outcomes]
        self._watch.note(organization_id, batch.outcomes)
        await self._remember(organization_id, batch.outcomes, begun)
        count_scans([each.scan for each in batch.outcomes if each.is_new and each.scan is not None])
        return answers

    async def _complete(self, organization_id: UUID, outcomes: Sequence[Outcome]) -> None:
        """Answers that were given before need what was looked at then."""
        again = [each for each in outcomes if each.scan and each.scan.status == "admitted"]
        if not again:
            return
        async with self._database.transaction(organization_id) as tx:
            for outcome in again:
                assert outcome.scan is not None
                assert outcome.scan.ticket_id is not None
                outcome.place = await admissions.place_of(tx, outcome.scan.ticket_id)
                gates = await stations.find_gates(tx, [], [outcome.scan.gate_id])
                for gate in gates:  # if there still is
                    self.context.require_plans(organization_id, [gate])
                    outcome.gate = gate

    def _answer(self, tx: Transaction, outcome: Outcome) -> Answer | Exception:
        if outcome.refusal is not None:
            return outcome.refusal
        scan, gate, place = outcome.scan, outcome.gate, outcome.place
        assert scan is not None
        seat = self.context.seat(gate.layout_id, place) if gate and place else None
        if outcome.is_new:
            _tell(tx, scan, seat)
        return answer_of(scan, seat)

    async def _remember(
        self, organization_id: UUID, outcomes: Sequence[Outcome], begun: float
    ) -> None:
        """Not of a ticket that was used and yet let in by hand: a second time it is denied as used."""
        entries = [
            Entered(outcome.scan, outcome.ticket.barcode_hash, _window_of(outcome.gate))
            for outcome in outcomes
            if outcome.move is not None
            and outcome.move.is_entry
            and outcome.scan is not None
            and outcome.ticket is not None
            and outcome.ticket.status in ("active", "scanned")
            and outcome.gate is not None
        ]
        if entries:
            await self.last_scans.remember(organization_id, entries, begun)


def _window_of(gate: ScanningGate) -> int:
    return DEDUP_WINDOW_S if gate.dedup_window_s is None else gate.dedup_window_s


def _tell(tx: Transaction, scan: Scan, seat: SeatInfo | None) -> None:
    topic = gate_topic(scan.gate_id)
    if scan.status == "denied":
        tx.publish(topic, denied(scan))
        return
    if scan.direction == "exit":
        # What a cache remembers of the entry does not say that they left.
        tx.drop(admissions.last_scan_key(tx.organization_id, scan.ticket_code))
    tx.publish(topic, passed(scan, seat))
    tx.publish(occupancy_topic(tx.organization_id, scan.event_id), counted(scan))
