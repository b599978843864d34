from uuid import UUID

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.actions.users import add_user
from voelgoed.accounts.model import Caller, NewUser, Organization, OrganizationChange, SlugTaken
from voelgoed.accounts.store import organizations as store
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database, Transaction, refusing
from voelgoed.infra.ids import new_id
from voelgoed.infra.keys import key
from voelgoed.infra.passwords import hash_password
from voelgoed.infra.refusal import Missing

CACHED_S = 60.0  # how long a process killed between commit and drop can leave others behind


async def create_organization(
    database: Database, slug: str, name: str, owner: NewUser
) -> tuple[Organization, UUID]:
    """By the operator of the installation, with the owner who will run it."""
    organization = Organization(new_id(), slug, name)
    operator = Caller(kind="system", id=None, organization_id=organization.id)
    password_hash = await hash_password(owner.password)
    async with database.transaction(organization.id) as tx:
        with refusing("organization_slug_taken", SlugTaken):
            await store.insert_organization(tx, slug, name)
        await record(tx, operator, "organization_created", "Organization", organization.id)
        user = await add_user(tx, operator, owner, password_hash)
    return organization, user.id


async def read_organization(database: Database, cache: Cache, caller: Caller) -> Organization:
    async def load() -> Organization:
        async with database.transaction(caller.organization_id) as tx:
            return await organization_of(tx)

    return await cache.read(
        key(caller.organization_id, "organization"), Organization, load, ttl_s=CACHED_S
    )


async def rename_organization(
    database: Database, caller: Caller, change: OrganizationChange
) -> Organization:
    async with database.transaction(caller.organization_id) as tx:
        await store.rename_organization(tx, change.name)
        tx.drop(key(caller.organization_id, "organization"))
        await record(
            tx, caller, "organization_renamed", "Organization", caller.organization_id, change
        )
        return await organization_of(tx)


async def organization_of(tx: Transaction) -> Organization:
    organization = await store.read_organization(tx)
    if organization is None:
        raise Missing()
    return organization
