"""`voelgoed simulate`."""

import asyncio
import random
import secrets
import ssl
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Annotated
from uuid import UUID

import httpx
import msgspec
import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.live import Live
from rich.table import Table

from voelgoed.device.cli import show_logs
from voelgoed.device.simulation.arrivals import (
    Arrivals,
    at_an_event_of_its_own,
    at_an_event_that_there_is,
)
from voelgoed.device.simulation.crowd import (
    CHEATS,
    Kind,
    Options,
    Post,
    a_post,
    let_them_come,
)
from voelgoed.device.simulation.report import Findings, findings_of, show
from voelgoed.device.simulation.venue import LogIn, SimulationFault, Venue
from voelgoed.device.sync import sync

DEMO = Path("var/demo.json")
VISITORS_MAX = 20_000
DEVICES_MAX = 50
SECONDS_MAX = 3600
BRING_S_MAX = 600
"""The time for the queues to empty at the end, under the server's limit of batches a minute."""
REQUEST_S = 60
CERTIFICATE = "tls.pem"
"""Beside the demo, if the server made one for itself."""
LEAVING = 0.15
CHEATS_AT_THE_DEMO: tuple[Kind, ...] = ("twice", "forged")
"""Its tickets are not voided for it."""
console = Console(highlight=False, soft_wrap=True)


class _DemoUser(msgspec.Struct):
    email: str
    password: str


class _Demo(msgspec.Struct):
    url: str
    organization_slug: str
    users: dict[str, _DemoUser]
    event_id: UUID | None = None


def simulate(
    devices: Annotated[int, typer.Option(min=1, max=DEVICES_MAX, help="At the gates.")] = 4,
    visitors: Annotated[int, typer.Option(min=1, max=VISITORS_MAX)] = 60,
    seconds: Annotated[
        float, typer.Option(min=1, max=SECONDS_MAX, help="In which they all come.")
    ] = 60.0,
    outage: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="How much of the time a device has no network.")
    ] = 0.2,
    clock_error: Annotated[
        float, typer.Option(min=0.0, max=86_400.0, help="Seconds, by which clocks are off at most.")
    ] = 20.0,
    cheats: Annotated[
        float,
        typer.Option(
            min=0.0, max=1.0, help="Of the visitors: with forged, shared and, if new, void tickets."
        ),
    ] = 0.1,
    new_event: Annotated[
        bool,
        typer.Option(
            "--new-event", help="Not at the demo's festival, but at an event made for it."
        ),
    ] = False,
    tickets: Annotated[
        int | None,
        typer.Option(
            min=1, max=VISITORS_MAX, help="Sold for a new event; as many as visitors if left out."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="The same crowd and the same outages once more.")
    ] = None,
    url: Annotated[
        str | None, typer.Option(help="Of a server with no demo, with the log-in of an admin.")
    ] = None,
    organization: Annotated[str, typer.Option(help="Its short name.")] = "demo",
    email: Annotated[str, typer.Option()] = "",
    password: Annotated[str, typer.Option(envvar="VOELGOED_PASSWORD")] = "",
    demo: Annotated[
        Path, typer.Option(help="What `voelgoed up` wrote: used where no --url is given.")
    ] = DEMO,
    state: Annotated[
        Path | None, typer.Option(help="A directory for the devices' files, to be kept.")
    ] = None,
) -> None:
    """A crowd at the gates of the demo's festival, or of a new event, with outages, wrong clocks and
    cheats; and in the end a report that shows whether a single scan was lost."""
    found = None if url else _read_demo(demo)
    log_in = (
        _log_in_of(found)
        if found
        else LogIn((url or "").rstrip("/"), organization, email, password)
    )
    event_id = None if new_event or found is None else _festival_of(found, demo)
    if event_id is not None and tickets is not None:
        raise SimulationFault("--tickets is for --new-event: the festival's are sold.")
    options = Options(
        devices=devices,
        visitors=min(visitors, tickets or visitors),
        seconds=seconds,
        outage=outage,
        clock_error_s=clock_error,
        cheats=cheats,
        seed=secrets.randbelow(1_000_000) if seed is None else seed,
        leaving=0.0 if event_id is None else LEAVING,
        kinds=CHEATS if event_id is None else CHEATS_AT_THE_DEMO,
    )
    show_logs()
    with tempfile.TemporaryDirectory(prefix="voelgoed-simulation-") as scratch:
        if state is not None:
            state.mkdir(parents=True, exist_ok=True)
        directory = state or Path(scratch)
        simulation = Simulation(log_in, options, directory, trust_of(demo.parent / CERTIFICATE))
        findings = asyncio.run(simulation.run(event_id, tickets or visitors))
    if not findings.is_sound:
        raise typer.Exit(1)


def _read_demo(path: Path) -> _Demo:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Demo)
    except (OSError, msgspec.DecodeError):
        raise SimulationFault(
            f"There is no demo in {path}: start `voelgoed up`, or name a server with --url."
        ) from None


def _log_in_of(demo: _Demo) -> LogIn:
    owner = demo.users["owner"]
    return LogIn(demo.url, demo.organization_slug, owner.email, owner.password)


def _festival_of(demo: _Demo, path: Path) -> UUID:
    if demo.event_id is None:
        raise SimulationFault(f"The demo in {path} is not finished: start `voelgoed up` again.")
    return demo.event_id


def trust_of(certificate: Path) -> ssl.SSLContext:
    """All that this machine trusts, and what `voelgoed up --https` made for itself."""
    trusted = httpx.create_ssl_context()
    with suppress(OSError):
        trusted.load_verify_locations(certificate)
    return trusted


class Simulation:
    def __init__(
        self, log_in: LogIn, options: Options, directory: Path, trusted: ssl.SSLContext
    ) -> None:
        self._log_in = log_in
        self._options = options
        self._directory = directory
        self._trusted = trusted
        self._luck = random.Random(options.seed)  # noqa: S311 (chance that can be had again)

    async def run(self, event_id: UUID | None, tickets: int) -> Findings:
        """Runs at this event, or at a new one with so many tickets."""
        async with AsyncExitStack() as stack:
            client = httpx.AsyncClient(timeout=REQUEST_S, verify=self._trusted)
            venue = Venue(await stack.enter_async_context(client), self._log_in)
            _step(f"Logging in at {venue.url}")
            await venue.log_in()
            options, luck = self._options, self._luck
            if event_id is None:
                arrivals = await at_an_event_of_its_own(venue, options, tickets, luck, _step)
            else:
                arrivals = await at_an_event_that_there_is(venue, options, event_id, luck, _step)
            posts = await self._take_posts(venue, arrivals, stack)
            _step(f"{len(arrivals.visits)} arrivals in {options.seconds:g} s, seed {options.seed}")
            await _watch(posts, options, luck)
            findings = await _compare(venue, posts)
            if event_id is not None:  # or the devices page would fill with those of simulations
                for post in posts:
                    await venue.revoke(post.device.identity.device_id)
            return findings

    async def _take_posts(
        self, venue: Venue, arrivals: Arrivals, stack: AsyncExitStack
    ) -> list[Post]:
        half = len(arrivals.voided) // 2
        await venue.void(arrivals.voided[:half])
        _step(f"{self._options.devices} devices pair and hydrate")
        posts: list[Post] = []
        for number, gate in enumerate(arrivals.gates, start=1):
            file = self._directory / f"device-{number}.db"
            post = a_post(gate, file, self._options, self._luck, self._trusted)
            stack.push_async_callback(post.close)
            posts.append(post)
            await post.device.pair(venue.url, await venue.pairing_token(gate))
            await post.device.beat()
            await post.device.hydrate()
        await venue.void(arrivals.voided[half:])  # of which devices without network do not know
        for visit in arrivals.visits:
            posts[visit.post].visits.append(visit)
        return posts


async def _compare(venue: Venue, posts: Sequence[Post]) -> Findings:
    """Compares the scans of these devices only: others may be at work at the same gates."""
    ours = {post.device.identity.device_id for post in posts}
    listed = [scan for scan in await venue.scans() if scan.device_id in ours]
    scan_ids = {scan.id for scan in listed}
    conflicts = [each for each in await venue.conflicts() if each.scan_id in scan_ids]
    findings = findings_of(posts, listed, conflicts)
    show(console, posts, listed, conflicts, findings)
    return findings


async def _watch(posts: Sequence[Post], options: Options, luck: random.Random) -> None:
    """The crowd, and then the queues, as they go."""
    with Live(_board(posts), console=console, refresh_per_second=4) as live:

        async def refresh() -> None:
            while True:
                live.update(_board(posts))
                await asyncio.sleep(0.25)

        refreshing = asyncio.create_task(refresh())
        try:
            await let_them_come(posts, options, luck)
            async with asyncio.timeout(BRING_S_MAX):
                await asyncio.gather(*(sync(post.device) for post in posts))
        except TimeoutError:
            _step(f"Some queues were not empty after {BRING_S_MAX} s")
        finally:
            refreshing.cancel()
            live.update(_board(posts))


def _board(posts: Sequence[Post]) -> Table:
    table = Table(box=SIMPLE_HEAD)
    for column in ("gate", "net", "clock", "came", "in", "away", "alone", "waiting", "synced"):
        justify = "left" if column in ("gate", "net") else "right"
        table.add_column(column, justify=justify, no_wrap=True)
    for post in posts:
        counts, answers = post.device.store.count(), [answer for _, answer in post.answers]
        green = sum(answer.colour == "green" for answer in answers)
        table.add_row(
            post.gate.code,
            "[green]up[/]" if post.line.is_up else "[red]down[/]",
            f"{post.clock_error.total_seconds():+.1f} s",
            f"{len(answers)}/{len(post.visits)}",
            str(green),
            str(len(answers) - green),
            str(sum(answer.is_offline for answer in answers)),
            str(counts["pending"] + counts["failed"]),
            str(counts["synced"]),
        )
    return table


def _step(text: str) -> None:
    console.print(f"· {text}", markup=False)
