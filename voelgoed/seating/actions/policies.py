from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller
from voelgoed.infra.changes import changed
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.refusal import VersionConflict
from voelgoed.seating.model.policy import SeatingPolicy, SeatingPolicyChange
from voelgoed.seating.store import policies as store


async def read_policy(database: Database, caller: Caller) -> SeatingPolicy:
    async with database.transaction(caller.organization_id) as tx:
        return await policy_of(tx)


async def change_policy(
    database: Database, caller: Caller, change: SeatingPolicyChange
) -> SeatingPolicy:
    """For layouts and bookings from now on; what was sold under the old one stays sold."""
    async with database.transaction(caller.organization_id) as tx:
        after, differences = changed(await policy_of(tx), change, tx.now)
        if not await store.write_policy(tx, after):
            raise VersionConflict()
        await record(tx, caller, "seating_policy_changed", "SeatingPolicy", after.id, differences)
        return after


async def policy_of(tx: Transaction) -> SeatingPolicy:
    """The defaults, until somebody changes one."""
    policy = await store.find_policy(tx)
    if policy is None:
        return SeatingPolicy(id=tx.organization_id, created_at=tx.now, updated_at=tx.now)
    return policy
