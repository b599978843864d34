"""Builders: they keep the arrangement of a test short."""

import socket
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from secrets import randbelow, token_bytes, token_hex
from typing import Any, Self, get_args
from uuid import UUID

import httpx
from argon2 import PasswordHasher

from voelgoed.accounts.model import Caller, Organization, Role, Session, User
from voelgoed.accounts.rules.sessions import AGE_MAX, SECRET_BYTES, session_token, token_hash
from voelgoed.accounts.store.organizations import insert_organization
from voelgoed.accounts.store.sessions import insert_session
from voelgoed.accounts.store.users import insert_user
from voelgoed.infra.clock import Clock
from voelgoed.infra.ids import new_id
from voelgoed.services import Services

MASTER_KEY_BYTES = bytes(range(32))
PASSWORD = "correct horse battery staple"
SOON = datetime(2030, 6, 1, 16, 0, tzinfo=UTC)
STOPPED_AT = SOON - timedelta(days=1)
PATIENCE_S = 60
QUICK_PASSWORD_HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


class MovableClock(Clock):
    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.ahead = timedelta()
        self._stopped_at: datetime | None = None

    def stop(self) -> Self:
        """Stand still until it is moved, so that two can do something at the same instant."""
        self._stopped_at = STOPPED_AT
        return self

    def now(self) -> datetime:
        return (self._stopped_at or super().now()) + self.ahead


@dataclass
class Tenant:
    organization: Organization
    users: dict[Role, UUID] = field(default_factory=dict)
    tokens: dict[Role, str] = field(default_factory=dict)

    @property
    def id(self) -> UUID:
        return self.organization.id

    @property
    def slug(self) -> str:
        return self.organization.slug

    def as_(self, role: Role) -> dict[str, str]:
        """Request headers of somebody with that role."""
        return {"Authorization": f"Bearer {self.tokens[role]}"}

    def caller(self, role: Role = "owner") -> Caller:
        return Caller(
            kind="user", id=self.users[role], organization_id=self.id, role=role, ip="127.0.0.1"
        )


async def a_tenant(services: Services, name: str) -> Tenant:
    """An organisation with one logged-in user of every role, all with the same password. Others of
    that name may be beside it, so its slug says more."""
    slug = f"{name}-{token_hex(6)}"
    tenant = Tenant(Organization(new_id(), slug, name.title()))
    async with services.database.transaction(tenant.id) as tx:
        await insert_organization(tx, slug, name.title())
        for role in get_args(Role):
            user = User(
                id=new_id(),
                organization_id=tenant.id,
                email=f"{role}@{name}.example",
                name=f"{name} {role}",
                role=role,
                status="active",
                version=1,
                created_at=tx.now,
                updated_at=tx.now,
            )
            await insert_user(tx, user, _password_hash())
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
            tenant.users[role], tenant.tokens[role] = user.id, token
    return tenant


def a_venue(**changes: Any) -> dict[str, Any]:
    return {"name": "Hall", "timezone": "Africa/Johannesburg", **changes}


def an_event(venue_id: str, **changes: Any) -> dict[str, Any]:
    return {
        "venue_id": venue_id,
        "name": "Concert",
        "starts_at": SOON.isoformat(),
        "ends_at": (SOON + timedelta(hours=5)).isoformat(),
        "capacity": 400,
        **changes,
    }


def a_gate(**changes: Any) -> dict[str, Any]:
    return {"code": "north-main", "name": "North Main", **changes}


def a_client(url: str, **options: Any) -> httpx.AsyncClient:
    """Of a server without TLS: to read the certificates of all the world takes a twentieth of a
    second. It waits as long as a busy machine needs."""
    return httpx.AsyncClient(base_url=url, verify=False, timeout=PATIENCE_S, **options)


def free_port() -> int:
    """Below the ports that the kernel gives to whoever connects: one of those may belong to a
    connection by the time that a server starts on it, or starts again."""
    while True:
        port = 20_000 + randbelow(12_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@cache
def _password_hash() -> str:
    return QUICK_PASSWORD_HASHER.hash(PASSWORD)
