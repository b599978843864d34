from uuid import UUID

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller
from voelgoed.events.actions.events import changeable_event, event_of
from voelgoed.events.model import (
    GATES_MAX,
    EventNotFound,
    Gate,
    GateChange,
    GateCodeTaken,
    GateInUse,
    GateNotFound,
    NewGate,
    TooManyGates,
)
from voelgoed.events.rules.messages import event_topic, gate_changed, gate_deleted
from voelgoed.events.store import gates as store
from voelgoed.infra.changes import changed
from voelgoed.infra.database import Database, Transaction, refusing
from voelgoed.infra.idempotency import IdempotencyKey, once
from voelgoed.infra.ids import new_id
from voelgoed.infra.refusal import VersionConflict


async def create_gate(
    database: Database, caller: Caller, event_id: UUID, new: NewGate, key: IdempotencyKey | None
) -> Gate:
    async with database.transaction(caller.organization_id) as tx:
        return await once(tx, key, Gate, lambda: _create(tx, caller, event_id, new))


async def _create(tx: Transaction, caller: Caller, event_id: UUID, new: NewGate) -> Gate:
    await changeable_event(tx, event_id)
    if await store.count_gates(tx, event_id) >= GATES_MAX:
        raise TooManyGates()
    gate = Gate(
        id=new_id(),
        event_id=event_id,
        code=new.code,
        name=new.name,
        allowed_zones=new.allowed_zones,
        capacity=new.capacity,
        hard_capacity_limit=new.hard_capacity_limit,
        status=new.status,
        version=1,
        created_at=tx.now,
        updated_at=tx.now,
    )
    with (
        refusing("gate_code_taken", GateCodeTaken),
        refusing("gate_organization_id_event_id_fkey", EventNotFound),
    ):
        await store.insert_gate(tx, gate)
    await record(tx, caller, "gate_created", "Gate", gate.id, new)
    tx.publish(event_topic(event_id), gate_changed(gate))
    return gate


async def list_gates(database: Database, caller: Caller, event_id: UUID) -> list[Gate]:
    async with database.transaction(caller.organization_id) as tx:
        await event_of(tx, event_id)
        return await store.list_gates(tx, event_id)


async def read_gate(database: Database, caller: Caller, event_id: UUID, gate_id: UUID) -> Gate:
    async with database.transaction(caller.organization_id) as tx:
        return await gate_of(tx, event_id, gate_id)


async def change_gate(
    database: Database, caller: Caller, event_id: UUID, gate_id: UUID, change: GateChange
) -> Gate:
    async with database.transaction(caller.organization_id) as tx:
        after, differences = changed(await gate_of(tx, event_id, gate_id), change, tx.now)
        if not await store.update_gate(tx, after):
            raise VersionConflict()
        await record(tx, caller, "gate_changed", "Gate", gate_id, differences)
        tx.publish(event_topic(event_id), gate_changed(after))
        return after


async def delete_gate(database: Database, caller: Caller, event_id: UUID, gate_id: UUID) -> None:
    async with database.transaction(caller.organization_id) as tx:
        event = await event_of(tx, event_id)
        gate = await gate_of(tx, event_id, gate_id)
        if event.status not in ("draft", "published"):
            raise GateInUse()
        if not await store.delete_gate(tx, gate_id):
            raise GateNotFound()  # somebody else was first
        await record(tx, caller, "gate_deleted", "Gate", gate_id, {"code": gate.code})
        tx.publish(event_topic(event_id), gate_deleted(gate))


async def gates_of(tx: Transaction, event_id: UUID) -> list[Gate]:
    """By their codes."""
    return await store.list_gates(tx, event_id)


async def gate_of(tx: Transaction, event_id: UUID, gate_id: UUID) -> Gate:
    gate = await store.find_gate(tx, event_id, gate_id)
    if gate is None:
        raise GateNotFound()
    return gate


async def gate_anywhere(tx: Transaction, gate_id: UUID) -> Gate:
    """Of whichever event."""
    gate = await store.find_gate_anywhere(tx, gate_id)
    if gate is None:
        raise GateNotFound()
    return gate
