"""Builds an event's manifest: in one transaction, by one node at a time."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

import msgspec

from voelgoed.events.actions.events import event_of
from voelgoed.events.actions.gates import gates_of
from voelgoed.events.model import Event
from voelgoed.infra.cache import Cache
from voelgoed.infra.compress import Opened, open_stream, unzstd
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.master_key import MasterKey
from voelgoed.scanning.actions.policies import policies_of
from voelgoed.scanning.metrics import manifest_build_duration
from voelgoed.scanning.model.manifests import GateInside, Head, ManifestSettings, StoredManifest
from voelgoed.scanning.rules.manifest import (
    CODE_KEY_PURPOSE,
    content_hash,
    document_text,
    settings_text,
)
from voelgoed.scanning.rules.manifest_entries import count, merged, replaced
from voelgoed.scanning.rules.manifest_settings import settings_of
from voelgoed.scanning.rules.occupancy import at_gate, presence_at
from voelgoed.scanning.store import manifests as store
from voelgoed.scanning.store import occupancy
from voelgoed.seating.actions.views import see_any
from voelgoed.seating.model.refusals import EventLayoutNotFound
from voelgoed.seating.rules.plan import Plan
from voelgoed.ticketing.actions.admissions import public_keys_of
from voelgoed.ticketing.actions.manifest_entries import changed_entries, types_at
from voelgoed.ticketing.model.manifest_entries import Entries, Seen

FRESH_S = 10.0
"""A manifest that was checked less than this ago is not checked again."""

CHANGES_MAX = 50_000
"""Entries. Of more at once it is not kept which they were; who has an older version gets it whole."""

InThread = Callable[..., Awaitable[Any]]


@dataclass(frozen=True)
class Built:
    manifest: StoredManifest
    document: bytes | None = None
    """The document and, in `opened`, its compressed form; None where this node did not just build it."""
    opened: Opened | None = None


@dataclass(frozen=True)
class Builder:
    database: Database
    cache: Cache
    master_key: MasterKey
    in_thread: InThread
    at_hand: Callable[[StoredManifest], bytes | None]
    """The document, where this node has it."""

    async def refresh(self, organization_id: UUID, event_id: UUID, *, is_forced: bool) -> Built:
        """Waits while another request builds the manifest, and then finds it built."""
        began = time.perf_counter()
        plan = await self._plan(organization_id, event_id)
        async with self.database.transaction(organization_id) as tx:
            await store.lock_manifest(tx, event_id)
            before = await store.find_manifest(tx, event_id)
            if before is not None and not is_forced and is_fresh(before, tx.now):
                return Built(before)
            built = await self._build(tx, event_id, plan, before)
        outcome = "unchanged" if built.document is None else "built"
        manifest_build_duration.labels(outcome).observe(time.perf_counter() - began)
        return built

    async def _plan(self, organization_id: UUID, event_id: UUID) -> Plan | None:
        """Must not run inside a transaction, because `see_any` must not."""
        try:
            return (await see_any(self.database, self.cache, organization_id, event_id)).plan
        except EventLayoutNotFound:
            return None

    async def _build(
        self, tx: Transaction, event_id: UUID, plan: Plan | None, before: StoredManifest | None
    ) -> Built:
        event = await event_of(tx, event_id)
        settings = await self._settings(tx, event, plan)
        key = code_key(self.master_key, tx.organization_id, event_id)
        found = await changed_entries(tx, event_id, key, before and _seen(before))
        head = Head(
            event_id=event_id,
            event_name=event.name,
            manifest_version=1 if before is None else before.version + 1,
            generated_at=tx.now,
            expires_at=event.ends_at,
            occupancy=await _occupancy(tx, event),
        )
        is_same = before is not None and _is_same(before, head, settings)
        if before is not None and is_same and not found.texts:
            return await _unchanged(tx, before, found.seen)
        old = None if before is None else await self._document(tx, before)
        made: _Made | None = await self.in_thread(
            _make, before, old, head, settings, found, is_same
        )
        if made is None:
            assert before is not None
            return await _unchanged(tx, before, found.seen)
        return await _write(tx, before, head, settings, made, found.seen, code_key_hash(key))

    async def _document(self, tx: Transaction, manifest: StoredManifest) -> bytes:
        document = self.at_hand(manifest)
        if document is not None:
            return document
        opened = await store.find_document(tx, manifest.event_id, manifest.version)
        assert opened is not None, "nobody else builds one meanwhile"
        return await self.in_thread(document_in, opened, manifest)

    async def _settings(self, tx: Transaction, event: Event, plan: Plan | None) -> str:
        policy = (await policies_of(tx, [event.id]))[event.id]
        gates, types = await gates_of(tx, event.id), await types_at(tx, event.id)
        keys = await public_keys_of(tx, event.id)
        settings: ManifestSettings = await self.in_thread(
            settings_of, event, policy.dedup_window_s, gates, plan, types, keys
        )
        return settings_text(settings).decode()


def is_fresh(manifest: StoredManifest, now: datetime) -> bool:
    """Either way round: nodes' clocks differ, and who waited for another's build began before it."""
    return abs((now - manifest.checked_at).total_seconds()) < FRESH_S


def code_key(master_key: MasterKey, organization_id: UUID, event_id: UUID) -> bytes:
    return master_key.derive(CODE_KEY_PURPOSE, organization_id.bytes, event_id.bytes)


def code_key_hash(key: bytes) -> bytes:
    return sha256(b"code key\0" + key).digest()


def document_in(opened: bytes, manifest: StoredManifest) -> bytes:
    return unzstd(opened, manifest.document_bytes) + b"}"


@dataclass(frozen=True)
class _Made:
    document: bytes
    content_hash: str
    opened: Opened
    tickets: int
    changes: list[bytes]
    """The entries that have changed."""


def _make(
    before: StoredManifest | None,
    old: bytes | None,
    head: Head,
    settings: str,
    found: Entries,
    is_same: bool,
) -> _Made | None:
    """Does the slow work, in a thread; None where nothing has changed."""
    texts = [text.encode() for text in found.texts]
    entries = b"" if before is None or old is None else _entries_in(old, before)
    entries, changes = replaced(entries, texts) if found.is_all else merged(entries, texts)
    if is_same and not changes:
        return None
    document = document_text(head, settings.encode(), entries)
    return _Made(
        document,
        content_hash(document),
        open_stream("zstd", memoryview(document)[:-1]),
        count(entries),
        changes,
    )


def _entries_in(document: bytes, manifest: StoredManifest) -> bytes:
    """All that follows what it begins with."""
    empty = document_text(head_of(manifest), manifest.settings.encode(), b"")
    return document[len(empty) - 2 : -2]


def head_of(manifest: StoredManifest) -> Head:
    return Head(
        event_id=manifest.event_id,
        event_name=manifest.event_name,
        manifest_version=manifest.version,
        generated_at=manifest.generated_at,
        expires_at=manifest.expires_at,
        occupancy=manifest.occupancy,
    )


async def _unchanged(tx: Transaction, before: StoredManifest, seen: Seen) -> Built:
    await store.note_checked(tx, before.event_id, seen.fingerprint, seen.seen_xid, tx.now)
    return Built(msgspec.structs.replace(before, checked_at=tx.now))


async def _write(
    tx: Transaction,
    before: StoredManifest | None,
    head: Head,
    settings: str,
    made: _Made,
    seen: Seen,
    key_hash: bytes,
) -> Built:
    version = head.manifest_version
    keeps_settings = before is not None and before.settings == settings
    keeps_changes = before is not None and len(made.changes) <= CHANGES_MAX
    manifest = StoredManifest(
        event_id=head.event_id,
        version=version,
        generated_at=head.generated_at,
        event_name=head.event_name,
        expires_at=head.expires_at,
        occupancy=head.occupancy,
        settings=settings,
        settings_version=before.settings_version if before and keeps_settings else version,
        base_version=before.base_version if before and keeps_changes else version,
        tickets=made.tickets,
        content_hash=made.content_hash,
        document_bytes=made.opened.size,
        stored_bytes=len(made.opened.content),
        code_key_hash=key_hash,
        fingerprint=seen.fingerprint,
        seen_xid=seen.seen_xid,
        checked_at=tx.now,
    )
    if keeps_changes and made.changes:
        changes = [change.decode() for change in made.changes]
        await store.write_entries(tx, manifest.event_id, changes, version)
    await store.write_manifest(tx, manifest, made.opened.content)
    return Built(manifest, made.document, made.opened)


def _seen(manifest: StoredManifest) -> Seen:
    return Seen(fingerprint=manifest.fingerprint, seen_xid=manifest.seen_xid)


def _is_same(before: StoredManifest, head: Head, settings: str) -> bool:
    return (before.event_name, before.expires_at, before.occupancy, before.settings) == (
        head.event_name,
        head.expires_at,
        head.occupancy,
        settings,
    )


async def _occupancy(tx: Transaction, event: Event) -> list[GateInside]:
    facts = await occupancy.read_occupancy_facts(tx, event.id)
    present = presence_at(facts, tx.now)
    limited = [gate for gate in await gates_of(tx, event.id) if gate.id in facts.limited_gates]
    return [
        GateInside(gate_id=gate.code, inside=at_gate(present, gate.id).inside)
        for gate in sorted(limited, key=lambda each: each.code)
    ]
