"""Manifests are built while tickets are sold and scanned, by several nodes, through restarts."""

import asyncio
import contextlib
import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from tests.conftest import MASTER_KEY
from tests.scanning.manifest_support import Reader, a_reader, fetch
from tests.scanning.node_support import another_node
from tests.scanning.support import World
from tests.support import MovableClock
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.infra.master_key import MasterKey
from voelgoed.scanning.actions import manifest_build
from voelgoed.scanning.model.manifests import StoredManifest
from voelgoed.scanning.rules.manifest import code_hash, content_hash, tag_of
from voelgoed.ticketing.actions import manifest_entries
from voelgoed.ticketing.model.tickets import Ticket

LATER = timedelta(seconds=11)


async def built(world: World) -> StoredManifest:
    return await world.services.manifests.refresh(world.tenant.id, world.event_id, is_forced=True)


async def update(world: World, query: str, *values: Any) -> None:
    async with world.services.database.transaction(world.tenant.id) as tx:
        await tx.connection.execute(query, *values)


async def test_changes_that_were_not_committed_at_a_build_are_in_the_next(
    world: World, clock: MovableClock
):
    """This holds however late they commit, and however many other transactions were before."""
    slow, quick = await world.ticket("A1"), await world.ticket("A2")
    reader = await a_reader(world)
    async with world.services.database.transaction(world.tenant.id) as tx:
        await tx.run("UPDATE ticket SET issue = 7 WHERE id = $1", slow.id)
        await update(world, "UPDATE ticket SET issue = 3 WHERE id = $1", quick.id)
        clock.ahead += LATER
        await reader.update()
        assert (reader.entry(slow.id)["issue"], reader.entry(quick.id)["issue"]) == (1, 3)
        clock.ahead += LATER
        assert (await reader.update()).status_code == 304
    clock.ahead += LATER
    await reader.update()
    assert reader.entry(slow.id)["issue"] == 7
    assert reader.version == 3


async def test_rows_written_in_a_savepoint_are_found_too(world: World, clock: MovableClock):
    """Such rows carry a transaction id of their own, which no snapshot lists as running."""
    ticket = await world.ticket("A1")
    reader = await a_reader(world)
    async with world.services.database.transaction(world.tenant.id) as tx:
        await tx.connection.execute("SELECT pg_current_xact_id()")
        await tx.connection.execute("SAVEPOINT inner_one")
        await tx.run("UPDATE ticket SET issue = 7 WHERE id = $1", ticket.id)
        await tx.connection.execute("RELEASE SAVEPOINT inner_one")
        await update(world, "UPDATE gate SET name = name")  # other transactions go on meanwhile
        clock.ahead += LATER
        await reader.update()
    clock.ahead += LATER
    await reader.update()
    assert reader.entry(ticket.id)["issue"] == 7


async def test_only_tickets_that_were_written_since_are_read(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    await world.tickets(5)
    ticket = await world.ticket("A1")
    looked_at: list[int] = []
    changed = manifest_build.changed_entries

    async def counting(*given: Any) -> Any:
        found = await changed(*given)
        looked_at.append(len(found.texts))
        return found

    monkeypatch.setattr(manifest_build, "changed_entries", counting)
    await (
        world.services.live.is_idle()
    )  # a transaction that began before the sale and is not over hides the sale
    await built(world)
    await built(world)
    await update(world, "UPDATE ticket SET issue = 2 WHERE id = $1", ticket.id)
    await built(world)
    await built(world)
    assert looked_at == [6, 0, 1, 0]


async def test_a_row_rewritten_without_changes_makes_no_new_version(world: World):
    await world.ticket("A1")
    first = await built(world)
    await update(world, "UPDATE ticket SET updated_at = now(), holder_name = 'Somebody'")
    assert (await built(world)).version == first.version


@pytest.mark.parametrize("nodes", [2])
async def test_nodes_that_build_at_the_same_time_build_one_version(
    world: World, database_url: str, clock: MovableClock, nodes: int
):
    await world.tickets(3)
    async with contextlib.AsyncExitStack() as stack:
        worlds = [world]
        for _ in range(nodes - 1):
            worlds.append(await stack.enter_async_context(another_node(world, database_url, clock)))
        devices = [await world.device() for _ in range(4)]
        for version in range(1, 6):
            answers = await asyncio.gather(
                *(fetch(each, device) for each in worlds for device in devices)
            )
            assert {answer.status_code for answer in answers} == {200}
            assert {answer.headers["etag"] for answer in answers} == {answers[0].headers["etag"]}
            assert answers[0].headers["x-manifest-version"] == str(version)
            await world.tickets(1)
            clock.ahead += LATER


async def test_a_node_reads_what_another_built(
    world: World, database_url: str, clock: MovableClock
):
    await world.tickets(3)
    reader = await a_reader(world)
    async with another_node(world, database_url, clock) as other:
        there = Reader(other, reader.device)
        for accepted in ("gzip", "zstd", "br", "identity"):
            await there.hydrate(headers={"Accept-Encoding": accepted})
            assert there.document == reader.document
        await world.tickets(1)
        clock.ahead += LATER
        await there.update()  # builds upon a document that it did not make
        await reader.update()
        assert there.document == reader.document
        assert reader.version == 2


async def test_builds_continue_after_all_connections_were_lost(
    world: World, postgres: EmbeddedPostgres, clock: MovableClock, database_url: str
):
    ticket = await world.ticket("A1")
    reader = await a_reader(world)
    await update(world, "UPDATE ticket SET issue = 2 WHERE id = $1", ticket.id)
    admin = await asyncpg.connect(postgres.url("postgres", "postgres"))
    await admin.execute(
        "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = $1",
        database_url.rpartition("/")[2].partition("?")[0],
    )
    await admin.close()
    clock.ahead += LATER
    for _ in range(20):  # a caller that uses a lost connection next notices that it is gone
        if (await fetch(world, reader.device)).status_code == 200:
            break
    await reader.update()
    assert (reader.version, reader.entry(ticket.id)["issue"]) == (2, 2)


@pytest.mark.parametrize(
    ("next_xid", "xmin", "seen", "is_looked_at"),
    [
        (1_000, 999, 999, True),
        (1_000, 998, 999, False),
        (2**32 + 10, 5, 2**32 - 5, True),  # written after the transaction ids started again
        (2**32 + 10, 2**32 - 3, 2**32 - 5, True),
        (2**32 + 10, 2**32 - 6, 2**32 - 5, False),
        (2**32 + 10, 3, 2**32 + 5, False),
        (5 * 2**32 + 10, 2**32 - 3, 5 * 2**32 - 5, True),
        (5 * 2**32 + 10, 2**31, 5 * 2**32 - 5, False),
    ],
)
async def test_transactions_are_counted_past_32_bits(
    world: World, next_xid: int, xmin: int, seen: int, is_looked_at: bool
):
    """The statement's arithmetic, with numbers that no test reaches."""
    [row] = await world.rows(
        "SELECT ($1::bigint - 1 - $2::bigint) & 4294967295 < $1::bigint - $3::bigint AS is_so",
        next_xid,
        xmin,
        seen,
    )
    assert row["is_so"] == is_looked_at


ODD = [
    'quote " and \\ backslash',
    "caf\u00e9 \U0001f39f \u2028 \u2029",
    "tab\t newline\n return\r bell\x07 del\x7f",
    '"},{"ticket_id":"',
    '{"ticket_id":"',
    ',"offset_seconds":1}',
    "%s {} $1 E'\\n'",
    "",
]


async def test_odd_labels_are_written_unchanged(world: World, clock: MovableClock):
    tickets = await world.tickets(len(ODD))
    reader = await a_reader(world)
    for ticket, label in zip(tickets, ODD, strict=True):
        await update(world, "UPDATE ticket SET seat_label = $2 WHERE id = $1", ticket.id, label)
    clock.ahead += LATER
    await reader.update()
    assert [reader.entry(ticket.id)["seat"] for ticket in tickets] == ODD
    text = json.dumps(reader.manifest, ensure_ascii=False, separators=(",", ":"))
    assert text.encode() == reader.document, "as anybody would write it again"
    for ticket in tickets:
        await update(world, "UPDATE ticket SET seat_label = 'A-1' WHERE id = $1", ticket.id)
        clock.ahead += LATER
        await reader.update()


async def test_days_and_gates_of_a_ticket_are_listed_where_they_are_restricted(
    world: World, clock: MovableClock
):
    ticket = await world.ticket("A1")
    reader = await a_reader(world)
    assert "days" not in reader.entry(ticket.id)
    await update(world, "UPDATE ticket SET days = '{2020-01-01}' WHERE id = $1", ticket.id)
    gates = [world.gates[1].id, world.gates[0].id]
    await update(world, "UPDATE ticket_type SET gate_ids = $1", gates)
    clock.ahead += LATER
    await reader.update()
    entry = reader.entry(ticket.id)
    assert entry["days"] == ["2020-01-01"]
    assert entry["gate_ids"] == [gate.code for gate in world.gates]
    await update(world, "UPDATE ticket_type SET gate_ids = $1", [UUID(int=1)])
    clock.ahead += LATER
    await reader.update()
    assert reader.entry(ticket.id)["gate_ids"] == [], "none is not every"
    assert reader.manifest["ticket_types"][0]["gate_ids"] == []


async def test_a_membership_ends_by_itself(world: World, clock: MovableClock):
    ticket = await world.ticket("A1")
    membership_id, user_id = UUID(int=5), world.tenant.users["customer"]
    await update(
        world,
        """
        INSERT INTO membership (organization_id, id, user_id, tier, status, valid_from, valid_to,
                                version, created_at, updated_at)
        VALUES (current_organization(), $1, $2, 'gold', 'active', $3, $4, 1, $3, $3)
        """,
        membership_id,
        user_id,
        world.now - timedelta(days=1),
        world.now + timedelta(minutes=5),
    )
    await update(world, "UPDATE ticket SET associated_membership_id = $1", membership_id)
    reader = await a_reader(world)
    assert reader.entry(ticket.id)["membership"] is True
    clock.ahead += LATER
    assert (await reader.update()).status_code == 304
    clock.ahead += timedelta(minutes=6)
    await reader.update()
    assert reader.entry(ticket.id)["membership"] is False


async def test_many_pages_are_one_document(
    world: World, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(manifest_entries, "PAGE", 3)
    tickets = await world.tickets(10)
    reader = await a_reader(world)
    ids = [each["ticket_id"] for each in reader.manifest["tickets"]]
    assert ids == sorted(str(ticket.id) for ticket in tickets)
    await update(world, "UPDATE ticket SET issue = 2")
    clock.ahead += LATER
    await reader.update()
    assert {each["issue"] for each in reader.manifest["tickets"]} == {2}


async def test_no_delta_is_kept_of_too_many_changes_at_once(
    world: World, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
):
    tickets = await world.tickets(3)
    reader = await a_reader(world)
    monkeypatch.setattr(manifest_build, "CHANGES_MAX", 2)
    await update(world, "UPDATE ticket SET issue = 2")
    clock.ahead += LATER
    await reader.hydrate(since=1)
    assert reader.version == 2
    await update(world, "UPDATE ticket SET issue = 3 WHERE id = $1", tickets[0].id)
    clock.ahead += LATER
    await reader.update()
    assert reader.version == 3


async def test_deltas_lead_on_from_any_version(world: World, clock: MovableClock):
    device = await world.device()
    readers: list[Reader] = []
    for number in range(5):
        readers.append(await a_reader(world, device))
        tickets = await world.tickets(2)
        await update(world, "UPDATE ticket SET issue = $1 WHERE id = $2", number + 2, tickets[0].id)
        clock.ahead += LATER
    for reader in readers:
        await reader.update()
    assert len({reader.document for reader in readers}) == 1


async def typed(reader: Reader, ticket: Ticket) -> bool:
    """Whether the ticket is found by the code that somebody types."""
    from base64 import urlsafe_b64decode

    assert reader.tail is not None
    wanted = code_hash(urlsafe_b64decode(reader.tail.code_key + "="), ticket.code)
    return [e["ticket_id"] for e in reader.manifest["tickets"] if e["code_hash"] == wanted] == [
        str(ticket.id)
    ]


async def test_typed_codes_are_found_also_after_the_master_key_was_changed(
    world: World, database_url: str, clock: MovableClock
):
    ticket, _ = await world.ticket("A1"), await world.ticket("A2")
    reader = await a_reader(world)
    assert await typed(reader, ticket)
    old = bytes(range(32))
    assert MasterKey(old).id == MASTER_KEY.id
    changed = MasterKey(bytes(32), old)
    async with another_node(world, database_url, clock, changed) as other:
        there = Reader(other, reader.device)
        await there.hydrate()  # built before, with the key of that time
        assert await typed(there, ticket)
        clock.ahead += LATER
        await there.hydrate()
        assert there.version == 2
        assert await typed(there, ticket)
        # A node that does not know the new key yet builds with its own, because no typed code would be found with an unknown one.
        # typed code is found in.
        await reader.hydrate()
        assert await typed(reader, ticket)


async def test_builds_continue_after_one_that_failed(
    world: World, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
):
    reader = await a_reader(world)
    await world.ticket("A1")
    clock.ahead += LATER

    async def fail(*_: Any) -> Any:
        raise RuntimeError("nothing that was foreseen")

    with monkeypatch.context() as broken:
        broken.setattr(manifest_build, "changed_entries", fail)
        assert (await fetch(world, reader.device)).status_code == 500
    await reader.update()
    assert reader.version == 2


async def test_after_a_backup_was_restored_changes_are_found_again(
    world: World, clock: MovableClock
):
    """Another cluster counts its transactions from the start, so the last seen one lies in its future."""
    ticket = await world.ticket("A1")
    reader = await a_reader(world)
    await update(world, "UPDATE manifest SET seen_xid = seen_xid + 1000000000")
    await update(world, "UPDATE ticket SET issue = 7 WHERE id = $1", ticket.id)
    clock.ahead += LATER
    await reader.update()
    assert reader.entry(ticket.id)["issue"] == 7


async def test_a_version_number_that_was_used_twice_is_distinguished_by_the_tag(
    world: World, clock: MovableClock
):
    """After a backup was restored the next version has a number that devices know from before."""
    ticket, other = await world.ticket("A1"), await world.ticket("A2")
    reader = await a_reader(world)
    await update(world, "UPDATE ticket SET issue = 7 WHERE id = $1", ticket.id)
    clock.ahead += LATER
    await reader.update()
    await update(world, "UPDATE ticket SET issue = 8 WHERE id = $1", other.id)
    clock.ahead += LATER
    await fetch(world, reader.device)
    await update(world, "UPDATE manifest SET version = $1", reader.version)
    tag = tag_of(reader.version, content_hash(reader.document))
    asked = {"since": reader.version, "headers": {"If-None-Match": tag}}
    answer = await fetch(world, reader.device, **asked)
    assert answer.status_code == 200
    assert b'"issue":8' in answer.content
