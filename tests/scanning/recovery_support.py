"""Helpers: files of scans that devices could not send."""

from typing import Any
from uuid import UUID

import httpx

from tests.scanning.support import Device, World
from tests.scanning.sync_support import iso
from voelgoed.ticketing.model.tickets import Ticket

PATH = "/api/scanning/recoveries"


def exported(
    world: World, device: Device, *scans: dict[str, Any], offset_seconds: float = 0, **more: Any
) -> dict[str, Any]:
    return {
        "device_id": str(device.id),
        "exported_at": iso(world.now),
        "scans": [{"offset_seconds": offset_seconds, **scan} for scan in scans],
        **more,
    }


async def send_file(world: World, file: dict[str, Any]) -> httpx.Response:
    return await world.ask("POST", PATH, file, by="admin")


async def recover(world: World, device: Device, *scans: dict[str, Any], **more: Any) -> Any:
    answer = await send_file(world, exported(world, device, *scans, **more))
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def decide(world: World, imported: dict[str, Any], to: str, note: str = "") -> httpx.Response:
    path = f"{PATH}/{imported['batch_id']}/transitions"
    return await world.ask("POST", path, {"to": to, "note": note})


async def accept(world: World, imported: dict[str, Any]) -> dict[str, Any]:
    answer = await decide(world, imported, "accepted")
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def shown(world: World, imported: dict[str, Any]) -> dict[str, Any]:
    answer = await world.ask("GET", f"{PATH}/{imported['batch_id']}")
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def revoke(world: World, device: Device) -> None:
    answer = await world.ask("DELETE", f"/api/scanning/devices/{device.id}")
    assert answer.status_code == 204, answer.text


async def scan_history_of(
    world: World, ticket: Ticket, scans: list[dict[str, Any]]
) -> dict[str, Any]:
    """The scan history of a ticket, each scan named by its place in the list."""
    names = {UUID(scan["scan_id"]): at for at, scan in enumerate(scans)}
    [kept] = await world.rows(
        """
        SELECT status, scanned_at, last_scanned_at, last_exit_at, last_gate_id, last_entry_day,
               day_entries, is_inside, scan_count FROM ticket WHERE id = $1
        """,
        ticket.id,
    )
    stand = await world.rows(
        """
        SELECT DISTINCT ON (scan.id) scan.id, scanned_at_canonical,
               coalesce(ruling.status, scan.status) AS status,
               CASE WHEN number IS NULL THEN scan.reason_denied ELSE ruling.reason_denied END AS reason,
               CASE WHEN number IS NULL THEN scan.entry_number ELSE ruling.entry_number END AS entry
          FROM scan LEFT JOIN scan_ruling AS ruling ON ruling.scan_id = scan.id
         WHERE ticket_id = $1 ORDER BY scan.id, number DESC
        """,
        ticket.id,
    )
    found = await world.rows(
        "SELECT kind, severity, scan_id, winner_scan_id FROM scan_conflict WHERE ticket_id = $1",
        ticket.id,
    )
    return {
        "ticket": kept,
        "scans": {names[row.pop("id")]: row for row in stand},
        "conflicts": {
            names[row["scan_id"]]: (row["kind"], row["severity"], names[row["winner_scan_id"]])
            for row in found
        },
    }
