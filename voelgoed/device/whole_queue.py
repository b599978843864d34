"""The other ways for a queue to leave a device: all at once, unsigned (`/api/scans/sync`), or as a file
that somebody imports."""

from datetime import datetime
from itertools import takewhile
from pathlib import Path
from uuid import UUID

import msgspec
from msgspec.structs import replace

from voelgoed.device.client import Device
from voelgoed.device.ledger import NOT_SYNCED
from voelgoed.device.link import require
from voelgoed.device.model import LoggedScan, SyncReport
from voelgoed.device.sync import offset_of, told
from voelgoed.scanning.model.scans import PRESENTED_MAX
from voelgoed.scanning.rules.manifest import moment_text

SYNC = "/api/scans/sync"
TOGETHER_MAX = 1_000


class Kept(msgspec.Struct, kw_only=True):
    offline_id: UUID
    reason: str
    is_kept: bool
    unverified: str | None = None
    """Why somebody has to review it before it counts; None where nobody has."""


class Answer(msgspec.Struct, kw_only=True):
    errors: list[Kept]
    timestamp: datetime


async def sync_whole_queue(device: Device) -> SyncReport:
    """Delivers the whole queue for recovery. The server measures the clock that the scans were read
    from."""
    report = SyncReport()
    await device.compare_clocks()
    while scans := _next(device):
        offset = offset_of(scans[0])
        now = device.clock.corrected(device.ledger.now()) - offset
        body = {
            "batch_id": device.new_id(),
            "device_id": device.identity.device_id,
            "batch_created_at": moment_text(now),
            "scans": [_told(scan) for scan in scans],
            "batch_size": len(scans),
        }
        report.requests += 1
        answered = await device.ask("POST", SYNC, msgspec.json.encode(body), offset=offset)
        answer = require(answered, 200).read(Answer)
        lost = {each.offline_id: each.reason for each in answer.errors if not each.is_kept}
        frozen = [_settled(scan, lost.get(scan.scan_id), answer.timestamp) for scan in scans]
        with device.store.transaction():
            device.store.forget_outgoing()
            device.ledger.change(frozen)
        report.unverified |= {
            each.offline_id: each.unverified for each in answer.errors if each.unverified
        }
        report.failed += len(lost)
        report.synced += len(scans) - len(lost)
    return report


def _next(device: Device) -> list[LoggedScan]:
    scans = device.store.scans("pending", TOGETHER_MAX)
    return list(takewhile(lambda scan: offset_of(scan) == offset_of(scans[0]), scans))


def _told(scan: LoggedScan) -> dict[str, object]:
    return {
        "ticket_code": scan.barcode[:PRESENTED_MAX].replace("\0", " "),
        "scanned_at": moment_text(scan.scanned_at),
        "offline_id": scan.scan_id,
        "gate_id": scan.gate_id,
        "direction": scan.direction,
        "outcome": scan.outcome,
    }


def _settled(scan: LoggedScan, reason: str | None, at: datetime) -> LoggedScan:
    if reason is not None:
        return replace(scan, sync_status="failed", last_error=reason)
    return replace(scan, sync_status="synced", synced_at=at, last_error=None)


def export_queue(device: Device, path: Path) -> int:
    """All that the server does not have, for somebody to import. It stays here too."""
    scans = [scan for status in NOT_SYNCED for scan in device.store.scans(status)]
    listed = [told(scan) | {"offset_seconds": offset_of(scan).total_seconds()} for scan in scans]
    document = {
        "device_id": device.identity.device_id,
        "exported_at": moment_text(device.clock.corrected(device.ledger.now())),
        "scans": listed,
    }
    path.write_bytes(msgspec.json.format(msgspec.json.encode(document)) + b"\n")
    return len(scans)
