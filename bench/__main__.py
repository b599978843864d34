"""`make bench`: every benchmark, one JSON line a figure.

Each figure comes with a ratio to something measured in the same run; only ratios travel
between machines. `make bench ARGS="http"` runs the named ones only.
"""

import sys

from bench import (
    browser,
    checkout,
    holds,
    http,
    imports,
    layouts,
    live,
    manifests,
    reports,
    scans,
    seating,
    sweep,
    syncs,
)

BENCHES = {
    "http": http.main,
    "live": live.main,
    "seating": seating.main,
    "layouts": layouts.main,
    "holds": holds.main,
    "sweep": sweep.main,
    "checkout": checkout.main,
    "imports": imports.main,
    "scans": scans.main,
    "manifests": manifests.main,
    "syncs": syncs.main,
    "reports": reports.main,
    "browser": browser.main,
}


def main() -> int:
    wanted = sys.argv[1:] or list(BENCHES)
    if unknown := [name for name in wanted if name not in BENCHES]:
        print(f"no such bench: {', '.join(unknown)}; there are {', '.join(BENCHES)}")
        return 1
    for name in wanted:
        BENCHES[name]()
    return 0


sys.exit(main())
