"""A device at a gate."""

import asyncio
import random
from base64 import urlsafe_b64decode
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import httpx
import msgspec
import structlog
from msgspec.structs import replace

from voelgoed.device.clock import DeviceClock
from voelgoed.device.ledger import Ledger
from voelgoed.device.link import ANSWER_S, Answered, Link, require
from voelgoed.device.model import (
    ForgedManifest,
    Identity,
    NoGate,
    NotPaired,
    Refused,
)
from voelgoed.device.store import DeviceStore
from voelgoed.scanning.model.devices import Heartbeat, KeyRotation, NewKey, Pair, Paired
from voelgoed.scanning.model.manifests import DeltaDoesNotFit
from voelgoed.scanning.model.offline import Manifest
from voelgoed.scanning.rules.manifest import (
    apply_delta,
    content_hash,
    cut,
    is_delta,
    moment_text,
    tag_of,
    verify,
)
from voelgoed.scanning.rules.register import Register, read_manifest

log = structlog.get_logger()
APP_VERSION = "voelgoed-device/1"
PAIR = "/api/scanning/pair"
HEARTBEAT = "/api/scanning/heartbeat"
ROTATIONS = "/api/scanning/key-rotations"
RENEWALS_MAX = 2
"""The renewals for one request: a key whose answer was lost may itself be one that is to be
rotated."""
CODE_KEY_BYTES = 32
MANIFEST_S = 300.0
"""The time for all of it to arrive, over a bad line."""


class NewKeyData(msgspec.Struct):
    data: NewKey


class Stationed(msgspec.Struct, kw_only=True):
    """The fields of a device's station at the server that this device uses."""

    gate_id: UUID | None
    event_id: UUID | None
    offset_seconds: float | None
    manifest_version: int | None = None


class StationedData(msgspec.Struct):
    data: Stationed


class Device:
    """Its clock, its luck and its patience are given to it, so that tests can choose them."""

    def __init__(
        self,
        path: Path,
        client: httpx.AsyncClient,
        *,
        clock: DeviceClock | None = None,
        luck: random.Random | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.store = DeviceStore(path)
        self.clock = clock or DeviceClock()
        self.clock.resume(self.store.clock)
        self.luck = luck or random.SystemRandom()
        self.sleep = sleep
        self.ledger = Ledger(self.store, self.clock)
        self.link = Link(client)
        self._renewing = asyncio.Lock()
        self.register: Register | None = None
        kept = self.store.manifest
        if kept is not None:
            self.register = Register(read_manifest(kept[0]), kept[1])

    def close(self) -> None:
        self.store.close()

    def new_id(self) -> UUID:
        return UUID(int=self.luck.getrandbits(128), version=4)

    @property
    def identity(self) -> Identity:
        identity = self.store.identity
        if identity is None:
            raise NotPaired()
        return identity

    @property
    def gate_id(self) -> str:
        """The gate's id, with which scans are signed: another event may have a gate with the same
        code."""
        gate_id = self.identity.gate_id
        if gate_id is None:
            raise NoGate()
        return str(gate_id)

    @property
    def gate(self) -> str:
        """The gate's code, where a manifest has it; otherwise its id."""
        known = self.register.gates.get(self.gate_id) if self.register else None
        return known.gate_id if known else self.gate_id

    async def pair(self, url: str, token: str) -> Identity:
        """A device that was somebody's before keeps its id and its scans, which are signed anew."""
        before = self.store.identity
        given = Pair(
            pairing_token=token,
            device_id=before.device_id if before else None,
            app_version=APP_VERSION,
        )
        answered = await self.link.ask("POST", url + PAIR, body=msgspec.json.encode(given))
        paired = require(answered, 201).read(Paired)
        identity = Identity(
            url=url,
            api_key=paired.api_key,
            device_id=paired.device_id,
            name=paired.name,
            organization_id=paired.organization_id,
            organization_name=paired.organization_name,
            event_id=paired.event_id,
            gate_id=paired.gate_id,
        )
        with self.store.transaction():
            self.store.keep_identity(identity)
            self.store.forget_rotation_id()
            if before is not None and before.organization_id != identity.organization_id:
                self._set_aside()
            self.ledger.sign_anew(identity.api_key)
        self._forget_another_events_manifest(identity)
        return identity

    def _set_aside(self) -> None:
        """Sets aside the scans that were made for another organisation, which this one must not
        get."""
        others = [
            replace(scan, sync_status="failed", last_error="made for another organisation")
            for scan in self.store.scans("pending")
        ]
        self.store.change_scans(others)

    async def hydrate(self) -> bool:
        """False where it has the newest manifest already. Nothing is kept that is not signed for this
        device, nor what is older than what it has."""
        kept = self.store.manifest
        known = self.register.manifest if self.register else None
        tag = kept and known and tag_of(known.manifest_version, content_hash(kept[0]))
        answered, body = await self._fetch(known.manifest_version if known else 0, tag)
        if answered.status == 304:
            return False
        document, code_key = self._verified(answered, body)
        if is_delta(document):
            try:
                if kept is None:
                    raise DeltaDoesNotFit()
                document = apply_delta(kept[0], document)
            except DeltaDoesNotFit:
                answered, body = await self._fetch(0)
                document, code_key = self._verified(answered, body)
        self._keep(document, code_key, known)
        return True

    async def _fetch(self, since: int, tag: str | None = None) -> tuple[Answered, bytes]:
        event_id = self.identity.event_id
        if event_id is None:
            raise NoGate()
        path = f"/api/scanning/events/{event_id}/manifest?since={since}"
        answered = await self.ask("GET", path, wait_s=MANIFEST_S, tag=tag)
        require(answered, 200, 304)
        return answered, answered.body

    def _verified(self, answered: Answered, body: bytes) -> tuple[bytes, bytes]:
        document, parts = verify(body, self.identity.api_key), cut(body)
        if document is None or parts is None:
            raise ForgedManifest()
        tail = parts[1]
        try:
            code_key = urlsafe_b64decode(tail.code_key + "=" * (-len(tail.code_key) % 4))
        except ValueError as fault:
            raise ForgedManifest() from fault
        if len(code_key) != CODE_KEY_BYTES:
            raise ForgedManifest()
        if tail.offset_seconds is not None:
            self.ledger.learn(tail.offset_seconds, answered.round_trip_s)
        return document, code_key

    def _keep(self, document: bytes, code_key: bytes, known: Manifest | None) -> None:
        try:
            manifest = read_manifest(document)
            register = Register(manifest, code_key)
        except (msgspec.DecodeError, ValueError) as fault:
            raise Refused(f"The manifest cannot be read by this device: {fault}") from fault
        if manifest.event_id != self.identity.event_id:
            raise ForgedManifest("The manifest is of another event. It was not kept.")
        if known is not None and manifest.generated_at < known.generated_at:
            raise ForgedManifest("The manifest is older than the one this device has.")
        with self.store.transaction():
            self.store.keep_manifest(document, code_key)
        self.register = register
        log.info(
            "manifest.verified",
            device_id=str(self.identity.device_id),
            event_id=str(manifest.event_id),
            manifest_version=manifest.manifest_version,
            tickets=len(manifest.tickets),
        )

    async def beat(self) -> None:
        """Say how it is, and do what the answer asks for."""
        station = await self._report()
        self._move(station)
        newest, known = station.manifest_version, self.register and self.register.manifest
        # Another one, and not only a later: a server that was restored counts on from an earlier.
        if newest is not None and (known is None or known.manifest_version != newest):
            await self.hydrate()

    async def _report(self) -> Stationed:
        now = self.ledger.now()
        manifest = self.register.manifest if self.register else None
        heartbeat = Heartbeat(
            device_time=now,
            queue_length=self.store.count()["pending"],
            app_version=APP_VERSION,
            manifest_version=manifest.manifest_version if manifest else None,
        )
        answered = await self.ask("POST", HEARTBEAT, msgspec.json.encode(heartbeat))
        station = require(answered, 200).read(StationedData).data
        if station.offset_seconds is not None:
            self.ledger.learn(station.offset_seconds, answered.round_trip_s)
        return station

    async def compare_clocks(self) -> None:
        """Compares the clocks before scans of a clock with an unknown error are delivered."""
        if not self.clock.is_sure:
            await self._report()

    def _move(self, station: Stationed) -> None:
        before = self.identity
        after = replace(before, gate_id=station.gate_id, event_id=station.event_id)
        if after != before:
            with self.store.transaction():
                self.store.keep_identity(after)
            self._forget_another_events_manifest(after)

    def _forget_another_events_manifest(self, identity: Identity) -> None:
        if self.register and self.register.manifest.event_id != identity.event_id:
            self._forget_manifest()

    def _forget_manifest(self) -> None:
        with self.store.transaction():
            self.store.forget_manifest()
        self.register = None

    async def renew_key(self, refused: Answered, wait_s: float = ANSWER_S) -> None:
        """Get the key after the one that was refused, if nobody here has it yet."""
        async with self._renewing:
            if self.identity.api_key == refused.api_key:
                await self.rotate(wait_s)

    async def rotate(self, wait_s: float = ANSWER_S) -> None:
        """Its next key, asked for under an id that is kept until the key is."""
        rotation_id = self.store.rotation_id
        if rotation_id is None:
            rotation_id = self.new_id()
            with self.store.transaction():
                self.store.keep_rotation_id(rotation_id)
        before = self.identity
        wanted = msgspec.json.encode(KeyRotation(rotation_id=rotation_id))
        answered = await self.link.ask(
            "POST", before.url + ROTATIONS, api_key=before.api_key, body=wanted, wait_s=wait_s
        )
        given = require(answered, 201).read(NewKeyData).data
        with self.store.transaction():
            self.store.keep_identity(replace(before, api_key=given.api_key))
            self.store.forget_rotation_id()
            self.ledger.sign_anew(given.api_key)

    async def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        wait_s: float = ANSWER_S,
        offset: timedelta | None = None,
        tag: str | None = None,
    ) -> Answered:
        """Asks with this device's key and clock, or with a clock that is off by `offset`. Where the
        key must be rotated, or was and the answer got lost, the next one is asked for first."""
        answered = await self.ask_once(method, path, body, wait_s=wait_s, offset=offset, tag=tag)
        for _ in range(RENEWALS_MAX):
            if not self.needs_next_key(answered):
                break
            await self.renew_key(answered)
            answered = await self.ask_once(
                method, path, body, wait_s=wait_s, offset=offset, tag=tag
            )
        return answered

    def needs_next_key(self, answered: Answered) -> bool:
        """Somebody demands that the key is changed, or the answer with the next one was lost."""
        return answered.is_rotation_demanded or self.has_lost_its_key(answered)

    def has_lost_its_key(self, answered: Answered) -> bool:
        is_refused = answered.status == 401 and answered.is_refusal_of_ours
        return is_refused and self.store.rotation_id is not None

    async def ask_once(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        wait_s: float = ANSWER_S,
        offset: timedelta | None = None,
        tag: str | None = None,
    ) -> Answered:
        """Asks once, for requests that must not be repeated under another key."""
        identity, now = self.identity, self.ledger.now()
        if offset is not None:
            now = self.clock.corrected(now) - offset
        answered = await self.link.ask(
            method,
            identity.url + path,
            api_key=identity.api_key,
            body=body,
            headers={"X-Device-Time": moment_text(now)} | ({"If-None-Match": tag} if tag else {}),
            wait_s=wait_s,
        )
        if answered.refused_status == "revoked":
            self._forget_manifest()  # whoever has the device now has no business with it
        return answered
