"""Evenings that can be played in many ways: the same scans become known in any order, by either address or
from a file, one after the other or at once, at two nodes."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from random import Random
from typing import Any, Literal
from uuid import UUID

import httpx
import msgspec
from hypothesis import strategies as st

from tests.scanning.recovery_support import decide, exported, send_file
from tests.scanning.support import World
from tests.scanning.sync_support import iso, offline_batch, send, send_queue, signed_batch
from tests.support import SOON, STOPPED_AT, MovableClock
from voelgoed.scanning.rules.scan_signatures import SignedFields, sign_scan
from voelgoed.ticketing.model.tickets import Ticket

TICKETS, DEVICES = 2, 3
MIDNIGHT_S = 450
"""This long after the start of an evening the event's next day begins."""
START = SOON + timedelta(hours=5, seconds=-MIDNIGHT_S)
LATE = timedelta(hours=1)
LIE_S = -7_200
"""The error that a device with a false claim adds to the offset of its clock."""
BUSY_MAX = 50
"""The limit of attempts when the server asks a request to come again shortly."""

Form = Literal["signed", "queue", "file"]
FORMS: tuple[Form, ...] = ("signed", "queue", "file")


@dataclass(frozen=True)
class Made:
    """A scan at a gate."""

    ticket: int
    device: int
    second: float
    outcome: str = "valid"
    way: str = "entry"
    asked: Literal["no", "unheard", "heard"] = "no"
    """Whether the server was asked, and if so, whether the device received its answer or decided alone all
    the same."""
    delay: int = 0
    """Seconds until the scan is delivered."""
    is_wrong_gate: bool = False
    """Whether the gate admits nobody with such tickets."""
    is_new_barcode: bool = False
    """Whether the ticket was reissued by then: the new barcode was shown."""

    @property
    def is_delivered(self) -> bool:
        return self.asked != "heard"


@dataclass(frozen=True)
class Happening:
    """Another thing that is done on the evening, at a moment of it."""

    what: Literal["void", "reissue", "annul"]
    number: int
    """The number of the ticket, or of the scan."""
    second: float


seconds = [0, 1, 100, 299, 300, 301, MIDNIGHT_S, 600, 900]
anywhere = {
    "ticket": st.integers(0, TICKETS - 1),
    "device": st.integers(0, DEVICES - 1),
    "way": st.sampled_from(["entry", "entry", "entry", "exit"]),
    "delay": st.sampled_from([0, 1, 250, 2_000]),
}
alone = st.builds(
    Made,
    second=st.sampled_from(seconds),
    outcome=st.sampled_from(["valid", "valid", "valid", "duplicate", "invalid"]),
    **anywhere,
)
unheard = st.builds(
    Made,
    second=st.sampled_from([each + 2 for each in seconds]),
    outcome=st.sampled_from(["valid", "valid", "invalid"]),
    asked=st.just("unheard"),
    **anywhere,
)
heard = st.builds(
    Made,
    second=st.sampled_from([each + 1.5 for each in seconds]),
    asked=st.just("heard"),
    **anywhere,
)
offsets = st.tuples(*[st.sampled_from([0, 0, 15, -40.5, 3_600])] * DEVICES)
types = st.fixed_dictionaries(
    {
        "entry_limit": st.sampled_from([None, None, 1, 2]),
        "max_daily_entries": st.sampled_from([None, 1, 2]),
        "reentry": st.sampled_from(["allowed", "allowed", "after_exit", "never"]),
    }
)


@dataclass(frozen=True)
class Delivery:
    device: int
    form: Form
    scans: list[tuple[int, Made]]
    node: int
    times: int
    """How many times it is sent, at the same moment."""
    is_measured: bool = True
    """Whether the device sends its time with it."""


class Evening:
    """An evening with tickets of its own, at devices whose clocks are off by so many seconds."""

    def __init__(
        self,
        nodes: Sequence[World],
        clock: MovableClock,
        tickets: Sequence[Ticket],
        off: Sequence[float],
        lies: Collection[int] = (),
    ) -> None:
        """`lies` are the devices that claim another offset of their clocks than the server measures."""
        self.nodes = nodes
        self.world = nodes[0]
        self.clock = clock
        self.tickets = tickets
        self.off = [timedelta(seconds=each) for each in off]
        self.lies = lies
        self.barcodes: list[str] = []
        self.new_barcodes: dict[int, str] = {}
        """The new barcodes of tickets that were reissued."""
        self.annulled: set[int] = set()
        self.ids: dict[str, int] = {}
        self.imports: list[dict[str, Any]] = []

    async def begin(self) -> None:
        self.barcodes = [await self.world.barcode(ticket) for ticket in self.tickets]

    def barcode(self, made: Made) -> str:
        """The text that was shown."""
        old = self.barcodes[made.ticket]
        return self.new_barcodes.get(made.ticket, old) if made.is_new_barcode else old

    async def happen(self, happening: Happening) -> None:
        if happening.what == "annul":
            await self.annul(happening.number)
        elif happening.what == "void":
            await self.world.sales.void(self.tickets[happening.number].id)
        else:
            ticket_id = self.tickets[happening.number].id
            reissued = await self.world.sales.reissue(ticket_id)
            assert reissued.barcode is not None
            self.new_barcodes[happening.number] = reissued.barcode

    async def annul(self, number: int) -> bool:
        """Annuls an admission; returns whether there was one."""
        path = f"/api/scanning/scans/{self.scan_id(number)}/annulment"
        answer = await self.world.ask("POST", path, {"reason": "turnstile"})
        assert answer.status_code in (204, 404, 409), answer.text
        if answer.status_code == 204:
            self.annulled.add(number)
        return answer.status_code == 204

    def at(self, second: float) -> None:
        self.clock.ahead = START - STOPPED_AT + timedelta(seconds=second)

    def scan_id(self, number: int) -> str:
        """Ids in the order of the scans' numbers, the same however often the evening is played."""
        scan_id = str(UUID(int=(self.tickets[0].id.int & ~0xFFFF) + number))
        self.ids[scan_id] = number
        return scan_id

    async def ask(self, number: int, made: Made) -> None:
        device = self.world.devices[made.device]
        by_device = iso(self.clock.now() - self.off[made.device])
        more = {"scan_id": self.scan_id(number), "direction": made.way, "scanned_at": by_device}
        answer = await self.world.scan(device, self.barcode(made), **more)
        assert answer.status_code in (200, 422), answer.text

    async def deliver(self, delivery: Delivery) -> None:
        """Delivers, and repeats while the server answers that others are at work."""
        send = {"signed": self._signed, "queue": self._queue, "file": self._file}[delivery.form]
        await send(delivery)

    async def _signed(self, delivery: Delivery) -> None:
        node, device = self.nodes[delivery.node], self.world.devices[delivery.device]
        scans = [self._scan(number, made) for number, made in delivery.scans]
        claimed = self.off[delivery.device].total_seconds()
        headers = self._device_time(delivery) if delivery.is_measured else {}
        if delivery.device in self.lies:
            claimed, headers = claimed + LIE_S, self._device_time(delivery)
        body = signed_batch(device, *scans, offset_seconds=claimed)
        for answer in await _at_once(delivery.times, lambda: send(node, device, body, **headers)):
            assert answer.json()["rejected"] == [], answer.text

    async def _queue(self, delivery: Delivery) -> None:
        node, device = self.nodes[delivery.node], self.world.devices[delivery.device]
        scans = [
            {
                "ticket_code": self.barcode(made),
                "scanned_at": self._by_device(made),
                "offline_id": self.scan_id(number),
                "gate_id": self._gate(made),
                "direction": made.way,
                "outcome": made.outcome,
            }
            for number, made in delivery.scans
        ]
        body = offline_batch(node, device, *scans)
        for answer in await _at_once(
            delivery.times, lambda: send_queue(node, device, body, **self._device_time(delivery))
        ):
            assert all(each["is_kept"] for each in answer.json()["errors"]), answer.text

    async def _file(self, delivery: Delivery) -> None:
        node, device = self.nodes[delivery.node], self.world.devices[delivery.device]
        scans = [self._scan(number, made) for number, made in delivery.scans]
        offset_seconds = self.off[delivery.device].total_seconds()
        file = exported(node, device, *scans, offset_seconds=offset_seconds)
        for answer in await _at_once(delivery.times, lambda: send_file(node, file)):
            imported = answer.json()["data"]
            assert (imported["rejected"], imported["wrong_signatures"]) == (0, 0)
            self.imports.append(imported)

    async def accept(self, imported: dict[str, Any]) -> None:
        await _at_once(1, lambda: decide(self.world, imported, "accepted"))

    def _scan(self, number: int, made: Made) -> dict[str, Any]:
        device = self.world.devices[made.device]
        fields = SignedFields(
            scan_id=self.scan_id(number),
            ticket_id=str(self.tickets[made.ticket].id),
            barcode_hash=f"sha256:{sha256(self.barcode(made).encode()).hexdigest()}",
            scanned_at=self._by_device(made),
            gate_id=self._gate(made),
        )
        return {
            **msgspec.structs.asdict(fields),
            "outcome": made.outcome,
            "direction": made.way,
            "signature": sign_scan(fields, device.api_key),
        }

    def _gate(self, made: Made) -> str:
        if made.is_wrong_gate:
            return str(self.world.gates[-1].id)
        return self.world.devices[made.device].gate.code

    def _by_device(self, made: Made) -> str:
        return iso(START + timedelta(seconds=made.second) - self.off[made.device])

    def _device_time(self, delivery: Delivery) -> dict[str, str]:
        return {"X-Device-Time": iso(self.clock.now() - self.off[delivery.device])}

    async def tables(self) -> dict[str, Any]:
        """The final tables, without the ids of this evening."""
        names = {ticket.id: number for number, ticket in enumerate(self.tickets)}
        tickets = await self.world.rows(
            """
            SELECT id, status, scanned_at, last_scanned_at, last_exit_at, last_gate_id, last_entry_day,
                   day_entries, is_inside, scan_count, irregular
              FROM ticket WHERE id = ANY($1)
            """,
            list(names),
        )
        conflicts = await self.world.rows(
            """
            SELECT kind, severity, scan_id, winner_scan_id, state FROM scan_conflict
             WHERE ticket_id = ANY($1)
            """,
            list(names),
        )
        return {
            "tickets": sorted((names[row.pop("id")], *_since(row)) for row in tickets),
            "scans": await self.resolutions(),
            "conflicts": sorted(
                (
                    row["kind"],
                    row["severity"],
                    self.ids[str(row["scan_id"])],
                    self.ids[str(row["winner_scan_id"])],
                    row["state"],
                )
                for row in conflicts
            ),
        }

    async def resolutions(self) -> list[tuple[Any, ...]]:
        """The moment of each scan, and its resolution."""
        found: list[tuple[Any, ...]] = []
        for ticket in self.tickets:
            rows = await self.world.rows(
                "SELECT id, scanned_at_canonical AS at FROM scan WHERE ticket_id = $1", ticket.id
            )
            made = {str(row["id"]): _second(row["at"]) for row in rows}
            path = f"/api/scanning/tickets/{ticket.id}/scans"
            for row in (await self.world.ask("GET", path)).json()["data"]:
                if row["annulled_at"] is not None:
                    continue
                seen = (row["status"], row["reason_denied"], row["entry_number"])
                found.append((self.ids[row["id"]], made[row["id"]], *seen))
        return sorted(found, key=str)


async def _at_once(
    times: int, ask: Callable[[], Awaitable[httpx.Response]]
) -> list[httpx.Response]:
    async def insist() -> httpx.Response:
        answer = await ask()
        for _ in range(BUSY_MAX):
            if answer.status_code == 503:
                answer = await ask()
        assert answer.status_code == 200, answer.text
        return answer

    return await asyncio.gather(*(insist() for _ in range(times)))


def _second(at: datetime) -> float:
    return (at - START).total_seconds()


def _since(row: dict[str, Any]) -> list[str]:
    return [str(_second(value) if isinstance(value, datetime) else value) for value in row.values()]


async def counts(world: World) -> Counter[tuple[str, str, str, str]]:
    found: Counter[tuple[str, str, str, str]] = Counter()
    for row in await world.rows("SELECT * FROM occupancy"):
        for what in ("entries", "exits", "inside", "irregular"):
            found[str(row["day"]), row["scope"], str(row["scope_id"]), what] += row[what]
    return found


def gained(before: Counter[Any], after: Counter[Any]) -> list[Any]:
    left = Counter(after)
    left.subtract(before)
    return sorted((key, count) for key, count in left.items() if count)


def deliveries_of(
    made: Sequence[tuple[int, Made]], luck: Random, forms: Sequence[Form] = FORMS
) -> list[Delivery]:
    """Delivers each scan in some way, sometimes in two, split into batches somehow, in some order, some of
    them twice."""
    deliveries: list[Delivery] = []
    for device in range(DEVICES):
        left: dict[Form, list[tuple[int, Made]]] = {form: [] for form in forms}
        for each in made:
            if each[1].device == device and each[1].is_delivered:
                for form in luck.sample(forms, k=min(luck.choice([1, 1, 2]), len(forms))):
                    left[form].append(each)
        for form, scans in left.items():
            luck.shuffle(scans)
            begun = 0
            while begun < len(scans):
                ended = luck.randint(begun + 1, len(scans))
                batch, begun = scans[begun:ended], ended
                again = luck.choice(scans)
                batch = batch if again in batch else [*batch, again]
                deliveries.append(
                    Delivery(device, form, batch, luck.randrange(2), luck.choice([1, 1, 1, 2]))
                )
    luck.shuffle(deliveries)
    return deliveries


async def deliver_all(evening: Evening, deliveries: Sequence[Delivery], luck: Random) -> None:
    """Sends some deliveries one after the other, some at once; and then all files are accepted."""
    left = list(deliveries)
    while left:
        some = luck.choice([1, 1, 2, 4])
        wave, left = left[:some], left[some:]
        await asyncio.gather(*(evening.deliver(each) for each in wave))
    unreviewed = {each["batch_id"]: each for each in evening.imports}
    reviews = [
        evening.accept(each) for each in luck.sample(list(unreviewed.values()), k=len(unreviewed))
    ]
    if luck.random() < 0.5:
        await asyncio.gather(*reviews)
    else:
        for review in reviews:
            await review
