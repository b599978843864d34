"""The admission core for scans that devices made alone and bring later: read, decide, write.

The rule is the one of `batch.py`, told over each ticket's whole story (rules/story.py): a scan that was
made earlier than what is known comes before it, whenever it arrives. Nothing is locked while we think;
what was changed meanwhile is noticed when it is written.
"""

import asyncio
import datetime as dt
from collections.abc import Collection, Coroutine, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from voelgoed.accounts.model import Caller
from voelgoed.events.model import GateNotFound
from voelgoed.infra.database import Transaction
from voelgoed.infra.refusal import Refusal
from voelgoed.scanning.actions.event_context import EventContext
from voelgoed.scanning.actions.stories import Stories
from voelgoed.scanning.actions.sync_results import OfflineScan, SyncResult
from voelgoed.scanning.model.decisions import Attempt, Direction, EventFacts
from voelgoed.scanning.model.devices import Device
from voelgoed.scanning.model.refusals import (
    DeviceNotAssignedToGate,
    ReplayedSignature,
    ScanIdReused,
)
from voelgoed.scanning.model.scan_history import HistoryScan, JudgedScan, Resolution
from voelgoed.scanning.model.scans import CODE_KEPT_MAX, Scan, ScanDetails, Source
from voelgoed.scanning.model.stations import ScanningGate
from voelgoed.scanning.rules.decision import Case, day_of, judge_stateless
from voelgoed.scanning.rules.facts import NOBODY_CAME, event_facts, ticket_facts
from voelgoed.scanning.rules.reconcile import corrected, frozen_prefix, tell
from voelgoed.scanning.rules.synced import at_sync, gate_at_sync, issue_then
from voelgoed.scanning.store import scan_history, scans, stations, syncs
from voelgoed.scanning.store.syncs import SyncedScan
from voelgoed.ticketing.actions import admissions
from voelgoed.ticketing.model.admissions import Reissued, ScannedTicket
from voelgoed.ticketing.rules.barcode import read_barcode, verify_barcode

PAUSE_AFTER = 50
"""Scans. Whoever stands at a gate should not wait for ten thousand of them."""
ASIDE_AFTER = 500
"""Scans of one ticket."""
FIRST_ISSUE = 1


class Intake:
    def __init__(
        self,
        tx: Transaction,
        context: EventContext,
        caller: Caller,
        source: Source,
        taken: Sequence[SyncResult],
    ) -> None:
        """Of what is taken, some may be refused already."""
        self._tx = tx
        self._context = context
        self._caller = caller
        self._source: Source = source
        self.taken = taken
        self.stories = Stories()
        self._gates: dict[UUID, ScanningGate] = {}
        self._gate_codes: dict[tuple[UUID, str], UUID] = {}
        """Of the event at which a device is, by its id."""
        self._events: dict[UUID, EventFacts] = {}
        self._tickets: dict[UUID, ScannedTicket] = {}
        self._by_code: dict[str, ScannedTicket] = {}
        self._known: dict[UUID, Scan] = {}
        self._annulled: set[UUID] = set()
        self._recovered: dict[UUID, HistoryScan] = {}
        """Those that are kept from a file, about which nobody has decided."""
        self._told: dict[UUID, list[HistoryScan]] = {}
        """What is known of tickets, by their ids."""
        self._judged: dict[UUID, list[JudgedScan]] = {}
        """Their stories as they were told anew."""
        self._keys: dict[UUID, dict[int, bytes]] = {}
        self._reissues: dict[UUID, list[Reissued]] = {}
        """Of tickets by their ids."""

    async def read(self, *beside: Coroutine[Any, Any, object]) -> None:
        """And whatever else is to be read at the same time."""
        tx, brought = self._tx, [each.brought for each in self.taken if each.refusal is None]
        scan_ids = [each.scan_id for each in brought]
        gate_codes = list({each.gate for each in brought if isinstance(each.gate, str)})
        gate_ids = {each.gate for each in brought if isinstance(each.gate, UUID)}
        codes = {each.presented.code for each in brought if each.presented}
        device_ids = list({each.device.id for each in self.taken})

        async def find_known() -> None:
            self._known = {scan.id: scan for scan in await scans.find_scans(tx, scan_ids)}

        async def find_annulled() -> None:
            self._annulled = set(await scans.find_annulled(tx, scan_ids))

        async def find_gate_codes() -> None:
            if gate_codes:
                for each in await stations.find_gate_codes(tx, device_ids, gate_codes):
                    self._gate_codes[each.device_id, each.code] = each.id

        async def find_codes() -> None:
            ids = [each.ticket_id for each in brought if each.ticket_id]
            codes.update(await admissions.find_codes(tx, ids))

        await tx.gather(*beside, find_known(), find_gate_codes(), find_codes())
        gate_ids.update(self._gate_codes.values())
        gate_ids.update(scan.gate_id for scan in self._known.values())
        gates, tickets = list[ScanningGate](), list[ScannedTicket]()

        async def find_gates() -> None:
            gates.extend(await stations.find_gates(tx, device_ids, list(gate_ids)))

        async def find_tickets() -> None:
            tickets.extend(await admissions.find_by_codes(tx, list(codes)))

        async def find_histories() -> None:
            for scan in await scan_history.find_histories(tx, list(codes)):
                self._told.setdefault(scan.ticket_id, []).append(scan)

        # In one look: an annulment changes the ticket, and that is noticed.
        await tx.gather(find_gates(), find_tickets(), find_histories(), find_annulled())
        for gate in gates:
            self._gates[gate.id] = gate
            self._events[gate.event_id] = event_facts(
                gate, await self._context.days(tx.organization_id, gate)
            )
        for ticket in tickets:
            self._tickets[ticket.id] = self._by_code[ticket.code] = ticket
        await self._find_reissues([ticket.id for ticket in tickets if ticket.issue > FIRST_ISSUE])
        from_files = [scan.id for scan in self._known.values() if scan.source == "recovered"]
        if from_files and self._source != "recovered":
            waiting = await scan_history.find_recovered(tx, from_files, only_signed=False)
            self._recovered = {scan.id: scan for scan in waiting}

    async def _find_reissues(self, ticket_ids: Sequence[UUID]) -> None:
        if ticket_ids:
            for each in await admissions.find_reissues(self._tx, ticket_ids):
                self._reissues.setdefault(each.ticket_id, []).append(each)

    def main_gate(self, device: Device) -> ScanningGate:
        """Where it is; or else where it says that it was."""
        gate = self._gates.get(device.gate_id) if device.gate_id else None
        for taken in self.taken:
            if gate is None and taken.device.id == device.id:
                gate = self._named_gate(taken)
        if gate is None:
            raise DeviceNotAssignedToGate()
        return gate

    async def decide(self) -> None:
        """Each apart, then each ticket's story with all of them."""
        made: dict[UUID, SyncResult] = {}
        for at, taken in enumerate(self.taken):
            if taken.refusal is not None:
                continue
            try:
                taken.twin = made.get(taken.brought.scan_id)
                if taken.twin is not None:
                    self._require_same(taken.twin, taken)
                taken.is_known = taken.twin is not None or self._is_known(taken)
                if not taken.is_known:
                    if taken.refusal_if_new is not None:
                        raise taken.refusal_if_new
                    await self._judge_stateless(taken)
                    made[taken.brought.scan_id] = taken
            except Refusal as refusal:
                taken.refusal = refusal
            if at % PAUSE_AFTER == PAUSE_AFTER - 1:
                await asyncio.sleep(0)
        await self._tell()
        self._recall()

    def _require_same(self, one: SyncResult, other: SyncResult) -> None:
        """Twice at once, perhaps in two forms, or with another reading of the device's clock."""
        if self._identity_of(one) != self._identity_of(other):
            raise ScanIdReused()
        if one.brought.scanned_at != other.brought.scanned_at:
            raise ScanIdReused()
        if one.brought.outcome != other.brought.outcome:
            raise ReplayedSignature()

    def _identity_of(self, taken: SyncResult) -> tuple[UUID, str, Direction]:
        ticket = self._ticket_of(taken.brought)
        code = ticket.code if ticket else _kept(taken.brought)
        return taken.device.id, code, taken.brought.direction

    def _is_known(self, taken: SyncResult) -> bool:
        brought, scan = taken.brought, self._known.get(taken.brought.scan_id)
        if scan is None:
            return False
        if self._identity_of(taken) != (scan.device_id, scan.ticket_code, scan.direction):
            raise ScanIdReused()
        taken.ticket = self._ticket_of(brought)
        taken.resolution = Resolution(scan.status, scan.reason_denied, scan.entry_number)
        if scan.id in self._annulled:
            return True
        if scan.source != "online":
            if scan.scanned_at != brought.scanned_at:
                raise ScanIdReused()
            if (recovered := self._recovered.get(scan.id)) is not None:
                taken.story, taken.is_corrected = _vouched(recovered, brought), True
            elif scan.outcome != brought.outcome and not self._is_vouched_for(scan, brought):
                raise ReplayedSignature()
            return True
        if self._source != "recovered":
            self._correct(taken, scan)
        return True

    def _is_vouched_for(self, scan: Scan, brought: OfflineScan) -> bool:
        """The device has said before what it did, of a scan that came from a file first."""
        told = self._told.get(scan.ticket_id, []) if scan.ticket_id else []
        is_let_in = brought.outcome == "valid"
        return scan.source == "recovered" and any(
            each.id == scan.id and each.is_let_in == is_let_in for each in told
        )

    def _correct(self, taken: SyncResult, scan: Scan) -> None:
        """We answered one thing, the device did not hear it in time and did another: what it did is
        what happened at the gate."""
        event = self._events.get(scan.event_id)
        ticket = self._tickets.get(scan.ticket_id) if scan.ticket_id else None
        if ticket is None or event is None or ticket.event_id != scan.event_id:
            return
        told = self._told.get(ticket.id, [])
        day, outcome = _day(event, scan.scanned_at_canonical), taken.brought.outcome
        taken.story = corrected(scan, ticket.id, told, outcome, day)
        taken.is_corrected = taken.story is not None

    async def _judge_stateless(self, taken: SyncResult) -> None:
        brought = taken.brought
        taken.gate = gate = self._gate_of(taken)
        ticket, issue = await self._find(taken)
        event = self._events[gate.event_id]
        taken.ticket, taken.day = ticket, (day := _day(event, brought.at))
        case = Case(
            attempt=Attempt(at=brought.at, direction=brought.direction, issue=issue),
            event=at_sync(event),
            gate=gate_at_sync(gate),
            ticket=ticket_facts(ticket) if ticket else None,
            history=NOBODY_CAME,
        )
        taken.apart = judge_stateless(case)
        if self._source == "recovered":
            taken.resolution = Resolution("denied", "unverified")
        elif ticket is None or taken.apart == "wrong_event":
            taken.resolution = Resolution("denied", taken.apart)
        else:
            taken.story = HistoryScan(
                id=brought.scan_id,
                event_id=gate.event_id,
                gate_id=gate.id,
                zone_id=ticket.zone_id,
                device_id=taken.device.id,
                direction=brought.direction,
                scanned_at_canonical=brought.at,
                day=day,
                ticket_id=ticket.id,
                source=self._source,
                is_let_in=brought.outcome == "valid",
                reason_apart=taken.apart,
                outcome=brought.outcome,
                resolution=None,
            )

    def _gate_of(self, taken: SyncResult) -> ScanningGate:
        if taken.brought.gate is None and taken.device.gate_id is None:
            raise DeviceNotAssignedToGate()
        gate = self._named_gate(taken)
        if gate is None:
            raise GateNotFound()
        return gate

    def _named_gate(self, taken: SyncResult) -> ScanningGate | None:
        where, device = taken.brought.gate, taken.device
        if where is None:
            where = device.gate_id
        if isinstance(where, str):
            where = self._gate_codes.get((device.id, where))
        return None if where is None else self._gates.get(where)

    def _ticket_of(self, brought: OfflineScan) -> ScannedTicket | None:
        """By its id first, which is signed; what was read is not."""
        if brought.ticket_id is not None and brought.ticket_id in self._tickets:
            return self._tickets[brought.ticket_id]
        return self._by_code.get(brought.presented.code) if brought.presented else None

    async def _find(self, taken: SyncResult) -> tuple[ScannedTicket | None, int | None]:
        """The ticket, and which of its barcodes it is."""
        brought, ticket = taken.brought, self._ticket_of(taken.brought)
        if ticket is None or brought.barcode_hash is None:
            return ticket, None
        if brought.barcode_hash == ticket.barcode_hash:
            return ticket, ticket.issue
        reissues = self._reissues.get(ticket.id, [])
        barcode = read_barcode(brought.presented.text) if brought.presented else None
        if barcode is None:
            return ticket, issue_then(ticket.issue, None, brought.at, reissues)
        if barcode.fields.ticket_id == ticket.id:
            keys = await self._keys_of(ticket.event_id)
            if verify_barcode(barcode, ticket.event_id, keys):
                issue = barcode.fields.issue
                return ticket, issue_then(ticket.issue, issue, brought.at, reissues)
        taken.is_forged = True
        return None, None

    async def _keys_of(self, event_id: UUID) -> dict[int, bytes]:
        """Seldom asked for: most barcodes are known by their hash."""
        if event_id not in self._keys:
            self._keys[event_id] = await admissions.public_keys_of(self._tx, event_id)
        return self._keys[event_id]

    async def _tell(self) -> None:
        learnt: dict[UUID, list[SyncResult]] = {}
        for taken in self.taken:
            if taken.story is not None:
                learnt.setdefault(taken.story.ticket_id, []).append(taken)
        for at, (ticket_id, news) in enumerate(learnt.items()):
            by_id = {each.story.id: each for each in news if each.story is not None}
            before = self._told.get(ticket_id, [])
            after = [each for each in before if each.id not in by_id]
            after += [each.story for each in by_id.values() if each.story is not None]
            ticket = self._tickets[ticket_id]
            event = self._events[ticket.event_id]
            told = await self._told_anew(ticket, event, before, after, by_id)
            self._judged[ticket_id] = told
            for each in told:
                if (taken := by_id.get(each.scan.id)) is not None:
                    taken.resolution, taken.winner = each.resolution, each.winner
            if before:
                self._tx.drop(admissions.last_scan_key(self._tx.organization_id, ticket.code))
            elif (last := told[-1]).resolution.status == "admitted":
                by_id[last.scan.id].is_last_entry = last.scan.direction == "entry"
            if at % PAUSE_AFTER == PAUSE_AFTER - 1:
                await asyncio.sleep(0)

    async def _told_anew(
        self,
        ticket: ScannedTicket,
        event: EventFacts,
        before: Sequence[HistoryScan],
        after: Sequence[HistoryScan],
        changed: Collection[UUID],
    ) -> list[JudgedScan]:
        """A long story is told aside: nobody else at the gates should have to listen to it."""

        def tell() -> list[JudgedScan]:
            frozen = frozen_prefix(after, changed)
            return self.stories.tell(ticket, event, before, after, frozen)

        return await asyncio.to_thread(tell) if len(after) > ASIDE_AFTER else tell()

    def _recall(self) -> None:
        """How those stand that were known before."""
        known = [each for each in self.taken if each.is_known and each.story is None]
        judged: dict[UUID, JudgedScan] = {}
        for ticket in {each.ticket.id: each.ticket for each in known if each.ticket}.values():
            for each in self._judged.get(ticket.id) or self._as_it_stands(ticket):
                judged[each.scan.id] = each
        for taken in known:
            if (found := judged.get(taken.brought.scan_id)) is not None:
                taken.resolution, taken.winner = found.resolution, found.winner
            elif (twin := taken.twin) is not None:
                taken.ticket, taken.resolution, taken.winner = (
                    twin.ticket,
                    twin.resolution,
                    twin.winner,
                )

    def _as_it_stands(self, ticket: ScannedTicket) -> list[JudgedScan]:
        event, told = self._events.get(ticket.event_id), self._told.get(ticket.id, [])
        if event is None:
            return []
        return tell(event, ticket_facts(ticket), told, {each.id for each in told})

    async def write(self) -> None:
        """All but the counts, which are the last. Tickets before anything else, in which order nobody
        waits in a circle."""
        new: list[SyncedScan] = []
        for taken in self.taken:
            if taken.is_new:
                taken.scan = self._scan(taken)
                new.append(taken.scan)
        tx, stories = self._tx, self.stories
        await tx.gather(
            stories.write_tickets(tx), syncs.insert_scans(tx, new), stories.write_rulings(tx)
        )
        await stories.write_conflicts(tx, self._caller)

    def _scan(self, taken: SyncResult) -> SyncedScan:
        brought, gate, ticket, resolution = (
            taken.brought,
            taken.gate,
            taken.ticket,
            taken.resolution,
        )
        assert gate is not None
        assert resolution is not None
        return SyncedScan(
            id=brought.scan_id,
            event_id=gate.event_id,
            ticket_id=ticket.id if ticket else None,
            ticket_code=ticket.code if ticket else _kept(brought),
            device_id=taken.device.id,
            actor_id=None,
            gate_id=gate.id,
            direction=brought.direction,
            status=resolution.status,
            reason_denied=resolution.reason,
            scanned_at=brought.scanned_at,
            scanned_at_canonical=brought.at,
            day=taken.day,
            zone_id=ticket and ticket.zone_id,
            entry_number=resolution.entry_number,
            gate_name=gate.name,
            device_name=taken.device.name,
            source=self._source,
            details=ScanDetails(
                barcode_hash=None if ticket else brought.barcode_hash,
                signature=brought.signature,
                is_signed=brought.is_signed,
                doubts=list(brought.doubts),
            ),
            outcome=brought.outcome,
            reason_apart=taken.apart,
            batch_id=taken.batch_id,
        )


def _vouched(recovered: HistoryScan, brought: OfflineScan) -> HistoryScan:
    """The device itself says what a file said for it, where anybody could have changed what is not
    signed."""
    is_let_in = brought.outcome == "valid"
    return msgspec.structs.replace(recovered, outcome=brought.outcome, is_let_in=is_let_in)


def _kept(brought: OfflineScan) -> str:
    """Of what is no ticket of ours."""
    if brought.presented is not None:
        return brought.presented.code
    return (brought.given or f"sha256:{brought.barcode_hash}")[:CODE_KEPT_MAX]


def _day(event: EventFacts, at: datetime) -> dt.date:
    day = day_of(event.days, at)
    assert day is not None
    return dt.date.fromisoformat(day)
