"""Nothing is lost: after thousands of scans of every kind the tables have all that was asked."""

import asyncio
from collections import Counter
from datetime import timedelta
from random import Random
from uuid import uuid4

import httpx

from tests.prove.length import luck, rounds
from tests.scanning.support import TABLET, Device, a_world
from tests.support import MovableClock, Tenant
from voelgoed.infra.refusal import Refusal, Unavailable
from voelgoed.scanning.actions.own_device import prove
from voelgoed.scanning.model.scans import NewScan
from voelgoed.services import Services

SCANS, AT_ONCE, TICKETS = rounds(short=3_000, full=30_000), 100, 60
ATTEMPTS_MAX = 20
EVENING = timedelta(seconds=5_000)
"""The walk is long enough for windows to pass, so that every kind of scan occurs."""


async def test_every_attempt_is_a_scan_row_and_an_audit_row(
    services: Services, client: httpx.AsyncClient, tenant: Tenant, clock: MovableClock
):
    world = await a_world(services, client, tenant, gates=3, max_daily_entries=9)
    devices = [await world.device(gate) for gate in world.gates for _ in range(2)]
    codes = [ticket.code for ticket in await world.tickets(TICKETS)] + ["ZZZZ-ZZZZ-ZZZZ"]
    answered: Counter[str] = Counter()

    async def scan(random: Random, device: Device) -> None:
        proven = prove(services.master_key, device.api_key, TABLET)
        is_nonsense = random.random() < 0.02
        new = NewScan(
            ticket_code="https://example.org" if is_nonsense else random.choice(codes),
            device_id=device.id,
            scanned_at=clock.now(),
            scan_id=str(uuid4()),
            direction="exit" if random.random() < 0.3 else "entry",
        )
        for _ in range(ATTEMPTS_MAX):
            try:
                answer = await services.scans.scan(proven.caller, proven.key_version, new)
            except Unavailable:
                continue  # under the same id, as a device would where this machine is too busy
            except Refusal as refusal:
                answered[refusal.code] += 1
                return
            answered[str(answer.reason) if answer.reason else answer.status] += 1
            return

    async def steward(number: int) -> None:
        random = luck(f"steward {number}")
        for _ in range(SCANS // AT_ONCE):
            await scan(random, devices[number % len(devices)])
            clock.ahead += EVENING / SCANS

    await asyncio.gather(*(steward(number) for number in range(AT_ONCE)))

    assert answered.total() == SCANS
    refused = answered.pop("invalid_ticket_code_length")
    rows = await world.rows(
        "SELECT coalesce(reason_denied, status) AS outcome, count(*) FROM scan GROUP BY 1"
    )
    assert {row["outcome"]: row["count"] for row in rows} == answered
    assert len(answered) >= 5, "a mixture"
    [audited] = await world.rows(
        "SELECT count(*), count(DISTINCT entity_id) AS each FROM audit_entry WHERE entity_type = 'Scan'"
    )
    assert audited["count"] == audited["each"] == answered.total() + refused
    [inside] = await world.rows("SELECT count(*) FROM ticket WHERE is_inside")
    counts = await world.rows("SELECT * FROM occupancy WHERE scope = 'event'")
    assert sum(row["inside"] for row in counts) == inside["count"]
    [passed] = await world.rows(
        """
        SELECT count(*) FILTER (WHERE direction = 'entry') AS entries,
               count(*) FILTER (WHERE direction = 'exit') AS exits
          FROM scan WHERE status = 'admitted'
        """
    )
    assert sum(row["entries"] for row in counts) == passed["entries"]
    assert sum(row["exits"] for row in counts) == passed["exits"]
    [tickets] = await world.rows("SELECT sum(scan_count) AS entries FROM ticket")
    assert tickets["entries"] == passed["entries"]
