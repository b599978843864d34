"""Deliveries of offline scans, decided without a database: the final state follows from the set of scans
and from nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any, Literal
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.prove.length import examples
from tests.scanning.offline_builders import (
    EVENT,
    FACTS,
    GATE,
    NOW,
    a_device,
    a_gate_at,
    a_ticket,
    an_offline_scan,
    sync_facts,
)
from tests.scanning.sync_memory import MemoryStore, answer_of, new_ids, request, signed_scan
from voelgoed.scanning.model.decisions import EventFacts
from voelgoed.scanning.model.devices import DeviceAssignment
from voelgoed.scanning.model.refusals import BatchIdReused
from voelgoed.scanning.model.scans import Scan, ScanDetails
from voelgoed.scanning.model.stations import ScanningDevice
from voelgoed.scanning.model.sync import SignedScan
from voelgoed.scanning.rules import history_plan
from voelgoed.scanning.rules.sync_batch import decide
from voelgoed.scanning.rules.sync_scans import judge_scans
from voelgoed.ticketing.model.admissions import Reissued, ScannedTicket

CONTRACTS = Path(__file__).parents[2] / "contracts"
CONFLICTS: dict[str, Any] = msgspec.json.decode((CONTRACTS / "conflicts.json").read_bytes())
PROVENANCE: dict[str, Any] = msgspec.json.decode((CONTRACTS / "provenance.json").read_bytes())
NOT_BY_DELIVERIES = {
    "let in with a void ticket of one entry: who comes in after it is the second, however late"
}
"""No delivery has this case, because a ticket that was void does not become valid again."""
WRONG_GATE = UUID(int=18)
ELSEWHERE = UUID("00000000-0000-7000-8000-0000000000e2")
GATE_ELSEWHERE = UUID("00000000-0000-7000-8000-00000000006e")
DEVICES = [UUID(int=70 + number) for number in range(3)]


def a_station(device_id: UUID, gate_id: UUID = GATE) -> ScanningDevice:
    return ScanningDevice(
        id=device_id,
        name="iPad",
        status="active",
        key_version=1,
        is_revoked=False,
        is_rotation_demanded=False,
        gate_id=gate_id,
    )


def an_assignment(device_id: UUID, event_id: UUID, gate_id: UUID = GATE) -> DeviceAssignment:
    return DeviceAssignment(
        device_id=device_id,
        gate_id=gate_id,
        event_id=event_id,
        from_at=datetime(2026, 1, 1, tzinfo=UTC),
        until_at=None,
    )


# The cases of contracts/conflicts.json


class Case:
    """A case of the contract, as deliveries: the facts are such that the rules find against each scan what
    the case says."""

    def __init__(self, case: dict[str, Any]) -> None:
        base = CONFLICTS["base"]
        self.gives = case["gives"]
        self.event = msgspec.convert(base["event"] | {"resets": case.get("resets", [])}, EventFacts)
        self.now = self.event.ends_at
        self.scans: list[dict[str, Any]] = [CONFLICTS["scan"] | each for each in case["scans"]]
        self.gate_id = UUID(CONFLICTS["scan"]["gate_id"])
        self.elsewhere = msgspec.structs.replace(self.event, id=ELSEWHERE, resets=[])
        self.devices = {UUID(each["device_id"]) for each in self.scans if each["device_id"]}
        self.ticket = a_ticket(
            1, **_entitlements(base["ticket"] | case["with"]), **_state_of(self.scans)
        )
        self.online = [each for each in self.scans if each["source"] in ("online", "supervisor")]
        self.delivered = [each for each in self.scans if each["source"] != "supervisor"]
        self.delivered = [each for each in self.delivered if each["outcome"] is not None]

    def store(self) -> MemoryStore:
        gates = {
            self.gate_id: a_gate_at(self.event.id, self.gate_id),
            WRONG_GATE: a_gate_at(self.event.id, WRONG_GATE, allowed_zones=[UUID(int=404)]),
            GATE_ELSEWHERE: a_gate_at(ELSEWHERE, GATE_ELSEWHERE),
        }
        store = MemoryStore(
            [self.ticket],
            devices={each: a_station(each, self.gate_id) for each in self.devices},
            assignments={
                each: [
                    an_assignment(each, self.event.id, self.gate_id),
                    an_assignment(each, ELSEWHERE, GATE_ELSEWHERE),
                ]
                for each in self.devices
            },
            gates=gates,
            events={self.event.id: self.event, ELSEWHERE: self.elsewhere},
        )
        for each in self.online:
            store.keep(self._kept(each))
        return store

    def _kept(self, each: dict[str, Any]) -> Scan:
        """A scan that the server admitted when the device asked."""
        at = _moment(each)
        return Scan(
            id=UUID(each["id"]),
            event_id=self.event.id,
            ticket_id=self.ticket.id,
            ticket_code=self.ticket.code,
            device_id=UUID(each["device_id"]) if each["device_id"] else None,
            actor_id=None,
            gate_id=self.gate_id,
            direction=each["direction"],
            status="admitted",
            reason_denied=None,
            scanned_at=at,
            scanned_at_canonical=at,
            day=self.event.days[0].date,
            zone_id=None,
            entry_number=1,
            gate_name="North",
            device_name="iPad",
            source=each["source"],
            details=ScanDetails(),
        )

    def signed(self, each: dict[str, Any]) -> SignedScan:
        gates = {"wrong_gate": WRONG_GATE, "wrong_event": GATE_ELSEWHERE}
        gate = gates.get(each["stateless_reason"], self.gate_id)
        return signed_scan(
            UUID(each["id"]),
            self.ticket,
            gate,
            _moment(each),
            outcome=each["outcome"],
            direction=each["direction"],
        )

    def deliver(self, store: MemoryStore, order: Sequence[dict[str, Any]]) -> None:
        for number, each in enumerate(order):
            batch = UUID(int=5_000 + 10 * number)
            device = UUID(each["device_id"])
            store.deliver(request(device, [self.signed(each)], batch, now=self.now), now=self.now)

    def require_as_given(self, store: MemoryStore) -> None:
        resolutions = store.resolutions()
        outcomes = [
            {
                "scan_id": str(id_),
                "status": resolution.status,
                "reason": resolution.reason,
                "entry_number": resolution.entry_number,
            }
            for id_, resolution in resolutions.items()
        ]
        assert outcomes == sorted(self.gives["resolutions"], key=lambda each: each["scan_id"])
        assert store.conflicts() == {
            (UUID(each["scan_id"]), UUID(each["winner_scan_id"]))
            for each in self.gives["conflicts"]
        }
        heads = {what: store.count(self.event.id, what) for what in ("inside", "irregular")}
        assert heads == self.gives["heads"]
        elsewhere = sum(
            each["event_id"] == str(ELSEWHERE) and each["is_let_in"] for each in self.scans
        )
        assert store.count(ELSEWHERE, "inside") == store.count(ELSEWHERE, "irregular") == elsewhere


def _moment(each: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(each["scanned_at_canonical"])


def _entitlements(ticket: dict[str, Any]) -> dict[str, Any]:
    names = ("entry_limit", "max_daily_entries", "reentry")
    return {name: ticket[name] for name in names} | {
        "id": UUID(ticket["id"]),
        "event_id": UUID(ticket["event_id"]),
    }


def _state_of(scans: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The state of a ticket, since the first scan that the state is against."""
    state: dict[str, Any] = {}
    for each in scans:
        reason = each["stateless_reason"]
        if reason in ("ticket_voided", "ticket_refunded"):
            since = min(state.get("status_since", _moment(each)), _moment(each))
            state |= {"status": reason.removeprefix("ticket_"), "status_since": since}
        elif reason == "not_valid_today":
            state["days"] = ["2026-06-06"]
    return state


@pytest.mark.parametrize(
    "case",
    [each for each in CONFLICTS["cases"] if each["name"] not in NOT_BY_DELIVERIES],
    ids=lambda case: case["name"],
)
def test_a_case_of_the_contract_is_the_same_in_every_order_of_its_deliveries(case: dict[str, Any]):
    given = Case(case)
    tables: list[dict[str, Any]] = []
    for order in permutations(given.delivered):
        store = given.store()
        given.deliver(store, order)
        given.require_as_given(store)
        tables.append(store.tables())
        given.deliver(store, order)
        assert store.tables() == tables[0], "all of it again, under the same batch ids"
    assert all(each == tables[0] for each in tables)


def test_the_cases_that_no_delivery_has_are_in_the_contract():
    assert {each["name"] for each in CONFLICTS["cases"]} > NOT_BY_DELIVERIES


# The cases of contracts/provenance.json


@pytest.mark.parametrize("case", PROVENANCE["cases"], ids=lambda case: case["name"])
def test_a_case_of_provenance_counts_or_waits_for_review(case: dict[str, Any]):
    base = PROVENANCE["base"]
    event = msgspec.convert(base["event"], EventFacts)
    assignments = msgspec.convert(
        case.get("assignments", base["assignments"]), list[DeviceAssignment]
    )
    origin = base["origin"] | case["origin"]
    device_id = UUID(base["assignments"][0]["device_id"])
    gate_id = UUID(base["assignments"][0]["gate_id"])
    ticket = a_ticket(1, event_id=event.id)
    facts = sync_facts(
        [ticket],
        devices={device_id: a_station(device_id, gate_id)},
        assignments={device_id: assignments},
        gates={gate_id: a_gate_at(event.id, gate_id)},
        events={event.id: event},
    )
    at = datetime.fromisoformat(origin["at"])
    scan = an_offline_scan(
        1,
        ticket.code,
        timedelta(),
        device=a_device(device_id),
        gate=gate_id,
        at=at,
        scanned_at=at,
        direction=origin["direction"],
        tolerance=timedelta(seconds=origin["tolerance_s"]),
        contradicts_clock=origin.get("contradicts_clock", False),
    )
    now = datetime.fromisoformat(origin["received_at"])
    judged = judge_scans([scan], facts, now, "offline_sync", new_ids())
    [result] = judged.results
    assert result.unverified == case["gives"]
    assert result.resolution is not None
    waits = case["gives"] is not None
    assert (result.resolution.reason == "unverified") == waits
    if waits:
        assert judged.history.attendance == []
        assert judged.history.counts == []


# Random evenings


@dataclass(frozen=True)
class MadeScan:
    """A scan at a gate."""

    ticket: int
    device: UUID
    second: int
    way: Literal["entry", "exit"]
    outcome: Literal["valid", "duplicate", "invalid"]
    gate: UUID
    issue: int


SECONDS = [0, 1, 100, 299, 300, 301, 600, 900, 1_800]
START = NOW - timedelta(hours=1)
VOID_AT, REISSUED_AT = START + timedelta(seconds=500), START + timedelta(seconds=250)
made = st.builds(
    MadeScan,
    ticket=st.integers(0, 1),
    device=st.sampled_from(DEVICES),
    second=st.sampled_from(SECONDS),
    way=st.sampled_from(["entry", "entry", "entry", "exit"]),
    outcome=st.sampled_from(["valid", "valid", "valid", "valid", "duplicate", "invalid"]),
    gate=st.sampled_from([GATE, GATE, GATE, WRONG_GATE]),
    issue=st.sampled_from([2, 2, 1]),
)
evenings = st.lists(made, min_size=1, max_size=8)
rules = st.fixed_dictionaries(
    {
        "entry_limit": st.sampled_from([None, None, 1, 2]),
        "max_daily_entries": st.sampled_from([None, None, 2]),
        "reentry": st.sampled_from(["allowed", "after_exit", "never"]),
    },
    optional={
        "status_since": st.just(VOID_AT),
        "status": st.sampled_from(["active", "voided", "refunded"]),
    },
)
resets = st.lists(st.sampled_from([150, 450, 1_000]), max_size=2, unique=True)


def tickets_of(rules: dict[str, Any]) -> list[ScannedTicket]:
    """Two tickets with replaced barcodes. A ticket that is not active has been so since a moment."""
    if rules.get("status", "active") == "active":
        rules = rules | {"status": "active", "status_since": None}
    else:
        rules = rules | {"status_since": VOID_AT}
    return [a_ticket(number, issue=2, **rules) for number in range(2)]


def a_store(
    tickets: Sequence[ScannedTicket],
    *,
    believed: Sequence[UUID] = DEVICES,
    declared_empty: Sequence[int] = (),
) -> MemoryStore:
    """Only the devices that are believed were ever at the event."""
    event = msgspec.structs.replace(
        FACTS, resets=[START + timedelta(seconds=each) for each in sorted(declared_empty)]
    )
    return MemoryStore(
        tickets,
        devices={each: a_station(each) for each in DEVICES},
        assignments={each: [an_assignment(each, EVENT)] for each in believed},
        gates={
            GATE: a_gate_at(),
            WRONG_GATE: a_gate_at(id_=WRONG_GATE, allowed_zones=[UUID(int=404)]),
        },
        events={EVENT: event},
        reissues={each.id: [Reissued(each.id, 1, REISSUED_AT)] for each in tickets},
    )


def scan_id(number: int) -> UUID:
    return UUID(int=10_000 + number)


def signed(number: int, each: MadeScan, tickets: Sequence[ScannedTicket]) -> SignedScan:
    ticket = tickets[each.ticket]
    if each.issue != ticket.issue:
        ticket = msgspec.structs.replace(ticket, barcode_hash="f" * 64)
    at = START + timedelta(seconds=each.second)
    more = {"direction": each.way, "outcome": each.outcome}
    return signed_scan(scan_id(number), ticket, each.gate, at, **more)


def deliver_all(
    store: MemoryStore,
    evening: Sequence[MadeScan],
    tickets: Sequence[ScannedTicket],
    luck: Random,
    devices: Sequence[UUID] = DEVICES,
) -> None:
    """Delivers the scans of these devices in some order, split somehow, some twice, some deliveries
    together."""
    numbers = [number for number, each in enumerate(evening) if each.device in devices]
    numbers += luck.sample(numbers, k=min(len(numbers), luck.randrange(3)))
    luck.shuffle(numbers)
    batch = 1_000_000
    while numbers:
        together = luck.choice([1, 1, 2, 3])
        requests = []
        for _ in range(together):
            if not numbers:
                break
            device = evening[numbers[0]].device
            own = [each for each in numbers if evening[each].device == device]
            some = own[: luck.randint(1, len(own))]
            for each in some:
                numbers.remove(each)
            scans = [signed(each, evening[each], tickets) for each in some]
            batch += 10
            requests.append(request(device, scans, UUID(int=batch)))
        store.deliver(*requests)
        if luck.random() < 0.3:
            store.deliver(*requests)


def let_in(evening: Sequence[MadeScan], way: str = "entry") -> list[int]:
    return [
        number for number, each in enumerate(evening) if each.outcome == "valid" and each.way == way
    ]


@examples(short=50, full=3_000)
@given(evening=evenings, rules=rules, empty=resets, seed=st.integers(0, 2**32))
def test_any_order_any_split_and_any_repetition_give_the_same(
    evening: list[MadeScan], rules: dict[str, Any], empty: list[int], seed: int
):
    tickets, luck = tickets_of(rules), Random(seed)
    outcomes: list[dict[str, Any]] = []
    for _ in range(3):
        store = a_store(tickets, declared_empty=empty)
        deliver_all(store, evening, tickets, luck)
        outcomes.append(store.tables())
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert set(outcomes[0]["resolutions"]) == {scan_id(each) for each in range(len(evening))}


@examples(short=50, full=3_000)
@given(evening=evenings, rules=rules, seed=st.integers(0, 2**32))
def test_everybody_let_in_is_an_entry_a_conflict_or_an_invalid_admission(
    evening: list[MadeScan], rules: dict[str, Any], seed: int
):
    tickets, store = tickets_of(rules), a_store(tickets_of(rules))
    deliver_all(store, evening, tickets, Random(seed))
    losers = {loser for loser, _ in store.conflicts()}
    resolutions, facts = store.resolutions(), store.facts(is_whole=True)
    for number in let_in(evening):
        id_ = scan_id(number)
        is_invalid = facts.known[id_].stateless_reason is not None
        assert resolutions[id_].status == "admitted" or id_ in losers or is_invalid


@examples(short=50, full=3_000)
@given(evening=evenings, rules=rules, seed=st.integers(0, 2**32))
def test_a_scan_that_a_device_denied_is_in_no_conflict_and_never_counts(
    evening: list[MadeScan], rules: dict[str, Any], seed: int
):
    tickets, store = tickets_of(rules), a_store(tickets_of(rules))
    deliver_all(store, evening, tickets, Random(seed))
    away = {scan_id(n) for n, each in enumerate(evening) if each.outcome != "valid"}
    assert not away & {each for pair in store.conflicts() for each in pair}
    assert {store.resolutions()[each].status for each in away} <= {"denied"}


@examples(short=50, full=3_000)
@given(evening=evenings, rules=rules, seed=st.integers(0, 2**32))
def test_with_a_ticket_of_one_entry_each_person_beyond_the_first_is_a_conflict(
    evening: list[MadeScan], rules: dict[str, Any], seed: int
):
    """This holds whatever is wrong with the ticket, the gate or the barcode."""
    tickets = tickets_of(rules | {"entry_limit": 1})
    store = a_store(tickets)
    deliver_all(store, evening, tickets, Random(seed))
    for number in range(len(tickets)):
        entered = [scan_id(each) for each in let_in(evening) if evening[each].ticket == number]
        lost = [loser for loser, _ in store.conflicts() if loser in entered]
        assert len(lost) == max(len(entered) - 1, 0)


@examples(short=50, full=3_000)
@given(
    evening=evenings,
    rules=rules,
    reentry=st.sampled_from(["after_exit", "never"]),
    seed=st.integers(0, 2**32),
)
def test_the_people_inside_are_those_who_were_let_in_and_did_not_leave(
    evening: list[MadeScan], rules: dict[str, Any], reentry: str, seed: int
):
    """This holds where nobody can have left unseen and come again."""
    tickets = tickets_of(rules | {"reentry": reentry})
    store = a_store(tickets)
    deliver_all(store, evening, tickets, Random(seed))
    resolutions = store.resolutions()
    left = [
        each for each in let_in(evening, "exit") if resolutions[scan_id(each)].status == "admitted"
    ]
    assert store.count(EVENT, "exits") == len(left)
    assert store.count(EVENT, "inside") == len(let_in(evening)) - len(left)
    at_gates = sum(store.count(gate, "inside") for gate in (GATE, WRONG_GATE))
    assert at_gates == store.count(EVENT, "inside")


@examples(short=50, full=3_000)
@given(evening=evenings, rules=rules, seed=st.integers(0, 2**32))
def test_unverified_scans_change_nothing_until_they_are_accepted(
    evening: list[MadeScan], rules: dict[str, Any], seed: int
):
    """After that all is as if the device had been believed at once."""
    tickets, luck, foreign = tickets_of(rules), Random(seed), DEVICES[-1]
    waiting = [scan_id(n) for n, each in enumerate(evening) if each.device == foreign]
    without, partly, wholly = (
        a_store(tickets, believed=DEVICES[:-1]),
        a_store(tickets, believed=DEVICES[:-1]),
        a_store(tickets),
    )
    deliver_all(partly, evening, tickets, luck)
    deliver_all(without, evening, tickets, luck, DEVICES[:-1])
    for what in ("tickets", "conflicts", "counts"):
        assert partly.tables()[what] == without.tables()[what]
    assert all(partly.resolutions()[each].reason == "unverified" for each in waiting)
    luck.shuffle(waiting)
    cut = luck.randint(0, len(waiting))
    for some in (waiting[:cut], waiting[cut:], waiting):
        partly.accept(some)
    deliver_all(wholly, evening, tickets, luck)
    assert partly.tables() == wholly.tables()


@examples(short=50, full=3_000)
@given(
    evening=evenings,
    rules=rules,
    number=st.integers(0, 7),
    empty=resets,
    seed=st.integers(0, 2**32),
)
def test_the_time_of_an_annulment_does_not_matter(
    evening: list[MadeScan], rules: dict[str, Any], number: int, empty: list[int], seed: int
):
    """The annulment comes as soon as the scan is known, or after everything else: the result is as if the
    scan had never been."""
    tickets, luck = tickets_of(rules), Random(seed)
    number %= len(evening)
    early, late = (a_store(tickets, declared_empty=empty) for _ in range(2))
    first = evening[number]
    early.deliver(request(first.device, [signed(number, first, tickets)], UUID(int=500)))
    early.annul(scan_id(number))
    deliver_all(early, evening, tickets, luck)
    deliver_all(late, evening, tickets, luck)
    late.annul(scan_id(number))
    assert early.tables() == late.tables()


@examples(short=50, full=3_000)
@given(
    evening=st.lists(made, min_size=4, max_size=14),
    rules=rules,
    empty=resets,
    seed=st.integers(0, 2**32),
)
def test_checkpoints_change_nothing(
    evening: list[MadeScan], rules: dict[str, Any], empty: list[int], seed: int
):
    tickets, luck = tickets_of(rules), Random(seed)
    plain, marked = (a_store(tickets, declared_empty=empty) for _ in range(2))
    deliver_all(plain, evening, tickets, luck)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(history_plan, "CHECKPOINT_AFTER", 2)
        deliver_all(marked, evening, tickets, luck)
    assert plain.checkpoints() == 0
    assert marked.tables() == plain.tables()


def test_whole_histories_are_read_when_a_scan_comes_before_a_checkpoint(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(history_plan, "CHECKPOINT_AFTER", 2)
    [ticket, _] = tickets = tickets_of({})
    store = a_store(tickets)
    seconds = (100, 600, 1_200, 0)
    for number, second in enumerate(seconds):
        at = START + timedelta(seconds=second)
        scan = signed_scan(scan_id(number), ticket, GATE, at)
        store.deliver(request(DEVICES[0], [scan], UUID(int=1_000 + 10 * number)))
    assert store.read_whole == 1
    assert store.conflicts() == {(scan_id(0), scan_id(3))}


@examples(short=50, full=3_000)
@given(
    evening=evenings,
    rules=rules,
    after=st.integers(0, 7),
    checkpoint_after=st.sampled_from([2, 100]),
    seed=st.integers(0, 2**32),
)
def test_it_does_not_matter_which_scans_are_known_when_a_ticket_is_voided(
    evening: list[MadeScan], rules: dict[str, Any], after: int, checkpoint_after: int, seed: int
):
    """People who came before were let in with a valid ticket, with a checkpoint or without; and the ticket
    stays void."""
    tickets, luck = tickets_of(rules | {"status": "active"}), Random(seed)
    early, late = a_store(tickets), a_store(tickets)
    known = [each for each in evening[:after] if START + timedelta(seconds=each.second) < VOID_AT]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(history_plan, "CHECKPOINT_AFTER", checkpoint_after)
        for each in tickets:
            early.void(each.id, VOID_AT)
        for each in known:
            number = evening.index(each)
            late.deliver(
                request(each.device, [signed(number, each, tickets)], UUID(int=500 + number))
            )
        for each in tickets:
            late.void(each.id, VOID_AT)
        for store in (early, late):
            deliver_all(store, evening, tickets, luck)
    assert early.tables() == late.tables()
    assert {late.ticket(each.id).status for each in tickets} == {"voided"}


# Answers


def a_delivery() -> tuple[MemoryStore, SignedScan]:
    tickets = tickets_of({})
    return a_store(tickets), signed_scan(scan_id(1), tickets[0], GATE, START)


def test_a_repeated_delivery_is_answered_as_before_and_writes_nothing():
    store, scan = a_delivery()
    delivered = request(DEVICES[0], [scan], UUID(int=500))
    first = answer_of(store.deliver(delivered))
    again = store.deliver(delivered)
    assert again.to_write == []
    assert answer_of(again).processed == first.processed == [str(scan_id(1))]


def test_a_batch_id_with_other_scans_is_refused_and_the_others_are_not():
    store, scan = a_delivery()
    store.deliver(request(DEVICES[0], [scan], UUID(int=500)))
    other = signed_scan(scan_id(2), store.ticket(a_ticket(1).id), GATE, START)
    reused, good = (request(DEVICES[0], [other], UUID(int=each)) for each in (500, 600))
    plan = store.deliver(reused, good)
    assert isinstance(plan.deliveries[0].refusal, BatchIdReused)
    assert [each.request for each in plan.to_write] == [good]
    assert store.resolutions()[scan_id(2)].status == "admitted"


def test_the_same_scan_in_two_simultaneous_deliveries_is_stored_once():
    store, scan = a_delivery()
    plan = store.deliver(*(request(DEVICES[0], [scan], UUID(int=each)) for each in (500, 600)))
    assert [[result.is_new for result in each.results] for each in plan.deliveries] == [
        [True],
        [False],
    ]
    assert store.count(EVENT, "inside") == 1


def test_the_core_can_be_called_thousands_of_times_with_the_same_result():
    """The facts are frozen, and nothing is remembered between two calls."""
    tickets = tickets_of({})
    store = a_store(tickets)
    for number in range(3):
        at = START + timedelta(seconds=60 * number)
        scan = signed_scan(scan_id(number), tickets[0], GATE, at)
        store.deliver(request(DEVICES[number], [scan], UUID(int=500 + 10 * number)))
    facts = store.facts()
    before = msgspec.json.encode(facts.histories)
    late = signed_scan(scan_id(9), tickets[0], GATE, START - timedelta(seconds=30))
    delivered = request(DEVICES[0], [late], UUID(int=900))
    plans = [decide([delivered], facts, NOW, new_ids()).history for _ in range(5_000)]
    assert all(each == plans[0] for each in plans)
    assert len(plans[0].conflicts) == 3
    assert msgspec.json.encode(facts.histories) == before
