"""The organisation itself: read by everybody in it, renamed by few."""

from typing import Any, get_args

import httpx
import pytest

from tests.support import PASSWORD, Tenant
from voelgoed.accounts.actions.organizations import create_organization
from voelgoed.accounts.model import NewUser, Role, SlugTaken
from voelgoed.services import Services


async def rename(client: httpx.AsyncClient, tenant: Tenant, name: Any) -> httpx.Response:
    return await client.patch("/api/organization", json={"name": name}, headers=tenant.as_("owner"))


async def read(client: httpx.AsyncClient, tenant: Tenant, role: Role = "owner") -> dict[str, Any]:
    answer = await client.get("/api/organization", headers=tenant.as_(role))
    return answer.json()["data"]


@pytest.mark.parametrize("role", get_args(Role))
async def test_everybody_sees_their_own_organisation(
    client: httpx.AsyncClient, tenant: Tenant, other_tenant: Tenant, role: Role
) -> None:
    expected = {"id": str(tenant.id), "slug": tenant.slug, "name": "Acme"}
    assert await read(client, tenant, role) == expected
    assert (await read(client, other_tenant, role))["slug"] == other_tenant.slug


async def test_a_new_name_is_read_at_once(
    client: httpx.AsyncClient, tenant: Tenant, other_tenant: Tenant
) -> None:
    await read(client, tenant)  # now it is cached
    answer = await rename(client, tenant, "Acme & Daughters")
    assert answer.json()["data"]["name"] == "Acme & Daughters"
    assert await read(client, tenant) == answer.json()["data"]
    session = await client.get("/api/session", headers=tenant.as_("customer"))
    assert session.json()["data"]["organization"]["name"] == "Acme & Daughters"
    assert (await read(client, other_tenant))["name"] == "Rival"


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, None, 5])
async def test_a_name_that_is_none_is_refused(
    client: httpx.AsyncClient, tenant: Tenant, name: object
) -> None:
    answer = await rename(client, tenant, name)
    [fault] = answer.json()["details"]["faults"]
    assert (answer.status_code, fault["path"]) == (422, "$.name")
    assert (await read(client, tenant))["name"] == "Acme"


async def test_the_short_name_cannot_be_changed(client: httpx.AsyncClient, tenant: Tenant) -> None:
    answer = await client.patch(
        "/api/organization", json={"name": "A", "slug": "b"}, headers=tenant.as_("owner")
    )
    assert answer.status_code == 422


async def test_a_new_organisation_has_an_owner_who_can_log_in(
    client: httpx.AsyncClient, services: Services
) -> None:
    owner = NewUser(email="Boss@new.example", name="Boss", role="owner", password=PASSWORD)
    organization, owner_id = await create_organization(services.database, "new", "New", owner)
    given = {"organization": "new", "email": "boss@new.example", "password": PASSWORD}
    user = (await client.post("/api/sessions", json=given)).json()["data"]["user"]
    assert (user["id"], user["role"]) == (str(owner_id), "owner")
    assert user["organization_id"] == str(organization.id)


async def test_two_organisations_never_share_a_short_name(
    services: Services, tenant: Tenant
) -> None:
    owner = NewUser(email="a@b.example", name="A", role="owner", password=PASSWORD)
    with pytest.raises(SlugTaken):
        await create_organization(services.database, tenant.slug, "Second", owner)
    assert await services.database.find_organization(tenant.slug) == tenant.id
