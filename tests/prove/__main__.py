"""`make prove`: every proof at full length, again and again from other seeds, until the time is up.

make prove                                     # once, all of it
make prove ARGS="--minutes 30"                 # for half an hour
make prove ARGS="--seed 7 races chaos/test_kill.py::test_name"
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from random import SystemRandom

from tests.prove.length import SEEDS_BETWEEN_PASSES

HERE = Path(__file__).parent
SEEDS_MAX = 10**6
WORKERS = 2


def main() -> int:
    asked = arguments()
    first = asked.seed if asked.seed is not None else SystemRandom().randrange(SEEDS_MAX)
    began = time.time()
    until = began + asked.minutes * 60 if asked.minutes else None
    passes = 0
    while passes == 0 or (until is not None and time.time() < until):
        seed = first + passes * SEEDS_BETWEEN_PASSES
        say(f"Pass {passes + 1}, seed {seed}")
        code = run(asked.what, seed, began, until)
        passes += 1
        if code != 0:
            say(f'FAILED. To repeat it: make prove ARGS="--seed {seed} <the test named above>"')
            return code
    say(f"Nothing failed in {passes} passes, {time.time() - began:.0f} s, first seed {first}")
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make prove", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "what",
        nargs="*",
        help="parts of tests/prove; all of it and every random test of the domains if none is named",
    )
    parser.add_argument("--minutes", type=float, help="go on from other seeds until then")
    parser.add_argument("--seed", type=int, help="begin with this one")
    return parser.parse_args()


def run(what: list[str], seed: int, began: float, until: float | None) -> int:
    command = [
        *(sys.executable, "-m", "pytest", "-n", str(WORKERS), "--no-header", "--tb=short"),
        *("-p", "tests.prove.progress", f"--hypothesis-seed={seed}"),
        *(str(HERE / part) for part in what),
        *([] if what else [str(HERE.parent), "-m", "hypothesis or prove"]),
    ]
    given = {"PROVE_SEED": str(seed), "PROVE_BEGAN": str(began)}
    if until is not None:
        given["PROVE_UNTIL"] = str(until)
    return subprocess.run(command, env=os.environ | given, check=False).returncode


def say(line: str) -> None:
    print(f"==> {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
