"""Manifests for devices: built once for all of them, signed for each."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

import msgspec
import structlog
from cachetools import LRUCache

from voelgoed.accounts.model import Caller
from voelgoed.events.actions.events import event_of
from voelgoed.events.actions.gates import gate_anywhere
from voelgoed.events.model import EventNotFound
from voelgoed.infra.cache import Cache
from voelgoed.infra.compress import PREFERRED, Encoding, Opened, ending, open_stream
from voelgoed.infra.database import Database
from voelgoed.infra.master_key import MasterKey
from voelgoed.infra.refusal import StorageBusy, StorageUnavailable
from voelgoed.scanning.actions.alerts import raise_alerts
from voelgoed.scanning.actions.manifest_build import (
    FRESH_S,
    Builder,
    Built,
    code_key_hash,
    document_in,
    head_of,
    is_fresh,
)
from voelgoed.scanning.actions.own_device import DeviceCaller, own_device
from voelgoed.scanning.model.manifests import ManifestStatus, StoredManifest
from voelgoed.scanning.model.refusals import DeviceNotAssignedToGate
from voelgoed.scanning.rules.clock_alerts import clock_jump
from voelgoed.scanning.rules.device_clock import ClockMeasurement, clock_change
from voelgoed.scanning.rules.manifest import (
    CODE_KEY_PURPOSE,
    delta_text,
    sign,
    tag_of,
    tail_text,
)
from voelgoed.scanning.store import devices as device_store
from voelgoed.scanning.store import manifests as store

log = structlog.get_logger()
T = TypeVar("T")

TEXT_BYTES_MAX = 200 * 1024 * 1024
OPENED_BYTES_MAX = 100 * 1024 * 1024
SIGNATURES_MAX = 10_000
EVENTS_MAX = 1_000
THREADS = 2
ATTEMPTS_MAX = 3
"""The limit of attempts to read one version while others build the next."""


class ManifestRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The request of a device for a manifest."""

    event_id: UUID
    api_key: str
    """The key as the device presented it: the manifest is signed with it."""
    since: int | None
    device_time: datetime | None
    encoding: Encoding
    known: Callable[[str], bool] | None
    """Whether it has what goes by this tag already; None where it names no tags."""

    def has(self, tag: str, version: int) -> bool:
        """After a backup was restored two manifests may have the same number; their tags differ."""
        return self.since == version if self.known is None else self.known(tag)


class Given(msgspec.Struct, frozen=True, kw_only=True):
    version: int
    tag: str
    since: int | None
    """The version that a delta starts from; None for a whole manifest."""
    opened: Opened | None
    """None where the device has this version already."""
    end: bytes = b""
    signature: str = ""


_Key = tuple[UUID, str]
"""The head of a document or delta: its event and its tag."""


class _Text(msgspec.Struct, frozen=True):
    """A document or a delta: what is signed."""

    key: _Key
    content: bytes


class Manifests:
    def __init__(self, database: Database, cache: Cache, master_key: MasterKey) -> None:
        self._database = database
        self._master_key = master_key
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="manifest")
        self._builder = Builder(database, cache, master_key, self._in_thread, self._at_hand)
        self._texts: LRUCache[_Key, _Text] = LRUCache(
            TEXT_BYTES_MAX, getsizeof=lambda text: len(text.content)
        )
        self._opened: LRUCache[tuple[_Key, Encoding], Opened] = LRUCache(
            OPENED_BYTES_MAX, getsizeof=lambda opened: len(opened.content)
        )
        self._latest: LRUCache[UUID, _Key] = LRUCache(EVENTS_MAX)
        """Documents; those before them are not kept."""
        self._signatures: LRUCache[tuple[_Key, str], str] = LRUCache(SIGNATURES_MAX)
        self._looked_at: LRUCache[UUID, datetime] = LRUCache(EVENTS_MAX)
        """The moment of this process's last refresh, for heartbeats, because there are many
        devices."""
        self._running: dict[object, asyncio.Task[Any]] = {}

    async def is_idle(self) -> None:
        """Returns when all work in the background is done."""
        while self._running:
            await asyncio.wait(self._running.values())

    async def stop(self) -> None:
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def give(self, proven: DeviceCaller, request: ManifestRequest) -> Given:
        organization_id, event_id = proven.caller.organization_id, request.event_id
        manifest, offset = await self._look(proven, request)
        manifest = await self._fresh(organization_id, event_id, manifest)
        for _ in range(ATTEMPTS_MAX):
            since = _since(manifest, request.since)
            tag = _tag(manifest, since)
            if request.has(tag, manifest.version):
                return Given(version=manifest.version, tag=tag, since=since, opened=None)
            key = self._code_key(organization_id, manifest)
            text = None if key is None else await self._text(organization_id, manifest, since)
            if text is not None and key is not None:
                return await self._signed(request, manifest, since, text, offset, key)
            # There is a newer one already, or typed codes are found by a key we no longer have.
            manifest = await self.refresh(organization_id, event_id, is_forced=key is None)
        raise StorageBusy()

    async def refresh(
        self, organization_id: UUID, event_id: UUID, *, is_forced: bool = False
    ) -> StoredManifest:
        """The manifest as it is now or was seconds ago; `is_forced` means now. One at a time in
        this process."""

        async def refresh() -> StoredManifest:
            built = await self._builder.refresh(organization_id, event_id, is_forced=is_forced)
            self._keep_built(built)
            return built.manifest

        return await self._once(("refresh", event_id, is_forced), refresh)

    def refresh_soon(self, organization_id: UUID, event_id: UUID) -> None:
        """Refreshes in the background, unless somebody did so seconds ago; returns at once."""
        now = self._database.clock.now()
        last = self._looked_at.get(event_id)
        if last is None or abs((now - last).total_seconds()) >= FRESH_S:
            self._looked_at[event_id] = now
            self._begin(
                ("soon", event_id), lambda: self._quietly_refresh(organization_id, event_id)
            )

    async def _quietly_refresh(self, organization_id: UUID, event_id: UUID) -> None:
        try:
            await self.refresh(organization_id, event_id)
        except StorageUnavailable:
            log.warning("manifest_not_refreshed", event_id=str(event_id))

    async def _look(
        self, proven: DeviceCaller, request: ManifestRequest
    ) -> tuple[StoredManifest | None, float | None]:
        """Checks that the device may ask; gives the stored manifest and the offset of the device's clock."""
        async with self._database.transaction(proven.caller.organization_id, durable=False) as tx:
            device = await own_device(tx, proven)
            if device.gate_id is None:
                raise DeviceNotAssignedToGate()
            gate = await gate_anywhere(tx, device.gate_id)
            if gate.event_id != request.event_id:
                raise EventNotFound()
            offset = None
            if request.device_time is not None:
                measured = tx.now - request.device_time
                change = clock_change(device, ClockMeasurement(measured, tx.now))
                offset = measured.total_seconds()
                await device_store.note_clock(tx, device.id, offset, change and change.periods)
                await raise_alerts(tx, clock_jump(device, gate.event_id, change, tx.now))
            return await store.find_manifest(tx, request.event_id), offset

    async def _fresh(
        self, organization_id: UUID, event_id: UUID, manifest: StoredManifest | None
    ) -> StoredManifest:
        if manifest is not None and is_fresh(manifest, self._database.clock.now()):
            return manifest
        try:
            return await self.refresh(organization_id, event_id)
        except StorageUnavailable:
            if manifest is None:
                raise
            return manifest  # better than none: another node has been at it for long

    async def _text(
        self, organization_id: UUID, manifest: StoredManifest, since: int | None
    ) -> _Text | None:
        """None where there is a newer version already."""
        key = manifest.event_id, _tag(manifest, since)
        if (kept := self._texts.get(key)) is not None:
            return kept

        async def read() -> _Text | None:
            make = self._read_document if since is None else self._read_delta
            content = await make(organization_id, manifest, since)
            if content is None:
                return None
            text = _Text(key, content)
            _keep(self._texts, key, text)
            return text

        return await self._once(("text", key), read)

    async def _read_document(
        self, organization_id: UUID, manifest: StoredManifest, _: int | None
    ) -> bytes | None:
        async with self._database.transaction(organization_id) as tx:
            opened = await store.find_document(tx, manifest.event_id, manifest.version)
        if opened is None:
            return None
        self._forget_before(manifest)
        kept = Opened("zstd", opened, manifest.document_bytes, 0)
        _keep(self._opened, (_document_key(manifest), "zstd"), kept)
        return await self._in_thread(document_in, opened, manifest)

    async def _read_delta(
        self, organization_id: UUID, manifest: StoredManifest, since: int | None
    ) -> bytes | None:
        assert since is not None
        async with self._database.transaction(organization_id) as tx:
            entries = await store.list_entries_since(tx, manifest.event_id, manifest.version, since)
        if entries is None:
            return None
        settings = manifest.settings.encode() if manifest.settings_version > since else None
        return delta_text(
            head_of(manifest), since, manifest.content_hash, settings, entries.encode()
        )

    async def _signed(
        self,
        request: ManifestRequest,
        manifest: StoredManifest,
        since: int | None,
        text: _Text,
        offset: float | None,
        key: bytes,
    ) -> Given:
        signature = self._signatures.get((text.key, request.api_key))
        if signature is None:
            signature = await self._in_thread(sign, text.content, request.api_key)
            self._signatures[text.key, request.api_key] = signature
        opened = await self._open(text, request.encoding)
        return Given(
            version=manifest.version,
            tag=text.key[1],
            since=since,
            opened=opened,
            end=ending(opened, tail_text(offset, key, signature)),
            signature=signature,
        )

    async def _open(self, text: _Text, encoding: Encoding) -> Opened:
        kept = self._opened.get((text.key, encoding))
        if kept is not None:
            return kept

        async def make() -> Opened:
            opened = await self._in_thread(_open, encoding, text)
            _keep(self._opened, (text.key, encoding), opened)
            return opened

        return await self._once(("open", text.key, encoding), make)

    def _code_key(self, organization_id: UUID, manifest: StoredManifest) -> bytes | None:
        """The key by which the manifest's typed codes are found: the master key may have been
        changed since."""
        context = organization_id.bytes, manifest.event_id.bytes
        for key in self._master_key.derivations(CODE_KEY_PURPOSE, *context):
            if code_key_hash(key) == manifest.code_key_hash:
                return key
        return None

    def _at_hand(self, manifest: StoredManifest) -> bytes | None:
        kept = self._texts.get(_document_key(manifest))
        return None if kept is None else kept.content

    def _keep_built(self, built: Built) -> None:
        if built.document is not None and built.opened is not None:
            self._forget_before(built.manifest)
            key = _document_key(built.manifest)
            _keep(self._texts, key, _Text(key, built.document))
            _keep(self._opened, (key, "zstd"), built.opened)

    def _forget_before(self, manifest: StoredManifest) -> None:
        key, last = _document_key(manifest), self._latest.get(manifest.event_id)
        self._latest[manifest.event_id] = key
        if last is not None and last != key:
            self._texts.pop(last, None)
            for encoding in PREFERRED:
                self._opened.pop((last, encoding), None)

    async def _in_thread(self, work: Callable[..., T], *given: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *given)

    async def _once(self, key: object, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Requests for the same key share one task, which goes on when some of them give up."""
        return await asyncio.shield(self._begin(key, make))

    def _begin(self, key: object, make: Callable[[], Coroutine[Any, Any, T]]) -> "asyncio.Task[T]":
        task = self._running.get(key)
        if task is None:
            task = self._running[key] = asyncio.create_task(make(), name="manifest")
            task.add_done_callback(lambda done: self._forget(key, done))
        return task

    def _forget(self, key: object, done: "asyncio.Task[Any]") -> None:
        self._running.pop(key, None)
        if not done.cancelled():
            done.exception()  # marks it as read: perhaps no request waits for it any more


async def read_status(database: Database, caller: Caller, event_id: UUID) -> ManifestStatus:
    async with database.transaction(caller.organization_id) as tx:
        await event_of(tx, event_id)
        manifest = await store.find_manifest(tx, event_id)
        return ManifestStatus(
            event_id=event_id,
            manifest_version=manifest and manifest.version,
            built_at=manifest and manifest.generated_at,
            checked_at=manifest and manifest.checked_at,
            expires_at=manifest and manifest.expires_at,
            tickets=manifest.tickets if manifest else 0,
            bytes=manifest.document_bytes + 1 if manifest else 0,
            compressed_bytes=manifest.stored_bytes if manifest else 0,
            content_hash=manifest and manifest.content_hash,
            devices=await store.count_versions(tx, event_id),
        )


def _since(manifest: StoredManifest, since: int | None) -> int | None:
    """None where no delta leads from there to here."""
    if since is None or not manifest.base_version <= since < manifest.version:
        return None
    return since


def _tag(manifest: StoredManifest, since: int | None) -> str:
    whole = tag_of(manifest.version, manifest.content_hash)
    return whole if since is None else f'{whole[:-1]}-{since}"'


def _document_key(manifest: StoredManifest) -> _Key:
    return manifest.event_id, _tag(manifest, None)


def _open(encoding: Encoding, text: _Text) -> Opened:
    return open_stream(encoding, memoryview(text.content)[:-1])


def _keep(kept: "LRUCache[Any, Any]", key: object, value: object) -> None:
    try:
        kept[key] = value
    except ValueError:  # larger than all there is room for
        log.warning("manifest_not_kept", key=str(key))
