"""What opens doors to an e-mail address: its user's role and memberships, and whitelists."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from tests.support import Tenant
from voelgoed.accounts.actions.memberships import grant_membership
from voelgoed.accounts.actions.standing import standing_of_user, standings
from voelgoed.accounts.actions.users import change_user
from voelgoed.accounts.actions.whitelists import add_entry, create_whitelist, remove_entry
from voelgoed.accounts.model import (
    NewMembership,
    NewWhitelist,
    NewWhitelistEntry,
    Standing,
    User,
    UserChange,
)
from voelgoed.accounts.store.users import insert_user
from voelgoed.infra.ids import new_id
from voelgoed.services import Services

CUSTOMER = "customer@acme.example"
STRANGER = "stranger@friend.example"
NEW_YEAR = datetime(2030, 1, 1, tzinfo=UTC)


def nobody(email: str, *whitelist_ids: UUID) -> Standing:
    return Standing(
        email=email,
        user_id=None,
        role=None,
        memberships=[],
        whitelist_ids=frozenset(whitelist_ids),
    )


async def read(services: Services, tenant: Tenant, *emails: str) -> list[Standing]:
    async with services.database.transaction(tenant.id) as tx:
        return await standings(tx, emails)


async def read_user(services: Services, tenant: Tenant, user_id: UUID) -> Standing | None:
    async with services.database.transaction(tenant.id) as tx:
        return await standing_of_user(tx, user_id)


async def grant(services: Services, tenant: Tenant, user_id: UUID, **changes: Any) -> UUID:
    new = NewMembership(**{"tier": "voelgoed_vriendinne", "valid_from": NEW_YEAR, **changes})
    granted = await grant_membership(services.database, tenant.caller(), user_id, new, None)
    return granted.id


async def whitelist(services: Services, tenant: Tenant, name: str, *emails: str) -> UUID:
    caller = tenant.caller()
    created = await create_whitelist(services.database, caller, NewWhitelist(name=name), None)
    for email in emails:
        await add_entry(services.database, caller, created.id, NewWhitelistEntry(email=email))
    return created.id


async def disable(services: Services, tenant: Tenant, user_id: UUID) -> None:
    change = UserChange(version=1, status="disabled")
    await change_user(services.database, tenant.caller(), user_id, change)


async def test_a_user_stands_with_role_memberships_and_whitelists(
    services: Services, tenant: Tenant
) -> None:
    user_id = tenant.users["customer"]
    membership_id = await grant(services, tenant, user_id)
    friends = await whitelist(services, tenant, "Friends", CUSTOMER, STRANGER)
    press = await whitelist(services, tenant, "Press", CUSTOMER)
    await whitelist(services, tenant, "Family", STRANGER)

    [standing] = await read(services, tenant, CUSTOMER)
    assert (standing.email, standing.user_id, standing.role) == (CUSTOMER, user_id, "customer")
    assert [membership.id for membership in standing.memberships] == [membership_id]
    assert standing.whitelist_ids == {friends, press}


async def test_a_stranger_has_whitelists_only(services: Services, tenant: Tenant) -> None:
    friends = await whitelist(services, tenant, "Friends", STRANGER)
    assert await read(services, tenant, STRANGER) == [nobody(STRANGER, friends)]


async def test_somebody_we_have_never_heard_of_has_nothing(
    services: Services, tenant: Tenant
) -> None:
    assert await read(services, tenant, STRANGER) == [nobody(STRANGER)]


async def test_all_memberships_are_told_whatever_their_state(
    services: Services, tenant: Tenant
) -> None:
    user_id = tenant.users["customer"]
    await grant(services, tenant, user_id, status="suspended")
    await grant(services, tenant, user_id, status="cancelled", tier="gold")
    await grant(services, tenant, user_id, valid_to=NEW_YEAR + timedelta(days=1))
    [standing] = await read(services, tenant, CUSTOMER)
    assert [(each.status, each.tier) for each in standing.memberships] == [
        ("suspended", "voelgoed_vriendinne"),
        ("cancelled", "gold"),
        ("active", "voelgoed_vriendinne"),
    ]
    assert [each.valid_to for each in standing.memberships] == [
        None,
        None,
        NEW_YEAR + timedelta(days=1),
    ]


async def test_the_order_of_addresses_is_kept_and_each_counts_once(
    services: Services, tenant: Tenant
) -> None:
    await grant(services, tenant, tenant.users["owner"])
    asked = [STRANGER, "Owner@Acme.example", CUSTOMER, STRANGER.upper(), "owner@acme.example"]
    found = await read(services, tenant, *asked)
    assert [standing.email for standing in found] == [STRANGER, "owner@acme.example", CUSTOMER]
    assert [standing.role for standing in found] == [None, "owner", "customer"]
    assert [len(standing.memberships) for standing in found] == [0, 1, 0]


async def test_no_addresses_have_no_standings(services: Services, tenant: Tenant) -> None:
    assert await read(services, tenant) == []


async def test_a_disabled_user_is_nobody_but_stays_on_whitelists(
    services: Services, tenant: Tenant
) -> None:
    user_id = tenant.users["customer"]
    await grant(services, tenant, user_id)
    friends = await whitelist(services, tenant, "Friends", CUSTOMER)
    await disable(services, tenant, user_id)
    assert await read(services, tenant, CUSTOMER) == [nobody(CUSTOMER, friends)]
    assert await read_user(services, tenant, user_id) is None


async def test_a_user_stands_as_the_users_address_does(services: Services, tenant: Tenant) -> None:
    user_id = tenant.users["customer"]
    await grant(services, tenant, user_id)
    await whitelist(services, tenant, "Friends", CUSTOMER)
    assert [await read_user(services, tenant, user_id)] == await read(services, tenant, CUSTOMER)


async def test_an_unknown_user_has_no_standing(services: Services, tenant: Tenant) -> None:
    assert await read_user(services, tenant, uuid4()) is None


async def test_who_was_taken_off_a_whitelist_is_off_it(services: Services, tenant: Tenant) -> None:
    friends = await whitelist(services, tenant, "Friends", STRANGER)
    await remove_entry(services.database, tenant.caller(), friends, STRANGER)
    assert await read(services, tenant, STRANGER) == [nobody(STRANGER)]


async def test_another_organisations_memberships_and_whitelists_never_count(
    services: Services, tenant: Tenant, other_tenant: Tenant
) -> None:
    namesake = await a_user(services, other_tenant, CUSTOMER)
    theirs = await grant(services, other_tenant, namesake)
    their_list = await whitelist(services, other_tenant, "Friends", CUSTOMER)

    [ours] = await read(services, tenant, CUSTOMER)
    assert (ours.user_id, ours.memberships) == (tenant.users["customer"], [])
    assert ours.whitelist_ids == frozenset()
    assert await read_user(services, tenant, namesake) is None

    [standing] = await read(services, other_tenant, CUSTOMER)
    assert standing.user_id == namesake
    assert [membership.id for membership in standing.memberships] == [theirs]
    assert standing.whitelist_ids == {their_list}


async def a_user(services: Services, tenant: Tenant, email: str) -> UUID:
    async with services.database.transaction(tenant.id) as tx:
        user = User(
            id=new_id(),
            organization_id=tenant.id,
            email=email,
            name="Namesake",
            role="organiser",
            status="active",
            version=1,
            created_at=tx.now,
            updated_at=tx.now,
        )
        await insert_user(tx, user, "never logs in")
    return user.id
