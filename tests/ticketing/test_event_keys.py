"""Keys per event: one signs at a time, all verify, and no private one is to be had."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from tests.conftest import MASTER_KEY
from tests.support import MovableClock, Tenant, a_venue, an_event
from voelgoed.config import Settings
from voelgoed.events.model import EventNotFound
from voelgoed.infra.master_key import MasterKey, MasterKeyMissing, SealBroken
from voelgoed.infra.refusal import Refusal, VersionConflict
from voelgoed.services import Services, build_services, running
from voelgoed.ticketing.actions import event_keys as actions
from voelgoed.ticketing.actions.event_keys import (
    Signer,
    list_event_keys,
    opens_event_keys,
    rotate_event_key,
    signer_for,
    signer_of,
)
from voelgoed.ticketing.model.event_keys import EventKeyNotFound, TooManyEventKeys
from voelgoed.ticketing.rules.barcode import barcode_hash, read_barcode, verify_barcode
from voelgoed.ticketing.store import event_keys as store

CODE = "7K2M-9QXD-4F1A"
WRONG_KEY = bytes(32)
RACERS = 8


@pytest.fixture
async def event_id(client: httpx.AsyncClient, tenant: Tenant) -> UUID:
    return await a_new_event(client, tenant)


@pytest.fixture(autouse=True)
def nothing_opened_yet() -> None:
    actions._opened.clear()  # pyright: ignore


async def a_new_event(client: httpx.AsyncClient, tenant: Tenant) -> UUID:
    headers = tenant.as_("owner")
    venue = (await client.post("/api/venues", json=a_venue(), headers=headers)).json()["data"]
    event = await client.post("/api/events", json=an_event(venue["id"]), headers=headers)
    return UUID(event.json()["data"]["id"])


async def a_signer(services: Services, tenant: Tenant, event_id: UUID) -> Signer:
    async with services.database.transaction(tenant.id) as tx:
        return await signer_for(tx, services.master_key, event_id)


async def signer_numbered(
    services: Services, tenant: Tenant, event_id: UUID, number: int, key: MasterKey = MASTER_KEY
) -> Signer:
    async with services.database.transaction(tenant.id) as tx:
        return await signer_of(tx, key, event_id, number)


async def rotate(services: Services, tenant: Tenant, event_id: UUID) -> int:
    key = await rotate_event_key(services.database, services.master_key, tenant.caller(), event_id)
    return key.number


async def public_keys(services: Services, tenant: Tenant, event_id: UUID) -> dict[int, bytes]:
    keys = await list_event_keys(services.database, tenant.caller(), event_id)
    return {key.number: key.public_key for key in keys}


async def change_keys(services: Services, tenant: Tenant, statement: str, *values: object) -> None:
    async with services.database.transaction(tenant.id) as tx:
        assert await tx.run(statement, *values) == 1  # pyright: ignore


def sign(signer: Signer, **changes: Any) -> tuple[str, bytes]:
    usual: dict[str, Any] = {"ticket_id": UUID(int=1), "issue": 1, "ticket_type_number": 1}
    return signer.sign(CODE, **(usual | changes))


async def test_the_first_barcode_makes_the_events_first_key(
    services: Services, tenant: Tenant, event_id: UUID
) -> None:
    assert await public_keys(services, tenant, event_id) == {}
    signer = await a_signer(services, tenant, event_id)
    assert signer.key_number == 1
    text, digest = sign(signer, zone_number=2, days=1, seat_label="A-1")
    barcode = read_barcode(text)
    assert barcode is not None
    assert verify_barcode(barcode, event_id, await public_keys(services, tenant, event_id))
    assert digest == barcode_hash(text)


async def test_a_label_longer_than_a_barcode_has_room_for_is_signed_shortened(
    services: Services, tenant: Tenant, event_id: UUID
) -> None:
    text, _ = sign(await a_signer(services, tenant, event_id), seat_label="é" * 63)
    barcode = read_barcode(text)
    assert barcode is not None
    assert barcode.fields.seat_label == "é" * 16


async def test_the_same_is_signed_the_same_again_also_by_another_process_and_after_a_rotation(
    services: Services, tenant: Tenant, event_id: UUID
) -> None:
    before = sign(await a_signer(services, tenant, event_id))
    actions._opened.clear()  # pyright: ignore
    assert sign(await a_signer(services, tenant, event_id)) == before
    assert await rotate(services, tenant, event_id) == 2
    assert sign(await a_signer(services, tenant, event_id)) != before
    assert sign(await signer_numbered(services, tenant, event_id, 1)) == before


async def test_a_rotation_retires_the_key_before_and_leaves_it_verifying(
    services: Services, tenant: Tenant, event_id: UUID, clock: MovableClock
) -> None:
    old, _ = sign(await a_signer(services, tenant, event_id))
    clock.ahead = timedelta(hours=1)
    assert await rotate(services, tenant, event_id) == 2
    new, _ = sign(await a_signer(services, tenant, event_id))
    first, second = await list_event_keys(services.database, tenant.caller(), event_id)
    assert first.retired_at == second.created_at
    assert second.retired_at is None
    keys = await public_keys(services, tenant, event_id)
    for text, number in ((old, 1), (new, 2)):
        barcode = read_barcode(text)
        assert barcode is not None
        assert barcode.fields.key_number == number
        assert verify_barcode(barcode, event_id, keys)


async def test_a_rotation_before_the_first_barcode_makes_the_first_key(
    services: Services, tenant: Tenant, event_id: UUID
) -> None:
    assert await rotate(services, tenant, event_id) == 1
    assert (await a_signer(services, tenant, event_id)).key_number == 1


async def test_there_are_no_more_than_255(
    services: Services, tenant: Tenant, event_id: UUID
) -> None:
    await a_signer(services, tenant, event_id)
    await change_keys(services, tenant, "UPDATE event_key SET number = 254")
    assert await rotate(services, tenant, event_id) == 255
    with pytest.raises(TooManyEventKeys):
        await rotate(services, tenant, event_id)


async def test_buyers_who_come_at_once_get_barcodes_of_one_key(
    services: Services, tenant: Tenant, client: httpx.AsyncClient
) -> None:
    for _ in range(5):
        event_id = await a_new_event(client, tenant)
        signers = [a_signer(services, tenant, event_id) for _ in range(RACERS)]
        texts = {sign(signer) for signer in await asyncio.gather(*signers)}
        assert len(texts) == 1
        assert len(await public_keys(services, tenant, event_id)) == 1


async def test_without_reading_again_some_would_sign_with_a_key_that_nobody_has(
    services: Services, tenant: Tenant, event_id: UUID
) -> None:
    """The control."""
    looked = asyncio.Barrier(RACERS)

    async def naively() -> bytes:
        async with services.database.transaction(tenant.id) as tx:
            assert await store.find_current(tx, event_id) is None
            await looked.wait()
            key = actions._new_key(tx, MASTER_KEY, event_id, 1)  # pyright: ignore
            await store.insert_key(tx, key)
            return key.public_key

    used = set(await asyncio.gather(*(naively() for _ in range(RACERS))))
    assert len(used) == RACERS
    assert len(await public_keys(services, tenant, event_id)) == 1


async def test_of_two_who_rotate_at_once_one_is_told(
    services: Services, tenant: Tenant, event_id: UUID
) -> None:
    await a_signer(services, tenant, event_id)
    found = await asyncio.gather(
        *(rotate(services, tenant, event_id) for _ in range(RACERS)), return_exceptions=True
    )
    done = [each for each in found if isinstance(each, int)]
    assert all(isinstance(each, VersionConflict) for each in found if not isinstance(each, int))
    assert done
    keys = await list_event_keys(services.database, tenant.caller(), event_id)
    assert [key.number for key in keys] == list(range(1, len(done) + 2))
    assert [key.number for key in keys if key.retired_at is None] == [len(done) + 1]


async def test_a_key_rotated_by_another_process_signs_from_the_next_transaction_on(
    services: Services, tenant: Tenant, event_id: UUID, database_url: str, clock: MovableClock
) -> None:
    await a_signer(services, tenant, event_id)
    there = build_services(Settings(), database_url, clock, MASTER_KEY)
    async with running(there, with_jobs=False):
        assert await rotate(there, tenant, event_id) == 2
    assert (await a_signer(services, tenant, event_id)).key_number == 2


async def test_a_key_that_was_rolled_back_signs_nothing(
    services: Services, tenant: Tenant, event_id: UUID
) -> None:
    with pytest.raises(ZeroDivisionError):
        async with services.database.transaction(tenant.id) as tx:
            lost = sign(await signer_for(tx, services.master_key, event_id))
            raise ZeroDivisionError
    assert sign(await a_signer(services, tenant, event_id)) != lost


async def test_no_event_no_key(
    services: Services, tenant: Tenant, other_tenant: Tenant, event_id: UUID
) -> None:
    await a_signer(services, tenant, event_id)
    with pytest.raises(EventNotFound):
        await a_signer(services, tenant, uuid4())
    with pytest.raises(EventNotFound):
        await a_signer(services, other_tenant, event_id)
    for who, event, number in (
        (tenant, event_id, 2),
        (tenant, uuid4(), 1),
        (other_tenant, event_id, 1),
    ):
        with pytest.raises(EventKeyNotFound):
            await signer_numbered(services, who, event, number)


async def test_the_private_key_is_in_no_row_and_no_log(
    services: Services, tenant: Tenant, event_id: UUID, capfd: pytest.CaptureFixture[str]
) -> None:
    signer = await a_signer(services, tenant, event_id)
    private = signer._private_key.private_bytes_raw()  # pyright: ignore
    async with services.database.transaction(tenant.id) as tx:
        rows = str(await tx.connection.fetch("SELECT * FROM event_key"))
    assert str(private)[2:-1] not in rows
    assert private.hex() not in rows
    assert private.hex() not in repr(vars(signer)) + "".join(capfd.readouterr())


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE event_key SET sealed_private_key = set_byte(sealed_private_key, 0, get_byte(sealed_private_key, 0) # 1)",
        "UPDATE event_key SET sealed_private_key = set_byte(sealed_private_key, 20, get_byte(sealed_private_key, 20) # 1)",
        "UPDATE event_key SET sealed_private_key = ''",
        "UPDATE event_key SET sealed_private_key = substr(sealed_private_key, 1, 13)",
        "UPDATE event_key SET public_key = sha256('another')",
    ],
)
async def test_a_damaged_key_is_refused_and_not_a_fault_of_ours(
    services: Services, tenant: Tenant, event_id: UUID, statement: str
) -> None:
    sign(await a_signer(services, tenant, event_id))
    actions._opened.clear()  # pyright: ignore
    await change_keys(services, tenant, statement)
    with pytest.raises(SealBroken):
        await a_signer(services, tenant, event_id)


async def test_a_key_copied_to_another_event_does_not_sign_there(
    services: Services, tenant: Tenant, event_id: UUID, client: httpx.AsyncClient
) -> None:
    await a_signer(services, tenant, event_id)
    other = await a_new_event(client, tenant)
    await change_keys(services, tenant, "UPDATE event_key SET event_id = $1", other)
    with pytest.raises(SealBroken):
        await a_signer(services, tenant, other)


async def test_a_key_that_another_master_key_sealed_is_not_taken_from_memory(
    services: Services, tenant: Tenant, event_id: UUID
) -> None:
    await a_signer(services, tenant, event_id)
    with pytest.raises(SealBroken):
        await signer_numbered(services, tenant, event_id, 1, MasterKey(WRONG_KEY))
    both = MasterKey(WRONG_KEY, bytes(range(32)))
    assert (await signer_numbered(services, tenant, event_id, 1, both)).key_number == 1


@pytest.mark.own_database
async def test_with_a_wrong_master_key_it_is_refused_until_the_key_is_rotated(
    services: Services, tenant: Tenant, event_id: UUID
) -> None:
    await a_signer(services, tenant, event_id)
    wrong = MasterKey(WRONG_KEY)
    assert await opens_event_keys(services.database, services.master_key)
    assert not await opens_event_keys(services.database, wrong)
    async with services.database.transaction(tenant.id) as tx:
        with pytest.raises(SealBroken):
            await signer_for(tx, wrong, event_id)
    await rotate_event_key(services.database, wrong, tenant.caller(), event_id)
    async with services.database.transaction(tenant.id) as tx:
        assert (await signer_for(tx, wrong, event_id)).key_number == 2


@pytest.mark.own_database
async def test_any_master_key_will_do_while_nothing_is_sealed(
    services: Services, tenant: Tenant
) -> None:
    assert await opens_event_keys(services.database, MasterKey(WRONG_KEY))


async def test_without_a_master_key_nothing_is_signed_and_nothing_written(
    services: Services, tenant: Tenant, event_id: UUID
) -> None:
    for attempt in range(2):
        async with services.database.transaction(tenant.id) as tx:
            with pytest.raises(MasterKeyMissing):
                await signer_for(tx, MasterKey(), event_id)
        if attempt == 0:
            assert await public_keys(services, tenant, event_id) == {}
            await a_signer(services, tenant, event_id)  # opened, but not for who has no key


def test_a_refusal_of_the_master_key_is_one_that_programs_understand() -> None:
    assert issubclass(SealBroken, Refusal)
    assert "VOELGOED_PREVIOUS_MASTER_KEY" in str(SealBroken())
