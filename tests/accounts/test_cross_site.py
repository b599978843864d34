"""A page of another site may not act with our visitor's cookie."""

import dataclasses
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from tests.conftest import serving
from tests.support import PASSWORD, Tenant, a_client, a_venue
from voelgoed.accounts.access import COOKIE
from voelgoed.config import Settings
from voelgoed.services import Services

FOREIGN = "https://evil.example"


@pytest.fixture
async def browser(url: str, tenant: Tenant) -> AsyncIterator[httpx.AsyncClient]:
    """Logged in as an owner, by cookie."""
    cookies = {COOKIE: tenant.tokens["owner"]}
    async with a_client(url, cookies=cookies) as browser:
        yield browser


async def create_a_venue(browser: httpx.AsyncClient, **headers: str) -> tuple[int, str]:
    answer = await browser.post("/api/venues", json=a_venue(), headers=headers)
    return answer.status_code, answer.json().get("error", "done")


REFUSED = (403, "cross_site_request")
DONE = (201, "done")


@pytest.mark.parametrize("site", ["cross-site", "same-site", "anything else", ""])
async def test_what_the_browser_says_comes_from_elsewhere_is_refused(
    browser: httpx.AsyncClient, site: str
) -> None:
    assert await create_a_venue(browser, **{"Sec-Fetch-Site": site}) == REFUSED


@pytest.mark.parametrize("site", ["same-origin", "none"])
async def test_what_the_browser_says_comes_from_here_is_done(
    browser: httpx.AsyncClient, site: str
) -> None:
    assert await create_a_venue(browser, **{"Sec-Fetch-Site": site}) == DONE


async def test_a_page_cannot_outtalk_the_browser_with_an_origin(
    browser: httpx.AsyncClient, url: str
) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Origin": url}
    assert await create_a_venue(browser, **headers) == REFUSED


@pytest.mark.parametrize("origin", [FOREIGN, "null", "http://127.0.0.1", "http://127.0.0.1:1", ""])
async def test_an_older_browser_is_judged_by_its_origin(
    browser: httpx.AsyncClient, origin: str
) -> None:
    assert await create_a_venue(browser, Origin=origin) == REFUSED


async def test_an_origin_that_only_begins_like_ours_is_foreign(
    browser: httpx.AsyncClient, url: str
) -> None:
    assert await create_a_venue(browser, Origin=f"{url}.evil.example") == REFUSED


async def test_our_own_origin_is_done(browser: httpx.AsyncClient, url: str) -> None:
    assert await create_a_venue(browser, Origin=url) == DONE


async def test_our_public_origin_is_done_behind_a_proxy(services: Services, tenant: Tenant) -> None:
    public = dataclasses.replace(services, settings=Settings(public_url="https://tickets.example"))
    cookies = {COOKIE: tenant.tokens["owner"]}
    async with serving(public) as url, a_client(url, cookies=cookies) as browser:
        assert await create_a_venue(browser, Origin="https://tickets.example") == DONE
        assert await create_a_venue(browser, Origin=FOREIGN) == REFUSED


async def test_who_is_no_browser_says_nothing_and_is_done(browser: httpx.AsyncClient) -> None:
    assert await create_a_venue(browser) == DONE


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_every_method_that_changes_something_is_guarded(
    browser: httpx.AsyncClient, tenant: Tenant, method: str
) -> None:
    address = {
        "POST": "/api/venues",
        "PUT": "/api/session/password",
        "PATCH": "/api/organization",
        "DELETE": "/api/sessions",
    }[method]
    body = None if method == "DELETE" else {}
    answer = await browser.request(method, address, json=body, headers={"Origin": FOREIGN})
    assert (answer.status_code, answer.json()["error"]) == REFUSED


async def test_nobody_is_logged_in_by_another_site(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    given = {"organization": tenant.slug, "email": "owner@acme.example", "password": PASSWORD}
    answer = await client.post(
        "/api/sessions", json=given, headers={"Sec-Fetch-Site": "cross-site"}
    )
    assert (answer.status_code, answer.json()["error"]) == REFUSED
    assert "set-cookie" not in answer.headers


async def test_a_bearer_token_is_proof_enough(client: httpx.AsyncClient, tenant: Tenant) -> None:
    headers = {**tenant.as_("owner"), "Origin": FOREIGN, "Sec-Fetch-Site": "cross-site"}
    assert await create_a_venue(client, **headers) == DONE


async def test_an_empty_bearer_token_proves_nothing(browser: httpx.AsyncClient) -> None:
    assert await create_a_venue(browser, Authorization="Bearer", Origin=FOREIGN) == REFUSED


async def test_a_wrong_bearer_token_does_not_fall_back_to_the_cookie(
    browser: httpx.AsyncClient,
) -> None:
    given = {"Authorization": "Bearer wrong", "Origin": FOREIGN}
    assert await create_a_venue(browser, **given) == (401, "unauthorized")


async def test_reading_from_elsewhere_is_harmless(browser: httpx.AsyncClient) -> None:
    headers = {"Origin": FOREIGN, "Sec-Fetch-Site": "cross-site"}
    answer = await browser.get("/api/venues", headers=headers)
    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers  # so the page cannot see it


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None]
)
async def test_a_body_that_a_foreign_form_can_send_is_not_read(
    browser: httpx.AsyncClient, kind: str | None
) -> None:
    headers = {"Content-Type": kind} if kind else {}
    answer = await browser.post(
        "/api/venues", content=b'{"name": "Hall", "timezone": "UTC"}', headers=headers
    )
    assert (answer.status_code, answer.json()["error"]) == (415, "unsupported_media_type")


def socket(url: str, token: str, origin: str | None = None, **headers: str) -> connect:
    address = f"ws://{urlsplit(url).netloc}/api/live"
    given = headers or {"Cookie": f"{COOKIE}={token}"}
    return connect(address, origin=origin, additional_headers=given)  # type: ignore[arg-type]


async def is_answered(connection: ClientConnection) -> bool:
    await connection.send('{"type": "subscribe", "topic": "nothing"}')
    return "unknown_topic" in str(await connection.recv())


async def test_a_websocket_asked_for_by_another_site_is_not_opened(
    url: str, tenant: Tenant
) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with socket(url, tenant.tokens["owner"], FOREIGN):
            pass
    assert refused.value.response.status_code == 403


async def test_a_websocket_opened_by_our_own_page_stays_open(url: str, tenant: Tenant) -> None:
    async with socket(url, tenant.tokens["owner"], url) as connection:
        assert await is_answered(connection)


async def test_a_websocket_with_a_bearer_token_may_come_from_anywhere(
    url: str, tenant: Tenant
) -> None:
    async with socket(url, "", FOREIGN, **tenant.as_("owner")) as connection:
        assert await is_answered(connection)


async def test_a_broken_origin_is_foreign(browser: httpx.AsyncClient):
    assert await create_a_venue(browser, Origin="http://[") == REFUSED
