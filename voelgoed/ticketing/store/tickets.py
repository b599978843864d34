import datetime as dt
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction, json_text
from voelgoed.ticketing.model.tickets import Ticket, TicketStatus


class NewTicket(msgspec.Struct, frozen=True, kw_only=True):
    """As it is written the first time."""

    id: UUID
    event_id: UUID
    code: str
    barcode_hash: bytes
    key_number: int
    ticket_type_id: UUID
    order_id: UUID | None
    order_line: int | None
    hold_id: UUID | None
    zone_id: UUID | None
    seat_id: UUID | None
    seat_label: str | None
    days: list[dt.date]
    zone_number: int
    days_mask: int
    holder_name: str
    holder_email: str | None
    price_minor: int
    associated_membership_id: UUID | None
    external_reference: str | None = None

    def written(self, now: datetime) -> Ticket:
        """As it would be read again."""
        return Ticket(
            id=self.id,
            event_id=self.event_id,
            code=self.code,
            issue=1,
            key_number=self.key_number,
            status="active",
            status_reason="",
            ticket_type_id=self.ticket_type_id,
            order_id=self.order_id,
            zone_id=self.zone_id,
            seat_id=self.seat_id,
            seat_label=self.seat_label,
            days=self.days,
            holder_name=self.holder_name,
            holder_email=self.holder_email,
            price_minor=self.price_minor,
            associated_membership_id=self.associated_membership_id,
            external_reference=self.external_reference,
            scanned_at=None,
            last_scanned_at=None,
            last_gate_id=None,
            scan_count=0,
            version=1,
            created_at=now,
            updated_at=now,
        )


async def insert_tickets(tx: Transaction, tickets: Sequence[NewTicket]) -> None:
    if not tickets:
        return
    await tx.run(
        """
        INSERT INTO ticket (organization_id, id, event_id, code, barcode_hash, key_number, status,
                            ticket_type_id, order_id, order_line, hold_id, zone_id, seat_id,
                            seat_label, days, zone_number, days_mask, holder_name, holder_email,
                            price_minor, associated_membership_id, external_reference, created_at,
                            updated_at)
        SELECT current_organization(), id, event_id, code, decode(barcode_hash, 'base64'),
               key_number, 'active', ticket_type_id, order_id, order_line, hold_id, zone_id, seat_id,
               seat_label, days, zone_number, days_mask, holder_name, holder_email, price_minor,
               associated_membership_id, external_reference, $2, $2
          FROM json_to_recordset($1::json)
            AS new (id uuid, event_id uuid, code text, barcode_hash text, key_number smallint,
                    ticket_type_id uuid, order_id uuid, order_line smallint, hold_id uuid,
                    zone_id uuid, seat_id uuid, seat_label text, days date[], zone_number smallint,
                    days_mask bigint, holder_name text, holder_email text, price_minor bigint,
                    associated_membership_id uuid, external_reference text)
        """,
        json_text(tickets),
        tx.now,
    )


class SignedTicket(msgspec.Struct, frozen=True, kw_only=True):
    """A ticket with what its barcode was signed over, and how its seat is kept."""

    ticket: Ticket
    barcode_hash: bytes
    hold_id: UUID | None
    zone_number: int
    days_mask: int


def _signed(
    barcode_hash: bytes, hold_id: UUID | None, zone_number: int, days_mask: int, **columns: object
) -> SignedTicket:
    return SignedTicket(
        ticket=Ticket(**columns),  # pyright: ignore[reportArgumentType]
        barcode_hash=barcode_hash,
        hold_id=hold_id,
        zone_number=zone_number,
        days_mask=days_mask,
    )


async def find_ticket(tx: Transaction, ticket_id: UUID) -> SignedTicket | None:
    return await tx.row(
        _signed,
        """
        SELECT id, event_id, code, issue, key_number, status, status_reason, ticket_type_id, order_id,
               zone_id, seat_id, seat_label, days, holder_name, holder_email, price_minor,
               associated_membership_id, external_reference, scanned_at, last_scanned_at, last_gate_id,
               scan_count, version, created_at, updated_at, barcode_hash, hold_id, zone_number, days_mask
          FROM ticket WHERE id = $1
        """,
        ticket_id,
    )


async def lock_ticket(tx: Transaction, ticket_id: UUID) -> SignedTicket | None:
    return await tx.row(
        _signed,
        """
        SELECT id, event_id, code, issue, key_number, status, status_reason, ticket_type_id, order_id,
               zone_id, seat_id, seat_label, days, holder_name, holder_email, price_minor,
               associated_membership_id, external_reference, scanned_at, last_scanned_at, last_gate_id,
               scan_count, version, created_at, updated_at, barcode_hash, hold_id, zone_number, days_mask
          FROM ticket WHERE id = $1 FOR NO KEY UPDATE
        """,
        ticket_id,
    )


async def lock_tickets_of(tx: Transaction, order_id: UUID) -> list[SignedTicket]:
    return await tx.rows(
        _signed,
        """
        SELECT id, event_id, code, issue, key_number, status, status_reason, ticket_type_id, order_id,
               zone_id, seat_id, seat_label, days, holder_name, holder_email, price_minor,
               associated_membership_id, external_reference, scanned_at, last_scanned_at, last_gate_id,
               scan_count, version, created_at, updated_at, barcode_hash, hold_id, zone_number, days_mask
          FROM ticket WHERE order_id = $1 ORDER BY order_line FOR NO KEY UPDATE
        """,
        order_id,
    )


async def list_tickets_of(tx: Transaction, order_id: UUID) -> list[SignedTicket]:
    return await tx.rows(
        _signed,
        """
        SELECT id, event_id, code, issue, key_number, status, status_reason, ticket_type_id, order_id,
               zone_id, seat_id, seat_label, days, holder_name, holder_email, price_minor,
               associated_membership_id, external_reference, scanned_at, last_scanned_at, last_gate_id,
               scan_count, version, created_at, updated_at, barcode_hash, hold_id, zone_number, days_mask
          FROM ticket WHERE order_id = $1 ORDER BY order_line
        """,
        order_id,
    )


async def end_tickets(
    tx: Transaction, ticket_ids: Sequence[UUID], status: TicketStatus, reason: str
) -> int:
    """Of tickets that are locked."""
    return await tx.run(
        """
        UPDATE ticket SET status = $2, status_reason = $3, status_since = $4, version = version + 1,
               updated_at = $4
         WHERE id = ANY($1::uuid[])
        """,
        ticket_ids,
        status,
        reason,
        tx.now,
    )


async def reissue_ticket(tx: Transaction, ticket: Ticket, barcode_hash: bytes) -> None:
    """The next issue of a ticket that is locked."""
    await tx.run(
        """
        UPDATE ticket SET issue = $2, barcode_hash = $3, key_number = $4, holder_name = $5,
               holder_email = $6, version = version + 1, updated_at = $7
         WHERE id = $1
        """,
        ticket.id,
        ticket.issue,
        barcode_hash,
        ticket.key_number,
        ticket.holder_name,
        ticket.holder_email,
        tx.now,
    )


class Revocation(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    event_id: UUID
    ticket_id: UUID
    issue: int | None
    """Only this barcode; None for the ticket itself."""
    barcode_hash: str | None
    """The hash of that barcode, in hex."""
    reason: str


async def insert_revocations(tx: Transaction, revocations: Sequence[Revocation]) -> None:
    await tx.run(
        """
        INSERT INTO ticket_revocation (organization_id, id, event_id, ticket_id, issue, barcode_hash,
                                       reason, at)
        SELECT current_organization(), id, event_id, ticket_id, issue, decode(barcode_hash, 'hex'),
               reason, $2
          FROM json_to_recordset($1::json)
            AS new (id uuid, event_id uuid, ticket_id uuid, issue smallint, barcode_hash text,
                    reason text)
        """,
        json_text(revocations),
        tx.now,
    )
