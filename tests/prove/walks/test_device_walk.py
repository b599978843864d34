"""Whatever happens to devices, their clocks and their network, in whatever order: in the end the server has
every scan with a shown verdict, once, at its moment and in its order."""

import random
from contextlib import suppress
from datetime import timedelta
from uuid import UUID

import pytest

from tests.device.network import Fault
from tests.device.support import Gatehouse, LiveClocks, Sleeper
from tests.prove.length import seeds
from voelgoed.device.client import Device
from voelgoed.device.model import DeviceFault
from voelgoed.device.scanning import scan
from voelgoed.device.sync import sync
from voelgoed.device.whole_queue import sync_whole_queue
from voelgoed.ticketing.model.tickets import Ticket

STEPS = 60
FAULTS: tuple[Fault, ...] = ("down", "answer_lost", "answer_cut", "request_cut")


class Walk:
    def __init__(self, gates: Gatehouse, barcodes: list[str], seed: int) -> None:
        self.gates = gates
        self.barcodes = barcodes
        self.luck = random.Random(seed)
        self.clocks: dict[int, LiveClocks] = {}
        self.answered: list[tuple[UUID, object]] = []

    async def begin(self) -> None:
        for number in range(2):
            clocks = LiveClocks(timedelta(seconds=self.luck.uniform(-200, 200)))
            self.clocks[number] = clocks
            await self.gates.device(number, clock=clocks.device_clock(), sleep=self.sleeper())

    def sleeper(self) -> Sleeper:
        """A sleep lets enough time pass, and the server's limits are forgotten."""

        async def meanwhile(seconds: float) -> None:
            await self.forget_limits()

        return Sleeper(meanwhile)

    async def forget_limits(self) -> None:
        world = self.gates.world
        async with world.services.database.transaction(world.tenant.id) as tx:
            await tx.connection.execute("DELETE FROM rate_limit")

    async def step(self) -> None:
        number = self.luck.randrange(2)
        device = self.gates.devices[number]
        if self.luck.random() < 0.4:
            self.gates.network.will(self.luck.choice(FAULTS))
        action = self.luck.choice(
            ["scan"] * 6 + ["offline"] * 4 + ["sync", "whole", "crash", "rotate", "beat", "jump"]
        )
        with suppress(DeviceFault):
            await self.do(action, number, device)

    async def do(self, action: str, number: int, device: Device) -> None:
        if action in ("scan", "offline"):
            text, direction = self.luck.choice(self.barcodes), self.luck.choice(["entry", "exit"])
            answer = await scan(device, text, direction, offline=action == "offline")  # type: ignore[arg-type]
            self.answered.append((answer.scan_id, device.identity.device_id))
        elif action == "sync":
            await sync(device)
        elif action == "whole":
            await sync_whole_queue(device)
        elif action == "crash":
            clock = self.clocks[number].device_clock()
            self.gates.reopened(device, clock=clock, sleep=self.sleeper())
        elif action == "rotate":
            await device.rotate()
        elif action == "beat":
            await device.beat()
            await device.hydrate()
        else:
            self.clocks[number].off += timedelta(seconds=self.luck.uniform(-250, 250))
            device.ledger.now()  # as a device does at all times

    async def end(self) -> None:
        self.gates.network.clear()
        for device in self.gates.devices:
            await self.forget_limits()
            report = await sync(device)
            assert (report.left, report.reason) == (0, None)


@pytest.mark.parametrize("seed", seeds(short=3, full=60))
async def test_nothing_is_lost_and_nothing_counts_twice(gates: Gatehouse, seed: int):
    tickets = await gates.world.tickets(4)
    barcodes = [await gates.world.barcode(ticket) for ticket in tickets]
    walk = Walk(gates, [*barcodes, "rubbish of somebody else's"], seed)
    await walk.begin()
    for _ in range(STEPS):
        await walk.step()
    await walk.end()
    await gates.require_nothing_lost()
    kept = await gates.kept()
    for scan_id, device_id in walk.answered:
        assert kept[scan_id]["device_id"] == device_id
    moments = {scan_id: row["scanned_at_canonical"] for scan_id, row in kept.items()}
    for device in gates.devices:
        off = [
            scan.scan_id
            for scan in device.store.scans()
            if abs(moments[scan.scan_id] - scan.scanned_at_corrected) > timedelta(seconds=5)
        ]
        assert off == []
    await require_all_counted(gates, tickets)


async def require_all_counted(gates: Gatehouse, tickets: list[Ticket]) -> None:
    """Tickets and counters are the sum of the admitted scans, and a person who was let in at a gate without
    being admitted is a conflict."""
    kept, entries, inside = await gates.kept(), 0, 0
    let_in = {
        scan.scan_id
        for device in gates.devices
        for scan in device.store.scans()
        if scan.outcome == "valid" and scan.direction == "entry" and scan.ticket_id is not None
    }
    rows = await gates.world.rows("SELECT id, scan_count, is_inside FROM ticket")
    counted = {row["id"]: (row["scan_count"], row["is_inside"]) for row in rows}
    stand: set[UUID] = set()
    for ticket in tickets:
        admitted = [
            kept[scan_id]
            for scan_id, status in (await gates.resolutions(ticket)).items()
            if status == "admitted"
        ]
        admitted.sort(key=lambda row: row["scanned_at_canonical"])
        entered = [row["id"] for row in admitted if row["direction"] == "entry"]
        is_inside = bool(admitted) and admitted[-1]["direction"] == "entry"
        assert counted[ticket.id] == (len(entered), is_inside)
        stand.update(entered)
        entries, inside = entries + len(entered), inside + is_inside
    assert stand <= let_in
    conflicts = await gates.conflicts()
    double = {UUID(each["scan_id"]) for each in conflicts if each["kind"] == "double_entry"}
    assert double == let_in - stand
    [event] = await gates.world.rows(
        """
        SELECT sum(entries) AS entries, sum(inside - irregular) AS inside
          FROM occupancy WHERE scope = 'event'
        """
    )
    assert (event["entries"] or 0, event["inside"] or 0) == (entries, inside)
    assert await gates.differences() == []
