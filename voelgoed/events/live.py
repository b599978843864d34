"""Who may follow an event."""

from uuid import UUID

from voelgoed.accounts.model import Caller
from voelgoed.events.actions.events import visible_event
from voelgoed.infra.database import Transaction


async def may_follow_event(tx: Transaction, caller: Caller, event_id: UUID) -> None:
    """Raises when this caller cannot see the event."""
    await visible_event(tx, caller, event_id)
