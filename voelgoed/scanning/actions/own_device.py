"""What a device asks for itself, with its own key."""

from uuid import UUID

import msgspec
from cachetools import LRUCache

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller, Origin
from voelgoed.events.actions.events import event_of
from voelgoed.events.actions.gates import gate_anywhere
from voelgoed.events.model import Gate
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.master_key import MasterKey
from voelgoed.scanning.actions.alerts import raise_alerts
from voelgoed.scanning.actions.devices import key_of
from voelgoed.scanning.model.devices import Device, Heartbeat, KeyRotation, NewKey, Station
from voelgoed.scanning.model.refusals import DeviceInactive, InvalidDeviceToken
from voelgoed.scanning.rules.clock_alerts import clock_jump
from voelgoed.scanning.rules.device_clock import ClockMeasurement, clock_change
from voelgoed.scanning.rules.device_keys import DeviceKey, is_genuine, read_key
from voelgoed.scanning.rules.devices import refusal_to_scan, rotated
from voelgoed.scanning.rules.messages import device_changed, device_topic
from voelgoed.scanning.rules.occupancy import at_gate, presence_at
from voelgoed.scanning.store import devices as store
from voelgoed.scanning.store import manifests, occupancy

PROVEN_MAX = 10_000


class DeviceCaller(msgspec.Struct, frozen=True):
    """A caller that proved to have a device's key; the device's row says whether it may be used."""

    caller: Caller
    key_version: int


def prove(master_key: MasterKey, token: str | None, origin: Origin) -> DeviceCaller:
    """Pure computation: nothing is looked up."""
    key = _proven.get((master_key, token or ""))
    if key is None:
        key = read_key(token or "")
        if key is None or not is_genuine(key, master_key.derivations):
            raise InvalidDeviceToken()
        _proven[master_key, token or ""] = key
    return DeviceCaller(_caller(key, origin), key.version)


_proven: LRUCache[tuple[MasterKey, str], DeviceKey] = LRUCache(PROVEN_MAX)
"""A computed key stays valid as long as the master key is the same."""


def _caller(key: DeviceKey, origin: Origin) -> Caller:
    return Caller(
        kind="device",
        id=key.device_id,
        organization_id=key.organization_id,
        ip=origin.ip,
        user_agent=origin.user_agent,
    )


async def own_device(tx: Transaction, proven: DeviceCaller) -> Device:
    device = await store.find_device(tx, _id(proven))
    if device is None:
        raise InvalidDeviceToken()
    if (refusal := refusal_to_scan(device, proven.key_version)) is not None:
        raise refusal
    return device


def _require_active(device: Device | None) -> Device:
    if device is None:
        raise InvalidDeviceToken()
    if device.deleted_at is not None or device.status != "active":
        raise DeviceInactive(status="revoked" if device.deleted_at else device.status)
    return device


async def require_usable(database: Database, proven: DeviceCaller) -> Caller:
    """Checks a device at the start of something that goes on for a while, such as a websocket."""
    async with database.transaction(proven.caller.organization_id) as tx:
        await own_device(tx, proven)
    return proven.caller


async def gate_of_device(tx: Transaction, caller: Caller) -> Gate | None:
    device = None if caller.id is None else await store.find_device(tx, caller.id)
    if device is None or device.gate_id is None:
        return None
    return await gate_anywhere(tx, device.gate_id)


async def read_station(database: Database, proven: DeviceCaller) -> Station:
    async with database.transaction(proven.caller.organization_id) as tx:
        return await _station(tx, await own_device(tx, proven), None)


async def beat(database: Database, proven: DeviceCaller, heartbeat: Heartbeat) -> Station:
    async with database.transaction(proven.caller.organization_id, durable=False) as tx:
        device = await own_device(tx, proven)
        measured = tx.now - heartbeat.device_time
        offset = measured.total_seconds()
        change = clock_change(device, ClockMeasurement(measured, tx.now))
        heard = msgspec.structs.replace(
            device,
            last_heartbeat=tx.now,
            battery_percent=heartbeat.battery_percent,
            queue_length=heartbeat.queue_length,
            app_version=heartbeat.app_version,
            manifest_version=heartbeat.manifest_version,
            clock_offset_seconds=offset,
            clock_measured_at=tx.now,
        )
        await store.note_heartbeat(tx, heard, change and change.periods)
        station = await _station(tx, heard, offset)
        if station.event_id is not None:
            await raise_alerts(tx, clock_jump(device, station.event_id, change, tx.now))
        return station


async def _station(tx: Transaction, device: Device, offset: float | None) -> Station:
    gate = None if device.gate_id is None else await gate_anywhere(tx, device.gate_id)
    event = None if gate is None else await event_of(tx, gate.event_id)
    versions = await manifests.find_versions(tx, [event.id]) if event else []
    counts = await occupancy.read_occupancy_facts(tx, event.id) if event else None
    present = presence_at(counts, tx.now) if counts else None
    return Station(
        device_id=device.id,
        name=device.name,
        organization_id=tx.organization_id,
        gate_id=gate and gate.id,
        gate_name=gate and gate.name,
        gate_status=gate and gate.status,
        event_id=event and event.id,
        event_name=event and event.name,
        event_status=event and event.status,
        gate_inside=at_gate(present, gate.id).inside if gate and present else None,
        event_inside=present and present.event.inside,
        event_capacity=event and event.capacity,
        manifest_version=versions[0].version if versions else None,
        server_time=tx.now,
        offset_seconds=offset,
    )


async def rotate_key(
    database: Database, master_key: MasterKey, proven: DeviceCaller, rotation: KeyRotation
) -> NewKey:
    """The next key; the present one is worthless from then on, and its socket is closed."""
    async with database.transaction(proven.caller.organization_id) as tx:
        before = _require_active(await store.lock_device(tx, _id(proven)))
        after = rotated(before, proven.key_version, rotation.rotation_id, tx.now)
        if after is None:
            raise DeviceInactive(status="key_rotated")
        if after.version != before.version:
            await store.update_device(tx, after)
            changes: dict[str, object] = {
                "key_version": after.key_version,
                "demanded_at": before.rotation_demanded_at,
            }
            await record(tx, proven.caller, "device_key_rotated", "ScanDevice", after.id, changes)
            tx.publish(device_topic(after.id), device_changed(after.id))
        return NewKey(
            device_id=after.id,
            api_key=key_of(master_key, tx.organization_id, after),
            key_version=after.key_version,
        )


def _id(proven: DeviceCaller) -> UUID:
    assert proven.caller.id is not None
    return proven.caller.id
