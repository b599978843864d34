"""An order as its buyer sees it: one page without scripts, for screens of any width and paper.

Whoever has the link sees it, so it is for no search engine and tells no other site where it is.
"""

import re
from collections.abc import Iterable
from html import escape
from pathlib import Path

from voelgoed.ticketing.forms.qr import qr_svg
from voelgoed.ticketing.model.faces import OrderFace, TicketFace
from voelgoed.ticketing.model.orders import OrderStatus
from voelgoed.ticketing.model.tickets import TicketStatus

STYLE_URL = "/orders/style.css"
"""Served from `STYLE_FILE`; the content policy allows no style inside the page."""
STYLE_FILE = Path(__file__).with_name("order.css")

ORDER_WORDS: dict[OrderStatus, tuple[str, str, str]] = {
    "pending": ("warn", "Not paid yet", "Your tickets will be here as soon as it is paid."),
    "paid": ("good", "Paid", "At the gate, show the code of each ticket, here or on paper."),
    "cancelled": ("bad", "Cancelled", "This order was cancelled."),
    "expired": ("bad", "Expired", "It was not paid in time, and its seats were given back."),
    "refund_due": ("warn", "Refund due", "You will get your money back."),
    "partially_refunded": ("warn", "Partly refunded", "The tickets not struck out are still good."),
    "refunded": ("bad", "Refunded", "None of its tickets is good any more."),
}
TICKET_WORDS: dict[TicketStatus, tuple[str, str]] = {
    "active": ("good", "Valid"),
    "scanned": ("info", "Scanned"),
    "used": ("neutral", "Used"),
    "voided": ("bad", "Void"),
    "refunded": ("bad", "Refunded"),
}

_UNSHOWABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def order_page(order: OrderFace) -> str:
    tone, label, sentence = ORDER_WORDS[order.status]
    rows = [("Buyer", order.buyer_name), ("Total", order.total), ("Refunded", order.refunded)]
    return page(
        f"Order {order.number}: {order.event_name}",
        f"<header><p>{_name(order.organization_name)}</p><h1>{_name(order.event_name)}</h1>"
        f'<p class="when">{_text(order.starts_at)}</p><p>{_venue(order)}</p></header>'
        f'<main><section class="card"><h2>Order {_text(order.number)}</h2>'
        f"<p>{_badge(tone, label)} {sentence}</p>{_list('facts', rows)}{_order_links(order)}"
        f"</section>{_tickets(order)}</main>",
    )


def missing_page() -> str:
    return page(
        "No such order",
        "<header><p>Voelgoed</p><h1>There is no order at this address</h1></header>"
        '<main><section class="card"><p>The link may have been cut off: open it from the message'
        " we sent you, or copy all of it.</p><p>If it still leads here, ask whoever sold you the"
        " tickets to send it again.</p></section></main>",
    )


def nowhere_page() -> str:
    return page(
        "Nothing here",
        "<header><p>Voelgoed</p><h1>There is nothing at this address</h1></header>"
        '<main><section class="card"><p>It may have been mistyped, or cut off.</p>'
        '<p class="links"><a href="/">To the beginning</a></p></section></main>',
    )


def problem_page(sentence: str) -> str:
    return page(
        "Not possible",
        "<header><p>Voelgoed</p><h1>This cannot be shown</h1></header>"
        f'<main><section class="card"><p>{_text(sentence)}</p></section></main>',
    )


def page(title: str, body: str) -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><meta name="theme-color" content="#0a3a4c">'
        '<meta name="robots" content="noindex"><meta name="referrer" content="no-referrer">'
        f'<title>{_text(title)}</title><link rel="icon" href="data:,">'
        f'<link rel="stylesheet" href="{STYLE_URL}"></head>\n<body>{body}</body></html>\n'
    )


def _venue(order: OrderFace) -> str:
    return ", ".join(_name(part) for part in (order.venue_name, order.venue_address) if part)


def _order_links(order: OrderFace) -> str:
    what = _which_tickets(order)
    links = [
        (order.pdf_url, f"PDF of {what}, A4"),
        (order.phone_pdf_url, f"PDF of {what}, for a phone"),
    ]
    return _links(links) if order.valid_tickets else ""


def _which_tickets(order: OrderFace) -> str:
    count = len(order.valid_tickets)
    if count < len(order.tickets):
        return "the valid ticket" if count == 1 else f"the {count} valid tickets"
    return "the ticket" if count == 1 else f"all {count} tickets"


def _tickets(order: OrderFace) -> str:
    if not order.tickets:
        return ""
    heading = "1 ticket" if len(order.tickets) == 1 else f"{len(order.tickets)} tickets"
    good_first = sorted(order.tickets, key=lambda ticket: not ticket.is_valid)
    items = "\n".join(f"<li>{_ticket(each)}</li>" for each in good_first)
    return f'<h2 class="count">{heading}</h2>\n<ol class="tickets">{items}</ol>'


def _ticket(ticket: TicketFace) -> str:
    tone, label = TICKET_WORDS[ticket.status]
    heading = f'<div class="top"><h3>{_name(ticket.ticket_type)}</h3>{_badge(tone, label)}</div>'
    code = f'<p class="code">{_text(ticket.code)}</p>'
    place, facts = _list("place", _place(ticket)), _list("facts", _facts(ticket))
    if not ticket.is_valid:
        return (
            f'<article class="card ticket void"><div class="words">{heading}'
            f"<p>It lets nobody in any more.</p><del>{code}{place}{facts}</del></div></article>"
        )
    qr = qr_svg(ticket.barcode, f"QR code of ticket {shown(ticket.code)}").decode()
    links = [
        (ticket.pdf_url, "PDF, A4"),
        (ticket.phone_pdf_url, "PDF, for a phone"),
        (ticket.qr_url, "QR code as a picture"),
    ]
    return (
        f'<article class="card ticket"><div class="scan">{qr}{code}</div>'
        f'<div class="words">{heading}{place}{facts}{_notes(ticket.notes)}{_links(links)}'
        "</div></article>"
    )


def _place(ticket: TicketFace) -> list[tuple[str, str]]:
    if ticket.row and ticket.seat:
        return [("Zone", ticket.zone_name), ("Row", ticket.row), ("Seat", ticket.seat)]
    return [("Zone", ticket.zone_name), ("Seat", ticket.seat_label or ticket.seat or "")]


def _facts(ticket: TicketFace) -> list[tuple[str, str]]:
    issue = f"{ticket.issue}; earlier ones are void" if ticket.issue > 1 else ""
    return [
        ("Name", ticket.holder_name),
        ("Entry", ticket.admission),
        ("Price", ticket.price),
        ("Issue", issue),
    ]


def _list(kind: str, rows: Iterable[tuple[str, str]]) -> str:
    items = [f"<div><dt>{term}</dt><dd>{_name(text)}</dd></div>" for term, text in rows if text]
    return f'<dl class="{kind}">{"".join(items)}</dl>'


def _notes(notes: Iterable[str]) -> str:
    items = "".join(f"<li>{_name(note)}</li>" for note in notes)
    return f'<ul class="notes">{items}</ul>' if items else ""


def _links(links: Iterable[tuple[str, str]]) -> str:
    items = [f'<a href="{_text(url)}" download>{words}</a>' for url, words in links if url]
    return f'<p class="links">{" ".join(items)}</p>' if items else ""


def _badge(tone: str, label: str) -> str:
    return f'<span class="badge {tone}">{label}</span>'


def _name(text: str) -> str:
    """Written by people: one that runs from the right turns nothing else around."""
    return f"<bdi>{_text(text)}</bdi>"


def _text(text: str) -> str:
    return escape(shown(text))


def shown(text: str) -> str:
    return _UNSHOWABLE.sub("\ufffd", text)
