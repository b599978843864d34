"""Builders: people who hold seats through HTTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from secrets import token_bytes
from typing import Any
from uuid import UUID

import httpx

from tests.conftest import serving
from tests.seating.api_support import SeatedEvent
from tests.seating.race_support import a_node
from tests.support import MovableClock, Tenant, a_client
from voelgoed.accounts.model import Caller, Session, User
from voelgoed.accounts.rules.sessions import AGE_MAX, SECRET_BYTES, session_token, token_hash
from voelgoed.accounts.store.sessions import insert_session
from voelgoed.accounts.store.users import insert_user
from voelgoed.infra.ids import new_id
from voelgoed.services import Services


@dataclass(frozen=True)
class Customer:
    """Somebody with an account of their own."""

    client: httpx.AsyncClient
    id: UUID
    token: str
    email: str
    organization_id: UUID

    @property
    def caller(self) -> Caller:
        """For who asks the desk itself."""
        return Caller(
            kind="user",
            id=self.id,
            organization_id=self.organization_id,
            role="customer",
            ip="127.0.0.1",
        )

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        return await self.client.request(method, path, json=body, headers=self.headers | headers)

    async def reserve(self, event: SeatedEvent, seat: str, **body: Any) -> httpx.Response:
        return await self.ask("POST", f"{event.path}/seats/{seat}/reserve", body)

    async def book(self, event: SeatedEvent, key: str | None = None, **wish: Any) -> httpx.Response:
        headers = {"Idempotency-Key": key} if key else {}
        return await self.ask("POST", f"{event.path}/holds", wish, **headers)

    async def held(self, event: SeatedEvent, seat: str) -> dict[str, Any]:
        answer = await self.reserve(event, seat)
        assert answer.status_code == 201, answer.text
        return answer.json()["data"]

    async def holds(self) -> list[dict[str, Any]]:
        return (await self.ask("GET", "/api/holds")).json()["data"]

    async def release(self, hold_id: str) -> httpx.Response:
        return await self.ask("DELETE", f"/api/holds/{hold_id}")

    async def extend(self, hold_id: str) -> httpx.Response:
        return await self.ask("POST", f"/api/holds/{hold_id}/extension")

    def at(self, client: httpx.AsyncClient) -> "Customer":
        """The same person through another node."""
        return replace(self, client=client)


@dataclass(frozen=True)
class Shop:
    """A node that answers."""

    services: Services
    client: httpx.AsyncClient
    url: str


@asynccontextmanager
async def a_shop(
    database_url: str, clock: MovableClock, redis_url: str | None = None, connections: int = 10
) -> AsyncIterator[Shop]:
    # A connection is given up before the server does, however long the others take.
    limits = httpx.Limits(max_connections=100, keepalive_expiry=1)
    async with (
        a_node(database_url, clock, redis_url, connections) as services,
        serving(services) as url,
        a_client(url, limits=limits) as client,
    ):
        yield Shop(services, client, url)


async def customers(
    services: Services, client: httpx.AsyncClient, tenant: Tenant, count: int
) -> list[Customer]:
    """Logged in; each may hold ten seats."""
    found: list[Customer] = []
    async with services.database.transaction(tenant.id) as tx:
        for _ in range(count):
            user = User(
                id=new_id(),
                organization_id=tenant.id,
                email=f"{new_id()}@people.example",
                name="Somebody",
                role="customer",
                status="active",
                version=1,
                created_at=tx.now,
                updated_at=tx.now,
            )
            await insert_user(tx, user, "none")
            token = session_token(tenant.id, token_bytes(SECRET_BYTES))
            session = Session(
                id=new_id(),
                user_id=user.id,
                ip="127.0.0.1",
                user_agent="test",
                created_at=tx.now,
                last_seen_at=tx.now,
                expires_at=tx.now + AGE_MAX,
            )
            await insert_session(tx, session, token_hash(token))
            found.append(Customer(client, user.id, token, user.email, tenant.id))
    return found


async def table(
    services: Services, tenant: Tenant, query: str, *values: object
) -> list[dict[str, Any]]:
    """Straight from the tables."""
    async with services.database.transaction(tenant.id) as tx:
        return [dict(row) for row in await tx.connection.fetch(query, *values)]


async def state(services: Services, tenant: Tenant) -> dict[str, list[dict[str, Any]]]:
    """All that a hold changes, but for what is on record about who tried."""
    return {
        name: await table(services, tenant, query)
        for name, query in (
            ("holds", "SELECT * FROM seat_hold ORDER BY id"),
            ("seats", "SELECT * FROM seat_state ORDER BY event_id, position"),
            ("places", "SELECT * FROM place_hold ORDER BY event_id, zone_id, hold_id"),
            ("counters", "SELECT * FROM zone_day WHERE held + sold > 0 ORDER BY zone_id, day"),
            ("limits", "SELECT * FROM rate_limit WHERE key LIKE 'hold:%' ORDER BY key"),
            ("events", "SELECT * FROM domain_event ORDER BY id"),
            ("kept", "SELECT * FROM idempotency_key ORDER BY key"),
        )
    }


async def heard(services: Services, tenant: Tenant) -> None:
    """Whatever was to be forgotten because of earlier changes has been: messages keep their order."""
    key = f"heard:{new_id()}"
    services.cache.put_hot(key, key, ttl_s=60)
    async with asyncio.timeout(10):
        await services.live.is_idle()
        services.live.post_dropped_keys(tenant.id, [key])
        while services.cache.hot(key, str) is not None:
            await asyncio.sleep(0.005)
