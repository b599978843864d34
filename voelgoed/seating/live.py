"""Who may follow an event's seats, and who its counts."""

from uuid import UUID

from voelgoed.accounts.model import Caller
from voelgoed.accounts.rules.permissions import may
from voelgoed.events.actions.events import visible_event
from voelgoed.events.model import EventNotFound
from voelgoed.infra.database import Transaction


async def may_follow_seats(tx: Transaction, caller: Caller, event_id: UUID) -> None:
    await visible_event(tx, caller, event_id)


async def may_follow_occupancy(
    tx: Transaction, caller: Caller, organization_id: UUID, event_id: UUID
) -> None:
    """Staff of the organisation; for others there is no such thing."""
    if organization_id != caller.organization_id or not may(caller.role, "layouts.read"):
        raise EventNotFound()
    await visible_event(tx, caller, event_id)
