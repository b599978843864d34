"""The way to the server. What does not arrive whole did not arrive."""

import asyncio
import time
from typing import TypeVar

import httpx
import msgspec

from voelgoed.device.model import KeyRefused, Refused, ServerAway
from voelgoed.infra.digest import digest_of

T = TypeVar("T")
ANSWER_S = 30.0


class ErrorBody(msgspec.Struct):
    error: str = ""
    message: str = ""
    details: dict[str, object] = {}


class Answered(msgspec.Struct, frozen=True):
    status: int
    body: bytes
    retry_after_s: float | None
    round_trip_s: float
    """The time until the answer began to arrive: how long all of it takes says nothing of the
    clock."""
    api_key: str | None = None
    """The key with which it was asked for."""

    def read(self, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(self.body, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as fault:
            raise ServerAway("The server's answer cannot be read.") from fault

    @property
    def error(self) -> ErrorBody:
        try:
            return msgspec.json.decode(self.body, type=ErrorBody)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return ErrorBody()

    @property
    def is_refusal_of_ours(self) -> bool:
        """Whether the refusal is the server's, and not that of something in between, such as a
        captive portal."""
        return self.status in range(400, 500) and self.error.error != ""

    @property
    def is_rotation_demanded(self) -> bool:
        """The key is good for one thing only: to ask for the next one."""
        return self.refused_status == "rotation_demanded"

    @property
    def refused_status(self) -> object:
        """The server's status of a device whose key it refuses; None where it gives none."""
        error = self.error if self.status == 401 else ErrorBody()
        return error.details.get("status") if error.error == "device_inactive" else None


class Link:
    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def ask(
        self,
        method: str,
        url: str,
        *,
        api_key: str | None = None,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        wait_s: float = ANSWER_S,
    ) -> Answered:
        """Returns any answer at all, or raises ServerAway."""
        sent = dict(headers or {})
        if api_key is not None:
            sent["Authorization"] = f"Bearer {api_key}"
        if body is not None:
            sent["Content-Type"] = "application/json"
            sent["Content-Digest"] = digest_of(body)
        began = time.monotonic()
        try:
            async with asyncio.timeout(wait_s):
                async with self._client.stream(
                    method, url, content=body, headers=sent, timeout=wait_s
                ) as answer:
                    round_trip_s = time.monotonic() - began
                    content = await answer.aread()
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as fault:
            why = str(fault) or type(fault).__name__
            raise ServerAway(f"The server does not answer: {why}.") from fault
        return Answered(
            answer.status_code,
            content,
            _seconds(answer.headers.get("Retry-After")),
            round_trip_s,
            api_key,
        )


def require(answered: Answered, *statuses: int) -> Answered:
    """One of these, or the reason why not as a fault."""
    if answered.status in statuses:
        return answered
    error = answered.error
    said = error.message or f"The server answered with {answered.status}."
    # Once more told to rotate, after it did: it will, before it asks for anything else.
    is_for_later = answered.status == 429 or answered.is_rotation_demanded
    if not answered.is_refusal_of_ours or is_for_later:
        raise ServerAway(said)
    raise KeyRefused() if answered.status == 401 else Refused(said)


def _seconds(text: str | None) -> float | None:
    try:
        return None if text is None else max(float(text), 0.0)
    except ValueError:
        return None
