"""The demo is a true story: it adds up, it is the same every time, and a start that is cut off anywhere
is finished by the next."""

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import MASTER_KEY, a_database
from tests.demo.seed_until_killed import seed_until_killed
from tests.demo.support import look
from tests.processes import forks
from tests.support import a_tenant
from voelgoed.config import Settings
from voelgoed.demo import venues
from voelgoed.demo.file import Demo
from voelgoed.demo.seed import ensure_demo
from voelgoed.events.rules.days import day_at
from voelgoed.infra.data_directory import DataDirectory
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.infra.master_key import MasterKey
from voelgoed.scanning.actions.recount import recount_all
from voelgoed.seating.actions.rebuild import rebuild_all
from voelgoed.services import Services, build_services, running

pytestmark = pytest.mark.own_database

SETTINGS = Settings(database_connections_max=10)
KILLED_AFTER = (3, 25, 60, 100, 140, 200, 260)
"""Commits. Those that find their work done count too, so each start comes further than the one before."""

TICKETS = """
    SELECT e.name, y.number, k.status, k.seat_label, k.holder_name, k.external_reference, k.price_minor,
           k.scan_count
      FROM ticket k JOIN event e ON e.id = k.event_id JOIN ticket_type y ON y.id = k.ticket_type_id"""
ORDERS = """
    SELECT e.name, o.buyer_name, o.status, o.total_minor, o.refunded_minor
      FROM ticket_order o JOIN event e ON e.id = o.event_id"""
SCANS = "SELECT device_name, direction, status, reason_denied, source FROM scan"
OCCUPANCY = "SELECT scope, entries, exits, inside FROM occupancy"
SEATS = "SELECT status, count(*) FROM seat_state GROUP BY status"
OTHERS = """
    SELECT (SELECT count(*) FROM app_user), (SELECT count(*) FROM membership),
           (SELECT count(*) FROM venue), (SELECT count(*) FROM event), (SELECT count(*) FROM gate),
           (SELECT count(*) FROM scan_device), (SELECT count(*) FROM scan_conflict),
           (SELECT count(*) FROM ticket_import), (SELECT count(*) FROM seat_hold),
           (SELECT count(*) FROM ticket_revocation), (SELECT count(*) FROM payment)"""


async def make(
    database_url: str, path: Path, key: MasterKey = MASTER_KEY
) -> tuple[Demo | None, list[str]]:
    """The demo, and what was said while it was made."""
    said: list[str] = []
    claimed = DataDirectory.claim(path)
    try:
        url = "http://127.0.0.1:1"
        return await ensure_demo(SETTINGS, database_url, key, claimed, url, said.append), said
    finally:
        claimed.release()


async def content(postgres: EmbeddedPostgres, name: str) -> list[Counter[Any]]:
    queries = (TICKETS, ORDERS, SCANS, OCCUPANCY, SEATS, OTHERS)
    return [Counter(await look(postgres, name, query)) for query in queries]


@asynccontextmanager
async def its_services(database_url: str) -> AsyncIterator[Services]:
    services = build_services(SETTINGS, database_url, master_key=MASTER_KEY)
    async with running(services, with_jobs=False):
        yield services


async def test_its_figures_add_up(
    postgres: EmbeddedPostgres, database_name: str, database_url: str, tmp_path: Path
):
    demo, said = await make(database_url, tmp_path)
    assert demo is not None
    assert len(said) == 3
    async with its_services(database_url) as services:
        assert await recount_all(services.database) == (1, [])
        events, wrong = await rebuild_all(services.database, services.cache)
        assert (events, wrong) == (3, 0)
    [(unsold,)] = await look(
        postgres,
        database_name,
        """SELECT count(*) FROM ticket k LEFT JOIN seat_state s USING (event_id, seat_id)
            WHERE k.seat_id IS NOT NULL AND k.status IN ('active', 'scanned')
              AND s.status IS DISTINCT FROM 'sold'""",
    )
    assert unsold == 0


async def test_there_is_something_to_look_at(
    postgres: EmbeddedPostgres, database_name: str, database_url: str, tmp_path: Path
):
    await make(database_url, tmp_path)
    sold = Counter(name for name, *_ in await look(postgres, database_name, TICKETS))
    assert all(count >= 200 for count in sold.values())
    assert len(sold) == 3
    orders = Counter(row[2] for row in await look(postgres, database_name, ORDERS))
    assert orders["paid"] > 100
    assert orders["refunded"] + orders["partially_refunded"] >= 3
    scans = await look(postgres, database_name, SCANS)
    reasons = Counter(row[3] for row in scans)
    assert {"already_scanned", "wrong_gate", "not_valid_today", "ticket_refunded"} <= reasons.keys()
    assert reasons[None] > 200
    assert Counter(row[4] for row in scans)["offline_sync"] > 5
    assert await look(postgres, database_name, "SELECT kind FROM scan_conflict") == [
        ("double_entry",)
    ]
    alerts = await look(postgres, database_name, "SELECT kind FROM scan_alert")
    assert ("double_entry",) in alerts


async def test_a_second_start_changes_nothing(
    postgres: EmbeddedPostgres, database_name: str, database_url: str, tmp_path: Path
):
    first, _ = await make(database_url, tmp_path)
    before = await content(postgres, database_name)
    entries = await look(postgres, database_name, "SELECT count(*) FROM audit_entry")
    again, said = await make(database_url, tmp_path)
    assert (again, said) == (first, [])
    assert await content(postgres, database_name) == before
    assert await look(postgres, database_name, "SELECT count(*) FROM audit_entry") == entries


async def test_a_start_that_is_killed_again_and_again_is_finished_as_if_nothing_had_happened(
    postgres: EmbeddedPostgres, tmp_path: Path
):
    async with a_database(postgres) as whole, a_database(postgres) as cut:
        await make(postgres.url(database=whole), tmp_path / "whole")
        for commits in KILLED_AFTER:
            arguments = (postgres.url(database=cut), tmp_path / "cut", commits)
            process = forks.Process(target=seed_until_killed, args=arguments, daemon=True)
            process.start()
            await asyncio.to_thread(process.join)
            assert process.exitcode == -signal.SIGKILL
        demo, said = await make(postgres.url(database=cut), tmp_path / "cut")
        assert demo is not None
        assert demo.is_finished
        assert said
        assert await content(postgres, cut) == await content(postgres, whole)
        async with its_services(postgres.url(database=cut)) as services:
            assert await recount_all(services.database) == (1, [])


async def test_without_a_master_key_nothing_is_sold_and_the_gates_are_open(
    postgres: EmbeddedPostgres, database_name: str, database_url: str, tmp_path: Path
):
    demo, _ = await make(database_url, tmp_path, MasterKey())
    assert demo is not None
    assert demo.is_finished
    assert await look(postgres, database_name, TICKETS) == []
    live = "SELECT name FROM event WHERE status = 'live'"
    assert await look(postgres, database_name, live) == [("Voelgoed Fees",)]


async def test_an_installation_in_real_use_gets_no_demo(database_url: str, tmp_path: Path):
    async with its_services(database_url) as services:
        await a_tenant(services, "acme")
    assert await make(database_url, tmp_path) == (None, [])


@pytest.mark.parametrize("hour", range(24))
def test_at_any_hour_all_who_came_came_on_one_day(hour: int):
    present = datetime(2026, 3, 7, hour, 20, tzinfo=UTC)
    days = venues.festival_days(present)
    came = {day_at(days, present - timedelta(minutes=minute)) for minute in range(120)}
    assert came == {days[0].date}
    assert len(days) == 3
    assert days[0].ends_at > present + timedelta(minutes=5)
