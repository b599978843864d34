"""What all chapters of the demo's story need: the parts that act, whose time it is, and who acts."""

from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from random import Random
from uuid import UUID, uuid5

import msgspec

from voelgoed.accounts.model import Caller, Role
from voelgoed.infra.clock import Clock
from voelgoed.infra.idempotency import IdempotencyKey
from voelgoed.services import Services


class StoryClock(Clock):
    """Shows the time of the story: what is done while it shows a moment was done then."""

    def __init__(self) -> None:
        self.shown = super().now()

    def now(self) -> datetime:
        return self.shown


class Customer(msgspec.Struct, frozen=True):
    caller: Caller
    name: str
    email: str


class Chapter(msgspec.Struct, frozen=True):
    """What happens at one moment."""

    moment: datetime
    tell: Callable[[], Awaitable[None]]


class Story:
    def __init__(self, services: Services, clock: StoryClock, present: datetime) -> None:
        self.services = services
        self.clock = clock
        self.present = present
        self.staff: dict[Role, Caller] = {}
        self.customers: list[Customer] = []

    @property
    def owner(self) -> Caller:
        return self.staff["owner"]

    def at(self, moment: datetime) -> None:
        """From now on it is then."""
        self.clock.shown = moment

    async def tell(self, chapters: Iterable[Chapter]) -> None:
        """In the order of time, as limits and counters expect it."""
        for chapter in sorted(chapters, key=lambda each: each.moment):
            self.at(chapter.moment)
            await chapter.tell()

    def step(self, name: str, by: Caller | None = None) -> IdempotencyKey:
        """What is done under the same name again is not done again."""
        actor_id = (by or self.owner).id
        assert actor_id is not None
        return IdempotencyKey(actor_id, f"demo-{name}", b"demo")

    def id(self, name: str) -> UUID:
        """For what has an id of its maker's."""
        return uuid5(self.owner.organization_id, name)


def luck(name: str) -> Random:
    """The same in every demo."""
    return Random(f"voelgoed {name}")  # noqa: S311 (chance that can be had again)
