from datetime import datetime

from voelgoed.accounts.model import Membership


def in_force(membership: Membership, now: datetime) -> bool:
    """Whether it opens doors at this moment."""
    return (
        membership.status == "active"
        and membership.valid_from <= now
        and (membership.valid_to is None or now < membership.valid_to)
    )
