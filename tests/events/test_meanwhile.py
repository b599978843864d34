"""What somebody else changes between our reading and our writing."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import httpx
import pytest

from tests.support import Tenant, a_gate, a_venue, an_event
from voelgoed.services import Services

WAITING = """
    SELECT EXISTS (SELECT FROM pg_stat_activity
                    WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid)))"""


class Organiser:
    def __init__(self, client: httpx.AsyncClient, tenant: Tenant, services: Services) -> None:
        self.client, self.tenant, self.services = client, tenant, services

    async def ask(self, method: str, path: str, body: Any = None) -> httpx.Response:
        headers = self.tenant.as_("owner")
        return await self.client.request(method, path, json=body, headers=headers)

    async def made(self, path: str, body: Any) -> str:
        return (await self.ask("POST", path, body)).json()["data"]["id"]

    async def during(
        self, statement: str, value: str, request: Awaitable[httpx.Response]
    ) -> tuple[int, str | None]:
        """The answer to a request that meets a change which is made but not yet committed."""
        async with self.services.database.transaction(self.tenant.id) as tx:
            await tx.connection.execute(statement, value)
            asking = asyncio.ensure_future(request)
            async with asyncio.timeout(20):
                while not await tx.connection.fetchval(WAITING):
                    assert not asking.done(), "it should be waiting for the lock"
                    await tx.connection.execute("SELECT pg_stat_clear_snapshot()")
                    await asyncio.sleep(0.005)
        answer = await asking
        return answer.status_code, answer.json().get("error") if answer.content else None


@pytest.fixture
def organiser(client: httpx.AsyncClient, tenant: Tenant, services: Services) -> Organiser:
    return Organiser(client, tenant, services)


async def test_an_event_that_is_just_published_is_not_deleted(organiser: Organiser):
    venue_id = await organiser.made("/api/venues", a_venue())
    event_id = await organiser.made("/api/events", an_event(venue_id))
    answer = await organiser.during(
        "UPDATE event SET status = 'published', version = version + 1 WHERE id = $1",
        event_id,
        organiser.ask("DELETE", f"/api/events/{event_id}"),
    )
    assert answer == (409, "event_not_draft")
    assert (await organiser.ask("GET", f"/api/events/{event_id}")).status_code == 200


async def test_an_event_at_a_venue_that_is_just_deleted(organiser: Organiser):
    venue_id = await organiser.made("/api/venues", a_venue())
    answer = await organiser.during(
        "DELETE FROM venue WHERE id = $1",
        venue_id,
        organiser.ask("POST", "/api/events", an_event(venue_id)),
    )
    assert answer == (404, "venue_not_found")


async def test_a_gate_at_an_event_that_is_just_deleted(organiser: Organiser):
    venue_id = await organiser.made("/api/venues", a_venue())
    event_id = await organiser.made("/api/events", an_event(venue_id))
    answer = await organiser.during(
        "DELETE FROM event WHERE id = $1",
        event_id,
        organiser.ask("POST", f"/api/events/{event_id}/gates", a_gate()),
    )
    assert answer == (404, "event_not_found")


async def test_an_entry_on_a_whitelist_that_is_just_deleted(organiser: Organiser):
    whitelist_id = await organiser.made("/api/whitelists", {"name": "Friends"})
    answer = await organiser.during(
        "DELETE FROM whitelist WHERE id = $1",
        whitelist_id,
        organiser.ask("POST", f"/api/whitelists/{whitelist_id}/entries", {"email": "a@b.example"}),
    )
    assert answer == (404, "whitelist_not_found")


async def test_an_event_that_was_cancelled_gets_no_new_gates(organiser: Organiser):
    venue_id = await organiser.made("/api/venues", a_venue())
    event_id = await organiser.made("/api/events", an_event(venue_id))
    await organiser.ask("POST", f"/api/events/{event_id}/transitions", {"to": "cancelled"})
    answer = await organiser.ask("POST", f"/api/events/{event_id}/gates", a_gate())
    assert (answer.status_code, answer.json()["error"]) == (409, "event_frozen")
