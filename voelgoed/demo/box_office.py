"""How much of each house is sold, to whom, and when."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random

from voelgoed.demo.parties import SIZES, Party, a_name, seat_parties
from voelgoed.demo.people import MEMBERS
from voelgoed.demo.sales import Sale, Wish, chapter_of_import, chapters_of, plan_sales, wish_of
from voelgoed.demo.story import Chapter, Story, luck
from voelgoed.demo.venues import ON_SALE, House
from voelgoed.ticketing.model.ticket_types import TicketType

SOLD_DAYS_BEFORE = (27, 19, 13, 8, 5, 3, 1)
"""The present. All that is sold is sold at one of these moments, each of which costs a start some time."""
IMPORTED_AFTER = timedelta(days=12)
HEADER = "type,zone,seat,name,reference"


def sales_of_festival(story: Story, festival: House) -> list[Chapter]:
    """Numbered seats, places, members at their tables; and what a ticket shop sold."""
    chance = luck("festival")
    seat, weekend, today, tomorrow, *_ = festival.types.values()
    places = _imported_places(story, festival, [weekend, weekend, today, tomorrow], chance)
    runs = seat_parties(festival.config, {"Orchestra"}, set("BCDE"), 0.9, chance)
    wishes = [[wish_of(party, seat) for party in run] for run in runs]
    wishes += [[wish_of(_standing(festival, chance), weekend, today)] for _ in range(28)]
    members = _to_members(story, ["V-T1-1", "V-T2-1", "V-T3-1"], seat)
    return [places, *_sales(story, festival, wishes, members, chance, hour=0)]


def _imported_places(
    story: Story, festival: House, types: Sequence[TicketType], chance: Random
) -> Chapter:
    lines = [
        f"{chance.choice(types).name},{zone},,{a_name(chance)},KS-{zone}-{number:03}"
        for zone, count in (("Pit", 120), ("Floor", 140))
        for number in range(1, count + 1)
    ]
    moment = story.present - ON_SALE + IMPORTED_AFTER
    name = "kaartjie-stalletjie.csv"
    return chapter_of_import(story, festival, moment, name, [HEADER, *lines])


def _standing(festival: House, chance: Random) -> Party:
    zone = festival.zone(chance.choice(["Pit", "Floor"]))
    return Party(a_name(chance), zone_id=zone.zone_id, places=chance.choice(SIZES))


def sales_of_theatre(story: Story, theatre: House) -> list[Chapter]:
    """About half of it, with two wheelchair users and who comes along."""
    chance = luck("theatre")
    full, concession = theatre.types.values()
    runs = seat_parties(theatre.config, {"Stalls", "Circle"}, None, 0.62, chance)
    types = (full, full, full, concession)
    wishes = [[wish_of(party, *types) for party in run] for run in runs]
    wheelchairs = [Party(a_name(chance), ("M-1", "M-2")), Party(a_name(chance), ("C-A-3", "C-A-2"))]
    extra = [Sale(party=party, type=concession) for party in wheelchairs]
    return _sales(story, theatre, wishes, extra, chance, hour=1)


def sales_of_hall(story: Story, hall: House) -> list[Chapter]:
    """Some rows to subscribers, elsewhere; some of the rest, and a few boxes to members."""
    chance = luck("hall")
    [full] = hall.types.values()
    lines = [
        f"{full.name},Stalls,{row}-{seat},{a_name(chance)},SUB-{row}-{seat:02}"
        for row in "BCDE"
        for seat in range(1, 41)
    ]
    moment = story.present - ON_SALE + IMPORTED_AFTER
    seats = chapter_of_import(story, hall, moment, "subscribers.csv", [HEADER, *lines])
    runs = seat_parties(hall.config, {"Stalls", "Balcony"}, set("FGHJKLM"), 0.45, chance)
    wishes = [[wish_of(party, full) for party in run] for run in runs]
    members = _to_members(story, ["L-1-1", "L-1-7", "R-1-6"], full)
    return [seats, *_sales(story, hall, wishes, members, chance, hour=2)]


def _to_members(story: Story, seats: Sequence[str], of: TicketType) -> list[Sale]:
    members = story.customers[: len(MEMBERS)]
    return [
        Sale(party=Party(member.name, (seat,)), type=of, customer=member)
        for member, seat in zip(members, seats, strict=False)
    ]


def _sales(
    story: Story,
    house: House,
    runs: Sequence[Sequence[Wish]],
    extra: Sequence[Sale],
    chance: Random,
    *,
    hour: int,
) -> list[Chapter]:
    """Of each run the parties come in their order."""
    count = len(SOLD_DAYS_BEFORE)
    by_moment: list[list[Wish]] = [[] for _ in range(count)]
    for run in runs:
        numbers = sorted(chance.randrange(count) for _ in run)
        for number, wish in zip(numbers, run, strict=True):
            by_moment[number].append(wish)
    moments = [
        (_moment(story, number, hour), [*plan_sales(story, wishes, chance), *extra[number::count]])
        for number, wishes in enumerate(by_moment)
    ]
    return chapters_of(story, house, moments)


def _moment(story: Story, number: int, hour: int) -> datetime:
    """At an hour of each event's own: a customer may only hold so many seats at once."""
    days = SOLD_DAYS_BEFORE[number]
    return story.present - timedelta(days=days, hours=hour, minutes=7 * number)
