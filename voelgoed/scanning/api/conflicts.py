from typing import Annotated
from uuid import UUID

from litestar.di import NamedDependency as Given
from litestar.params import FromPath, JSONBody, QueryParameter

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.events.model import EventNotFound
from voelgoed.infra.refusal import VersionConflict
from voelgoed.infra.shapes import Data, Page
from voelgoed.infra.web import Limit, page
from voelgoed.scanning.actions import conflicts as actions
from voelgoed.scanning.model.conflicts import (
    Conflict,
    ConflictInFull,
    ConflictState,
    ConflictTransition,
)
from voelgoed.scanning.model.refusals import ConflictNotFound

InState = Annotated[
    ConflictState | None,
    QueryParameter(name="state", description="Only those in this state."),
]
After = Annotated[UUID | None, QueryParameter(description="The `next` of the page before.")]


@access.get("/api/scanning/events/{event_id:uuid}/conflicts", "admissions.read", EventNotFound)
async def list_conflicts(
    event_id: FromPath[UUID],
    call: Given[Call],
    in_state: InState = None,
    after: After = None,
    limit: Limit = 50,
) -> Page[ConflictInFull]:
    """Scans of one ticket that contradict each other, both side by side; the newest first."""
    found = await actions.list_conflicts(
        call.database, call.caller, event_id, in_state, after, limit + 1
    )
    return page(found, limit, lambda each: each.conflict.id)


@access.get("/api/scanning/conflicts/{conflict_id:uuid}", "admissions.read", ConflictNotFound)
async def read_conflict(conflict_id: FromPath[UUID], call: Given[Call]) -> Data[ConflictInFull]:
    return Data(await actions.read_conflict(call.database, call.caller, conflict_id))


@access.post(
    "/api/scanning/conflicts/{conflict_id:uuid}/transitions",
    "admissions.write",
    ConflictNotFound,
    VersionConflict,
    status=200,
)
async def move_conflict(
    conflict_id: FromPath[UUID], data: JSONBody[ConflictTransition], call: Given[Call]
) -> Data[Conflict]:
    """Review or dismiss it, or open it again, with a note that says why."""
    return Data(await actions.move_conflict(call.database, call.caller, conflict_id, data))


ROUTES = [list_conflicts, read_conflict, move_conflict]
