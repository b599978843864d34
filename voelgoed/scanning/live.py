"""Who may follow a gate, and what a device may follow: the gate it is at, and that gate's event."""

from uuid import UUID

from voelgoed.accounts.model import Caller
from voelgoed.accounts.rules.permissions import may
from voelgoed.events.actions.events import event_of
from voelgoed.events.actions.gates import gate_anywhere
from voelgoed.events.live import may_follow_event as may_user_follow_event
from voelgoed.events.model import EventNotFound, GateNotFound
from voelgoed.infra.database import Transaction
from voelgoed.scanning.actions.own_device import gate_of_device
from voelgoed.scanning.model.refusals import DeviceNotFound, UnknownBatch
from voelgoed.seating.live import may_follow_occupancy as may_user_follow_occupancy
from voelgoed.seating.live import may_follow_seats as may_user_follow_seats


async def may_follow_gate(tx: Transaction, caller: Caller, gate_id: UUID) -> None:
    if caller.kind == "device":
        gate = await gate_of_device(tx, caller)
        if gate is None or gate.id != gate_id:
            raise GateNotFound()
        return
    if not may(caller.role, "gates.read"):
        raise GateNotFound()
    await gate_anywhere(tx, gate_id)


async def may_follow_alerts(tx: Transaction, caller: Caller, event_id: UUID) -> None:
    """Staff at the gates; for others there is no such thing."""
    if not may(caller.role, "admissions.read"):
        raise EventNotFound()
    await event_of(tx, event_id)


async def may_follow_device(tx: Transaction, caller: Caller, device_id: UUID) -> None:
    """Only the device itself may follow what changes about it."""
    if caller.kind != "device" or caller.id != device_id:
        raise DeviceNotFound()


async def may_follow_batch(tx: Transaction, caller: Caller, batch_id: UUID) -> None:
    """Allows staff, and devices, also before the batch arrives: only the device that made its id
    knows it."""
    if caller.kind != "device" and not may(caller.role, "admissions.read"):
        raise UnknownBatch()


async def may_follow_occupancy(
    tx: Transaction, caller: Caller, organization_id: UUID, event_id: UUID
) -> None:
    if caller.kind != "device":
        await may_user_follow_occupancy(tx, caller, organization_id, event_id)
    elif organization_id != caller.organization_id:
        raise EventNotFound()
    else:
        await _require_its_event(tx, caller, event_id)


async def may_follow_event(tx: Transaction, caller: Caller, event_id: UUID) -> None:
    if caller.kind != "device":
        await may_user_follow_event(tx, caller, event_id)
    else:
        await _require_its_event(tx, caller, event_id)


async def may_follow_seats(tx: Transaction, caller: Caller, event_id: UUID) -> None:
    if caller.kind != "device":
        await may_user_follow_seats(tx, caller, event_id)
    else:
        await _require_its_event(tx, caller, event_id)


async def _require_its_event(tx: Transaction, caller: Caller, event_id: UUID) -> None:
    gate = await gate_of_device(tx, caller)
    if gate is None or gate.event_id != event_id:
        raise EventNotFound()
