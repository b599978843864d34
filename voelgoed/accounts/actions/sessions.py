"""Logging in and out, and proving on every request who one is."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from secrets import token_bytes
from uuid import UUID

import msgspec

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.actions.users import add_user
from voelgoed.accounts.model import (
    Caller,
    InvalidCredentials,
    LogIn,
    NewUser,
    Origin,
    PasswordChange,
    Registration,
    Session,
    Unauthorized,
    User,
    WrongPassword,
)
from voelgoed.accounts.rules.sessions import (
    AGE_MAX,
    IDLE_MAX,
    SECRET_BYTES,
    SEEN_EVERY,
    is_alive,
    organization_of,
    session_token,
    token_hash,
)
from voelgoed.accounts.store import sessions, users
from voelgoed.infra.batcher import Batcher
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.ids import new_id
from voelgoed.infra.metrics import log_ins
from voelgoed.infra.passwords import hash_password, verify_password
from voelgoed.infra.rate_limit import Limit, give_back, take
from voelgoed.infra.refusal import RateLimited

# One person mistyping is stopped early; a venue's whole office behind one address is not. The
# limit per account stops guessing from many addresses, and is wide, because whoever has that many
# can also lock its owner out with it.
PER_EMAIL_AND_IP = Limit(10, timedelta(minutes=15))
PER_EMAIL = Limit(500, timedelta(minutes=15))
PER_IP = Limit(200, timedelta(minutes=15))
ASKED_TOGETHER_MAX = 200
SESSIONS_MAX = 100  # of one user; the oldest give way
REGISTRATIONS_PER_IP = Limit(20, timedelta(hours=1))


class LoggedIn(msgspec.Struct, frozen=True):
    token: str
    session: Session
    user: User


async def log_in(database: Database, origin: Origin, given: LogIn) -> LoggedIn:
    organization_id = await database.find_organization(given.organization)
    if organization_id is None:
        raise InvalidCredentials()
    email = given.email.lower()
    await _count_attempt(database, organization_id, email, origin.ip)
    async with database.transaction(organization_id) as tx:
        credentials = await users.find_credentials(tx, email)
    right = await verify_password(credentials and credentials.password_hash, given.password)
    async with database.transaction(organization_id) as tx:
        user = None
        if credentials is not None and right:
            # Again, and locked: the password may have been changed while we verified it.
            user = await users.lock_user_with(tx, credentials.id, credentials.password_hash)
        if user is not None:
            await give_back(tx, _attempt_key(email, origin.ip))
            log_ins.labels("done").inc()
            return await _open_session(tx, user, origin)
        await record(tx, _stranger(tx, origin), "log_in_failed", "User", email)
    log_ins.labels("refused").inc()
    raise InvalidCredentials()


async def register(database: Database, origin: Origin, given: Registration) -> LoggedIn:
    organization_id = await database.find_organization(given.organization)
    if organization_id is None:
        raise InvalidCredentials()
    async with database.transaction(organization_id) as tx:
        await take(tx, f"register:{origin.ip}", REGISTRATIONS_PER_IP)
    customer = NewUser(email=given.email, name=given.name, role="customer", password=given.password)
    password_hash = await hash_password(given.password)
    async with database.transaction(organization_id) as tx:
        user = await add_user(tx, _stranger(tx, origin), customer, password_hash)
        return await _open_session(tx, user, origin)


class SessionLookup:
    """Asks PostgreSQL who is who, for all who come in at the same time at once."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._batcher = Batcher[UUID, bytes, "sessions.LiveSession | None"](
            "sessions", self._find, together_max=ASKED_TOGETHER_MAX, in_flight_max=2
        )

    async def session(
        self, organization_id: UUID, token_hash: bytes
    ) -> "sessions.LiveSession | None":
        """None if there is none, or if it has ended."""
        return await self._batcher.submit(organization_id, token_hash)

    async def _find(
        self, organization_id: UUID, token_hashes: Sequence[bytes]
    ) -> "Sequence[sessions.LiveSession | None]":
        asked = list(dict.fromkeys(token_hashes))
        found = await sessions.find_sessions(self.database, organization_id, asked)
        now = self.database.clock.now()
        alive = {session.token_hash: session for session in found if _is_alive(session, now)}
        await self._note_seen(organization_id, alive.values(), now)
        return [alive.get(wanted) for wanted in token_hashes]

    async def _note_seen(
        self, organization_id: UUID, alive: "Iterable[sessions.LiveSession]", now: datetime
    ) -> None:
        """Of those that were not for a while; a request need not wait for the disk for that."""
        unseen = [each.id for each in alive if now - each.last_seen_at >= SEEN_EVERY]
        if unseen:
            async with self.database.transaction(organization_id, durable=False) as tx:
                await sessions.touch_sessions(tx, unseen)


async def authenticate(session_lookup: SessionLookup, token: str, origin: Origin) -> Caller:
    organization_id = organization_of(token)
    if organization_id is None:
        raise Unauthorized()
    session = await session_lookup.session(organization_id, token_hash(token))
    if session is None:
        raise Unauthorized()
    return Caller(
        kind="user",
        id=session.user_id,
        organization_id=organization_id,
        role=session.role,
        session_id=session.id,
        ip=origin.ip,
        user_agent=origin.user_agent,
    )


def _is_alive(session: "sessions.LiveSession", now: datetime) -> bool:
    return is_alive(last_seen_at=session.last_seen_at, expires_at=session.expires_at, now=now)


async def log_out(database: Database, caller: Caller) -> None:
    async with database.transaction(caller.organization_id) as tx:
        if caller.session_id is not None and await sessions.delete_session(tx, caller.session_id):
            await record(tx, caller, "logged_out", "Session", caller.session_id)


async def log_out_everywhere(database: Database, caller: Caller) -> None:
    user_id = _person(caller)
    async with database.transaction(caller.organization_id) as tx:
        ended = await sessions.delete_sessions_of(tx, user_id)
        await record(tx, caller, "logged_out_everywhere", "User", user_id, {"sessions": ended})


async def current_session(database: Database, caller: Caller) -> tuple[User, Session]:
    async with database.transaction(caller.organization_id) as tx:
        user = await users.find_user(tx, _person(caller))
        session = caller.session_id and await sessions.read_session(tx, caller.session_id)
    if user is None or not session:
        raise Unauthorized()  # ended since this request began
    return user, session


async def my_sessions(database: Database, caller: Caller) -> list[Session]:
    async with database.transaction(caller.organization_id) as tx:
        listed = await sessions.list_sessions(tx, _person(caller))
    return [
        session
        for session in listed
        if is_alive(last_seen_at=session.last_seen_at, expires_at=session.expires_at, now=tx.now)
    ]


async def change_password(database: Database, caller: Caller, change: PasswordChange) -> None:
    """One's own; every other session of one's own ends."""
    user_id = _person(caller)
    async with database.transaction(caller.organization_id) as tx:
        await take(tx, f"password:{user_id}", PER_EMAIL_AND_IP)
    async with database.transaction(caller.organization_id) as tx:
        current = await users.find_password_hash(tx, user_id)
    if current is None or not await verify_password(current, change.current_password):
        raise WrongPassword()
    password_hash = await hash_password(change.new_password)
    async with database.transaction(caller.organization_id) as tx:
        if await users.lock_user_with(tx, user_id, current) is None:
            raise WrongPassword()  # somebody has reset it meanwhile
        await users.set_password_hash(tx, user_id, password_hash)
        await sessions.delete_sessions_of(tx, user_id, keep=caller.session_id)
        await record(tx, caller, "password_changed", "User", user_id)


async def purge_dead_sessions(tx: Transaction) -> int:
    return await sessions.delete_dead_sessions(tx, tx.now - IDLE_MAX)


async def _count_attempt(database: Database, organization_id: UUID, email: str, ip: str) -> None:
    # Its own transaction: an attempt counts even when what follows fails.
    try:
        async with database.transaction(organization_id) as tx:
            await take(tx, _attempt_key(email, ip), PER_EMAIL_AND_IP)
            await take(tx, f"log-in:{email}", PER_EMAIL)
            await take(tx, f"log-in-from:{ip}", PER_IP)
    except RateLimited:
        log_ins.labels("limited").inc()
        raise


def _attempt_key(email: str, ip: str) -> str:
    return f"log-in:{email}:from:{ip}"


async def _open_session(tx: Transaction, user: User, origin: Origin) -> LoggedIn:
    token = session_token(tx.organization_id, token_bytes(SECRET_BYTES))
    session = Session(
        id=new_id(),
        user_id=user.id,
        ip=origin.ip,
        user_agent=origin.user_agent,
        created_at=tx.now,
        last_seen_at=tx.now,
        expires_at=tx.now + AGE_MAX,
    )
    await sessions.insert_session(tx, session, token_hash(token))
    await sessions.delete_oldest_sessions(tx, user.id, keep=SESSIONS_MAX)
    caller = Caller(
        kind="user",
        id=user.id,
        organization_id=tx.organization_id,
        ip=origin.ip,
        user_agent=origin.user_agent,
    )
    await record(tx, caller, "logged_in", "Session", session.id)
    return LoggedIn(token, session, user)


def _stranger(tx: Transaction, origin: Origin) -> Caller:
    return Caller(
        kind="user",
        id=None,
        organization_id=tx.organization_id,
        ip=origin.ip,
        user_agent=origin.user_agent,
    )


def _person(caller: Caller) -> UUID:
    if caller.kind != "user" or caller.id is None:
        raise Unauthorized()
    return caller.id
