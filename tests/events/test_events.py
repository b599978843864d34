"""Events: created as drafts, changed by version, hidden from customers until published."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from tests.support import SOON, Tenant, a_venue, an_event
from voelgoed.accounts.model import Role
from voelgoed.events.actions import events as actions
from voelgoed.events.model import Event, Transition
from voelgoed.events.store import events as store
from voelgoed.infra.database import Transaction
from voelgoed.infra.live import Subscription
from voelgoed.services import Services


class Events:
    """The routes of events at one venue, as an organiser."""

    def __init__(self, client: httpx.AsyncClient, tenant: Tenant, venue_id: str) -> None:
        self.client, self.tenant, self.venue_id = client, tenant, venue_id
        self.headers = tenant.as_("organiser")

    async def create(
        self, key: str | None = None, by: Role = "organiser", **changes: Any
    ) -> httpx.Response:
        headers = self.tenant.as_(by) | ({"Idempotency-Key": key} if key else {})
        new = an_event(self.venue_id) | changes
        return await self.client.post("/api/events", json=new, headers=headers)

    async def created(self, **changes: Any) -> dict[str, Any]:
        return (await self.create(**changes)).json()["data"]

    async def read(self, event_id: object, by: Role = "organiser") -> httpx.Response:
        return await self.client.get(f"/api/events/{event_id}", headers=self.tenant.as_(by))

    async def change(self, event_id: object, **changes: Any) -> httpx.Response:
        return await self.client.patch(
            f"/api/events/{event_id}", json={"version": 1, **changes}, headers=self.headers
        )

    async def move(self, event_id: object, *states: str) -> None:
        for state in states:
            path = f"/api/events/{event_id}/transitions"
            moved = await self.client.post(path, json={"to": state}, headers=self.headers)
            assert moved.status_code == 200

    async def delete(self, event_id: object) -> httpx.Response:
        return await self.client.delete(f"/api/events/{event_id}", headers=self.headers)

    async def page(self, by: Role = "organiser", **params: Any) -> httpx.Response:
        return await self.client.get("/api/events", params=params, headers=self.tenant.as_(by))

    async def names(self, by: Role = "organiser", **params: Any) -> list[str]:
        return [event["name"] for event in (await self.page(by, **params)).json()["data"]]


async def events_of(client: httpx.AsyncClient, tenant: Tenant) -> Events:
    venue = await client.post("/api/venues", json=a_venue(), headers=tenant.as_("organiser"))
    return Events(client, tenant, venue.json()["data"]["id"])


@pytest.fixture
async def events(client: httpx.AsyncClient, tenant: Tenant) -> Events:
    return await events_of(client, tenant)


def refusal(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


def fault_paths(answer: httpx.Response) -> list[str]:
    return [fault["path"] for fault in answer.json()["details"]["faults"]]


def on(day: int, hour: int = 12) -> str:
    return SOON.replace(day=day, hour=hour).isoformat()


async def test_a_new_event_is_a_draft_with_the_days_of_its_venue(events: Events) -> None:
    answer = await events.create(description="Loud.")
    assert answer.status_code == 201
    event = answer.json()["data"]
    assert (event["status"], event["version"], event["capacity"]) == ("draft", 1, 400)
    assert event["days"] == [
        {"date": "2030-06-01", "starts_at": event["starts_at"], "ends_at": event["ends_at"]}
    ]
    assert (await events.read(event["id"])).json()["data"] == event


async def test_an_event_of_several_days_is_cut_at_the_venues_mornings(events: Events) -> None:
    event = await events.created(starts_at=on(1, 10), ends_at=on(3, 20))
    assert [day["date"] for day in event["days"]] == ["2030-06-01", "2030-06-02", "2030-06-03"]
    assert event["days"][0]["ends_at"] == "2030-06-02T04:00:00Z"  # six in Johannesburg


async def test_an_organiser_may_name_the_days(events: Events) -> None:
    days = [
        {"date": "2030-06-01", "starts_at": on(1, 10), "ends_at": on(1, 12)},
        {"date": "2030-06-03", "starts_at": on(3, 10), "ends_at": on(3, 12)},
    ]
    event = await events.created(starts_at=on(1, 10), ends_at=on(3, 12), days=days)
    stored = (await events.read(event["id"])).json()["data"]["days"]
    assert [day["date"] for day in stored] == ["2030-06-01", "2030-06-03"]


@pytest.mark.parametrize(
    ("broken", "path"),
    [
        ({"name": " "}, "$.name"),
        ({"capacity": 0}, "$.capacity"),
        ({"capacity": -1}, "$.capacity"),
        ({"capacity": 10_000_001}, "$.capacity"),
        ({"capacity": 1.5}, "$.capacity"),
        ({"capacity": "400"}, "$.capacity"),
        ({"starts_at": "2030-06-01T16:00:00"}, "$.starts_at"),
        ({"ends_at": "soon"}, "$.ends_at"),
        ({"ends_at": None}, "$.ends_at"),
        ({"venue_id": "here"}, "$.venue_id"),
        ({"days": []}, "$.days"),
        ({"days": [{"date": "2030-06-01"}]}, "$.days[0]"),
        ({"description": "x" * 5001}, "$.description"),
    ],
)
async def test_a_faulty_event_is_refused_with_the_fault(
    events: Events, broken: dict[str, Any], path: str
) -> None:
    answer = await events.create(**broken)
    assert refusal(answer) == (422, "invalid_request")
    assert fault_paths(answer) == [path]


@pytest.mark.parametrize("field", ["venue_id", "name", "starts_at", "ends_at", "capacity"])
async def test_what_an_event_needs_must_be_given(events: Events, field: str) -> None:
    new = {k: v for k, v in an_event(events.venue_id).items() if k != field}
    answer = await events.client.post("/api/events", json=new, headers=events.headers)
    assert refusal(answer) == (422, "invalid_request")
    assert field in answer.text


async def test_dates_that_contradict_each_other_are_all_told_at_once(events: Events) -> None:
    contradictory = {
        "ends_at": on(1, 10),
        "sale_start": on(3),
        "sale_end": on(2),
        "days": [{"date": "2030-06-01", "starts_at": on(1, 10), "ends_at": on(1, 9)}],
    }
    answer = await events.create(**contradictory)
    assert refusal(answer) == (422, "invalid_schedule")
    assert fault_paths(answer) == [
        "$.ends_at",
        "$.sale_end",
        "$.sale_start",
        "$.days[0].ends_at",
        "$.days[0]",
    ]


async def test_a_change_is_held_to_the_same_schedule(events: Events) -> None:
    event = await events.created()
    answer = await events.change(event["id"], ends_at=on(1, 10))
    assert refusal(answer) == (422, "invalid_schedule")
    assert (await events.read(event["id"])).json()["data"] == event


async def test_an_event_needs_a_venue_of_its_own_organisation(
    events: Events, other_tenant: Tenant
) -> None:
    theirs = await events_of(events.client, other_tenant)
    for venue_id in (str(uuid4()), theirs.venue_id):
        assert refusal(await events.create(venue_id=venue_id)) == (404, "venue_not_found")


async def test_a_change_changes_what_it_names_and_nothing_else(events: Events) -> None:
    before = await events.created(sale_start=on(1, 8))
    after = (await events.change(before["id"], name="Recital", sale_start=None)).json()["data"]
    differing = {k for k in before if before[k] != after[k]}
    assert differing == {"name", "sale_start", "version", "updated_at"}
    assert (after["name"], after["sale_start"], after["version"]) == ("Recital", None, 2)
    assert (await events.read(before["id"])).json()["data"] == after


async def test_an_event_that_moves_takes_its_days_along(events: Events) -> None:
    event = await events.created()
    moved = await events.change(event["id"], starts_at=on(8, 10), ends_at=on(9, 20))
    assert [day["date"] for day in moved.json()["data"]["days"]] == ["2030-06-08", "2030-06-09"]
    assert (await events.read(event["id"])).json()["data"] == moved.json()["data"]


async def test_a_new_name_leaves_the_days_alone(events: Events) -> None:
    days = [{"date": "2030-06-01", "starts_at": on(1, 17), "ends_at": on(1, 18)}]
    event = await events.created(days=days)
    renamed = (await events.change(event["id"], name="Recital")).json()["data"]
    assert len(renamed["days"]) == 1
    assert renamed["days"][0]["starts_at"] == "2030-06-01T17:00:00Z"


async def test_a_change_of_an_older_version_is_refused(events: Events) -> None:
    event = await events.created()
    await events.change(event["id"], name="First")
    late = await events.change(event["id"], name="Second")
    assert refusal(late) == (409, "version_conflict")
    assert late.json()["details"] == {"current_version": 2}


async def test_neither_status_nor_venue_can_be_patched(events: Events) -> None:
    event = await events.created()
    for change in ({"status": "live"}, {"venue_id": events.venue_id}):
        assert refusal(await events.change(event["id"], **change)) == (422, "invalid_request")


async def test_a_deleted_draft_is_gone(events: Events) -> None:
    event = await events.created()
    assert (await events.delete(event["id"])).status_code == 204
    for answer in (await events.read(event["id"]), await events.delete(event["id"])):
        assert refusal(answer) == (404, "event_not_found")


async def test_an_event_of_nobody_or_of_others_is_not_found(
    events: Events, other_tenant: Tenant
) -> None:
    theirs = await (await events_of(events.client, other_tenant)).created()
    for event_id in (uuid4(), theirs["id"]):
        transition = await events.client.post(
            f"/api/events/{event_id}/transitions",
            json={"to": "published"},
            headers=events.headers,
        )
        answers = [
            await events.read(event_id),
            await events.change(event_id, name="Ours"),
            await events.delete(event_id),
            transition,
        ]
        assert {refusal(answer) for answer in answers} == {(404, "event_not_found")}


async def test_customers_see_what_is_published_or_live_and_nothing_else(events: Events) -> None:
    roads: dict[str, list[str]] = {
        "draft": [],
        "published": ["published"],
        "live": ["published", "live"],
        "ended": ["published", "live", "ended"],
        "archived": ["published", "live", "ended", "archived"],
        "cancelled": ["cancelled"],
    }
    for status, road in roads.items():
        event = await events.created(name=status)
        await events.move(event["id"], *road)
        answer = await events.read(event["id"], by="customer")
        if status in ("published", "live"):
            assert answer.json()["data"]["status"] == status
        else:
            assert refusal(answer) == (404, "event_not_found")
        assert (await events.read(event["id"], by="box_office")).status_code == 200
    assert await events.names(by="customer") == ["published", "live"]
    assert await events.names(by="customer", status="draft") == []
    assert await events.names(by="customer", status="live") == ["live"]
    assert sorted(await events.names(by="box_office")) == sorted(roads)


async def test_events_are_listed_by_their_start_and_by_status(events: Events) -> None:
    for day in (5, 2, 9):
        event = await events.created(name=f"Day {day}", starts_at=on(day), ends_at=on(day, 15))
        if day == 9:
            await events.move(event["id"], "published")
    assert await events.names() == ["Day 2", "Day 5", "Day 9"]
    assert await events.names(status="draft") == ["Day 2", "Day 5"]
    assert await events.names(status="published") == ["Day 9"]


async def test_pages_lead_to_the_end_even_when_all_start_at_the_same_moment(
    events: Events,
) -> None:
    for number in range(5):
        await events.create(name=f"Concert {number}")
    await events.create(name="Overture", starts_at=(SOON - timedelta(hours=1)).isoformat())
    seen: list[str] = []
    page = (await events.page(limit=2)).json()
    while page["next"] is not None:
        seen += [event["name"] for event in page["data"]]
        page = (await events.page(limit=2, after=page["next"])).json()
    seen += [event["name"] for event in page["data"]]
    assert seen == ["Overture", *(f"Concert {number}" for number in range(5))]


@pytest.mark.parametrize(
    "params",
    [
        {"after": "nonsense"},
        {"after": f"2030-06-01T00:00:00~{UUID(int=1)}"},  # no timezone
        {"after": "2030-06-01T00:00:00+00:00~"},
        {"after": "x" * 101},
        {"status": "postponed"},
        {"limit": 0},
    ],
)
async def test_a_faulty_question_is_refused(events: Events, params: dict[str, Any]) -> None:
    answer = await events.page(**params)
    assert refusal(answer) == (422, "invalid_request")
    assert fault_paths(answer) == [next(iter(params))]


async def test_the_same_command_twice_is_one_event(events: Events) -> None:
    first, again = [await events.create(key="once") for _ in range(2)]
    assert first.status_code == again.status_code == 201
    assert first.json() == again.json()
    assert await events.names() == ["Concert"]


async def test_a_key_used_for_something_else_is_refused(events: Events) -> None:
    await events.create(key="once")
    other = await events.create(key="once", capacity=5)
    assert refusal(other) == (409, "idempotency_key_reused")
    assert await events.names() == ["Concert"]


async def test_the_same_command_many_times_at_once_is_one_event(events: Events) -> None:
    answers = await asyncio.gather(*(events.create(key="once") for _ in range(8)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["data"]["id"] for answer in answers}) == 1
    assert await events.names() == ["Concert"]


async def test_control_without_a_key_they_are_many(events: Events) -> None:
    await asyncio.gather(*(events.create() for _ in range(8)))
    assert await events.names() == ["Concert"] * 8


async def test_another_persons_same_key_is_another_command(events: Events) -> None:
    await events.create(key="once", by="organiser")
    await events.create(key="once", by="owner")
    assert await events.names() == ["Concert"] * 2


AT_ONCE = 6  # fewer than the pool has connections, so that all can wait for each other


@pytest.fixture
def all_read_before_any_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    all_have_read = asyncio.Barrier(AT_ONCE)
    event_of = actions.event_of

    async def read_and_wait(tx: Transaction, event_id: UUID) -> Event:
        event = await event_of(tx, event_id)
        await all_have_read.wait()
        return event

    monkeypatch.setattr(actions, "event_of", read_and_wait)


async def rename_at_once(
    events: Events, event: dict[str, Any], version: int = 1
) -> list[httpx.Response]:
    names = [f"Name {version}.{number}" for number in range(AT_ONCE)]
    changes = (events.change(event["id"], version=version, name=name) for name in names)
    return await asyncio.gather(*changes)


@pytest.mark.usefixtures("all_read_before_any_writes")
async def test_of_changes_at_the_same_moment_one_is_made(events: Events) -> None:
    event = await events.created()
    for version in range(1, 6):
        answers = await rename_at_once(events, event, version)
        assert sorted(answer.status_code for answer in answers) == [200] + [409] * (AT_ONCE - 1)
        [winner] = [answer.json()["data"] for answer in answers if answer.status_code == 200]
        assert await events.names() == [winner["name"]]


@pytest.mark.usefixtures("all_read_before_any_writes")
async def test_control_where_the_version_is_not_compared_all_believe_they_won(
    events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def update_carelessly(tx: Transaction, event: Event) -> int:
        return await tx.run("UPDATE event SET name = $2 WHERE id = $1", event.id, event.name)

    monkeypatch.setattr(store, "update_event", update_carelessly)
    answers = await rename_at_once(events, await events.created())
    assert [answer.status_code for answer in answers] == [200] * AT_ONCE


async def test_of_opposite_transitions_at_the_same_moment_one_is_made(events: Events) -> None:
    for _ in range(5):
        event = await events.created()
        path = f"/api/events/{event['id']}/transitions"
        published, cancelled = await asyncio.gather(
            *(
                events.client.post(path, json={"to": to}, headers=events.headers)
                for to in ("published", "cancelled")
            )
        )
        after = (await events.read(event["id"])).json()["data"]
        if (published.status_code, cancelled.status_code) == (200, 200):
            assert (after["status"], after["version"]) == ("cancelled", 3)  # one after the other
        else:
            assert {published.status_code, cancelled.status_code} == {200, 409}
            assert after["version"] == 2


def followed(services: Services, tenant: Tenant, event_id: str) -> Subscription:
    return services.live.follow(tenant.id, f"event:{event_id}", asyncio.Event())


async def first_messages(subscription: Subscription) -> list[Any]:
    taken: list[Any] = []
    async with asyncio.timeout(10):
        while not taken:
            await asyncio.sleep(0.005)
            taken = [envelope.data for envelope in subscription.take()]
    return taken


async def test_followers_hear_of_a_change_once_it_can_be_read(
    events: Events, services: Services, tenant: Tenant
) -> None:
    event = await events.created()
    subscription = followed(services, tenant, event["id"])
    await events.move(event["id"], "published")
    [message] = await first_messages(subscription)
    assert message == {"event": "event_changed", "id": event["id"], "status": "published"}
    assert (await events.read(event["id"])).json()["data"]["status"] == "published"


async def test_followers_hear_nothing_of_what_was_rolled_back(
    events: Events, services: Services, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = await events.created()
    subscription = followed(services, tenant, event["id"])

    async def break_after_publishing(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as broken, pytest.raises(ZeroDivisionError):
        broken.setattr(actions, "record", break_after_publishing)
        await actions.move_event(
            services.database,
            tenant.caller("organiser"),
            UUID(event["id"]),
            Transition(to="published"),
        )
    await events.move(event["id"], "cancelled")
    # Messages of a topic come in order, so the first one tells that none came before it.
    [message] = await first_messages(subscription)
    assert message["status"] == "cancelled"


async def test_moving_an_event_keeps_the_days_its_organiser_named(
    client: httpx.AsyncClient, tenant: Tenant
):
    headers = tenant.as_("owner")
    venue = (await client.post("/api/venues", json=a_venue(), headers=headers)).json()["data"]
    begins, ends = SOON, SOON + timedelta(days=2)
    named = [
        {
            "date": begins.date().isoformat(),
            "starts_at": begins.isoformat(),
            "ends_at": (begins + timedelta(hours=5)).isoformat(),
        }
    ]
    body = an_event(venue["id"], ends_at=ends.isoformat(), days=named)
    event = (await client.post("/api/events", json=body, headers=headers)).json()["data"]
    assert len(event["days"]) == 1
    longer = {"version": 1, "ends_at": (ends + timedelta(days=1)).isoformat()}
    path = f"/api/events/{event['id']}"
    changed = (await client.patch(path, json=longer, headers=headers)).json()["data"]
    assert changed["days"] == event["days"]
    shorter = {"version": 2, "ends_at": (begins + timedelta(hours=1)).isoformat()}
    refused = await client.patch(path, json=shorter, headers=headers)
    assert refused.json()["error"] == "invalid_schedule"


async def test_moments_are_answered_in_utc_whatever_offset_they_came_with(
    client: httpx.AsyncClient, tenant: Tenant
):
    headers = tenant.as_("owner")
    venue = (await client.post("/api/venues", json=a_venue(), headers=headers)).json()["data"]
    body = an_event(venue["id"], starts_at="2030-06-01T18:00:00+02:00")
    event = (await client.post("/api/events", json=body, headers=headers)).json()["data"]
    assert event["starts_at"] == "2030-06-01T16:00:00Z"
    read = (await client.get(f"/api/events/{event['id']}", headers=headers)).json()["data"]
    assert read == event


async def test_a_day_is_named_by_the_date_it_began_on_at_the_venue(
    client: httpx.AsyncClient, tenant: Tenant
):
    headers = tenant.as_("owner")
    venue = (await client.post("/api/venues", json=a_venue(), headers=headers)).json()["data"]
    body = an_event(venue["id"])
    body["days"] = [
        {"date": "1999-01-01", "starts_at": body["starts_at"], "ends_at": body["ends_at"]}
    ]
    answer = await client.post("/api/events", json=body, headers=headers)
    assert answer.json()["details"]["faults"] == [
        {"path": "$.days[0].date", "message": "must be 2030-06-01"}
    ]


async def test_a_venue_with_events_keeps_its_timezone(client: httpx.AsyncClient, tenant: Tenant):
    headers = tenant.as_("owner")
    venue = (await client.post("/api/venues", json=a_venue(), headers=headers)).json()["data"]
    path, change = f"/api/venues/{venue['id']}", {"version": 1, "timezone": "Pacific/Auckland"}
    await client.post("/api/events", json=an_event(venue["id"]), headers=headers)
    answer = await client.patch(path, json=change, headers=headers)
    assert (answer.status_code, answer.json()["error"]) == (409, "timezone_in_use")
