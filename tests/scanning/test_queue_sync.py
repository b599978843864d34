"""The delivery of a whole queue: POST /api/scans/sync."""

from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from tests.scanning.node_support import hear, socket, subscribe
from tests.scanning.recovery_support import decide
from tests.scanning.support import LATER, World
from tests.scanning.sync_support import deliver, iso, offline, offline_batch, send_queue
from tests.support import MovableClock
from voelgoed.events.actions.events import move_event
from voelgoed.events.model import Transition
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.scanning.actions.recount import recount_event

MINUTE = timedelta(minutes=1)
NOBODY = "9999-9999-9999"


async def test_the_answer_is_as_documented(world: World, clock: MovableClock):
    device, tickets = await world.device(), await world.tickets(3)
    await world.ask(
        "POST",
        f"/api/scanning/tickets/{tickets[2].id}/transitions",
        {"to": "used", "reason": "seen"},
    )
    clock.ahead += 12 * MINUTE
    twice = [offline(world, tickets[0].code, 11 * MINUTE), offline(world, tickets[0].code)]
    scans = [
        *twice,
        offline(world, tickets[1].code),
        offline(world, NOBODY),
        offline(world, tickets[2].code),
    ]
    batch = offline_batch(world, device, *scans)
    answer = (await send_queue(world, device, batch)).json()
    took = answer.pop("sync_duration_seconds")
    assert took >= 0
    assert answer.pop("timestamp") >= batch["batch_created_at"]
    assert answer.pop("timestamp_range") == {
        "oldest": twice[0]["scanned_at"],
        "newest": scans[-1]["scanned_at"],
    }
    assert answer == {
        "batch_id": batch["batch_id"],
        "status": "completed",
        "processed_count": 2,
        "error_count": 3,
        "summary": {
            "total_scans": 5,
            "new_scans": 2,
            "duplicate_scans": 1,
            "missing_tickets": 1,
            "invalid_tickets": 1,
        },
        "errors": [
            {
                "offline_id": twice[1]["offline_id"],
                "index": scans.index(twice[1]),
                "ticket_code": tickets[0].code,
                "reason": "already_scanned",
                "is_kept": True,
                "last_scan_at": twice[0]["scanned_at"],
            },
            {
                "offline_id": scans[3]["offline_id"],
                "index": 3,
                "ticket_code": NOBODY,
                "reason": "ticket_not_found",
                "is_kept": True,
            },
            {
                "offline_id": scans[4]["offline_id"],
                "index": 4,
                "ticket_code": tickets[2].code,
                "reason": "ticket_already_used",
                "is_kept": True,
            },
        ],
    }
    [kept] = await world.rows("SELECT * FROM batch_sync")
    assert (kept["batch_size"], kept["processed_count"], kept["error_count"]) == (5, 2, 3)
    assert (kept["status"], kept["device_id"]) == ("completed", device.id)
    rows = await world.rows("SELECT source, batch_id, scanned_at FROM scan")
    assert len(rows) == 5
    assert {row["source"] for row in rows} == {"offline_sync"}
    assert {str(row["batch_id"]) for row in rows} == {batch["batch_id"]}
    assert {iso(row["scanned_at"]) for row in rows} == {each["scanned_at"] for each in scans}
    [entry] = await world.rows(
        "SELECT changes, metadata FROM audit_entry WHERE action = 'batch_sync_completed'"
    )
    assert (
        entry["changes"].items()
        >= {
            "batch_id": batch["batch_id"],
            "device_id": str(device.id),
            "batch_size": 5,
            "processed_count": 2,
            "error_count": 3,
            "duplicates": 1,
            "missing_tickets": 1,
            "invalid_tickets": 1,
        }.items()
    )
    assert set(entry["metadata"]) == {"device_name", "batch_created_at", "sync_duration_seconds"}
    assert entry["metadata"]["device_name"] == "iPad-Gate-1"


async def test_a_repeated_batch_gets_the_same_answer_and_changes_nothing(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    batch = offline_batch(world, device, offline(world, ticket.code))
    first = (await send_queue(world, device, batch)).json()
    again = await send_queue(world, device, batch)
    assert again.status_code == 200
    assert again.json() == first | {"message": "Batch already synced (idempotent)"}
    assert (await world.inside())["event"] == 1


async def test_the_same_id_for_another_batch_is_refused(world: World):
    device, (one, two) = await world.device(), await world.tickets(2)
    batch = offline_batch(world, device, offline(world, one.code))
    await send_queue(world, device, batch)
    other = offline_batch(world, device, offline(world, two.code), batch_id=batch["batch_id"])
    answer = await send_queue(world, device, other)
    assert (answer.status_code, answer.json()["error"]) == (409, "batch_id_reused")
    assert (await world.inside())["event"] == 1


async def test_a_scan_in_a_second_batch_is_the_same_scan(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = offline(world, ticket.code)
    await deliver(world, device, scan)
    answer = await deliver(world, device, scan)
    assert (answer["processed_count"], answer["summary"]["new_scans"]) == (1, 0)
    [kept] = await world.rows("SELECT count(*) FROM scan")
    assert kept["count"] == 1


@pytest.mark.parametrize("off", [timedelta(hours=25), timedelta(hours=-25)])
async def test_a_batch_made_more_than_a_day_off_is_refused(world: World, off: timedelta):
    device, [ticket] = await world.device(), await world.tickets(1)
    created = iso(world.now - off)
    batch = offline_batch(world, device, offline(world, ticket.code), batch_created_at=created)
    answer = await send_queue(world, device, batch)
    assert (answer.status_code, answer.json()["error"]) == (400, "batch_too_old")
    assert await world.rows("SELECT 1 FROM scan") == []


async def test_a_scan_more_than_a_day_off_stays_on_the_device(world: World):
    device, (old, new) = await world.device(), await world.tickets(2)
    scans = [offline(world, old.code, timedelta(hours=25)), offline(world, new.code)]
    answer = await deliver(world, device, *scans)
    assert (answer["status"], answer["processed_count"]) == ("partial_success", 1)
    [error] = answer["errors"]
    assert (error["reason"], error["is_kept"]) == ("timestamp_out_of_range", False)
    assert len(await world.rows("SELECT 1 FROM scan")) == 1


async def test_what_is_refused_is_named_by_its_place_where_it_has_no_id(world: World):
    """Three records without an id, of which two are alike but for their moment."""
    device, (one, two) = await world.device(), await world.tickets(2)
    scans = [
        offline(world, one.code, timedelta(hours=25)),
        offline(world, two.code),
        offline(world, one.code, timedelta(hours=26)),
    ]
    for scan in scans:
        del scan["offline_id"]
    answer = await deliver(world, device, *scans)
    assert [each["index"] for each in answer["errors"]] == [0, 2]
    assert len({each["offline_id"] for each in answer["errors"]}) == 2
    assert {each["is_kept"] for each in answer["errors"]} == {False}
    [kept] = await world.rows("SELECT ticket_code FROM scan")
    assert kept["ticket_code"] == two.code


async def test_of_what_waits_for_review_a_queue_is_told_why(world: World):
    device, (one, two) = await world.device(), await world.tickets(2)
    scans = [offline(world, one.code), offline(world, two.code, -timedelta(hours=3))]
    for _ in range(2):  # and again when it is known
        answer = await deliver(world, device, *scans)
        [error] = answer["errors"]
        assert (error["index"], error["is_kept"]) == (1, True)
        assert (error["reason"], error["unverified"]) == ("unverified", "from_future")
    await decide(world, await the_recovery(world), "rejected")
    [error] = (await deliver(world, device, *scans))["errors"]
    assert error["reason"] == "unverified"
    assert "unverified" not in error, "somebody has decided"


async def the_recovery(world: World) -> dict[str, Any]:
    [kept] = await world.rows("SELECT batch_id FROM batch_sync WHERE state = 'unverified'")
    return kept


async def test_a_queue_for_an_event_that_is_not_live_is_refused(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    owner = world.tenant.caller("owner")
    await move_event(world.services.database, owner, world.event_id, Transition(to="ended"))
    batch = offline_batch(world, device, offline(world, ticket.code))
    answer = await send_queue(world, device, batch)
    assert (answer.status_code, answer.json()["error"]) == (400, "event_not_live")
    assert await world.rows("SELECT 1 FROM scan") == []


async def test_a_batch_of_which_a_part_fails_is_not_stored_at_all(
    world: World, postgres: EmbeddedPostgres, database_name: str
):
    device, tickets = await world.device(), await world.tickets(3)
    owner = await asyncpg.connect(postgres.url("postgres", database_name))
    await owner.execute(
        """
        CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'disk full'; END $$;
        CREATE TRIGGER fail BEFORE INSERT ON batch_sync EXECUTE FUNCTION fail();
        """
    )
    batch = offline_batch(world, device, *(offline(world, each.code) for each in tickets))
    assert (await send_queue(world, device, batch)).status_code == 500
    assert await world.rows("SELECT 1 FROM scan") == []
    assert await world.rows("SELECT 1 FROM ticket WHERE scan_count > 0") == []
    assert await world.rows("SELECT 1 FROM occupancy WHERE entries > 0") == []
    assert await world.rows("SELECT 1 FROM batch_sync") == []
    await owner.execute("DROP TRIGGER fail ON batch_sync")
    await owner.close()
    answer = await send_queue(world, device, batch)
    assert answer.json()["processed_count"] == 3


async def test_one_ticket_ten_thousand_times(world: World):
    """The scans are a second apart: an entry, and after each window another; all the rest are double
    entries."""
    device, [ticket] = await world.device(), await world.tickets(1)
    begun = world.now - timedelta(hours=4)
    scans = [
        offline(world, ticket.code, scanned_at=iso(begun + timedelta(seconds=at)))
        for at in range(10_000)
    ]
    answer = await deliver(world, device, *scans)
    assert answer["processed_count"] == answer["summary"]["new_scans"] == 34
    assert answer["summary"]["duplicate_scans"] == 10_000 - 34
    [kept] = await world.rows("SELECT scan_count FROM ticket WHERE id = $1", ticket.id)
    assert kept["scan_count"] == 34
    [found] = await world.rows("SELECT count(*) FROM scan_conflict WHERE kind = 'double_entry'")
    assert found["count"] == 10_000 - 34
    database = world.services.database
    assert await recount_event(database, world.tenant.id, world.event_id) == []


async def test_delivered_scans_are_published_live(world: World):
    device, tickets = await world.device(), await world.tickets(2)
    batch = offline_batch(world, device, *(offline(world, each.code) for each in tickets))
    topic, counts = (
        f"batch:{batch['batch_id']}",
        f"occupancy:{world.tenant.id}:{world.event_id}",
    )
    await world.services.live.is_idle()  # the sale has changed the counts of seats, too
    async with socket(world, device.headers) as connection:
        await subscribe(connection, topic)
        await subscribe(connection, counts)
        await send_queue(world, device, batch)
        completed = (await hear(connection, topic))["data"]
        counted = (await hear(connection, counts))["data"]
    assert (
        completed.items()
        >= {
            "event": "sync_complete",
            "batch_id": batch["batch_id"],
            "status": "completed",
            "processed_count": 2,
            "error_count": 0,
        }.items()
    )
    assert (
        counted.items()
        >= {
            "event": "batch_sync_completed",
            "batch_id": batch["batch_id"],
            "scans_added": 2,
            "gate_name": device.gate.name,
            "gate_occupancy": 2,
            "total_occupancy": 2,
        }.items()
    )


async def test_after_the_delivery_the_gates_know_at_once(world: World, clock: MovableClock):
    device, [ticket] = await world.device(), await world.tickets(1)
    await deliver(world, device, offline(world, ticket.code, MINUTE))
    assert await world.verdict(device, ticket.code) == "already_scanned"
    clock.ahead += LATER
    assert await world.verdict(device, ticket.code) == "admitted"
