"""Helpers: the alerts of an event, and what people do with them."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx

from tests.scanning.support import Device, World

UNKNOWN = "0000-0000-0000"
A_WHILE = timedelta(seconds=6)
"""A repetition after this time is written down again."""


async def alerts(world: World, **query: str) -> list[dict[str, Any]]:
    """The alerts, once the watch has looked at everything that happened."""
    async with asyncio.timeout(20):
        await world.services.watch.is_idle()
    path = f"/api/scanning/events/{world.event_id}/alerts"
    answer = await world.client.get(path, params=query, headers=world.tenant.as_("gate_supervisor"))
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def kinds(world: World) -> list[str]:
    return sorted(alert["kind"] for alert in await alerts(world))


async def put_policy(world: World, **policy: Any) -> dict[str, Any]:
    path = f"/api/events/{world.event_id}/scan-policy"
    present = (await world.ask("GET", path)).json()["data"]
    answer = await world.ask("PUT", path, {"version": present["version"], **policy})
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def move(
    world: World, alert: dict[str, Any], to: str, note: str = "", version: int | None = None
) -> httpx.Response:
    body = {"to": to, "note": note, "version": version or alert["version"]}
    return await world.ask("POST", f"/api/scanning/alerts/{alert['id']}/transitions", body)


async def moved(world: World, alert: dict[str, Any], to: str, note: str = "") -> dict[str, Any]:
    answer = await move(world, alert, to, note)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def forged(world: World, device: Device) -> str:
    """A scan of a genuine code with a signature that is not ours."""
    barcode = await world.barcode(await world.ticket())
    other = "A" if barcode[-20] != "A" else "B"
    assert await world.verdict(device, barcode[:-20] + other + barcode[-19:]) == "ticket_not_found"
    return barcode
