"""Selling without HTTP, through one node or several: for races and random walks."""

import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid4

import msgspec

from tests.seating.race_support import FLOOR, Stage, a_config, a_hall, a_stage
from tests.support import Tenant
from tests.ticketing.checkout_support import PAYMENT_PAGE, SECRET, require_sound
from tests.ticketing.support import a_ticket_type
from voelgoed.accounts.model import Caller
from voelgoed.infra.idempotency import IdempotencyKey
from voelgoed.services import Services
from voelgoed.ticketing.actions import hold_changes, refunds, tickets
from voelgoed.ticketing.actions.checkout import read_order
from voelgoed.ticketing.actions.order_expiry import expire_orders
from voelgoed.ticketing.actions.ticket_types import create_ticket_type
from voelgoed.ticketing.actions.tickets import TicketWithBarcode
from voelgoed.ticketing.actions.webhooks import take_notice
from voelgoed.ticketing.model.holds import Hold, NewBooking, PlacesWish
from voelgoed.ticketing.model.orders import (
    Because,
    NewItem,
    NewOrder,
    NewPayment,
    NewPaymentAccount,
    NewRefund,
    OrderDetails,
    Reissue,
)
from voelgoed.ticketing.model.ticket_types import NewTicketType
from voelgoed.ticketing.store.tickets import SignedTicket

CASH = NewPayment(provider="manual", method="cash")
ELSEWHERE = NewPayment(provider="paylink")


@dataclass(frozen=True)
class Sales:
    """One event that sells seats and a floor, as one node sees it."""

    stage: Stage
    seated: UUID
    standing: UUID

    def on(self, services: Services) -> "Sales":
        return replace(self, stage=self.stage.on(services))

    @property
    def services(self) -> Services:
        return self.stage.services

    @property
    def tenant(self) -> Tenant:
        return self.stage.tenant

    @property
    def till(self) -> Caller:
        return self.tenant.caller("box_office")

    @property
    def rival(self) -> Caller:
        """Somebody else who may hold as much as they like."""
        return self.tenant.caller("admin")

    async def hold(self, seats: str = "", floor: int = 0, by: Caller | None = None) -> list[Hold]:
        new = NewBooking(seat_ids=seats.split(), places=[PlacesWish(FLOOR, floor)] if floor else [])
        desk = self.services.holds
        booking, _ = await desk.book(by or self.till, self.stage.event_id, new, None)
        return booking.holds

    async def reserve(self, seat: str, by: Caller | None = None) -> Hold:
        """One seat by itself, whatever it leaves alone."""
        desk, event_id = self.services.holds, self.stage.event_id
        booking, _ = await desk.reserve(by or self.till, event_id, seat, "web")
        return booking.holds[0]

    async def order(
        self,
        holds: Sequence[Hold],
        payment: NewPayment | None = None,
        by: Caller | None = None,
        once: IdempotencyKey | None = None,
    ) -> OrderDetails:
        items = [
            NewItem(
                hold_id=hold.hold_id,
                ticket_type_id=self.seated if hold.seat_id else self.standing,
                count=hold.places,
            )
            for hold in holds
        ]
        new = NewOrder(items=items, buyer_name="Anna Botha", payment=payment)
        return await self.services.checkout.place(by or self.till, new, once)

    async def sell(self, seats: str = "", floor: int = 0) -> OrderDetails:
        return await self.order(await self.hold(seats, floor), CASH)

    async def pending(self, seats: str = "", floor: int = 0) -> OrderDetails:
        """Being paid elsewhere."""
        return await self.order(await self.hold(seats, floor), ELSEWHERE)

    async def pay(self, order: OrderDetails, payment: NewPayment = CASH) -> OrderDetails:
        return await self.services.checkout.pay(self.till, order.order.id, payment)

    async def tell(
        self, order: OrderDetails, status: str = "succeeded", delivery: str = "", **more: Any
    ) -> str:
        """As the payment page does; gives what came of it."""
        payment = order.payments[-1]
        notice = {
            "delivery_id": delivery or str(uuid4()),
            "payment_id": str(payment.id),
            "status": status,
            "amount_minor": payment.amount_minor,
            "currency": payment.currency,
            **more,
        }
        body = json.dumps(notice).encode()
        at = int(self.services.clock.now().timestamp())
        signed = hmac.new(SECRET.encode(), f"{at}.".encode() + body, sha256).hexdigest()
        headers = {"x-signature": f"t={at},v1={signed}"}
        checkout = self.services.checkout
        return (await take_notice(checkout, self.tenant.id, "paylink", headers, body)).outcome

    async def release(self, hold: Hold) -> None:
        services = self.services
        await hold_changes.release_hold(
            services.database, services.cache, services.holds.registry, self.till, hold.hold_id
        )

    async def extend(self, hold: Hold) -> Hold:
        services = self.services
        return await hold_changes.extend_hold(
            services.database, services.cache, services.holds.registry, self.till, hold.hold_id
        )

    async def cancel(self, order: OrderDetails) -> OrderDetails:
        return await refunds.cancel(self.services.checkout, self.till, order.order.id)

    async def refund(
        self, order: OrderDetails | UUID, ticket_ids: list[UUID] | None = None
    ) -> OrderDetails:
        new = NewRefund(reason="ill", ticket_ids=ticket_ids)
        order_id = order if isinstance(order, UUID) else order.order.id
        return await refunds.refund(self.services.checkout, self.till, order_id, new)

    async def void(self, ticket_id: UUID) -> SignedTicket:
        because = Because(reason="stolen")
        return await refunds.void_ticket(self.services.checkout, self.till, ticket_id, because)

    async def reissue(self, ticket_id: UUID) -> TicketWithBarcode:
        services, new = self.services, Reissue(reason="lost")
        return await tickets.reissue(
            services.database, services.master_key, self.till, ticket_id, new
        )

    async def sweep(self) -> int:
        services = self.services
        return await hold_changes.sweep_all(
            services.database, services.cache, services.holds.registry
        )

    async def expire(self) -> int:
        return await expire_orders(self.services.database)

    async def read(self, order: OrderDetails) -> OrderDetails:
        return await read_order(self.services.database, self.till, order.order.id)

    async def require_sound(self) -> None:
        await self.stage.require_sound()
        await require_sound(self.services, self.tenant)


async def sales(
    services: Services, tenant: Tenant, seats: int = 60, floor: int = 1_000, **types: Any
) -> Sales:
    """Seats A1, A2, ... in one row, and a floor; `types` is about the ticket types."""
    zones = [*a_hall(seats)["zones"], a_config(floor=floor)["zones"][2]]
    stage = await a_stage(services, tenant, {"zones": zones})
    await stage.put({"seating_overrides": {"orphan_avoidance_strict": False}}, version=1)
    seated = a_ticket_type(**types)
    standing = a_ticket_type(
        name="Standing",
        kind="ga",
        entitlement="ga_standing",
        prices=[{"amount_minor": 8_000}],
        **types,
    )
    made = [
        await create_ticket_type(
            services.database,
            services.cache,
            stage.caller,
            stage.event_id,
            msgspec.convert(body, NewTicketType),
            None,
        )
        for body in (seated, standing)
    ]
    account = NewPaymentAccount(page_url=PAYMENT_PAGE, secret=SECRET)
    providers = services.checkout.providers
    await providers.put_account(services.database, stage.caller, "paylink", account)
    return Sales(stage, made[0].id, made[1].id)
