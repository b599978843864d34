from uuid import UUID

from litestar.di import NamedDependency as Given
from litestar.params import FromPath, JSONBody

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.events.actions import gates as actions
from voelgoed.events.model import (
    EventFrozen,
    EventNotFound,
    Gate,
    GateChange,
    GateCodeTaken,
    GateInUse,
    GateNotFound,
    NewGate,
    TooManyGates,
)
from voelgoed.infra.idempotency import IdempotencyKeyReused
from voelgoed.infra.refusal import VersionConflict
from voelgoed.infra.shapes import Data
from voelgoed.infra.web import IdempotencyKey


@access.get("/api/events/{event_id:uuid}/gates", "gates.read", EventNotFound)
async def list_gates(event_id: FromPath[UUID], call: Given[Call]) -> Data[list[Gate]]:
    return Data(await actions.list_gates(call.database, call.caller, event_id))


@access.post(
    "/api/events/{event_id:uuid}/gates",
    "gates.write",
    EventNotFound,
    EventFrozen,
    GateCodeTaken,
    TooManyGates,
    IdempotencyKeyReused,
)
async def create_gate(
    event_id: FromPath[UUID],
    data: JSONBody[NewGate],
    call: Given[Call],
    idempotency_key: IdempotencyKey = None,
) -> Data[Gate]:
    key = access.once_for(call.caller, idempotency_key, "create_gate", event_id, data)
    return Data(await actions.create_gate(call.database, call.caller, event_id, data, key))


@access.get("/api/events/{event_id:uuid}/gates/{gate_id:uuid}", "gates.read", GateNotFound)
async def read_gate(
    event_id: FromPath[UUID],
    gate_id: FromPath[UUID],
    call: Given[Call],
) -> Data[Gate]:
    return Data(await actions.read_gate(call.database, call.caller, event_id, gate_id))


@access.patch(
    "/api/events/{event_id:uuid}/gates/{gate_id:uuid}",
    "gates.write",
    GateNotFound,
    VersionConflict,
)
async def change_gate(
    event_id: FromPath[UUID],
    gate_id: FromPath[UUID],
    data: JSONBody[GateChange],
    call: Given[Call],
) -> Data[Gate]:
    """Open, close or re-arrange a gate."""
    return Data(await actions.change_gate(call.database, call.caller, event_id, gate_id, data))


@access.delete(
    "/api/events/{event_id:uuid}/gates/{gate_id:uuid}",
    "gates.write",
    EventNotFound,
    GateNotFound,
    GateInUse,
)
async def delete_gate(
    event_id: FromPath[UUID],
    gate_id: FromPath[UUID],
    call: Given[Call],
) -> None:
    await actions.delete_gate(call.database, call.caller, event_id, gate_id)


ROUTES = [list_gates, create_gate, read_gate, change_gate, delete_gate]
