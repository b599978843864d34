"""A venue to try everything on, made on the first start.

The log-ins are written down before they are used, and every step may be repeated, so a
start that is cut off anywhere is finished by the next one.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from pathlib import Path
from secrets import token_urlsafe
from typing import get_args
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec

from voelgoed.accounts.actions.organizations import create_organization
from voelgoed.accounts.actions.users import create_user, list_users
from voelgoed.accounts.model import Caller, EmailTaken, NewUser, Role
from voelgoed.events.actions.events import create_event, move_event
from voelgoed.events.actions.gates import create_gate
from voelgoed.events.actions.venues import create_venue
from voelgoed.events.model import Event, InvalidTransition, NewEvent, NewGate, NewVenue, Transition
from voelgoed.events.rules.days import DAY_BREAK, days_between
from voelgoed.infra.cache import Cache
from voelgoed.infra.data_directory import DataDirectory, DataDirectoryError
from voelgoed.infra.database import Database
from voelgoed.infra.idempotency import Once
from voelgoed.seating.actions.event_layouts import put_event_layout
from voelgoed.seating.actions.layouts import create_layout
from voelgoed.seating.actions.policies import change_policy, read_policy
from voelgoed.seating.model.event_layout import NewEventLayout
from voelgoed.seating.model.layout import NewLayout
from voelgoed.seating.model.policy import SeatingPolicyChange
from voelgoed.seating.model.refusals import EventLayoutTaken
from voelgoed.seating.samples import sample
from voelgoed.ticketing.actions.ticket_types import create_ticket_type
from voelgoed.ticketing.model.ticket_types import NewTicketType, Price

FILE = "demo.json"
SLUG = "demo"
TIMEZONE = ZoneInfo("Africa/Johannesburg")
NAME = "Voelgoed Demo"
GATES = {"north-main": "North Main", "south": "South", "vip": "VIP"}


class DemoUser(msgspec.Struct):
    email: str
    password: str


class DemoGate(msgspec.Struct):
    id: UUID
    code: str
    name: str


class Demo(msgspec.Struct):
    """What var/demo.json tells a person, or a program, who wants to try the API."""

    url: str
    organization_slug: str
    users: dict[Role, DemoUser]
    organization_id: UUID | None = None
    event_id: UUID | None = None
    gates: list[DemoGate] = []


async def ensure_demo(
    database: Database,
    cache: Cache,
    directory: DataDirectory,
    url: str,
    report: Callable[[str], None],
) -> Demo | None:
    """None when this installation has organisations but no demo: it is in real use."""
    demo = _read(directory.path / FILE)
    if demo is not None and demo.gates and await database.find_organization(SLUG) is None:
        demo = None  # it tells of another database
    if demo is None:
        if await database.organization_ids():
            return None
        demo = _new_demo(url)
    demo.url = url
    _write(directory, demo)
    if not demo.gates:
        report("Making a demo organisation with two venues and two events")
        await _seed(database, cache, demo)
        _write(directory, demo)
    return demo


def _new_demo(url: str) -> Demo:
    users: dict[Role, DemoUser] = {
        role: DemoUser(f"{role}@{SLUG}.example", token_urlsafe(9)) for role in get_args(Role)
    }
    return Demo(url, SLUG, users)


async def _seed(database: Database, cache: Cache, demo: Demo) -> None:
    owner = await _ensure_people(database, demo)
    demo.organization_id = owner.organization_id
    now = database.clock.now()
    venue = await create_venue(
        database,
        owner,
        NewVenue(
            name="Voelgoed Amphitheatre",
            address="1 Protea Road, Stellenbosch",
            timezone=str(TIMEZONE),
        ),
        _step(owner, "venue"),
    )
    theatre = await create_venue(
        database,
        owner,
        NewVenue(name="Stadsteater", address="12 Kerk Street", timezone=str(TIMEZONE)),
        _step(owner, "theatre"),
    )
    festival = await create_event(
        database, owner, _festival(venue.id, now), _step(owner, "festival")
    )
    concert = await create_event(
        database, owner, _concert(theatre.id, now), _step(owner, "concert")
    )
    await _allow_vip_zones(database, owner)
    await _seat(database, cache, owner, festival, "festival")
    await _seat(database, cache, owner, concert, "theatre")
    await _price(database, cache, owner, festival, concert)
    await _open_doors(database, owner, festival)
    for code, name in GATES.items():
        new = NewGate(code=code, name=name, capacity=500, status="open")
        gate = await create_gate(database, owner, festival.id, new, _step(owner, code))
        demo.gates.append(DemoGate(gate.id, gate.code, gate.name))
    demo.event_id = festival.id


async def _ensure_people(database: Database, demo: Demo) -> Caller:
    organization_id = await database.find_organization(SLUG)
    if organization_id is None:
        owner_new = _new_user("owner", demo.users["owner"])
        organization, owner_id = await create_organization(database, SLUG, NAME, owner_new)
        organization_id = organization.id
    else:
        someone = Caller(kind="system", id=None, organization_id=organization_id)
        [found] = await list_users(database, someone, "owner", None, 1)
        owner_id = found.id
    owner = Caller(kind="user", id=owner_id, organization_id=organization_id, role="owner")
    for role, user in demo.users.items():
        if role != "owner":
            await _ensure_user(database, owner, role, user)
    return owner


async def _ensure_user(database: Database, owner: Caller, role: Role, user: DemoUser) -> None:
    try:
        await create_user(database, owner, _new_user(role, user), None)
    except EmailTaken:
        return  # by an earlier start that was cut off


async def _allow_vip_zones(database: Database, owner: Caller) -> None:
    policy = await read_policy(database, owner)
    if not policy.allow_vip_zones:
        change = SeatingPolicyChange(version=policy.version, allow_vip_zones=True)
        await change_policy(database, owner, change)


async def _seat(
    database: Database, cache: Cache, owner: Caller, event: Event, sample_name: str
) -> None:
    config = msgspec.to_builtins(sample(sample_name), str_keys=True)
    new = NewLayout(name=sample_name.title(), config=config)
    step = _step(owner, f"{sample_name}-layout")
    layout = await create_layout(database, owner, event.venue_id, new, step)
    with suppress(EventLayoutTaken):  # by an earlier start that was cut off
        request = NewEventLayout(layout_id=layout.id)
        await put_event_layout(database, cache, owner, event.id, request)


async def _price(
    database: Database, cache: Cache, owner: Caller, festival: Event, concert: Event
) -> None:
    """Something to buy: passes and day tickets for the festival, two prices for the concert."""
    for event, name, kind, amount, days in (
        (festival, "Weekend seat", "seated", 120_000, None),
        (festival, "Weekend pass", "ga", 75_000, None),
        *(
            (festival, f"Day ticket {day.date:%A}", "ga", 35_000, [day.date])
            for day in festival.days
        ),
        (concert, "Full price", "seated", 32_000, None),
        (concert, "Concession", "seated", 18_000, None),
    ):
        new = NewTicketType(
            name=name,
            kind=kind,  # pyright: ignore[reportArgumentType]
            currency="ZAR",
            prices=[Price(amount_minor=amount)],
            valid_days=days,
        )
        step = _step(owner, f"{event.id}-{name}")
        await create_ticket_type(database, cache, owner, event.id, new, step)


async def _open_doors(database: Database, owner: Caller, event: Event) -> None:
    for status in ("published", "live"):
        with suppress(InvalidTransition):  # live already: an earlier start was cut off after this
            await move_event(database, owner, event.id, Transition(to=status))


def _festival(venue_id: UUID, now: datetime) -> NewEvent:
    begins = datetime.combine(_today(now), DAY_BREAK, TIMEZONE)
    return NewEvent(
        venue_id=venue_id,
        name="Voelgoed Fees",
        description="Three days of music on the grass, doors open now.",
        starts_at=begins,
        ends_at=begins + timedelta(days=2, hours=17),
        sale_start=begins - timedelta(days=30),
        sale_end=begins + timedelta(days=2),
        capacity=2000,
    )


def _concert(venue_id: UUID, now: datetime) -> NewEvent:
    begins = datetime.combine(_today(now) + timedelta(days=30), time(19, 30), TIMEZONE)
    return NewEvent(
        venue_id=venue_id,
        name="Somerkonsert",
        description="An evening concert, still a draft.",
        starts_at=begins,
        ends_at=begins + timedelta(hours=4),
        capacity=400,
    )


def _today(now: datetime) -> date:
    [day] = days_between(now, now + timedelta(microseconds=1), TIMEZONE)
    return day.date


def _new_user(role: Role, user: DemoUser) -> NewUser:
    name = f"Demo {role.replace('_', ' ').title()}"
    return NewUser(email=user.email, name=name, role=role, password=user.password)


def _step(owner: Caller, name: str) -> Once:
    assert owner.id is not None
    return Once(owner.id, f"demo-{name}", b"demo")


def _read(path: Path) -> Demo | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Demo)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as fault:
        raise DataDirectoryError(f"{path} is damaged ({fault}); remove it") from None


def _write(directory: DataDirectory, demo: Demo) -> None:
    text = msgspec.json.format(msgspec.json.encode(demo)).decode()
    directory.write_secret(FILE, text + "\n")
