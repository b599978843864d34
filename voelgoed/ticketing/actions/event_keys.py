"""Every event has keys of its own, and the newest signs. Private keys are kept sealed with the master
key, each for its place: a row copied to another event, or with another public key, does not open."""

from uuid import UUID

from cachetools import LRUCache
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller
from voelgoed.events.actions.events import event_of, visible_event
from voelgoed.events.model import EventNotFound
from voelgoed.infra.database import Database, Transaction, refusing
from voelgoed.infra.idempotency import IdempotencyKey, once
from voelgoed.infra.master_key import MasterKey, SealBroken
from voelgoed.infra.refusal import VersionConflict
from voelgoed.ticketing.model.event_keys import (
    KEYS_MAX,
    EventKey,
    EventKeyNotFound,
    TooManyEventKeys,
)
from voelgoed.ticketing.rules.barcode import (
    BarcodeFields,
    barcode_hash,
    barcode_text,
    short_label,
)
from voelgoed.ticketing.store import event_keys as store
from voelgoed.ticketing.store.event_keys import SealedKey

PURPOSE = "event-key"
OPENED_MAX = 1_000
ORGANIZATIONS_TRIED_MAX = 100
KEYS_TRIED_MAX = 10

_opened: LRUCache[tuple[bytes, UUID, UUID, int, bytes], Ed25519PrivateKey] = LRUCache(OPENED_MAX)
"""Of the rows that a transaction has read before it looks here."""


class Signer:
    def __init__(self, event_id: UUID, key_number: int, private_key: Ed25519PrivateKey) -> None:
        self.event_id = event_id
        self.key_number = key_number
        self._private_key = private_key

    def sign(
        self,
        code: str,
        *,
        ticket_id: UUID,
        issue: int,
        ticket_type_number: int,
        zone_number: int = 0,
        days: int = 0,
        seat_label: str = "",
    ) -> tuple[str, bytes]:
        """The barcode's text and its hash; the same ones whenever the same is signed again."""
        fields = BarcodeFields(
            key_number=self.key_number,
            ticket_id=ticket_id,
            issue=issue,
            ticket_type_number=ticket_type_number,
            zone_number=zone_number,
            days=days,
            seat_label=short_label(seat_label),
        )
        text = barcode_text(fields, self.event_id, code, self._private_key)
        return text, barcode_hash(text)


async def signer_for(tx: Transaction, master_key: MasterKey, event_id: UUID) -> Signer:
    """For new barcodes: the newest key, or the first one, made now."""
    key = await store.find_current(tx, event_id)
    if key is None:
        await _insert(tx, _new_key(tx, master_key, event_id, 1))
        key = await store.find_current(tx, event_id)  # ours, or that of who was first
    if key is None:
        raise EventKeyNotFound()
    return _signer(tx, master_key, key)


async def signer_of(tx: Transaction, master_key: MasterKey, event_id: UUID, number: int) -> Signer:
    """For a barcode that there is already, to show it again."""
    key = await store.find_key(tx, event_id, number)
    if key is None:
        raise EventKeyNotFound()
    return _signer(tx, master_key, key)


async def list_event_keys(database: Database, caller: Caller, event_id: UUID) -> list[EventKey]:
    async with database.transaction(caller.organization_id) as tx:
        await visible_event(tx, caller, event_id)
        return await store.list_keys(tx, event_id)


async def rotate_event_key(
    database: Database,
    master_key: MasterKey,
    caller: Caller,
    event_id: UUID,
    key: IdempotencyKey | None = None,
) -> EventKey:
    async with database.transaction(caller.organization_id) as tx:
        return await once(tx, key, EventKey, lambda: _rotate(tx, master_key, caller, event_id))


async def _rotate(
    tx: Transaction, master_key: MasterKey, caller: Caller, event_id: UUID
) -> EventKey:
    await event_of(tx, event_id)
    before = await store.find_current(tx, event_id)
    number = before.number + 1 if before else 1
    if number > KEYS_MAX:
        raise TooManyEventKeys()
    new = _new_key(tx, master_key, event_id, number)
    if not await _insert(tx, new):
        raise VersionConflict()  # somebody else rotated it, or sold the first ticket
    await store.retire_before(tx, event_id, number)
    changes: dict[str, object] = {
        "key_number": {"from": before.number if before else None, "to": number}
    }
    await record(tx, caller, "event_key_rotated", "Event", event_id, changes)
    return EventKey(
        number=number, public_key=new.public_key, created_at=new.created_at, retired_at=None
    )


async def opens_event_keys(database: Database, master_key: MasterKey) -> bool:
    """Whether this is the master key that event keys were sealed with, as far as a few tell."""
    for organization_id in (await database.organization_ids())[:ORGANIZATIONS_TRIED_MAX]:
        async with database.transaction(organization_id) as tx:
            try:
                for key in await store.newest_keys(tx, KEYS_TRIED_MAX):
                    _signer(tx, master_key, key)
            except SealBroken:
                return False
    return True


def _new_key(tx: Transaction, master_key: MasterKey, event_id: UUID, number: int) -> SealedKey:
    private_key = Ed25519PrivateKey.generate()
    public_key = private_key.public_key().public_bytes_raw()
    context = _context(tx, event_id, number, public_key)
    sealed = master_key.seal(PURPOSE, private_key.private_bytes_raw(), context)
    return SealedKey(event_id, number, public_key, sealed, tx.now)


async def _insert(tx: Transaction, key: SealedKey) -> int:
    with refusing("event_key_organization_id_event_id_fkey", EventNotFound):
        return await store.insert_key(tx, key)


def _signer(tx: Transaction, master_key: MasterKey, key: SealedKey) -> Signer:
    name = (master_key.id, tx.organization_id, key.event_id, key.number, key.public_key)
    private_key = _opened.get(name)
    if private_key is None:
        context = _context(tx, key.event_id, key.number, key.public_key)
        raw = master_key.open(PURPOSE, key.sealed_private_key, context)
        private_key = _opened[name] = Ed25519PrivateKey.from_private_bytes(raw)
    return Signer(key.event_id, key.number, private_key)


def _context(tx: Transaction, event_id: UUID, number: int, public_key: bytes) -> bytes:
    return tx.organization_id.bytes + event_id.bytes + bytes([number]) + public_key
