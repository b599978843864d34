"""Venues: where events take place, and in which timezone."""

import asyncio
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.support import Tenant, a_venue, an_event
from voelgoed.accounts.model import Role


class Venues:
    """The routes of venues, as an organiser."""

    def __init__(self, client: httpx.AsyncClient, tenant: Tenant) -> None:
        self.client, self.tenant = client, tenant
        self.headers = tenant.as_("organiser")

    async def create(
        self, key: str | None = None, by: Role = "organiser", **changes: Any
    ) -> httpx.Response:
        headers = self.tenant.as_(by) | ({"Idempotency-Key": key} if key else {})
        return await self.client.post("/api/venues", json=a_venue(**changes), headers=headers)

    async def created(self, **changes: Any) -> dict[str, Any]:
        return (await self.create(**changes)).json()["data"]

    async def read(self, venue_id: object) -> httpx.Response:
        return await self.client.get(f"/api/venues/{venue_id}", headers=self.tenant.as_("customer"))

    async def change(self, venue_id: object, **changes: Any) -> httpx.Response:
        return await self.client.patch(
            f"/api/venues/{venue_id}", json={"version": 1, **changes}, headers=self.headers
        )

    async def delete(self, venue_id: object) -> httpx.Response:
        return await self.client.delete(f"/api/venues/{venue_id}", headers=self.headers)

    async def page(self, **params: Any) -> dict[str, Any]:
        headers = self.tenant.as_("customer")
        return (await self.client.get("/api/venues", params=params, headers=headers)).json()


@pytest.fixture
def venues(client: httpx.AsyncClient, tenant: Tenant) -> Venues:
    return Venues(client, tenant)


def refusal(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


async def test_a_new_venue_can_be_read_by_everybody(venues: Venues) -> None:
    answer = await venues.create(address="1 Long Street")
    assert answer.status_code == 201
    venue = answer.json()["data"]
    assert (venue["name"], venue["timezone"], venue["address"], venue["version"]) == (
        "Hall",
        "Africa/Johannesburg",
        "1 Long Street",
        1,
    )
    assert (await venues.read(venue["id"])).json()["data"] == venue


@pytest.mark.parametrize(
    "timezone",
    ["Nowhere/Land", "africa/johannesburg", "+02:00", "../../etc/passwd", "localtime", "Factory"],
)
async def test_a_timezone_is_one_of_the_known_names(venues: Venues, timezone: str) -> None:
    answer = await venues.create(timezone=timezone)
    assert refusal(answer) == (422, "invalid_timezone")
    assert answer.json()["details"] == {"timezone": timezone}
    venue = await venues.created()
    assert refusal(await venues.change(venue["id"], timezone=timezone)) == (422, "invalid_timezone")


@pytest.mark.parametrize(
    ("broken", "path"),
    [
        ({"name": ""}, "$.name"),
        ({"name": "\t"}, "$.name"),
        ({"name": "x" * 201}, "$.name"),
        ({"name": 3}, "$.name"),
        ({"address": "x" * 5001}, "$.address"),
        ({"address": "\0"}, "$.address"),
        ({"address": None}, "$.address"),
        ({"timezone": None}, "$.timezone"),
    ],
)
async def test_a_faulty_venue_is_refused_with_the_fault(
    venues: Venues, broken: dict[str, Any], path: str
) -> None:
    answer = await venues.create(**broken)
    assert refusal(answer) == (422, "invalid_request")
    assert [fault["path"] for fault in answer.json()["details"]["faults"]] == [path]


async def test_a_field_nobody_knows_is_named(venues: Venues) -> None:
    answer = await venues.create(capacity=5)
    assert refusal(answer) == (422, "invalid_request")
    assert "capacity" in answer.text


async def test_a_change_changes_what_it_names_and_nothing_else(venues: Venues) -> None:
    before = await venues.created()
    after = (await venues.change(before["id"], name="Arena")).json()["data"]
    assert {k for k in before if before[k] != after[k]} == {"name", "version", "updated_at"}
    assert (after["name"], after["version"]) == ("Arena", 2)
    assert (await venues.read(before["id"])).json()["data"] == after


async def test_a_change_of_an_older_version_is_refused(venues: Venues) -> None:
    venue = await venues.created()
    await venues.change(venue["id"], name="First")
    late = await venues.change(venue["id"], name="Second")
    assert refusal(late) == (409, "version_conflict")
    assert late.json()["details"] == {"current_version": 2}
    assert (await venues.read(venue["id"])).json()["data"]["name"] == "First"


async def test_of_changes_at_the_same_moment_one_is_made(venues: Venues) -> None:
    venue = await venues.created()
    answers = await asyncio.gather(
        *(venues.change(venue["id"], name=f"Name {n}") for n in range(6))
    )
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 5
    [winner] = [answer.json()["data"] for answer in answers if answer.status_code == 200]
    assert (await venues.read(venue["id"])).json()["data"] == winner


async def test_a_deleted_venue_is_gone(venues: Venues) -> None:
    venue = await venues.created()
    assert (await venues.delete(venue["id"])).status_code == 204
    for answer in (await venues.read(venue["id"]), await venues.delete(venue["id"])):
        assert refusal(answer) == (404, "venue_not_found")


async def test_a_venue_with_events_stays(venues: Venues) -> None:
    venue = await venues.created()
    created = await venues.client.post(
        "/api/events", json=an_event(venue["id"]), headers=venues.headers
    )
    assert refusal(await venues.delete(venue["id"])) == (409, "venue_in_use")
    await venues.client.delete(
        f"/api/events/{created.json()['data']['id']}", headers=venues.headers
    )
    assert (await venues.delete(venue["id"])).status_code == 204


async def test_a_venue_of_nobody_or_of_others_is_not_found(
    venues: Venues, other_tenant: Tenant
) -> None:
    theirs = await Venues(venues.client, other_tenant).created()
    for venue_id in (uuid4(), theirs["id"]):
        answers = [
            await venues.read(venue_id),
            await venues.change(venue_id, name="Ours"),
            await venues.delete(venue_id),
        ]
        assert {refusal(answer) for answer in answers} == {(404, "venue_not_found")}


async def test_pages_lead_to_the_end_without_gaps_or_repeats(
    venues: Venues, other_tenant: Tenant
) -> None:
    await Venues(venues.client, other_tenant).create(name="Theirs")
    for number in range(5):
        await venues.create(name=f"Hall {number}")
    seen: list[str] = []
    page = await venues.page(limit=2)
    while page["next"] is not None:
        assert len(page["data"]) == 2
        seen += [venue["name"] for venue in page["data"]]
        page = await venues.page(limit=2, after=page["next"])
    seen += [venue["name"] for venue in page["data"]]
    assert seen == [f"Hall {number}" for number in range(5)]


async def test_the_same_command_twice_is_one_venue(venues: Venues) -> None:
    first, again = [await venues.create(key="once") for _ in range(2)]
    assert first.status_code == again.status_code == 201
    assert first.json() == again.json()
    assert len((await venues.page())["data"]) == 1


async def test_the_first_answer_is_given_again_even_after_a_change(venues: Venues) -> None:
    first = await venues.create(key="once")
    await venues.change(first.json()["data"]["id"], name="Changed")
    assert (await venues.create(key="once")).json() == first.json()


async def test_a_key_used_for_something_else_is_refused(venues: Venues) -> None:
    await venues.create(key="once")
    other = await venues.create(key="once", name="Other")
    assert refusal(other) == (409, "idempotency_key_reused")
    assert len((await venues.page())["data"]) == 1


@pytest.mark.parametrize("key", ["x" * 201, "two words"])
async def test_a_key_has_a_form(venues: Venues, key: str) -> None:
    assert refusal(await venues.create(key=key)) == (422, "invalid_request")


async def test_the_same_command_many_times_at_once_is_one_venue(venues: Venues) -> None:
    answers = await asyncio.gather(*(venues.create(key="once") for _ in range(8)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["data"]["id"] for answer in answers}) == 1
    assert len((await venues.page())["data"]) == 1


async def test_control_without_a_key_they_are_many(venues: Venues) -> None:
    await asyncio.gather(*(venues.create() for _ in range(8)))
    assert len((await venues.page())["data"]) == 8


async def test_another_persons_same_key_is_another_command(
    venues: Venues, other_tenant: Tenant
) -> None:
    mine = await venues.create(key="once", by="organiser")
    owners = await venues.create(key="once", by="owner")
    theirs = await Venues(venues.client, other_tenant).create(key="once")
    assert len({answer.json()["data"]["id"] for answer in (mine, owners, theirs)}) == 3
