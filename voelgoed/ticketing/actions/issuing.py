"""A paid order becomes tickets: holds converted, seats sold, codes and barcodes made, all at once."""

from collections import Counter
from collections.abc import Mapping, Sequence
from secrets import token_bytes
from uuid import UUID

import msgspec

from voelgoed.accounts.model import Caller, NewAuditEntry
from voelgoed.infra.database import Transaction
from voelgoed.infra.ids import new_id
from voelgoed.infra.jobs import enqueue
from voelgoed.infra.master_key import MasterKey
from voelgoed.seating.actions import places, seats
from voelgoed.seating.actions.places import Places
from voelgoed.seating.actions.views import View, seat_hold_key
from voelgoed.ticketing.actions.domain_events import converted, happened
from voelgoed.ticketing.actions.event_keys import Signer, signer_for
from voelgoed.ticketing.model.holds import SeatHold
from voelgoed.ticketing.model.orders import Order, OrderLine
from voelgoed.ticketing.model.ticket_types import TicketType
from voelgoed.ticketing.rules.barcode import days_mask
from voelgoed.ticketing.rules.codes import code_from
from voelgoed.ticketing.store import holds as hold_store
from voelgoed.ticketing.store.domain_events import DomainEvent
from voelgoed.ticketing.store.tickets import NewTicket, insert_tickets

CODE_BYTES = 8
LETTER = "ticketing.order_letter"


class Letter(msgspec.Struct):
    """An order whose tickets are to be mailed."""

    organization_id: UUID
    order_id: UUID


async def convert_holds(
    tx: Transaction, view: View, holds: Sequence[SeatHold], lines: Sequence[OrderLine]
) -> None:
    """Active holds, which are locked, become sold seats and places. Raises when one has ended."""
    await sell_holds(tx, view, holds, lines)
    await hold_store.mark_converted(tx, [hold.id for hold in holds])
    drop_holds(tx, holds)


async def sell_holds(
    tx: Transaction, view: View, holds: Sequence[SeatHold], lines: Sequence[OrderLine]
) -> None:
    """Their seats, then their places."""
    ids = [hold.id for hold in holds]
    positions = [view.plan.by_id[hold.seat_id] for hold in holds if hold.seat_id is not None]
    if positions:
        await seats.sell(tx, view, positions, ids)
    wanted = [Places(line.zone_id, 1, line.days) for line in lines if line.seat_id is None]
    if wanted:
        await places.sell_places(tx, view, wanted, ids)


def drop_holds(tx: Transaction, holds: Sequence[SeatHold]) -> None:
    """From what is remembered of who holds which seat."""
    tx.drop(*(seat_hold_key(tx.organization_id, hold.seat_id) for hold in holds if hold.seat_id))


async def issue_tickets(
    tx: Transaction,
    master_key: MasterKey,
    view: View,
    order: Order,
    lines: Sequence[OrderLine],
    types: Mapping[UUID, TicketType],
) -> list[NewTicket]:
    signer = await signer_for(tx, master_key, order.event_id)
    tickets = sign_tickets(view, signer, order, lines, types)
    await insert_tickets(tx, tickets)
    return tickets


def sign_tickets(
    view: View,
    signer: Signer,
    order: Order,
    lines: Sequence[OrderLine],
    types: Mapping[UUID, TicketType],
) -> list[NewTicket]:
    return [_ticket(view, signer, order, line, types[line.ticket_type_id]) for line in lines]


async def mail_tickets(tx: Transaction, order: Order, *, mails: bool) -> None:
    if mails and order.buyer_email is not None:
        await enqueue(tx, LETTER, Letter(tx.organization_id, order.id))


def paid_events(
    tx: Transaction,
    caller: Caller,
    order: Order,
    tickets: Sequence[NewTicket],
    holds: Sequence[SeatHold],
) -> list[DomainEvent]:
    about: dict[str, object] = {
        "order_id": order.id,
        "number": order.number,
        "tickets": len(tickets),
        "total_minor": order.total_minor,
        "currency": order.currency,
        "user_id": caller.id,
    }
    paid = happened(tx, "OrderPaid", order.event_id, order.id, about)
    return [paid, *(converted(tx, hold) for hold in holds)]


def paid_deed(
    caller: Caller,
    order: Order,
    tickets: Sequence[NewTicket],
    types: Mapping[UUID, TicketType],
) -> NewAuditEntry:
    counts = Counter(types[ticket.ticket_type_id].name for ticket in tickets)
    changes: dict[str, object] = {"number": order.number, "tickets": dict(counts)}
    return NewAuditEntry(caller, "order_paid", "Order", order.id, changes)


def _ticket(
    view: View, signer: Signer, order: Order, line: OrderLine, ticket_type: TicketType
) -> NewTicket:
    ticket_id, code = new_id(), code_from(token_bytes(CODE_BYTES))
    zone_number = view.plan.zone_index[line.zone_id] + 1
    mask = days_mask(line.days, [day.date for day in view.event.days])
    _, barcode_hash = signer.sign(
        code,
        ticket_id=ticket_id,
        issue=1,
        ticket_type_number=ticket_type.number,
        zone_number=zone_number,
        days=mask,
        seat_label=line.seat_label or "",
    )
    return NewTicket(
        id=ticket_id,
        event_id=order.event_id,
        code=code,
        barcode_hash=barcode_hash,
        key_number=signer.key_number,
        ticket_type_id=line.ticket_type_id,
        order_id=order.id,
        order_line=line.line,
        hold_id=line.hold_id,
        zone_id=line.zone_id,
        seat_id=line.seat_id,
        seat_label=line.seat_label,
        days=line.days,
        zone_number=zone_number,
        days_mask=mask,
        holder_name=line.holder_name or order.buyer_name,
        holder_email=order.buyer_email,
        price_minor=line.price_minor,
        associated_membership_id=line.associated_membership_id,
    )
