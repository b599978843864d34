from uuid import UUID

from voelgoed.infra.database import Transaction
from voelgoed.scanning.model.outlook import OpenWork


async def count_open(tx: Transaction, event_id: UUID) -> OpenWork:
    found = await tx.row(
        OpenWork,
        """
        SELECT alerts, critical_alerts, conflicts, recoveries
          FROM (SELECT count(*) AS alerts,
                       count(*) FILTER (WHERE severity = 'critical') AS critical_alerts
                  FROM scan_alert WHERE event_id = $1 AND state = 'open') AS alert,
               (SELECT count(*) AS conflicts
                  FROM scan_conflict WHERE event_id = $1 AND state = 'open') AS conflict,
               (SELECT count(*) AS recoveries
                  FROM batch_sync
                 WHERE event_id = $1 AND state = 'unverified') AS recovery
        """,
        event_id,
    )
    assert found is not None, "counting gives one row"
    return found
