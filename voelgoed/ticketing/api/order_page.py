"""The page of an order, for whoever has its link. Whatever goes wrong is explained on a page too."""

import re
from functools import partial
from typing import Any
from uuid import UUID

from litestar import Request, Response, get
from litestar.datastructures import CacheControlHeader
from litestar.di import NamedDependency as Given
from litestar.params import FromPath, FromQuery
from litestar.response import File

from voelgoed.accounts.access import Call
from voelgoed.infra.refusal import Refusal
from voelgoed.infra.web import headers_of, status_of
from voelgoed.ticketing.actions.documents import Documents
from voelgoed.ticketing.actions.order_links import open_order_link
from voelgoed.ticketing.actions.order_views import PAGE
from voelgoed.ticketing.api.files import PDF, SVG, file
from voelgoed.ticketing.forms.page import (
    STYLE_FILE,
    STYLE_URL,
    missing_page,
    order_page,
    problem_page,
)
from voelgoed.ticketing.forms.pdf_layouts import Size
from voelgoed.ticketing.forms.qr import qr_svg
from voelgoed.ticketing.model.faces import OrderFace
from voelgoed.ticketing.model.refusals import OrderNotFound, TicketNotFound

HTML = "text/html"
STYLE_KEPT = CacheControlHeader(public=True, max_age=3600)
_FILE = re.compile(r"(?P<id>[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(?P<kind>svg|pdf)")


def explain(_: Request[Any, Any, Any], refusal: Refusal) -> Response[str]:
    is_lost = isinstance(refusal, OrderNotFound)
    html = missing_page() if is_lost else problem_page(refusal.message)
    return _page(html, status_of(type(refusal)), headers_of(refusal))


def _page(html: str, status: int = 200, headers: dict[str, str] | None = None) -> Response[str]:
    headers = {**(headers or {}), "Cache-Control": "no-store", "X-Robots-Tag": "noindex"}
    return Response(html, status_code=status, media_type=HTML, headers=headers)


page = partial(
    get,
    opt={"public": True},
    include_in_schema=False,
    exception_handlers={Refusal: explain},
)


@page(PAGE)
async def show_no_order() -> Response[str]:
    """The rest of the link was cut off."""
    raise OrderNotFound()


@page(PAGE + "{link:str}")
async def show_order(link: FromPath[str], call: Given[Call]) -> Response[str]:
    return _page(await _documents(call).drawn(order_page, await _order(call, link)))


@page(PAGE + "{link:str}/tickets.pdf")
async def show_order_pdf(
    link: FromPath[str], call: Given[Call], size: FromQuery[Size] = "a4"
) -> Response[bytes]:
    order = await _order(call, link)
    pdf = await _documents(call).pdf(order.tickets, size)
    return file(pdf, PDF, f"tickets-{order.number}.pdf")


@page(PAGE + "{link:str}/tickets/{name:str}")
async def show_ticket_file(
    link: FromPath[str], name: FromPath[str], call: Given[Call], size: FromQuery[Size] = "a4"
) -> Response[bytes]:
    """`<id>.pdf` or `<id>.svg`."""
    documents, opened = _documents(call), await _opened(call, link)
    named = _FILE.fullmatch(name)
    if named is None:
        raise TicketNotFound()
    ticket = await documents.ticket_of(*opened, UUID(named["id"]))
    if named["kind"] == "pdf":
        return file(await documents.pdf([ticket], size), PDF, f"ticket-{ticket.code}.pdf")
    picture = await documents.drawn(qr_svg, ticket.barcode, f"QR code of ticket {ticket.code}")
    return file(picture, SVG, f"ticket-{ticket.code}.svg")


@get(STYLE_URL, opt={"public": True}, include_in_schema=False, cache_control=STYLE_KEPT)
async def show_style() -> File:
    return File(STYLE_FILE, content_disposition_type="inline", media_type="text/css")


def _documents(call: Call) -> Documents:
    return call.parts.documents


async def _order(call: Call, link: str) -> OrderFace:
    return await _documents(call).order_face(*await _opened(call, link), PAGE + link)


async def _opened(call: Call, link: str) -> tuple[UUID, UUID]:
    return await open_order_link(call.database, link, call.origin.ip)


ROUTES = [show_no_order, show_order, show_order_pdf, show_ticket_file, show_style]
