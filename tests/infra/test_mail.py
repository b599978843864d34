"""Against a real SMTP server in this process, which can be told to misbehave."""

import asyncio
import ipaddress
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.headerregistry import Address
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.processes import an_installation
from tests.support import PATIENCE_S, free_port
from voelgoed.config import SettingsError, read_settings
from voelgoed.infra import mail as module
from voelgoed.infra.mail import Mail, MailNotSent, MailRefused

SENDER = "tickets@example.org"
USER, PASSWORD = "user@example.org", "p@ss/w:rd %"
SIGNED_IN = "user%40example.org:p%40ss%2Fw%3Ard%20%25@"


class Postbox:
    """Takes every letter, unless told what to answer at which step."""

    def __init__(self, **answers: str) -> None:
        self.answers = answers
        self.asked = 0
        """So many times whether it takes a letter."""
        self.envelopes: list[Envelope] = []

    async def handle_MAIL(
        self, _server: object, _session: object, envelope: Envelope, address: str, _options: object
    ) -> str:
        envelope.mail_from = address
        return self.answers.get("mail", "250 OK")

    async def handle_RCPT(
        self, _server: object, _session: object, envelope: Envelope, address: str, _options: object
    ) -> str:
        self.asked += 1
        envelope.rcpt_tos.append(address)
        return self.answers.get("rcpt", "250 OK")

    async def handle_DATA(self, _server: object, _session: object, envelope: Envelope) -> str:
        if "data" not in self.answers:
            self.envelopes.append(envelope)
        return self.answers.get("data", "250 OK")


@asynccontextmanager
async def a_server(
    postbox: Postbox, kind: type[SMTP] = SMTP, tls: Any = None, at: int = 0, **options: Any
) -> AsyncIterator[int]:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: kind(postbox, hostname="mail.test", loop=loop, **options), "127.0.0.1", at, ssl=tls
    )
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@asynccontextmanager
async def a_stranger(first: bytes, every: bytes = b"") -> AsyncIterator[int]:
    """Says something on being called, and the same thing to everything after."""
    talking: set[asyncio.Task[Any]] = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talking.add(asyncio.current_task())  # type: ignore[arg-type]
        writer.write(first)
        while await reader.readline():
            await asyncio.sleep(0.2)
            writer.write(every)
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await asyncio.wait(talking, timeout=PATIENCE_S)


def a_letter(to: str = "anna@example.com") -> EmailMessage:
    letter = EmailMessage(policy=policy.SMTP)
    letter["From"] = Address("Théâtre", addr_spec=SENDER)
    letter["To"] = Address("Anna", addr_spec=to)
    letter["Subject"] = "Tickets für Anna"
    letter.set_content("Guten Tag.\n.\nA dot alone ends a letter, but not this one.\n")
    return letter


def mail_to(port: int, scheme: str = "smtp", who: str = "") -> Mail:
    return Mail(f"{scheme}://{who}127.0.0.1:{port}", SENDER)


async def test_a_letter_arrives_as_it_was_written():
    postbox = Postbox()
    async with a_server(postbox) as port:
        await mail_to(port).send(a_letter())
    [envelope] = postbox.envelopes
    assert (envelope.mail_from, envelope.rcpt_tos) == (SENDER, ["anna@example.com"])
    assert isinstance(envelope.content, bytes)
    letter = message_from_bytes(envelope.content, policy=policy.default)
    assert isinstance(letter, EmailMessage)
    assert letter["From"] == f"Théâtre <{SENDER}>"
    assert letter["Subject"] == "Tickets für Anna"
    assert letter["Date"].datetime
    assert letter["Message-ID"].endswith("@example.org>")
    assert letter.get_content().splitlines() == a_letter().get_content().splitlines()


def test_without_a_server_mail_is_off():
    assert not Mail(None, None).enabled
    assert Mail("smtp://localhost", SENDER).enabled


@pytest.mark.parametrize("step", ["mail", "rcpt", "data"])
@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("450 Try again later", MailNotSent),
        ("421 Closing down", MailNotSent),
        ("550 Nobody of that name", MailRefused),
        ("552 Too large", MailRefused),
        ("530 Authentication required", MailNotSent),
    ],
)
async def test_what_the_server_says_of_a_letter_decides_whether_to_try_again(
    step: str, answer: str, verdict: type[Exception]
):
    async with a_server(Postbox(**{step: answer})) as port:
        with pytest.raises(verdict, match=answer):
            await mail_to(port).send(a_letter())


def test_no_verdict_is_both():
    assert not issubclass(MailNotSent, MailRefused)
    assert not issubclass(MailRefused, MailNotSent)


async def test_a_server_that_is_down_may_be_up_later():
    with pytest.raises(MailNotSent):
        await mail_to(free_port()).send(a_letter())


@pytest.mark.parametrize(
    ("first", "every"),
    [
        (b"", b""),
        (b"220 hello\r\n", b""),
        (b"554 No service\r\n", b""),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", b"?\r\n"),
        (b"220 hello\r\n", b"500 What?\r\n"),
    ],
)
async def test_a_server_that_is_silent_or_none_at_all_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, first: bytes, every: bytes
):
    monkeypatch.setattr(module, "STEP_S", 0.5)
    async with a_stranger(first, every) as port, asyncio.timeout(PATIENCE_S):
        with pytest.raises(MailNotSent):
            await mail_to(port).send(a_letter())


async def test_a_server_may_not_be_slow_for_ever_just_in_time(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "SEND_S", 0.5)
    async with a_stranger(b"220 hello\r\n", b"250 OK\r\n") as port, asyncio.timeout(PATIENCE_S):
        with pytest.raises(MailNotSent, match="TimeoutError"):
            await mail_to(port).send(a_letter())


class Rude(SMTP):
    async def smtp_QUIT(self, _arg: str) -> None:
        assert self.transport
        self.transport.abort()


async def test_a_letter_is_sent_even_if_the_server_does_not_say_good_bye():
    postbox = Postbox()
    async with a_server(postbox, Rude) as port:
        await mail_to(port).send(a_letter())
    assert len(postbox.envelopes) == 1


def check_password(
    _server: object, _session: object, _envelope: object, _mechanism: str, data: object
) -> AuthResult:
    assert isinstance(data, LoginPassword)
    is_right = (data.login, data.password) == (USER.encode(), PASSWORD.encode())
    return AuthResult(success=is_right, handled=False)


without_encryption = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
SIGN_IN: dict[str, Any] = {
    "authenticator": check_password,
    "auth_required": True,
    "auth_require_tls": False,
}


@without_encryption
async def test_name_and_password_may_have_any_signs():
    postbox = Postbox()
    async with a_server(postbox, **SIGN_IN) as port:
        await mail_to(port, who=SIGNED_IN).send(a_letter())
    assert len(postbox.envelopes) == 1


@without_encryption
@pytest.mark.parametrize("who", ["", "user:wrong@"])
async def test_a_server_that_does_not_know_us_says_nothing_about_the_letter(who: str):
    postbox = Postbox()
    async with a_server(postbox, **SIGN_IN) as port:
        with pytest.raises(MailNotSent) as refused:
            await mail_to(port, who=who).send(a_letter())
    assert "wrong" not in str(refused.value)
    assert not postbox.envelopes


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Of 127.0.0.1, signed by itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mail.test")])
    now = datetime.now(UTC)
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(here, critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file = tmp_path / "certificate.pem"
    file.write_bytes(made.public_bytes(serialization.Encoding.PEM) + secret)
    return file


def a_tls_context(certificate: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    return context


def tls_server(scheme: str, certificate: Path) -> dict[str, Any]:
    context = a_tls_context(certificate)
    if scheme == "smtps":
        return {"tls": context}
    return {"tls_context": context, "require_starttls": True}


@pytest.mark.parametrize("scheme", ["smtps", "smtp+starttls"])
async def test_a_letter_goes_through_an_encrypted_connection(
    monkeypatch: pytest.MonkeyPatch, certificate: Path, scheme: str
):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    postbox = Postbox()
    async with a_server(postbox, **tls_server(scheme, certificate)) as port:
        await mail_to(port, scheme).send(a_letter())
    assert len(postbox.envelopes) == 1


@pytest.mark.parametrize("scheme", ["smtps", "smtp+starttls"])
async def test_a_server_that_nobody_vouches_for_is_told_nothing(certificate: Path, scheme: str):
    postbox = Postbox()
    async with a_server(postbox, **tls_server(scheme, certificate)) as port:
        with pytest.raises(MailNotSent):
            await mail_to(port, scheme, SIGNED_IN).send(a_letter())
    assert not postbox.envelopes


async def test_a_server_that_cannot_encrypt_is_told_nothing():
    postbox = Postbox()
    async with a_server(postbox) as port:
        with pytest.raises(MailNotSent, match="STARTTLS"):
            await mail_to(port, "smtp+starttls", SIGNED_IN).send(a_letter())
    assert not postbox.envelopes


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"VOELGOED_SMTP_URL": "http://secret@mail"}, "smtp, smtps, smtp"),
        ({"VOELGOED_SMTP_URL": "smtp://"}, "a host"),
        ({"VOELGOED_SMTP_URL": "smtp://u:secret/x@mail:25"}, "%2F"),
        ({"VOELGOED_SMTP_URL": "smtp://u:secret@mail:port"}, "user:password"),
        ({"VOELGOED_SMTP_URL": "smtp://u:secret@mail"}, "VOELGOED_MAIL_FROM"),
        ({"VOELGOED_SMTP_URL": "smtp://u:secret@mail", "VOELGOED_MAIL_FROM": "me"}, "MAIL_FROM"),
        (
            {"VOELGOED_SMTP_URL": "smtp://u:secret@mail", "VOELGOED_MAIL_FROM": "a@b\nBcc: c@d"},
            "MAIL_FROM",
        ),
        ({"VOELGOED_SMTP_URL": "smtp://u:secret@mail", "VOELGOED_MAIL_FROM": SENDER}, "PUBLIC_URL"),
    ],
)
def test_wrong_settings_are_explained_without_the_password(environment: dict[str, str], said: str):
    with pytest.raises(SettingsError, match=said) as fault:
        read_settings(environment)
    assert "secret" not in str(fault.value)


def test_the_settings_are_listed_without_the_password():
    with an_installation() as here:
        process = here.run(
            "settings",
            smtp_url="smtp+starttls://user:secret@mail.example.org",
            mail_from=SENDER,
            public_url="https://tickets.example.org",
        )
        assert process.wait() == 0
        assert "VOELGOED_SMTP_URL=(set)" in process.out
        assert f"VOELGOED_MAIL_FROM={SENDER}" in process.out
        assert "secret" not in process.out + process.err
