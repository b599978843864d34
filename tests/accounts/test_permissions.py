"""Which role may do what: the table, and that every route of the app obeys it."""

import re
from dataclasses import dataclass
from secrets import token_bytes
from typing import Any, get_args
from uuid import uuid4

import httpx
import pytest
from litestar.routes import HTTPRoute, WebSocketRoute
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.seating.api_support import QUESTIONS
from tests.support import Tenant
from voelgoed.accounts.model import Role, Session
from voelgoed.accounts.rules.permissions import (
    EVERYTHING,
    MANAGED_BY,
    PERMISSIONS,
    Permission,
    may,
    may_manage,
)
from voelgoed.accounts.rules.sessions import AGE_MAX, SECRET_BYTES, session_token, token_hash
from voelgoed.accounts.store.sessions import insert_session
from voelgoed.http import create_app
from voelgoed.infra.ids import new_id
from voelgoed.services import Services

ROLES: tuple[Role, ...] = get_args(Role)
DECIDED_INSIDE: set[Permission] = {"events.read_unpublished", "seats.sell_withheld"}
"""By the routes that read events, and by those that look at or take seats."""
ABOUT: dict[str, str] = {
    "admissions": r"/scanning/.*(admissions|annulment|alerts|conflicts|recoveries|tickets|outlook|resets|/scans$)"
    r"|/reports/attendance",
    "devices": r"/scanning/(devices|pairings|recoveries|events/.*/manifest-status)",
    "gates": r"/(gates|scan-policy|occupancy)",
    "event_keys": r"/events/.*/keys$",
    "seats": r"/(seat|layout|availability|best-available|selection-checks|zones)",
    "layouts": r"/(layout|seating-report)",
    "seating_policy": r"/seating-policy",
    "holds": r"/(holds|seats)",
    "orders": r"/(orders|tickets)",
    "sales": r"/(orders|payments|tickets|reports|exports)",
    "payment_accounts": r"/payment-accounts",
    "tickets": r"/ticket-imports",
    "ticket_types": r"/(ticket-types|prices)",
}
"""What stands in the paths of a subject that is more than a collection of that name."""


@pytest.mark.parametrize("role", ["owner", "admin"])
def test_owners_and_admins_may_do_everything(role: Role) -> None:
    assert PERMISSIONS[role] == EVERYTHING == frozenset(get_args(Permission))


def test_every_role_has_a_row_in_both_tables() -> None:
    assert set(PERMISSIONS) == set(MANAGED_BY) == set(ROLES)


@pytest.mark.parametrize(
    "permission",
    [
        "users.write",
        "memberships.write",
        "organization.write",
        "payment_accounts.write",
        "seating_policy.write",
        "audit.read",
    ],
)
def test_only_owners_and_admins_manage_people_policy_and_payment_and_read_the_audit_log(
    permission: Permission,
) -> None:
    assert {role for role in ROLES if may(role, permission)} == {"owner", "admin"}


def test_customers_see_public_things_and_hold_and_buy_and_change_nothing_else() -> None:
    assert PERMISSIONS["customer"] == {
        "events.read",
        "holds.read",
        "holds.write",
        "orders.read",
        "orders.write",
        "organization.read",
        "seats.read",
        "ticket_types.read",
        "venues.read",
    }


def test_everybody_sees_ticket_types_and_who_arranges_events_writes_them() -> None:
    assert all(may(role, "ticket_types.read") for role in ROLES)
    writers = {role for role in ROLES if may(role, "ticket_types.write")}
    assert writers == {"owner", "admin", "organiser"}


def test_everybody_but_customers_sees_drafts() -> None:
    sees_drafts = {role for role in ROLES if may(role, "events.read_unpublished")}
    assert sees_drafts == set(ROLES) - {"customer"}


def test_a_gate_supervisor_runs_gates_and_their_devices_and_writes_nothing_else() -> None:
    writes = {name for name in PERMISSIONS["gate_supervisor"] if name.endswith(".write")}
    assert writes == {"admissions.write", "devices.write", "gates.write"}


def test_the_box_office_blocks_and_sells_seats_and_writes_nothing_else() -> None:
    writes = {name for name in PERMISSIONS["box_office"] if name.endswith(".write")}
    assert writes == {"holds.write", "orders.write", "sales.write"}
    for permission in ("sales.read", "sales.write", "seats.block", "seats.sell_withheld"):
        sellers = {role for role in ROLES if may(role, permission)}
        assert sellers == {"owner", "admin", "organiser", "box_office"}


def test_who_has_no_role_may_do_nothing() -> None:
    assert not any(may(None, permission) for permission in EVERYTHING)
    assert not any(may_manage(None, role) for role in ROLES)


def test_owners_manage_everybody_and_admins_everybody_but_owners() -> None:
    assert MANAGED_BY["owner"] == set(ROLES)
    assert MANAGED_BY["admin"] == set(ROLES) - {"owner"}


@pytest.mark.parametrize("role", sorted(set(ROLES) - {"owner", "admin"}))
def test_nobody_else_manages_anybody(role: Role) -> None:
    assert MANAGED_BY[role] == frozenset()


def test_managing_a_change_of_role_needs_both_roles() -> None:
    assert may_manage("admin", "customer", "admin")
    assert not may_manage("admin", "admin", "owner")
    assert not may_manage("admin", "owner", "admin")


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    opt: dict[str, Any]

    @property
    def address(self) -> str:
        """With ids that nobody has."""
        path = re.sub(r"\{\w+:uuid\}", lambda _: str(uuid4()), self.path)
        return re.sub(r"\{\w+:str\}", "nobody@acme.example", path)

    async def send(self, client: httpx.AsyncClient, **headers: str) -> httpx.Response:
        body = {} if self.method in ("POST", "PUT", "PATCH") else None
        return await client.request(self.method, self.address, json=body, headers=headers)

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def our_calls(services: Services) -> list[Call]:
    """Without what the framework adds: OPTIONS and the pages that show the OpenAPI document."""
    return [
        Call(method, route.path, dict(handler.opt))
        for route in create_app(services).app.routes
        if isinstance(route, HTTPRoute)
        for handler in route.route_handlers
        if not handler.fn.__module__.startswith("litestar.")
        for method in sorted(handler.http_methods)
    ]


def test_every_route_says_whom_it_is_for(services: Services) -> None:
    declared = [
        call.opt.get("public") is True or "permission" in call.opt or "device" in call.opt
        for call in our_calls(services)
    ]
    assert len(declared) > 30
    assert all(declared), [str(call) for call in our_calls(services) if not call.opt]


def test_every_route_that_needs_a_permission_needs_one_of_the_table(services: Services) -> None:
    named = {call.opt.get("permission") for call in our_calls(services)} - {None}
    assert named == EVERYTHING - DECIDED_INSIDE


def test_reading_needs_a_reading_permission_and_the_rest_a_writing_one(services: Services) -> None:
    for call in our_calls(services):
        if permission := call.opt.get("permission"):
            subject, _, kind = permission.partition(".")
            changes = call.method != "GET" and call.path not in QUESTIONS
            assert kind in ({"write", "block", "import"} if changes else {"read", "import"}) or (
                # Asked by who writes one.
                call.path in ("/api/layout-checks", "/api/layout-readings") and kind == "write"
            ), call
            assert re.search(ABOUT.get(subject, f"/{subject}"), call.path), call


def test_any_logged_in_caller_reaches_their_own_session_and_nothing_else(
    services: Services,
) -> None:
    calls = [call for call in our_calls(services) if "permission" in call.opt]
    assert {str(call) for call in calls if call.opt["permission"] is None} == {
        "GET /api/session",
        "DELETE /api/session",
        "GET /api/sessions",
        "DELETE /api/sessions",
        "PUT /api/session/password",
    }


def test_strangers_change_nothing_but_log_in_register_pair_and_tell_what_they_signed(
    services: Services,
) -> None:
    public = [call for call in our_calls(services) if call.opt.get("public")]
    assert {str(call) for call in public if call.method not in ("GET", "HEAD")} == {
        "POST /api/sessions",
        "POST /api/registrations",
        "POST /api/scanning/pair",
        "POST /api/payment-notices/{provider:str}/{organization_id:uuid}",
    }


async def test_every_documented_operation_is_among_the_routes_that_were_walked(
    client: httpx.AsyncClient, services: Services
) -> None:
    document = (await client.get("/api/openapi.json")).json()
    documented = {
        (method.upper(), path) for path, methods in document["paths"].items() for method in methods
    }
    walked = {(call.method, re.sub(r":\w+\}", "}", call.path)) for call in our_calls(services)}
    assert len(documented) > 30
    assert documented <= walked


def test_every_websocket_is_for_logged_in_callers(services: Services) -> None:
    sockets = [r for r in create_app(services).app.routes if isinstance(r, WebSocketRoute)]
    assert [dict(socket.route_handler.opt) for socket in sockets] == [{"permission": None}]


async def test_every_route_lets_a_role_through_exactly_when_the_table_does(
    client: httpx.AsyncClient, services: Services, tenant: Tenant
) -> None:
    surprises: list[str] = []
    for call in our_calls(services):
        if "permission" not in call.opt:
            continue
        for role in ROLES:
            permission = call.opt["permission"]
            allowed = permission is None or may(role, permission)
            token = await a_token(services, tenant, role)  # a new one: some calls log out
            answer = await call.send(client, authorization=f"Bearer {token}")
            if verdict(answer) != ("let through" if allowed else "permission_denied"):
                surprises.append(f"{call} as {role}: {answer.status_code} {answer.text}")
    assert surprises == []


async def test_every_route_that_is_not_public_turns_strangers_away(
    client: httpx.AsyncClient, services: Services
) -> None:
    calls = [call for call in our_calls(services) if not call.opt.get("public")]
    for call in calls:
        wanted = "invalid_device_token" if "device" in call.opt else "unauthorized"
        assert verdict(await call.send(client)) == wanted, call


async def test_what_is_for_devices_is_for_nobody_else(
    client: httpx.AsyncClient, services: Services, tenant: Tenant
) -> None:
    calls = [call for call in our_calls(services) if "device" in call.opt]
    assert len(calls) >= 4
    for call in calls:
        answer = await call.send(client, **tenant.as_("owner"))
        assert verdict(answer) == "invalid_device_token", call


async def test_public_routes_ask_for_no_session(
    client: httpx.AsyncClient, services: Services
) -> None:
    for call in our_calls(services):
        if call.opt.get("public"):
            answer = verdict(await call.send(client))
            assert answer in ("let through", "webhook_signature_wrong"), call


async def test_the_websocket_turns_strangers_away(url: str) -> None:
    async with connect(f"{url.replace('http', 'ws', 1)}/api/live") as socket:
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4401, "unauthorized")


def verdict(answer: httpx.Response) -> str:
    """Any answer of the route itself, even that there is nothing, means it was reached."""
    if answer.status_code >= 500:
        return "broken"
    if answer.status_code in (401, 403) and answer.json()["error"] != "payment_not_allowed":
        return answer.json()["error"]
    return "let through"


async def a_token(services: Services, tenant: Tenant, role: Role) -> str:
    token = session_token(tenant.id, token_bytes(SECRET_BYTES))
    async with services.database.transaction(tenant.id) as tx:
        session = Session(
            id=new_id(),
            user_id=tenant.users[role],
            ip="127.0.0.1",
            user_agent="test",
            created_at=tx.now,
            last_seen_at=tx.now,
            expires_at=tx.now + AGE_MAX,
        )
        await insert_session(tx, session, token_hash(token))
    return token
