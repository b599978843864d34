from uuid import UUID

from litestar.di import NamedDependency as Given
from litestar.params import FromPath

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.events.model import EventNotFound
from voelgoed.infra.idempotency import IdempotencyKeyReused
from voelgoed.infra.master_key import MasterKeyMissing
from voelgoed.infra.refusal import VersionConflict
from voelgoed.infra.shapes import Data
from voelgoed.infra.web import IdempotencyKey
from voelgoed.ticketing.actions import event_keys as actions
from voelgoed.ticketing.model.event_keys import EventKey, TooManyEventKeys


@access.get("/api/events/{event_id:uuid}/keys", "event_keys.read", EventNotFound)
async def list_event_keys(event_id: FromPath[UUID], call: Given[Call]) -> Data[list[EventKey]]:
    """What barcodes of this event are verified with; none before the first is signed."""
    return Data(await actions.list_event_keys(call.database, call.caller, event_id))


@access.post(
    "/api/events/{event_id:uuid}/keys",
    "event_keys.write",
    EventNotFound,
    TooManyEventKeys,
    VersionConflict,
    MasterKeyMissing,
    IdempotencyKeyReused,
)
async def rotate_event_key(
    event_id: FromPath[UUID], call: Given[Call], idempotency_key: IdempotencyKey = None
) -> Data[EventKey]:
    """From now on a new key signs. What the ones before signed is still good."""
    key = access.once_for(call.caller, idempotency_key, "rotate_event_key", event_id)
    return Data(
        await actions.rotate_event_key(call.database, call.master_key, call.caller, event_id, key)
    )


ROUTES = [list_event_keys, rotate_event_key]
