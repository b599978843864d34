"""What waits goes together.

Items that come in while earlier ones are worked on are collected and go together as soon as there
is room. No delay is added: alone, an item goes at once; when it is busy, one commit serves many.
Items of one key are worked on a few batches at a time, those of different keys side by side.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Sequence, Sized
from typing import Generic, TypeVar

from voelgoed.infra.metrics import batch_sizes
from voelgoed.infra.refusal import StorageBusy, StorageUnavailable, Unavailable

K = TypeVar("K", bound=Hashable)
I = TypeVar("I")  # noqa: E741
R = TypeVar("R")

WAITING_MAX = 5_000
"""Of one key. At a thousand a second, who waits behind so many has gone before it is their turn."""


TURNS_MAX = 5
"""Of the event loop, before a batch goes."""
STUCK_MAX = 2
"""Of a batch tried one by one, who may each wait as long as a lock is waited for."""


class Overloaded(Unavailable):
    """Too many want the same at this moment; try again shortly."""


class _Queue(Generic[I, R]):
    def __init__(self) -> None:
        self.waiting: deque[tuple[I, asyncio.Future[R]]] = deque()
        self.runners = 0


async def _until_all_are_here(waiting: Sized) -> None:
    """While more come in with every turn of the loop: who was answered together asks together."""
    for _ in range(TURNS_MAX):
        before = len(waiting)
        await asyncio.sleep(0)
        if len(waiting) == before:
            break


def _like(fault: StorageUnavailable) -> StorageUnavailable:
    """Each who is told has one of their own, which knows where it comes from."""
    copy = type(fault)(fault.message)
    copy.__cause__ = fault.__cause__
    return copy


def _fault_of(future: "asyncio.Future[R]") -> BaseException | None:
    return None if future.cancelled() else future.exception()


class Batcher(Generic[K, I, R]):
    def __init__(
        self,
        name: str,
        work: Callable[[K, Sequence[I]], Awaitable[Sequence[R | Exception]]],
        *,
        together_max: int,
        in_flight_max: int,
        follow_up: Callable[[K], None] | None = None,
    ) -> None:
        """`work` gives one result or exception for each item, in their order. What it raises
        concerns all of them: they are then tried one by one, so that one bad item takes no other
        with it. `follow_up` is called when the items of a batch have their results; it may start what
        nobody waits for."""
        self._work = work
        self._follow_up = follow_up
        self._sizes = batch_sizes.labels(name)
        self._together_max = together_max
        self._in_flight_max = in_flight_max
        self._queues: dict[K, _Queue[I, R]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def submit(self, key: K, item: I) -> R:
        queue = self._queues.get(key)
        if queue is None:
            queue = self._queues[key] = _Queue()
        if len(queue.waiting) >= WAITING_MAX:
            raise Overloaded()
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        queue.waiting.append((item, future))
        if queue.runners < self._in_flight_max:
            queue.runners += 1
            # It begins when the loop comes round, and takes what came in until then.
            task = asyncio.create_task(self._run(key, queue))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await future

    async def _run(self, key: K, queue: _Queue[I, R]) -> None:
        try:
            while queue.waiting:
                await _until_all_are_here(queue.waiting)
                count = min(len(queue.waiting), self._together_max)
                if count:  # another batch may have taken them meanwhile
                    await self._run_batch(key, [queue.waiting.popleft() for _ in range(count)])
        finally:
            queue.runners -= 1
            if not queue.runners and not queue.waiting:
                self._queues.pop(key, None)

    async def _run_batch(self, key: K, batch: list[tuple[I, "asyncio.Future[R]"]]) -> None:
        self._sizes.observe(len(batch))
        try:
            results = await self._work(key, [item for item, _ in batch])
            if len(results) != len(batch):  # nobody may be left waiting for ever
                raise RuntimeError(f"{len(results)} results for {len(batch)} items")
        except StorageBusy as fault:
            if len(batch) > 1:
                await self._run_each(key, batch, fault)
                return
            results = [fault]
        except StorageUnavailable as fault:
            # For all, and one by one would only take longer; so would it for those who wait.
            queue = self._queues.get(key)
            while queue is not None and queue.waiting:
                batch.append(queue.waiting.popleft())
            results = [_like(fault) for _ in batch]
        except asyncio.CancelledError:  # nobody may be left waiting for ever
            self._answer(batch, [StorageUnavailable() for _ in batch])
            us = asyncio.current_task()
            if us is None or us.cancelling():
                raise
            return  # only the work was called off
        except Exception as fault:
            if len(batch) > 1:
                await self._run_each(key, batch)
                return
            results = [fault]
        self._answer(batch, results)
        if self._follow_up is not None:
            self._follow_up(key)

    async def _run_each(
        self,
        key: K,
        batch: list[tuple[I, "asyncio.Future[R]"]],
        busy: StorageUnavailable | None = None,
    ) -> None:
        """One by one. If somebody was in the way of one of them, the others need not wait for that;
        if it is a second one's too, it is everybody's. So it is at once if storage is away."""
        stuck, why = 0, busy
        for one in batch:
            if why is not None and stuck >= STUCK_MAX:
                self._answer([one], [_like(why)])
                continue
            await self._run_batch(key, [one])
            fault = _fault_of(one[1]) if one[1].done() else None
            if isinstance(fault, StorageBusy):
                stuck += busy is not None
            elif isinstance(fault, StorageUnavailable):
                stuck, why = STUCK_MAX, fault

    def _answer(
        self, batch: list[tuple[I, "asyncio.Future[R]"]], results: Sequence[R | Exception]
    ) -> None:
        for (_, future), result in zip(batch, results, strict=True):
            if future.done():  # whoever asked has gone
                continue
            if isinstance(result, Exception):
                future.set_exception(result)
            else:
                future.set_result(result)
