from uuid import UUID

from voelgoed.events.model import Venue
from voelgoed.infra.database import Transaction


async def insert_venue(tx: Transaction, venue: Venue) -> None:
    await tx.run(
        """
        INSERT INTO venue (organization_id, id, name, address, timezone, version,
                           created_at, updated_at)
        VALUES (current_organization(), $1, $2, $3, $4, 1, $5, $5)
        """,
        venue.id,
        venue.name,
        venue.address,
        venue.timezone,
        venue.created_at,
    )


async def find_venue(tx: Transaction, venue_id: UUID) -> Venue | None:
    return await tx.row(
        Venue,
        """
        SELECT id, name, address, timezone, version, created_at, updated_at
          FROM venue WHERE id = $1
        """,
        venue_id,
    )


async def list_venues(tx: Transaction, after: UUID | None, limit: int) -> list[Venue]:
    return await tx.rows(
        Venue,
        """
        SELECT id, name, address, timezone, version, created_at, updated_at
          FROM venue WHERE $1::uuid IS NULL OR id > $1 ORDER BY id LIMIT $2
        """,
        after,
        limit,
    )


async def update_venue(tx: Transaction, venue: Venue) -> int:
    """Writes the next version of what was read; 0 when somebody else was first."""
    return await tx.run(
        """
        UPDATE venue SET name = $2, address = $3, timezone = $4, version = $5, updated_at = $6
         WHERE id = $1 AND version = $5 - 1
        """,
        venue.id,
        venue.name,
        venue.address,
        venue.timezone,
        venue.version,
        venue.updated_at,
    )


async def has_events(tx: Transaction, venue_id: UUID) -> bool:
    found = await tx.value(
        bool, "SELECT EXISTS (SELECT 1 FROM event WHERE venue_id = $1)", venue_id
    )
    return found is True


async def delete_venue(tx: Transaction, venue_id: UUID) -> int:
    return await tx.run("DELETE FROM venue WHERE id = $1", venue_id)
