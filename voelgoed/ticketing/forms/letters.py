"""The message that brings a buyer their tickets."""

import re
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from html import escape
from unicodedata import category

from voelgoed.ticketing.forms.page import ORDER_WORDS, shown
from voelgoed.ticketing.forms.pdf import tickets_pdf
from voelgoed.ticketing.model.faces import OrderFace, TicketFace

POLICY = SMTP.clone(cte_type="7bit")  # servers that change 8 bits are still about
TICKETS_ATTACHED_MAX = 200
"""A megabyte. Who has more downloads them from the order's page."""

NAME_CHARACTERS_MAX = 60
"""Beside an address."""
WARNING = "Whoever has this link or a code has the tickets: keep them to yourself."


class AddressUnusable(ValueError):
    """This is no e-mail address that a letter can be sent to."""


def order_letter(order: OrderFace, link: str, mail_from: str) -> EmailMessage:
    """In the organisation's name, from the address of this installation."""
    letter = EmailMessage(policy=POLICY)
    letter["From"] = _address(order.organization_name, mail_from)
    letter["To"] = _address(order.buyer_name, order.buyer_email or "")
    letter["Subject"] = _subject(order)
    letter["Auto-Submitted"] = "auto-generated"  # no "I am on holiday" in return
    letter.set_content(_plain(order, link))
    letter.add_alternative(_html(order, link), subtype="html")
    if _is_attached(order):
        name = re.sub(r"[^A-Za-z0-9-]", "", order.number)
        pdf = tickets_pdf(order.valid_tickets, "a4")
        letter.add_attachment(
            pdf, maintype="application", subtype="pdf", filename=f"tickets-{name}.pdf"
        )
    return letter


def _address(name: str, address: str) -> Address:
    local, _, domain = address.rpartition("@")
    try:
        ascii_address = f"{local}@{domain.encode('idna').decode()}"
        return Address(display_name=_name(name), addr_spec=ascii_address)
    except (ValueError, IndexError, MessageError) as fault:  # as the parser happens to stumble
        raise AddressUnusable(f"{address!r} is no e-mail address: {fault}") from None


def _name(text: str) -> str:
    """Without signs that have a meaning beside an address: a long name is folded by Python, and what
    it quoted before is not always quoted after."""
    kept = (each if category(each)[0] in "LMN" or each in "'-" else " " for each in _line(text))
    return " ".join("".join(kept).split())[:NAME_CHARACTERS_MAX].strip()


def _subject(order: OrderFace) -> str:
    if order.valid_tickets:
        return _header(f"Your tickets: {order.event_name}")
    status = ORDER_WORDS[order.status][1].lower()
    return _header(f"Your order {order.number}, {status}: {order.event_name}")


def _header(text: str) -> str:
    """Encoded words are broken: some Pythons decode those of a value, line breaks and all."""
    return _line(text).replace("=?", "= ?")


def _line(text: str) -> str:
    return " ".join(shown(text).split())


def _is_attached(order: OrderFace) -> bool:
    return 0 < len(order.valid_tickets) <= TICKETS_ATTACHED_MAX


def _opening(order: OrderFace) -> str:
    if not order.valid_tickets:
        _, status, sentence = ORDER_WORDS[order.status]
        return f"Your order is {status.lower()}. {sentence}"
    if _is_attached(order):
        return "Here are your tickets: as a PDF with this message, and on the page of your order."
    return "Your tickets are on the page of your order."


def _venue(order: OrderFace) -> str:
    return _line(", ".join(part for part in (order.venue_name, order.venue_address) if part))


def _ticket(ticket: TicketFace) -> str:
    seat = f"row {ticket.row}, seat {ticket.seat}" if ticket.row and ticket.seat else None
    parts = [ticket.ticket_type, ticket.zone_name, seat or ticket.seat_label, ticket.holder_name]
    return _line(", ".join(part for part in parts if part))


def _plain(order: OrderFace, link: str) -> str:
    about = [order.event_name, order.starts_at, _venue(order)]
    lines = [
        f"Dear {_line(order.buyer_name)},",
        "",
        _opening(order),
        "",
        *(f"  {_line(text)}" for text in about if text),
        "",
        *(f"  {ticket.code}  {_ticket(ticket)}" for ticket in order.valid_tickets),
        "",
        f"Order {_line(order.number)}, total {_line(order.total)}",
        link,
        "",
        WARNING,
        "",
        _line(order.organization_name),
    ]
    return "\n".join(lines) + "\n"


def _html(order: OrderFace, link: str) -> str:
    """Styled on every element, because mail programs drop style sheets."""
    tickets = "".join(
        '<p style="margin:0;padding:8px 0;border-top:1px solid #dcd7cc">'
        f"<strong>{_safe(ticket.code)}</strong><br>{_safe(_ticket(ticket))}</p>\n"
        for ticket in order.valid_tickets
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{_safe(_subject(order))}</title></head>\n"
        '<body style="margin:0;background:#f6f4ef;color:#1c2230;'
        'font:16px/1.5 system-ui,Segoe UI,Roboto,sans-serif">'
        '<div style="max-width:600px;margin:0 auto;background:#ffffff">'
        '<div style="padding:24px;background:#0a3a4c;color:#ffffff;border-bottom:4px solid #f4b41a">'
        f'<p style="margin:0">{_safe(order.organization_name)}</p>'
        f'<h1 style="margin:4px 0;font-size:24px;line-height:1.2">{_safe(order.event_name)}</h1>'
        f'<p style="margin:0;color:#f4b41a">{_safe(order.starts_at)}</p>'
        f'<p style="margin:0">{_safe(_venue(order))}</p></div>\n'
        f'<div style="padding:24px"><p style="margin-top:0">Dear {_safe(order.buyer_name)},</p>'
        f"<p>{_safe(_opening(order))}</p>\n"
        f'<p><a href="{_safe(link)}" style="display:inline-block;padding:12px 20px;'
        "border-radius:6px;background:#0b5a73;color:#ffffff;font-weight:bold;"
        f'text-decoration:none">Open order {_safe(order.number)}</a></p>\n'
        f'{tickets}<p style="margin:0;padding:8px 0;border-top:1px solid #dcd7cc">'
        f"Total {_safe(order.total)}</p>"
        f'<p style="color:#4d5768;font-size:14px">{_safe(WARNING)}</p></div></div></body></html>\n'
    )


def _safe(text: str) -> str:
    return escape(_line(text))
