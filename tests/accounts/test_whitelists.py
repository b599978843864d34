"""Whitelists: names of lists, and e-mail addresses on them."""

import asyncio
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.support import Tenant


class Whitelists:
    """The routes of whitelists, as an organiser."""

    def __init__(self, client: httpx.AsyncClient, tenant: Tenant) -> None:
        self.client, self.tenant = client, tenant

    async def create(self, name: Any = "Friends", key: str | None = None, **more: Any) -> Any:
        by = more.pop("by", "organiser")
        headers = self.tenant.as_(by) | ({"Idempotency-Key": key} if key else {})
        return await self.client.post(
            "/api/whitelists", json={"name": name, **more}, headers=headers
        )

    async def created(self, name: str = "Friends") -> str:
        return (await self.create(name)).json()["data"]["id"]

    async def page(self, **params: Any) -> dict[str, Any]:
        headers = self.tenant.as_("box_office")
        return (await self.client.get("/api/whitelists", params=params, headers=headers)).json()

    async def names(self) -> list[str]:
        return [whitelist["name"] for whitelist in (await self.page())["data"]]

    async def delete(self, whitelist_id: object) -> httpx.Response:
        headers = self.tenant.as_("organiser")
        return await self.client.delete(f"/api/whitelists/{whitelist_id}", headers=headers)

    async def add(self, whitelist_id: object, email: Any, **more: Any) -> httpx.Response:
        return await self.client.post(
            f"/api/whitelists/{whitelist_id}/entries",
            json={"email": email, **more},
            headers=self.tenant.as_("organiser"),
        )

    async def remove(self, whitelist_id: object, email: str) -> httpx.Response:
        return await self.client.delete(
            f"/api/whitelists/{whitelist_id}/entries",
            params={"email": email},
            headers=self.tenant.as_("organiser"),
        )

    async def entries(self, whitelist_id: object, **params: Any) -> httpx.Response:
        return await self.client.get(
            f"/api/whitelists/{whitelist_id}/entries",
            params=params,
            headers=self.tenant.as_("box_office"),
        )

    async def addresses(self, whitelist_id: object) -> list[str]:
        page = (await self.entries(whitelist_id)).json()
        return [entry["email"] for entry in page["data"]]


@pytest.fixture
def whitelists(client: httpx.AsyncClient, tenant: Tenant) -> Whitelists:
    return Whitelists(client, tenant)


def refusal(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


async def test_a_new_whitelist_is_listed_and_empty(whitelists: Whitelists) -> None:
    answer = await whitelists.create("Friends")
    assert answer.status_code == 201
    assert (await whitelists.page())["data"] == [answer.json()["data"]]
    assert await whitelists.addresses(answer.json()["data"]["id"]) == []


async def test_a_name_is_given_once_in_an_organisation(
    whitelists: Whitelists, other_tenant: Tenant
) -> None:
    await whitelists.create("Friends")
    assert refusal(await whitelists.create("Friends")) == (409, "whitelist_name_taken")
    theirs = Whitelists(whitelists.client, other_tenant)
    assert (await theirs.create("Friends")).status_code == 201


@pytest.mark.parametrize("name", ["", " ", "x" * 201, None, 7])
async def test_a_whitelist_needs_a_name(whitelists: Whitelists, name: object) -> None:
    answer = await whitelists.create(name)
    [fault] = answer.json()["details"]["faults"]
    assert (answer.status_code, fault["path"]) == (422, "$.name")


async def test_a_field_nobody_knows_is_refused(whitelists: Whitelists) -> None:
    assert refusal(await whitelists.create(colour="red")) == (422, "invalid_request")


async def test_a_deleted_whitelist_is_gone_with_its_addresses(whitelists: Whitelists) -> None:
    whitelist_id = await whitelists.created()
    await whitelists.add(whitelist_id, "ann@friends.example")
    assert (await whitelists.delete(whitelist_id)).status_code == 204
    assert await whitelists.names() == []
    assert refusal(await whitelists.entries(whitelist_id)) == (404, "whitelist_not_found")
    assert refusal(await whitelists.delete(whitelist_id)) == (404, "whitelist_not_found")


async def test_a_whitelist_of_nobody_or_of_others_is_not_found(
    whitelists: Whitelists, other_tenant: Tenant
) -> None:
    theirs = await Whitelists(whitelists.client, other_tenant).created()
    for whitelist_id in (uuid4(), theirs):
        answers = [
            await whitelists.entries(whitelist_id),
            await whitelists.add(whitelist_id, "a@b.example"),
            await whitelists.remove(whitelist_id, "a@b.example"),
            await whitelists.delete(whitelist_id),
        ]
        assert {refusal(answer) for answer in answers} == {(404, "whitelist_not_found")}


async def test_addresses_are_listed_alphabetically_and_in_small_letters(
    whitelists: Whitelists,
) -> None:
    whitelist_id = await whitelists.created()
    for email in ("zoe@friends.example", "Ann@Friends.example", "mia@friends.example"):
        assert (await whitelists.add(whitelist_id, email, note="x")).status_code == 201
    assert await whitelists.addresses(whitelist_id) == [
        "ann@friends.example",
        "mia@friends.example",
        "zoe@friends.example",
    ]


async def test_adding_an_address_twice_keeps_it_once_with_the_newer_note(
    whitelists: Whitelists,
) -> None:
    whitelist_id = await whitelists.created()
    await whitelists.add(whitelist_id, "ann@friends.example", note="old")
    again = await whitelists.add(whitelist_id, "ANN@friends.example", note="new")
    assert again.status_code == 201
    [entry] = (await whitelists.entries(whitelist_id)).json()["data"]
    assert (entry["email"], entry["note"]) == ("ann@friends.example", "new")


async def test_adding_an_address_many_times_at_once_keeps_it_once(whitelists: Whitelists) -> None:
    whitelist_id = await whitelists.created()
    answers = await asyncio.gather(
        *(whitelists.add(whitelist_id, "ann@friends.example") for _ in range(8))
    )
    assert {answer.status_code for answer in answers} == {201}
    assert await whitelists.addresses(whitelist_id) == ["ann@friends.example"]


@pytest.mark.parametrize(
    ("broken", "path"),
    [
        ({"email": "nobody"}, "$.email"),
        ({"email": "a@"}, "$.email"),
        ({"email": f"{'x' * 250}@b.example"}, "$.email"),
        ({"email": "a@b.example", "note": "x" * 501}, "$.note"),
    ],
)
async def test_a_faulty_address_is_refused_with_the_fault(
    whitelists: Whitelists, broken: dict[str, Any], path: str
) -> None:
    answer = await whitelists.add(await whitelists.created(), **broken)
    [fault] = answer.json()["details"]["faults"]
    assert (answer.status_code, fault["path"]) == (422, path)


async def test_a_removed_address_is_gone(whitelists: Whitelists) -> None:
    whitelist_id = await whitelists.created()
    await whitelists.add(whitelist_id, "ann+guest@friends.example")
    await whitelists.add(whitelist_id, "mia@friends.example")
    removed = await whitelists.remove(whitelist_id, "Ann+guest@friends.example")
    assert removed.status_code == 204
    assert await whitelists.addresses(whitelist_id) == ["mia@friends.example"]
    again = await whitelists.remove(whitelist_id, "ann+guest@friends.example")
    assert refusal(again) == (404, "whitelist_entry_not_found")


async def test_an_address_is_removed_from_one_list_only(whitelists: Whitelists) -> None:
    friends, press = await whitelists.created("Friends"), await whitelists.created("Press")
    for whitelist_id in (friends, press):
        await whitelists.add(whitelist_id, "ann@friends.example")
    await whitelists.remove(friends, "ann@friends.example")
    assert await whitelists.addresses(press) == ["ann@friends.example"]


async def test_pages_of_whitelists_lead_to_the_end_without_gaps_or_repeats(
    whitelists: Whitelists,
) -> None:
    for number in range(5):
        await whitelists.create(f"List {number}")
    seen: list[str] = []
    page = await whitelists.page(limit=2)
    while page["next"] is not None:
        seen += [whitelist["name"] for whitelist in page["data"]]
        page = await whitelists.page(limit=2, after=page["next"])
    seen += [whitelist["name"] for whitelist in page["data"]]
    assert seen == [f"List {number}" for number in range(5)]


async def test_pages_of_addresses_lead_to_the_end_without_gaps_or_repeats(
    whitelists: Whitelists,
) -> None:
    whitelist_id = await whitelists.created()
    for number in range(5):
        await whitelists.add(whitelist_id, f"{number}+x@friends.example")
    seen: list[str] = []
    page = (await whitelists.entries(whitelist_id, limit=2)).json()
    while page["next"] is not None:
        seen += [entry["email"] for entry in page["data"]]
        page = (await whitelists.entries(whitelist_id, limit=2, after=page["next"])).json()
    seen += [entry["email"] for entry in page["data"]]
    assert seen == [f"{number}+x@friends.example" for number in range(5)]


async def test_the_same_command_twice_is_one_whitelist(whitelists: Whitelists) -> None:
    first, again = [await whitelists.create(key="once") for _ in range(2)]
    assert first.status_code == again.status_code == 201
    assert first.json() == again.json()
    assert await whitelists.names() == ["Friends"]


async def test_a_key_used_for_something_else_is_refused(whitelists: Whitelists) -> None:
    await whitelists.create("Friends", key="once")
    other = await whitelists.create("Press", key="once")
    assert refusal(other) == (409, "idempotency_key_reused")
    assert await whitelists.names() == ["Friends"]


async def test_the_same_command_many_times_at_once_is_one_whitelist(
    whitelists: Whitelists,
) -> None:
    answers = await asyncio.gather(*(whitelists.create(key="once") for _ in range(8)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["data"]["id"] for answer in answers}) == 1


async def test_control_without_a_key_all_but_one_are_refused(whitelists: Whitelists) -> None:
    answers = await asyncio.gather(*(whitelists.create() for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 7


async def test_another_persons_same_key_is_another_command(whitelists: Whitelists) -> None:
    await whitelists.create("Friends", key="once", by="organiser")
    theirs = await whitelists.create("Press", key="once", by="owner")
    assert theirs.status_code == 201
    assert await whitelists.names() == ["Friends", "Press"]


async def test_every_address_that_can_be_added_can_be_removed(whitelists: Whitelists):
    whitelist_id = await whitelists.created()
    for email in ("a/b@c.example", "a?b@c.example", "a#b%2F@c.example", "a&b=c@d.example"):
        assert (await whitelists.add(whitelist_id, email)).status_code == 201
        assert (await whitelists.remove(whitelist_id, email)).status_code == 204


async def test_an_entry_added_again_is_answered_as_it_is_stored(whitelists: Whitelists):
    whitelist_id = await whitelists.created()
    await whitelists.add(whitelist_id, "a@c.example", note="first")
    again = (await whitelists.add(whitelist_id, "a@c.example", note="second")).json()["data"]
    assert (await whitelists.entries(whitelist_id)).json()["data"] == [again]
