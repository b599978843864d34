"""Organisation B, with the most powerful credentials it has, at every address of A's."""

from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx
import msgspec
import pytest

from tests.seating.api_support import ONE, a_config, a_new_layout, a_zone
from tests.support import SOON, Tenant, a_gate, a_venue, an_event
from tests.ticketing.support import a_ticket_type
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.scanning.store.conflicts import NewConflict, put_conflicts
from voelgoed.services import Services

CSV = {"Content-Type": "text/csv"}
QUERIES = {
    "remove_entry": {"email": "friend@acme.example"},
    "search_tickets": {"search": "Anna"},
}
BODIES: dict[str, dict[str, Any]] = {
    "change_event": {"version": 1, "name": "taken over"},
    "create_gate": a_gate(code="planted"),
    "change_gate": {"version": 1, "status": "open"},
    "change_device": {"version": 1, "name": "taken over"},
    "put_scan_policy": {"version": 1, "travel_s": 0},
    "annul_admission": {"reason": "taken over"},
    "move_ticket": {"to": "used", "reason": "taken over"},
    "move_alert": {"version": 1, "to": "resolved", "note": "taken over"},
    "move_conflict": {"version": 1, "to": "dismissed", "note": "taken over"},
    "review_recovery": {"to": "rejected", "note": "taken over"},
    "move_event": {"to": "cancelled"},
    "change_membership": {"version": 1, "status": "cancelled"},
    "change_user": {"version": 1, "role": "customer"},
    "grant_membership": {"tier": "gold", "valid_from": SOON.isoformat()},
    "reset_password": {"new_password": "a password of mine"},
    "change_venue": {"version": 1, "name": "taken over"},
    "add_entry": {"email": "mallory@rival.example"},
    "create_layout": a_new_layout(name="planted"),
    "create_layout_version": a_new_layout(name="taken over"),
    "move_layout": {"to": "archived"},
    "put_event_layout": {"layout_id": "{layout_id}", "version": 1},
    "find_best_available": {"party": 2},
    "check_selection": {"seat_ids": ["A1"]},
    "check_zone_access": {"guests": ["friend@acme.example"]},
    "block_seats": {"seat_ids": ["A1"], "reason": "taken over"},
    "unblock_seats": {"seat_ids": ["A1"], "reason": "taken over"},
    "create_ticket_type": a_ticket_type(name="planted"),
    "change_ticket_type": {"version": 1, "prices": [{"amount_minor": 0}]},
    "reserve_seat": {},
    "hold_seats": {"seat_ids": ["A1"]},
    "pay_order": {"provider": "manual", "method": "cash"},
    "refund_order": {"reason": "taken over"},
    "settle_refund": {"reason": "taken over"},
    "void_ticket": {"reason": "taken over"},
    "reissue_ticket": {"reason": "taken over"},
}
"""A right body for every operation that has one and takes an id in its path."""
DEVICES = [{"device": []}]
"""What is for devices: their keys say whose they are. See tests/scanning/test_devices.py."""
TABLES = {"import_tickets": "code,type,seat\n"}
"""Where that is a file."""
ITS_OWN = {
    "put_payment_account",  # of whoever asks: its path names a provider, and nothing of anybody's
    "take_payment_notice",  # signed with the organisation's secret: see tests/ticketing/test_payments
}


@pytest.fixture
async def ids(client: httpx.AsyncClient, tenant: Tenant, services: Services) -> dict[str, str]:
    """One of everything that A has, by the name it has in a path."""

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
        content=TABLES["import_tickets"],
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
    conflict = NewConflict(
        id=uuid4(),
        event_id=UUID(event_id),
        ticket_id=UUID(ticket_id),
        scan_id=UUID(scan_id),
        winner_scan_id=UUID(scan_id),
        kind="double_entry",
        severity="critical",
    )
    async with services.database.transaction(tenant.id) as tx:
        [found] = await put_conflicts(tx, [conflict])
    return str(found.id)


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


async def send(
    client: httpx.AsyncClient,
    method: str,
    path: str,
    operation: str,
    ids: dict[str, str],
    headers: dict[str, str],
) -> httpx.Response:
    """With ids of A in the path, and where the body names one."""
    path, query = path.format_map(ids), QUERIES.get(operation)
    if operation in TABLES:
        return await client.request(
            method, path, content=TABLES[operation], params=query, headers=headers | CSV
        )
    body = body_of(method, operation, ids)
    return await client.request(method, path, json=body, params=query, headers=headers)


def body_of(method: str, operation: str, ids: dict[str, str]) -> dict[str, Any] | None:
    if method not in ("POST", "PUT", "PATCH") or operation not in BODIES:
        return None
    return {
        name: value.format_map(ids) if isinstance(value, str) else value
        for name, value in BODIES[operation].items()
    }


@pytest.fixture(scope="module")
def operations(repository: Path) -> list[tuple[str, str, str]]:
    contract = msgspec.json.decode((repository / "contracts" / "openapi.json").read_bytes())
    return [
        (method.upper(), path, operation["operationId"])
        for path, methods in contract["paths"].items()
        for method, operation in methods.items()
        if operation["operationId"] not in ITS_OWN and operation.get("security") != DEVICES
    ]


async def rows_of(tenant: Tenant, postgres: EmbeddedPostgres, database_name: str) -> dict[str, str]:
    """Everything that belongs to an organisation, as a superuser sees it."""
    admin = await asyncpg.connect(postgres.url("postgres", database_name))
    try:
        tables = await admin.fetch(
            """
            SELECT table_name FROM information_schema.columns
             WHERE table_schema = 'public' AND column_name = 'organization_id'
            """
        )
        return {
            table[0]: str(
                await admin.fetch(
                    f"SELECT * FROM {table[0]} WHERE organization_id = $1 ORDER BY 1, 2", tenant.id
                )
            )
            for table in tables
        }
    finally:
        await admin.close()


async def test_every_address_with_an_id_of_a_is_not_found_by_b_and_nothing_changes(
    client: httpx.AsyncClient,
    tenant: Tenant,
    other_tenant: Tenant,
    ids: dict[str, str],
    operations: list[tuple[str, str, str]],
    postgres: EmbeddedPostgres,
    database_name: str,
):
    before = await rows_of(tenant, postgres, database_name)
    with_ids = [operation for operation in operations if "{" in operation[1]]
    assert len(with_ids) >= 40
    for method, path, operation in with_ids:
        answer = await send(client, method, path, operation, ids, other_tenant.as_("owner"))
        assert answer.status_code == 404, (operation, answer.status_code, answer.text)
        assert answer.json()["error"].endswith("not_found")
    assert await rows_of(tenant, postgres, database_name) == before


async def test_the_same_requests_by_a_are_let_through(
    client: httpx.AsyncClient,
    tenant: Tenant,
    ids: dict[str, str],
    operations: list[tuple[str, str, str]],
):
    """The control: the 404 above is about who asks, not about a mistake in the request."""
    order = {"GET": 0, "POST": 1, "PUT": 2, "PATCH": 3, "DELETE": 4}
    with_ids = [operation for operation in operations if "{" in operation[1]]

    def turn(each: tuple[str, str, str]) -> tuple[int, bool, int]:
        method, path, operation = each
        return order[method], operation == "move_event", -len(path)  # which cancels it

    for method, path, operation in sorted(with_ids, key=turn):
        answer = await send(client, method, path, operation, ids, tenant.as_("owner"))
        assert answer.status_code < 300 or answer.status_code == 409, (operation, answer.text)


async def test_lists_and_answers_of_b_hold_nothing_of_a(
    client: httpx.AsyncClient,
    tenant: Tenant,
    other_tenant: Tenant,
    ids: dict[str, str],
    operations: list[tuple[str, str, str]],
):
    names = {"zone_id", "seat_id", "what"}  # of everybody's choice: they need not differ
    own = {value for name, value in ids.items() if name not in names}
    secrets = {*own, str(tenant.id), *map(str, tenant.users.values()), "acme"}
    readings = [path for method, path, _ in operations if method == "GET" and "{" not in path]
    assert len(readings) >= 8
    for path in readings:
        answer = await client.get(path, headers=other_tenant.as_("owner"))
        assert answer.status_code == 200
        assert not [secret for secret in secrets if secret in answer.text], path


async def test_an_id_of_a_in_a_body_is_not_found(
    client: httpx.AsyncClient, other_tenant: Tenant, ids: dict[str, str]
):
    answer = await client.post(
        "/api/events", json=an_event(ids["venue_id"]), headers=other_tenant.as_("owner")
    )
    assert (answer.status_code, answer.json()["error"]) == (404, "venue_not_found")


async def test_a_layout_or_whitelist_of_a_cannot_be_used_by_b(
    client: httpx.AsyncClient, other_tenant: Tenant, ids: dict[str, str]
):
    headers = other_tenant.as_("owner")
    venue = (await client.post("/api/venues", json=a_venue(), headers=headers)).json()["data"]
    event = await client.post("/api/events", json=an_event(venue["id"]), headers=headers)
    path = f"/api/events/{event.json()['data']['id']}/layout"
    answer = await client.put(path, json={"layout_id": ids["layout_id"]}, headers=headers)
    assert (answer.status_code, answer.json()["error"]) == (404, "layout_not_found")
    config = a_zone(a_config(), access_mode="whitelist", whitelist_id=ids["whitelist_id"])
    answer = await client.post(
        f"/api/venues/{venue['id']}/layouts", json=a_new_layout(config), headers=headers
    )
    assert (answer.status_code, answer.json()["error"]) == (422, "invalid_layout")
    [fault] = answer.json()["details"]["faults"]
    assert fault["path"] == "$.zones[0].whitelist_id"


async def test_filters_by_ids_of_a_find_nothing(
    client: httpx.AsyncClient, tenant: Tenant, other_tenant: Tenant
):
    answer = await client.get(
        f"/api/audit?actor_id={tenant.users['owner']}", headers=other_tenant.as_("owner")
    )
    assert answer.json()["data"] == []
