from collections.abc import Sequence
from uuid import UUID

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller
from voelgoed.events.actions.events import event_of
from voelgoed.infra.changes import changed
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.refusal import VersionConflict
from voelgoed.scanning.model.policies import NewScanPolicy, ScanPolicy
from voelgoed.scanning.store import policies as store


async def read_policy(database: Database, caller: Caller, event_id: UUID) -> ScanPolicy:
    async with database.transaction(caller.organization_id) as tx:
        await event_of(tx, event_id)
        return (await policies_of(tx, [event_id]))[event_id]


async def put_policy(
    database: Database, caller: Caller, event_id: UUID, new: NewScanPolicy
) -> ScanPolicy:
    """Changes the policy for scans from now on."""
    async with database.transaction(caller.organization_id) as tx:
        await event_of(tx, event_id)
        before = (await policies_of(tx, [event_id]))[event_id]
        after, differences = changed(before, new, tx.now)
        if not await store.write_policy(tx, after):
            raise VersionConflict()
        await record(tx, caller, "scan_policy_changed", "Event", event_id, differences)
        return after


async def policies_of(tx: Transaction, event_ids: Sequence[UUID]) -> dict[UUID, ScanPolicy]:
    """The policy of each event; the defaults where nobody changed it."""
    kept = {policy.event_id: policy for policy in await store.find_policies(tx, event_ids)}
    return {each: kept.get(each) or ScanPolicy(event_id=each) for each in event_ids}
