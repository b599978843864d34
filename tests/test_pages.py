"""What browsers are given: right caching, strict policies, nothing from elsewhere."""

import re

import httpx
import pytest

from tests.support import Tenant
from voelgoed.static import APPS

PAGES = ["/", *(f"/{app}/" for app in APPS)]


@pytest.mark.parametrize("path", [*PAGES, "/api/docs/"])
async def test_a_page_is_asked_for_anew_and_its_files_are_kept_for_ever(
    client: httpx.AsyncClient, path: str
):
    page = await client.get(path)
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["cache-control"] == "no-cache"
    files = re.findall(r'(?:src|href)="(/[^"]+/assets/[^"]+)"', page.text)
    assert files
    for file in files:
        answer = await client.get(file)
        assert answer.status_code == 200, file
        assert "immutable" in answer.headers["cache-control"]
        assert "max-age=31536000" in answer.headers["cache-control"]


@pytest.mark.parametrize("path", PAGES)
async def test_an_app_may_load_and_call_only_its_own_server(client: httpx.AsyncClient, path: str):
    for address in {path, path.rstrip("/") or "/"}:
        policy = (await client.get(address)).headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy


async def test_only_the_documentation_may_style_inline(client: httpx.AsyncClient):
    policy = (await client.get("/api/docs/")).headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "style-src 'self' 'unsafe-inline'" in policy


async def test_data_is_kept_by_no_cache_and_runs_as_no_page(
    client: httpx.AsyncClient, tenant: Tenant
):
    for path in ("/api/session", "/api/nothing", "/dashboardx"):
        answer = await client.get(path, headers=tenant.as_("owner"))
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; frame")
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "/dashboard/../../pyproject.toml",
        "/dashboard/%2e%2e/%2e%2e/pyproject.toml",
        "/dashboard/assets/..%2f..%2f..%2fpyproject.toml",
    ],
)
async def test_nothing_outside_the_built_apps_can_be_reached(client: httpx.AsyncClient, path: str):
    raw = client.build_request("GET", "/")
    raw.url = raw.url.copy_with(raw_path=path.encode())
    answer = await client.send(raw)
    assert answer.status_code == 404
    assert "[project]" not in answer.text


@pytest.mark.parametrize(
    "path", ["/scanner/%00", "/scanner/" + "a" * 5_000, "/scanner/index.html/x"]
)
async def test_a_name_that_no_file_can_have_is_not_found(client: httpx.AsyncClient, path: str):
    answer = await client.get(path)
    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
