from typing import Annotated
from uuid import UUID

from litestar.di import NamedDependency as Given
from litestar.params import FromPath, JSONBody, QueryParameter

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.events.model import EventNotFound
from voelgoed.infra.shapes import Data, Page
from voelgoed.infra.web import Limit, page
from voelgoed.scanning.actions import recoveries as actions
from voelgoed.scanning.actions.recovery_review import review
from voelgoed.scanning.api.syncs import BATCH_BYTES_MAX
from voelgoed.scanning.model.recoveries import (
    ExportedQueue,
    Imported,
    Recovery,
    RecoveryInFull,
    RecoveryTransition,
)
from voelgoed.scanning.model.refusals import (
    BatchIdReused,
    BatchMalformed,
    DeviceNotAssignedToGate,
    DeviceNotFound,
    RecoveryNotFound,
    RecoveryReviewed,
)
from voelgoed.scanning.model.sync import RecoveryState

InState = Annotated[
    RecoveryState | None,
    QueryParameter(name="state", description="Only those in this state."),
]
After = Annotated[UUID | None, QueryParameter(description="The `next` of the page before.")]


@access.post(
    "/api/scanning/recoveries",
    "devices.write",
    BatchIdReused,
    BatchMalformed,
    DeviceNotAssignedToGate,
    DeviceNotFound,
    status=200,
    body_bytes_max=BATCH_BYTES_MAX,
    is_packed=True,
)
async def import_queue(data: JSONBody[ExportedQueue], call: Given[Call]) -> Data[Imported]:
    """Imports the file that a device exported because it could not send its scans: it was revoked,
    or its clock was far off. They are stored, and count for nothing until somebody has reviewed
    them. The same file again gets the same answer."""
    return Data(await actions.import_queue(call.database, call.master_key, call.caller, data))


@access.get("/api/scanning/events/{event_id:uuid}/recoveries", "admissions.read", EventNotFound)
async def list_recoveries(
    event_id: FromPath[UUID],
    call: Given[Call],
    in_state: InState = None,
    after: After = None,
    limit: Limit = 50,
) -> Page[Recovery]:
    """The imports of scans that devices could not send; the newest first."""
    found = await actions.list_recoveries(
        call.database, call.caller, event_id, in_state, after, limit + 1
    )
    return page(found, limit, lambda each: each.id)


@access.get("/api/scanning/recoveries/{batch_id:uuid}", "admissions.read", RecoveryNotFound)
async def read_recovery(
    batch_id: FromPath[UUID], call: Given[Call], after: After = None, limit: Limit = 50
) -> Data[RecoveryInFull]:
    """One recovery with its scans, whether each is signed, and its resolution."""
    return Data(await actions.read_recovery(call.database, call.caller, batch_id, after, limit))


@access.post(
    "/api/scanning/recoveries/{batch_id:uuid}/transitions",
    "admissions.write",
    RecoveryNotFound,
    RecoveryReviewed,
    status=200,
)
async def review_recovery(
    batch_id: FromPath[UUID], data: JSONBody[RecoveryTransition], call: Given[Call]
) -> Data[Recovery]:
    """Accepts the scans, as if the device had sent them, or rejects them; once. A scan that the
    device did not sign never counts."""
    return Data(await review(call.database, call.caller, batch_id, data))


ROUTES = [import_queue, list_recoveries, read_recovery, review_recovery]
