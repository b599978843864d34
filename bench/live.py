"""Live messages: from commit in one process to a reader in another, and how many per second.

The ratio is to single NOTIFY transactions on the same database in the same run.
"""

import asyncio
import json
import statistics
import time

import asyncpg

from bench.stage import Stage, a_stage
from voelgoed.config import Settings
from voelgoed.infra.database import Message
from voelgoed.infra.live import Live
from voelgoed.infra.publisher import REST_S
from voelgoed.services import Services, build_services, running

LATENCY_SAMPLES = 500
BURST = 5_000
TOPIC = "event:bench"


def main() -> None:
    with a_stage() as stage:
        asyncio.run(_measure(stage))


async def _measure(stage: Stage) -> None:
    here = build_services(Settings(), stage.postgres.url())
    there = build_services(Settings(), stage.postgres.url())
    async with running(here, with_jobs=False), running(there, with_jobs=False):
        alone = await _latencies_ms(here, there.live, stage, pause_s=2 * REST_S)
        in_a_row = await _latencies_ms(here, there.live, stage, pause_s=0)
        burst = await _burst_per_s(here, there.live, stage)
    single = await _single_notifies_per_s(stage)
    for case, latencies in (("alone", alone), ("in_a_row", in_a_row)):
        print(
            json.dumps(
                {
                    "bench": "live",
                    "case": f"commit_to_reader_elsewhere_{case}",
                    "p50_ms": round(statistics.median(latencies), 2),
                    "p99_ms": round(statistics.quantiles(latencies, n=100)[98], 2),
                }
            )
        )
    print(
        json.dumps(
            {
                "bench": "live",
                "case": "burst",
                "messages_per_s": round(burst),
                "single_notify_per_s": round(single),
                "ratio_to_single_notify": round(burst / single, 2),
            }
        )
    )


async def _latencies_ms(
    here: Services, there: Live, stage: Stage, *, pause_s: float
) -> list[float]:
    organization_id = stage.caller.organization_id
    wake = asyncio.Event()
    subscription = there.follow(organization_id, TOPIC, wake)
    latencies: list[float] = []
    for _ in range(LATENCY_SAMPLES):
        await asyncio.sleep(pause_s)
        async with here.database.transaction(organization_id) as tx:
            tx.publish(TOPIC, {"event": "gate_changed"})
        committed = time.perf_counter()
        await wake.wait()
        latencies.append((time.perf_counter() - committed) * 1000)
        wake.clear()
        subscription.take()
    there.unfollow(subscription)
    return latencies


async def _burst_per_s(here: Services, there: Live, stage: Stage) -> float:
    organization_id = stage.caller.organization_id
    wake = asyncio.Event()
    subscription = there.follow(organization_id, TOPIC, wake)
    seq, begun = 0, time.perf_counter()
    here.live.post(organization_id, [Message(TOPIC, {"n": n}) for n in range(BURST)])
    while seq < 2 * LATENCY_SAMPLES + BURST:  # by number: a slow reader is given fewer
        await wake.wait()
        wake.clear()
        seq = max([seq, *(envelope.seq for envelope in subscription.take())])
    there.unfollow(subscription)
    return BURST / (time.perf_counter() - begun)


async def _single_notifies_per_s(stage: Stage) -> float:
    connection = await asyncpg.connect(stage.postgres.url())
    begun = time.perf_counter()
    for number in range(1_000):
        await connection.execute("SELECT pg_notify('bench', $1)", str(number))
    elapsed = time.perf_counter() - begun
    await connection.close()
    return 1_000 / elapsed
