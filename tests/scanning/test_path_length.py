"""The number of files that a request passes: a reader has to open all of them to follow it.

A file counts when one of its functions runs between the request's first byte and the answer's last. Each
way has a limit, so that it stays short; `-s` prints the files.
"""

import asyncio
import sys
from collections.abc import Awaitable
from pathlib import Path
from types import FrameType
from typing import Any

import httpx

import voelgoed
from tests.conftest import at_rest
from tests.scanning.manifest_support import fetch
from tests.scanning.support import World
from tests.scanning.sync_support import send, signed, signed_batch

PACKAGE = str(Path(voelgoed.__file__).parent)
FOLLOW_UP = ("scan-follow-up", "fraud-watch", "signs-of-life")
"""Tasks that a request starts and nobody waits for: whether they run before the answer is a matter of
luck."""
DOMAINS = ("accounts", "events", "seating", "ticketing", "scanning")


class PassedFiles:
    """Notes the files of our package in which code runs for the request, but not in tasks that ran before
    it, which do follow-up work for all requests."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self._others = asyncio.all_tasks() - {asyncio.current_task()}

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        is_function = code.co_name != "<module>"
        is_ours = event == "call" and is_function and code.co_filename.startswith(PACKAGE)
        task = asyncio.current_task()
        if is_ours and task not in self._others and (not task or task.get_name() not in FOLLOW_UP):
            self.files.add(code.co_filename.removeprefix(PACKAGE + "/"))

    @property
    def of_domains(self) -> set[str]:
        """The files without HTTP and infra, which every request passes, whatever it is about."""
        return {
            each
            for each in self.files
            if each.startswith(DOMAINS) and not each.endswith("/access.py")
        }


async def passed_by(world: World, request: Awaitable[httpx.Response]) -> PassedFiles:
    await at_rest(world.services)  # follow-up work of earlier requests does not belong to this one
    passed = PassedFiles()
    sys.setprofile(passed)
    try:
        answer = await request
    finally:
        sys.setprofile(None)
    assert answer.status_code == 200, answer.text
    print(len(passed.files), len(passed.of_domains), *sorted(passed.files), sep="\n  ")
    return passed


async def test_the_way_of_a_scan_passes_few_files(world: World):
    device, (first, second) = await world.device(), await world.tickets(2)
    await world.scan(device, await world.barcode(first))  # fetches the layout
    barcode = await world.barcode(second)
    body = world.body(device, barcode)
    request = world.client.post("/api/scans", json=body, headers=device.headers)
    passed = await passed_by(world, request)
    assert len(passed.of_domains) <= 20


async def test_the_way_of_an_offline_delivery_passes_few_files(world: World):
    device, (first, second) = await world.device(), await world.tickets(2)
    await send(world, device, signed_batch(device, await signed(world, device, first)))
    body = signed_batch(device, await signed(world, device, second))
    passed = await passed_by(world, send(world, device, body))
    assert len(passed.of_domains) <= 36


async def test_the_way_of_a_manifest_passes_few_files(world: World):
    device = await world.device()
    await world.tickets(2)
    await fetch(world, device)
    passed = await passed_by(world, fetch(world, device))
    assert len(passed.of_domains) <= 13
