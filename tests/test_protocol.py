"""The short way from the parser to a scan and back, and that the long way leads to the same."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest

from tests.scanning.support import Device, World, a_world
from tests.support import Tenant
from voelgoed import protocol
from voelgoed.http import Hot
from voelgoed.infra.web import BODY_BYTES_MAX, Asked, Reply
from voelgoed.services import Services


@dataclass
class Heard:
    status: int
    headers: dict[str, str]
    body: dict[str, Any]


class Line:
    """One connection, byte by byte."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def say(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()
            await asyncio.sleep(0.02)  # so that it arrives as a piece

    async def hear(self) -> Heard:
        async with asyncio.timeout(20):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            status = int(head[0].split()[1])
            if status == 100:
                return await self.hear()
            headers = dict(line.lower().split(": ", 1) for line in head[1:-2])
            body = await self.reader.readexactly(int(headers["content-length"]))
        return Heard(status, headers, json.loads(body))

    async def is_closed(self) -> bool:
        async with asyncio.timeout(20):
            return await self.reader.read() == b""


@pytest.fixture
async def world(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> World:
    return await a_world(services, client, tenant)


@pytest.fixture
async def device(world: World) -> Device:
    return await world.device()


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The requests that went the short way."""
    went: list[str] = []
    answer_hot = protocol.answer_hot

    async def noting(hot: Hot, asked: Asked, services: Services) -> Reply:
        went.append(hot.template)
        return await answer_hot(hot, asked, services)

    monkeypatch.setattr(protocol, "answer_hot", noting)
    return went


@asynccontextmanager
async def a_line(url: str) -> AsyncIterator[Line]:
    reader, writer = await asyncio.open_connection(urlsplit(url).hostname, urlsplit(url).port)
    try:
        yield Line(reader, writer)
    finally:
        writer.close()


def body_of(world: World, device: Device, code: str) -> bytes:
    return json.dumps(world.body(device, code)).encode()


def head(
    device: Device,
    length: int | None,
    *more: str,
    path: str = "/api/scans",
    version: str = "1.1",
    kind: str = "application/json",
) -> bytes:
    lines = [
        f"POST {path} HTTP/{version}",
        "Host: gate.example",
        f"Authorization: {device.headers['Authorization']}",
        f"Content-Type: {kind}",
        *([] if length is None else [f"Content-Length: {length}"]),
        *more,
    ]
    return "\r\n".join([*lines, "", ""]).encode()


def chunked(body: bytes) -> bytes:
    return b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)


async def test_a_scan_that_arrives_whole_goes_the_short_way(
    world: World, device: Device, url: str, short: list[str]
):
    tickets = await world.tickets(3)
    async with a_line(url) as line:
        for ticket in tickets:
            body = body_of(world, device, ticket.code)
            await line.say(head(device, len(body)) + body)
            heard = await line.hear()
            assert (heard.status, heard.body["status"]) == (200, "admitted")
    assert short == ["/api/scans"] * 3


async def test_whatever_the_form_of_the_request_the_answer_is_the_same(
    world: World, device: Device, url: str, short: list[str]
):
    """Also its headers, but for its length."""
    ticket, other = await world.tickets(2)
    assert await world.verdict(device, ticket.code) == "admitted"
    again = body_of(world, device, ticket.code)
    length = len(again)
    async with a_line(url) as line:
        await line.say(head(device, length) + again)
        expected = await line.hear()
    assert expected.body["reason"] == "already_scanned"
    short.clear()
    forms: dict[str, Sequence[bytes]] = {
        "in two pieces": [head(device, length), again],
        "in many pieces": [
            head(device, length)[:40],
            head(device, length)[40:],
            again[:9],
            again[9:],
        ],
        "chunked": [head(device, None, "Transfer-Encoding: chunked") + chunked(again)],
        "after asking": [head(device, length, "Expect: 100-continue"), again],
        "with a query": [head(device, length, path="/api/scans?x=1") + again],
        "with a slash": [head(device, length, path="/api/scans/") + again],
        "escaped": [head(device, length, path="/api/%73cans") + again],
        "in full": [head(device, length, path="http://gate.example/api/scans") + again],
        "with a charset": [head(device, length, kind="application/json; charset=utf-8") + again],
    }
    for form, pieces in forms.items():
        async with a_line(url) as line:
            await line.say(*pieces)
            heard = await line.hear()
            assert heard.status == 200, form
            assert heard.headers.keys() == expected.headers.keys(), form
            same = heard.headers | {"content-length": "", "date": ""}
            assert same == expected.headers | {"content-length": "", "date": ""}, form
            differing = {"scan_id", "seconds_since_last_scan", "scanned_at"}
            for key in expected.body.keys() - differing:
                assert heard.body[key] == expected.body[key], form
            fresh = body_of(world, device, other.code)
            await line.say(head(device, len(fresh)) + fresh)
            assert (await line.hear()).status == 200, f"{form}, and then another"
    assert len(short) == len(forms) + 5, (
        "those in pieces, after asking, and in full went the long way"
    )


async def test_several_at_once_on_one_line_are_answered_in_their_order(
    world: World, device: Device, url: str
):
    tickets = await world.tickets(4)
    health = b"GET /health/live HTTP/1.1\r\nHost: gate.example\r\n\r\n"
    together = b""
    for ticket in tickets:
        body = body_of(world, device, ticket.code)
        together += head(device, len(body)) + body + health
    async with a_line(url) as line:
        await line.say(together)
        for ticket in tickets:
            assert (await line.hear()).body["ticket_code"] == ticket.code
            assert "ticket_code" not in (await line.hear()).body
    assert (await world.inside())["event"] == 4


@pytest.mark.parametrize(("more", "version"), [(("Connection: close",), "1.1"), ((), "1.0")])
async def test_who_says_it_is_the_last_is_hung_up_on(
    world: World, device: Device, url: str, more: Sequence[str], version: str
):
    ticket = await world.ticket()
    body = body_of(world, device, ticket.code)
    async with a_line(url) as line:
        await line.say(head(device, len(body), *more, version=version) + body)
        heard = await line.hear()
        assert heard.body["status"] == "admitted"
        assert heard.headers["connection"] == "close"
        assert await line.is_closed()


async def test_refusals_are_the_same_both_ways(world: World, device: Device, url: str):
    ticket = await world.ticket()
    good = body_of(world, device, ticket.code)
    huge = good + b" " * BODY_BYTES_MAX
    stranger = Device(device.id, "vgd_nobody", device.gate)
    for asked, body, status, error in (
        (head(device, len(good), kind="text/plain"), good, 415, "unsupported_media_type"),
        (head(device, len(huge)), huge, 413, "body_too_large"),
        (head(device, 5), b"{nope", 400, "invalid_json"),
        (head(device, 2), b"{}", 422, "invalid_request"),
        (head(device, 0), b"", 400, "invalid_json"),
        (head(stranger, len(good)), good, 401, "invalid_device_token"),
    ):
        heard: list[Heard] = []
        for pieces in ([asked + body], [asked, body]):
            async with a_line(url) as line:
                await line.say(*pieces)
                heard.append(await line.hear())
        assert [(each.status, each.body["error"]) for each in heard] == [(status, error)] * 2
        assert heard[0].body == heard[1].body
        assert heard[0].headers.keys() == heard[1].headers.keys()
    assert await world.inside() == {}


async def test_a_page_of_another_site_reserves_nothing_with_our_cookie(
    world: World, url: str, short: list[str]
):
    asked = (
        f"POST /api/events/{uuid4()}/seats/A-1/reserve HTTP/1.1\r\nHost: box.example\r\n"
        "Origin: https://evil.example\r\nCookie: voelgoed_session=x\r\n\r\n"
    )
    async with a_line(url) as line:
        await line.say(asked.encode())
        assert (await line.hear()).body["error"] == "cross_site_request"
    assert short == []


async def test_what_is_no_http_after_a_scan_is_told_so_and_the_scan_counts(
    world: World, device: Device, url: str
):
    ticket = await world.ticket()
    body = body_of(world, device, ticket.code)
    async with a_line(url) as line:
        await line.say(head(device, len(body)) + body)
        assert (await line.hear()).body["status"] == "admitted"
        await line.say(b"\x00\x01\x02 nonsense\r\n\r\n")
        assert b"400 Bad Request" in await line.reader.read()
    assert (await world.inside())["event"] == 1


async def test_who_hangs_up_before_the_answer_has_scanned_all_the_same(
    world: World, device: Device, url: str
):
    ticket = await world.ticket()
    body = body_of(world, device, ticket.code)
    async with a_line(url) as line:
        line.writer.write(head(device, len(body)) + body)
        await line.writer.drain()
    async with asyncio.timeout(20):
        while (await world.inside()).get("event") != 1:
            await asyncio.sleep(0.02)
    assert await world.verdict(device, ticket.code) == "already_scanned"


async def test_a_trusted_proxys_word_for_the_address_is_what_is_kept(
    world: World, device: Device, url: str, short: list[str]
):
    ticket = await world.ticket()
    body = body_of(world, device, ticket.code)
    async with a_line(url) as line:
        forwarded = "X-Forwarded-For: 203.0.113.9, 127.0.0.1"
        await line.say(head(device, len(body), forwarded) + body)
        assert (await line.hear()).body["status"] == "admitted"
    assert short == ["/api/scans"]
    [entry] = await world.rows("SELECT ip FROM audit_entry WHERE action = 'ticket_scanned'")
    assert entry["ip"] == "203.0.113.9"


async def test_who_cannot_be_answered_is_hung_up_on(
    world: World, device: Device, url: str, monkeypatch: pytest.MonkeyPatch
):
    async def cancelled(*_: object) -> Reply:
        raise asyncio.CancelledError

    monkeypatch.setattr(protocol, "answer_hot", cancelled)
    body = body_of(world, device, (await world.ticket()).code)
    async with a_line(url) as line:
        await line.say(head(device, len(body)) + body)
        assert await line.is_closed()
