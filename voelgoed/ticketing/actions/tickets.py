"""One ticket: shown, given a new barcode, passed on to somebody else."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import msgspec

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller
from voelgoed.accounts.rules.permissions import may
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.ids import new_id
from voelgoed.infra.master_key import MasterKey
from voelgoed.ticketing.actions.event_keys import Signer, signer_for, signer_of
from voelgoed.ticketing.actions.refunds import tell_gates
from voelgoed.ticketing.actions.ticket_types import types_of
from voelgoed.ticketing.model.orders import Reissue
from voelgoed.ticketing.model.refusals import TicketNotFound, TicketNotValid
from voelgoed.ticketing.model.tickets import VALID, Ticket
from voelgoed.ticketing.store import orders, tickets
from voelgoed.ticketing.store.tickets import Revocation, SignedTicket

REISSUABLE = ("active", "scanned")


class TicketWithBarcode(msgspec.Struct, frozen=True, kw_only=True):
    ticket: Ticket
    barcode: str | None
    """What its QR code says; null for a ticket that lets nobody in."""


async def read_ticket(
    database: Database, master_key: MasterKey, caller: Caller, ticket_id: UUID
) -> TicketWithBarcode:
    async with database.transaction(caller.organization_id) as tx:
        signed = await own_ticket(tx, caller, await tickets.find_ticket(tx, ticket_id))
        return TicketWithBarcode(
            ticket=signed.ticket, barcode=await barcode_of(tx, master_key, signed)
        )


async def barcode_of(tx: Transaction, master_key: MasterKey, signed: SignedTicket) -> str | None:
    return (await barcodes_of(tx, master_key, [signed])).get(signed.ticket.id)


async def barcodes_of(
    tx: Transaction, master_key: MasterKey, several: Sequence[SignedTicket]
) -> dict[UUID, str]:
    """Of those that let somebody in, all of one event. Signed again, which gives the same text: it
    is kept nowhere."""
    good = [signed for signed in several if signed.ticket.status in VALID]
    if not good:
        return {}
    event_id = good[0].ticket.event_id
    numbers = await _type_numbers(tx, good)
    signers = {
        key_number: await signer_of(tx, master_key, event_id, key_number)
        for key_number in {signed.ticket.key_number for signed in good}
    }
    found: dict[UUID, str] = {}
    for signed in good:
        ticket = signed.ticket
        text, barcode_hash = _sign(signers[ticket.key_number], signed, numbers, ticket.issue)
        if barcode_hash != signed.barcode_hash:
            raise RuntimeError(f"ticket {ticket.id} was signed over something else than it says")
        found[ticket.id] = text
    return found


async def _type_numbers(tx: Transaction, several: Sequence[SignedTicket]) -> dict[UUID, int]:
    event_id = several[0].ticket.event_id
    types = await types_of(tx, event_id, {signed.ticket.ticket_type_id for signed in several})
    return {type_id: ticket_type.number for type_id, ticket_type in types.items()}


def _sign(
    signer: Signer, signed: SignedTicket, type_numbers: Mapping[UUID, int], issue: int
) -> tuple[str, bytes]:
    ticket = signed.ticket
    return signer.sign(
        ticket.code,
        ticket_id=ticket.id,
        issue=issue,
        ticket_type_number=type_numbers[ticket.ticket_type_id],
        zone_number=signed.zone_number,
        days=signed.days_mask,
        seat_label=ticket.seat_label or "",
    )


async def reissue(
    database: Database, master_key: MasterKey, caller: Caller, ticket_id: UUID, new: Reissue
) -> TicketWithBarcode:
    """The old barcode is worthless from now on. With a new holder the ticket is theirs."""
    async with database.transaction(caller.organization_id) as tx:
        signed = await own_ticket(tx, caller, await tickets.lock_ticket(tx, ticket_id))
        before = signed.ticket
        if before.status not in REISSUABLE:
            raise TicketNotValid(status=before.status)
        signer = await signer_for(tx, master_key, before.event_id)
        numbers = await _type_numbers(tx, [signed])
        text, barcode_hash = _sign(signer, signed, numbers, before.issue + 1)
        after = msgspec.structs.replace(
            before,
            issue=before.issue + 1,
            key_number=signer.key_number,
            holder_name=new.holder_name or before.holder_name,
            holder_email=new.holder_email or before.holder_email,
        )
        await tickets.reissue_ticket(tx, after, barcode_hash)
        revoked = Revocation(
            id=new_id(),
            event_id=before.event_id,
            ticket_id=ticket_id,
            issue=before.issue,
            barcode_hash=signed.barcode_hash.hex(),
            reason="reissued",
        )
        await tickets.insert_revocations(tx, [revoked])
        tell_gates(tx, [before])
        changes: dict[str, object] = {
            "issue": {"from": before.issue, "to": after.issue},
            "holder_name": {"from": before.holder_name, "to": after.holder_name},
            "reason": new.reason,
        }
        is_transfer = new.holder_name is not None or new.holder_email is not None
        action = "ticket_transferred" if is_transfer else "ticket_reissued"
        await record(tx, caller, action, "Ticket", ticket_id, changes)
        found = await tickets.find_ticket(tx, ticket_id)
        assert found is not None
        return TicketWithBarcode(ticket=found.ticket, barcode=text)


async def own_ticket(tx: Transaction, caller: Caller, signed: SignedTicket | None) -> SignedTicket:
    """Of one's own orders, or anybody's for who sells."""
    if signed is None:
        raise TicketNotFound()
    if may(caller.role, "sales.read"):
        return signed
    order_id = signed.ticket.order_id
    order = None if order_id is None else await orders.find_order(tx, order_id)
    if order is None or order.user_id != caller.id:
        raise TicketNotFound()
    return signed
