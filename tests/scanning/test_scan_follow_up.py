"""What follows from scans after their answers: a gate never waits for it, and nothing that goes wrong with one
batch keeps others from being published."""

from datetime import timedelta

import asyncpg
import pytest

from tests.scanning.node_support import hear, socket, subscribe
from tests.scanning.support import Device, World
from tests.scanning.sync_support import signed, sync
from voelgoed.infra.embedded import EmbeddedPostgres


async def scan_only(world: World, device: Device, code: str) -> None:
    """Does not wait for what follows."""
    body = world.body(device, code)
    answer = await world.client.post("/api/scans", json=body, headers=device.headers)
    assert answer.status_code == 200, answer.text
    assert answer.json()["status"] == "admitted", answer.text


async def test_a_gate_does_not_wait_for_the_history_of_a_contested_ticket(
    world: World, postgres: EmbeddedPostgres, database_name: str
):
    device, ticket = await world.device(), await world.ticket()
    for ago in (
        timedelta(minutes=30),
        timedelta(minutes=29),
    ):  # two people, of whom one is a conflict
        await sync(world, device, await signed(world, device, ticket, ago))
    topic = f"gate:{device.gate.id}"
    async with socket(world, world.tenant.as_("owner")) as staff:
        await subscribe(staff, topic)
        admin = await asyncpg.connect(postgres.url("postgres", database_name))
        async with admin.transaction():
            await admin.execute("LOCK TABLE scan_conflict IN ACCESS EXCLUSIVE MODE")
            await scan_only(world, device, ticket.code)
            assert (await hear(staff, topic))["data"]["event"] == "ticket_admitted"
        await admin.close()
    await world.services.scans.is_idle()


async def test_a_follow_up_that_fails_leaves_the_others_alone(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    device, tickets = await world.device(), await world.tickets(5)
    last_scans, failures = world.services.scans.last_scans, 0
    remember = last_scans.remember

    async def remember_later(*given: object) -> None:
        nonlocal failures
        failures += 1
        if failures == 1:
            raise asyncpg.InternalServerError("this one fails")
        await remember(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(last_scans, "remember", remember_later)
    topic = f"gate:{device.gate.id}"
    async with socket(world, world.tenant.as_("owner")) as staff:
        await subscribe(staff, topic)
        for ticket in tickets:
            await scan_only(world, device, ticket.code)
        codes = [(await hear(staff, topic))["data"]["ticket_code"] for _ in tickets[1:]]
    assert codes == [ticket.code for ticket in tickets[1:]]
