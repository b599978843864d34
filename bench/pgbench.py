"""PostgreSQL's own limit: one statement a transaction, from as many clients."""

import os
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from bench.load import cpu_seconds
from bench.stage import Stage

TPS = re.compile(r"^tps = ([\d.]+)", re.M)
LATENCY = re.compile(r"^latency average = ([\d.]+)", re.M)


@dataclass(frozen=True)
class Limit:
    per_s: float
    latency_ms: float
    cpu_us: float
    """Of PostgreSQL, for each."""


def pgbench(
    stage: Stage, statement: str, organization_id: UUID, *, clients: int, seconds: int
) -> Limit:
    """As the server's own role, behind the same wall; the organisation is set once a connection."""
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write(" ".join(statement.split()) + ";\n")
        script.flush()
        os.chmod(script.name, 0o644)
        before = cpu_seconds(stage.postmaster)
        url = stage.postgres.url()
        done = subprocess.run(
            [
                str(_program(stage)),
                *("-n", "-M", "prepared", "-c", str(clients), "-j", "2", "-T", str(seconds)),
                *("-f", script.name, url),
            ],
            env=os.environ | {"PGOPTIONS": f"-c voelgoed.organization_id={organization_id}"},
            capture_output=True,
            text=True,
            check=True,
        )
        time.sleep(0.3)  # until its backends have ended, and are counted
        used = cpu_seconds(stage.postmaster) - before
    per_s = float(TPS.search(done.stdout)[1])
    latency = float(LATENCY.search(done.stdout)[1])
    return Limit(per_s, latency, used / (per_s * seconds) * 1e6)


def _program(stage: Stage) -> Path:
    return stage.postgres.bin_directory / "pgbench"
