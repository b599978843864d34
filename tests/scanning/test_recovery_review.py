"""Somebody reviews the scans of a file: accepted, they count as if the device had sent them; rejected,
never."""

import asyncio
import random
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.scanning.node_support import hear, socket, subscribe
from tests.scanning.recovery_support import accept, decide, recover, revoke, scan_history_of, shown
from tests.scanning.support import Device, World
from tests.scanning.sync_support import conflicts, signed, sync
from tests.support import MovableClock
from voelgoed.scanning.rules.recount import differences
from voelgoed.scanning.store.recount import read_counts
from voelgoed.ticketing.model.tickets import Ticket

MINUTE = timedelta(minutes=1)


async def test_accepted_scans_count(world: World):
    device, (first, second) = await world.device(), await world.tickets(2)
    scans = [await signed(world, device, first), await signed(world, device, second)]
    await revoke(world, device)
    imported = await recover(world, device, *scans)
    reviewed = await accept(world, imported)
    assert reviewed["state"] == "accepted"
    assert reviewed["reviewed_by_id"] == str(world.tenant.users["gate_supervisor"])
    assert (await world.inside())["event"] == 2
    assert {each["status"] for each in (await shown(world, imported))["scans"]} == {"admitted"}
    other = await world.device(name="another")
    assert await world.verdict(other, first.code, scanned_at=world.now.isoformat()) == "admitted"
    assert (await world.ask("GET", f"/api/scanning/tickets/{first.id}/scans")).json()["data"][0][
        "entry_number"
    ] == 2


async def test_rejected_scans_never_count(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket)
    imported = await recover(world, device, scan)
    assert (await decide(world, imported, "rejected", "a stolen device")).status_code == 200
    again = await sync(world, device, scan)
    assert (again["processed"], again["skipped"]) == ([scan["scan_id"]], [])
    assert await world.inside() == {}
    assert (await shown(world, imported))["recovery"]["note"] == "a stolen device"


async def test_a_review_is_decided_once(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    imported = await recover(world, device, await signed(world, device, ticket))
    first = await decide(world, imported, "accepted", "I was there")
    again = await decide(world, imported, "accepted")
    assert (first.status_code, first.json()) == (200, again.json())
    other = await decide(world, imported, "rejected")
    assert (other.status_code, other.json()["error"]) == (409, "recovery_reviewed")
    assert other.json()["details"] == {"state": "accepted"}
    [entry] = await world.rows("SELECT * FROM audit_entry WHERE action = 'recovery_reviewed'")
    assert entry["changes"]["state"] == {"from": "unverified", "to": "accepted"}
    assert (await world.inside())["event"] == 1


async def test_of_two_simultaneous_reviews_one_decides(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    for number in range(6):
        scan = await signed(world, device, ticket, (100 - 10 * number) * MINUTE)
        imported = await recover(world, device, scan)
        answers = await asyncio.gather(
            *(decide(world, imported, to) for to in ("accepted", "rejected", "accepted"))
        )
        state = (await shown(world, imported))["recovery"]["state"]
        expected = {"accepted": [200, 409, 200], "rejected": [409, 200, 409]}[state]
        assert [answer.status_code for answer in answers] == expected
    entries = await world.rows("SELECT 1 FROM audit_entry WHERE action = 'recovery_reviewed'")
    assert len(entries) == 6


async def test_a_scan_that_the_device_did_not_sign_is_not_accepted(world: World):
    device, (first, second) = await world.device(), await world.tickets(2)
    scan = await signed(world, device, first)
    forged = await signed(world, device, second) | {"signature": scan["signature"]}
    imported = await recover(world, device, scan, forged)
    await accept(world, imported)
    assert (await world.inside())["event"] == 1
    stand = [
        (each["signature_valid"], each["reason_denied"])
        for each in (await shown(world, imported))["scans"]
    ]
    assert sorted(stand) == [(False, "unverified"), (True, None)]


async def test_an_accepted_scan_of_no_ticket_is_ticket_not_found(world: World):
    device = await world.device()
    imported = await recover(world, device, await signed(world, device, None))
    await accept(world, imported)
    [scan] = (await shown(world, imported))["scans"]
    assert (scan["status"], scan["reason_denied"]) == ("denied", "ticket_not_found")


async def test_a_device_that_comes_back_proves_its_scans_itself(world: World):
    device, (first, second) = await world.device(), await world.tickets(2)
    scan = await signed(world, device, first)
    other = await signed(world, device, second)
    damaged = other | {"signature": scan["signature"]}
    imported = await recover(world, device, scan, damaged)
    answer = await sync(world, device, scan, other)
    assert answer["processed"] == [scan["scan_id"], other["scan_id"]]
    assert (await world.inside())["event"] == 2
    await accept(world, imported)
    assert (await world.inside())["event"] == 2


async def test_a_scan_that_the_server_answered_otherwise_is_corrected_when_accepted(
    world: World, clock: MovableClock
):
    """The server admitted somebody, the device did not receive that in time and denied them."""
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket, timedelta(0), outcome="invalid")
    assert await world.verdict(device, ticket.code, scan_id=scan["scan_id"]) == "admitted"
    imported = await recover(world, device, scan)
    assert imported["known"] == 1
    assert (await world.inside())["event"] == 1
    await accept(world, imported)
    assert (await world.inside())["event"] == 0


async def test_conflicts_that_an_acceptance_reveals_are_published(world: World):
    [ticket] = await world.tickets(1)
    north, south = await world.device(world.gates[0]), await world.device(world.gates[1])
    later = await signed(world, north, ticket, 10 * MINUTE)
    earlier = await signed(world, south, ticket, 11 * MINUTE)
    await sync(world, north, later)
    imported = await recover(world, south, earlier)
    assert await conflicts(world) == []
    await world.services.live.is_idle()  # the message about the recovered scans arrives, too
    topic = f"alerts:{world.event_id}"
    async with socket(world, world.tenant.as_("gate_supervisor")) as connection:
        await subscribe(connection, topic)
        await accept(world, imported)
        heard = {(await hear(connection, topic))["data"]["event"] for _ in range(3)}
    assert heard == {"alert_raised", "conflict_detected", "recovery_reviewed"}
    [found] = await conflicts(world)
    assert found["conflict"]["winner_scan_id"] == earlier["scan_id"]
    assert found["conflict"]["severity"] == "critical"
    assert (await world.inside())["gate-1"] == 1


Made = tuple[int, int, str, str]
"""Which device, how many minutes ago, its decision, the direction."""


def some_scans(luck: random.Random) -> list[Made]:
    minutes = luck.sample(range(10, 40), luck.randint(2, 5))
    return [
        (
            luck.randrange(2),
            ago,
            luck.choice(["valid", "valid", "duplicate", "invalid"]),
            luck.choice(["entry", "entry", "exit"]),
        )
        for ago in minutes
    ]


@pytest.mark.parametrize("seed", range(6))
async def test_the_way_by_which_scans_arrive_makes_no_difference(
    world: World, clock: MovableClock, seed: int
):
    luck, begun = random.Random(seed), world.now
    devices = [await world.device(gate) for gate in world.gates]

    async def made(ticket: Ticket, scans: list[Made]) -> list[tuple[Device, dict[str, Any]]]:
        return [
            (
                devices[device],
                await signed(
                    world,
                    devices[device],
                    ticket,
                    at=begun - ago * MINUTE,
                    outcome=outcome,
                    direction=direction,
                ),
            )
            for device, ago, outcome, direction in scans
        ]

    for _ in range(3):
        scans = some_scans(luck)
        sent, recovered = await world.tickets(2)
        by_sync, by_file = await made(sent, scans), await made(recovered, scans)
        for device, scan in luck.sample(by_sync, len(by_sync)):
            await sync(world, device, scan)
            clock.ahead += 10 * timedelta(seconds=1)
        for device, scan in luck.sample(by_file, len(by_file)):
            if luck.random() < 0.6:
                await accept(world, await recover(world, device, scan))
            else:
                await sync(world, device, scan)
            clock.ahead += 10 * timedelta(seconds=1)
        expected = await scan_history_of(world, sent, [scan for _, scan in by_sync])
        assert await scan_history_of(world, recovered, [scan for _, scan in by_file]) == expected
    async with world.services.database.transaction(world.tenant.id) as tx:
        assert differences(await read_counts(tx, world.event_id)) == []


async def test_simultaneous_changes_of_the_ticket_are_not_lost(world: World, clock: MovableClock):
    """At the same moment the file is accepted, the device comes back, and another gate scans the ticket."""
    device, other = await world.device(), await world.device(world.gates[1])
    tickets = await world.tickets(8)
    for ticket in tickets:
        scan = await signed(world, device, ticket)
        imported = await recover(world, device, scan)
        _, _, verdict = await asyncio.gather(
            accept(world, imported),
            sync(world, device, scan),
            world.verdict(other, ticket.code),
        )
        assert verdict == "admitted", "ten minutes later"
        clock.ahead += 10 * timedelta(seconds=1)
    assert (await world.inside())["event"] == len(tickets)
    rows = await world.rows("SELECT scan_count FROM ticket")
    assert [row["scan_count"] for row in rows] == [2] * len(tickets)
    services, tenant_id = world.services, world.tenant.id
    async with services.database.transaction(tenant_id) as tx:
        assert differences(await read_counts(tx, world.event_id)) == []


@pytest.mark.parametrize("first", ["the file", "the device"])
async def test_the_same_scan_wins_in_both_orders(world: World, first: str):
    [ticket] = await world.tickets(1)
    north, south = await world.device(world.gates[0]), await world.device(world.gates[1])
    sent = await signed(world, north, ticket, 10 * MINUTE)
    recovered = await signed(world, south, ticket, 11 * MINUTE)
    if first == "the device":
        await sync(world, north, sent)
    await accept(world, await recover(world, south, recovered))
    if first == "the file":
        await sync(world, north, sent)
    history = await scan_history_of(world, ticket, [sent, recovered])
    assert history["conflicts"] == {0: ("double_entry", "critical", 1)}
    assert history["ticket"]["last_gate_id"] == UUID(str(world.gates[1].id))
    assert history["scans"][1]["entry"] == 1
