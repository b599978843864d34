"""Alerts count every person and every scan, however many arrive in one delivery."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from tests.scanning.alert_support import UNKNOWN, alerts
from tests.scanning.offline_builders import DEVICE, a_result, suspicions
from tests.scanning.support import World
from tests.scanning.sync_support import signed, sync
from tests.support import MovableClock
from voelgoed.scanning.model.alerts import Suspicion
from voelgoed.scanning.rules.alerts import merge_suspicions
from voelgoed.scanning.rules.invalid_admissions import TICKETS_ALERTED_MAX
from voelgoed.scanning.rules.offline_scans import SyncResult

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def a_suspicion(subject: int, number: int = 0, occurrences: int = 1) -> Suspicion:
    return Suspicion(
        event_id=UUID(int=1),
        kind="ticket_not_found",
        severity="low",
        subject_type="device",
        subject_id=UUID(int=subject),
        at=NOON,
        details={"number": number},
        occurrences=occurrences,
    )


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3)), max_size=30))
def test_merged_suspicions_count_and_list_every_one(given_: list[tuple[int, int]]):
    suspicions = [a_suspicion(subject, at, n) for at, (subject, n) in enumerate(given_)]
    merged = merge_suspicions(suspicions)
    assert len({each.about for each in merged}) == len(merged)
    assert sum(each.occurrences for each in merged) == sum(n for _, n in given_)
    for each in merged:
        alike = [one.details["number"] for one in suspicions if one.about == each.about]
        assert each.details["number"] == alike[-1]
        occasions = each.details.get("occasions", [each.details])
        assert [one["number"] for one in occasions] == alike  # type: ignore[union-attr]


def invalid(results: list[SyncResult]) -> list[Suspicion]:
    return [each for each in suspicions(results) if each.kind == "invalid_admission"]


def admitted_wrongly(number: int, ticket: int) -> SyncResult:
    return a_result(number, ticket_id=UUID(int=ticket), stateless_reason="ticket_voided")


def test_every_ticket_of_a_delivery_has_its_alert():
    found = [admitted_wrongly(number, number) for number in range(TICKETS_ALERTED_MAX)]
    raised = merge_suspicions(invalid(found))
    assert [each.subject_id for each in raised] == [UUID(int=n) for n in range(len(found))]


def test_more_tickets_than_a_list_shows_are_one_alert_with_count_and_list():
    found = [admitted_wrongly(number, number) for number in range(TICKETS_ALERTED_MAX + 1)]
    [raised] = invalid([*found, admitted_wrongly(TICKETS_ALERTED_MAX + 1, 0)])
    assert (raised.subject_type, raised.subject_id) == ("batch", raised.details["batch_id"])
    assert raised.details["device_id"] == DEVICE
    assert raised.occurrences == TICKETS_ALERTED_MAX + 2
    occasions = raised.details["occasions"]
    assert isinstance(occasions, list)
    assert len(occasions) == TICKETS_ALERTED_MAX + 2
    assert raised.details["device_name"] == "iPad"


async def test_repeats_within_five_seconds_are_counted(world: World):
    device = await world.device()
    for _ in range(4):
        await world.scan(device, UNKNOWN)
    [alert] = await alerts(world)
    assert alert["occurrences"] == 4


async def test_one_delivery_counts_every_person_let_in_with_a_void_ticket(
    world: World, clock: MovableClock
):
    device, [ticket] = await world.device(), await world.tickets(1)
    path = f"/api/tickets/{ticket.id}/void"
    voided = await world.ask("POST", path, {"reason": "lost"}, by="box_office")
    assert voided.status_code == 200
    clock.ahead += timedelta(minutes=20)
    scans = [
        await signed(world, device, ticket, ago=timedelta(minutes=10 + minute))
        for minute in range(3)
    ]
    await sync(world, device, *scans)
    [alert] = [each for each in await alerts(world) if each["kind"] == "invalid_admission"]
    assert alert["occurrences"] == 3
    assert {each["scan_id"] for each in alert["details"]["occasions"]} == {
        scan["scan_id"] for scan in scans
    }


async def test_the_list_of_a_ticket_goes_on_with_every_delivery(world: World, clock: MovableClock):
    device, [ticket] = await world.device(), await world.tickets(1)
    path = f"/api/tickets/{ticket.id}/void"
    await world.ask("POST", path, {"reason": "lost"}, by="box_office")
    clock.ahead += timedelta(minutes=30)
    scans = [await signed(world, device, ticket, timedelta(minutes=20 - n)) for n in range(5)]
    for several in (scans[:1], scans[1:2], scans[2:]):
        await sync(world, device, *several)
    for kind, people in (("invalid_admission", scans), ("double_entry", scans[1:])):
        [alert] = [each for each in await alerts(world) if each["kind"] == kind]
        assert alert["occurrences"] == len(people)
        assert [each["scan_id"] for each in alert["details"]["occasions"]] == [
            each["scan_id"] for each in people
        ]
