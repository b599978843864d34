"""Where it happens and when, and what can be bought."""

from contextlib import suppress
from datetime import date, datetime, time, timedelta
from uuid import UUID, uuid5
from zoneinfo import ZoneInfo

import msgspec

from voelgoed.demo.people import TIER
from voelgoed.demo.story import Story
from voelgoed.events.actions.events import create_event, move_event
from voelgoed.events.actions.venues import create_venue
from voelgoed.events.model import (
    Event,
    EventDay,
    EventStatus,
    InvalidTransition,
    NewEvent,
    NewVenue,
    Transition,
)
from voelgoed.events.rules.days import DAY_BREAK, days_between
from voelgoed.seating.actions.event_layouts import put_event_layout
from voelgoed.seating.actions.layouts import create_layout
from voelgoed.seating.actions.policies import change_policy, read_policy
from voelgoed.seating.model.event_layout import NewEventLayout, Overrides, PricingZone, ZoneOverride
from voelgoed.seating.model.layout import LayoutConfig, NewLayout, Zone
from voelgoed.seating.model.policy import SeatingPolicyChange
from voelgoed.seating.model.refusals import EventLayoutTaken
from voelgoed.seating.samples import sample
from voelgoed.ticketing.actions.ticket_types import create_ticket_type
from voelgoed.ticketing.model.ticket_types import NewTicketType, Price, TicketType

TIMEZONE = ZoneInfo("Africa/Johannesburg")
ANNOUNCED = timedelta(days=35)
"""Before the present: when all of it was arranged."""
ON_SALE = timedelta(days=30)
DOORS_OPENED = timedelta(hours=2)
"""Before the present, at the festival."""
MEMBERS_ONLY = ("Boxes left", "Boxes right")
Prices = dict[str, int]
"""By the names of zones; under an empty one, everywhere else."""


class House(msgspec.Struct, frozen=True):
    """An event with its seats and what is sold there."""

    event: Event
    config: LayoutConfig
    types: dict[str, TicketType]

    def zone(self, name: str) -> Zone:
        [found] = [zone for zone in self.config.zones if zone.name == name]
        return found


async def build_houses(story: Story) -> tuple[House, House, House]:
    """The festival of today, the theatre of tomorrow, and the hall in some weeks."""
    story.at(story.present - ANNOUNCED)
    await _allow_vip_zones(story)
    return await _festival(story), await _theatre(story), await _hall(story)


async def _allow_vip_zones(story: Story) -> None:
    policy = await read_policy(story.services.database, story.owner)
    if not policy.allow_vip_zones:
        change = SeatingPolicyChange(version=policy.version, allow_vip_zones=True)
        await change_policy(story.services.database, story.owner, change)


async def _festival(story: Story) -> House:
    venue_id = await _venue(story, "Voelgoed Amphitheatre", "1 Protea Road, Stellenbosch")
    days = festival_days(story.present)
    begins, ends = days[0].starts_at, days[-1].ends_at
    new = NewEvent(
        venue_id=venue_id,
        name="Voelgoed Fees",
        description="Three days of music on the grass, doors open now.",
        starts_at=begins,
        ends_at=ends,
        sale_start=story.present - ON_SALE,
        sale_end=begins + timedelta(days=2),
        capacity=1050,
        days=days,
    )
    event = await create_event(story.services.database, story.owner, new, story.step("festival"))
    types = [
        _type("Weekend seat", "seated", {"": 120_000}),
        _type("Weekend pass", "ga", {"": 75_000}),
        *(_type(f"Day ticket {day.date:%A}", "ga", {"": 35_000}, day.date) for day in event.days),
    ]
    return await _house(story, event, "festival", types)


def festival_days(present: datetime) -> list[EventDay]:
    """Where day broke after the doors were opened, the first night is not over yet: it is one day for
    all who came."""
    first = _day_of(present - DOORS_OPENED)
    begins = datetime.combine(first, DAY_BREAK, TIMEZONE)
    is_over = _day_of(present) != first
    until = present + timedelta(hours=12) if is_over else begins + timedelta(days=1)
    ends = begins + timedelta(days=2, hours=17)
    return [EventDay(first, begins, until), *days_between(until, ends, TIMEZONE)]


async def _theatre(story: Story) -> House:
    venue_id = await _venue(story, "Stadsteater", "12 Kerk Street, Stellenbosch")
    begins = datetime.combine(_day_of(story.present) + timedelta(days=1), time(19, 30), TIMEZONE)
    new = NewEvent(
        venue_id=venue_id,
        name="Die Kersietuin",
        description="Chekhov in Afrikaans, with surtitles in English.",
        starts_at=begins,
        ends_at=begins + timedelta(hours=3),
        sale_start=story.present - ON_SALE,
        capacity=400,
    )
    event = await create_event(story.services.database, story.owner, new, story.step("theatre"))
    types = [
        _type("Full price", "seated", {"Stalls": 32_000, "Circle": 24_000}),
        _type("Concession", "seated", {"Stalls": 18_000, "Circle": 14_000}),
    ]
    return await _house(story, event, "theatre", types)


async def _hall(story: Story) -> House:
    venue_id = await _venue(story, "Endler Hall", "Victoria Street, Stellenbosch")
    begins = datetime.combine(_day_of(story.present) + timedelta(days=24), time(19, 30), TIMEZONE)
    new = NewEvent(
        venue_id=venue_id,
        name="Somerkonsert",
        description="The summer concert of the philharmonic orchestra; the boxes are for members.",
        starts_at=begins,
        ends_at=begins + timedelta(hours=4),
        sale_start=story.present - ON_SALE,
        capacity=2000,
    )
    event = await create_event(story.services.database, story.owner, new, story.step("hall"))
    prices = {"Stalls": 45_000, "Balcony": 28_000, "Boxes left": 65_000, "Boxes right": 65_000}
    return await _house(story, event, "hall", [_type("Full price", "seated", prices)])


async def _venue(story: Story, name: str, address: str) -> UUID:
    new = NewVenue(name=name, address=address, timezone=str(TIMEZONE))
    step = story.step(f"venue-{name}")
    return (await create_venue(story.services.database, story.owner, new, step)).id


class _NewType(msgspec.Struct, frozen=True):
    new: NewTicketType
    prices: Prices


def _type(name: str, kind: str, prices: Prices, day: date | None = None) -> _NewType:
    return _NewType(
        NewTicketType(
            name=name,
            kind=kind,  # pyright: ignore[reportArgumentType]
            currency="ZAR",
            prices=[Price(amount_minor=0)],
            valid_days=[day] if day else None,
        ),
        prices,
    )


async def _house(story: Story, event: Event, sample_name: str, new_types: list[_NewType]) -> House:
    services, owner = story.services, story.owner
    config = sample(sample_name)
    new = NewLayout(name=sample_name.title(), config=msgspec.to_builtins(config, str_keys=True))
    step = story.step(f"{sample_name}-layout")
    layout = await create_layout(services.database, owner, event.venue_id, new, step)
    with suppress(EventLayoutTaken):  # by an earlier start that was cut off
        request = NewEventLayout(layout_id=layout.id, overrides=_overrides(config, new_types))
        await put_event_layout(services.database, services.cache, owner, event.id, request)
    types: dict[str, TicketType] = {}
    for each in new_types:
        priced = msgspec.structs.replace(each.new, prices=_prices(config, each.prices))
        step = story.step(f"{sample_name}-{priced.name}")
        made = await create_ticket_type(
            services.database, services.cache, owner, event.id, priced, step
        )
        types[made.name] = made
    await move(story, event, "published")
    return House(event, config, types)


def _overrides(config: LayoutConfig, types: list[_NewType]) -> Overrides:
    """A price of its own for every zone that is named with one."""
    named = {name for each in types for name in each.prices}
    return Overrides(
        pricing_zones={
            zone.zone_id: PricingZone(pricing_rule_id=_rule(zone))
            for zone in config.zones
            if zone.name in named
        },
        zone_overrides={
            zone.zone_id: ZoneOverride(access_mode="membership_tier", membership_tier=TIER)
            for zone in config.zones
            if zone.name in MEMBERS_ONLY
        },
    )


def _prices(config: LayoutConfig, prices: Prices) -> list[Price]:
    zones = {zone.name: zone for zone in config.zones}
    return [
        Price(amount_minor=amount, pricing_rule_id=_rule(zones[name]) if name else None)
        for name, amount in prices.items()
    ]


def _rule(zone: Zone) -> UUID:
    return uuid5(zone.zone_id, "price")


async def move(story: Story, event: Event, to: EventStatus) -> None:
    with suppress(InvalidTransition):  # further already: an earlier start was cut off after this
        await move_event(story.services.database, story.owner, event.id, Transition(to=to))


def _day_of(moment: datetime) -> date:
    [day] = days_between(moment, moment + timedelta(microseconds=1), TIMEZONE)
    return day.date
