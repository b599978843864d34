"""Who holds what right now, as this process and Redis remember it.

It may refuse a seat early and it informs; it never grants. PostgreSQL is the authority: what is
remembered wrongly is put right by `voelgoed cache rebuild`, and ends with the hold at the latest.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from uuid import UUID

import msgspec

from voelgoed.infra.cache import Cache, Command
from voelgoed.infra.keys import key
from voelgoed.seating.actions.views import seat_hold_key
from voelgoed.ticketing.model.holds import SeatHold

AT_ONCE_MAX = 1_000
"""Entries at once: Redis has a tenth of a second for them."""


class HeldSeat(msgspec.Struct, frozen=True, kw_only=True):
    hold_id: UUID
    user_id: UUID
    event_id: UUID
    seat_id: UUID
    held_until: datetime
    timestamp: datetime
    status: str = "active"


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What Redis has of an event."""

    members: dict[bytes, float]
    """Of its list, with the moments they end."""
    texts: dict[UUID, str]
    """By seat."""


class Corrections(msgspec.Struct, frozen=True, kw_only=True):
    written: list[SeatHold]
    freed: list[UUID]
    """Seats."""
    count: int


def holds_key(organization_id: UUID, event_id: UUID) -> str:
    """The event's held seats, in the order in which they come free."""
    return key(organization_id, "event", event_id, "seat_holds")


class HoldRegistry:
    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def hot(self, organization_id: UUID, event_id: UUID, seat_id: UUID) -> HeldSeat | None:
        held = self._cache.hot(seat_hold_key(organization_id, seat_id), HeldSeat)
        return held if held is not None and held.event_id == event_id else None

    async def warm(
        self, organization_id: UUID, event_id: UUID, seat_ids: Sequence[UUID], now: datetime
    ) -> list[HeldSeat | None]:
        if not self._cache.has_warm:
            return [None] * len(seat_ids)
        keys = [seat_hold_key(organization_id, seat_id) for seat_id in seat_ids]
        found = await self._cache.warm(keys)
        held = [_read(value, at, now) for value, at in zip(found, seat_ids, strict=True)]
        return [each if each is not None and each.event_id == event_id else None for each in held]

    async def remember(
        self, organization_id: UUID, holds: Iterable[SeatHold], now: datetime
    ) -> None:
        """After they were committed."""
        commands: list[Command] = []
        for hold in holds:
            left_s = _left_s(hold, now)
            if hold.seat_id is None or left_s <= 0:
                continue
            seat_key = seat_hold_key(organization_id, hold.seat_id)
            held = HeldSeat(
                hold_id=hold.id,
                user_id=hold.user_id,
                event_id=hold.event_id,
                seat_id=hold.seat_id,
                held_until=hold.held_until,
                timestamp=now,
            )
            self._cache.put_hot(seat_key, held, ttl_s=left_s)
            if self._cache.has_warm:
                commands += _entries(organization_id, hold, hold.seat_id, left_s)
        await self._cache.tell_warm(commands)

    async def forget(self, organization_id: UUID, holds: Iterable[SeatHold]) -> None:
        """From the event's list; a seat's own entry is dropped with the transaction that ends the
        hold, in every process."""
        await self._cache.tell_warm(
            [
                ("ZREM", holds_key(organization_id, hold.event_id), _member(hold, hold.seat_id))
                for hold in holds
                if hold.seat_id is not None
            ]
        )

    async def told(
        self, organization_id: UUID, event_id: UUID, seat_ids: Sequence[UUID]
    ) -> Told | None:
        """All that Redis has of an event with these seats; None when there is no Redis, or it is
        away."""
        registry, cursor = holds_key(organization_id, event_id), 0
        members: dict[bytes, float] = {}
        while True:
            found = await self._cache.ask_warm("ZSCAN", registry, cursor, "COUNT", AT_ONCE_MAX)
            if found is None:
                return None
            cursor, some = msgspec.convert(found, tuple[int, list[tuple[bytes, float]]])
            members |= dict(some)
            if not cursor:
                break
        texts: dict[UUID, str] = {}
        for at in range(0, len(seat_ids), AT_ONCE_MAX):
            asked = seat_ids[at : at + AT_ONCE_MAX]
            keys = [seat_hold_key(organization_id, seat_id) for seat_id in asked]
            found = await self._cache.ask_warm("MGET", *keys)
            if found is None:
                return None
            values = msgspec.convert(found, list[bytes | None])
            texts |= {
                seat_id: text.decode(errors="replace")
                for seat_id, text in zip(asked, values, strict=True)
                if text is not None
            }
        return Told(members=members, texts=texts)

    async def put_right(
        self,
        organization_id: UUID,
        event_id: UUID,
        told: Told,
        holds: Sequence[SeatHold],
        now: datetime,
    ) -> Corrections:
        """From what Redis was told to what these holds, which are all of the event's, are. Seats of
        which it should know nothing are given back: every process must forget them."""
        by_seat = {hold.seat_id: hold for hold in holds if hold.seat_id is not None}
        right = {_member(hold, seat_id).encode(): hold for seat_id, hold in by_seat.items()}
        untold = {hold.id: hold for member, hold in right.items() if member not in told.members}
        untold |= {
            hold.id: hold
            for seat_id, hold in by_seat.items()
            if _concerns(told.texts.get(seat_id), event_id)
            and told.texts.get(seat_id) != _text(hold)
        }
        extra = told.members.keys() - right.keys()
        registry = holds_key(organization_id, event_id)
        commands: list[Command] = [("ZREM", registry, member) for member in extra]
        for hold in untold.values():
            if hold.seat_id is not None and (left_s := _left_s(hold, now)) > 0:
                commands += _entries(organization_id, hold, hold.seat_id, left_s)
        for at in range(0, len(commands), AT_ONCE_MAX):
            await self._cache.tell_warm(commands[at : at + AT_ONCE_MAX])
        freed = [
            seat_id
            for seat_id, text in told.texts.items()
            if seat_id not in by_seat and _concerns(text, event_id)
        ]
        # What has merely ended is nobody's mistake: it is swept away in a moment.
        wrong = [member for member in extra if told.members[member] > now.timestamp()]
        return Corrections(
            written=list(untold.values()), freed=freed, count=len(untold) + len(wrong) + len(freed)
        )


def _concerns(text: str | None, event_id: UUID) -> bool:
    """Unless it is said of another event, which has its seats under the same names."""
    *_, last = (text or "").split(":")
    return len(last) != 36 or last == str(event_id)


def _left_s(hold: SeatHold, now: datetime) -> float:
    return (hold.held_until - now).total_seconds()


def _entries(
    organization_id: UUID, hold: SeatHold, seat_id: UUID, left_s: float
) -> tuple[Command, Command]:
    registry = holds_key(organization_id, hold.event_id)
    ends = int(hold.held_until.timestamp())
    for_ms = max(1, int(left_s * 1000))
    return (
        ("ZADD", registry, ends, _member(hold, seat_id)),
        ("SET", seat_hold_key(organization_id, seat_id), _text(hold), "PX", for_ms),
    )


def _member(hold: SeatHold, seat_id: UUID) -> str:
    return f"{seat_id}:{hold.id}:{hold.user_id}:{hold.held_until.isoformat()}"


def _text(hold: SeatHold) -> str:
    return f"{hold.id}:{hold.user_id}:{int(hold.held_until.timestamp())}:{hold.event_id}"


def _read(value: bytes | None, seat_id: UUID, now: datetime) -> HeldSeat | None:
    """None as well for what another version of this program wrote."""
    if value is None:
        return None
    try:
        hold_id, user_id, ends, event_id = value.decode().split(":")
        return HeldSeat(
            hold_id=UUID(hold_id),
            user_id=UUID(user_id),
            event_id=UUID(event_id),
            seat_id=seat_id,
            held_until=datetime.fromtimestamp(int(ends), UTC),
            timestamp=now,
        )
    except (ValueError, OverflowError):
        return None
