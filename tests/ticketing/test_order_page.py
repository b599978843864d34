import re
from html.parser import HTMLParser
from typing import Any, get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.ticketing.test_ticket_pdf import a_face
from voelgoed.static import PLAIN_POLICY
from voelgoed.ticketing.forms.page import (
    ORDER_WORDS,
    STYLE_FILE,
    STYLE_URL,
    TICKET_WORDS,
    missing_page,
    order_page,
)
from voelgoed.ticketing.forms.qr import qr_svg
from voelgoed.ticketing.model.faces import OrderFace
from voelgoed.ticketing.model.orders import OrderStatus
from voelgoed.ticketing.model.tickets import TicketStatus

EVIL = "<script>alert(1)</script>\"'&<img src=x onerror=alert(1)>"
VOID_TAGS = {"meta", "link"}


def an_order(**changes: Any) -> OrderFace:
    order = {
        "number": "VG-0042",
        "organization_name": "Ou Teater",
        "event_name": "Lente onder die Sterre",
        "venue_name": "Amfiteater",
        "starts_at": "Saturday 5 December 2026, 19:30",
        "buyer_name": "Annelize van der Merwe",
        "buyer_email": "annelize@example.com",
        "status": "paid",
        "total": "R 900,00",
        "tickets": [a_face(), a_face(seat="13", code="7K3M-X2QD-92AC")],
        "pdf_url": "/orders/x/tickets.pdf",
        "phone_pdf_url": "/orders/x/tickets.pdf?size=phone",
    }
    return OrderFace(**{**order, **changes})


class Page(HTMLParser):
    """What a browser makes of it: every tag closed in its turn, the texts, the attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.text = ""
        self.feed(html)
        self.close()
        assert not self.open, "every element is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID_TAGS:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def values(self, tag: str, name: str) -> list[str | None]:
        return [
            value for its, attribute, value in self.attributes if (its, attribute) == (tag, name)
        ]


def test_an_order_shows_its_tickets_its_total_and_where_to_get_them():
    order = an_order()
    html = order_page(order)
    page = Page(html)
    for text in (
        "Order VG-0042",
        "R 900,00",
        "Paid",
        "2 tickets",
        "Grandstand North",
        "7K3M-X2QD-92AC",
    ):
        assert text in page.text
    for ticket in order.tickets:
        assert qr_svg(ticket.barcode, f"QR code of ticket {ticket.code}").decode() in html
    assert page.values("a", "href") == [order.pdf_url, order.phone_pdf_url]


def test_each_ticket_can_be_downloaded_by_itself():
    ticket = a_face(pdf_url="/t.pdf?a=1&b=2", phone_pdf_url="/t2.pdf", qr_url="/t.png")
    page = Page(order_page(an_order(tickets=[ticket])))
    assert page.values("a", "href")[2:] == ["/t.pdf?a=1&b=2", "/t2.pdf", "/t.png"]


@pytest.mark.parametrize("status", ["voided", "refunded"])
def test_a_ticket_that_is_no_longer_good_is_struck_out_and_cannot_be_scanned(status: str):
    gone = a_face(status=status, pdf_url="/gone.pdf", qr_url="/gone.png", code="GONE-GONE-GONE")
    html = order_page(an_order(tickets=[a_face(), gone], status="partially_refunded"))
    page = Page(html)
    assert page.tags.count("svg") == 1
    assert re.search(r"<del>.*GONE-GONE-GONE.*</del>", html)
    assert "It lets nobody in any more." in page.text
    assert "/gone" not in html
    assert gone.barcode not in html


@pytest.mark.parametrize("status", get_args(OrderStatus))
def test_an_order_says_how_it_stands(status: OrderStatus):
    tickets = [a_face()] if status in ("paid", "partially_refunded") else []
    page = Page(order_page(an_order(status=status, tickets=tickets)))
    _, label, sentence = ORDER_WORDS[status]
    assert f"{label} {sentence}" in page.text
    assert bool(page.values("a", "href")) == bool(tickets)


@pytest.mark.parametrize("status", get_args(TicketStatus))
def test_a_ticket_says_how_it_stands(status: TicketStatus):
    page = Page(order_page(an_order(tickets=[a_face(status=status)])))
    assert TICKET_WORDS[status][1] in page.text


def test_a_name_is_shown_as_it_is_and_never_becomes_part_of_the_page():
    texts = ["organization_name", "event_name", "venue_name", "starts_at", "buyer_name", "total"]
    ticket = a_face(
        **dict.fromkeys(["ticket_type", "zone_name", "row", "seat", "holder_name", "price"], EVIL),
        notes=[EVIL],
        code=EVIL,
        pdf_url='/x" onclick="alert(1)',
    )
    order = an_order(**dict.fromkeys([*texts, "number", "refunded"], EVIL), tickets=[ticket])
    page = Page(order_page(order))
    expect_harmless(page)
    assert page.text.count(EVIL) >= 14


@settings(max_examples=50)
@example("\ud800\x00\x1b", "")
@given(st.text(st.characters(exclude_categories=[])), st.text())
def test_no_name_at_all_breaks_the_page(name: str, note: str):
    ticket = a_face(holder_name=name, zone_name=note, row=name, seat=note, notes=[name, note])
    html = order_page(an_order(event_name=name, buyer_name=note, tickets=[ticket]))
    expect_harmless(Page(html))
    assert html.encode()


def expect_harmless(page: Page) -> None:
    tickets = [a_face(pdf_url="/x"), a_face(status="voided")]
    assert set(page.tags) <= set(Page(order_page(an_order(tickets=tickets))).tags)
    for _, name, _ in page.attributes:
        assert not name.startswith("on")
        assert name != "style"


def test_the_page_needs_nothing_that_the_content_policy_forbids():
    html = order_page(an_order()) + missing_page()
    assert b"style-src 'self';" in PLAIN_POLICY
    assert "<style" not in html
    assert "style=" not in html
    assert "<script" not in html
    assert set(re.findall(r'<link rel="stylesheet" href="([^"]*)"', html)) == {STYLE_URL}
    assert "url(" not in STYLE_FILE.read_text()


def test_a_link_that_leads_nowhere_is_explained():
    page = Page(missing_page())
    assert "There is no order at this address" in page.text
    assert "send it again" in page.text


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_what_is_behind_it(scheme: str):
    colours = palette(scheme)
    pairs = [("ink", "page"), ("ink", "surface"), ("ink", "tile"), ("ink-soft", "surface")]
    pairs += [("ink-soft", "tile"), ("brand", "surface"), ("on-brand", "brand")]
    pairs += [(tone, f"{tone}-surface") for tone in ("good", "warn", "bad", "info", "neutral")]
    for ink, behind in pairs:
        assert contrast(colours[ink], colours[behind]) >= 4.5, (ink, behind)
    for ink in ("#ffffff", "#f4b41a"):
        assert contrast(ink, colours["header"]) >= 4.5


def palette(scheme: str) -> dict[str, str]:
    light, dark = re.split(r"prefers-color-scheme: dark", STYLE_FILE.read_text())
    colour = r"--([\w-]+): (#[0-9a-f]{6})"
    dark = dark.partition("*,")[0]
    return dict(re.findall(colour, light) + (re.findall(colour, dark) if scheme == "dark" else []))


def contrast(one: str, other: str) -> float:
    """As WCAG 2 has it."""
    darker, lighter = sorted([luminance(one), luminance(other)])
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
