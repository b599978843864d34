from uuid import UUID

from voelgoed.infra.database import Transaction


async def note_failure(tx: Transaction, device_id: UUID) -> int:
    """Gives how many there were in a row; 0 where there is no such device."""
    failures = await tx.value(
        int,
        """
        UPDATE scan_device SET sync_failures = sync_failures + 1 WHERE id = $1
        RETURNING sync_failures
        """,
        device_id,
    )
    return failures or 0
