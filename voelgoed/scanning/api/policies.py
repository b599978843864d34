from uuid import UUID

from litestar.di import NamedDependency as Given
from litestar.params import FromPath, JSONBody

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.events.model import EventNotFound
from voelgoed.infra.refusal import VersionConflict
from voelgoed.infra.shapes import Data
from voelgoed.scanning.actions import policies as actions
from voelgoed.scanning.model.policies import NewScanPolicy, ScanPolicy


@access.get("/api/events/{event_id:uuid}/scan-policy", "gates.read", EventNotFound)
async def read_scan_policy(event_id: FromPath[UUID], call: Given[Call]) -> Data[ScanPolicy]:
    """The scan policy of this event: the duplicate window, and the limits of alerts."""
    return Data(await actions.read_policy(call.database, call.caller, event_id))


@access.put(
    "/api/events/{event_id:uuid}/scan-policy",
    "gates.write",
    EventNotFound,
    VersionConflict,
    status=200,
)
async def put_scan_policy(
    event_id: FromPath[UUID], data: JSONBody[NewScanPolicy], call: Given[Call]
) -> Data[ScanPolicy]:
    """Replaces the policy for scans from now on; a field that is left out gets its default."""
    return Data(await actions.put_policy(call.database, call.caller, event_id, data))


ROUTES = [read_scan_policy, put_scan_policy]
