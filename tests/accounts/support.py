"""Requests that tests of log-ins have in common."""

from typing import Any

import httpx

from tests.support import PASSWORD, Tenant

WRONG = "not the right password"
NEW_PASSWORD = "a much better password"
ELSEWHERE = {"X-Forwarded-For": "203.0.113.9"}


async def log_in(
    client: httpx.AsyncClient,
    tenant: Tenant,
    headers: dict[str, str] | None = None,
    **changes: str,
) -> httpx.Response:
    """As the owner of acme, if nothing else is said."""
    given = {"organization": tenant.slug, "email": "owner@acme.example", "password": PASSWORD}
    return await client.post("/api/sessions", json=given | changes, headers=headers)


async def register(client: httpx.AsyncClient, tenant: Tenant, **changes: str) -> httpx.Response:
    given = {
        "organization": tenant.slug,
        "email": "ann@visitor.example",
        "name": "Ann",
        "password": PASSWORD,
    }
    return await client.post("/api/registrations", json=given | changes)


async def who_am_i(client: httpx.AsyncClient, token: str) -> httpx.Response:
    return await client.get("/api/session", headers={"Authorization": f"Bearer {token}"})


async def audit(client: httpx.AsyncClient, tenant: Tenant, action: str) -> list[dict[str, Any]]:
    answer = await client.get("/api/audit", params={"action": action}, headers=tenant.as_("owner"))
    return answer.json()["data"]
