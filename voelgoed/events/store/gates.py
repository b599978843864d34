from uuid import UUID

from voelgoed.events.model import Gate
from voelgoed.infra.database import Transaction


async def insert_gate(tx: Transaction, gate: Gate) -> None:
    await tx.run(
        """
        INSERT INTO gate (organization_id, id, event_id, code, name, allowed_zones, capacity,
                          hard_capacity_limit, status, version, created_at, updated_at)
        VALUES (current_organization(), $1, $2, $3, $4, $5, $6, $7, $8, 1, $9, $9)
        """,
        gate.id,
        gate.event_id,
        gate.code,
        gate.name,
        gate.allowed_zones,
        gate.capacity,
        gate.hard_capacity_limit,
        gate.status,
        gate.created_at,
    )


async def find_gate(tx: Transaction, event_id: UUID, gate_id: UUID) -> Gate | None:
    return await tx.row(
        Gate,
        """
        SELECT id, event_id, code, name, allowed_zones, capacity, hard_capacity_limit, status,
               version, created_at, updated_at
          FROM gate WHERE event_id = $1 AND id = $2
        """,
        event_id,
        gate_id,
    )


async def list_gates(tx: Transaction, event_id: UUID) -> list[Gate]:
    return await tx.rows(
        Gate,
        """
        SELECT id, event_id, code, name, allowed_zones, capacity, hard_capacity_limit, status,
               version, created_at, updated_at
          FROM gate WHERE event_id = $1 ORDER BY code
        """,
        event_id,
    )


async def count_gates(tx: Transaction, event_id: UUID) -> int:
    return await tx.value(int, "SELECT count(*) FROM gate WHERE event_id = $1", event_id) or 0


async def update_gate(tx: Transaction, gate: Gate) -> int:
    """Writes the next version of what was read; 0 when somebody else was first."""
    return await tx.run(
        """
        UPDATE gate SET name = $2, allowed_zones = $3, capacity = $4, hard_capacity_limit = $5,
               status = $6, version = $7, updated_at = $8
         WHERE id = $1 AND version = $7 - 1
        """,
        gate.id,
        gate.name,
        gate.allowed_zones,
        gate.capacity,
        gate.hard_capacity_limit,
        gate.status,
        gate.version,
        gate.updated_at,
    )


async def delete_gate(tx: Transaction, gate_id: UUID) -> int:
    return await tx.run("DELETE FROM gate WHERE id = $1", gate_id)


async def find_gate_anywhere(tx: Transaction, gate_id: UUID) -> Gate | None:
    return await tx.row(
        Gate,
        """
        SELECT id, event_id, code, name, allowed_zones, capacity, hard_capacity_limit, status,
               version, created_at, updated_at
          FROM gate WHERE id = $1
        """,
        gate_id,
    )
