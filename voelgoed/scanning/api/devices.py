from typing import Annotated
from uuid import UUID

from litestar.di import NamedDependency as Given
from litestar.params import FromPath, JSONBody, QueryParameter

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.events.model import EventNotFound, GateNotFound
from voelgoed.infra.refusal import VersionConflict
from voelgoed.infra.shapes import Data, Page
from voelgoed.infra.web import Limit, page
from voelgoed.scanning.access import device_get, device_of, device_post
from voelgoed.scanning.actions import devices as actions
from voelgoed.scanning.actions import own_device
from voelgoed.scanning.actions.manifests import Manifests
from voelgoed.scanning.model.devices import (
    DeviceChange,
    FleetDevice,
    Heartbeat,
    KeyRotation,
    NewKey,
    NewPairing,
    Pair,
    Paired,
    Pairing,
    Station,
)
from voelgoed.scanning.model.refusals import (
    DeviceAlreadyPaired,
    DeviceNotFound,
    PairingForAnotherDevice,
    PairingTokenNotFound,
    PairingTokenTaken,
    TooManyDevices,
)

EventId = Annotated[UUID | None, QueryParameter(description="Only devices at this event's gates.")]
After = Annotated[UUID | None, QueryParameter(description="The `next` of the page before.")]
WithRevoked = Annotated[bool, QueryParameter(description="Those that were revoked, too.")]


@access.post(
    "/api/scanning/pairings", "devices.write", GateNotFound, DeviceNotFound, PairingTokenTaken
)
async def create_pairing(data: JSONBody[NewPairing], call: Given[Call]) -> Data[Pairing]:
    """Makes a token by which one device is paired, once and within five minutes; with `challenge`,
    approves a device that shows its own token. With `replaces_device_id` a device is paired again;
    without it no existing device can be taken over."""
    return Data(await actions.create_pairing(call.database, call.caller, data))


@access.public_post(
    "/api/scanning/pair",
    PairingTokenNotFound,
    DeviceAlreadyPaired,
    PairingForAnotherDevice,
    TooManyDevices,
    status=201,
)
async def pair_device(data: JSONBody[Pair], call: Given[Call]) -> Paired:
    """Exchanges a device's token for its key. A device's own token is unknown until somebody has
    approved it; ask again every few seconds."""
    return await actions.pair(call.database, call.master_key, call.origin, data)


@access.get("/api/scanning/devices", "devices.read", EventNotFound)
async def list_devices(
    call: Given[Call],
    event_id: EventId = None,
    with_revoked: WithRevoked = False,
    after: After = None,
    limit: Limit = 50,
) -> Page[FleetDevice]:
    found = await actions.list_devices(
        call.database, call.caller, event_id, with_revoked, after, limit + 1
    )
    return page(found, limit, lambda device: device.id)


@access.get("/api/scanning/devices/{device_id:uuid}", "devices.read", DeviceNotFound)
async def read_device(device_id: FromPath[UUID], call: Given[Call]) -> Data[FleetDevice]:
    return Data(await actions.read_device(call.database, call.caller, device_id))


@access.patch(
    "/api/scanning/devices/{device_id:uuid}",
    "devices.write",
    DeviceNotFound,
    GateNotFound,
    VersionConflict,
)
async def change_device(
    device_id: FromPath[UUID], data: JSONBody[DeviceChange], call: Given[Call]
) -> Data[FleetDevice]:
    """Changes a device's name or gate, or deactivates it for a while."""
    return Data(await actions.change_device(call.database, call.caller, device_id, data))


@access.delete("/api/scanning/devices/{device_id:uuid}", "devices.write", DeviceNotFound)
async def revoke_device(device_id: FromPath[UUID], call: Given[Call]) -> None:
    """Revokes a lost or stolen device: its key is worthless at once."""
    await actions.revoke_device(call.database, call.caller, device_id)


@access.post(
    "/api/scanning/devices/{device_id:uuid}/key-rotations",
    "devices.write",
    DeviceNotFound,
    status=202,
)
async def demand_rotation(device_id: FromPath[UUID], call: Given[Call]) -> Data[FleetDevice]:
    """Demands that a device rotates its key. From now on the present key is good for that and for
    nothing else: every request is refused with 401 and the status `rotation_demanded`, and the
    device asks for the next key by itself, so it need not be paired again. To shut a device out,
    revoke it."""
    return Data(await actions.demand_rotation(call.database, call.caller, device_id))


@device_get("/api/scanning/station")
async def read_station(call: Given[Call]) -> Data[Station]:
    """The station of the device that asks: its name, gate and event."""
    return Data(await own_device.read_station(call.database, device_of(call)))


@device_post("/api/scanning/heartbeat")
async def send_heartbeat(data: JSONBody[Heartbeat], call: Given[Call]) -> Data[Station]:
    """The heartbeat of a device, every half minute. The answer has its present station, and the
    error of its clock."""
    proven = device_of(call)
    station = await own_device.beat(call.database, proven, data)
    if station.manifest_version is not None and station.event_id is not None:
        manifests: Manifests = call.parts.manifests
        manifests.refresh_soon(station.organization_id, station.event_id)
    return Data(station)


@device_post("/api/scanning/key-rotations", status=201)
async def rotate_device_key(data: JSONBody[KeyRotation], call: Given[Call]) -> Data[NewKey]:
    """Gives a device its next key. The present one is worthless from then on, except to ask again
    under the same `rotation_id` for five minutes, should the answer get lost.
    Asked again with the next key, it is the same key."""
    return Data(await own_device.rotate_key(call.database, call.master_key, device_of(call), data))


ROUTES = [
    create_pairing,
    pair_device,
    list_devices,
    read_device,
    change_device,
    revoke_device,
    demand_rotation,
    read_station,
    send_heartbeat,
    rotate_device_key,
]
