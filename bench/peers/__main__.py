"""`make bench-peers`: the same work here and in the systems of others, one JSON line a figure."""

import dataclasses
import json
import signal
import sys
from pathlib import Path

from bench import scans
from bench.peers import pretix
from voelgoed.infra.log import configure_logs

KEPT = Path("var/bench-peers")
TICKETS = 1_500
CONNECTIONS = (8, 50)
SECONDS = 30
"""For each number of connections."""


def main() -> None:
    configure_logs("error", "json")
    directory = KEPT / "pretix"
    pretix.install(directory)
    theirs = pretix.measure(directory, tickets=TICKETS, connections=CONNECTIONS, seconds=SECONDS)
    for figures in theirs:
        print(json.dumps({"bench": "peers", "peer": "pretix"} | dataclasses.asdict(figures)))
    ours = scans.figures(f"{scans.FEW}_tickets", scans.FEW)
    most = max(theirs, key=lambda figures: figures.per_s)
    ratios = {
        "bench": "peers",
        "case": "pretix_to_ours",
        "scans_per_s": round(ours.per_s),
        "cpu_us": round(ours.cpu_us),
        "throughput_ratio": round(ours.per_s / most.per_s),
        "cpu_ratio": round(most.cpu_ms * 1000 / ours.cpu_us),
    }
    print(json.dumps(ratios))


# Or whoever ends this program would leave pretix running.
signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
main()
