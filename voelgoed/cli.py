"""One executable, several roles."""

import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated, Any

import msgspec
import typer
import uvloop

from voelgoed import admin
from voelgoed.config import PREFIX, Settings, SettingsError
from voelgoed.demo.bank import Bank
from voelgoed.demo.file import Demo
from voelgoed.demo.seed import ensure_demo
from voelgoed.device.cli import device
from voelgoed.device.model import DeviceFault
from voelgoed.device.simulation.cli import simulate
from voelgoed.http import create_app
from voelgoed.infra.certificate import ensure_certificate, own_addresses
from voelgoed.infra.clock import Clock
from voelgoed.infra.data_directory import DataDirectory, DataDirectoryError
from voelgoed.infra.embedded import EmbeddedPostgres, EmbeddedPostgresError
from voelgoed.infra.migrate import MigrationError, migrate
from voelgoed.infra.refusal import Refusal
from voelgoed.infra.supervisor import PostgresSupervisor
from voelgoed.infra.web import App
from voelgoed.openapi import document
from voelgoed.seating.cli import UnreadableLayout
from voelgoed.server import PortError, listen, serve, url_of, work
from voelgoed.services import Services, build_services, master_key_of
from voelgoed.ticketing.actions.event_keys import opens_event_keys
from voelgoed.welcome import address_of, welcome

cli = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
cli.add_typer(admin.organization, name="organization")
cli.add_typer(admin.layout, name="layout")
cli.add_typer(admin.tickets, name="tickets")
cli.add_typer(admin.scans, name="scans")
cli.add_typer(admin.cache, name="cache")
cli.add_typer(device, name="device")
cli.command(name="simulate")(simulate)

Host = Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 opens it to others.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one.")]

SECRETS = ("url", "token", "key")
"""In the names of settings that are not shown."""
ENDS = (signal.SIGTERM, signal.SIGHUP)
EXPLAINED = (
    SettingsError,
    DataDirectoryError,
    EmbeddedPostgresError,
    MigrationError,
    PortError,
    Refusal,
    DeviceFault,
)


def main() -> None:
    try:
        cli()
    except EXPLAINED as fault:
        admin.console.print(
            "\n".join([f"voelgoed: {fault}", *_faults(fault)]),
            style="red",
            soft_wrap=True,
            markup=False,
        )
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def _faults(fault: Exception) -> list[str]:
    """What a refusal only points to."""
    if not isinstance(fault, Refusal) or isinstance(fault, UnreadableLayout):
        return []
    faults: Any = fault.details.get("faults", [])
    return [f"{each.path}: {each.message}" for each in faults]


@cli.command()
def up(
    host: Annotated[
        str | None, typer.Option(help="The address to listen on; 0.0.0.0 opens it to others.")
    ] = None,
    port: Port = 8080,
    https: Annotated[
        bool,
        typer.Option("--https", help="For phones nearby: all addresses, a certificate of its own."),
    ] = False,
) -> None:
    """Start everything on this machine: database, API, apps and jobs, with a demo."""
    settings = admin.settings(for_a_person=True)
    _end_as_by_ctrl_c()
    directory = DataDirectory.claim(settings.data)
    try:
        listener = listen(host or ("0.0.0.0" if https else "127.0.0.1"), port)  # noqa: S104 (asked for)
        address = address_of(listener, https=https)
        if settings.public_url is None:
            settings = msgspec.structs.replace(settings, public_url=address.phone or address.here)
        directory.announce(address.here)
        certificate = (
            ensure_certificate(directory, own_addresses(), Clock().now()) if https else None
        )
        with _database(settings, directory) as (database_url, supervisor):
            services = _services(settings, database_url, supervisor)
            demo = uvloop.run(
                ensure_demo(
                    settings, database_url, services.master_key, directory, address.here, admin.step
                )
            )
            uvloop.run(
                serve(
                    services,
                    listener,
                    with_jobs=True,
                    on_ready=lambda: welcome(address, directory.path, demo),
                    on_stopping=supervisor.stop_restarting if supervisor else lambda: None,
                    certificate=certificate,
                    app=_with_bank(services, demo),
                )
            )
            admin.step("Stopping")
    finally:
        directory.release()


@cli.command(name="serve")
def serve_command(
    host: Host = "127.0.0.1",
    port: Port = 8080,
    jobs: Annotated[bool, typer.Option(help="Run background jobs too.")] = True,
) -> None:
    """Serve API and apps from an outside database; start as many of these as you need."""
    settings = admin.settings()
    services = _services(settings, admin.outside_database(settings))
    listener = listen(host, port)

    def on_ready() -> None:
        admin.step(f"Serving {url_of(listener)}")

    uvloop.run(serve(services, listener, with_jobs=jobs, on_ready=on_ready))


@cli.command(name="work")
def work_command() -> None:
    """Run only the background jobs, with an outside database."""
    settings = admin.settings()
    uvloop.run(work(_services(settings, admin.outside_database(settings))))


@cli.command(name="migrate")
def migrate_command() -> None:
    """Bring an outside database's schema up to date (VOELGOED_MIGRATION_URL)."""
    settings = admin.settings()
    if settings.migration_url is None:
        raise SettingsError(f"Set {PREFIX}MIGRATION_URL to the database as the tables' owner.")
    uvloop.run(migrate(settings.migration_url))
    admin.step("The schema is up to date")


@cli.command(name="settings")
def settings_command() -> None:
    """List every setting with its present value."""
    settings = admin.settings()
    for field in msgspec.structs.fields(Settings):
        value = getattr(settings, field.name)
        secret = value is not None and any(word in field.name for word in SECRETS)
        print(f"{PREFIX}{field.name.upper()}={'(set)' if secret else value or ''}")


@cli.command(name="openapi")
def openapi_command() -> None:
    """Print the OpenAPI document; contracts/openapi.json is a copy."""
    sys.stdout.buffer.write(document())


@contextmanager
def _database(
    settings: Settings, directory: DataDirectory
) -> Generator[tuple[str, PostgresSupervisor | None]]:
    if settings.database_url is not None:
        if settings.migration_url is not None:
            uvloop.run(migrate(settings.migration_url))
        yield admin.outside_database(settings), None
        return
    postgres = EmbeddedPostgres(directory.path / "postgres")
    supervisor = PostgresSupervisor(postgres)
    try:
        postgres.start(report=admin.step)
        uvloop.run(migrate(postgres.url("voelgoed_owner")))
        supervisor.start()
        yield postgres.url("voelgoed_server"), supervisor
    finally:
        for number in (signal.SIGINT, *ENDS):  # a second Ctrl-C must not leave it running
            signal.signal(number, signal.SIG_IGN)
        supervisor.stop()
        postgres.stop()


def _with_bank(services: Services, demo: Demo | None) -> App:
    app = create_app(services)
    return app if demo is None else Bank(app, services.checkout, demo)


def _services(
    settings: Settings, database_url: str, supervisor: PostgresSupervisor | None = None
) -> Services:
    services = build_services(
        settings, database_url, master_key=master_key_of(settings), supervisor=supervisor
    )
    if services.master_key.is_missing:
        admin.step(f"No tickets can be signed before {PREFIX}MASTER_KEY is set")
    else:
        uvloop.run(_try_master_key(services))
    return services


async def _try_master_key(services: Services) -> None:
    """Everything else works with a wrong one, and who restores a backup should not learn it from
    the first buyer."""
    await services.database.open()
    try:
        if not await opens_event_keys(services.database, services.master_key):
            admin.step(
                "The master key is not what this database's event keys were sealed with; set "
                f"{PREFIX}MASTER_KEY or {PREFIX}PREVIOUS_MASTER_KEY to that one"
            )
    finally:
        await services.database.close()


def _end_as_by_ctrl_c() -> None:
    """From the first moment on, or a start that is called off would leave the database running."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's `&` has it ignored
    for number in ENDS:
        signal.signal(number, lambda _number, _frame: signal.raise_signal(signal.SIGINT))
