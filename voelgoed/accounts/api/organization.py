from litestar.di import NamedDependency as Given
from litestar.params import JSONBody

from voelgoed.accounts import access
from voelgoed.accounts.actions import organizations as actions
from voelgoed.accounts.model import Caller, Organization, OrganizationChange
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database
from voelgoed.infra.shapes import Data


@access.get("/api/organization", "organization.read")
async def read_organization(
    caller: Given[Caller], database: Given[Database], cache: Given[Cache]
) -> Data[Organization]:
    """My organisation."""
    return Data(await actions.read_organization(database, cache, caller))


@access.patch("/api/organization", "organization.write")
async def rename_organization(
    data: JSONBody[OrganizationChange], caller: Given[Caller], database: Given[Database]
) -> Data[Organization]:
    """Give it another name."""
    return Data(await actions.rename_organization(database, caller, data))


ROUTES = [read_organization, rename_organization]
