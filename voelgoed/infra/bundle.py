"""Several statements in one round trip, for `Transaction.gather`.

A round trip costs both sides more than a small statement does. Statements that need not see each
other's work become the parts of one, each with its own answer.
"""

import re
from collections.abc import Callable, Coroutine, Generator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import UUID

import msgspec

if TYPE_CHECKING:
    from voelgoed.infra.database import Connection

T = TypeVar("T")
Work = Coroutine[Any, Any, object]


class _Statement(msgspec.Struct, frozen=True):
    """Whoever awaits it waits for the others, and then has its answer."""

    query: str
    values: tuple[object, ...]
    gives_rows: bool
    """Else how many there were."""

    def __await__(self) -> Generator["_Statement", Any, Any]:
        return (yield self)


async def run(query: str, values: tuple[object, ...]) -> int:
    """Whatever it writes has no RETURNING of its own."""
    return await _Statement(query, values, gives_rows=False)


async def rows(shape: Callable[..., T], query: str, values: tuple[object, ...]) -> list[T]:
    found = await _Statement(query, values, gives_rows=True)
    return [] if found is None else _decoder(cast("type[T]", shape)).decode(found)


async def side_by_side(
    connection: "Connection", works: Sequence[Work], *, once_by: UUID | None = None
) -> None:
    """Each goes on until it asks; when all have asked or are done, what they ask is sent as one. Only
    once, if that is all of a transaction of this organisation."""
    going: list[tuple[Work, Any]] = [(work, None) for work in works]
    is_over = False
    try:
        while asked := _go_on(going):
            if is_over:
                raise RuntimeError("the one statement of this transaction was sent")
            try:
                answers = await _send(connection, [each for _, each in asked], once_by)
            except Exception as fault:
                _say(fault, [work for work, _ in asked])
                raise
            is_over = once_by is not None
            going = [(work, answer) for (work, _), answer in zip(asked, answers, strict=True)]
    finally:
        for work in works:
            work.close()


def _go_on(going: Sequence[tuple[Work, Any]]) -> list[tuple[Work, _Statement]]:
    """With the answer that each was waiting for. Gives those that ask something more."""
    asked: list[tuple[Work, _Statement]] = []
    for work, answer in going:
        try:
            statement = work.send(answer)
        except StopIteration:
            continue
        if not isinstance(statement, _Statement):
            raise TypeError("works that go on side by side wait for PostgreSQL and nothing else")
        asked.append((work, statement))
    return asked


def _say(fault: Exception, works: Sequence[Work]) -> None:
    """To each in its own place: one of them may know what it means, and raise that."""
    for work in works:
        try:
            work.throw(fault)
        except StopIteration:
            continue
        except Exception as meant:
            if meant is not fault:
                raise


async def _send(
    connection: "Connection", asked: Sequence[_Statement], once_by: UUID | None
) -> list[Any]:
    parts = tuple((each.query, len(each.values), each.gives_rows) for each in asked)
    values = [value for each in asked for value in each.values]
    if once_by is not None:
        parts, values = ((_GUARD, 1, False), *parts), [once_by, *values]
    answers = await connection.fetchrow(_as_one(parts), *values)
    assert answers is not None
    return list(answers) if once_by is None else list(answers)[1:]


_GUARD = "SELECT CASE WHEN current_organization() <> $1 THEN abort('VG002', \
'the connection is set to another organisation') END"
"""Whatever stands between us and PostgreSQL: nobody acts in the name of somebody else."""


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
        part = re.sub(r"\$(\d+)", lambda found, by=before: f"${int(found[1]) + by}", query).strip()
        if part.startswith("WITH "):
            own, part = _split(part)
            parts.append(own)
        if not gives_rows and not part.startswith("SELECT"):
            part += " RETURNING 1"
        parts.append(f"part{at} AS ({part})")
        answer = f"json_agg(part{at})::text" if gives_rows else "count(*)"
        answers.append(f"(SELECT {answer} FROM part{at})")  # noqa: S608
        before += values
    return f"WITH {', '.join(parts)} SELECT {', '.join(answers)}"


def _split(query: str) -> tuple[str, str]:
    """What a statement has WITH, which only stands at the beginning of all, and what follows."""
    depth = 0
    for found in re.finditer(r"[()]|\bSELECT\b", query):
        if found[0] == "SELECT" and depth == 0:
            return query[len("WITH ") : found.start()].rstrip(), query[found.start() :]
        depth += (found[0] == "(") - (found[0] == ")")
    raise ValueError("after WITH nothing is selected")
