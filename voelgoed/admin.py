"""What an operator does to an installation: its tenants, their layouts, tickets, the caches."""

import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from contextlib import contextmanager, nullcontext
from getpass import getpass
from pathlib import Path
from typing import Annotated
from uuid import UUID

import msgspec
import typer
import uvloop
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from voelgoed.accounts.actions.organizations import create_organization
from voelgoed.accounts.model import Caller, NewPassword, NewUser
from voelgoed.config import PREFIX, Settings, SettingsError, read_settings
from voelgoed.events.actions.venues import list_venues
from voelgoed.events.model import Venue, VenueNotFound
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.infra.log import configure_logs
from voelgoed.infra.migrate import refuse_a_powerful_role, require_current_schema
from voelgoed.infra.shapes import Email, Name, Slug
from voelgoed.scanning.actions.recount import recount_all
from voelgoed.scanning.actions.recoveries import import_queue
from voelgoed.scanning.model.recount import Difference
from voelgoed.scanning.model.recoveries import ExportedQueue, Imported
from voelgoed.seating.actions.layouts import create_layout, create_version, read_config
from voelgoed.seating.actions.rebuild import rebuild_all
from voelgoed.seating.cli import (
    STANDARD,
    File,
    Format,
    UnwritableFile,
    format_of,
    layout,
    read_sound_layout,
    write_file,
    write_layout,
)
from voelgoed.seating.model.layout import NewLayout
from voelgoed.services import Services, build_services, master_key_of, running
from voelgoed.ticketing.actions.exports import export, faults_table
from voelgoed.ticketing.actions.import_batch import Context
from voelgoed.ticketing.actions.import_run import Report, run_import
from voelgoed.ticketing.actions.imports import (
    ImportJob,
    Upload,
    list_faults,
    read_import,
    receive_file,
)
from voelgoed.ticketing.actions.reconcile import reconcile_all
from voelgoed.ticketing.cli import SHOWN_FAULTS_MAX, pieces_of, show_faults, summary
from voelgoed.ticketing.model.imports import InvalidTicketFile

organization = typer.Typer(no_args_is_help=True, help="The tenants of this installation.")
cache = typer.Typer(no_args_is_help=True, help="What is kept at hand of the database.")
tickets = typer.Typer(no_args_is_help=True, help="Tickets sold elsewhere, and all that is sold.")
scans = typer.Typer(no_args_is_help=True, help="What was scanned, and what is counted of it.")
console = Console(stderr=True, highlight=False)

Tenant = Annotated[str, typer.Option("--organization", help="Its short name, such as city-hall.")]
EventId = Annotated[UUID, typer.Option(help="The event's id.")]
VENUES_PER_READ = 200
QUEUE_BYTES_MAX = 16 * 1024 * 1024


@organization.command(name="create")
def create_organization_command(
    slug: Annotated[str, typer.Argument(help="Short name for log-ins, such as city-hall.")],
    name: Annotated[str, typer.Argument(help="The name people see.")],
    owner_email: Annotated[str, typer.Argument(help="Who will run it.")],
) -> None:
    """Add a tenant with its owner; asks for the owner's password (or reads it from stdin)."""
    _check(slug, Slug, "The short name has small letters, digits and single hyphens only.")
    _check(name, Name, "The name must not be empty, nor longer than 200 characters.")
    _check(owner_email, Email, "That is not an e-mail address.")
    password = _ask_for_password()
    _check(password, NewPassword, "A password has 10 to 200 characters.")
    owner = NewUser(email=owner_email, name=owner_email, role="owner", password=password)

    async def create(services: Services) -> None:
        created, _ = await create_organization(services.database, slug, name, owner)
        print(created.id)
        step(f"{owner_email} can log in now, with the organisation {slug!r}")

    _with_services(create)


@layout.command(name="import")
def import_layout(
    file: File,
    tenant: Tenant,
    venue: Annotated[str, typer.Option(help="The venue's name or id.")],
    name: Annotated[str | None, typer.Option(help="The layout's name; the file's without.")] = None,
    version_of: Annotated[
        UUID | None, typer.Option(help="A layout's id, to make this its next version.")
    ] = None,
    draft: Annotated[bool, typer.Option(help="Do not use it for events yet.")] = False,
) -> None:
    """Store a file as a venue's layout; prints the new layout's id."""
    config = msgspec.to_builtins(read_sound_layout(file), str_keys=True)
    new = NewLayout(name=name or file.stem, config=config, status="draft" if draft else "active")
    _check(new.name, Name, "The name must not be empty, nor longer than 200 characters.")

    async def store(services: Services) -> None:
        caller = await _on_behalf_of(services, tenant)
        found = await _venue(services, caller, venue)
        database = services.database
        if version_of is None:
            stored = await create_layout(database, caller, found.id, new, None)
        else:
            stored = await create_version(database, caller, version_of, new, None)
        print(stored.id)
        step(f"{stored.name!r}, version {stored.version}: {stored.seat_count} seats")

    _with_services(store)


@layout.command(name="export")
def export_layout(
    layout_id: Annotated[UUID, typer.Argument(help="Of one version.")],
    tenant: Tenant,
    form: Annotated[
        Format | None,
        typer.Option("--format", help="Of what is written; the file's suffix says it."),
    ] = None,
    output: Annotated[Path, typer.Option(help="A file; - is standard output.")] = Path("-"),
) -> None:
    """Write a stored layout as a file."""

    async def export(services: Services) -> None:
        caller = await _on_behalf_of(services, tenant)
        config = await read_config(services.database, caller, layout_id)
        write_file(output, write_layout(config, form or format_of(output)).encode())

    _with_services(export)


@tickets.command(name="import")
def import_tickets(
    file: Annotated[Path, typer.Argument(help="CSV in UTF-8, with a header.")],
    tenant: Tenant,
    event: EventId,
    dry_run: Annotated[bool, typer.Option(help="Check everything, import nothing.")] = False,
    faults: Annotated[Path | None, typer.Option(help="Write all faults to this file.")] = None,
) -> None:
    """Import tickets sold elsewhere. Lines with faults are skipped; a file can be imported again."""
    upload = Upload(event_id=event, file_name=file.name, dry_run=dry_run, by_job=False)
    sound = False

    async def load(services: Services) -> None:
        nonlocal sound
        caller, database = await _on_behalf_of(services, tenant), services.database
        received = await receive_file(database, caller, upload, pieces_of(file))
        with _progress() as report:
            context = Context(database, services.cache, services.master_key)
            await run_import(context, ImportJob(caller.organization_id, received.id), report)
        imported = await read_import(database, caller, received.id)
        found = await list_faults(database, caller, received.id, 0, SHOWN_FAULTS_MAX + 1)
        shown = [each.fault for each in found[:SHOWN_FAULTS_MAX]]
        show_faults(file, shown, more=len(found) > SHOWN_FAULTS_MAX)
        if faults is not None:
            await _write(faults, faults_table(database, caller, received.id))
        print(f"{file}: {imported.problem or summary(imported)}")
        sound = imported.status == "done" and not imported.faulty

    try:
        _with_services(load)
    except InvalidTicketFile as refusal:
        show_faults(file, refusal.faults, more=False)
    if not sound:
        raise typer.Exit(1)


@tickets.command(name="export")
def export_tickets(
    what: Annotated[str, typer.Argument(help="orders, tickets or holds, with .csv or .json.")],
    tenant: Tenant,
    event: EventId,
    output: Annotated[Path, typer.Option(help="A file; - is standard output.")] = STANDARD,
) -> None:
    """Write all orders, tickets or holds of an event, such as tickets.csv."""

    async def write(services: Services) -> None:
        caller = await _on_behalf_of(services, tenant)
        content = await export(services.database, services.cache, caller, event, what)
        await _write(output, content)

    _with_services(write)


@contextmanager
def _progress() -> Generator[Report]:
    """A line that moves, for whoever sits there."""
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as shown:
        task = shown.add_task("Importing", total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)


async def _write(path: Path, content: AsyncIterator[bytes]) -> None:
    """Raises UnwritableFile."""
    try:
        with nullcontext(sys.stdout.buffer) if path == STANDARD else path.open("wb") as file:
            async for piece in content:
                file.write(piece)
    except OSError as error:
        raise UnwritableFile(f"{path}: {error.strerror}") from None


@cache.command(name="rebuild")
def rebuild_cache() -> None:
    """Compare what is remembered of events on sale with PostgreSQL, and put right what differs."""

    async def rebuild(services: Services) -> None:
        events, wrong = await rebuild_all(services.database, services.cache)
        holds = await reconcile_all(services.database, services.cache, services.holds.registry)
        print(f"{events} events on sale, {wrong} caches and {holds} holds put right")

    _with_services(rebuild)


@scans.command(name="recount")
def recount_scans(
    repair: Annotated[bool, typer.Option(help="Put right what differs, on record.")] = False,
) -> None:
    """Count who is inside at all live events from their scans, and compare with the counters."""
    found: list[Difference] = []

    async def count(services: Services) -> None:
        events, differences = await recount_all(services.database, repair=repair)
        for each in differences:
            print(_difference(each))
        done = "put right" if repair else "found"
        print(f"{events} live events, {len(differences)} differences {done}")
        found.extend(differences)

    _with_services(count)
    if found and not repair:
        raise typer.Exit(1)


@scans.command(name="import")
def import_scans(
    file: Annotated[Path, typer.Argument(help="What a device exported.")], tenant: Tenant
) -> None:
    """Import the queue of a device that cannot send it; it counts once somebody has reviewed it."""
    queue = _read_queue(file)

    async def load(services: Services) -> None:
        caller = await _on_behalf_of(services, tenant)
        imported = await import_queue(services.database, services.master_key, caller, queue)
        for each in imported.results:
            if each.message is not None:
                print(f"{each.scan_id}: {each.message}")
        print(f"{file}: {_recovered(imported)}")
        print(imported.batch_id)

    _with_services(load)


def _read_queue(file: Path) -> ExportedQueue:
    try:
        if file.stat().st_size > QUEUE_BYTES_MAX:
            raise SettingsError(f"{file}: no device exports more than {QUEUE_BYTES_MAX} bytes.")
        return msgspec.json.decode(file.read_bytes(), type=ExportedQueue)
    except OSError as error:
        raise SettingsError(f"{file}: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise SettingsError(f"{file}: this is no queue that a device exported: {fault}") from None


def _recovered(imported: Imported) -> str:
    parts = [f"{imported.kept} of {imported.total} scans of {imported.device_name!r} kept"]
    for count, what in (
        (imported.known, "known already"),
        (imported.rejected, "rejected"),
        (imported.wrong_signatures, "not signed by it, which never count"),
        (imported.doubtful, "made at a moment that is to be doubted"),
    ):
        if count:
            parts.append(f"{count} {what}")
    waits = "; they count once somebody has accepted them" if imported.kept else ""
    return ", ".join(parts) + waits


def _difference(of: Difference) -> str:
    counts = (
        f"{name} {counted}, by the scans {by_scans}"
        for name, counted, by_scans in (
            ("entries", of.entries, of.entries_by_scans),
            ("exits", of.exits, of.exits_by_scans),
            ("inside", of.inside, of.inside_by_scans),
        )
        if counted != by_scans
    )
    return f"event {of.event_id}, {of.day}, {of.scope} {of.scope_id}: {'; '.join(counts)}"


def _with_services(work: Callable[[Services], Awaitable[None]]) -> None:
    chosen = settings(for_a_person=True)
    services = build_services(chosen, running_database(chosen), master_key=master_key_of(chosen))

    async def run() -> None:
        async with running(services, with_jobs=False):
            await work(services)

    uvloop.run(run())


async def _on_behalf_of(services: Services, slug: str) -> Caller:
    organization_id = await services.database.find_organization(slug)
    if organization_id is None:
        raise SettingsError(f"There is no organisation {slug!r}.")
    return Caller(kind="system", id=None, organization_id=organization_id)


async def _venue(services: Services, caller: Caller, name_or_id: str) -> Venue:
    venues: list[Venue] = []
    while True:
        after = venues[-1].id if venues else None
        more = await list_venues(services.database, caller, after, VENUES_PER_READ)
        if not more:
            break
        venues += more
    found = [venue for venue in venues if name_or_id in (venue.name, str(venue.id))]
    if len(found) > 1:
        raise VenueNotFound(f"Several venues are called {name_or_id!r}; give the id of one.")
    if not found:
        names = ", ".join(repr(venue.name) for venue in venues) or "none"
        raise VenueNotFound(f"There is no venue {name_or_id!r}; there are {names}.")
    return found[0]


def _check(value: str, shape: object, explanation: str) -> None:
    try:
        msgspec.convert(value, shape)
    except msgspec.ValidationError:
        raise SettingsError(explanation) from None


def _ask_for_password() -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    password = getpass("Password: ")
    if getpass("Again: ") != password:
        raise SettingsError("The two passwords differ.")
    return password


def settings(*, for_a_person: bool = False) -> Settings:
    """Whoever reads what is said asks for more than warnings if they want more."""
    chosen = read_settings()
    is_asked = f"{PREFIX}LOG_LEVEL" in os.environ
    level = chosen.log_level if is_asked or not for_a_person else "warning"
    configure_logs(level, chosen.log_format)
    return chosen


def outside_database(chosen: Settings) -> str:
    if chosen.database_url is None:
        raise SettingsError(f"Set {PREFIX}DATABASE_URL, or use `voelgoed up` for the embedded one.")
    uvloop.run(refuse_a_powerful_role(chosen.database_url))
    uvloop.run(require_current_schema(chosen.database_url))
    return chosen.database_url


def running_database(chosen: Settings) -> str:
    """The outside one, or the embedded one of a `voelgoed up` that is running."""
    if chosen.database_url is not None:
        return outside_database(chosen)
    return EmbeddedPostgres(chosen.data / "postgres").url()


def step(text: str) -> None:
    console.print(f"[dim]·[/dim] {text}")
