from uuid import UUID

from voelgoed.infra.database import Transaction
from voelgoed.seating.model.layout import Layout, LayoutStatus


async def as_kept(tx: Transaction, config: bytes) -> str:
    """As PostgreSQL will spell it: -0.0 is 0.0, and 1e16 is 10000000000000000."""
    text = await tx.value(str, "SELECT $1::jsonb::text", config.decode())
    assert text is not None
    return text


async def insert_layout(tx: Transaction, layout: Layout, config: bytes) -> None:
    await tx.run(
        """
        INSERT INTO layout (organization_id, id, lineage_id, venue_id, name, description, version,
                            status, total_capacity, seat_count, config, config_hash,
                            created_at, updated_at)
        VALUES (current_organization(), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)
        """,
        layout.id,
        layout.lineage_id,
        layout.venue_id,
        layout.name,
        layout.description,
        layout.version,
        layout.status,
        layout.total_capacity,
        layout.seat_count,
        config.decode(),
        layout.config_hash,
        layout.created_at,
    )


async def find_layout(tx: Transaction, layout_id: UUID) -> Layout | None:
    return await tx.row(
        Layout,
        """
        SELECT id, lineage_id, venue_id, name, description, version, status, total_capacity,
               seat_count, config_hash, created_at, updated_at
          FROM layout WHERE id = $1
        """,
        layout_id,
    )


async def find_config(tx: Transaction, layout_id: UUID) -> str | None:
    """As PostgreSQL spells it."""
    return await tx.value(str, "SELECT config::text FROM layout WHERE id = $1", layout_id)


async def list_layouts(
    tx: Transaction, venue_id: UUID, after: UUID | None, limit: int
) -> list[Layout]:
    return await tx.rows(
        Layout,
        """
        SELECT id, lineage_id, venue_id, name, description, version, status, total_capacity,
               seat_count, config_hash, created_at, updated_at
          FROM layout WHERE venue_id = $1 AND ($2::uuid IS NULL OR id > $2) ORDER BY id LIMIT $3
        """,
        venue_id,
        after,
        limit,
    )


async def lock_lineage(tx: Transaction, lineage_id: UUID) -> int:
    """Versions are made one at a time. Gives the latest number. All of them are locked, because
    any can be deleted, the first one too."""
    await tx.run(
        "SELECT 1 FROM layout WHERE lineage_id = $1 ORDER BY version FOR UPDATE", lineage_id
    )
    latest = await tx.value(
        int, "SELECT max(version) FROM layout WHERE lineage_id = $1", lineage_id
    )
    return latest or 0


async def archive_active(tx: Transaction, lineage_id: UUID) -> UUID | None:
    """What a newly active version supersedes."""
    return await tx.value(
        UUID,
        """
        UPDATE layout SET status = 'archived', updated_at = $2
         WHERE lineage_id = $1 AND status = 'active' RETURNING id
        """,
        lineage_id,
        tx.now,
    )


async def set_status(
    tx: Transaction, layout_id: UUID, before: LayoutStatus, after: LayoutStatus
) -> int:
    return await tx.run(
        "UPDATE layout SET status = $3, updated_at = $4 WHERE id = $1 AND status = $2",
        layout_id,
        before,
        after,
        tx.now,
    )


async def delete_layout(tx: Transaction, layout_id: UUID) -> int:
    return await tx.run("DELETE FROM layout WHERE id = $1 AND status = 'draft'", layout_id)
