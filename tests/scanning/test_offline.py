"""The decisions of a device without a network, tested by the cases that its twin in the scanner app must
pass too."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scanning.offline_cases import (
    ADMITTED,
    BASE,
    STANDS,
    a_barcode,
    a_key,
    cases,
    cases_of_capacity,
    decided,
    document,
    given_of,
    mine,
    of_the_field,
    tickets,
    types,
)
from voelgoed.scanning.model.decisions import Reason
from voelgoed.scanning.model.offline import Decision, Manifest, OwnScan, Undecided
from voelgoed.scanning.rules.own_scans import history_with, unknown_to
from voelgoed.scanning.rules.register import Register

PATH = Path(__file__).parents[2] / "contracts" / "offline_decisions.json"


def said(decision: Decision | Undecided) -> str:
    if isinstance(decision, str):
        return decision
    return decision.verdict.reason or decision.verdict.status


def test_the_contract_is_what_its_writer_writes():
    assert PATH.read_bytes() == document()


@pytest.mark.parametrize("name", cases())
def test_the_cases(name: str):
    changes, wanted = cases()[name]
    assert said(decided(given_of(changes))) == wanted


def test_every_reason_has_a_case():
    wanted = {said for _, said in cases().values()}
    everything = {*get_args(Reason), *get_args(Undecided), ADMITTED}
    assert wanted == everything - {
        "unverified"
    }  # only the server gives this reason, for recovered scans


def test_only_scans_that_let_somebody_through_are_green():
    for changes, wanted in cases().values():
        decision = decided(given_of(changes))
        if isinstance(decision, Decision):
            assert (decision.colour == "green") == (wanted == ADMITTED)
            assert (decision.outcome == "valid") == (wanted == ADMITTED)


def test_the_screen_shows_seat_zone_notes_and_the_last_scan():
    shown = decided(
        given_of({"own": [mine("2026-06-05T17:58:00.000000Z", UUID(TICKET["ticket_id"]))]})
    ).shown
    assert (shown.seat, shown.zone, shown.last_gate) == ("A-1", "Stalls", "Gate north")
    assert shown.notes == ["Wheelchair place, companion beside in A-2"]
    assert shown.last_scanned_at == datetime(2026, 6, 5, 17, 58, tzinfo=UTC)


TICKET = BASE["manifest"]["tickets"][0]


def test_for_a_foreign_barcode_nothing_is_shown_and_no_ticket_named():
    for text in ("rubbish", of_the_field(key=a_key(99)), a_barcode(key=a_key(99))):
        decision = decided(given_of({"text": text}))
        assert decision.ticket_id is None
        assert decision.shown == msgspec.convert({}, type(decision.shown))


def test_a_forged_barcode_is_distinguished_from_rubbish():
    assert decided(given_of({"text": of_the_field(key=a_key(99))})).is_forged
    assert not decided(given_of({"text": "rubbish, and more than twenty letters"})).is_forged


def test_a_manifest_whose_tickets_have_no_known_type_is_refused():
    wrong = BASE["manifest"] | {"ticket_types": []}
    with pytest.raises(ValueError, match="type"):
        Register(msgspec.convert(wrong, Manifest), bytes(32))


@pytest.mark.parametrize("name", cases_of_capacity())
def test_a_gate_can_be_named_by_its_id_or_its_code(name: str):
    given = given_of(cases_of_capacity()[name][0])
    ids = {gate["gate_id"]: gate["id"] for gate in given["manifest"]["gates"]}
    own = [{**scan, "gate": ids[scan["gate"]]} for scan in given["own"]]
    assert decided(given | {"own": own, "gate": ids[given["gate"]]}) == decided(given)


@given(st.integers(0, len(a_barcode()) - 1), st.characters())
def test_a_barcode_with_a_changed_letter_is_not_admitted(place: int, letter: str):
    text = of_the_field()
    changed = text[: place % len(text)] + letter + text[place % len(text) + 1 :]
    admitted = said(decided(given_of({"text": changed}))) == ADMITTED
    assert admitted == (changed == text)


@given(st.text(st.characters(), max_size=400))
def test_every_presented_text_has_an_answer(text: str):
    assert said(decided(given_of({"text": text}))) == "ticket_not_found"


moments = st.datetimes(
    datetime(2026, 6, 5, 10), datetime(2026, 6, 6, 22), timezones=st.just(UTC)
).map(lambda at: at.isoformat())
own_scans = st.lists(
    st.builds(
        lambda at, direction, gate: mine(at, direction=direction, gate=gate),
        moments,
        st.sampled_from(["entry", "exit"]),
        st.sampled_from(["north", "south"]),
    ),
    max_size=6,
)


@given(own_scans, st.randoms(use_true_random=False), moments)
def test_the_order_of_a_devices_own_scans_does_not_matter(
    own: list[dict[str, Any]], random: Any, at: str
):
    shuffled = random.sample(own, len(own))
    one, other = (decided(given_of(STANDS | {"own": each, "at": at})) for each in (own, shuffled))
    if len({scan["at"] for scan in own}) == len(own):
        assert one == other


@given(own_scans, moments)
def test_the_decision_is_the_same_from_the_manifest_or_from_own_scans(
    own: list[dict[str, Any]], at: str
):
    """A manifest that counts all of a device's scans leads to the decision that the device made without
    it."""
    settings = types(max_daily_entries=2, reentry="after_exit")
    own = [{**scan, "at": f"{scan['at'][:19]}.{place:06}+00:00"} for place, scan in enumerate(own)]
    alone = decided(given_of(STANDS | {"manifest": settings, "own": own, "at": at}))
    manifest = msgspec.convert(given_of({})["manifest"], Manifest)
    scans = msgspec.convert(own, list[OwnScan])
    own_history = history_with(manifest, None, unknown_to(manifest, None, scans))
    history = own_history.history
    if history.last_scanned_at is None:
        return
    last_day = max(day for day in history.entries_by_day)
    entry = {
        "status": "scanned",
        "entries": history.entries,
        "day": last_day,
        "day_entries": history.entries_by_day[last_day],
        "last_scanned_at": history.last_scanned_at.isoformat(),
        "last_gate": own_history.last_gate,
        "is_inside": history.inside_day is not None,
        "last_exit_at": history.left_at and history.left_at.isoformat(),
    }
    if datetime.fromisoformat(at) < history.last_scanned_at:
        return  # a manifest has the entries of its last day only
    known = decided(given_of(STANDS | {"manifest": settings | tickets(**entry), "at": at}))
    assert known == alone


@given(own_scans, moments)
def test_scans_acknowledged_before_the_manifest_change_nothing(own: list[dict[str, Any]], at: str):
    generated = datetime.fromisoformat(BASE["manifest"]["generated_at"])
    before = (generated - timedelta(microseconds=1)).isoformat()
    known = [{**scan, "acknowledged_at": before} for scan in own]
    assert decided(given_of(STANDS | {"own": known, "at": at})) == decided(
        given_of(STANDS | {"at": at})
    )


@given(own_scans, own_scans, moments)
def test_more_own_admissions_never_lead_to_an_admission_of_a_limited_ticket(
    some: list[dict[str, Any]], more: list[dict[str, Any]], at: str
):
    entries = [scan for scan in more if scan["direction"] == "entry"]
    limits = {"manifest": tickets(entry_limit=3) | types(max_daily_entries=2, entry_limit=3)}
    if said(decided(given_of(STANDS | limits | {"own": some, "at": at}))) in (
        "entry_limit_reached",
        "daily_limit_reached",
    ):
        after = decided(given_of(STANDS | limits | {"own": some + entries, "at": at}))
        assert said(after) != ADMITTED
