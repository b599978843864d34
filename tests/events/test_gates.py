"""Gates of an event: their codes, limits, doors, and who hears of them."""

import asyncio
import json
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from websockets.asyncio.client import connect

from tests.support import Tenant, a_gate, a_venue, an_event
from voelgoed.accounts.model import Role
from voelgoed.events.actions import gates as actions
from voelgoed.services import Services

ZONE = str(UUID(int=1))


class Gates:
    """The routes of an event's gates, as a gate supervisor."""

    def __init__(self, client: httpx.AsyncClient, tenant: Tenant, event_id: str) -> None:
        self.client, self.tenant, self.event_id = client, tenant, event_id
        self.path = f"/api/events/{event_id}/gates"
        self.headers = tenant.as_("gate_supervisor")

    async def create(
        self, key: str | None = None, by: Role = "gate_supervisor", **changes: Any
    ) -> httpx.Response:
        headers = self.tenant.as_(by) | ({"Idempotency-Key": key} if key else {})
        return await self.client.post(self.path, json=a_gate(**changes), headers=headers)

    async def created(self, **changes: Any) -> dict[str, Any]:
        return (await self.create(**changes)).json()["data"]

    async def read(self, gate_id: object) -> httpx.Response:
        return await self.client.get(f"{self.path}/{gate_id}", headers=self.headers)

    async def change(self, gate_id: object, **changes: Any) -> httpx.Response:
        return await self.client.patch(
            f"{self.path}/{gate_id}", json={"version": 1, **changes}, headers=self.headers
        )

    async def delete(self, gate_id: object) -> httpx.Response:
        return await self.client.delete(f"{self.path}/{gate_id}", headers=self.headers)

    async def codes(self) -> list[str]:
        answer = await self.client.get(self.path, headers=self.headers)
        return [gate["code"] for gate in answer.json()["data"]]

    async def move_event(self, *states: str) -> None:
        for state in states:
            moved = await self.client.post(
                f"/api/events/{self.event_id}/transitions",
                json={"to": state},
                headers=self.tenant.as_("organiser"),
            )
            assert moved.status_code == 200


async def gates_of(client: httpx.AsyncClient, tenant: Tenant) -> Gates:
    """Of a new event at a new venue."""
    headers = tenant.as_("organiser")
    venue = await client.post("/api/venues", json=a_venue(), headers=headers)
    new = an_event(venue.json()["data"]["id"])
    event = await client.post("/api/events", json=new, headers=headers)
    return Gates(client, tenant, event.json()["data"]["id"])


@pytest.fixture
async def gates(client: httpx.AsyncClient, tenant: Tenant) -> Gates:
    return await gates_of(client, tenant)


def refusal(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


async def test_a_new_gate_is_closed_and_open_to_every_zone(gates: Gates) -> None:
    answer = await gates.create()
    assert answer.status_code == 201
    gate = answer.json()["data"]
    assert (gate["code"], gate["status"], gate["version"]) == ("north-main", "closed", 1)
    assert (gate["allowed_zones"], gate["capacity"], gate["hard_capacity_limit"]) == (
        None,
        None,
        None,
    )
    assert gate["event_id"] == gates.event_id
    assert (await gates.read(gate["id"])).json()["data"] == gate


async def test_a_gate_may_be_limited_from_the_start(gates: Gates) -> None:
    limits = {
        "allowed_zones": [ZONE],
        "capacity": 100,
        "hard_capacity_limit": 120,
        "status": "open",
    }
    gate = await gates.created(**limits)
    stored = (await gates.read(gate["id"])).json()["data"]
    assert {name: stored[name] for name in limits} == limits


@pytest.mark.parametrize(
    ("broken", "path"),
    [
        ({"code": ""}, "$.code"),
        ({"code": "North"}, "$.code"),
        ({"code": "north main"}, "$.code"),
        ({"code": "-north"}, "$.code"),
        ({"code": "north--main"}, "$.code"),
        ({"code": "x" * 64}, "$.code"),
        ({"name": ""}, "$.name"),
        ({"allowed_zones": []}, "$.allowed_zones"),
        ({"allowed_zones": ["stalls"]}, "$.allowed_zones[0]"),
        ({"allowed_zones": [ZONE] * 201}, "$.allowed_zones"),
        ({"capacity": 0}, "$.capacity"),
        ({"hard_capacity_limit": -1}, "$.hard_capacity_limit"),
        ({"status": "ajar"}, "$.status"),
    ],
)
async def test_a_faulty_gate_is_refused_with_the_fault(
    gates: Gates, broken: dict[str, Any], path: str
) -> None:
    answer = await gates.create(**broken)
    assert refusal(answer) == (422, "invalid_request")
    assert [fault["path"] for fault in answer.json()["details"]["faults"]] == [path]


async def test_a_code_is_given_once_at_an_event(gates: Gates) -> None:
    await gates.create()
    assert refusal(await gates.create(name="Another")) == (409, "gate_code_taken")
    elsewhere = await gates_of(gates.client, gates.tenant)
    assert (await elsewhere.create()).status_code == 201


async def test_a_code_is_given_once_even_at_the_same_moment(gates: Gates) -> None:
    answers = await asyncio.gather(*(gates.create() for _ in range(6)))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 5
    assert await gates.codes() == ["north-main"]


async def test_gates_are_listed_by_code_and_only_of_their_event(gates: Gates) -> None:
    await (await gates_of(gates.client, gates.tenant)).create(code="elsewhere")
    for code in ("west", "east", "north-2"):
        await gates.create(code=code)
    assert await gates.codes() == ["east", "north-2", "west"]


async def test_there_is_an_end_to_the_number_of_gates(
    gates: Gates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "GATES_MAX", 2)
    answers = [await gates.create(code=f"gate-{number}") for number in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 409]
    assert answers[-1].json()["error"] == "too_many_gates"


async def test_a_change_changes_what_it_names_and_nothing_else(gates: Gates) -> None:
    before = await gates.created(allowed_zones=[ZONE], capacity=5)
    after = (await gates.change(before["id"], status="open", allowed_zones=None)).json()["data"]
    differing = {k for k in before if before[k] != after[k]}
    assert differing == {"status", "allowed_zones", "version", "updated_at"}
    assert (after["status"], after["allowed_zones"], after["version"]) == ("open", None, 2)
    assert (await gates.read(before["id"])).json()["data"] == after


async def test_a_code_stays_what_it_was(gates: Gates) -> None:
    gate = await gates.created()
    assert refusal(await gates.change(gate["id"], code="south")) == (422, "invalid_request")


async def test_a_change_of_an_older_version_is_refused(gates: Gates) -> None:
    gate = await gates.created()
    await gates.change(gate["id"], status="open")
    late = await gates.change(gate["id"], status="closed")
    assert refusal(late) == (409, "version_conflict")
    assert (await gates.read(gate["id"])).json()["data"]["status"] == "open"


async def test_of_changes_at_the_same_moment_one_is_made(gates: Gates) -> None:
    gate = await gates.created()
    answers = await asyncio.gather(
        *(gates.change(gate["id"], capacity=number + 1) for number in range(6))
    )
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 5
    [winner] = [answer.json()["data"] for answer in answers if answer.status_code == 200]
    assert (await gates.read(gate["id"])).json()["data"] == winner


async def test_a_deleted_gate_is_gone(gates: Gates) -> None:
    gate = await gates.created()
    assert (await gates.delete(gate["id"])).status_code == 204
    assert refusal(await gates.read(gate["id"])) == (404, "gate_not_found")
    assert refusal(await gates.delete(gate["id"])) == (404, "gate_not_found")
    assert (await gates.create()).status_code == 201  # its code is free again


@pytest.mark.parametrize("states", [["published", "live"], ["published", "live", "ended"]])
async def test_gates_of_a_live_event_are_closed_not_deleted(
    gates: Gates, states: list[str]
) -> None:
    gate = await gates.created()
    await gates.move_event(*states)
    assert refusal(await gates.delete(gate["id"])) == (409, "gate_in_use")
    assert (await gates.change(gate["id"], status="closed")).status_code == 200


async def test_gates_go_with_their_draft(gates: Gates) -> None:
    gate = await gates.created()
    headers = gates.tenant.as_("organiser")
    await gates.client.delete(f"/api/events/{gates.event_id}", headers=headers)
    assert refusal(await gates.read(gate["id"])) == (404, "gate_not_found")


async def test_a_gate_is_found_only_at_its_own_event(gates: Gates) -> None:
    gate = await gates.created()
    elsewhere = await gates_of(gates.client, gates.tenant)
    answers = [
        await elsewhere.read(gate["id"]),
        await elsewhere.change(gate["id"], status="open"),
        await elsewhere.delete(gate["id"]),
        await gates.read(uuid4()),
    ]
    assert {refusal(answer) for answer in answers} == {(404, "gate_not_found")}


async def test_an_event_of_nobody_or_of_others_has_no_gates(
    gates: Gates, other_tenant: Tenant
) -> None:
    theirs = await gates_of(gates.client, other_tenant)
    for event_id in (uuid4(), theirs.event_id):
        stranger = Gates(gates.client, gates.tenant, str(event_id))
        listed = await gates.client.get(stranger.path, headers=gates.headers)
        answers = [listed, await stranger.create(), await stranger.delete(uuid4())]
        assert {refusal(answer) for answer in answers} == {(404, "event_not_found")}


async def test_the_same_command_twice_is_one_gate(gates: Gates) -> None:
    first, again = [await gates.create(key="once") for _ in range(2)]
    assert first.status_code == again.status_code == 201
    assert first.json() == again.json()
    assert await gates.codes() == ["north-main"]


async def test_a_key_used_for_something_else_is_refused(gates: Gates) -> None:
    await gates.create(key="once")
    other_gate = await gates.create(key="once", code="south")
    assert refusal(other_gate) == (409, "idempotency_key_reused")
    other_event = await (await gates_of(gates.client, gates.tenant)).create(key="once")
    assert refusal(other_event) == (409, "idempotency_key_reused")
    assert await gates.codes() == ["north-main"]


async def test_the_same_command_many_times_at_once_is_one_gate(gates: Gates) -> None:
    answers = await asyncio.gather(*(gates.create(key="once") for _ in range(8)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["data"]["id"] for answer in answers}) == 1
    assert await gates.codes() == ["north-main"]


async def test_another_persons_same_key_is_another_command(gates: Gates) -> None:
    await gates.create(key="once", by="gate_supervisor")
    theirs = await gates.create(key="once", by="owner", code="south")
    assert theirs.status_code == 201
    assert await gates.codes() == ["north-main", "south"]


async def test_followers_of_an_event_hear_when_a_gate_opens(gates: Gates, url: str) -> None:
    topic = f"event:{gates.event_id}"
    address = f"{url.replace('http', 'ws', 1)}/api/live"
    async with asyncio.timeout(60), connect(address, additional_headers=gates.headers) as socket:
        await socket.send(f'{{"type": "subscribe", "topic": "{topic}"}}')
        assert '"subscribed"' in str(await socket.recv())
        made = await gates.created()
        opened = (await gates.change(made["id"], status="open")).json()["data"]
        messages = [json.loads(await socket.recv()) for _ in range(2)]
    assert {message["topic"] for message in messages} == {topic}
    assert [message["seq"] for message in messages] == [1, 2]
    assert [message["data"] for message in messages] == [
        {"event": "gate_changed", "id": made["id"], "version": made["version"]},
        {"event": "gate_changed", "id": made["id"], "version": opened["version"]},
    ]


async def test_followers_hear_nothing_of_a_gate_that_was_not_made(
    gates: Gates, services: Services, tenant: Tenant
) -> None:
    subscription = services.live.follow(tenant.id, f"event:{gates.event_id}", asyncio.Event())
    north = await gates.created(code="north")
    assert refusal(await gates.create(code="north")) == (409, "gate_code_taken")
    assert refusal(await gates.change(uuid4(), status="open"))[0] == 404
    south = await gates.created(code="south")
    heard: list[Any] = []
    async with asyncio.timeout(10):
        while len(heard) < 2:
            await asyncio.sleep(0.005)
            heard += [envelope.data for envelope in subscription.take()]
    # Messages of a topic come in order, so these two tell that none came between them.
    assert [message["id"] for message in heard] == [north["id"], south["id"]]
