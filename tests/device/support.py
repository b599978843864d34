"""Builders: clocks that can be wrong, scans, and a network that can be cut."""

import itertools
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx

from tests.device.network import Network
from tests.scanning.support import World
from tests.support import MovableClock
from voelgoed.device.client import Device
from voelgoed.device.clock import DeviceClock
from voelgoed.device.model import LoggedScan
from voelgoed.events.model import Gate
from voelgoed.scanning.actions.recount import recount_event
from voelgoed.scanning.rules.manifest import barcode_hash
from voelgoed.ticketing.model.tickets import Ticket

API_KEY = "vgd_of_a_test"
seeds = itertools.count()


class TwoClocks:
    """A wall clock that is off and can be set, and a clock that only goes forward."""

    def __init__(self, off: timedelta = timedelta()) -> None:
        self.off = off
        self.passed = timedelta()
        self._began = datetime.now(UTC)

    def wall(self) -> datetime:
        return self._began + self.passed + self.off

    def monotonic(self) -> float:
        return self.passed.total_seconds()

    def pass_(self, **time: float) -> None:
        self.passed += timedelta(**time)

    def device_clock(self) -> DeviceClock:
        return DeviceClock(self.wall, self.monotonic)


class LiveClocks(TwoClocks):
    """Clocks that go on by themselves too, as the server's does."""

    def wall(self) -> datetime:
        return datetime.now(UTC) + self.passed + self.off

    def monotonic(self) -> float:
        return time.monotonic() + self.passed.total_seconds()


class Sleeper:
    """Waits for nothing, and remembers how long it was asked to wait."""

    def __init__(self, meanwhile: Callable[[float], Awaitable[None]] | None = None) -> None:
        self.slept: list[float] = []
        self._meanwhile = meanwhile

    async def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)
        if self._meanwhile is not None:
            await self._meanwhile(seconds)


def a_device(path: Path, client: httpx.AsyncClient, **changes: Any) -> Device:
    return Device(
        path, client, **({"luck": random.Random(next(seeds)), "sleep": Sleeper()} | changes)
    )


def a_scan(**changes: Any) -> LoggedScan:
    now = datetime(2026, 6, 5, 18, 0, 0, 123456, tzinfo=UTC)
    usual: dict[str, Any] = {
        "scan_id": uuid4(),
        "ticket_id": UUID(int=7),
        "barcode": "7K2M-9QXD-4F1A",
        "barcode_hash": barcode_hash("7K2M-9QXD-4F1A"),
        "scanned_at": now,
        "scanned_at_corrected": now + timedelta(seconds=15),
        "is_measured": True,
        "gate_id": "north",
        "direction": "entry",
        "outcome": "valid",
        "reason": None,
        "ticket_code": None,
        "signature": "",
        "sync_status": "pending",
    }
    return LoggedScan(**(usual | changes))


@dataclass
class Gatehouse:
    """Devices at the gates of a world, and the network between them."""

    world: World
    network: Network
    line: httpx.AsyncClient
    directory: Path
    devices: list[Device] = field(default_factory=list[Device])
    clocks: LiveClocks = field(default_factory=LiveClocks)
    """The clocks of the devices that have none of their own."""

    async def device(self, gate: int = 0, **changes: Any) -> Device:
        """A device that is paired and hydrated."""
        path = self.directory / f"device-{len(self.devices)}.db"
        device = self._opened(path, changes)
        await self.pair(device, gate)
        await device.beat()
        await device.hydrate()
        self.devices.append(device)
        return device

    async def pair(self, device: Device, gate: int = 0) -> None:
        """Pairs the device as a new one, or again if it was one of this organisation's."""
        body = {"gate_id": str(self.world.gates[gate].id), "name": f"iPad {len(self.devices)}"}
        known = device.store.identity
        if known is not None and known.organization_id == self.world.tenant.id:
            body["replaces_device_id"] = str(known.device_id)
        made = await self.world.ask("POST", "/api/scanning/pairings", body, by="owner")
        assert made.status_code == 201, made.text
        await device.pair(self.network.url, made.json()["data"]["pairing_token"])

    def reopened(self, device: Device, **changes: Any) -> Device:
        """The device after a crash: it has only what is on the disk."""
        device.close()
        again = self._opened(device.store.path, changes)
        self.devices[self.devices.index(device)] = again
        return again

    def _opened(self, path: Path, changes: dict[str, Any]) -> Device:
        return a_device(path, self.line, **({"clock": self.clocks.device_clock()} | changes))

    def pass_(self, **time: float) -> None:
        """Lets time pass for the server and the devices alike. They know each other's time only as well as
        an answer is quick: the order of scans of two devices is sure only if more time lies between."""
        clock = self.world.services.clock
        assert isinstance(clock, MovableClock)
        clock.ahead += timedelta(**time)
        self.clocks.pass_(**time)

    async def kept(self) -> dict[UUID, dict[str, Any]]:
        """The stored scans of the server, by their ids."""
        rows = await self.world.rows("SELECT * FROM scan")
        assert len({row["id"] for row in rows}) == len(rows)
        return {row["id"]: row for row in rows}

    async def require_nothing_lost(self) -> None:
        kept = await self.kept()
        for device in self.devices:
            for scan in device.store.scans():
                assert scan.sync_status == "synced", scan
                assert kept[scan.scan_id]["device_id"] == device.identity.device_id
                assert kept[scan.scan_id]["direction"] == scan.direction
        made = sum(len(device.store.scans()) for device in self.devices)
        assert len(kept) == made

    async def resolutions(self, ticket: Ticket) -> dict[UUID, str]:
        """The server's resolution of each scan of a ticket: admitted, or the reason why not."""
        path = f"/api/scanning/tickets/{ticket.id}/scans"
        scans = (await self.world.ask("GET", path)).json()["data"]
        return {UUID(each["id"]): each["reason_denied"] or each["status"] for each in scans}

    async def move(self, device: Device, gate: Gate) -> None:
        """Moves the device as a supervisor does; it learns of that with its next heartbeat."""
        path = f"/api/scanning/devices/{device.identity.device_id}"
        version = (await self.world.ask("GET", path)).json()["data"]["version"]
        body = {"version": version, "gate_id": str(gate.id)}
        moved = await self.world.ask("PATCH", path, body, by="owner")
        assert moved.status_code == 200, moved.text

    async def demand_rotation(self, device: Device) -> None:
        path = f"/api/scanning/devices/{device.identity.device_id}/key-rotations"
        asked = await self.world.ask("POST", path, by="owner")
        assert asked.status_code == 202, asked.text

    async def differences(self) -> list[Any]:
        """The differences between the counts and the scans."""
        world = self.world
        return list(await recount_event(world.services.database, world.tenant.id, world.event_id))

    async def conflicts(self) -> list[dict[str, Any]]:
        path = f"/api/scanning/events/{self.world.event_id}/conflicts"
        return [each["conflict"] for each in (await self.world.ask("GET", path)).json()["data"]]
