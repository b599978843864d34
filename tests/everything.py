"""An organisation with one of everything: what others must never see or change."""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx

from tests.seating.api_support import ONE, a_new_layout
from tests.support import SOON, Tenant, a_gate, a_venue, an_event
from tests.ticketing.support import a_ticket_type
from voelgoed.scanning.model.conflicts import Conflict
from voelgoed.scanning.store.offline import SyncRows, write_plan
from voelgoed.services import Services

CSV = {"Content-Type": "text/csv"}
EMPTY_TABLE = "code,type,seat\n"


async def one_of_everything(
    client: httpx.AsyncClient, tenant: Tenant, services: Services
) -> dict[str, str]:
    """The id of each, by the name it has in a path."""

    async def make(path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = await client.post(path, json=body, headers=tenant.as_("owner"))
        assert answer.status_code in (200, 201), answer.text
        return answer.json()["data"]

    venue = await make("/api/venues", a_venue())
    event = await make("/api/events", an_event(venue["id"]))
    gate = await make(f"/api/events/{event['id']}/gates", a_gate())
    user_id = str(tenant.users["customer"])
    member = await make(
        f"/api/users/{user_id}/memberships", {"tier": "gold", "valid_from": SOON.isoformat()}
    )
    whitelist = await make("/api/whitelists", {"name": "friends"})
    await make(f"/api/whitelists/{whitelist['id']}/entries", {"email": "friend@acme.example"})
    layout = await make(f"/api/venues/{venue['id']}/layouts", a_new_layout())
    other = await make(f"/api/layouts/{layout['id']}/versions", a_new_layout(status="draft"))
    answer = await client.put(
        f"/api/events/{event['id']}/layout",
        json={"layout_id": layout["id"]},
        headers=tenant.as_("owner"),
    )
    assert answer.status_code == 200, answer.text
    ticket_type = await make(f"/api/events/{event['id']}/ticket-types", a_ticket_type())
    await make(f"/api/events/{event['id']}/transitions", {"to": "published"})
    sold = await make(f"/api/events/{event['id']}/holds", {"seat_ids": ["B1"]})
    items = [{"hold_id": sold["holds"][0]["hold_id"], "ticket_type_id": ticket_type["id"]}]
    cash = {"provider": "manual", "method": "cash"}
    order = await make("/api/orders", {"items": items, "buyer_name": "Anna", "payment": cash})
    hold = await make(f"/api/events/{event['id']}/seats/A1/reserve", {})
    pairing = await make("/api/scanning/pairings", {"gate_id": gate["id"], "name": "iPad"})
    token = {"pairing_token": pairing["pairing_token"]}
    paired = await client.post("/api/scanning/pair", json=token)
    assert paired.status_code == 201, paired.text
    scan = {
        "ticket_code": "0000-0000-0000",
        "device_id": paired.json()["device_id"],
        "scanned_at": services.clock.now().isoformat(),
    }
    key = {"Authorization": f"Bearer {paired.json()['api_key']}"}
    scanned = await client.post("/api/scans", json=scan, headers=key)
    assert scanned.status_code == 404, scanned.text
    await services.watch.is_idle()
    path = f"/api/scanning/events/{event['id']}/alerts"
    [alert] = (await client.get(path, headers=tenant.as_("owner"))).json()["data"]
    file = a_file(paired.json()["device_id"], gate["code"], services.clock.now())
    recovered = await make("/api/scanning/recoveries", file)
    ticket_id = order["tickets"][0]["id"]
    conflict_id = await a_conflict(
        services, tenant, event["id"], ticket_id, scanned.json()["scan_id"]
    )
    imported = await client.post(
        f"/api/events/{event['id']}/ticket-imports",
        content=EMPTY_TABLE,
        headers=tenant.as_("owner") | CSV,
    )
    assert imported.status_code == 202, imported.text
    await services.live.is_idle()  # or what A hears of its own doing is numbered later
    return {
        "import_id": imported.json()["data"]["id"],
        "what": "tickets.csv",
        "hold_id": hold["hold_id"],
        "device_id": paired.json()["device_id"],
        "scan_id": scanned.json()["scan_id"],
        "alert_id": alert["id"],
        "conflict_id": conflict_id,
        "batch_id": recovered["batch_id"],
        "order_id": order["order"]["id"],
        "payment_id": order["payments"][0]["id"],
        "ticket_id": ticket_id,
        "venue_id": venue["id"],
        "event_id": event["id"],
        "gate_id": gate["id"],
        "user_id": user_id,
        "membership_id": member["membership"]["id"],
        "whitelist_id": whitelist["id"],
        "layout_id": layout["id"],
        "other_id": other["id"],
        "zone_id": ONE,
        "seat_id": "A1",
        "ticket_type_id": ticket_type["id"],
    }


async def a_conflict(
    services: Services, tenant: Tenant, event_id: str, ticket_id: str, scan_id: str
) -> str:
    """Of a scan with itself, for the event is not live."""
    conflict = Conflict(
        id=uuid4(),
        event_id=UUID(event_id),
        ticket_id=UUID(ticket_id),
        scan_id=UUID(scan_id),
        winner_scan_id=UUID(scan_id),
        kind="double_entry",
        severity="critical",
        state="open",
        detected_at=services.clock.now(),
        reviewed_by_id=None,
        reviewed_at=None,
        note="",
        version=1,
    )
    async with services.database.transaction(tenant.id) as tx:
        await write_plan(tx, SyncRows(conflicts=[conflict]))
    return str(conflict.id)


def a_file(device_id: str, gate_code: str, now: datetime) -> dict[str, Any]:
    """Of what a device could not send."""
    scan = {
        "scan_id": str(uuid4()),
        "ticket_id": None,
        "barcode_hash": "sha256:" + "0" * 64,
        "scanned_at": now.isoformat(),
        "gate_id": gate_code,
        "outcome": "invalid",
        "signature": "HMAC-SHA256=" + "0" * 64,
        "offset_seconds": 0,
    }
    return {"device_id": device_id, "exported_at": now.isoformat(), "scans": [scan]}


class Rows:
    """Everything that belongs to an organisation, by table, as a superuser sees it."""

    def __init__(
        self, superuser: "asyncpg.Connection[asyncpg.Record]", organization_id: UUID
    ) -> None:
        self.superuser = superuser
        self.organization_id = organization_id
        self._query = ""

    async def read(self) -> dict[str, str]:
        if not self._query:
            self._query = await self._query_of_all_tables()
        return dict(await self.superuser.fetch(self._query, self.organization_id))

    async def _query_of_all_tables(self) -> str:
        tables = await self.superuser.fetch(
            """
            SELECT table_name, column_name FROM information_schema.columns
             WHERE table_schema = 'public'
               AND (column_name = 'organization_id'
                    OR (table_name, column_name) = ('organization', 'id'))
            """
        )
        return " UNION ALL ".join(
            f"""
            SELECT '{table}', coalesce(string_agg(line::text, '; ' ORDER BY line::text), '')
              FROM {table} AS line WHERE {column} = $1
            """
            for table, column in tables
        )
