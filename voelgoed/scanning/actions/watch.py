"""The watch: looks at what was scanned a moment ago, apart from the gates and never in their way."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Sequence
from uuid import UUID

import structlog

from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.refusal import StorageUnavailable
from voelgoed.scanning.actions.alerts import raise_alerts
from voelgoed.scanning.actions.blocking import block_devices
from voelgoed.scanning.actions.policies import policies_of
from voelgoed.scanning.metrics import scans_unwatched
from voelgoed.scanning.model.admission import ScanDecision
from voelgoed.scanning.model.alerts import DeviceError, Findings, Round, WatchQuestions
from voelgoed.scanning.model.refusals import TimestampOutOfRange
from voelgoed.scanning.rules.fraud import (
    ERROR_REASONS,
    ERROR_REFUSALS,
    questions_of,
    subjects_of,
    suspicions_of,
)
from voelgoed.scanning.store import alerts as store
from voelgoed.scanning.store import stations

log = structlog.get_logger()

COLLECT_S = 0.5
WAITING_MAX = 5_000
"""Decisions. At a thousand a second, five seconds of them."""
PAUSE_S = (0.5, 1.0, 2.0, 5.0)
"""The pauses after the first, second, ... time that PostgreSQL did not answer."""
DRAIN_S = 1.0


class FraudWatch:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: deque[tuple[UUID, Sequence[ScanDecision]]] = deque()
        self._waiting_count = 0
        self._task: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        self._stopping = False

    def note(self, organization_id: UUID, decisions: Sequence[ScanDecision]) -> None:
        """Called after a commit; returns at once."""
        if self._stopping:
            return
        self._waiting.append((organization_id, decisions))
        self._waiting_count += len(decisions)
        self._drop_oldest()
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="fraud-watch")

    async def is_idle(self) -> None:
        """Returns when all that was noted has been looked at, which begins at once."""
        while self._task is not None:
            self._hurry.set()
            await asyncio.wait({self._task})

    async def stop(self) -> None:
        """Noted scans are still looked at, if PostgreSQL answers."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.is_idle(), DRAIN_S)
        self._stopping = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _put_back(self, organization_id: UUID, decisions: Sequence[ScanDecision]) -> None:
        self._waiting.appendleft((organization_id, decisions))
        self._waiting_count += len(decisions)
        self._drop_oldest()

    def _drop_oldest(self) -> None:
        while self._waiting_count > WAITING_MAX and len(self._waiting) > 1:
            _, oldest = self._waiting.popleft()
            self._waiting_count -= len(oldest)
            scans_unwatched.inc(len(oldest))

    def _take(self) -> dict[UUID, list[ScanDecision]]:
        waiting: dict[UUID, list[ScanDecision]] = {}
        for organization_id, decisions in self._waiting:
            waiting.setdefault(organization_id, []).extend(decisions)
        self._waiting.clear()
        self._waiting_count = 0
        return waiting

    async def _run(self) -> None:
        """Ends when there is nothing left, until there is something again."""
        failures = 0
        try:
            while self._waiting and not self._stopping:
                await self._collect(COLLECT_S if not failures else _pause(failures))
                waiting = self._take()
                failures = 0 if await self._look_at_all(waiting) else failures + 1
        finally:
            self._task = None
            self._hurry.clear()

    async def _collect(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._hurry.wait(), seconds)
        self._hurry.clear()

    async def _look_at_all(self, waiting: dict[UUID, list[ScanDecision]]) -> bool:
        """False where PostgreSQL did not answer: that is looked at later. Whatever else goes wrong must
        not go wrong for ever."""
        answered = True
        for organization_id, decisions in waiting.items():
            try:
                await self._look(organization_id, decisions)
            except StorageUnavailable:
                answered = False
                self._put_back(organization_id, decisions)
            except Exception:
                log.exception("fraud_watch_failed", organization_id=str(organization_id))
                scans_unwatched.inc(len(decisions))
        return answered

    async def _look(self, organization_id: UUID, decisions: Sequence[ScanDecision]) -> None:
        new = [each for each in decisions if each.is_new and each.scan is not None]
        refused = [each for each in decisions if isinstance(each.refusal, ERROR_REFUSALS)]
        if not new and not refused:
            return
        async with self._database.transaction(organization_id) as tx:
            noted = Round(
                scans=[each.scan for each in new if each.scan is not None],
                forged_ids=frozenset(each.request.scan_id for each in new if each.is_forged),
                refused=await _errors_of(tx, refused),
            )
            event_ids = {each.event_id for each in (*noted.scans, *noted.refused)}
            policies = await policies_of(tx, sorted(event_ids))
            subjects = subjects_of(noted)
            findings = await _find(tx, questions_of(subjects, policies))
            suspicions = suspicions_of(noted, subjects, policies, findings)
            await raise_alerts(tx, suspicions)
            await block_devices(tx, suspicions, policies)


def _pause(failures: int) -> float:
    return PAUSE_S[min(failures, len(PAUSE_S)) - 1]


async def _errors_of(tx: Transaction, refused: Sequence[ScanDecision]) -> list[DeviceError]:
    """The errors, at the gate where each device is now: some requests were refused before it was
    known."""
    ids = {each.request.caller.id for each in refused if each.request.caller.kind == "device"}
    device_ids = [device_id for device_id in ids if device_id is not None]
    if not device_ids:
        return []
    devices = {device.id: device for device in await stations.find_devices(tx, device_ids)}
    gates = {gate.id: gate for gate in await stations.find_gates(tx, device_ids)}
    errors: list[DeviceError] = []
    for decision in refused:
        request = decision.request
        device = devices.get(request.caller.id) if request.caller.id else None
        gate = gates.get(device.gate_id) if device and device.gate_id else None
        if device is None or gate is None:
            continue
        ahead = (request.received_at - request.scanned_at).total_seconds()
        is_skewed = isinstance(decision.refusal, TimestampOutOfRange)
        error = DeviceError(
            event_id=gate.event_id,
            gate_id=gate.id,
            device_id=device.id,
            device_name=device.name,
            gate_name=gate.name,
            at=request.received_at,
            diff_seconds=round(ahead) if is_skewed else None,
        )
        errors.append(error)
    return errors


async def _find(tx: Transaction, asked: WatchQuestions) -> Findings:
    """Scans that were counted, and the gates of a ticket that was at more than one."""
    refusals = [refusal.code for refusal in ERROR_REFUSALS]
    found = Findings(
        tickets=await store.count_ticket_scans(tx, asked.tickets) if asked.tickets else [],
        sightings=[],
        gates=await store.count_gate_scans(tx, asked.gates) if asked.gates else [],
        devices=await store.count_device_errors(tx, asked.devices, list(ERROR_REASONS), refusals)
        if asked.devices
        else [],
    )
    elsewhere = {each.ticket_id for each in found.tickets if each.is_elsewhere}
    if elsewhere:
        again = [each for each in asked.tickets if each.ticket_id in elsewhere]
        found.sightings.extend(await store.find_sightings(tx, again))
    return found
