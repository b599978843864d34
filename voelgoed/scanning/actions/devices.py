"""Devices: how they become ours, stay ours, and cease to be."""

from functools import partial
from hashlib import sha256
from secrets import token_bytes
from uuid import UUID

import msgspec
import structlog

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.actions.organizations import organization_of
from voelgoed.accounts.model import Caller, Origin
from voelgoed.events.actions.events import event_of
from voelgoed.events.actions.gates import gate_anywhere
from voelgoed.infra.changes import changed
from voelgoed.infra.database import Database, Transaction, refusing
from voelgoed.infra.ids import new_id
from voelgoed.infra.master_key import MasterKey
from voelgoed.infra.refusal import VersionConflict
from voelgoed.scanning.model.devices import (
    Device,
    DeviceChange,
    DeviceType,
    FleetDevice,
    NewPairing,
    Pair,
    Paired,
    Pairing,
)
from voelgoed.scanning.model.refusals import (
    DeviceNotFound,
    PairingTokenNotFound,
    PairingTokenTaken,
    TooManyDevices,
)
from voelgoed.scanning.rules.device_keys import PURPOSE, DeviceKey, context, key_text
from voelgoed.scanning.rules.devices import PAIRING_TTL, fleet_device, refusal_to_pair
from voelgoed.scanning.rules.messages import device_changed, device_topic
from voelgoed.scanning.store import devices as store
from voelgoed.scanning.store.devices import PairingRow
from voelgoed.ticketing.rules.codes import CODE_RANDOM_BYTES, code_from, read_code

log = structlog.get_logger()

DEVICES_MAX = 5_000
KEYS_TRIED_MAX = 20
"""Keys of one device. A signature by an older key counts as somebody else's."""


async def create_pairing(database: Database, caller: Caller, new: NewPairing) -> Pairing:
    """A token for a device to use, or the approval of one that a device shows."""
    token = None if new.challenge else code_from(token_bytes(CODE_RANDOM_BYTES))
    assert caller.id is not None
    async with database.transaction(caller.organization_id) as tx:
        if new.replaces_device_id and not await store.find_device(tx, new.replaces_device_id):
            raise DeviceNotFound()
        gate = await gate_anywhere(tx, new.gate_id)
        row = PairingRow(
            token_hash=bytes.fromhex(new.challenge) if new.challenge else token_hash(token or ""),
            gate_id=gate.id,
            event_id=gate.event_id,
            name=new.name,
            device_type=new.device_type,
            created_by_id=caller.id,
            replaces_device_id=new.replaces_device_id,
            expires_at=tx.now + PAIRING_TTL,
        )
        with refusing("pairing_token_taken", PairingTokenTaken):
            await store.insert_pairing(tx, row)
        changes: dict[str, object] = {
            "gate_id": gate.id,
            "name": new.name,
            "made_by": "device" if new.challenge else "server",
        }
        if new.replaces_device_id:
            changes["replaces_device_id"] = new.replaces_device_id
        await record(tx, caller, "device_pairing_created", "Gate", gate.id, changes)
    return Pairing(
        pairing_token=token,
        gate_id=gate.id,
        name=new.name,
        device_type=new.device_type,
        replaces_device_id=new.replaces_device_id,
        expires_at=row.expires_at,
    )


def token_hash(token: str) -> bytes:
    """The hash of a token of ours, in any spelling; a device's own token is hashed unchanged."""
    return sha256((read_code(token) or token).encode()).digest()


async def pair(database: Database, master_key: MasterKey, origin: Origin, given: Pair) -> Paired:
    """Pairs a device by an unused token. A device that the pairing names keeps its id and gets a
    new key; a refused device leaves the token good for the right one."""
    hashed = sha256(given.pairing_token.encode()).digest()
    organization_id = await store.find_pairing_owner(database, hashed)
    if organization_id is None:
        hashed = token_hash(given.pairing_token)
        organization_id = await store.find_pairing_owner(database, hashed)
    if organization_id is None:
        raise PairingTokenNotFound()
    chosen_id = given.device_id or new_id()
    async with database.transaction(organization_id) as tx:
        pairing = await store.use_pairing(tx, hashed, chosen_id)
        if pairing is None:
            raise PairingTokenNotFound()  # somebody else was first
        device_id = pairing.replaces_device_id or chosen_id
        device = await _paired(tx, device_id, pairing, given)
        caller = Caller(
            kind="device",
            id=device_id,
            organization_id=organization_id,
            ip=origin.ip,
            user_agent=origin.user_agent,
        )
        changes: dict[str, object] = {
            "gate_id": pairing.gate_id,
            "name": device.name,
            "key_version": device.key_version,
            "approved_by": pairing.created_by_id,
            "is_taken_over": pairing.replaces_device_id is not None,
        }
        await record(tx, caller, "device_paired", "ScanDevice", device_id, changes)
        tx.once_committed(partial(_publish_to_operators, "device.paired", device))
        organization = await organization_of(tx)
        api_key = key_of(master_key, organization_id, device)  # or the token is not used up
    return Paired(
        device_id=device_id,
        api_key=api_key,
        organization_id=organization_id,
        organization_name=organization.name,
        name=device.name,
        gate_id=pairing.gate_id,
        event_id=pairing.event_id,
    )


async def _paired(tx: Transaction, device_id: UUID, pairing: PairingRow, given: Pair) -> Device:
    kind: DeviceType = given.device_type or msgspec.convert(pairing.device_type, DeviceType)
    new = Device(
        id=device_id,
        name=pairing.name,
        device_type=kind,
        gate_id=pairing.gate_id,
        status="active",
        key_version=1,
        key_rotated_at=tx.now,
        rotation_demanded_at=None,
        rotation_id=None,
        paired_at=tx.now,
        paired_by_id=pairing.created_by_id,
        deleted_at=None,
        last_heartbeat=None,
        last_seen_at=None,
        battery_percent=None,
        queue_length=None,
        app_version=given.app_version,
        manifest_version=None,
        clock_offset_seconds=None,
        clock_measured_at=None,
        last_sync_at=None,
        version=1,
        created_at=tx.now,
        updated_at=tx.now,
    )
    before = await store.lock_device(tx, device_id)
    _require_pairable(given, before, pairing)
    is_counted = before is not None and before.deleted_at is None
    if not is_counted and await store.count_devices(tx) >= DEVICES_MAX:
        raise TooManyDevices()
    if before is None and await store.insert_device(tx, new):
        return new
    before = before or await store.lock_device(tx, device_id)  # by another token, meanwhile
    _require_pairable(given, before, pairing)
    assert before is not None
    again = msgspec.structs.replace(
        new,
        key_version=before.key_version + 1,
        version=before.version + 1,
        created_at=before.created_at,
    )
    await store.update_device(tx, again)
    tx.publish(device_topic(device_id), device_changed(device_id))
    return again


def _require_pairable(given: Pair, known: Device | None, pairing: PairingRow) -> None:
    refusal = refusal_to_pair(given.device_id, known is not None, pairing.replaces_device_id)
    if refusal is not None:
        raise refusal


def key_of(master_key: MasterKey, organization_id: UUID, device: Device) -> str:
    secret = master_key.derive(PURPOSE, *context(organization_id, device.id, device.key_version))
    return key_text(DeviceKey(organization_id, device.id, device.key_version, secret))


def keys_of(master_key: MasterKey, organization_id: UUID, device: Device) -> list[str]:
    """The keys that the device has had, the last first, whichever master key they were derived
    from: to verify its signatures, not to give out."""
    first = max(1, device.key_version - KEYS_TRIED_MAX + 1)
    return [
        key_text(DeviceKey(organization_id, device.id, version, secret))
        for version in range(device.key_version, first - 1, -1)
        for secret in master_key.derivations(PURPOSE, *context(organization_id, device.id, version))
    ]


async def list_devices(
    database: Database,
    caller: Caller,
    event_id: UUID | None,
    with_revoked: bool,
    after: UUID | None,
    limit: int,
) -> list[FleetDevice]:
    async with database.transaction(caller.organization_id) as tx:
        if event_id is not None:
            await event_of(tx, event_id)
        found = await store.list_devices(tx, event_id, with_revoked, after, limit)
    return [fleet_device(each.device, each.gate_name, each.event_id, tx.now) for each in found]


async def read_device(database: Database, caller: Caller, device_id: UUID) -> FleetDevice:
    async with database.transaction(caller.organization_id) as tx:
        device = await store.find_device(tx, device_id)
        if device is None:
            raise DeviceNotFound()
        return await _shown(tx, device)


async def change_device(
    database: Database, caller: Caller, device_id: UUID, change: DeviceChange
) -> FleetDevice:
    """Its name, its gate, whether it may scan. What it scans from now on counts at its new gate."""
    async with database.transaction(caller.organization_id) as tx:
        before = await store.find_device(tx, device_id)
        if before is None or before.deleted_at is not None:
            raise DeviceNotFound()
        after, differences = changed(before, change, tx.now)
        shown = await _shown(tx, after)  # at a gate that there is
        if not await store.update_device(tx, after):
            raise VersionConflict()
        await record(tx, caller, "device_changed", "ScanDevice", device_id, differences)
        tx.publish(device_topic(device_id), device_changed(device_id))
        return shown


async def demand_rotation(database: Database, caller: Caller, device_id: UUID) -> FleetDevice:
    """It is told at once, or when it next says how it is; until it has another key, it has this one.
    Twice is once."""
    async with database.transaction(caller.organization_id) as tx:
        device = await store.lock_device(tx, device_id)
        if device is None or device.deleted_at is not None:
            raise DeviceNotFound()
        if device.rotation_demanded_at is None:
            device = msgspec.structs.replace(
                device, rotation_demanded_at=tx.now, version=device.version + 1, updated_at=tx.now
            )
            await store.update_device(tx, device)
            changes: dict[str, object] = {"key_version": device.key_version}
            await record(tx, caller, "device_rotation_demanded", "ScanDevice", device_id, changes)
            tx.publish(device_topic(device_id), device_changed(device_id))
        return await _shown(tx, device)


async def revoke_device(database: Database, caller: Caller, device_id: UUID) -> None:
    """Its key is worthless from now on, on every node: each scan asks. Twice is once."""
    async with database.transaction(caller.organization_id) as tx:
        before = await store.lock_device(tx, device_id)
        if before is None:
            raise DeviceNotFound()
        if before.deleted_at is not None:
            return
        after = msgspec.structs.replace(
            before, deleted_at=tx.now, version=before.version + 1, updated_at=tx.now
        )
        await store.update_device(tx, after)
        await record(tx, caller, "device_revoked", "ScanDevice", device_id, {"name": before.name})
        tx.once_committed(partial(_publish_to_operators, "device.revoked", after))
        tx.publish(device_topic(device_id), device_changed(device_id))


def _publish_to_operators(what: str, device: Device) -> None:
    log.info(what, device_id=str(device.id), name=device.name, key_version=device.key_version)


async def _shown(tx: Transaction, device: Device) -> FleetDevice:
    gate = None if device.gate_id is None else await gate_anywhere(tx, device.gate_id)
    return fleet_device(device, gate and gate.name, gate and gate.event_id, tx.now)


async def purge_pairings(tx: Transaction) -> int:
    """Deletes pairings after a day, which is long enough to ask for the result of one."""
    return await store.delete_old_pairings(tx, tx.now - PAIRING_TTL * 288)
