"""Devices that do more harm than good are deactivated, where an event wants that."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import msgspec

from voelgoed.accounts.actions.audit import record_all
from voelgoed.accounts.model import Caller, NewAuditEntry
from voelgoed.infra.database import Transaction
from voelgoed.scanning.model.alerts import Suspicion
from voelgoed.scanning.model.policies import ScanPolicy
from voelgoed.scanning.rules.fraud import BLOCKS
from voelgoed.scanning.rules.messages import device_changed, device_topic
from voelgoed.scanning.store import devices as device_store


async def block_devices(
    tx: Transaction, suspicions: Sequence[Suspicion], policies: Mapping[UUID, ScanPolicy]
) -> None:
    """Deactivates suspected devices where their event wants that, until somebody activates them
    again. Their sockets learn of it and close."""
    nobody = Caller(kind="system", id=None, organization_id=tx.organization_id)
    entries: list[NewAuditEntry] = []
    blocking = [
        each
        for each in suspicions
        if each.kind in BLOCKS and policies[each.event_id].blocks_devices
    ]
    for suspicion in sorted(blocking, key=lambda each: each.subject_id):
        device = await device_store.lock_device(tx, suspicion.subject_id)
        if device is None or device.status != "active" or device.deleted_at is not None:
            continue
        after = msgspec.structs.replace(
            device, status="inactive", version=device.version + 1, updated_at=tx.now
        )
        await device_store.update_device(tx, after)
        changes: dict[str, object] = {
            "status": {"from": device.status, "to": after.status},
            "because": suspicion.kind,
            "event_id": suspicion.event_id,
            "details": suspicion.details,
        }
        entries.append(NewAuditEntry(nobody, "device_blocked", "ScanDevice", device.id, changes))
        tx.publish(device_topic(device.id), device_changed(device.id))
    await record_all(tx, entries)
