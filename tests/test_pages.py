"""What browsers are given: right caching, strict policies, nothing from elsewhere."""

import re

import brotli
import httpx
import pytest

from tests.support import Tenant
from voelgoed.static import APPS, DIST

PAGES = ["/", *(f"/{app}/" for app in APPS)]
SCANNER_FILES = [
    file for file in (DIST / "scanner").rglob("*") if file.is_file() and file.suffix != ".br"
]


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
        assert "unsafe" not in policy.replace("'wasm-unsafe-eval'", "")
        assert "frame-ancestors 'none'" in policy


async def test_only_the_scanner_may_run_webassembly_and_so_may_its_workers(
    client: httpx.AsyncClient,
):
    files = [f"/scanner/{file.relative_to(DIST / 'scanner')}" for file in SCANNER_FILES]
    for path in ["/scanner/", *files]:
        policy = (await client.get(path)).headers["content-security-policy"]
        assert "script-src 'self' 'wasm-unsafe-eval';" in policy
    for path in {"/", "/scannerx", *PAGES, "/api/docs/"} - {"/scanner/"}:
        assert "wasm" not in (await client.get(path)).headers["content-security-policy"]


@pytest.mark.parametrize("accepted", ["gzip, deflate, br, zstd", "br;q=1.0", "gzip", "br;q=0"])
async def test_files_go_compressed_to_who_takes_that(client: httpx.AsyncClient, accepted: str):
    [wasm] = (DIST / "scanner" / "assets").glob("*.wasm")
    path, headers = f"/scanner/assets/{wasm.name}", {"Accept-Encoding": accepted}
    async with client.stream("GET", path, headers=headers) as answer:
        sent = b"".join([piece async for piece in answer.aiter_raw()])
    packed = accepted in ("gzip, deflate, br, zstd", "br;q=1.0")
    assert answer.headers.get("content-encoding") == ("br" if packed else None)
    assert answer.headers["content-type"] == "application/wasm"
    assert answer.headers["vary"] == "accept-encoding"
    assert "immutable" in answer.headers["cache-control"]
    assert (brotli.decompress(sent) if packed else sent) == wasm.read_bytes()


async def test_only_the_scanner_may_ask_for_the_camera(client: httpx.AsyncClient):
    for path, may in (("/scanner/", "(self)"), ("/box-office/", "()"), ("/api/session", "()")):
        allowed = (await client.get(path)).headers["permissions-policy"].split(", ")
        assert f"camera={may}" in allowed
        assert "microphone=()" in allowed


async def test_the_scanner_is_kept_on_a_device_and_its_service_worker_is_asked_for_anew(
    client: httpx.AsyncClient,
):
    worker = await client.get("/scanner/sw.js")
    assert worker.headers["content-type"].startswith("text/javascript")
    assert worker.headers["cache-control"] == "no-cache"
    named = {
        path.removeprefix("/scanner/")
        for path in re.findall(r"path:[`\"'](/scanner/[^`\"']*)", worker.text)
    }
    built = {str(file.relative_to(DIST / "scanner")) for file in SCANNER_FILES}
    assert named | {"index.html", "sw.js"} == built | {""}
    for path in named:
        answer = await client.get(f"/scanner/{path}")
        assert answer.status_code == 200
        # Compiled while it is loaded only if it is served as what it is.
        assert (answer.headers["content-type"] == "application/wasm") == path.endswith(".wasm")


async def test_an_installable_app_is_described_with_pictures_that_are_there(
    client: httpx.AsyncClient,
):
    page = (await client.get("/scanner/")).text
    described = re.search(r'rel="manifest" href="([^"]+)"', page)
    assert described
    answer = await client.get(described[1])
    assert answer.headers["content-type"].startswith("application/manifest+json")
    assert answer.headers["cache-control"] == "no-cache"
    app = answer.json()
    assert (app["start_url"], app["display"]) == ("/scanner/", "standalone")
    for icon in app["icons"]:
        picture = await client.get(f"/scanner/{icon['src']}")
        assert picture.headers["content-type"] == icon["type"]


async def test_only_the_documentation_may_style_inline(client: httpx.AsyncClient):
    policy = (await client.get("/api/docs/")).headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "style-src 'self' 'unsafe-inline'" in policy


@pytest.mark.parametrize("path", ["/nonsense", "/dashboardx", "/box-office/nonsense", "/orders"])
async def test_whoever_types_an_address_that_is_none_is_led_on(
    client: httpx.AsyncClient, path: str
):
    answer = await client.get(path, headers={"Accept": "text/html,*/*;q=0.8"})
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "style-src 'self'" in policy
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/nonsense", "/api/nonsense"])
async def test_a_program_that_asks_for_what_is_not_there_gets_data(
    client: httpx.AsyncClient, path: str
):
    accepted = "text/html" if path.startswith("/api") else "application/json"
    answer = await client.get(path, headers={"Accept": accepted})
    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")


async def test_data_is_kept_by_no_cache_and_runs_as_no_page(
    client: httpx.AsyncClient, tenant: Tenant
):
    for path in ("/api/session", "/api/nothing"):
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
