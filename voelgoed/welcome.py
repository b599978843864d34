"""What somebody who has just started it should know: where to look, as whom, and what to do next."""

import socket
from pathlib import Path

import msgspec
import segno

from voelgoed.accounts.model import Role
from voelgoed.demo.file import FILE, Demo
from voelgoed.infra.certificate import own_addresses
from voelgoed.server import is_for_others, url_at, url_of

TOUR = "docs/demo.md"
LED_AS: tuple[Role, ...] = ("owner", "box_office", "customer")


class Address(msgspec.Struct, frozen=True):
    here: str
    """For a browser on this machine."""
    phone: str | None
    """For others in the same network, if it is open to them."""
    is_https: bool


def address_of(listener: socket.socket, *, https: bool) -> Address:
    scheme = "https" if https else "http"
    others = own_addresses() if is_for_others(listener) else []
    port = listener.getsockname()[1]
    phone = url_at(others[0], port, scheme=scheme) if others else None
    return Address(url_of(listener, scheme=scheme), phone, https)


def welcome(address: Address, data: Path, demo: Demo | None) -> None:
    print("\nVoelgoed is running. Ctrl-C stops it.\n")
    if demo is None:
        _list_apps(address)
    else:
        _lead(address, demo)
        _list_others(demo)
        print(f"\n  All of this is in {data / FILE}, and the tour in {TOUR}")
    if address.phone is not None:
        _show_phone(address.phone, demo)
    print(flush=True)


def _list_apps(address: Address) -> None:
    for name, path in (
        ("box office", "/box-office/"),
        ("scanner", "/scanner/"),
        ("dashboard", "/dashboard/"),
        ("API", "/api/docs"),
    ):
        print(f"  {name:<12} {address.here}{path}")


def _lead(address: Address, demo: Demo) -> None:
    """In the order in which one would like to see it."""

    def step(number: int, what: str, path: str, *lines: str) -> None:
        print(f"  {number}  {what:<12} {address.here}{path}")
        for line in lines:
            print(f"{'':<18}{line}")

    organization = f"?org={demo.organization_slug}"
    step(1, "Watch", f"/dashboard/{organization}", _as("owner", demo), "open Voelgoed Fees")
    step(
        2,
        "Buy a seat",
        f"/box-office/{organization}",
        _as("box_office", demo),
        f"or {_as('customer', demo)}, who pays at a bank that takes no money",
    )
    step(
        3,
        "Scan it",
        f"/scanner/{organization}",
        "pair it with a code of the dashboard: Voelgoed Fees, Devices",
        *([] if address.is_https else ["for a phone's camera: make up ARGS=--https"]),
    )
    print(f"  4  {'Busy gates':<12} .venv/bin/voelgoed simulate    in another terminal")
    print(f"     {'API':<12} {address.here}/api/docs")


def _as(role: Role, demo: Demo) -> str:
    user = demo.users[role]
    return f"as {user.email}, password {user.password}"


def _list_others(demo: Demo) -> None:
    print(f"\n  Others who can log in to organisation {demo.organization_slug!r}:")
    for role, user in demo.users.items():
        if role in LED_AS:
            continue
        print(f"  {role:<16} {user.email:<32} {user.password}")


def _show_phone(url: str, demo: Demo | None) -> None:
    organization = f"?org={demo.organization_slug}" if demo else ""
    scanner = f"{url}/scanner/{organization}"
    print(f"\n  On a phone in the same network: {scanner}")
    if url.startswith("https"):
        print("  Its browser warns, because nobody vouches for this machine: go on all the same.\n")
        segno.make_qr(scanner, error="L").terminal(compact=True, border=2)
