"""The counters, compared with the scans."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from uuid import UUID

import asyncpg
import pytest
from structlog.testing import capture_logs

from tests.processes import Installation, an_installation
from tests.scanning.support import LATER, World
from tests.seating.race_support import DAYS
from tests.support import SOON, MovableClock, Tenant
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.scanning.actions import recount
from voelgoed.scanning.actions.recount import recount_all, recount_event, repair_event
from voelgoed.scanning.actions.supervision import annul
from voelgoed.scanning.metrics import occupancy_differences
from voelgoed.scanning.model.recount import Difference, RecountFacts
from voelgoed.scanning.model.supervision import Annulment

pytestmark = pytest.mark.own_database


@pytest.fixture
async def superuser(
    postgres: EmbeddedPostgres, database_name: str
) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(postgres.url("postgres", database_name))
    try:
        yield connection
    finally:
        await connection.close()


@pytest.fixture
def installation() -> Iterator[Installation]:
    with an_installation() as installation:
        yield installation


async def differences(world: World) -> list[Difference]:
    return await recount_event(world.services.database, world.tenant.id, world.event_id)


def found_so_far() -> float:
    [sample] = [
        each
        for metric in occupancy_differences.collect()
        for each in metric.samples
        if each.name == "voelgoed_occupancy_differences_total"
    ]
    return sample.value


async def some_coming_and_going(world: World, clock: MovableClock) -> None:
    """Entries at two gates, a re-entry without an exit, an exit at another gate, on two days."""
    clock.ahead = SOON - (world.now - clock.ahead)
    here, there = [await world.device(gate) for gate in world.gates]
    seated = await world.ticket("A1")
    staying, leaving, roaming = await world.tickets(3)
    for ticket in (seated, staying, leaving, roaming):
        assert await world.verdict(here, ticket.code) == "admitted"
    assert await world.verdict(there, leaving.code, direction="exit") == "admitted"
    clock.ahead += LATER
    assert await world.verdict(there, roaming.code) == "admitted"
    clock.ahead += timedelta(days=1)
    assert await world.verdict(there, staying.code) == "admitted"
    answer = await world.scan(here, leaving.code)
    database, caller = world.services.database, world.tenant.caller("gate_supervisor")
    await annul(database, caller, UUID(answer.json()["scan_id"]), Annulment(reason="turnstile"))


async def test_the_counters_agree_with_the_scans(world: World, clock: MovableClock):
    await some_coming_and_going(world, clock)
    counts = await world.rows("SELECT * FROM occupancy WHERE scope = 'event' ORDER BY day")
    assert [(each["day"], each["entries"], each["exits"], each["inside"]) for each in counts] == [
        (DAYS[0], 5, 1, 2),
        (DAYS[1], 1, 0, 1),
    ]
    assert await differences(world) == []
    assert await recount_all(world.services.database) == (1, [])


async def test_a_wrong_counter_is_found_reported_and_not_touched(
    world: World, clock: MovableClock, superuser: asyncpg.Connection
):
    await some_coming_and_going(world, clock)
    gate, before = world.gates[1], found_so_far()
    await superuser.execute(
        "UPDATE occupancy SET inside = inside + 7 WHERE scope_id = $1 AND day = $2",
        gate.id,
        DAYS[0],
    )
    with capture_logs() as logs:
        [found] = await differences(world)
    assert found == Difference(
        event_id=world.event_id,
        day=DAYS[0],
        scope="gate",
        scope_id=gate.id,
        entries=1,
        exits=1,
        inside=8,
        entries_by_scans=1,
        exits_by_scans=1,
        inside_by_scans=1,
        irregular=0,
        irregular_by_scans=0,
    )
    [entry] = [each for each in logs if each["event"] == "occupancy_differs"]
    assert (entry["scope_id"], entry["counted"]) == (str(gate.id), [1, 1, 8, 0])
    assert entry["by_scans"] == [1, 1, 1, 0]
    assert found_so_far() - before == 1
    assert await differences(world) == [found]


async def test_a_repair_corrects_the_differences_and_is_in_the_audit_log(
    world: World, clock: MovableClock, superuser: asyncpg.Connection
):
    await some_coming_and_going(world, clock)
    right = await world.rows("SELECT * FROM occupancy ORDER BY day, scope, scope_id")
    await superuser.execute("UPDATE occupancy SET entries = 0, exits = 9 WHERE scope = 'zone'")
    await superuser.execute("DELETE FROM occupancy WHERE scope = 'event' AND day = $1", DAYS[0])
    wrong = await differences(world)
    assert len(wrong) == 4, "two zones on the first day, one on the second, and the event"
    assert await repair_event(world.services.database, world.tenant.id, world.event_id) == wrong
    assert await differences(world) == []
    assert await world.rows("SELECT * FROM occupancy ORDER BY day, scope, scope_id") == right
    [entry] = await world.rows("SELECT * FROM audit_entry WHERE action = 'occupancy_repaired'")
    assert (entry["actor_kind"], entry["entity_id"]) == ("system", str(world.event_id))
    assert entry["changes"]["count"] == 4
    assert await repair_event(world.services.database, world.tenant.id, world.event_id) == []
    assert (
        len(await world.rows("SELECT 1 FROM audit_entry WHERE action = 'occupancy_repaired'")) == 1
    )


async def test_counters_without_scans_are_found_too(world: World, superuser: asyncpg.Connection):
    await superuser.execute(
        """
        INSERT INTO occupancy (organization_id, event_id, day, scope, scope_id, entries, exits, inside)
        VALUES ($1, $2, $3, 'gate', $4, 3, 1, 2)
        """,
        world.tenant.id,
        world.event_id,
        DAYS[2],
        world.gates[0].id,
    )
    [found] = await differences(world)
    assert (found.entries, found.exits, found.inside) == (3, 1, 2)
    assert (found.entries_by_scans, found.exits_by_scans, found.inside_by_scans) == (0, 0, 0)


async def test_only_live_events_are_recounted(
    world: World, superuser: asyncpg.Connection, other_tenant: Tenant
):
    device, ticket = await world.device(), await world.ticket()
    await world.verdict(device, ticket.code)
    await superuser.execute("UPDATE occupancy SET inside = 5")
    events, found = await recount_all(world.services.database)
    assert (events, len(found)) == (1, 3)
    await superuser.execute("UPDATE event SET status = 'ended'")
    assert await recount_all(world.services.database) == (0, [])


async def test_scanning_goes_on_during_a_repair(world: World, superuser: asyncpg.Connection):
    device, database = await world.device(), world.services.database
    await world.verdict(device, (await world.ticket()).code)
    for rounds in range(1, 6):
        tickets = await world.tickets(10)
        await superuser.execute("UPDATE occupancy SET entries = entries + 9, inside = inside - 3")
        repairs = [repair_event(database, world.tenant.id, world.event_id) for _ in range(4)]
        scans = [world.verdict(device, ticket.code) for ticket in tickets]
        answers = await asyncio.gather(*scans[:5], *repairs, *scans[5:])
        assert answers.count("admitted") == len(tickets)
        assert sum(bool(each) for each in answers if isinstance(each, list)) == 1
        assert await differences(world) == []
        assert (await world.inside())["event"] == 1 + 10 * rounds


async def test_without_their_lock_two_repairs_would_add_the_same_twice(
    world: World, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
):
    """The control of the test above."""
    device, ticket = await world.device(), await world.ticket()
    await world.verdict(device, ticket.code)
    await superuser.execute("UPDATE occupancy SET inside = 0 WHERE scope = 'event'")
    both, find = asyncio.Barrier(2), recount.store.read_counts

    async def no_lock(*_: object) -> None:
        pass

    async def find_together(tx, event_id: UUID) -> RecountFacts:
        found = await find(tx, event_id)
        await both.wait()
        return found

    with monkeypatch.context() as patched:
        patched.setattr(recount.store, "lock_repairs", no_lock)
        patched.setattr(recount.store, "read_counts", find_together)
        repair = repair_event, world.services.database, world.tenant.id, world.event_id
        await asyncio.gather(*(repair[0](*repair[1:]) for _ in range(2)))
    [found] = await differences(world)
    assert (found.inside, found.inside_by_scans) == (2, 1)


async def test_the_command_prints_the_differences_and_repairs_them_on_demand(
    installation: Installation, world: World, superuser: asyncpg.Connection
):
    async def run(*arguments: str) -> tuple[int, list[str]]:
        url = world.services.database.url
        process = installation.run("scans", "recount", *arguments, database_url=url)
        code = await asyncio.to_thread(process.wait)
        assert "Traceback" not in process.err
        return code, process.out.splitlines()

    device, ticket = await world.device(), await world.ticket()
    await world.verdict(device, ticket.code)
    assert await run() == (0, ["1 live events, 0 differences found"])
    await superuser.execute("UPDATE occupancy SET inside = 3, exits = 1 WHERE scope = 'gate'")
    line = (
        f"event {world.event_id}, {DAYS[0]}, gate {device.gate.id}: "
        "exits 1, by the scans 0; inside 3, by the scans 1"
    )
    assert await run() == (1, [line, "1 live events, 1 differences found"])
    assert await run("--repair") == (0, [line, "1 live events, 1 differences put right"])
    assert await run() == (0, ["1 live events, 0 differences found"])
    assert await differences(world) == []
