"""The evening at the festival's gates: who came, who was sent away, who left, and a gate alone."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby
from random import Random
from typing import Literal
from uuid import UUID

import msgspec

from voelgoed.accounts.model import Origin
from voelgoed.demo.file import DemoGate
from voelgoed.demo.story import Story, luck
from voelgoed.demo.venues import ANNOUNCED, DOORS_OPENED, House, move
from voelgoed.events.actions.gates import create_gate
from voelgoed.events.model import NewGate
from voelgoed.scanning.actions.devices import create_pairing, pair
from voelgoed.scanning.actions.own_device import DeviceCaller, beat, prove
from voelgoed.scanning.model.devices import Heartbeat, NewPairing, Pair
from voelgoed.scanning.model.refusals import DeviceNotFound
from voelgoed.scanning.model.scans import NewScan
from voelgoed.scanning.model.sync import OfflineBatch, QueuedScan
from voelgoed.scanning.rules.deliveries import OfflineDelivery
from voelgoed.ticketing.actions.exports import export
from voelgoed.ticketing.model.exports import ExportedTicket
from voelgoed.ticketing.rules.codes import CODE_RANDOM_BYTES, code_from

GATES = {"north-main": "North Main", "south": "South", "vip": "VIP"}
LOUNGE = "VIP Lounge"
Post = Literal["North 1", "North 2", "South 1", "VIP 1"]
POSTS: dict[Post, str] = {
    "North 1": "north-main",
    "North 2": "north-main",
    "South 1": "south",
    "VIP 1": "vip",
}
BATTERIES: dict[Post, int] = {"North 1": 83, "North 2": 64, "VIP 1": 47}
"""In percent, of those that are still heard of."""
ALONE_SINCE, BROUGHT_AT = 40, 18
"""Minutes before the present: for so long the device in the south had no network. It brought what it
had scanned, and has been silent since."""
COME = 0.62
"""Of those who have a ticket for today."""


class Showing(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody shows something at a gate."""

    minute: int
    """Before the present."""
    post: Post
    code: str
    direction: Literal["entry", "exit"] = "entry"


async def build_gates(story: Story, festival: House) -> list[DemoGate]:
    story.at(story.present - ANNOUNCED)
    gates: list[DemoGate] = []
    for code, name in GATES.items():
        zones = [festival.zone(LOUNGE).zone_id] if code == "vip" else None
        new = NewGate(code=code, name=name, allowed_zones=zones, capacity=500, status="open")
        step = story.step(code)
        gate = await create_gate(story.services.database, story.owner, festival.event.id, new, step)
        gates.append(DemoGate(gate.id, gate.code, gate.name))
    return gates


async def open_doors(story: Story, festival: House) -> None:
    story.at(story.present - DOORS_OPENED)
    await move(story, festival.event, "live")


async def let_people_in(story: Story, festival: House, gates: Sequence[DemoGate]) -> None:
    story.at(story.present - DOORS_OPENED)
    devices: dict[Post, DeviceCaller] = {post: await _pair(story, post, gates) for post in POSTS}
    showings = _plan(await _tickets(story, festival), festival, luck("gates"))
    alone = [each for each in showings if _is_alone(each)]
    online = [each for each in showings if not _is_alone(each)]
    for minute, several in groupby(online, key=lambda each: each.minute):
        if alone and minute < BROUGHT_AT:
            await _bring(story, devices["South 1"], alone)
            alone = []
        await _scan(story, devices, minute, list(several))
    await story.services.watch.is_idle()
    for post, battery in BATTERIES.items():
        await _beat(story, devices[post], story.present, battery)


async def _pair(story: Story, post: Post, gates: Sequence[DemoGate]) -> DeviceCaller:
    """Again under its own id, if an earlier start was cut off: it gets another key."""
    services = story.services
    [gate] = [gate for gate in gates if gate.code == POSTS[post]]
    device_id = story.id(post)
    new = NewPairing(gate_id=gate.id, name=f"{post} iPad", device_type="ipad")
    again = msgspec.structs.replace(new, replaces_device_id=device_id)
    try:
        pairing = await create_pairing(services.database, story.owner, again)
    except DeviceNotFound:
        pairing = await create_pairing(services.database, story.owner, new)
    assert pairing.pairing_token is not None
    given = Pair(pairing_token=pairing.pairing_token, device_id=device_id)
    origin = Origin("127.0.0.1", "demo")
    paired = await pair(services.database, services.master_key, origin, given)
    return prove(services.master_key, paired.api_key, origin)


async def _tickets(story: Story, festival: House) -> list[ExportedTicket]:
    services = story.services
    pages = await export(
        services.database, services.cache, story.owner, festival.event.id, "tickets.json"
    )
    text = b"".join([piece async for piece in pages])
    tickets = msgspec.json.decode(text, type=list[ExportedTicket])
    return sorted(tickets, key=_content)


def _content(ticket: ExportedTicket) -> tuple[str, ...]:
    """By which they are in the same order in every demo; those that say the same are as good as each
    other."""
    return (ticket.type, ticket.zone or "", ticket.seat or "", ticket.reference or "", ticket.name)


def _plan(tickets: Sequence[ExportedTicket], festival: House, chance: Random) -> list[Showing]:
    """Who shows what where, in the order of time."""
    today = festival.event.days[0].date
    void = [each for each in tickets if each.status in ("refunded", "voided")]
    others = [each for each in tickets if each not in void and today not in each.days]
    good = [each for each in tickets if each not in void and today in each.days]
    chance.shuffle(good)
    members = [each for each in good if each.zone == LOUNGE]
    public = [each for each in good if each.zone != LOUNGE]
    come = [_comes(each, chance) for each in public[: int(len(public) * COME)]]
    come += [_at("VIP 1", chance.randint(20, 70), each) for each in members]
    early = [each for each in come if each.minute > ALONE_SINCE + 5 and each.post == "North 1"]
    shared = next(each for each in come if each.post == "North 1" and _is_in_outage(each))
    showings = [
        *come,
        *(_again(each, each.minute - chance.randint(1, 3)) for each in early[:6]),
        *(_at("VIP 1", chance.randint(25, 80), each) for each in public[-4:]),
        *(_at("North 2", chance.randint(10, 80), each) for each in [*void[:3], *others[:4]]),
        *(_unknown(chance) for _ in range(2)),
        # With a ticket that somebody came in with, at the gate that could not ask.
        msgspec.structs.replace(shared, minute=shared.minute - 1, post="South 1"),
        *(_again(each, chance.randint(5, 25), "exit") for each in early[6:24]),
        *(_again(each, chance.randint(2, 4)) for each in early[6:9]),
    ]
    return sorted(showings, key=lambda each: (-each.minute, each.code))


def _comes(ticket: ExportedTicket, chance: Random) -> Showing:
    post: Post = chance.choice(["North 1", "North 1", "North 2", "South 1"])
    latest = BROUGHT_AT + 1 if post == "South 1" else 3
    return _at(post, int(chance.triangular(latest, 110, 45)), ticket)


def _at(post: Post, minute: int, ticket: ExportedTicket) -> Showing:
    return Showing(minute=minute, post=post, code=ticket.code)


def _again(before: Showing, minute: int, direction: Literal["entry", "exit"] = "entry") -> Showing:
    return msgspec.structs.replace(before, minute=minute, direction=direction)


def _unknown(chance: Random) -> Showing:
    code = code_from(chance.randbytes(CODE_RANDOM_BYTES))
    return Showing(minute=chance.randint(15, 60), post="North 2", code=code)


def _is_alone(showing: Showing) -> bool:
    return showing.post == "South 1" and showing.minute <= ALONE_SINCE


def _is_in_outage(showing: Showing) -> bool:
    return BROUGHT_AT + 2 < showing.minute < ALONE_SINCE


async def _scan(
    story: Story, devices: dict[Post, DeviceCaller], minute: int, several: Sequence[Showing]
) -> None:
    story.at(story.present - timedelta(minutes=minute))
    await asyncio.gather(*(_ask(story, devices[each.post], each) for each in several))


async def _ask(story: Story, device: DeviceCaller, showing: Showing) -> None:
    assert device.caller.id is not None
    new = NewScan(
        ticket_code=showing.code,
        device_id=device.caller.id,
        scanned_at=story.clock.now(),
        scan_id=str(_scan_id(story, showing)),
        direction=showing.direction,
    )
    await story.services.scans.scan(device.caller, device.key_version, new)


async def _bring(story: Story, device: DeviceCaller, alone: Sequence[Showing]) -> None:
    """What it scanned without network, all at once."""
    moment = story.present - timedelta(minutes=BROUGHT_AT)
    assert device.caller.id is not None
    batch = OfflineBatch(
        batch_id=str(story.id("brought")),
        device_id=device.caller.id,
        batch_created_at=moment,
        batch_size=len(alone),
        scans=[
            QueuedScan(
                ticket_code=each.code,
                scanned_at=story.present - timedelta(minutes=each.minute, seconds=number % 60),
                offline_id=str(_scan_id(story, each)),
            )
            for number, each in enumerate(alone)
        ],
    )
    story.at(moment)
    await _beat(story, device, moment, 6)
    await story.services.syncs.receive(device, OfflineDelivery(batch), None, limit=None)


async def _beat(story: Story, device: DeviceCaller, moment: datetime, battery: int) -> None:
    story.at(moment)
    heartbeat = Heartbeat(device_time=moment, battery_percent=battery, queue_length=0)
    await beat(story.services.database, device, heartbeat)


def _scan_id(story: Story, showing: Showing) -> UUID:
    return story.id(f"{showing.minute} {showing.post} {showing.code} {showing.direction}")
