"""Requests per core: a ping and an authenticated read, against bare ASGI on the same server."""

import json
import os
import socket
import statistics
from collections.abc import Callable

from bench.load import Load, cpu_seconds, get, run_load
from bench.stage import a_process, a_stage

CONNECTIONS = 50
SECONDS = 3.0
ROUNDS = 3
SERVER_CORE, CLIENT_CORE = 0, (os.cpu_count() or 1) - 1


def main() -> None:
    with a_stage() as stage:
        bare_port, our_port = free_port(), free_port()
        ours = {"VOELGOED_DATABASE_URL": stage.postgres.url(), "VOELGOED_LOG_LEVEL": "error"}
        serve = ("-m", "voelgoed", "serve", "--port", str(our_port), "--no-jobs")
        with (
            a_process(bare_port, SERVER_CORE, "-m", "bench.bare", str(bare_port)) as bare,
            a_process(our_port, SERVER_CORE, *serve, **ours) as server,
        ):
            os.sched_setaffinity(0, {CLIENT_CORE})
            authorization = f"Authorization: Bearer {stage.token}\r\n"
            read = get(f"/api/events/{stage.event_id}", authorization)

            def with_database() -> float:
                return cpu_seconds(server) + cpu_seconds(stage.postmaster)

            cases: dict[str, tuple[int, bytes, Callable[[], float]]] = {
                "bare_asgi": (bare_port, get("/"), lambda: cpu_seconds(bare)),
                "ping": (our_port, get("/health/live"), lambda: cpu_seconds(server)),
                "authenticated_read": (our_port, read, lambda: cpu_seconds(server)),
                "authenticated_read_with_database": (our_port, read, with_database),
            }
            _report({name: _measure(*case) for name, case in cases.items()})


def _measure(port: int, request: bytes, cpu: Callable[[], float]) -> dict[str, float]:
    run_load(port, request, connections=CONNECTIONS, seconds=0.5)  # warm
    rounds: list[tuple[Load, float]] = []
    for _ in range(ROUNDS):
        before = cpu()
        load = run_load(port, request, connections=CONNECTIONS, seconds=SECONDS)
        if load.wrong:
            raise RuntimeError(f"{load.wrong} of {load.requests} answers were not 200")
        rounds.append((load, cpu() - before))
    return {
        "requests_per_s": round(statistics.median(r.requests / r.seconds for r, _ in rounds)),
        "requests_per_core_s": round(statistics.median(r.requests / used for r, used in rounds)),
        "cpu_us_per_request": round(
            statistics.median(used / r.requests * 1e6 for r, used in rounds), 1
        ),
        "p50_ms": statistics.median(r.percentile_ms(50) for r, _ in rounds),
        "p99_ms": statistics.median(r.percentile_ms(99) for r, _ in rounds),
    }


def _report(figures: dict[str, dict[str, float]]) -> None:
    bare = figures["bare_asgi"]["requests_per_core_s"]
    for case, figure in figures.items():
        ratio = round(figure["requests_per_core_s"] / bare, 3)
        print(json.dumps({"bench": "http", "case": case, **figure, "ratio_to_bare_asgi": ratio}))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
