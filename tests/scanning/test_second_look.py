"""Scans that are ahead of their arrival, decided without a database: the tables are the same in the end,
whenever the scans arrive and whatever is done to their tickets before the claimed moment."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random
from typing import Any, Literal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.prove.length import examples
from tests.scanning.offline_builders import EVENT, GATE, NOW, a_gate_at, a_ticket
from tests.scanning.sync_memory import MemoryStore, request, signed_scan
from tests.scanning.test_sync_batch import WRONG_GATE, a_station, an_assignment
from voelgoed.scanning.rules import history_plan
from voelgoed.scanning.rules.sync_batch import SyncPlan
from voelgoed.ticketing.model.admissions import ScannedTicket

START = NOW - timedelta(hours=1)
DEVICES = [UUID(int=70), UUID(int=71)]
AHEAD_S = 50
"""By how much a device's clock is ahead that is believed all the same."""
FUTURE_S, LAST_S = 7_000, 10_000
SECONDS = (60, 80, 90, 299, 300, 330, 600, 640, FUTURE_S)
HAPPENING_S = (20, 80, 310, 620)
NEW_HASH = "ab" * 32


@dataclass(frozen=True)
class Made:
    """A scan at a gate."""

    ticket: int
    device: UUID
    second: int
    way: Literal["entry", "exit"]
    outcome: Literal["valid", "duplicate"]
    gate: UUID
    is_new_barcode: bool


@dataclass(frozen=True)
class Happening:
    """Something that is done to a ticket."""

    what: Literal["void", "reissue"]
    ticket: int
    second: int


made = st.builds(
    Made,
    ticket=st.integers(0, 1),
    device=st.sampled_from(DEVICES),
    second=st.sampled_from(SECONDS),
    way=st.sampled_from(["entry", "entry", "entry", "exit"]),
    outcome=st.sampled_from(["valid", "valid", "valid", "duplicate"]),
    gate=st.sampled_from([GATE, GATE, GATE, WRONG_GATE]),
    is_new_barcode=st.booleans(),
)
happenings = st.lists(
    st.builds(
        Happening,
        what=st.sampled_from(["void", "reissue"]),
        ticket=st.integers(0, 1),
        second=st.sampled_from(HAPPENING_S),
    ),
    max_size=3,
    unique_by=lambda each: (each.what, each.ticket),
)
rules = st.fixed_dictionaries(
    {
        "entry_limit": st.sampled_from([None, None, 1, 2]),
        "reentry": st.sampled_from(["allowed", "after_exit", "never"]),
    }
)
annulments = st.lists(st.integers(0, 5), max_size=1)


def at(second: float) -> datetime:
    return START + timedelta(seconds=second)


def scan_id(number: int) -> UUID:
    return UUID(int=10_000 + number)


class Variant:
    """One order in which the scans of an evening arrive."""

    def __init__(self, evening: Sequence[Made], tickets: Sequence[ScannedTicket], luck: Random):
        self.evening = evening
        self.tickets = tickets
        self.luck = luck
        self.alerted = Counter[UUID]()
        """The number of `invalid_admission` alerts about each scan."""
        self.store = MemoryStore(
            tickets,
            devices={each: a_station(each) for each in DEVICES},
            assignments={each: [an_assignment(each, EVENT)] for each in DEVICES},
            gates={
                GATE: a_gate_at(),
                WRONG_GATE: a_gate_at(id_=WRONG_GATE, allowed_zones=[UUID(int=404)]),
            },
        )

    def play(self, happenings: Sequence[Happening], annulled: Sequence[int]) -> dict[str, Any]:
        luck = self.luck
        times: list[tuple[float, float, Callable[[datetime], object]]] = []
        reissued = {each.ticket: each.second for each in happenings if each.what == "reissue"}
        for happening in happenings:
            times.append((happening.second, luck.random(), self.happen(happening)))
        for number, each in enumerate(self.evening):
            is_new = each.is_new_barcode and each.second >= reissued.get(each.ticket, LAST_S)
            earliest = reissued[each.ticket] + 1 if is_new else 0
            for _ in range(luck.choice([1, 1, 2])):
                later = luck.choice([-AHEAD_S, -AHEAD_S, 0, 20, 2_000, LAST_S])
                second = luck.choice([each.second + later, each.second + later, 0])
                when = max(second, earliest)
                times.append((when, luck.random(), self.deliver(number, is_new)))
        for number in annulled:
            times.append((luck.choice([100, 650]), luck.random(), self.annul(number)))
        for _ in range(luck.randrange(3)):
            times.append((luck.choice([150, 400, 700, FUTURE_S]), 1, self.look))
        for second, _, do in sorted(times, key=lambda each: each[:2]):
            do(at(second))
        end = at(2 * LAST_S)
        for number in annulled:
            self.annul(number)(end)
        waiting = self.store.waiting()
        luck.shuffle(waiting)
        self.alerted += Counter(each.scan_id for each in self.store.accept(waiting, end))
        self.look(end)
        for number in annulled:
            self.annul(number)(end)
        return self.store.tables()

    def happen(self, happening: Happening) -> Callable[[datetime], object]:
        ticket_id = self.tickets[happening.ticket].id

        def happen(now: datetime) -> None:
            if happening.what == "void":
                self.store.void(ticket_id, now)
            else:
                self.store.reissue(ticket_id, NEW_HASH, now)

        return happen

    def deliver(self, number: int, is_new: bool) -> Callable[[datetime], object]:
        each = self.evening[number]
        ticket = self.tickets[each.ticket]
        hash_ = NEW_HASH if is_new else ticket.barcode_hash
        shown = a_ticket(each.ticket, id=ticket.id, barcode_hash=hash_)
        more = {"direction": each.way, "outcome": each.outcome}
        signed = signed_scan(scan_id(number), shown, each.gate, at(each.second), **more)
        batch_id = UUID(int=self.luck.getrandbits(64) << 8)

        def deliver(now: datetime) -> None:
            delivered = request(each.device, [signed], batch_id, now=now)
            self.alerted += alerted_by(self.store.deliver(delivered, now=now))

        return deliver

    def annul(self, number: int) -> Callable[[datetime], object]:
        return lambda _: self.store.annul(scan_id(number))

    def look(self, now: datetime) -> None:
        looked = self.store.look_again(now)
        self.alerted += Counter(each.scan_id for each in looked)


def alerted_by(plan: SyncPlan) -> Counter[UUID]:
    return Counter(
        UUID(str(suspicion.details["scan_id"]))
        for delivery in plan.deliveries
        for suspicion in delivery.suspicions
        if suspicion.kind == "invalid_admission"
    )


def tickets_of(rules: dict[str, Any]) -> list[ScannedTicket]:
    """Each ticket has a barcode of its own, now and after it is reissued."""
    return [a_ticket(number, **rules) for number in range(2)]


def variants_of(
    evening: Sequence[Made],
    rules: dict[str, Any],
    happenings: Sequence[Happening],
    annulled: Sequence[int],
    seed: int,
) -> tuple[list[dict[str, Any]], list[Counter[UUID]]]:
    tickets, tables, alerted = tickets_of(rules), list[dict[str, Any]](), list[Counter[UUID]]()
    for turn in range(4):
        variant = Variant(evening, tickets, Random(f"{seed} {turn}"))
        tables.append(variant.play(happenings, [each for each in annulled if each < len(evening)]))
        alerted.append(variant.alerted)
    return tables, alerted


@examples(short=150, full=10_000)
@given(
    evening=st.lists(made, min_size=1, max_size=5),
    rules=rules,
    happenings=happenings,
    annulled=annulments,
    checkpoint_after=st.sampled_from([2, 100]),
    seed=st.integers(0, 2**32),
)
def test_the_tables_are_the_same_whenever_a_scan_that_is_ahead_arrives(
    evening: list[Made],
    rules: dict[str, Any],
    happenings: list[Happening],
    annulled: list[int],
    checkpoint_after: int,
    seed: int,
):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(history_plan, "CHECKPOINT_AFTER", checkpoint_after)
        tables, alerted = variants_of(evening, rules, happenings, annulled, seed)
    assert all(each == tables[0] for each in tables)
    if not annulled:
        assert all(each == alerted[0] for each in alerted), "and each person is one alert"
        assert set(alerted[0].values()) <= {1}


# Cases


SCAN = Made(0, DEVICES[0], 60, "entry", "valid", GATE, is_new_barcode=False)


def variant_when(
    arrives: float, voided: float, *, looks: bool = True, scan: Made = SCAN
) -> Variant:
    """Of one scan that claims to be made after a minute."""
    variant = Variant([scan], tickets_of({}), Random(0))
    void = variant.happen(Happening("void", 0, 0))
    steps = [(arrives, variant.deliver(0, is_new=False)), (voided, void)]
    for second, do in sorted(steps, key=lambda each: each[0]):
        do(at(second))
    if looks:
        variant.look(at(120))
    return variant


@pytest.mark.parametrize("voided", [30, 59, 60])
def test_a_ticket_that_is_voided_before_the_moment_of_a_clock_that_is_ahead_was_void_then(
    voided: int,
):
    early, late = variant_when(arrives=10, voided=voided), variant_when(arrives=70, voided=voided)
    assert early.store.tables() == late.store.tables()
    assert early.store.resolutions()[scan_id(0)].reason == "ticket_voided"
    assert early.alerted == late.alerted == Counter({scan_id(0): 1})


def test_a_ticket_that_is_voided_after_that_moment_was_good():
    variant = variant_when(arrives=10, voided=61)
    assert variant.store.resolutions()[scan_id(0)].status == "admitted"
    assert not variant.alerted


def test_control_without_the_second_look_the_time_of_arrival_matters():
    early, late = (variant_when(arrives=each, voided=30, looks=False) for each in (10, 70))
    assert early.store.resolutions()[scan_id(0)].status == "admitted"
    assert late.store.resolutions()[scan_id(0)].reason == "ticket_voided"


def test_a_person_whom_a_device_denied_is_denied_for_the_same_reason_whenever_the_scan_arrives():
    scan = replace(SCAN, outcome="duplicate")
    variants = [variant_when(arrives=each, voided=30, scan=scan) for each in (10, 70)]
    assert {each.store.resolutions()[scan_id(0)].reason for each in variants} == {"ticket_voided"}
    assert not any(each.alerted for each in variants)


def test_a_look_that_comes_too_early_is_taken_again():
    variant = variant_when(arrives=10, voided=30, looks=False)
    variant.look(at(40))
    assert variant.store.resolutions()[scan_id(0)].status == "admitted"
    variant.look(at(120))
    assert variant.store.resolutions()[scan_id(0)].reason == "ticket_voided"
