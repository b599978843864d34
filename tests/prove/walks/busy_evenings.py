"""Evenings with more than scans: tickets are voided and reissued, admissions annulled, devices moved away,
clocks are wrong, and a restored device delivers everything again."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any

from hypothesis import strategies as st

from tests.prove.walks.evenings import (
    DEVICES,
    LATE,
    START,
    TICKETS,
    Delivery,
    Evening,
    Happening,
    Made,
    anywhere,
    deliver_all,
    deliveries_of,
    seconds,
)
from tests.scanning.support import World
from tests.scanning.sync_support import take_second_looks

TAKEN_AWAY_S = 450
"""When the last device is moved to another event; it goes on scanning all the same."""
FUTURE_S = 20_000
"""The offset of scans that claim a moment after all deliveries but the last."""
HAPPENING_S = (50, 250, 500, 700)
JUST_AFTER_S = (50, 70, 270)
"""The moments of scans that may arrive before something happens, from a device whose clock is ahead, and claim
to be made after it."""
AHEAD_S = -45
"""The arrival of a scan relative to its moment, from a device whose clock is ahead by less than clocks may err."""
LOOKS_S = (200, 600, 1_000, FUTURE_S + 60)
"""The moments at which scans that were ahead are judged once more; the job that does it may be late."""
DELAYS_S = (0, 10, 500, 3_000)

made_alone = st.builds(
    Made,
    second=st.sampled_from([*seconds, *seconds, *JUST_AFTER_S, FUTURE_S]),
    outcome=st.sampled_from(["valid", "valid", "valid", "valid", "duplicate", "invalid"]),
    is_wrong_gate=st.sampled_from([False, False, False, True]),
    is_new_barcode=st.booleans(),
    **anywhere,
)
happenings_to_tickets = st.lists(
    st.builds(
        Happening,
        what=st.sampled_from(["void", "reissue"]),
        number=st.integers(0, TICKETS - 1),
        second=st.sampled_from(HAPPENING_S),
    ),
    max_size=2,
    unique_by=lambda each: each.number,
)
"""What is done to each ticket, at most one thing."""
annulments = st.lists(
    st.builds(
        Happening,
        what=st.just("annul"),
        number=st.integers(0, 9),
        second=st.sampled_from([150, 310, 620, 950]),
    ),
    max_size=2,
)
liars = st.sets(st.integers(0, DEVICES - 1), max_size=1)


def sensible(made: Sequence[Made], happenings: Sequence[Happening]) -> list[Made]:
    """A new barcode is shown only after there is one."""
    reissued = {each.number: each.second for each in happenings if each.what == "reissue"}
    return [
        replace(
            each,
            is_new_barcode=each.is_new_barcode
            and each.second >= reissued.get(each.ticket, FUTURE_S + 1),
        )
        for each in made
    ]


async def prepare(world: World) -> None:
    """The last gate admits nobody with these tickets, and the last device leaves in between."""
    await world.rows(
        "UPDATE gate SET allowed_zones = ARRAY[gen_random_uuid()] WHERE id = $1", world.gates[-1].id
    )
    await world.rows(
        "UPDATE device_assignment SET until_at = $2 WHERE device_id = $1 AND until_at IS NULL",
        world.devices[DEVICES - 1].id,
        START + timedelta(seconds=TAKEN_AWAY_S),
    )


async def play(
    evening: Evening,
    made: Sequence[Made],
    happenings: Sequence[Happening],
    annulled: Sequence[int],
    luck: Random,
) -> dict[str, Any]:
    """Deliveries come at any time after their scans were made, admissions are annulled at any time after they
    are known. In the end everything that waits is accepted."""
    times: list[tuple[float, int, Callable[[], Awaitable[Any]]]] = []
    for happening in happenings:
        times.append((happening.second, 0, _later(evening.happen, happening)))
    for delivery in deliveries_of(list(enumerate(made)), luck):
        measured = replace(delivery, is_measured=luck.random() < 0.7)
        times.append((_arrival(delivery, luck), 1, _later(evening.deliver, measured)))
    for number in annulled:
        times.append((luck.choice([600, 1_000, 3_000]), 2, _later(evening.annul, number)))
    times.append((luck.choice(LOOKS_S), 3, _later(take_second_looks, evening.world)))
    luck.shuffle(times)
    for second, _, do in sorted(times, key=lambda each: each[:2]):
        evening.at(second)
        await do()
    evening.at(FUTURE_S + LATE.total_seconds())
    await deliver_all(evening, _restored(made, luck), luck)
    await accept_all(evening)
    if luck.random() < 0.5:
        await take_second_looks(evening.world)
    for number in annulled:
        await evening.annul(number)
    await take_second_looks(evening.world)
    return await evening.tables()


def _later(do: Callable[[Any], Awaitable[Any]], what: Any) -> Callable[[], Awaitable[Any]]:
    return lambda: do(what)


def _arrival(delivery: Delivery, luck: Random) -> float:
    """A scan that claims the future arrives at any time, before or after what is done to its ticket."""
    earliest = max(_earliest(each) for _, each in delivery.scans)
    return earliest + luck.choice([0, 0, -AHEAD_S, *DELAYS_S, FUTURE_S])


def _earliest(made: Made) -> float:
    """The earliest arrival. A new barcode is shown only when there is one."""
    begun = max(HAPPENING_S) if made.is_new_barcode else 0
    return begun if made.second == FUTURE_S else max(begun, made.second + AHEAD_S)


def _restored(made: Sequence[Made], luck: Random) -> list[Delivery]:
    """One of the devices delivers everything again."""
    device = luck.randrange(DEVICES)
    scans = [(number, each) for number, each in enumerate(made) if each.device == device]
    return [Delivery(device, "signed", scans, luck.randrange(2), 1)] if scans else []


async def accept_all(evening: Evening) -> None:
    rows = await evening.world.rows("SELECT batch_id FROM batch_sync WHERE state = 'unverified'")
    for row in rows:
        await evening.accept({"batch_id": row["batch_id"]})
