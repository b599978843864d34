"""Declaring the venue empty: who is taken out, and what is kept of it."""

from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction
from voelgoed.scanning.model.occupancy import CountedHead, OccupancyReset


async def lock_resets(tx: Transaction, event_id: UUID) -> None:
    """One at a time."""
    await tx.run(
        "SELECT pg_advisory_xact_lock(hashtextextended($1::uuid || ':emptied', 0))", event_id
    )


async def take_out_tickets(tx: Transaction, event_id: UUID, at: datetime) -> list[CountedHead]:
    """Everybody who came in with a ticket of the event until that moment leaves. Gives who did."""
    return await tx.rows(
        CountedHead,
        """
        WITH locked AS MATERIALIZED (
            SELECT id, zone_id, last_gate_id, last_entry_day, irregular,
                   is_inside AND last_scanned_at <= $2 AS is_leaving
              FROM ticket
             WHERE event_id = $1 AND (is_inside AND last_scanned_at <= $2 OR irregular::text <> '[]')
             ORDER BY id FOR NO KEY UPDATE
        ), head AS MATERIALIZED (
            SELECT locked.id AS ticket_id, place, people,
                   (people->>'last_at')::timestamptz <= $2 AS is_leaving
              FROM locked
             CROSS JOIN json_array_elements(irregular) WITH ORDINALITY AS element (people, place)
        ), moved AS (
            UPDATE ticket
               SET is_inside = ticket.is_inside AND NOT locked.is_leaving,
                   irregular = coalesce((SELECT json_agg(people ORDER BY place) FROM head
                                          WHERE head.ticket_id = locked.id AND NOT head.is_leaving),
                                        '[]'),
                   updated_at = $3
              FROM locked
             WHERE ticket.organization_id = current_organization() AND ticket.id = locked.id
               AND (locked.is_leaving
                    OR EXISTS (SELECT 1 FROM head
                                WHERE head.ticket_id = locked.id AND head.is_leaving))
            RETURNING 1
        )
        SELECT last_gate_id AS gate_id, zone_id, last_entry_day AS day, false AS is_irregular
          FROM locked WHERE is_leaving
        UNION ALL
        SELECT (people->>'gate_id')::uuid, (people->>'zone_id')::uuid, (people->>'day')::date, true
          FROM head CROSS JOIN generate_series(1, (people->>'count')::integer)
         WHERE is_leaving
        """,
        event_id,
        at,
        tx.now,
    )


async def lock_counts(tx: Transaction, event_id: UUID, at: datetime) -> None:
    """All counts of the event, in the order in which everybody locks them. Each says from now on when the
    venue was declared empty; the event has one for each of its days, so that whoever counts anybody finds
    it."""
    await tx.run(
        """
        INSERT INTO occupancy AS held
               (organization_id, event_id, day, scope, scope_id, entries, exits, inside, emptied_at)
        SELECT current_organization(), $1, day, scope, scope_id, 0, 0, 0, $2
          FROM (SELECT day, scope, scope_id FROM occupancy WHERE event_id = $1
                 UNION SELECT date, 'event', $1 FROM event_day WHERE event_id = $1) AS place
         ORDER BY day, scope, scope_id
        ON CONFLICT (organization_id, event_id, day, scope, scope_id) DO UPDATE
           SET emptied_at = greatest(held.emptied_at, EXCLUDED.emptied_at)
        """,
        event_id,
        at,
    )


async def has_somebody_left_inside(tx: Transaction, event_id: UUID, at: datetime) -> bool:
    """Whether anybody who came in until that moment became known since the tickets were looked at."""
    return bool(
        await tx.value(
            bool,
            """
            SELECT EXISTS (SELECT 1 FROM ticket
                            WHERE event_id = $1 AND is_inside AND last_scanned_at <= $2)
                OR EXISTS (SELECT 1 FROM ticket
                            CROSS JOIN json_array_elements(irregular) AS people
                            WHERE ticket.event_id = $1 AND irregular::text <> '[]'
                              AND (people->>'last_at')::timestamptz <= $2)
            """,
            event_id,
            at,
        )
    )


async def find_heads_without_ticket(
    tx: Transaction, event_id: UUID, at: datetime
) -> list[CountedHead]:
    """Who was let in with what is no ticket of the event, since the venue was last declared empty, until
    that moment."""
    return await tx.rows(
        CountedHead,
        """
        SELECT gate_id, NULL::uuid AS zone_id, coalesce(ruling.day, scan.day) AS day,
               true AS is_irregular
          FROM scan
          LEFT JOIN LATERAL (SELECT is_let_in, day FROM scan_ruling
                              WHERE scan_ruling.organization_id = scan.organization_id
                                AND scan_ruling.scan_id = scan.id
                              ORDER BY number DESC LIMIT 1) AS ruling ON true
         WHERE event_id = $1 AND direction = 'entry'
           AND (ticket_id IS NULL OR 'wrong_event' IN (stateless_reason, reason_denied))
           AND NOT EXISTS (SELECT 1 FROM scan_annulment AS annulled
                            WHERE annulled.organization_id = scan.organization_id
                              AND annulled.scan_id = scan.id)
           AND scanned_at_canonical <= $2
           AND scanned_at_canonical > coalesce((SELECT max(reset.at) FROM occupancy_reset AS reset
                                                 WHERE reset.event_id = $1), '-infinity')
           AND (ruling.is_let_in IS NOT NULL OR reason_denied IS DISTINCT FROM 'unverified')
           AND coalesce(ruling.is_let_in, outcome = 'valid')
        """,
        event_id,
        at,
    )


async def insert_reset(tx: Transaction, reset: OccupancyReset) -> None:
    await tx.run(
        """
        INSERT INTO occupancy_reset (organization_id, id, event_id, at, reason, actor_id, inside,
                                     irregular)
        VALUES (current_organization(), $1, $2, $3, $4, $5, $6, $7)
        """,
        *msgspec.structs.astuple(reset),
    )


async def find_last_reset(tx: Transaction, event_id: UUID) -> OccupancyReset | None:
    return await tx.row(
        OccupancyReset,
        """
        SELECT id, event_id, at, reason, actor_id, inside, irregular
          FROM occupancy_reset WHERE event_id = $1 ORDER BY at DESC, id DESC LIMIT 1
        """,
        event_id,
    )
