"""Who an e-mail address or a user is to the doors of an event. Part of other actions."""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from voelgoed.accounts.model import Membership, Standing
from voelgoed.accounts.store import standing as store
from voelgoed.infra.database import Transaction


async def standings(tx: Transaction, emails: Sequence[str]) -> list[Standing]:
    """One for each address, in their order; an address given twice counts once."""
    wanted = list(dict.fromkeys(email.lower() for email in emails))
    return await _with_memberships(tx, await store.find_people(tx, wanted))


async def standing_of_user(tx: Transaction, user_id: UUID) -> Standing | None:
    person = await store.find_person(tx, user_id)
    if person is None:
        return None
    [standing] = await _with_memberships(tx, [person])
    return standing


async def _with_memberships(tx: Transaction, people: Sequence[store.Person]) -> list[Standing]:
    user_ids = [person.user_id for person in people if person.user_id is not None]
    memberships = defaultdict[UUID | None, list[Membership]](list)
    for membership in await store.list_memberships_of(tx, user_ids):
        memberships[membership.user_id].append(membership)
    return [
        Standing(
            email=person.email,
            user_id=person.user_id,
            role=person.role,
            memberships=memberships[person.user_id],
            whitelist_ids=frozenset(person.whitelist_ids),
        )
        for person in people
    ]
