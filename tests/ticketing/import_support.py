"""Builders: files of tickets sold elsewhere, sent through HTTP and worked through as the job does."""

import csv
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any
from uuid import UUID

import httpx

from tests.seating.api_support import SeatedEvent, a_config, a_seated_event
from tests.support import Tenant
from tests.ticketing.hold_support import table
from tests.ticketing.support import THREE_DAYS, made
from voelgoed.accounts.model import Role
from voelgoed.services import Services
from voelgoed.ticketing.actions.import_batch import Context
from voelgoed.ticketing.actions.import_run import Report, run_import
from voelgoed.ticketing.actions.imports import ImportJob

CSV = {"Content-Type": "text/csv"}
CONFIG = a_config(places={"Pit": 5, "Floor": 3})
"""Two rows of ten seats (A1 ... B10) in `Zone 1`, and two zones of places."""


def a_file(*rows: Mapping[str, object], columns: Sequence[str] = ()) -> bytes:
    """With a header of the columns that any of the rows has."""
    names = list(columns) or list(dict.fromkeys(name for row in rows for name in row))
    text = StringIO(newline="")
    writer = csv.DictWriter(text, names, restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def codes(count: int, start: int = 0) -> list[str]:
    return [f"TEST-0000-{number:04d}" for number in range(start, start + count)]


def seated(seat: str, **cells: object) -> dict[str, object]:
    return {"type": "Standard", "seat": seat, **cells}


def standing(zone: str = "Pit", **cells: object) -> dict[str, object]:
    return {"type": "Standing", "zone": zone, **cells}


@dataclass(frozen=True)
class Desk:
    """Whoever imports tickets of one event."""

    services: Services
    event: SeatedEvent
    client: httpx.AsyncClient

    @property
    def tenant(self) -> Tenant:
        return self.event.tenant

    @property
    def path(self) -> str:
        return f"{self.event.path}/ticket-imports"

    async def send(
        self,
        content: bytes | AsyncIterator[bytes],
        by: Role = "organiser",
        headers: Mapping[str, str] = CSV,
        **params: Any,
    ) -> httpx.Response:
        given = self.tenant.as_(by) | dict(headers)
        return await self.client.post(self.path, content=content, params=params, headers=given)

    async def sent(self, content: bytes, **params: Any) -> UUID:
        answer = await self.send(content, **params)
        assert answer.status_code == 202, answer.text
        return UUID(answer.json()["data"]["id"])

    async def run(self, import_id: UUID, report: Report = lambda *_: None) -> None:
        services = self.services
        context = Context(services.database, services.cache, services.master_key)
        await run_import(context, ImportJob(self.tenant.id, import_id), report)

    async def get(self, path: str, by: Role = "organiser", **params: Any) -> httpx.Response:
        return await self.client.get(path, params=params, headers=self.tenant.as_(by))

    async def read(self, import_id: UUID) -> dict[str, Any]:
        answer = await self.get(f"/api/ticket-imports/{import_id}")
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    async def done(self, *rows: Mapping[str, object], **params: Any) -> dict[str, Any]:
        """A file of these rows, sent and worked through."""
        return await self.file_done(a_file(*rows), **params)

    async def file_done(self, content: bytes, **params: Any) -> dict[str, Any]:
        import_id = await self.sent(content, **params)
        await self.run(import_id)
        return await self.read(import_id)

    async def faults(self, imported: Mapping[str, Any]) -> list[tuple[int, str, str]]:
        answer = await self.get(f"/api/ticket-imports/{imported['id']}/faults", limit=200)
        assert answer.status_code == 200, answer.text
        return [(each["line"], each["field"], each["message"]) for each in answer.json()["data"]]

    async def table(self, query: str, *values: object) -> list[dict[str, Any]]:
        return await table(self.services, self.tenant, query, *values)

    async def tickets(self) -> list[dict[str, Any]]:
        return await self.table("SELECT * FROM ticket ORDER BY id")

    async def taken(self) -> dict[str, int]:
        found = await self.table("SELECT name, taken FROM ticket_type")
        return {each["name"]: each["taken"] for each in found}

    async def check(self) -> None:
        """Whatever happened: seats, places and quotas say what the tickets say."""
        valid = "status IN ('active', 'scanned', 'used')"
        seats = await self.table(
            f"SELECT seat_id, hold_id AS through FROM ticket WHERE seat_id IS NOT NULL AND {valid}"
        )
        sold = await self.table(
            "SELECT seat_id, seat_hold_id AS through FROM seat_state WHERE status = 'sold'"
        )
        assert _sorted(seats) == _sorted(sold)
        places = await self.table(
            f"""SELECT zone_id, day, count(*) AS sold FROM ticket, unnest(days) AS day
                 WHERE seat_id IS NULL AND zone_id IS NOT NULL AND {valid} GROUP BY zone_id, day"""
        )
        counted = await self.table("SELECT zone_id, day, sold FROM zone_day WHERE sold > 0")
        assert _sorted(places) == _sorted(counted)
        types = await self.table(
            f"""SELECT ticket_type_id AS id, count(*) AS taken FROM ticket
                 WHERE {valid} GROUP BY ticket_type_id"""
        )
        taken = await self.table("SELECT id, taken FROM ticket_type WHERE taken > 0")
        assert _sorted(types) == _sorted(taken)


def _sorted(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return sorted(str(sorted(row.items())) for row in rows)


def counts(imported: Mapping[str, Any]) -> tuple[int, int, int]:
    """Created, unchanged, faulty."""
    assert imported["status"] == "done", imported
    assert imported["rows_read"] == imported["rows_total"]
    return imported["created"], imported["unchanged"], imported["faulty"]


async def a_desk(
    services: Services,
    client: httpx.AsyncClient,
    tenant: Tenant,
    config: dict[str, Any] | None = None,
    **event: Any,
) -> Desk:
    """Of a festival of three days with seats and standing places."""
    made_event = await a_seated_event(client, tenant, config or CONFIG, **THREE_DAYS, **event)
    await made(made_event)
    await made(made_event, name="Standing", kind="ga")
    return Desk(services, made_event, client)
