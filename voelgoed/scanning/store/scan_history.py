import datetime as dt
from collections.abc import Sequence
from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction, json_text
from voelgoed.scanning.model.decisions import (
    REASONS_THAT_PASS,
    Reason,
    ScanStatus,
)
from voelgoed.scanning.model.occupancy import Passage
from voelgoed.scanning.model.outcomes import Outcome
from voelgoed.scanning.model.scan_history import HistoryScan, Resolution
from voelgoed.scanning.model.scans import Source


class _Row(Passage, frozen=True, kw_only=True):
    ticket_id: UUID
    source: Source
    is_let_in: bool
    reason_apart: Reason | None
    outcome: Outcome | None
    status: ScanStatus
    reason_denied: Reason | None
    entry_number: int | None

    def told(self) -> HistoryScan:
        return HistoryScan(
            id=self.id,
            event_id=self.event_id,
            gate_id=self.gate_id,
            zone_id=self.zone_id,
            device_id=self.device_id,
            direction=self.direction,
            scanned_at_canonical=self.scanned_at_canonical,
            day=self.day,
            ticket_id=self.ticket_id,
            source=self.source,
            is_let_in=self.is_let_in,
            reason_apart=self.reason_apart,
            outcome=self._outcome(),
            resolution=Resolution(self.status, self.reason_denied, self.entry_number),
        )

    def _outcome(self) -> Outcome | None:
        """As the device says that it was, though a file said otherwise before."""
        if self.outcome is None or (self.outcome == "valid") == self.is_let_in:
            return self.outcome
        return "valid" if self.is_let_in else "invalid"


async def find_histories(tx: Transaction, codes: Sequence[str]) -> list[HistoryScan]:
    """Of tickets by their codes: scans that let somebody through, and those that devices brought later. Without
    what was annulled, what was for another event, and what was recovered and nobody accepted."""
    found = await tx.rows(
        _Row,
        """
        SELECT scan.id, scan.event_id, scan.ticket_id, scan.gate_id, scan.zone_id, scan.device_id,
               scan.direction, scan.scanned_at_canonical, coalesce(ruling.day, scan.day) AS day,
               scan.source, scan.outcome, stands.is_let_in,
               CASE WHEN scan.outcome IS NOT NULL THEN scan.reason_apart
                    WHEN scan.reason_denied <> ALL($2::text[]) THEN scan.reason_denied END AS reason_apart,
               coalesce(ruling.status, scan.status) AS status,
               CASE WHEN ruling.number IS NULL THEN scan.reason_denied ELSE ruling.reason_denied END
                   AS reason_denied,
               CASE WHEN ruling.number IS NULL THEN scan.entry_number ELSE ruling.entry_number END
                   AS entry_number
          FROM scan
          LEFT JOIN LATERAL (SELECT number, is_let_in, status, reason_denied, entry_number, day
                               FROM scan_ruling
                              WHERE scan_ruling.organization_id = scan.organization_id
                                AND scan_ruling.scan_id = scan.id
                              ORDER BY number DESC LIMIT 1) AS ruling ON true
         CROSS JOIN LATERAL (SELECT coalesce(ruling.is_let_in,
                                             CASE WHEN scan.outcome IS NULL
                                                  THEN scan.status = 'admitted'
                                                  ELSE scan.outcome = 'valid' END) AS is_let_in)
                         AS stands
         WHERE scan.ticket_id = ANY(ARRAY(SELECT id FROM ticket WHERE code = ANY($1::text[])))
           AND (stands.is_let_in OR scan.outcome IS NOT NULL)
           AND scan.reason_apart IS DISTINCT FROM 'wrong_event'
           AND NOT EXISTS (SELECT 1 FROM scan_annulment AS annulled
                            WHERE annulled.organization_id = scan.organization_id
                              AND annulled.scan_id = scan.id)
           AND (scan.source <> 'recovered' OR ruling.number IS NOT NULL)
        """,
        codes,
        list(REASONS_THAT_PASS),
    )
    return [row.told() for row in found]


async def find_recovered(
    tx: Transaction, scan_ids: Sequence[UUID], *, only_signed: bool
) -> list[HistoryScan]:
    """Of these, those from a file about which nobody has decided: they count once they are ruled on."""
    found = await tx.rows(
        _Row,
        """
        SELECT scan.id, scan.event_id, ticket_id, gate_id, zone_id, scan.device_id, direction,
               scanned_at_canonical, day, scan.source, outcome, outcome = 'valid' AS is_let_in,
               reason_apart, scan.status, reason_denied, entry_number
          FROM scan JOIN batch_sync AS batch
            ON batch.organization_id = scan.organization_id AND batch.batch_id = scan.batch_id
         WHERE scan.id = ANY($1::uuid[]) AND scan.source = 'recovered' AND batch.state <> 'rejected'
           AND ticket_id IS NOT NULL AND reason_apart IS DISTINCT FROM 'wrong_event'
           AND (NOT $2 OR (details ->> 'is_signed')::boolean)
           AND NOT EXISTS (SELECT 1 FROM scan_ruling
                            WHERE scan_ruling.organization_id = scan.organization_id
                              AND scan_ruling.scan_id = scan.id)
        """,
        scan_ids,
        only_signed,
    )
    return [row.told() for row in found]


async def rule_apart(tx: Transaction, scan_ids: Sequence[UUID]) -> None:
    """Of what was recovered and signed: what is no ticket of its event stands as that, and not as
    unverified."""
    await tx.run(
        """
        INSERT INTO scan_ruling (organization_id, scan_id, number, event_id, is_let_in, status,
                                 reason_denied, day, at)
        SELECT organization_id, id, 1, event_id, outcome = 'valid', 'denied', reason_apart, day, $2
          FROM scan
         WHERE id = ANY($1::uuid[]) AND source = 'recovered' AND (details ->> 'is_signed')::boolean
           AND (ticket_id IS NULL OR reason_apart = 'wrong_event')
        ON CONFLICT DO NOTHING
        """,
        scan_ids,
        tx.now,
    )


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    scan_id: UUID
    event_id: UUID
    is_let_in: bool
    status: ScanStatus
    reason_denied: Reason | None
    entry_number: int | None
    day: dt.date


async def insert_rulings(tx: Transaction, rulings: Sequence[Ruling]) -> None:
    """About scans of tickets that nobody else is at work on."""
    if rulings:
        await tx.run(
            """
            INSERT INTO scan_ruling (organization_id, scan_id, number, event_id, is_let_in, status,
                                     reason_denied, entry_number, day, at)
            SELECT current_organization(), scan_id,
                   1 + coalesce((SELECT max(number) FROM scan_ruling AS before
                                  WHERE before.scan_id = new.scan_id), 0),
                   event_id, is_let_in, status, reason_denied, entry_number, day, $2
              FROM json_to_recordset($1::json)
                AS new (scan_id uuid, event_id uuid, is_let_in boolean, status text,
                        reason_denied text, entry_number integer, day date)
            """,
            json_text(rulings),
            tx.now,
        )
