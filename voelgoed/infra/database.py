"""PostgreSQL, one organisation at a time.

Every statement runs inside `Database.transaction(organization_id)`, which sets the
organisation that row-level security checks. `LiteralString` makes the type checker
refuse any SQL that is not a literal in our source.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, LiteralString, TypeVar
from uuid import UUID

import asyncpg
import msgspec
import structlog

from voelgoed.infra import bundle
from voelgoed.infra.clock import Clock
from voelgoed.infra.connections import ConnectionStack
from voelgoed.infra.metrics import database_up, database_wait
from voelgoed.infra.refusal import Refusal, StorageBusy, StorageUnavailable

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

    Pool = asyncpg.Pool[asyncpg.Record]
    Connection = asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]

T = TypeVar("T")
log = structlog.get_logger()

ACQUIRE_TIMEOUT_S = 2.0
STATEMENT_TIMEOUT_MS = 10_000
LOCK_TIMEOUT_MS = 5_000
SILENCE_TIMEOUT_S = 12.0
"""For a server that is frozen or cut off and so cannot time a statement out itself."""
FIRST_WORD_TIMEOUT_S = 2.0
"""For the first statement on a connection, which takes no time when all is well."""
IDLE_IN_TRANSACTION_TIMEOUT_MS = 15_000

SERVER_SETTINGS = {
    "application_name": "voelgoed",
    "timezone": "UTC",
    "statement_timeout": str(STATEMENT_TIMEOUT_MS),
    "lock_timeout": str(LOCK_TIMEOUT_MS),
    "idle_in_transaction_session_timeout": str(IDLE_IN_TRANSACTION_TIMEOUT_MS),
    # Plans are kept. One that was made while a table was empty would read all of it until PostgreSQL
    # next counts its rows, a minute later: on a busy evening, a hundred thousand of them.
    "enable_seqscan": "off",
}

AT_ONCE_CONNECTIONS_MAX = 8
AT_ONCE_LOCK_TIMEOUT_MS = 400
"""For a row that somebody else is at work on: short, because others wait behind who is."""
AT_ONCE_SETTINGS = SERVER_SETTINGS | {
    "lock_timeout": str(AT_ONCE_LOCK_TIMEOUT_MS),
    # Else a statement about one row, or a few, is planned anew each time, which takes longer than it.
    "plan_cache_mode": "force_generic_plan",
}
CHANGED_MEANWHILE = "VG001"

GONE = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.InternalClientError,  # of a connection told of its end while nobody was using it
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.InsufficientResourcesError,
)
"""What asyncpg raises when the server is away, starting, stopping, or out of room."""

BUSY = (
    asyncpg.LockNotAvailableError,
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
)
"""What it raises when others were in a statement's way for too long."""


class ChangedMeanwhile(Exception):
    """What was read to decide is not so any more; nothing was written. Read and decide again."""


class Message(msgspec.Struct, frozen=True):
    """A live message waiting for its transaction to commit."""

    topic: str
    data: dict[str, object] | None
    """None tells readers to read again."""


class LiveChange(msgspec.Struct, frozen=True):
    """What changed, waiting for its transaction to commit. What is sent about it is made by the
    projection that is registered for its kind of topic."""

    topic: str
    what: msgspec.Struct


class Transaction:
    def __init__(
        self,
        connection: "Connection",
        organization_id: UUID,
        now: datetime,
        *,
        is_at_once: bool = False,
    ) -> None:
        self.connection = connection
        self._is_at_once = is_at_once
        self.organization_id = organization_id
        self.now = now
        self.messages: list[Message | LiveChange] = []
        self.dropped_keys: list[str] = []
        self.afterwards: list[Callable[[], None]] = []
        self.seen: dict[object, object] = {}
        """What was looked at once and need not be again, under keys of whoever looked."""
        self._is_gathering = False

    async def rows(self, shape: Callable[..., T], query: LiteralString, *values: object) -> list[T]:
        if self._is_gathering:
            return await bundle.rows(shape, query, values)
        self._require_time()
        return [shape(**record) for record in await self.connection.fetch(query, *values)]

    async def row(self, shape: Callable[..., T], query: LiteralString, *values: object) -> T | None:
        if self._is_gathering:
            found = await bundle.rows(shape, query, values)
            return found[0] if found else None
        self._require_time()
        record = await self.connection.fetchrow(query, *values)
        return None if record is None else shape(**record)

    async def value(self, kind: type[T], query: LiteralString, *values: object) -> T | None:
        assert not self._is_gathering, "a single value is not asked for side by side with others"
        self._require_time()
        value: object = await self.connection.fetchval(query, *values)
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"the query gave {type(value).__name__}, not {kind.__name__}")
        return value

    async def run(self, query: LiteralString, *values: object) -> int:
        """Execute and say how many rows it touched."""
        if self._is_gathering:
            return await bundle.run(query, values)
        self._require_time()
        status: str = await self.connection.execute(query, *values)
        count = status.rpartition(" ")[2]
        return int(count) if count.isdecimal() else 0

    async def statement(self, query: LiteralString, *values: object) -> str:
        """One statement that is a transaction by itself, on a connection of `Database.at_once`; gives
        the one text that it selects. `$1` is the organisation: the statement must compare it with
        `current_organization()` and abort with VG002 where the connection is set to another. It aborts
        with VG001 where what it writes was decided from what is not so any more."""
        try:
            text: object = await self.connection.fetchval(query, self.organization_id, *values)
        except asyncpg.PostgresError as fault:
            if fault.sqlstate == CHANGED_MEANWHILE:
                raise ChangedMeanwhile() from None
            raise
        if not isinstance(text, str):
            raise TypeError(f"the statement gave {type(text).__name__}, not a text")
        return text

    def _require_time(self) -> None:
        assert not self._is_at_once, "what happens at once is gathered"

    async def gather(self, *works: Coroutine[Any, Any, object]) -> None:
        """Side by side: what they are about to ask or write goes to PostgreSQL as one statement, in
        their order, with one round trip for all. So each writes a table of its own, none sees what
        another writes or waits for, and rows have the shape of a Struct."""
        assert not self._is_gathering, "works that go on side by side do not split up further"
        self._is_gathering = True
        try:
            once_by = self.organization_id if self._is_at_once else None
            await bundle.side_by_side(self.connection, works, once_by=once_by)
        finally:
            self._is_gathering = False

    def publish(self, topic: str, data: dict[str, object]) -> None:
        """Send this to the topic's readers, if and after this transaction commits."""
        self.messages.append(Message(topic, data))

    def publish_change(self, topic: str, what: msgspec.Struct) -> None:
        """Like `publish`, for messages that say how something is. The topic's projection reads that
        when the messages get their numbers: a later number is never older news, whichever
        transaction committed first."""
        self.messages.append(LiveChange(topic, what))

    def once_committed(self, work: Callable[[], None]) -> None:
        """For what must not be said of something that was rolled back: logs, metrics."""
        self.afterwards.append(work)

    def drop(self, *keys: str) -> None:
        """Drop these from every cache, if and after this transaction commits."""
        self.dropped_keys.extend(keys)


def json_text(value: object) -> str:
    """For a statement that reads many rows from one value: as arrays, each field of each row costs
    the driver a call."""
    return msgspec.json.encode(value).decode()


def date_array(days: Sequence[date]) -> str:
    """As PostgreSQL writes it: for a list of lists of different lengths, which is no array."""
    return "{" + ",".join(map(str, days)) + "}"


@contextmanager
def refusing(constraint: str, refusal: type[Refusal | ChangedMeanwhile]) -> Generator[None]:
    """A violation of this named constraint is a refusal; of any other, a fault of ours."""
    try:
        yield
    except asyncpg.IntegrityConstraintViolationError as fault:
        if fault.constraint_name != constraint:
            raise
        raise refusal() from None


class Database:
    def __init__(self, url: str, *, clock: Clock, connections_max: int) -> None:
        self.url = url
        self.clock = clock
        self.connections_max = connections_max
        self.after_commit: Callable[[Transaction], Awaitable[None]] | None = None
        self._pool: Pool | None = None
        self._at_once: ConnectionStack | None = None
        """Apart, because its connections stay set to an organisation. On all others nothing can be
        read before a transaction has said whose."""
        self._set_to: dict[int, UUID] = {}
        """By the connection's process."""

    async def open(self) -> None:
        try:
            self._pool = await self._create_pool(self.connections_max)
            at_once_max = min(self.connections_max, AT_ONCE_CONNECTIONS_MAX)
            self._at_once = ConnectionStack(self._connect_at_once, at_once_max)
            await self.ping()
        except GONE as fault:
            raise StorageUnavailable() from fault

    async def _create_pool(self, connections_max: int) -> "Pool":
        return await asyncpg.create_pool(
            self.url,
            min_size=0,  # else asyncpg logs a traceback a second while the server is away
            max_size=connections_max,
            init=self._prepare_connection,
            reset=_nothing_to_reset,
            timeout=ACQUIRE_TIMEOUT_S,
            command_timeout=SILENCE_TIMEOUT_S,
            server_settings=SERVER_SETTINGS,
        )

    async def _connect_at_once(self) -> "asyncpg.Connection[asyncpg.Record]":
        connection = await asyncpg.connect(
            self.url,
            timeout=ACQUIRE_TIMEOUT_S,
            command_timeout=SILENCE_TIMEOUT_S,
            server_settings=AT_ONCE_SETTINGS,
        )
        try:
            await self._prepare_connection(connection)
        except BaseException:
            connection.terminate()
            raise
        return connection

    async def _prepare_connection(self, connection: "Connection") -> None:
        self._set_to.pop(connection.get_server_pid(), None)
        for kind in ("json", "jsonb"):
            await connection.set_type_codec(
                kind,
                schema="pg_catalog",
                encoder=_json_text,
                decoder=msgspec.json.decode,
            )

    async def close(self) -> None:
        for pool in (self._pool, self._at_once):
            if pool is not None:
                pool.terminate()  # every answered request has committed; nothing to wait for
        self._pool = self._at_once = None

    async def connect(self) -> "asyncpg.Connection[asyncpg.Record]":
        """A bare connection of one's own, for LISTEN and the job queue."""
        return await asyncpg.connect(
            self.url, timeout=ACQUIRE_TIMEOUT_S, server_settings=_LISTENER_SETTINGS
        )

    @asynccontextmanager
    async def transaction(
        self,
        organization_id: UUID,
        *,
        durable: bool = True,
        is_often: bool = False,
        at_one_moment: bool = False,
    ) -> AsyncGenerator[Transaction]:
        """What is not durable does not wait for the disk: a crash may forget the last of it. What is
        done often is not planned anew each time. What is read at one moment agrees with itself,
        however many statements ask, and writes nothing."""
        async with self._acquired(self._pool) as connection:
            begin = _begin(organization_id, durable, is_often, at_one_moment)
            await connection.execute(begin, timeout=FIRST_WORD_TIMEOUT_S)
            tx = Transaction(connection, organization_id, self.clock.now())
            try:
                yield tx
            except BaseException as fault:
                await _roll_back(connection)
                if isinstance(fault, asyncpg.PostgresError) and fault.sqlstate == CHANGED_MEANWHILE:
                    raise ChangedMeanwhile() from None
                raise
            if await connection.execute("COMMIT") != "COMMIT":
                raise RuntimeError("a statement had failed unnoticed; everything was rolled back")
        await self._follow_up(tx)

    @asynccontextmanager
    async def at_once(self, organization_id: UUID) -> AsyncGenerator[Transaction]:
        """Each `statement`, and what is gathered, is one round trip and a transaction by itself. Nothing is
        locked between two of them: what is written must check that it still may be, or `abort` with
        CHANGED_MEANWHILE."""
        async with self._acquired(self._at_once) as connection:
            process = connection.get_server_pid()
            if self._set_to.get(process) != organization_id:
                self._set_to.pop(process, None)
                await connection.execute(
                    f"SET voelgoed.organization_id = '{_checked(organization_id)}'",
                    timeout=FIRST_WORD_TIMEOUT_S,
                )
                self._set_to[process] = organization_id
            tx = Transaction(connection, organization_id, self.clock.now(), is_at_once=True)
            try:
                yield tx
            except asyncpg.PostgresError as fault:
                if fault.sqlstate == CHANGED_MEANWHILE:
                    raise ChangedMeanwhile() from None
                self._set_to.pop(process, None)  # whatever it was, it is set anew
                raise
        await self._follow_up(tx)

    async def _follow_up(self, tx: Transaction) -> None:
        for work in tx.afterwards:
            work()
        if self.after_commit is not None and (tx.messages or tx.dropped_keys):
            await self.after_commit(tx)

    async def call(self, shape: Callable[..., T], query: LiteralString, *values: object) -> list[T]:
        """One call, one round trip, of a database function that sets the organisation itself."""
        async with self._acquired(self._pool) as connection:
            records = await connection.fetch(query, *values, timeout=FIRST_WORD_TIMEOUT_S)
        return [shape(**record) for record in records]

    async def find_organization(self, slug: str) -> UUID | None:
        """The only question that may be asked before anyone has said who they are."""
        async with self._acquired(self._pool) as connection:
            return await connection.fetchval("SELECT find_organization($1)", slug)

    async def organization_ids(self) -> list[UUID]:
        """For jobs that go over every organisation, one transaction each."""
        async with self._acquired(self._pool) as connection:
            return [row[0] for row in await connection.fetch("SELECT organization_ids()")]

    async def organizations_with(self, query: LiteralString, *values: object) -> list[UUID]:
        """For jobs that have to know which organisations have something to do. The query calls a
        database function that gives their ids and nothing else."""
        async with self._acquired(self._pool) as connection:
            return [row[0] for row in await connection.fetch(query, *values)]

    async def ping(self) -> None:
        async with self._acquired(self._pool) as connection:
            await connection.fetchval("SELECT 1")

    @asynccontextmanager
    async def _acquired(
        self, pool: "Pool | ConnectionStack | None"
    ) -> "AsyncGenerator[Connection]":
        if pool is None:
            raise StorageUnavailable()
        lost = is_sound = True
        try:
            with database_wait.time():
                connection: Any = await pool.acquire(timeout=ACQUIRE_TIMEOUT_S)
            try:
                yield connection
                database_up.set(1)
            except asyncpg.InterfaceError:
                lost = _is_lost(connection)
                raise
            except TimeoutError:
                connection.terminate()  # giving it back would wait for an answer once more
                raise
            except (asyncio.CancelledError, asyncpg.InternalClientError):
                is_sound = False  # a statement may still be going on, or the server said goodbye
                raise
            finally:
                if isinstance(pool, ConnectionStack):
                    pool.release(connection, is_sound=is_sound)
                else:
                    await pool.release(connection)
        except BUSY as fault:
            log.warning("database_busy", reason=repr(fault))
            raise StorageBusy() from fault
        except (*GONE, asyncpg.QueryCanceledError) as fault:  # away, or slower than we allow
            database_up.set(0)
            log.warning("database_unavailable", reason=repr(fault))
            raise StorageUnavailable() from fault
        except asyncpg.InterfaceError as fault:
            # Raised both for a connection that was lost and for a mistake of ours.
            if not lost:
                raise
            raise StorageUnavailable() from fault


_LISTENER_SETTINGS = {
    "application_name": "voelgoed-listener",
    "timezone": "UTC",
    # Jobs of the queue library may run longer than a request may.
    "statement_timeout": "60000",
}


def _checked(organization_id: UUID) -> UUID:
    """SET takes no parameters; a UUID object prints as hex digits and dashes only, and anything else
    is a programming error."""
    if not isinstance(organization_id, UUID):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError("the organisation must be a UUID")
    return organization_id


def _begin(organization_id: UUID, durable: bool, is_often: bool, at_one_moment: bool) -> str:
    # One round trip instead of two.
    begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" if at_one_moment else "BEGIN"
    begin += f"; SET LOCAL voelgoed.organization_id = '{_checked(organization_id)}'"
    if not durable:
        begin += "; SET LOCAL synchronous_commit = off"
    if is_often:
        begin += "; SET LOCAL plan_cache_mode = force_generic_plan"
    return begin


def _is_lost(connection: "Connection") -> bool:
    try:
        return connection.is_closed()
    except asyncpg.InterfaceError:
        return True  # the pool took it back when it was lost


async def _roll_back(connection: "Connection") -> None:
    try:
        await connection.execute("ROLLBACK", timeout=FIRST_WORD_TIMEOUT_S)
    except (*GONE, asyncpg.PostgresError, asyncpg.InterfaceError):
        if not _is_lost(connection):
            connection.terminate()


def _json_text(value: object) -> str:
    # The job queue hands over JSON text of its own; we ourselves only ever store objects.
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


async def _nothing_to_reset(connection: "Connection") -> None:
    """All we set is SET LOCAL, which ends with its transaction: spare the round trip."""
