from email import message_from_bytes, policy
from email.message import EmailMessage
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfReader

from tests.ticketing.test_order_page import EVIL, an_order
from tests.ticketing.test_ticket_pdf import a_face
from voelgoed.ticketing.forms.letters import TICKETS_ATTACHED_MAX, AddressUnusable, order_letter

LINK = "https://tickets.example/orders/x?secret=a&b"
SENDER = "tickets@example.org"
HEADERS = {"From", "To", "Subject", "Auto-Submitted", "MIME-Version", "Content-Type"}


def arrived(**changes: Any) -> EmailMessage:
    """As the mail program of the buyer reads it."""
    sent = order_letter(an_order(**changes), LINK, SENDER).as_bytes()
    letter = message_from_bytes(sent, policy=policy.default)
    assert isinstance(letter, EmailMessage)
    return letter


def part(letter: EmailMessage, kind: str) -> str:
    body = letter.get_body((kind,))
    assert body
    return body.get_content()


def pdf_of(letter: EmailMessage) -> list[EmailMessage]:
    return [each for each in letter.iter_attachments() if isinstance(each, EmailMessage)]


def test_a_letter_brings_the_tickets_in_words_as_a_page_and_as_a_file():
    letter = arrived()
    assert letter["To"] == "Annelize van der Merwe <annelize@example.com>"
    assert letter["From"] == f"Ou Teater <{SENDER}>"
    assert letter["Subject"] == "Your tickets: Lente onder die Sterre"
    for kind in ("plain", "html"):
        text = part(letter, kind)
        assert "7K3M-X2QD-92AC" in text
        assert "Grandstand North, row F, seat 13" in text
        assert "R 900,00" in text
    assert LINK in part(letter, "plain").splitlines()
    assert f'href="{LINK.replace("&", "&amp;")}"' in part(letter, "html")
    [attached] = pdf_of(letter)
    assert attached.get_content_type() == "application/pdf"
    assert attached.get_filename() == "tickets-VG-0042.pdf"
    assert len(PdfReader(BytesIO(attached.get_content())).pages) == 2


def test_only_tickets_that_are_good_are_in_it():
    gone = a_face(status="refunded", code="GONE-GONE-GONE")
    letter = arrived(tickets=[gone, a_face()], status="partially_refunded")
    assert "GONE" not in part(letter, "plain") + part(letter, "html")
    [attached] = pdf_of(letter)
    assert len(PdfReader(BytesIO(attached.get_content())).pages) == 1


def test_an_order_without_good_tickets_has_nothing_attached_and_says_how_it_stands():
    letter = arrived(tickets=[a_face(status="refunded")], status="refunded")
    assert letter["Subject"] == "Your order VG-0042, refunded: Lente onder die Sterre"
    assert "Your order is refunded." in part(letter, "plain")
    assert not pdf_of(letter)


def test_a_file_too_large_for_a_letter_is_only_linked_to():
    letter = arrived(tickets=[a_face()] * (TICKETS_ATTACHED_MAX + 1))
    assert not pdf_of(letter)
    assert "Your tickets are on the page of your order." in part(letter, "plain")


def test_a_letter_is_of_ascii_and_short_lines_for_servers_that_know_nothing_else():
    sent = order_letter(an_order(event_name="Ñandú 日本 " * 20), LINK, SENDER).as_bytes()
    assert sent.isascii()
    assert max(map(len, sent.split(b"\r\n"))) <= 998
    assert b"\n" not in sent.replace(b"\r\n", b"")


INJECTIONS = [
    "A\r\nBcc: thief@example.com",
    "A\nBcc: thief@example.com",
    "A\rBcc: thief@example.com",
    "A\x0b\x0c\x1c\x85\u2028\u2029Bcc: thief@example.com",
    "=?utf-8?q?A=0D=0ABcc:_thief@example.com?=",
    "=?utf-8?b?QQ0KQmNjOiB0aGllZkBleGFtcGxlLmNvbQ==?=",
    '"A" <thief@example.com>, "B',
    "A\\\r\n\r\nno more headers",
    "=?utf-8?q?=3D=3Futf-8=3Fq=3F=0ABcc=3A=3F=3D?=",
    "=?" * 20 + ":=?=?@B a00",  # long enough to be folded, and unquoted by that
]


@pytest.mark.parametrize("name", INJECTIONS)
def test_a_name_adds_no_header_and_no_recipient(name: str):
    expect_one_recipient(buyer_name=name, event_name=name, organization_name=name, number=name)


@settings(max_examples=100)
@given(
    st.text(st.characters(exclude_categories=[]), max_size=200)
    | st.lists(
        st.sampled_from(["=?", "utf-8", "?q?", "=0A", "?=", "\r\n", " ", "Bcc: a@b", '"'])
    ).map("".join)
)
def test_no_name_at_all_adds_a_header(name: str):
    expect_one_recipient(
        buyer_name=name, event_name=name, organization_name=name, number=name, tickets=[]
    )


def expect_one_recipient(**changes: Any) -> None:
    letter = arrived(**changes)
    assert set(letter.keys()) == HEADERS
    assert len(letter.keys()) == len(HEADERS)
    assert [address.addr_spec for address in letter["To"].addresses] == ["annelize@example.com"]
    assert [address.addr_spec for address in letter["From"].addresses] == [SENDER]
    assert part(letter, "plain").startswith("Dear ")


@pytest.mark.parametrize(
    "address",
    [
        None,
        "",
        "@",
        "anna",
        "anna@",
        "@example.com",
        "a b@example.com",
        "a@b, c@d",
        "a@b>",
        "<a@b>",
        "a..b@example.com",
        "a@b\r\nBcc: c@d",
        "jörg@example.com",
        f"a@{'b' * 70}.com",
    ],
)
def test_what_is_no_address_gets_no_letter(address: str | None):
    with pytest.raises(AddressUnusable):
        order_letter(an_order(buyer_email=address), LINK, SENDER)


def test_a_domain_may_have_accents():
    letter = arrived(buyer_email="anna@bücher.example")
    assert letter["To"].addresses[0].addr_spec == "anna@xn--bcher-kva.example"


def test_markup_in_names_stays_text():
    html = part(arrived(buyer_name=EVIL, event_name=EVIL, tickets=[a_face(zone_name=EVIL)]), "html")
    assert "<script" not in html
    assert "<img" not in html
    assert html.count("&lt;script&gt;") >= 3
