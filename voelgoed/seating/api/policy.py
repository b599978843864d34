from litestar.di import NamedDependency as Given
from litestar.params import JSONBody

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.infra.refusal import VersionConflict
from voelgoed.infra.shapes import Data
from voelgoed.seating.actions import policies as actions
from voelgoed.seating.model.policy import SeatingPolicy, SeatingPolicyChange


@access.get("/api/seating-policy", "seating_policy.read")
async def read_seating_policy(call: Given[Call]) -> Data[SeatingPolicy]:
    return Data(await actions.read_policy(call.database, call.caller))


@access.patch("/api/seating-policy", "seating_policy.write", VersionConflict)
async def change_seating_policy(
    data: JSONBody[SeatingPolicyChange], call: Given[Call]
) -> Data[SeatingPolicy]:
    """What is allowed and enforced at all events, and which of it no event may override."""
    return Data(await actions.change_policy(call.database, call.caller, data))


ROUTES = [read_seating_policy, change_seating_policy]
