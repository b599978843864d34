"""Schemathesis against a running server: whatever is sent, the answer is as documented."""

import asyncio
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncpg
import httpx
import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.schemas import APIOperation

from tests.conftest import MASTER_KEY, serving
from tests.prove.length import IS_FULL, examples
from tests.seating.api_support import (
    ONE,
    Office,
    SeatedEvent,
    a_config,
    a_new_layout,
    sell,
)
from tests.support import PATIENCE_S, SOON, Tenant, a_client, a_gate, a_tenant, a_venue, an_event
from voelgoed.config import Settings
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.services import Services, build_services, running

CONTRACT = Path(__file__).parents[2] / "contracts" / "openapi.json"
CONFIG = a_config(places={"Pit": 20})
ENDS_THE_SESSION = {"log_out", "log_out_everywhere"}

load_all_checks()
PROMISES = CHECKS.get_by_names(
    [
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
    ]
)


@dataclass
class Target:
    url: str
    tenant: Tenant
    ids: dict[str, str]
    device_key: str


@pytest.fixture(scope="module")
def target(postgres: EmbeddedPostgres) -> Iterator[Target]:
    """A server in a thread of its own, because schemathesis waits for its answers."""
    made: list[Target] = []
    ready, done = threading.Event(), threading.Event()

    async def serve() -> None:
        admin = await asyncpg.connect(postgres.url("postgres", "postgres"))
        await admin.execute("CREATE DATABASE fuzz TEMPLATE voelgoed")
        url = postgres.url(database="fuzz")
        services = build_services(Settings(), url, master_key=MASTER_KEY)
        async with running(services, with_jobs=False), serving(services) as url:
            tenant = await a_tenant(services, "acme")
            ids = await asyncio.to_thread(things, url, tenant)
            await freeze_layout(services, url, tenant, ids)
            device_key = await asyncio.to_thread(a_device, url, tenant, ids)
            made.append(Target(url, tenant, ids, device_key))
            ready.set()
            await asyncio.to_thread(done.wait)
        await admin.execute("DROP DATABASE fuzz WITH (FORCE)")
        await admin.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        assert ready.wait(60)
        yield made[0]
    finally:
        done.set()
        thread.join()


def things(url: str, tenant: Tenant) -> dict[str, str]:
    """One real thing of each kind, so that fuzzing gets past "not found"."""
    with httpx.Client(base_url=url, headers=tenant.as_("owner"), timeout=PATIENCE_S) as client:

        def make(path: str, body: dict[str, Any]) -> dict[str, Any]:
            return client.post(path, json=body).raise_for_status().json()["data"]

        venue_id = make("/api/venues", a_venue())["id"]
        event_id = make("/api/events", an_event(venue_id))["id"]
        layout_id = make(f"/api/venues/{venue_id}/layouts", a_new_layout(CONFIG))["id"]
        client.put(
            f"/api/events/{event_id}/layout", json={"layout_id": layout_id}
        ).raise_for_status()
        # The fuzzing would delete a draft, and nothing after that would be found.
        make(f"/api/events/{event_id}/transitions", {"to": "published"})
        imported = client.post(
            f"/api/events/{event_id}/ticket-imports",
            content="type,seat\n",
            headers={"Content-Type": "text/csv"},
        )
        user_id = str(tenant.users["customer"])
        membership = {"tier": "gold", "valid_from": SOON.isoformat()}
        return {
            "venue_id": venue_id,
            "event_id": event_id,
            "gate_id": make(f"/api/events/{event_id}/gates", a_gate())["id"],
            "user_id": user_id,
            "membership_id": make(f"/api/users/{user_id}/memberships", membership)["membership"][
                "id"
            ],
            "whitelist_id": make("/api/whitelists", {"name": "friends"})["id"],
            "layout_id": layout_id,
            "other_id": make(f"/api/venues/{venue_id}/layouts", a_new_layout())["id"],
            "zone_id": ONE,
            "seat_id": "A1",
            "import_id": imported.raise_for_status().json()["data"]["id"],
            "what": "tickets.csv",
        }


def a_device(url: str, tenant: Tenant, ids: dict[str, str]) -> str:
    """Returns the key of a device; one more device is among the ids."""
    with httpx.Client(base_url=url, timeout=PATIENCE_S) as client:

        def pair() -> dict[str, str]:
            body = {"gate_id": ids["gate_id"], "name": "iPad"}
            made = client.post("/api/scanning/pairings", json=body, headers=tenant.as_("owner"))
            token = made.raise_for_status().json()["data"]["pairing_token"]
            return client.post("/api/scanning/pair", json={"pairing_token": token}).json()

        first, second = pair(), pair()
        ids["device_id"] = first["device_id"]
        ids["batch_id"] = a_recovery(client, tenant, first["device_id"])
        ids["alert_id"], ids["scan_id"] = an_alert(client, tenant, ids["event_id"], second)
        return second["api_key"]


def a_recovery(client: httpx.Client, tenant: Tenant, device_id: str) -> str:
    now = datetime.now(UTC).isoformat()
    scan = {
        "scan_id": str(uuid4()),
        "ticket_id": None,
        "barcode_hash": "sha256:" + "0" * 64,
        "scanned_at": now,
        "gate_id": a_gate()["code"],
        "outcome": "invalid",
        "signature": "HMAC-SHA256=" + "0" * 64,
        "offset_seconds": 0,
    }
    file = {"device_id": device_id, "exported_at": now, "scans": [scan]}
    path, headers = "/api/scanning/recoveries", tenant.as_("owner")
    made = client.post(path, json=file, headers=headers).raise_for_status().json()["data"]
    return made["batch_id"]


def an_alert(
    client: httpx.Client, tenant: Tenant, event_id: str, device: dict[str, str]
) -> tuple[str, str]:
    """Makes the alert and the scan after which it was raised."""
    scan = {
        "ticket_code": "0000-0000-0000",
        "device_id": device["device_id"],
        "scanned_at": datetime.now(UTC).isoformat(),
    }
    key = {"Authorization": f"Bearer {device['api_key']}"}
    scan_id = client.post("/api/scans", json=scan, headers=key).json()["scan_id"]
    path, found = f"/api/scanning/events/{event_id}/alerts", []
    while not found:
        time.sleep(0.1)
        found = client.get(path, headers=tenant.as_("owner")).raise_for_status().json()["data"]
    return found[0]["id"], scan_id


async def freeze_layout(services: Services, url: str, tenant: Tenant, ids: dict[str, str]) -> None:
    """Freezes the layout by a sale; otherwise the fuzzing would remove the event's layout."""
    async with a_client(url) as client:
        office = Office(client, tenant)
        event = SeatedEvent(office, ids["event_id"], ids["venue_id"], ids["layout_id"], CONFIG)
        await sell(services, event, "B10")


@cache
def operations() -> dict[str, APIOperation[Any, Any, Any, Any]]:
    schema = schemathesis.openapi.from_path(CONTRACT)
    schema.config.phases.coverage.enabled = (
        IS_FULL  # every edge of every field, in thousands of cases
    )
    found = schema.get_all_operations()
    return {each.ok().label: each.ok() for each in found}


def labels() -> list[str]:
    """We read the labels ourselves: to know its cases, schemathesis takes half a minute."""
    paths = msgspec.json.decode(CONTRACT.read_bytes())["paths"]
    return [f"{method.upper()} {path}" for path, methods in paths.items() for method in methods]


def test_all_operations_are_fuzzed():
    assert labels() == list(operations())


@pytest.mark.parametrize("label", labels())
def test_every_answer_is_as_documented(target: Target, label: str):
    operation = operations()[label]

    def ask(case: schemathesis.Case) -> None:
        require_documented_answers(target, case)

    test = build_operation_test(
        config=operation.schema.config,
        operation=operation,
        test_func=ask,
        given_kwargs={},
        feedback=FeedbackSources(),
        explicit_settings=settings(
            examples(short=5, full=100), suppress_health_check=list(HealthCheck)
        ),
    )
    test()


def require_documented_answers(target: Target, case: schemathesis.Case) -> None:
    operation = case.operation.definition.raw["operationId"]
    role = "box_office" if operation in ENDS_THE_SESSION else "owner"
    headers = target.tenant.as_(role)
    if case.operation.definition.raw.get("security") == [{"device": []}]:
        # Rotating would make the key worthless for what follows.
        key = "none" if operation == "rotate_device_key" else target.device_key
        headers = {"Authorization": f"Bearer {key}"}
    for ids in ({}, target.ids) if case.path_parameters else ({},):
        case.path_parameters = {
            name: ids.get(name, value) for name, value in (case.path_parameters or {}).items()
        }
        answer = case.call(base_url=target.url, headers=headers)
        case.validate_response(answer, checks=PROMISES)
