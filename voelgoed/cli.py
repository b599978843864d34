"""One executable, several roles."""

import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from getpass import getpass
from pathlib import Path
from typing import Annotated

import msgspec
import typer
import uvloop
from rich.console import Console

from voelgoed import demo as demo_data
from voelgoed.accounts.actions.organizations import create_organization
from voelgoed.accounts.model import NewPassword, NewUser
from voelgoed.config import PREFIX, Settings, SettingsError, read_settings
from voelgoed.infra.data_directory import DataDirectory, DataDirectoryError
from voelgoed.infra.embedded import EmbeddedPostgres, EmbeddedPostgresError
from voelgoed.infra.log import configure_logs
from voelgoed.infra.migrate import (
    MigrationError,
    migrate,
    refuse_a_powerful_role,
    require_current_schema,
)
from voelgoed.infra.refusal import Refusal
from voelgoed.infra.shapes import Email, Name, Slug
from voelgoed.openapi import document
from voelgoed.server import PortError, listen, serve, url_of, work
from voelgoed.services import Services, build_services, running
from voelgoed.static import APPS

cli = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
organization = typer.Typer(no_args_is_help=True, help="The tenants of this installation.")
cli.add_typer(organization, name="organization")
console = Console(stderr=True, highlight=False)

Host = Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 opens it to others.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one.")]

ENDS = (signal.SIGTERM, signal.SIGHUP)
EXPLAINED = (
    SettingsError,
    DataDirectoryError,
    EmbeddedPostgresError,
    MigrationError,
    PortError,
    Refusal,
)


def main() -> None:
    try:
        cli()
    except EXPLAINED as fault:
        console.print(f"voelgoed: {fault}", style="red", soft_wrap=True, markup=False)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


@cli.command()
def up(host: Host = "127.0.0.1", port: Port = 8080) -> None:
    """Start everything on this machine: database, API, apps and jobs, with a demo."""
    settings = _settings()
    _end_as_by_ctrl_c()
    directory = DataDirectory.claim(settings.data)
    try:
        listener = listen(host, port)
        url = url_of(listener)
        directory.announce(url)
        with _database(settings, directory) as database_url:
            services = build_services(settings, database_url)
            demo = uvloop.run(_prepare_demo(services, directory, url))
            uvloop.run(
                serve(
                    services,
                    listener,
                    with_jobs=True,
                    on_ready=lambda: _welcome(url, directory.path, demo),
                )
            )
            _step("Stopping")
    finally:
        directory.release()


@cli.command(name="serve")
def serve_command(
    host: Host = "127.0.0.1",
    port: Port = 8080,
    jobs: Annotated[bool, typer.Option(help="Run background jobs too.")] = True,
) -> None:
    """Serve API and apps from an outside database; start as many of these as you need."""
    settings = _settings()
    services = build_services(settings, _outside_database(settings))
    listener = listen(host, port)

    def on_ready() -> None:
        _step(f"Serving {url_of(listener)}")

    uvloop.run(serve(services, listener, with_jobs=jobs, on_ready=on_ready))


@cli.command(name="work")
def work_command() -> None:
    """Run only the background jobs, with an outside database."""
    settings = _settings()
    uvloop.run(work(build_services(settings, _outside_database(settings))))


@cli.command(name="migrate")
def migrate_command() -> None:
    """Bring an outside database's schema up to date (VOELGOED_MIGRATION_URL)."""
    settings = _settings()
    if settings.migration_url is None:
        raise SettingsError(f"Set {PREFIX}MIGRATION_URL to the database as the tables' owner.")
    uvloop.run(migrate(settings.migration_url))
    _step("The schema is up to date")


@organization.command(name="create")
def create_organization_command(
    slug: Annotated[str, typer.Argument(help="Short name for log-ins, such as city-hall.")],
    name: Annotated[str, typer.Argument(help="The name people see.")],
    owner_email: Annotated[str, typer.Argument(help="Who will run it.")],
) -> None:
    """Add a tenant with its owner; asks for the owner's password (or reads it from stdin)."""
    settings = _settings()
    _check(slug, Slug, "The short name has small letters, digits and single hyphens only.")
    _check(name, Name, "The name must not be empty, nor longer than 200 characters.")
    _check(owner_email, Email, "That is not an e-mail address.")
    password = _ask_for_password()
    _check(password, NewPassword, "A password has 10 to 200 characters.")
    owner = NewUser(email=owner_email, name=owner_email, role="owner", password=password)
    services = build_services(settings, _running_database(settings))

    async def create() -> None:
        async with running(services, with_jobs=False):
            created, _ = await create_organization(services.database, slug, name, owner)
        print(created.id)
        _step(f"{owner_email} can log in now, with the organisation {slug!r}")

    uvloop.run(create())


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


@cli.command(name="settings")
def settings_command() -> None:
    """List every setting with its present value."""
    settings = _settings()
    for field in msgspec.structs.fields(Settings):
        value = getattr(settings, field.name)
        secret = value is not None and ("url" in field.name or "token" in field.name)
        print(f"{PREFIX}{field.name.upper()}={'(set)' if secret else value or ''}")


@cli.command(name="openapi")
def openapi_command() -> None:
    """Print the OpenAPI document; contracts/openapi.json is a copy."""
    sys.stdout.buffer.write(document())


def _settings() -> Settings:
    settings = read_settings()
    configure_logs(settings.log_level, settings.log_format)
    return settings


def _outside_database(settings: Settings) -> str:
    if settings.database_url is None:
        raise SettingsError(f"Set {PREFIX}DATABASE_URL, or use `voelgoed up` for the embedded one.")
    uvloop.run(refuse_a_powerful_role(settings.database_url))
    uvloop.run(require_current_schema(settings.database_url))
    return settings.database_url


def _running_database(settings: Settings) -> str:
    """The outside one, or the embedded one of a `voelgoed up` that is running."""
    if settings.database_url is not None:
        return _outside_database(settings)
    return EmbeddedPostgres(settings.data / "postgres").url()


@contextmanager
def _database(settings: Settings, directory: DataDirectory) -> Generator[str]:
    if settings.database_url is not None:
        if settings.migration_url is not None:
            uvloop.run(migrate(settings.migration_url))
        yield _outside_database(settings)
        return
    postgres = EmbeddedPostgres(directory.path / "postgres")
    try:
        postgres.start(report=_step)
        uvloop.run(migrate(postgres.url("voelgoed_owner")))
        yield postgres.url("voelgoed_server")
    finally:
        for number in (signal.SIGINT, *ENDS):  # a second Ctrl-C must not leave it running
            signal.signal(number, signal.SIG_IGN)
        postgres.stop()


def _end_as_by_ctrl_c() -> None:
    """From the first moment on, or a start that is called off would leave the database running."""
    for number in ENDS:
        signal.signal(number, lambda _number, _frame: signal.raise_signal(signal.SIGINT))


async def _prepare_demo(
    services: Services, directory: DataDirectory, url: str
) -> demo_data.Demo | None:
    await services.database.open()
    try:
        return await demo_data.ensure_demo(services.database, directory, url, _step)
    finally:
        await services.database.close()


def _step(text: str) -> None:
    console.print(f"[dim]·[/dim] {text}")


def _welcome(url: str, data: Path, demo: demo_data.Demo | None) -> None:
    organization = f"?org={demo.organization_slug}" if demo else ""
    print("\nVoelgoed is running. Ctrl-C stops it.\n")
    for app in APPS:
        print(f"  {app:<12} {url}/{app}/{organization}")
    print(f"  {'API':<12} {url}/api/docs")
    if demo:
        print(f"\n  Demo log-ins, organisation {demo.organization_slug!r}:")
        for role, user in demo.users.items():
            print(f"  {role:<16} {user.email:<32} {user.password}")
        print(f"\n  All of this is in {data / demo_data.FILE}")
    print(flush=True)
