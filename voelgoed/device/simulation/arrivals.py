"""Who will come, where: to an event of the simulation's own, or to one that there is."""

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple
from uuid import UUID

from voelgoed.device.simulation.crowd import Options, Visit, plan_leaving, plan_visits
from voelgoed.device.simulation.venue import Gate, SimulationFault, Ticket, Venue

Report = Callable[[str], None]
VALID = ("active", "scanned")


class Arrivals(NamedTuple):
    gates: Sequence[Gate]
    """The gate of each device."""
    visits: Sequence[Visit]
    voided: Sequence[Ticket]
    """Some before the devices hydrate, some after."""


async def at_an_event_of_its_own(
    venue: Venue, options: Options, tickets: int, luck: random.Random, report: Report
) -> Arrivals:
    report(f"An event of its own, {options.devices} gates, {tickets} tickets")
    await venue.open_event(tickets)
    gates = await venue.open_gates(options.devices)
    sold = await venue.import_tickets(tickets)
    visits, voided = plan_visits(sold, options, luck)
    return Arrivals(gates, visits, voided)


async def at_an_event_that_there_is(
    venue: Venue, options: Options, event_id: UUID, luck: random.Random, report: Report
) -> Arrivals:
    """Visitors who have not come in yet come. When all have, people who are inside leave and come
    back."""
    await venue.go_to(event_id)
    gates = await venue.open_for_all()
    today = await venue.today()
    sold = [each for each in await venue.sold() if each.status in VALID and today in each.days]
    luck.shuffle(sold)
    fresh = [each for each in sold if not each.scan_count]
    inside = [each for each in sold if each.scan_count]
    come = await venue.tickets(fresh[: options.visitors])
    missing = options.visitors - len(come)
    leave = max(missing, int(options.visitors * options.leaving))
    leaving = await venue.tickets(inside[:leave])
    come_back = min(missing, len(leaving))
    report(f"{venue.event_name}: {len(fresh)} have not come in yet, {len(inside)} have")
    if missing:
        report(f"{len(come)} come for the first time, {come_back} leave and come back")
    if not come and not leaving:
        raise SimulationFault("Nobody has a ticket for today.")
    visits, _ = plan_visits(come, options, luck)
    visits += plan_leaving(leaving, come_back, options, luck)
    posts = [gates[number % len(gates)] for number in range(options.devices)]
    return Arrivals(posts, sorted(visits, key=lambda visit: visit.at_s), [])
