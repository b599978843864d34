"""Requests of devices, and the facts from which a batch of them is decided."""

from uuid import UUID, uuid4

from tests.scanning.support import Device, World
from voelgoed.accounts.model import Caller
from voelgoed.scanning.model.admission import (
    AdmissionFacts,
    DeviceCredential,
    LastEntry,
    ScanRequest,
)
from voelgoed.scanning.rules.presented import read_presented


def a_request(world: World, device: Device, text: str, **more: UUID) -> ScanRequest:
    caller = Caller(kind="device", id=device.id, organization_id=world.tenant.id)
    scan_id = more.get("scan_id") or uuid4()
    return ScanRequest(
        caller=caller,
        by=DeviceCredential(1, device.id),
        scan_id=scan_id,
        sent_id=str(scan_id),
        audit_id=uuid4(),
        text=text,
        presented=read_presented(text),
        direction="entry",
        scanned_at=world.now,
        received_at=world.now,
    )


async def facts_of(
    world: World, *requests: ScanRequest, hints: dict[str, LastEntry] | None = None
) -> AdmissionFacts:
    async with world.services.database.at_once(world.tenant.id) as tx:
        for _ in range(3):  # the remembered stations may be old or incomplete
            facts = await world.services.scans._load(tx, requests, hints or {})
            if facts is not None:
                return facts
    raise AssertionError("the stations change all the time")
