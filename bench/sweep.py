"""Ten thousand holds that end at the same moment, swept away, against a bare UPDATE of their seats."""

import json
import time
from datetime import datetime, timedelta

import asyncpg
import uvloop

from bench.checkout import hold_seats
from bench.holds import seated_event
from bench.stage import Stage, a_stage
from voelgoed.config import Settings
from voelgoed.infra.clock import Clock
from voelgoed.infra.log import configure_logs
from voelgoed.seating.actions.views import see
from voelgoed.services import build_services, running
from voelgoed.ticketing.actions.hold_changes import sweep_all

HOLDS = 10_000
ROUNDS = 3

BARE = """
UPDATE seat_state SET status = 'available', held_until = NULL, locked_at = NULL, seat_hold_id = NULL,
       holder_id = NULL, version = version + 1, updated_at = now()
 WHERE organization_id = $1 AND event_id = $2 AND status = 'held'
"""


class LaterClock(Clock):
    """By as much as the holds last, and more."""

    def now(self) -> datetime:
        return super().now() + timedelta(hours=2)


def main() -> None:
    configure_logs("error", "json")
    with a_stage() as stage:
        uvloop.run(_main(stage))


async def _main(stage: Stage) -> None:
    services = build_services(Settings(), stage.postgres.url())
    later = build_services(Settings(), stage.postgres.url(), LaterClock())
    admin = await asyncpg.connect(stage.postgres.url("postgres"))
    async with running(services, with_jobs=False), running(later, with_jobs=False):
        for _ in range(ROUNDS):
            event_id, other_id = [await seated_event(services, stage) for _ in range(2)]
            view = await see(services.database, services.cache, stage.caller, event_id)
            for each in (event_id, other_id):
                await hold_seats(admin, stage, each, view, HOLDS)
            await admin.execute("ANALYZE")
            begun = time.perf_counter()
            await admin.execute(BARE, stage.caller.organization_id, other_id)
            bare_s = time.perf_counter() - begun
            await admin.execute("DELETE FROM seat_hold WHERE event_id = $1", other_id)
            begun = time.perf_counter()
            swept = await sweep_all(later.database, later.cache, later.holds.registry)
            sweep_s = time.perf_counter() - begun
            assert swept == HOLDS, swept
            figures = {
                "seconds": round(sweep_s, 2),
                "ratio_to_bare_update": round(sweep_s / bare_s, 1),
            }
            print(json.dumps({"bench": "sweep", "case": "10000_holds", **figures}))
    await admin.close()
