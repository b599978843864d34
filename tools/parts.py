"""Runs the parts of `make test` and `make check`, and says at the end where the time went.

$PARTS has lines of "name | cores | command". Parts begin in that order, as many side by side as
there are cores for. One that runs alone writes as it goes, any other when it has ended. The last
lines of whatever failed are repeated at the end, for a long log may be cut at its head.
"""

import os
import subprocess
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass, field

CORES = 2
REPEATED_LINES_MAX = 30
REST_S_MAX = 5.0
"""A process that a part left behind may keep its output open for ever."""


@dataclass
class Part:
    name: str
    cores: int
    command: str
    seconds: float = 0.0
    has_failed: bool = False
    lines: list[str] = field(default_factory=list[str])

    def run(self, *, is_alone: bool) -> None:
        began = time.monotonic()
        if is_alone:
            say(f"{self.name}: {self.command}")
        running = subprocess.Popen(
            ["sh", "-c", self.command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        reading = threading.Thread(target=self._read, args=(running, is_alone), daemon=True)
        reading.start()
        self.has_failed = running.wait() != 0
        reading.join(REST_S_MAX)
        self.seconds = time.monotonic() - began
        if not is_alone:
            say(f"{self.name}: {self.command}", "".join(self.lines))

    def _read(self, running: subprocess.Popen[str], is_alone: bool) -> None:
        for line in running.stdout or ():
            self.lines.append(line)
            if is_alone:
                print(line, end="", flush=True)


def main() -> int:
    parts = [read(line) for line in os.environ["PARTS"].splitlines() if line.strip()]
    began = time.monotonic()
    run_all(parts)
    for part in parts:
        if part.has_failed:
            say(f"{part.name} ended with:", "".join(part.lines[-REPEATED_LINES_MAX:]))
    print()
    for part in parts:
        verdict = "FAILED" if part.has_failed else "ok    "
        print(f"    {verdict}  {part.name:<12} {part.seconds:6.0f} s")
    failed = sum(part.has_failed for part in parts)
    verdict = f"{failed} failed, see above" if failed else "All passed"
    say(f"{verdict} in {time.monotonic() - began:.0f} s")
    return 1 if failed else 0


def read(line: str) -> Part:
    name, cores, command = line.split("|", 2)
    return Part(name.strip(), int(cores), command.strip())


def run_all(parts: list[Part]) -> None:
    waiting, running = deque(parts), list[tuple[Part, threading.Thread]]()
    one_ended = threading.Semaphore(0)

    def run(part: Part, is_alone: bool) -> None:
        try:
            part.run(is_alone=is_alone)
        finally:
            one_ended.release()

    while waiting or running:
        running = [(part, thread) for part, thread in running if thread.is_alive()]
        free = CORES - sum(part.cores for part, _ in running)
        if waiting and waiting[0].cores <= free:
            part = waiting.popleft()
            thread = threading.Thread(target=run, args=(part, part.cores == CORES))
            thread.start()
            running.append((part, thread))
        elif running:
            one_ended.acquire()


_speaking = threading.Lock()


def say(line: str, output: str = "") -> None:
    with _speaking:
        print(f"==> {line}\n{output}", end="", flush=True)


if __name__ == "__main__":
    sys.exit(main())
