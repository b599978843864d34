"""The link that opens an order's page: whoever has it needs no account, and nobody guesses it."""

from contextlib import suppress
from datetime import timedelta
from hmac import compare_digest
from math import ceil
from uuid import UUID

from voelgoed.accounts.actions.organizations import organization_of
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.rate_limit import Limit, take, windows
from voelgoed.infra.refusal import Missing, RateLimited
from voelgoed.ticketing.actions.order_views import read_order_link
from voelgoed.ticketing.model.refusals import OrderNotFound
from voelgoed.ticketing.store.orders import find_secret

WRONG_LINKS_PER_IP = Limit(20, timedelta(minutes=1))
"""A short time, because a family, or a venue's whole network, has one address."""


async def open_order_link(database: Database, link: str, ip: str) -> tuple[UUID, UUID]:
    """The organisation and the order. Whatever is wrong with a link, nobody is told what."""
    named = read_order_link(link)
    if named is None:
        raise OrderNotFound()
    organization_id, order_id, given = named
    async with database.transaction(organization_id) as tx:
        await _require_few_wrong_ones(tx, ip)
        secret = await find_secret(tx, order_id)
    if not compare_digest((secret or "").encode(), given.encode()):
        await _count_wrong_one(database, organization_id, ip)
        raise OrderNotFound()
    return organization_id, order_id


async def _require_few_wrong_ones(tx: Transaction, ip: str) -> None:
    window = (await windows(tx, [_key(ip)])).get(_key(ip))
    if window is not None and window.used >= WRONG_LINKS_PER_IP.count:
        raise RateLimited(retry_after_seconds=ceil((window.ends_at - tx.now).total_seconds()))


async def _count_wrong_one(database: Database, organization_id: UUID, ip: str) -> None:
    """Where there is such an organisation: nobody fills tables of others that do not exist."""
    async with database.transaction(organization_id) as tx:
        with suppress(Missing):
            await organization_of(tx)
            await take(tx, _key(ip), WRONG_LINKS_PER_IP)


def _key(ip: str) -> str:
    return f"order-link-from:{ip}"
