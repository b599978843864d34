"""Helpers: scans that devices deliver after a time without a network."""

import json
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import msgspec

from tests.scanning.support import Device, World
from voelgoed.scanning.actions.history_commit import SECOND_LOOK, DueScans
from voelgoed.scanning.actions.second_look import take_second_look
from voelgoed.scanning.rules.scan_signatures import SignedFields, sign_scan
from voelgoed.ticketing.model.tickets import Ticket


def iso(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


async def hash_of(world: World, ticket: Ticket) -> str:
    [row] = await world.rows(
        "SELECT encode(barcode_hash, 'hex') AS hash FROM ticket WHERE id = $1", ticket.id
    )
    return f"sha256:{row['hash']}"


async def signed(
    world: World,
    device: Device,
    ticket: Ticket | None,
    ago: timedelta = timedelta(minutes=10),
    *,
    at: datetime | None = None,
    key: str | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A scan, made so long ago, as a device signs it."""
    scan = {
        "scan_id": str(uuid4()),
        "ticket_id": str(ticket.id) if ticket else None,
        "barcode_hash": await hash_of(world, ticket) if ticket else "sha256:" + "0" * 64,
        "scanned_at": iso(at or world.now - ago),
        "gate_id": device.gate.code,
        "outcome": "valid",
        **more,
    }
    fields = SignedFields(
        scan_id=scan["scan_id"],
        ticket_id=scan["ticket_id"],
        barcode_hash=scan["barcode_hash"],
        scanned_at=scan["scanned_at"],
        gate_id=scan["gate_id"],
    )
    scan.setdefault("signature", sign_scan(fields, key or device.api_key))
    return scan


def signed_batch(device: Device, *scans: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "device_id": str(device.id),
        "sync_batch_id": str(uuid4()),
        "offset_seconds": 0,
        "scans": list(scans),
        **more,
    }


async def send(
    world: World, device: Device, body: dict[str, Any], **headers: str
) -> httpx.Response:
    return await world.client.post(
        "/api/scanning/sync", json=body, headers=device.headers | headers
    )


async def sync(world: World, device: Device, *scans: dict[str, Any], **more: Any) -> dict[str, Any]:
    answer = await send(world, device, signed_batch(device, *scans, **more))
    assert answer.status_code == 200, answer.text
    return answer.json()


def offline(
    world: World, code: str, ago: timedelta = timedelta(minutes=10), **more: Any
) -> dict[str, Any]:
    return {
        "ticket_code": code,
        "scanned_at": iso(world.now - ago),
        "offline_id": str(uuid4()),
        **more,
    }


def offline_batch(
    world: World, device: Device, *scans: dict[str, Any], **more: Any
) -> dict[str, Any]:
    return {
        "batch_id": str(uuid4()),
        "device_id": str(device.id),
        "batch_created_at": iso(world.now),
        "scans": list(scans),
        "batch_size": len(scans),
        **more,
    }


async def send_queue(
    world: World, device: Device, body: dict[str, Any], **headers: str
) -> httpx.Response:
    return await world.client.post("/api/scans/sync", json=body, headers=device.headers | headers)


async def deliver(
    world: World, device: Device, *scans: dict[str, Any], **more: Any
) -> dict[str, Any]:
    answer = await send_queue(world, device, offline_batch(world, device, *scans, **more))
    assert answer.status_code == 200, answer.text
    return answer.json()


async def conflicts(world: World) -> list[dict[str, Any]]:
    answer = await world.ask("GET", f"/api/scanning/events/{world.event_id}/conflicts")
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def take_second_looks(world: World) -> None:
    """What the jobs do that wait to judge scans of this organisation once more, by the clock of the test."""
    rows = await world.rows(
        """
        DELETE FROM pgqueuer
         WHERE entrypoint = $1
           AND convert_from(payload, 'UTF8')::json->>'organization_id' = $2
        RETURNING payload
        """,
        SECOND_LOOK,
        str(world.tenant.id),
    )
    for row in rows:
        due = msgspec.json.decode(row["payload"], type=DueScans)
        await take_second_look(world.services.database, due)


def size_of(body: dict[str, Any]) -> int:
    return len(json.dumps(body).encode())
