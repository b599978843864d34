import datetime as dt
from collections.abc import Sequence
from uuid import UUID

from voelgoed.infra.database import Transaction, json_text
from voelgoed.ticketing.model.admissions import (
    Attendance,
    FoundTicket,
    ScannedTicket,
    TicketPlace,
)


async def lock_code(tx: Transaction, ticket_id: UUID) -> str | None:
    """Which a ticket keeps."""
    return await tx.value(str, "SELECT code FROM ticket WHERE id = $1 FOR NO KEY UPDATE", ticket_id)


async def find_by_codes(tx: Transaction, codes: Sequence[str]) -> list[ScannedTicket]:
    return await tx.rows(
        ScannedTicket,
        """
        SELECT ticket.id, ticket.event_id, ticket.code, ticket.issue,
               encode(ticket.barcode_hash, 'hex') AS barcode_hash, ticket.status, ticket.zone_id,
               ticket.seat_id, ticket.seat_label, ticket.days, ticket.scan_count,
               ticket.day_entries, ticket.last_entry_day, ticket.scanned_at, ticket.last_scanned_at,
               ticket.last_exit_at, ticket.last_gate_id, ticket.is_inside, ticket.irregular,
               ticket.status_since, ticket.xmin::text AS seen, kind.entry_limit,
               kind.max_daily_entries, kind.gate_ids, kind.reentry,
               (SELECT gate.name FROM gate WHERE gate.id = ticket.last_gate_id) AS last_gate_name,
               CASE WHEN ticket.associated_membership_id IS NOT NULL THEN coalesce((
                   SELECT membership.status = 'active' AND membership.valid_from <= $2
                          AND (membership.valid_to IS NULL OR membership.valid_to > $2)
                     FROM membership WHERE membership.id = ticket.associated_membership_id), false)
               END AS is_membership_active
          FROM ticket JOIN ticket_type AS kind
            ON kind.organization_id = ticket.organization_id AND kind.id = ticket.ticket_type_id
         WHERE ticket.code = ANY($1::text[])
        """,
        codes,
        tx.now,
    )


async def count_to_come(tx: Transaction, event_id: UUID, day: dt.date) -> int:
    """Tickets that let somebody in on this day, with which nobody came on it."""
    found = await tx.value(
        int,
        """
        SELECT count(*)
          FROM ticket JOIN ticket_type AS kind
            ON kind.organization_id = ticket.organization_id AND kind.id = ticket.ticket_type_id
         WHERE ticket.event_id = $1 AND ticket.status IN ('active', 'scanned') AND $2 = ANY(days)
           AND last_entry_day IS DISTINCT FROM $2
           AND (kind.entry_limit IS NULL OR scan_count < kind.entry_limit)
           AND (kind.reentry <> 'never' OR scan_count = 0)
        """,
        event_id,
        day,
    )
    return found or 0


async def write_attendance(tx: Transaction, attendance: Sequence[Attendance]) -> None:
    """Of tickets that are locked, or as they were seen: where one is not so any more, nothing is
    written."""
    await tx.run(
        """
        WITH moved AS (
            UPDATE ticket
               SET status = new.status, scanned_at = new.scanned_at,
                   last_scanned_at = new.last_scanned_at, last_exit_at = new.last_exit_at,
                   last_gate_id = new.last_gate_id, last_entry_day = new.last_entry_day,
                   day_entries = new.day_entries, is_inside = new.is_inside,
                   scan_count = new.scan_count, irregular = new.irregular,
                   status_since = CASE WHEN ticket.status = new.status THEN ticket.status_since
                                       WHEN new.status = 'used' THEN $2 END,
                   updated_at = $2
              FROM json_to_recordset($1::json)
                AS new (id uuid, status text, scanned_at timestamptz, last_scanned_at timestamptz,
                        last_exit_at timestamptz, last_gate_id uuid, last_entry_day date,
                        day_entries integer, is_inside boolean, scan_count integer, irregular json,
                        seen xid)
             WHERE ticket.organization_id = current_organization() AND ticket.id = new.id
               AND (new.seen IS NULL OR ticket.xmin = new.seen)
            RETURNING 1
        )
        SELECT CASE WHEN count(*) < $3::integer
                    THEN abort('VG001', 'a ticket was changed meanwhile') END
          FROM moved
        """,
        # In one order, so that nobody waits in a circle.
        json_text(sorted(attendance, key=lambda each: each.id)),
        tx.now,
        len(attendance),
    )


async def find_places(tx: Transaction, ticket_ids: Sequence[UUID]) -> list[TicketPlace]:
    return await tx.rows(
        TicketPlace,
        "SELECT id, zone_id, seat_id, seat_label FROM ticket WHERE id = ANY($1::uuid[])",
        ticket_ids,
    )


async def search(
    tx: Transaction,
    event_id: UUID,
    code: str | None,
    order_number: str | None,
    name: str,
    limit: int,
) -> list[FoundTicket]:
    """By code or by order through their indexes; by name all of the event's tickets are read."""
    return await tx.rows(
        FoundTicket,
        """
        SELECT ticket.id, ticket.code, ticket.status, status_reason, seat_label, zone_id, scan_count,
               is_inside, last_scanned_at,
               (SELECT gate.name FROM gate WHERE gate.id = last_gate_id) AS last_gate_name
          FROM ticket
         WHERE ticket.event_id = $1 AND ticket.id = ANY(ARRAY(
                   SELECT id FROM ticket WHERE $2::text IS NOT NULL AND code = $2
                   UNION ALL
                   SELECT ticket.id FROM ticket_order AS bought JOIN ticket
                       ON ticket.organization_id = bought.organization_id
                      AND ticket.order_id = bought.id
                    WHERE $3::text IS NOT NULL AND bought.number = $3
                   UNION ALL
                   SELECT ticket.id FROM ticket LEFT JOIN ticket_order AS bought
                       ON bought.organization_id = ticket.organization_id
                      AND bought.id = ticket.order_id
                    WHERE $2 IS NULL AND $3 IS NULL AND ticket.event_id = $1
                      AND (ticket.code LIKE upper($4) || '%'
                        OR holder_name ILIKE $4 || '%' OR holder_name ILIKE '% ' || $4 || '%'
                        OR bought.buyer_name ILIKE $4 || '%'
                        OR bought.buyer_name ILIKE '% ' || $4 || '%')))
         ORDER BY ticket.id LIMIT $5
        """,
        event_id,
        code,
        order_number,
        name,
        limit,
    )
