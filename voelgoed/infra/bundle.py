"""Several statements in one round trip, for `Transaction.gather`.

A round trip costs both sides more than a small statement does. Statements that need not see each
other's work become the parts of one, each with its own answer.
"""

import asyncio
import re
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec

if TYPE_CHECKING:
    from voelgoed.infra.database import Connection

T = TypeVar("T")
_number: ContextVar[int] = ContextVar("number")
"""Of the work that is being done: statements are sent in the order of their works."""


class _Statement(msgspec.Struct, frozen=True):
    work: int
    query: str
    values: tuple[object, ...]
    gives_rows: bool
    """Else how many there were."""
    answer: "asyncio.Future[Any]"


class Bundle:
    """The statements of works that go on side by side, sent when all of them wait for theirs."""

    def __init__(self, connection: "Connection", works: int) -> None:
        self._connection = connection
        self._unfinished = works
        self._waiting: list[_Statement] = []

    async def follow(self, number: int, work: Coroutine[Any, Any, object]) -> None:
        _number.set(number)
        await work
        self._unfinished -= 1
        await self._send_if_all_wait()

    async def run(self, query: str, values: tuple[object, ...]) -> int:
        """Whatever it writes has no RETURNING of its own."""
        return await self._answer(query, values, gives_rows=False)

    async def rows(
        self, shape: Callable[..., T], query: str, values: tuple[object, ...]
    ) -> list[T]:
        found = await self._answer(query, values, gives_rows=True)
        return [] if found is None else _decoder(cast("type[T]", shape)).decode(found)

    async def _answer(self, query: str, values: tuple[object, ...], *, gives_rows: bool) -> Any:
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Statement(_number.get(), query, values, gives_rows, answer))
        await self._send_if_all_wait()
        return await answer

    async def _send_if_all_wait(self) -> None:
        """Whatever comes of it is said to each of them, in its own place."""
        if not self._waiting or len(self._waiting) < self._unfinished:
            return
        waiting, self._waiting = sorted(self._waiting, key=lambda each: each.work), []
        query = _as_one(tuple((each.query, len(each.values), each.gives_rows) for each in waiting))
        values = [value for each in waiting for value in each.values]
        try:
            answers = await self._connection.fetchrow(query, *values)
            assert answers is not None
        except Exception as fault:
            for statement in waiting:
                statement.answer.set_exception(fault)
                statement.answer.exception()  # of a work that was called off nobody asks for it
            return
        for statement, answer in zip(waiting, answers, strict=True):
            statement.answer.set_result(answer)


@lru_cache(maxsize=1_000)
def _decoder(shape: type[T]) -> "msgspec.json.Decoder[list[T]]":
    """From PostgreSQL's text to what is wanted, without anything between."""
    return msgspec.json.Decoder(list[shape], strict=False)


@lru_cache(maxsize=1_000)
def _as_one(statements: tuple[tuple[str, int, bool], ...]) -> str:
    """Of their queries, how many values these have, and whether they give rows. They are carried
    out, and lock what they lock, in the order in which their answers are named."""
    parts: list[str] = []
    answers: list[str] = []
    before = 0
    for at, (query, values, gives_rows) in enumerate(statements):
        part = re.sub(r"\$(\d+)", lambda found, by=before: f"${int(found[1]) + by}", query)
        if not gives_rows and not part.lstrip().startswith("SELECT"):
            part += " RETURNING 1"
        parts.append(f"part{at} AS ({part})")
        answer = f"json_agg(part{at})::text" if gives_rows else "count(*)"
        answers.append(f"(SELECT {answer} FROM part{at})")  # noqa: S608
        before += values
    return f"WITH {', '.join(parts)} SELECT {', '.join(answers)}"
