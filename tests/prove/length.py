"""How long a proof goes on, and from which seed.

`make test` runs every proof shortly and always from seed 0, so that a red run is red for whoever
repeats it. `make prove` sets PROVE_SEED and has every proof at full length.
"""

import os
from random import Random

from hypothesis import HealthCheck, settings

IS_FULL = "PROVE_SEED" in os.environ
SEED = int(os.environ.get("PROVE_SEED", "0"))
SEEDS_BETWEEN_PASSES = 10_000
"""How far apart the seeds of two passes are: no proof uses more of them."""


def rounds(short: int, full: int) -> int:
    return full if IS_FULL else short


def seeds(short: int, full: int) -> range:
    """Seeds for as many random walks."""
    assert full <= SEEDS_BETWEEN_PASSES
    return range(SEED, SEED + rounds(short, full))


def luck(what: str) -> Random:
    """The random choices of one proof: the same whenever the seed is the same."""
    return Random(f"{SEED} {what}")


def examples(short: int, full: int) -> settings:
    """How many examples Hypothesis tries. Each may use the test's fixtures again, and take a while."""
    return settings(
        max_examples=rounds(short, full),
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
