"""The states of an event: every way between two of them, and every way there is not."""

from itertools import product
from typing import Any, get_args

import httpx
import pytest

from tests.support import Tenant, a_venue, an_event
from voelgoed.events.model import EventStatus
from voelgoed.events.rules.lifecycle import CHANGEABLE, NEXT, PUBLIC, may_become

STATES: tuple[EventStatus, ...] = get_args(EventStatus)

WAYS: set[tuple[EventStatus, EventStatus]] = {
    ("draft", "published"),
    ("published", "live"),
    ("live", "ended"),
    ("ended", "archived"),
    ("draft", "cancelled"),
    ("published", "cancelled"),
    ("live", "cancelled"),
}

ROADS: dict[EventStatus, list[EventStatus]] = {
    "draft": [],
    "published": ["published"],
    "live": ["published", "live"],
    "ended": ["published", "live", "ended"],
    "archived": ["published", "live", "ended", "archived"],
    "cancelled": ["cancelled"],
}
"""How to bring a draft to each state."""


@pytest.mark.parametrize(("status", "wanted"), [*product(STATES, STATES)])
def test_an_event_goes_only_the_ways_there_are(status: EventStatus, wanted: EventStatus) -> None:
    assert may_become(status, wanted) is ((status, wanted) in WAYS)


def test_every_state_has_a_row() -> None:
    assert set(NEXT) == set(STATES)


def test_customers_see_what_is_on_sale_or_going_on() -> None:
    assert {"published", "live"} == PUBLIC


def test_what_is_over_can_no_longer_be_changed() -> None:
    assert set(STATES) - CHANGEABLE == {"ended", "archived", "cancelled"}


class Events:
    """Events of one venue, as an organiser."""

    def __init__(self, client: httpx.AsyncClient, tenant: Tenant) -> None:
        self.client, self.headers = client, tenant.as_("organiser")
        self.venue_id: str | None = None

    async def at(self, status: EventStatus) -> dict[str, Any]:
        """A new event, brought to that state."""
        if self.venue_id is None:
            venue = await self.client.post("/api/venues", json=a_venue(), headers=self.headers)
            self.venue_id = venue.json()["data"]["id"]
        answer = await self.client.post(
            "/api/events", json=an_event(str(self.venue_id)), headers=self.headers
        )
        for step in ROADS[status]:
            answer = await self.move(answer.json()["data"], step)
            assert answer.status_code == 200
        return answer.json()["data"]

    async def move(self, event: dict[str, Any], to: str) -> httpx.Response:
        path = f"/api/events/{event['id']}/transitions"
        return await self.client.post(path, json={"to": to}, headers=self.headers)

    async def read(self, event: dict[str, Any]) -> dict[str, Any]:
        path = f"/api/events/{event['id']}"
        return (await self.client.get(path, headers=self.headers)).json()["data"]


@pytest.fixture
def events(client: httpx.AsyncClient, tenant: Tenant) -> Events:
    return Events(client, tenant)


@pytest.mark.parametrize("status", STATES)
async def test_the_api_goes_only_the_ways_there_are(events: Events, status: EventStatus) -> None:
    for wanted in set(STATES) - {status}:
        event = await events.at(status)
        answer = await events.move(event, wanted)
        if (status, wanted) in WAYS:
            assert answer.status_code == 200
            assert answer.json()["data"]["status"] == wanted
            assert answer.json()["data"]["version"] == event["version"] + 1
            assert await events.read(event) == answer.json()["data"]
        else:
            assert answer.status_code == 409
            assert answer.json()["error"] == "invalid_transition"
            allowed = sorted(to for come_from, to in WAYS if come_from == status)
            assert answer.json()["details"] == {"status": status, "allowed": allowed}
            assert await events.read(event) == event


@pytest.mark.parametrize("status", STATES)
async def test_asking_for_the_state_it_is_in_changes_nothing(
    events: Events, status: EventStatus
) -> None:
    event = await events.at(status)
    answer = await events.move(event, status)
    assert answer.status_code == 200
    assert await events.read(event) == answer.json()["data"] == event


@pytest.mark.parametrize("status", STATES)
async def test_only_what_is_not_over_can_be_changed(events: Events, status: EventStatus) -> None:
    event = await events.at(status)
    answer = await events.client.patch(
        f"/api/events/{event['id']}",
        json={"version": event["version"], "name": "Renamed"},
        headers=events.headers,
    )
    if status in ("draft", "published", "live"):
        assert answer.json()["data"]["name"] == "Renamed"
    else:
        assert (answer.status_code, answer.json()["error"]) == (409, "event_frozen")
        assert answer.json()["details"] == {"status": status}


@pytest.mark.parametrize("status", STATES)
async def test_only_a_draft_can_be_deleted(events: Events, status: EventStatus) -> None:
    event = await events.at(status)
    answer = await events.client.delete(f"/api/events/{event['id']}", headers=events.headers)
    if status == "draft":
        assert answer.status_code == 204
    else:
        assert (answer.status_code, answer.json()["error"]) == (409, "event_not_draft")
        assert await events.read(event) == event


async def test_a_state_nobody_knows_is_refused(events: Events) -> None:
    answer = await events.move(await events.at("draft"), "postponed")
    [fault] = answer.json()["details"]["faults"]
    assert (answer.status_code, fault["path"]) == (422, "$.to")
