"""What var/demo.json tells a person, or a program, who wants to try the API."""

from datetime import datetime
from pathlib import Path
from secrets import token_urlsafe
from typing import get_args
from uuid import UUID

import msgspec

from voelgoed.accounts.model import Role
from voelgoed.infra.data_directory import DataDirectory, DataDirectoryError

FILE = "demo.json"
SLUG = "demo"


class DemoUser(msgspec.Struct):
    email: str
    password: str


class DemoGate(msgspec.Struct):
    id: UUID
    code: str
    name: str


class Demo(msgspec.Struct):
    url: str
    organization_slug: str
    users: dict[Role, DemoUser]
    begun_at: datetime
    """The present of its story; the same for every start that works on it."""
    is_finished: bool = False
    organization_id: UUID | None = None
    event_id: UUID | None = None
    """Of the festival, whose gates are open."""
    gates: list[DemoGate] = []
    bank_secret: str = msgspec.field(default_factory=lambda: token_urlsafe(24))
    """By which the shop and the bank know each other; see bank.py."""
    bank_url: str | None = None
    """Where the shop last heard that it is."""


def new_demo(url: str, now: datetime) -> Demo:
    users: dict[Role, DemoUser] = {
        role: DemoUser(f"{role}@{SLUG}.example", token_urlsafe(9)) for role in get_args(Role)
    }
    return Demo(url, SLUG, users, begun_at=now)


def read_demo(path: Path) -> Demo | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Demo)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as fault:
        raise DataDirectoryError(f"{path} is damaged ({fault}); remove it") from None


def write_demo(directory: DataDirectory, demo: Demo) -> None:
    text = msgspec.json.format(msgspec.json.encode(demo)).decode()
    directory.write_secret(FILE, text + "\n")
