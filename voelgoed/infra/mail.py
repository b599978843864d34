"""Letters, through the SMTP server of the settings. Without one none is sent."""

import asyncio
from contextlib import suppress
from email.headerregistry import AddressHeader
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from urllib.parse import SplitResult, unquote, urlsplit

from aiosmtplib import (
    SMTP,
    SMTPDataError,
    SMTPException,
    SMTPRecipientRefused,
    SMTPRecipientsRefused,
    SMTPSenderRefused,
)

PORTS = {"smtp": 25, "smtps": 465, "smtp+starttls": 587}
STEP_S = 20.0
"""For one answer of the server."""
SEND_S = 60.0
"""For a letter: a server that answers slowly, but just in time, may do so only so often."""
QUIT_S = 2.0
NOT_TRUSTED = (530, 534, 535, 538)
"""The server wants other credentials of us, which says nothing about the letter."""


class MailNotSent(Exception):
    """The server did not take the letter; it may take it later."""


class MailRefused(Exception):
    """The server will never take this letter."""


class Mail:
    def __init__(self, smtp_url: str | None, mail_from: str | None) -> None:
        self._server = urlsplit(smtp_url) if smtp_url else None
        self.sender = mail_from or ""
        """What letters are from, whoever's name is beside it."""

    @property
    def enabled(self) -> bool:
        return self._server is not None

    async def send(self, letter: EmailMessage) -> None:
        """A server that takes it, but dies before it can say so, may be sent it again."""
        assert self._server, "mail is off"
        to = letter["To"]
        assert isinstance(to, AddressHeader)
        recipients = [address.addr_spec for address in to.addresses]
        client = _client(self._server, self.sender)
        try:
            async with asyncio.timeout(SEND_S):
                await client.connect()
                await client.sendmail(self.sender, recipients, _stamped(letter, self.sender))
                with suppress(SMTPException, OSError):  # the letter is sent
                    await client.quit(timeout=QUIT_S)
        except (SMTPException, OSError, TimeoutError) as fault:
            raise _verdict(fault) from fault
        finally:
            client.close()


def _client(server: SplitResult, sender: str) -> SMTP:
    return SMTP(
        hostname=server.hostname,
        port=server.port or PORTS[server.scheme],
        username=unquote(server.username) if server.username else None,
        password=unquote(server.password) if server.password else None,
        use_tls=server.scheme == "smtps",
        start_tls=server.scheme == "smtp+starttls",
        timeout=STEP_S,
        local_hostname=_domain(sender),  # or it asks the name server, and waits for it
    )


def _stamped(letter: EmailMessage, sender: str) -> bytes:
    if "Date" not in letter:
        letter["Date"] = formatdate()
        letter["Message-ID"] = make_msgid(domain=_domain(sender))
    return letter.as_bytes()


def _domain(address: str) -> str:
    return address.rpartition("@")[2]


def _verdict(fault: Exception) -> MailNotSent | MailRefused:
    if isinstance(fault, SMTPRecipientsRefused):
        fault = fault.recipients[0]
    reason = str(fault) or type(fault).__name__
    if isinstance(fault, SMTPSenderRefused | SMTPRecipientRefused | SMTPDataError):
        reason = f"{fault.code} {fault.message}"
        if fault.code >= 500 and fault.code not in NOT_TRUSTED:
            return MailRefused(reason)
    return MailNotSent(reason)
