"""What waits goes together: nothing is lost, mixed up, or held up by somebody else's mistake."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from itertools import count
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.prove.length import rounds
from voelgoed.infra import batcher
from voelgoed.infra.batcher import Batcher, Overloaded
from voelgoed.infra.refusal import Conflict, StorageBusy, StorageUnavailable

ROUNDS = 10_000
"""Of the loop, after which whatever did not happen does not happen."""
names = count()


class Bad(Exception):
    pass


class Taken(Conflict):
    """An answer of its own for one of the items."""


class Works:
    """Doubles numbers; words say what becomes of a batch. Waits at a gate, if there is one."""

    def __init__(self, *, together_max: int = 10, in_flight_max: int = 1, shut: bool = False):
        self.batches: list[tuple[str, list[object]]] = []
        self.gates: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.shut = shut
        self.at_work: dict[str, int] = defaultdict(int)
        self.at_work_most: dict[str, int] = defaultdict(int)
        self.queue = Batcher[str, object, object](
            f"test {next(names)}",
            self.work,
            together_max=together_max,
            in_flight_max=in_flight_max,
        )

    async def work(self, key: str, items: Sequence[object]) -> list[object | Exception]:
        self.batches.append((key, list(items)))
        self.at_work[key] += 1
        self.at_work_most[key] = max(self.at_work_most[key], self.at_work[key])
        try:
            if self.shut:
                await self.gates[key].wait()
            else:
                await asyncio.sleep(0)
        finally:
            self.at_work[key] -= 1
        if "bad" in items:
            raise Bad(*items)
        if "called off" in items:
            raise asyncio.CancelledError
        if {"stuck", "stuck too"} & set(items):
            raise StorageBusy() from TimeoutError("waited for a lock")
        if "storage" in items:
            raise StorageUnavailable("gone fishing") from OSError("no bait")
        return [Taken(item=item) if item == "taken" else item * 2 for item in items]  # type: ignore[operator]

    def ask(self, key: str, *items: object) -> "list[asyncio.Task[object]]":
        return [asyncio.create_task(self.queue.submit(key, item)) for item in items]

    def sizes(self) -> list[int]:
        return [len(items) for _, items in self.batches]

    async def begun(self, batches: int) -> None:
        for _ in range(ROUNDS):
            if len(self.batches) >= batches:
                return
            await asyncio.sleep(0)
        raise AssertionError(f"only {self.batches} began")

    async def emptied(self) -> None:
        """Nothing is kept of what is done; it ends a moment after its answers were given."""
        for _ in range(ROUNDS):
            if not self.queue._queues and not self.queue._tasks:
                return
            await asyncio.sleep(0)
        raise AssertionError("something was left behind")


async def settled(tasks: "Sequence[asyncio.Task[object]]") -> list[object]:
    async with asyncio.timeout(60):
        return await asyncio.gather(*tasks, return_exceptions=True)


async def test_alone_it_goes_at_once():
    works = Works()
    assert await works.queue.submit("a", 21) == 42
    assert works.batches == [("a", [21])]
    await works.emptied()


async def test_what_waits_goes_together_in_its_order():
    works = Works(shut=True)
    first = works.ask("a", 0)
    await works.begun(1)
    rest = works.ask("a", 1, 2, 3, 4)
    await asyncio.sleep(0)
    works.gates["a"].set()
    assert await settled(first + rest) == [0, 2, 4, 6, 8]
    assert works.batches == [("a", [0]), ("a", [1, 2, 3, 4])]
    await works.emptied()


async def test_what_comes_at_the_same_moment_goes_together_from_the_first():
    works = Works()
    assert await settled(works.ask("a", 1, 2, 3)) == [2, 4, 6]
    assert works.sizes() == [3]


async def test_no_more_go_together_than_may():
    works = Works(together_max=4)
    assert await settled(works.ask("a", *range(10))) == list(range(0, 20, 2))
    assert works.batches == [("a", [0, 1, 2, 3]), ("a", [4, 5, 6, 7]), ("a", [8, 9])]


async def test_each_gets_the_answer_to_what_they_asked():
    works = Works(together_max=7, in_flight_max=3)
    items = Random(1).sample(range(1_000), 300)
    assert await settled(works.ask("a", *items)) == [item * 2 for item in items]


async def test_a_refusal_in_the_answers_is_raised_to_who_it_is_for():
    works = Works()
    first, refused, last = await settled(works.ask("a", 1, "taken", 3))
    assert (first, last) == (2, 6)
    assert isinstance(refused, Taken)
    assert works.sizes() == [3], "which is no reason to try one by one"


async def test_one_bad_item_takes_no_other_with_it():
    works = Works()
    found = await settled(works.ask("a", 1, 2, "bad", 3))
    assert [found[0], found[1], found[3]] == [2, 4, 6]
    assert isinstance(found[2], Bad)
    assert works.sizes() == [4, 1, 1, 1, 1]
    assert await works.queue.submit("a", 5) == 10, "and the next ones go as ever"
    await works.emptied()


async def test_storage_that_is_away_fails_all_of_them_at_once():
    works = Works()
    found = await settled(works.ask("a", 1, "storage", 3))
    assert [type(each) for each in found] == [StorageUnavailable] * 3
    assert [str(each) for each in found] == ["gone fishing"] * 3
    assert len({id(each) for each in found}) == 3, "each has their own to add to"
    assert {str(each.__cause__) for each in found if isinstance(each, Exception)} == {"no bait"}
    assert works.sizes() == [3]
    assert await works.queue.submit("a", 1) == 2


async def test_storage_that_goes_away_while_they_are_tried_one_by_one_is_asked_no_more():
    """Each of them would wait as long as the first."""
    works = Works()
    found = await settled(works.ask("a", 1, "bad", 2, "storage", 3, 4))
    assert [found[0], found[2]] == [2, 4]
    assert isinstance(found[1], Bad)
    assert [type(each) for each in found[3:]] == [StorageUnavailable] * 3
    assert works.sizes() == [6, 1, 1, 1, 1]


async def test_one_in_whose_way_somebody_is_takes_no_other_with_it():
    works = Works()
    found = await settled(works.ask("a", 1, "stuck", 2, 3))
    assert [found[0], *found[2:]] == [2, 4, 6]
    assert isinstance(found[1], StorageBusy)
    assert isinstance(found[1].__cause__, TimeoutError)
    assert works.sizes() == [4, 1, 1, 1, 1]


async def test_what_is_in_the_way_of_two_is_in_everybodys():
    """They are not made to wait for it one after the other."""
    works = Works()
    found = await settled(works.ask("a", 1, "stuck", 2, "stuck too", 3, "stuck", 4))
    assert [found[0], found[2]] == [2, 4]
    assert all(isinstance(found[at], StorageBusy) for at in (1, 3, 4, 5, 6))
    assert len({id(each) for each in found}) == 7, "each has one of their own"
    assert [items for _, items in works.batches[1:]] == [[1], ["stuck"], [2], ["stuck too"]]


async def test_work_that_answers_too_little_is_an_error_and_not_silence():
    async def forgetful(_key: str, items: Sequence[int]) -> list[int]:
        return [item for item in items if item != 2]

    queue = Batcher[str, int, int]("forgetful", forgetful, together_max=10, in_flight_max=1)
    tasks = [asyncio.create_task(queue.submit("a", item)) for item in (1, 2, 3)]
    found = await settled(tasks)  # type: ignore[arg-type]
    assert (found[0], found[2]) == (1, 3)
    assert isinstance(found[1], Exception)


async def test_who_goes_away_disturbs_nobody():
    works = Works(shut=True)
    [first] = works.ask("a", 0)
    await works.begun(1)
    waiting = works.ask("a", 1, 2, 3)
    await asyncio.sleep(0)
    first.cancel()  # while it is worked on
    waiting[1].cancel()  # while it waits
    await asyncio.sleep(0)
    works.gates["a"].set()
    found = await settled([first, *waiting])
    assert isinstance(found[0], asyncio.CancelledError)
    assert isinstance(found[2], asyncio.CancelledError)
    assert (found[1], found[3]) == (2, 6)
    await works.emptied()


async def test_who_goes_away_from_a_batch_that_fails_disturbs_nobody():
    works = Works(shut=True)
    tasks = works.ask("a", 1, "bad", 3)
    await works.begun(1)
    tasks[1].cancel()
    works.gates["a"].set()
    found = await settled(tasks)
    assert (found[0], found[2]) == (2, 6)
    await works.emptied()


async def test_where_too_many_wait_the_next_is_told_to_come_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(batcher, "WAITING_MAX", 5)
    works = Works(together_max=2, shut=True)
    busy = works.ask("a", 0)
    await works.begun(1)
    waiting = works.ask("a", *range(1, 6))
    await asyncio.sleep(0)
    with pytest.raises(Overloaded):
        await works.queue.submit("a", 6)
    works.gates["b"].set()
    assert await works.queue.submit("b", 7) == 14, "which is no concern of the others"
    works.gates["a"].set()
    assert await settled(busy + waiting) == [0, 2, 4, 6, 8, 10]
    assert await works.queue.submit("a", 6) == 12
    await works.emptied()


async def test_keys_go_side_by_side():
    works = Works(shut=True)
    slow = works.ask("slow", 1)
    await works.begun(1)
    works.gates["quick"].set()
    assert await settled(works.ask("quick", 2, 3)) == [4, 6]
    assert not slow[0].done()
    works.gates["slow"].set()
    assert await settled(slow) == [2]
    await works.emptied()


async def test_so_many_batches_of_one_key_are_in_flight_and_no_more():
    works = Works(together_max=1, in_flight_max=3, shut=True)
    tasks = works.ask("a", *range(9))
    await works.begun(3)
    for _ in range(50):
        await asyncio.sleep(0)
    assert len(works.batches) == 3
    works.gates["a"].set()
    assert await settled(tasks) == list(range(0, 18, 2))
    assert works.at_work_most["a"] == 3


class Visit:
    """One item on its way: after how many rounds it comes, and when it gives up."""

    def __init__(self, key: str, item: object, comes: int, leaves: int | None) -> None:
        self.key, self.item, self.comes, self.leaves = key, item, comes, leaves

    def __repr__(self) -> str:
        return f"Visit({self.key!r}, {self.item!r}, {self.comes}, {self.leaves})"

    async def make(self, works: Works) -> object:
        for _ in range(self.comes):
            await asyncio.sleep(0)
        asking = asyncio.create_task(works.queue.submit(self.key, self.item))
        if self.leaves is not None:
            for _ in range(self.leaves):
                await asyncio.sleep(0)
            asking.cancel()
        [answer] = await asyncio.gather(asking, return_exceptions=True)
        return answer


visits = st.lists(
    st.builds(
        Visit,
        st.sampled_from("abc"),
        st.one_of(st.integers(0, 99), st.sampled_from(["bad", "storage", "taken"])),
        st.integers(0, 12),
        st.one_of(st.none(), st.integers(0, 6)),
    ),
    max_size=60,
)


@settings(max_examples=rounds(short=60, full=3_000))
@given(visits=visits, together_max=st.integers(1, 6), in_flight_max=st.integers(1, 3))
def test_whatever_comes_and_goes_everybody_gets_their_own_answer(
    visits: list[Visit], together_max: int, in_flight_max: int
) -> None:
    async def run() -> tuple[Works, list[object]]:
        works = Works(together_max=together_max, in_flight_max=in_flight_max)
        async with asyncio.timeout(60):
            answers = await asyncio.gather(*(visit.make(works) for visit in visits))
            await works.emptied()
        return works, answers

    works, answers = asyncio.run(run())
    for visit, answer in zip(visits, answers, strict=True):
        if isinstance(answer, asyncio.CancelledError):
            assert visit.leaves is not None
        elif visit.item == "taken":
            assert isinstance(answer, Taken | StorageUnavailable)
        elif visit.item in ("bad", "storage"):
            assert isinstance(answer, Bad | StorageUnavailable)
        else:
            assert answer == visit.item * 2 or isinstance(answer, StorageUnavailable)  # type: ignore[operator]
    storage_away = {v.key for v in visits if v.item == "storage"}
    for visit, answer in zip(visits, answers, strict=True):
        if isinstance(answer, StorageUnavailable):
            assert visit.key in storage_away, "whose batch was of another key"
    assert all(1 <= size <= together_max for size in works.sizes())
    assert all(most <= in_flight_max for most in works.at_work_most.values())


async def test_thousands_from_everywhere_are_each_answered_once():
    works = Works(together_max=50, in_flight_max=2)
    random = Random(2)

    async def client(number: int) -> list[tuple[object, object]]:
        answers: list[tuple[object, object]] = []
        for at in range(20):
            item = number * 1_000 + at
            answers.append((item, await works.queue.submit(random.choice("abcde"), item)))
        return answers

    async with asyncio.timeout(60):
        found = await asyncio.gather(*(client(number) for number in range(200)))
    assert all(answer == item * 2 for each in found for item, answer in each)  # type: ignore[operator]
    carried = [item for _, items in works.batches for item in items]
    assert len(carried) == len(set(carried)) == 4_000, "none was lost, none done twice"
    assert len(works.batches) < 4_000, "many went together"
    await works.emptied()


async def test_work_that_is_called_off_leaves_nobody_waiting():
    works = Works(shut=True)
    first = works.ask("a", "called off")
    await works.begun(1)
    others = works.ask("a", 1, 2)
    works.gates["a"].set()
    async with asyncio.timeout(60):
        [fault] = await asyncio.gather(*first, return_exceptions=True)
        assert isinstance(fault, StorageUnavailable)
        assert await asyncio.gather(*others) == [2, 4]
