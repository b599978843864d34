"""`make bench-peers`: the systems of others, one JSON line a figure."""

import dataclasses
import json
import signal
import sys
from pathlib import Path

from bench.peers import pretix

KEPT = Path("var/bench-peers")
TICKETS = 1_500
CONNECTIONS = (8, 50)
SECONDS = 30
"""For each number of connections."""


def main() -> None:
    directory = KEPT / "pretix"
    pretix.install(directory)
    for figures in pretix.measure(
        directory, tickets=TICKETS, connections=CONNECTIONS, seconds=SECONDS
    ):
        print(json.dumps({"bench": "peers", "peer": "pretix"} | dataclasses.asdict(figures)))


# Or whoever ends this program would leave pretix running.
signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
main()
