"""Builders: an event that sells, a till, and people who buy."""

import hmac
import json
import time
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import uuid4

import httpx

from tests.seating.api_support import FLOOR, PIT, SeatedEvent, a_config, a_seated_event
from tests.support import Tenant
from tests.ticketing.hold_support import Customer, customers
from tests.ticketing.support import a_ticket_type
from voelgoed.accounts.model import Role
from voelgoed.services import Services

SECRET = "a-secret-of-both-of-us"
PAYMENT_PAGE = "https://pay.example/checkout"


@dataclass(frozen=True)
class Shop:
    """An event with two rows of ten seats, a pit and a floor, and a ticket type for either."""

    services: Services
    event: SeatedEvent
    seated: str
    standing: str

    @property
    def client(self) -> httpx.AsyncClient:
        return self.event.office.client

    @property
    def tenant(self) -> Tenant:
        return self.event.tenant

    async def customer(self) -> Customer:
        [customer] = await customers(self.services, self.client, self.tenant, 1)
        return customer

    async def till(self, role: Role = "box_office") -> Customer:
        return Customer(
            client=self.client,
            id=self.tenant.users[role],
            email=f"{role}@acme.example",
            organization_id=self.tenant.id,
            token=self.tenant.tokens[role],
        )

    async def holds(self, who: Customer, seats: str = "", **places: int) -> list[dict[str, Any]]:
        """Seats by name, and places in `pit` and `floor`."""
        zones = {"pit": PIT, "floor": FLOOR}
        wish = [{"zone_id": zones[name], "count": count} for name, count in places.items()]
        answer = await who.book(self.event, seat_ids=seats.split(), places=wish)
        assert answer.status_code == 201, answer.text
        return answer.json()["data"]["holds"]

    def items(self, holds: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            {
                "hold_id": hold["hold_id"],
                "ticket_type_id": self.seated if hold["seat_id"] else self.standing,
                "count": hold["places"],
            }
            for hold in holds
        ]

    async def order(
        self, who: Customer, holds: list[dict[str, Any]], key: str | None = None, **more: Any
    ) -> httpx.Response:
        body = {"items": self.items(holds), "buyer_name": "Anna Botha", **more}
        headers = {"Idempotency-Key": key} if key else {}
        return await who.ask("POST", "/api/orders", body, **headers)

    async def sold(self, seats: str = "", method: str = "cash", **places: int) -> dict[str, Any]:
        """At the till, paid."""
        till = await self.till()
        holds = await self.holds(till, seats, **places)
        payment = {"provider": "manual", "method": method}
        answer = await self.order(till, holds, payment=payment)
        assert answer.status_code == 201, answer.text
        return answer.json()["data"]

    async def pending(self, who: Customer, seats: str = "", **places: int) -> dict[str, Any]:
        """Paid elsewhere, or not yet."""
        holds = await self.holds(who, seats, **places)
        answer = await self.order(who, holds, payment={"provider": "paylink"})
        assert answer.status_code == 201, answer.text
        return answer.json()["data"]

    async def payment_page(self) -> None:
        body = {"page_url": PAYMENT_PAGE, "secret": SECRET}
        owner = await self.till("owner")
        answer = await owner.ask("PUT", "/api/payment-accounts/paylink", body)
        assert answer.status_code == 200, answer.text

    async def tell(
        self, order: dict[str, Any], status: str = "succeeded", secret: str = SECRET, **more: Any
    ) -> httpx.Response:
        """As the payment page does."""
        payment = order["payments"][-1]
        notice = {
            "delivery_id": str(uuid4()),
            "payment_id": payment["id"],
            "status": status,
            "amount_minor": payment["amount_minor"],
            "currency": payment["currency"],
            **more,
        }
        at = int(self.services.clock.now().timestamp())
        return await self.tell_raw(json.dumps(notice).encode(), at, secret)

    async def tell_raw(self, body: bytes, at: int | None = None, secret: str = SECRET):
        at = int(time.time()) if at is None else at
        signed = hmac.new(secret.encode(), f"{at}.".encode() + body, sha256).hexdigest()
        return await self.client.post(
            f"/api/payment-notices/paylink/{self.tenant.id}",
            content=body,
            headers={"X-Signature": f"t={at},v1={signed}", "Content-Type": "application/json"},
        )

    async def read(self, order: dict[str, Any]) -> dict[str, Any]:
        till = await self.till()
        answer = await till.ask("GET", f"/api/orders/{order['order']['id']}")
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]


async def a_shop(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> Shop:
    config = a_config(places={"Pit": 10, "Floor": 10})
    event = await a_seated_event(client, tenant, config)
    types = f"{event.path}/ticket-types"
    seated = await event.office.make(types, a_ticket_type())
    ga = a_ticket_type(
        name="Standing", kind="ga", entitlement="ga_standing", prices=[{"amount_minor": 8_000}]
    )
    standing = await event.office.make(types, ga)
    return Shop(services, event, seated["id"], standing["id"])


SOUND = {
    "a seat with two live holders": """
        SELECT seat_id FROM seat_hold JOIN event ON event.id = event_id
         WHERE seat_hold.status = 'active' AND held_until > $1 AND seat_id IS NOT NULL
         GROUP BY event_id, seat_id HAVING count(*) > 1""",
    "a sold seat without its ticket": """
        SELECT seat_id FROM seat_state AS seat WHERE status = 'sold' AND NOT EXISTS (
            SELECT 1 FROM ticket WHERE ticket.event_id = seat.event_id
               AND ticket.seat_id = seat.seat_id AND ticket.hold_id = seat.seat_hold_id
               AND ticket.status IN ('active', 'scanned', 'used'))""",
    "a valid ticket without its sold seat": """
        SELECT id FROM ticket WHERE seat_id IS NOT NULL AND status IN ('active', 'scanned', 'used')
           AND NOT EXISTS (SELECT 1 FROM seat_state AS seat WHERE seat.event_id = ticket.event_id
                              AND seat.seat_id = ticket.seat_id AND seat.seat_hold_id = ticket.hold_id
                              AND (seat.status = 'sold' OR sold_when_blocked))""",
    "a converted hold without a ticket": """
        SELECT id FROM seat_hold WHERE status = 'converted' AND NOT EXISTS (
            SELECT 1 FROM ticket WHERE ticket.hold_id = seat_hold.id)""",
    "a ticket of a hold that was not converted": """
        SELECT ticket.id FROM ticket JOIN seat_hold ON seat_hold.id = hold_id
         WHERE seat_hold.status <> 'converted'""",
    "a ticket without order": """
        SELECT id FROM ticket WHERE order_id IS NULL AND external_reference IS NULL""",
    "a paid order without its tickets": """
        SELECT id FROM ticket_order AS sale WHERE status = 'paid' AND
            (SELECT count(*) FROM ticket WHERE order_id = sale.id) <>
            (SELECT count(*) FROM order_line WHERE order_id = sale.id)""",
    "a payment that bought nothing and is not to be given back": """
        SELECT payment.id FROM payment JOIN ticket_order AS sale ON sale.id = order_id
         WHERE payment.status = 'succeeded'
           AND sale.status NOT IN ('paid', 'partially_refunded')""",
    "money that was given back by nobody": """
        SELECT id FROM ticket_order AS sale WHERE refunded_minor > (
            SELECT coalesce(sum(refunded_minor + refund_due_minor), 0) FROM payment
             WHERE order_id = sale.id)""",
    "a paid order that nobody paid": """
        SELECT id FROM ticket_order AS sale WHERE status = 'paid' AND total_minor > 0 AND NOT EXISTS (
            SELECT 1 FROM payment WHERE order_id = sale.id AND status = 'succeeded')""",
    "places sold that are not the tickets'": """
        SELECT zone_id, day, sold FROM zone_day WHERE sold <> (
            SELECT count(*) FROM ticket WHERE ticket.event_id = zone_day.event_id
               AND ticket.zone_id = zone_day.zone_id AND seat_id IS NULL
               AND status IN ('active', 'scanned', 'used') AND zone_day.day = ANY(days))""",
    "places held that are not the holds'": """
        SELECT zone_id, day, held FROM zone_day WHERE held <> (
            SELECT coalesce(sum(places), 0) FROM place_hold
             WHERE place_hold.event_id = zone_day.event_id
               AND place_hold.zone_id = zone_day.zone_id AND zone_day.day = ANY(days))""",
    "quotas that are not the orders' and tickets'": """
        SELECT id, taken FROM ticket_type WHERE taken <>
            (SELECT count(*) FROM ticket WHERE ticket_type_id = ticket_type.id
                AND status IN ('active', 'scanned', 'used')) +
            (SELECT count(*) FROM order_line JOIN ticket_order ON ticket_order.id = order_id
              WHERE ticket_type_id = ticket_type.id AND ticket_order.status = 'pending')""",
}
"""What must never be in the tables, by what it would be."""


async def require_sound(services: Services, tenant: Tenant) -> None:
    async with services.database.transaction(tenant.id) as tx:
        for what, query in SOUND.items():
            now = [tx.now] if "$1" in query else []
            assert await tx.connection.fetch(query, *now) == [], what
