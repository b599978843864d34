"""Seats and places of tickets that were sold without a hold: elsewhere, before they came to us.

For the domain that owns tickets, in its transaction. It looks first, decides, and then writes: what
somebody else took in between is `SeatsChangedMeanwhile`, and all of it is to be tried again.
"""

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from uuid import UUID

import structlog

from voelgoed.infra.database import Transaction
from voelgoed.infra.metrics import seat_changes
from voelgoed.seating.actions.places import open_zones
from voelgoed.seating.actions.seats import announce, announce_counts, drop_caches, states_of
from voelgoed.seating.actions.views import View, seat_hold_key
from voelgoed.seating.model.layout import SEATED
from voelgoed.seating.model.refusals import SeatsChangedMeanwhile
from voelgoed.seating.model.seats import SeatState, SeatStatus, ZoneDay
from voelgoed.seating.rules.messages import many_places_changed, seats_topic
from voelgoed.seating.rules.rooms import Rooms
from voelgoed.seating.rules.states import status_at
from voelgoed.seating.store import places as place_store
from voelgoed.seating.store import sold_elsewhere as store
from voelgoed.seating.store.sold_elsewhere import SoldSeat

log = structlog.get_logger()

Places = Mapping[tuple[UUID, tuple[dt.date, ...]], int]
"""How many, by zone and the days they are for."""


class Look:
    """How seats and places are at this moment; nothing is locked."""

    def __init__(self, states: Mapping[int, SeatState], rooms: Rooms) -> None:
        self.states = states
        self.rooms = rooms

    def statuses(self, view: View, now: dt.datetime) -> dict[int, SeatStatus]:
        closed = view.closed(list(self.states))
        return {
            position: "blocked" if position in closed else status_at(state, now)
            for position, state in self.states.items()
        }


async def look(tx: Transaction, view: View, positions: Sequence[int]) -> Look:
    states = await states_of(tx, view, positions) if positions else []
    counted = await place_store.read_days(tx, view.event.id, tx.now)
    known = {(day.zone_id, day.day) for day in counted}
    untouched = [
        ZoneDay(
            zone_id=zone.zone.zone_id, day=day.date, capacity=zone.zone.capacity, held=0, sold=0
        )
        for zone in view.zones
        if zone.zone.zone_type not in SEATED
        for day in view.event.days
        if (zone.zone.zone_id, day.date) not in known
    ]
    return Look({state.position: state for state in states}, Rooms([*counted, *untouched]))


async def sell_seats(tx: Transaction, view: View, look: Look, sold: Mapping[int, UUID]) -> None:
    """Positions that were free, each through what will give it back."""
    if not sold:
        return
    seats = [
        SoldSeat(view.plan.ids[position], position, look.states[position].version, through)
        for position, through in sold.items()
    ]
    if await store.sell_outright(tx, view.event.id, seats) != len(seats):
        raise SeatsChangedMeanwhile()
    ended = [at for at in sold if look.states[at].seat_hold_id is not None]
    tx.drop(*(seat_hold_key(tx.organization_id, view.plan.ids[at]) for at in ended))
    drop_caches(tx, view.event.id)
    _log(tx, view, len(sold), "seats_changed")


async def sell_places(tx: Transaction, view: View, sold: Places) -> None:
    """After seats, as everybody does, and late: whoever buys in these zones waits from here on."""
    if not sold:
        return
    rooms = await open_zones(tx, view, {zone_id for zone_id, _ in sold})
    by_day: Counter[tuple[UUID, dt.date]] = Counter()
    for (zone_id, days), count in sold.items():
        by_day.update({(zone_id, day): count for day in days})
    if any(rooms.room(zone_id, [day]) < count for (zone_id, day), count in by_day.items()):
        raise SeatsChangedMeanwhile()
    changes = [(zone_id, day, 0, count) for (zone_id, day), count in sorted(by_day.items())]
    await place_store.add_to_days(tx, view.event.id, changes)
    drop_caches(tx, view.event.id)
    _log(tx, view, sum(sold.values()), "places_changed")


def publish_sold(tx: Transaction, view: View, positions: Sequence[int] | None) -> None:
    """To followers of the map and of the counts. Their projection takes longer than selling a few
    thousand seats, so this is for now and then; None for seats that nobody remembers."""
    if positions is None:
        tx.publish(seats_topic(view.event.id), {"event": "seats_changed", "seats": None})
    elif positions:
        announce(tx, view, positions, "seat_sold")
    else:
        announce_counts(tx, view, "places_sold")
    tx.publish(seats_topic(view.event.id), many_places_changed())


def _log(tx: Transaction, view: View, count: int, what: str) -> None:
    about = {"org_id": str(tx.organization_id), "event_id": str(view.event.id)}

    def note() -> None:
        seat_changes.labels("sold").inc(count)
        log.info(what, **about, count=count, status_after="sold", reason="sold elsewhere")

    tx.once_committed(note)
