"""`voelgoed device`: a scanner in a terminal."""

import asyncio
import os
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, TypeVar

import httpx
import typer
from rich.console import Console

from voelgoed.device.client import Device
from voelgoed.device.model import NotPaired, ScanAnswer, SyncReport
from voelgoed.device.scanning import scan
from voelgoed.device.sync import sync
from voelgoed.device.whole_queue import export_queue, sync_whole_queue
from voelgoed.infra.log import configure_logs

T = TypeVar("T")
device = typer.Typer(no_args_is_help=True, help="A reference device: a scanner in a terminal.")
console = Console(highlight=False, soft_wrap=True)

State = Annotated[
    Path,
    typer.Option(
        envvar="VOELGOED_DEVICE_STATE", help="The file with this device's key, manifest and scans."
    ),
]
STATE = Path("device.db")


@device.command(name="pair")
def pair_command(
    token: Annotated[str, typer.Argument(help="The pairing token, such as 7K2M-9QXD-E4TR.")],
    url: Annotated[str, typer.Option(help="Where the server is.")] = "http://127.0.0.1:8080",
    state: State = STATE,
) -> None:
    """Become a device of whoever made the token."""

    async def pair(it: Device) -> None:
        identity = await it.pair(url.rstrip("/"), token)
        _say(f"Paired with {identity.organization_name} as {identity.name!r}")
        _say(f"  device   {identity.device_id}")
        _say(f"  state    {state}")
        await it.beat()
        await it.hydrate()
        _show_manifest(it)

    _run(state, pair, is_new=True)


@device.command(name="hydrate")
def hydrate_command(state: State = STATE) -> None:
    """Fetch the manifest, or what has changed of it, and verify it."""

    async def hydrate(it: Device) -> None:
        if not await it.hydrate():
            _say("Nothing new.")
        _show_manifest(it)

    _run(state, hydrate)


@device.command(name="scan")
def scan_command(
    text: Annotated[str, typer.Argument(help="A barcode or a code; - reads one a line.")],
    leaving: Annotated[bool, typer.Option("--exit", help="Somebody leaves.")] = False,
    offline: Annotated[bool, typer.Option(help="Do not ask the server.")] = False,
    state: State = STATE,
) -> None:
    """May they through? Ends with 0 for green and 1 for red."""

    async def scan_all(it: Device) -> bool:
        texts = (line.rstrip("\r\n") for line in sys.stdin) if text == "-" else [text]
        is_green = True
        for each in texts:
            if each.strip() or text != "-":
                answer = await scan(it, each, "exit" if leaving else "entry", offline=offline)
                _show(answer)
                is_green = is_green and answer.colour == "green"
        return is_green

    if not _run(state, scan_all):
        raise typer.Exit(1)


@device.command(name="sync")
def sync_command(
    whole: Annotated[
        bool, typer.Option("--whole", help="The whole queue at once, unsigned (v1), for recovery.")
    ] = False,
    state: State = STATE,
) -> None:
    """Bring what waits to the server."""

    async def bring(it: Device) -> SyncReport:
        report = await (sync_whole_queue(it) if whole else sync(it))
        _say(f"{report.synced} synced, {report.failed} refused, {report.left} left to deliver")
        if report.conflicts:
            _say(f"  {len(report.conflicts)} conflicts, for somebody to look at")
        for reason, count in sorted(Counter(report.unverified.values()).items()):
            _say(f"  {count} kept, for somebody to review before they count: {reason}")
        if report.failed:
            _say("  voelgoed device status lists what was refused; export writes it to a file")
        if report.reason:
            _say(f"  {report.reason}")
        return report

    if _run(state, bring).left:
        raise typer.Exit(1)


@device.command(name="beat")
def beat_command(state: State = STATE) -> None:
    """Say how it is, and do what the answer asks for: another key, another gate, a newer manifest."""

    async def beat(it: Device) -> None:
        await it.beat()
        _say(f"The server heard it. Clock: {_offset(it)}")

    _run(state, beat)


@device.command(name="status")
def status_command(state: State = STATE) -> None:
    """Prints which device it is, what it knows, and which scans wait."""

    async def status(it: Device) -> None:
        identity = it.store.identity
        if identity is None:
            raise NotPaired()
        _say(f"{identity.name!r} of {identity.organization_name}, {identity.url}")
        _say(f"  device   {identity.device_id}")
        _say(f"  gate     {it.gate if identity.gate_id else 'none'}")
        _say(f"  clock    {_offset(it)}")
        _show_manifest(it)
        counts = it.store.count()
        _say(
            f"  scans    {counts['pending']} wait, {counts['synced']} synced, "
            f"{counts['failed']} refused"
        )
        for refused in it.store.scans("failed"):
            _say(f"    {refused.scan_id}  {refused.last_error}")

    _run(state, status)


@device.command(name="export")
def export_command(
    file: Annotated[Path, typer.Argument(help="What to write.")],
    state: State = STATE,
) -> None:
    """Write all that the server does not have to a file, for `voelgoed scans import`."""

    async def export(it: Device) -> None:
        _say(f"{export_queue(it, file)} scans in {file}")

    _run(state, export)


def _run(state: Path, work: Callable[[Device], Awaitable[T]], *, is_new: bool = False) -> T:
    if not is_new and not state.exists():
        raise NotPaired()
    show_logs()

    async def run() -> T:
        async with _opened(state) as it:
            return await work(it)

    return asyncio.run(run())


def show_logs() -> None:
    """Beside what is said, and only to who asks for them: a person is reading."""
    level = os.environ.get("VOELGOED_LOG_LEVEL", "warning")
    if level not in ("debug", "info", "warning", "error"):
        level = "warning"
    configure_logs(level, "auto")


@asynccontextmanager
async def _opened(state: Path) -> AsyncGenerator[Device]:
    async with httpx.AsyncClient() as client:
        it = Device(state, client)
        try:
            yield it
        finally:
            it.close()


def _show(answer: ScanAnswer) -> None:
    _say(answer.message, style=f"bold {answer.colour}")
    shown = answer.shown
    place = [f"seat {shown.seat}" if shown.seat else None, shown.zone]
    place.append(f"entry {answer.entry_number}" if answer.entry_number else None)
    for line in (" · ".join(part for part in place if part), *shown.notes):
        if line:
            _say(f"  {line}")
    if answer.colour == "red" and shown.last_scanned_at:
        where = f" at {shown.last_gate}" if shown.last_gate else ""
        _say(f"  last scanned {shown.last_scanned_at.astimezone():%a %H:%M:%S}{where}")
    if answer.left_at:
        _say(f"  left {answer.left_at.astimezone():%a %H:%M:%S}")
    if answer.may_return_at:
        _say(f"  may return from {answer.may_return_at.astimezone():%a %H:%M:%S}")
    if answer.is_offline:
        _say("  decided here; waits to be synced", style="dim")


def _show_manifest(it: Device) -> None:
    if it.register is None:
        _say("  manifest none")
        return
    manifest = it.register.manifest
    _say(
        f"  manifest version {manifest.manifest_version} of {manifest.event_name!r}, "
        f"{len(manifest.tickets)} tickets, good until {manifest.expires_at.astimezone():%a %d %b %H:%M}"
    )


def _offset(it: Device) -> str:
    if not it.store.clock.is_measured:
        return "not compared with the server's yet"
    seconds = it.clock.offset.total_seconds()
    way = "behind" if seconds > 0 else "ahead of"
    return f"{abs(seconds):.3f} s {way} the server's, when last compared"


def _say(text: str, style: str | None = None) -> None:
    console.print(text, style=style, markup=False)
