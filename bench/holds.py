"""Holds on distinct seats of a stadium, against PostgreSQL's own limit on the same database."""

import itertools
import json
import statistics
from collections.abc import Iterator
from datetime import timedelta
from random import Random
from secrets import token_bytes
from uuid import UUID

import msgspec
import uvloop

from bench.http import free_port
from bench.load import Load, cpu_seconds, post, run_each
from bench.pgbench import Limit, pgbench
from bench.stage import Stage, a_process, a_stage
from voelgoed.accounts.model import Session, User
from voelgoed.accounts.rules.sessions import AGE_MAX, SECRET_BYTES, session_token, token_hash
from voelgoed.accounts.store.sessions import insert_session
from voelgoed.accounts.store.users import insert_user
from voelgoed.config import Settings
from voelgoed.events.actions.events import create_event, move_event
from voelgoed.events.actions.venues import list_venues
from voelgoed.events.model import NewEvent, Transition
from voelgoed.infra.ids import new_id
from voelgoed.infra.log import configure_logs
from voelgoed.seating.actions.event_layouts import put_event_layout
from voelgoed.seating.actions.layouts import create_layout
from voelgoed.seating.actions.views import View, see
from voelgoed.seating.model.event_layout import NewEventLayout
from voelgoed.seating.model.layout import NewLayout
from voelgoed.seating.samples import stadium
from voelgoed.services import Services, build_services, running

CLIENTS = 50
ROUNDS = 7
HOLDS = 3_000
SCATTERED_HOLDS = 1_500
"""In a round."""
HOLDS_PER_USER = 9
"""Ten are allowed."""
WARMING, ALONE = 500, 900
STEADY_PER_S, STEADY_S = 100, 10
PGBENCH_S = 2

ONE_HOLD = """
WITH seat AS (
    INSERT INTO seat_state AS seat (organization_id, event_id, seat_id, position, status,
                                    held_until, locked_at, seat_hold_id, holder_id, version, updated_at)
    SELECT current_organization(), '{event_id}', gen_random_uuid(), floor(random() * 50000)::integer,
           'held', now() + interval '5 min', now(), uuidv7(), uuidv7(), 1, now()
    ON CONFLICT (organization_id, event_id, seat_id) DO UPDATE SET version = EXCLUDED.version
     WHERE seat.version = EXCLUDED.version - 1
    RETURNING seat_id, seat_hold_id, holder_id, held_until
), hold AS (
    INSERT INTO seat_hold (organization_id, id, event_id, booking_id, user_id, seat_id, zone_id,
                           places, status, held_until, source, is_judged, created_at, updated_at)
    SELECT current_organization(), seat_hold_id, '{event_id}', uuidv7(), holder_id, seat_id,
           uuidv7(), 1, 'active', held_until, 'web', false, now(), now() FROM seat
), happened AS (
    INSERT INTO domain_event (organization_id, id, name, event_id, subject_id, payload, at)
    SELECT current_organization(), uuidv7(), 'SeatReserved', '{event_id}', seat_hold_id,
           jsonb_build_object('hold_id', seat_hold_id, 'seat_id', seat_id, 'zone_id', seat_id,
               'places', 1, 'event_id', '{event_id}', 'user_id', holder_id,
               'organization_id', current_organization(), 'held_until', held_until,
               'timestamp', now()), now() FROM seat
), audit AS (
    INSERT INTO audit_entry (organization_id, id, actor_kind, actor_id, action, entity_type,
                             entity_id, changes, ip, user_agent, at)
    SELECT current_organization(), uuidv7(), 'user', holder_id, 'seat_reserved', 'SeatHold',
           seat_hold_id::text, jsonb_build_object('seat_id', seat_id, 'event_id', '{event_id}',
               'status', 'active', 'held_until', held_until, 'source', 'web'),
           '127.0.0.1', 'bench', now() FROM seat
), counted AS (
    INSERT INTO rate_limit AS held (organization_id, key, window_started_at, window_ends_at, used)
    SELECT current_organization(), 'hold-user-' || floor(random() * 1000)::integer, now(),
           now() + interval '5 min', 1
    ON CONFLICT (organization_id, key) DO UPDATE SET used = held.used + 1
)
SELECT count(*) FROM seat
"""
"""What a hold writes, in one statement: the seat's state, the hold, the domain event, the audit
entry, the count against the limit. It authenticates nobody and checks nothing."""

Round = tuple[Limit, Load, float, float]
"""PostgreSQL's own limit, ours, and what the server and PostgreSQL took for it of the processors."""


def main() -> None:
    configure_logs("error", "json")
    with a_stage() as stage:
        event_id, other_id, view, tokens = uvloop.run(_furnish(stage))
        statement = ONE_HOLD.format(event_id=other_id)
        port = free_port()
        settings = {"VOELGOED_DATABASE_URL": stage.postgres.url(), "VOELGOED_LOG_LEVEL": "error"}
        serve = ("-m", "voelgoed", "serve", "--port", str(port), "--no-jobs")
        requests = _requests(event_id, _seats(view), tokens)
        with a_process(port, None, *serve, **settings) as server:

            def rounds(holds: int) -> list[Round]:
                return [
                    _round(stage, server, port, statement, itertools.islice(requests, holds))
                    for _ in range(ROUNDS)
                ]

            run_each(port, itertools.islice(requests, WARMING), connections=CLIENTS)
            _report("along_the_rows", rounds(HOLDS))
            lone = run_each(port, itertools.islice(requests, ALONE), connections=1)
            _report_times("lone_client", lone)
            _report("scattered", rounds(SCATTERED_HOLDS))
            due = itertools.islice(requests, STEADY_PER_S * STEADY_S)
            steady = run_each(port, due, connections=CLIENTS, per_s=STEADY_PER_S)
            _report_times(f"{STEADY_PER_S}_per_s", steady)


def _round(
    stage: Stage, server: int, port: int, statement: str, requests: Iterator[bytes]
) -> Round:
    limit = pgbench(
        stage, statement, stage.caller.organization_id, clients=CLIENTS, seconds=PGBENCH_S
    )
    before = cpu_seconds(server), cpu_seconds(stage.postmaster)
    load = run_each(port, requests, connections=CLIENTS)
    after = cpu_seconds(server), cpu_seconds(stage.postmaster)
    if load.wrong:
        raise RuntimeError(f"{load.wrong} of {load.requests} holds were refused")
    return limit, load, after[0] - before[0], after[1] - before[1]


def _report_times(case: str, load: Load) -> None:
    times = {f"p{percent}_ms": load.percentile_ms(percent) for percent in (50, 95, 99)}
    print(json.dumps({"bench": "holds", "case": case, "wrong": load.wrong, **times}))


def _report(case: str, rounds: list[Round]) -> None:
    median = statistics.median
    per_s = median(load.requests / load.seconds for _, load, _, _ in rounds)
    print(
        json.dumps(
            {
                "bench": "holds",
                "case": case,
                "holds_per_s": round(per_s),
                "pgbench_per_s": round(median(limit.per_s for limit, *_ in rounds)),
                "ratio_to_pgbench": round(
                    median(
                        load.requests / load.seconds / limit.per_s for limit, load, *_ in rounds
                    ),
                    2,
                ),
                "ratios": [
                    round(load.requests / load.seconds / limit.per_s, 2)
                    for limit, load, *_ in rounds
                ],
                "p50_ms": median(load.percentile_ms(50) for _, load, *_ in rounds),
                "p95_ms": median(load.percentile_ms(95) for _, load, *_ in rounds),
                "server_cpu_us": round(median(s / load.requests * 1e6 for _, load, s, _ in rounds)),
                "postgres_cpu_us": round(
                    median(p / load.requests * 1e6 for _, load, _, p in rounds)
                ),
                "client_cpu_us": round(
                    median(load.client_s / load.requests * 1e6 for _, load, *_ in rounds)
                ),
                "pgbench_postgres_cpu_us": round(median(limit.cpu_us for limit, *_ in rounds)),
            }
        )
    )


def _seats(view: View) -> list[str]:
    """One after the other along the rows, as people choose them; then all others, scattered."""
    plan = view.plan
    seats = [
        plan.seats[position].seat_id
        for position in plan.rows.position.tolist()
        if int(plan.category[position]) == 0 and not plan.groups.withheld[position]
    ]
    in_order = WARMING + ROUNDS * HOLDS + ALONE
    scattered = seats[in_order:]
    Random(1).shuffle(scattered)
    return seats[:in_order] + scattered


def _requests(event_id: UUID, seats: list[str], tokens: list[str]) -> Iterator[bytes]:
    for number, seat in enumerate(seats):
        token = tokens[number // HOLDS_PER_USER]
        path = f"/api/events/{event_id}/seats/{seat}/reserve"
        yield post(path, f"Authorization: Bearer {token}\r\nUser-Agent: bench\r\n")


async def _furnish(stage: Stage) -> tuple[UUID, UUID, View, list[str]]:
    services = build_services(Settings(), stage.postgres.url())
    async with running(services, with_jobs=False):
        event_id, other_id = [await seated_event(services, stage) for _ in range(2)]
        tokens = await _customers(services, stage, 50_000 // HOLDS_PER_USER)
        view = await see(services.database, services.cache, stage.caller, event_id)
    return event_id, other_id, view, tokens


async def seated_event(services: Services, stage: Stage) -> UUID:
    database, caller = services.database, stage.caller
    [venue] = await list_venues(database, caller, None, 1)
    now = services.clock.now()
    new = NewEvent(
        venue_id=venue.id,
        name="Final",
        starts_at=now + timedelta(days=1),
        ends_at=now + timedelta(days=1, hours=3),
        capacity=50_000,
    )
    event = await create_event(database, caller, new, None)
    await move_event(database, caller, event.id, Transition(to="published"))
    config = msgspec.to_builtins(stadium(), str_keys=True)
    layout = await create_layout(
        database, caller, venue.id, NewLayout(name="S", config=config), None
    )
    request = NewEventLayout(layout_id=layout.id)
    await put_event_layout(database, services.cache, caller, event.id, request)
    return event.id


async def _customers(services: Services, stage: Stage, count: int) -> list[str]:
    tokens: list[str] = []
    organization_id = stage.caller.organization_id
    async with services.database.transaction(organization_id) as tx:
        for number in range(count):
            user = User(
                id=new_id(),
                organization_id=organization_id,
                email=f"{number}@bench.example",
                name="Somebody",
                role="customer",
                status="active",
                version=1,
                created_at=tx.now,
                updated_at=tx.now,
            )
            await insert_user(tx, user, "none")
            token = session_token(organization_id, token_bytes(SECRET_BYTES))
            session = Session(
                id=new_id(),
                user_id=user.id,
                ip="127.0.0.1",
                user_agent="bench",
                created_at=tx.now,
                last_seen_at=tx.now,
                expires_at=tx.now + AGE_MAX,
            )
            await insert_session(tx, session, token_hash(token))
            tokens.append(token)
    return tokens
