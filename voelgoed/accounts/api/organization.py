from litestar.di import NamedDependency as Given
from litestar.params import JSONBody

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.accounts.actions import organizations as actions
from voelgoed.accounts.model import Organization, OrganizationChange
from voelgoed.infra.shapes import Data


@access.get("/api/organization", "organization.read")
async def read_organization(call: Given[Call]) -> Data[Organization]:
    """My organisation."""
    return Data(await actions.read_organization(call.database, call.cache, call.caller))


@access.patch("/api/organization", "organization.write")
async def rename_organization(
    data: JSONBody[OrganizationChange], call: Given[Call]
) -> Data[Organization]:
    """Give it another name."""
    return Data(await actions.rename_organization(call.database, call.caller, data))


ROUTES = [read_organization, rename_organization]
