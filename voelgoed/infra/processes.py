"""What the kernel says of processes, on Linux."""

from pathlib import Path


def all_pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]


def name_and_state(pid: int) -> tuple[str, str]:
    # The name stands in parentheses and may itself contain any of them.
    line = Path(f"/proc/{pid}/stat").read_text()
    return line[line.index("(") + 1 : line.rindex(")")], line[line.rindex(")") + 2]
