"""What an operator does to an installation: its tenants, their layouts, the caches."""

import os
import sys
from collections.abc import Awaitable, Callable
from getpass import getpass
from pathlib import Path
from typing import Annotated
from uuid import UUID

import msgspec
import typer
import uvloop
from rich.console import Console

from voelgoed.accounts.actions.organizations import create_organization
from voelgoed.accounts.model import Caller, NewPassword, NewUser
from voelgoed.config import PREFIX, Settings, SettingsError, read_settings
from voelgoed.events.actions.venues import list_venues
from voelgoed.events.model import Venue, VenueNotFound
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.infra.log import configure_logs
from voelgoed.infra.migrate import refuse_a_powerful_role, require_current_schema
from voelgoed.infra.shapes import Email, Name, Slug
from voelgoed.seating.actions.layouts import create_layout, create_version, read_config
from voelgoed.seating.actions.rebuild import rebuild_all
from voelgoed.seating.cli import (
    File,
    Format,
    format_of,
    layout,
    read_sound_layout,
    write_file,
    write_layout,
)
from voelgoed.seating.model.layout import NewLayout
from voelgoed.services import Services, build_services, running

organization = typer.Typer(no_args_is_help=True, help="The tenants of this installation.")
cache = typer.Typer(no_args_is_help=True, help="What is kept at hand of the database.")
console = Console(stderr=True, highlight=False)

Tenant = Annotated[str, typer.Option("--organization", help="Its short name, such as city-hall.")]
VENUES_PER_READ = 200


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


@cache.command(name="rebuild")
def rebuild_cache() -> None:
    """Compare the seat caches of events on sale with PostgreSQL, and put right what differs."""

    async def rebuild(services: Services) -> None:
        events, wrong = await rebuild_all(services.database, services.cache)
        print(f"{events} events on sale, {wrong} caches put right")

    _with_services(rebuild)


def _with_services(work: Callable[[Services], Awaitable[None]]) -> None:
    chosen = settings()
    if f"{PREFIX}LOG_LEVEL" not in os.environ:  # a person is reading
        configure_logs("warning", chosen.log_format)
    services = build_services(chosen, running_database(chosen))

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


def settings() -> Settings:
    chosen = read_settings()
    configure_logs(chosen.log_level, chosen.log_format)
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
