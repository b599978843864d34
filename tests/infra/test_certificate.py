"""The certificate that this machine makes for itself."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from websockets.asyncio.client import connect
from websockets.client import ClientProtocol
from websockets.protocol import State
from websockets.uri import parse_uri

from tests.conftest import serving
from tests.support import PATIENCE_S, Tenant
from voelgoed.infra.certificate import LASTS, LOCAL, ensure_certificate, own_addresses
from voelgoed.infra.data_directory import DataDirectory
from voelgoed.services import Services

NOW = datetime(2026, 11, 17, tzinfo=UTC)


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[DataDirectory]:
    claimed = DataDirectory.claim(tmp_path)
    yield claimed
    claimed.release()


def names_in(path: Path) -> set[str]:
    certificate = x509.load_pem_x509_certificate(path.read_bytes())
    told = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    return {str(name.value) for name in told.value}


def test_it_is_its_owners_alone_and_for_every_address(directory: DataDirectory):
    path = ensure_certificate(directory, ["192.168.1.7"], NOW)
    assert path.stat().st_mode & 0o777 == 0o600
    assert names_in(path) == {*LOCAL, "192.168.1.7"}


@pytest.mark.parametrize(
    ("addresses", "later", "is_kept"),
    [
        (["192.168.1.7"], timedelta(), True),
        (["192.168.1.7"], timedelta(days=300), True),
        ([], timedelta(), True),
        (["192.168.1.7"], LASTS - timedelta(days=20), False),
        (["192.168.1.7"], LASTS + timedelta(days=20), False),
        (["10.0.0.3"], timedelta(), False),
    ],
)
def test_it_is_kept_until_it_ends_or_an_address_is_new(
    directory: DataDirectory, addresses: list[str], later: timedelta, is_kept: bool
):
    first = ensure_certificate(directory, ["192.168.1.7"], NOW).read_bytes()
    second = ensure_certificate(directory, addresses, NOW + later)
    assert (second.read_bytes() == first) is is_kept
    assert names_in(second).issuperset(addresses)


@pytest.mark.parametrize("content", ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n"])
def test_one_that_cannot_be_read_is_made_anew(directory: DataDirectory, content: str):
    directory.write_secret("tls.pem", content)
    assert names_in(ensure_certificate(directory, [], NOW)) == set(LOCAL)


def test_own_addresses_are_those_that_others_see():
    assert not set(own_addresses()) & set(LOCAL)


@pytest.fixture
async def secure(services: Services, directory: DataDirectory) -> AsyncIterator[tuple[str, Path]]:
    """A server that speaks TLS, and the certificate to trust."""
    certificate = ensure_certificate(directory, [], datetime.now(UTC))
    async with serving(services, certificate) as url:
        yield url, certificate


def trusting(certificate: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=certificate)


async def test_the_api_is_reached_over_tls_on_both_ways(secure: tuple[str, Path], tenant: Tenant):
    url, certificate = secure
    trusted = trusting(certificate)
    async with httpx.AsyncClient(base_url=url, verify=trusted, timeout=PATIENCE_S) as client:
        ready = await client.get("/health/ready")
        assert ready.status_code == 200
        client.headers["Authorization"] = f"Bearer {tenant.tokens['owner']}"
        listed = await client.get("/api/events")
        assert listed.json()["data"] == []
        # The short way of the hot routes: a key that is none is refused by the scan's own answer.
        for body in ({"ticket_code": "x"}, {"ticket_code": "7K2M-9QXD-E4TR" * 9}):
            answer = await client.post("/api/scans", json=body)
            assert answer.status_code == 401
            assert answer.json()["error"] == "invalid_device_token"


async def test_nobody_is_reached_who_is_not_trusted(secure: tuple[str, Path]):
    async with httpx.AsyncClient(timeout=PATIENCE_S) as client:
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            await client.get(f"{secure[0]}/health/ready")


async def test_live_messages_come_over_tls(secure: tuple[str, Path], tenant: Tenant):
    url, certificate = secure
    address = url.replace("https", "wss", 1) + "/api/live"
    headers = {"Authorization": f"Bearer {tenant.tokens['owner']}"}
    trusted = trusting(certificate)
    async with connect(address, additional_headers=headers, ssl=trusted, proxy=None) as socket:
        await socket.send('{"type": "subscribe", "topic": "nothing:at-all"}')
        assert "topic" in str(await socket.recv())


async def test_a_server_stops_while_a_client_is_saying_goodbye(
    services: Services, directory: DataDirectory, tenant: Tenant
):
    """It has sent its close frame and leaves the connection open, so TLS is not at its end either."""
    certificate = ensure_certificate(directory, [], datetime.now(UTC))
    async with serving(services, certificate) as url:
        address = parse_uri(url.replace("https", "wss", 1) + "/api/live")
        reader, writer = await asyncio.open_connection(
            address.host, address.port, ssl=trusting(certificate)
        )
        client = ClientProtocol(address)
        request = client.connect()
        request.headers["Authorization"] = f"Bearer {tenant.tokens['owner']}"
        client.send_request(request)
        writer.writelines(client.data_to_send())
        while client.state is not State.OPEN:
            client.receive_data(await reader.readuntil(b"\r\n\r\n"))
        client.send_close(1000)
        writer.writelines(client.data_to_send())
        while client.close_rcvd is None:
            client.receive_data(await reader.read(4096))
    writer.transport.abort()
