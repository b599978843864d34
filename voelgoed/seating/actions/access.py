"""Who may book in a zone."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import msgspec
import structlog

from voelgoed.accounts.actions.standing import standing_of_user, standings
from voelgoed.accounts.model import Caller, Standing
from voelgoed.accounts.rules.permissions import may
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.rate_limit import Limit, take
from voelgoed.seating.actions.views import View, see
from voelgoed.seating.model.refusals import ZoneAccessDenied, ZoneNotFound
from voelgoed.seating.model.seats import AccessRequest, Admittance, ZoneAccess
from voelgoed.seating.rules.access import Denied, party_access, zone_access

log = structlog.get_logger()

QUESTIONS = Limit(60, timedelta(minutes=5))
"""By one user: enough to book with, too few to find out who is a member."""


async def check_access(
    database: Database,
    cache: Cache,
    caller: Caller,
    event_id: UUID,
    zone_id: UUID,
    request: AccessRequest,
) -> ZoneAccess:
    view = await see(database, cache, caller, event_id)
    if not view.zone(zone_id).enabled:
        raise ZoneNotFound(zone_id=str(zone_id))
    async with database.transaction(caller.organization_id) as tx:
        await take(tx, f"zone_access:user:{caller.id}", QUESTIONS, 1 + len(request.guests))
    async with database.transaction(caller.organization_id) as tx:
        access = await require_access(tx, caller, view, zone_id, request.guests)
    return access if may(caller.role, "memberships.read") else _told_to_booker(access)


def _told_to_booker(access: ZoneAccess) -> ZoneAccess:
    """Of guests not by which membership they may, nor whether by one."""
    booker, *guests = access.admitted
    hidden = [msgspec.structs.replace(guest, associated_membership_id=None) for guest in guests]
    return msgspec.structs.replace(access, admitted=[booker, *hidden])


async def require_access(
    tx: Transaction, caller: Caller, view: View, zone_id: UUID, guests: Sequence[str]
) -> ZoneAccess:
    """The whole party, or nobody: the caller, unless they sell to others, and every guest. Each
    person counts once. Tells by which membership each of them may."""
    zone = view.zone(zone_id).zone
    sells = bool(guests) and may(caller.role, "seats.sell_withheld")
    booker = None if caller.id is None or sells else await standing_of_user(tx, caller.id)
    named = [guest for guest in guests if not (booker and guest.lower() == booker.email)]
    party: list[Standing | None] = [*([] if sells else [booker]), *(await standings(tx, named))]
    verdict = party_access(zone, party, tx.now)
    about = {
        "org_id": str(tx.organization_id),
        "event_id": str(view.event.id),
        "zone_id": str(zone_id),
        "user_id": str(caller.id),
    }
    if isinstance(verdict, Denied):
        log.info("zone_access", **about, access_granted=False, reason=verdict.reason)
        raise _denial_of_buyer(zone_id, verdict) if sells else denial(zone_id, verdict, booker)
    log.info("zone_access", **about, access_granted=True, reason=zone.access_mode)
    return ZoneAccess(
        zone_id=zone_id,
        admitted=[
            Admittance(
                email=visitor.email if visitor else "",
                associated_membership_id=granted.membership_id,
            )
            for visitor, granted in zip(party, verdict, strict=True)
        ],
    )


async def denied_zones(tx: Transaction, caller: Caller, view: View) -> dict[int, Denied]:
    """Indexes of the zones that this caller may not book in. Whoever sells to others is asked
    about the buyer when the seats are held, not about themselves now."""
    if may(caller.role, "seats.sell_withheld"):
        return {}
    restricted = {
        index: zone.zone
        for index, zone in enumerate(view.zones)
        if zone.enabled and zone.zone.access_mode != "public"
    }
    if not restricted:
        return {}
    visitor = None if caller.id is None else await standing_of_user(tx, caller.id)
    verdicts = {index: zone_access(zone, visitor, tx.now) for index, zone in restricted.items()}
    return {index: verdict for index, verdict in verdicts.items() if isinstance(verdict, Denied)}


def _denial_of_buyer(zone_id: UUID, verdict: Denied) -> ZoneAccessDenied:
    """To whoever sells: which of the buyers, and why."""
    message = f"{verdict.email}: {verdict.message}"
    return ZoneAccessDenied(
        message, zone_id=str(zone_id), reason=verdict.reason, guest=verdict.email
    )


def denial(zone_id: UUID, verdict: Denied, booker: Standing | None = None) -> ZoneAccessDenied:
    """About a guest only that they do not qualify: not whether and since when they are a member."""
    if booker is None or verdict.email in (None, booker.email):
        return ZoneAccessDenied(verdict.message, zone_id=str(zone_id), reason=verdict.reason)
    message = f"{verdict.email} is neither entitled to this zone nor on its guest list."
    return ZoneAccessDenied(
        message, zone_id=str(zone_id), reason="guest_not_entitled", guest=verdict.email
    )
