"""The browser apps, as built into web/dist: right caching, strict content policy."""

from pathlib import Path

from litestar import Router, get
from litestar.datastructures import CacheControlHeader
from litestar.handlers.http_handlers import HTTPRouteHandler
from litestar.response import File
from litestar.static_files import create_static_files_router  # pyright: ignore[reportUnknownVariableType]

from voelgoed.infra.refusal import NotFound

REPOSITORY = Path(__file__).parents[1]
DIST = REPOSITORY / "web" / "dist"
CONTRACT = REPOSITORY / "contracts" / "openapi.json"
APPS = ("scanner", "box-office", "dashboard")
PLACES = {"/home": "home", "/api/docs": "docs", **{f"/{app}": app for app in APPS}}
"""Where each directory of web/dist is served."""
ORDERS = "/orders"
"""Where buyers see their orders; see ticketing/api/order_page.py."""

FOREVER = CacheControlHeader(public=True, max_age=31_536_000, immutable=True)
ASK_FIRST = CacheControlHeader(no_cache=True)

_SELF = "script-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
APP_POLICY = (
    f"default-src 'none'; style-src 'self'; font-src 'self'; manifest-src 'self'; "
    f"worker-src 'self'; {_SELF}"
).encode()
DOCS_POLICY = (  # the documentation viewer sets styles on its elements
    f"default-src 'none'; style-src 'self' 'unsafe-inline'; font-src 'self' data:; {_SELF}"
).encode()
ORDER_POLICY = (  # no script at all: whoever runs one there has the tickets
    b"default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; "
    b"form-action 'none'; frame-ancestors 'none'"
)
API_POLICY = b"default-src 'none'; frame-ancestors 'none'"


def policy_of(path: str) -> bytes:
    if path.startswith("/api/"):  # first, because most are
        return DOCS_POLICY if is_below(path, "/api/docs") else API_POLICY
    if is_below(path, ORDERS):
        return ORDER_POLICY
    return APP_POLICY if is_page(path) else API_POLICY


def is_page(path: str) -> bool:
    return path == "/" or any(is_below(path, place) for place in (ORDERS, *PLACES))


def is_below(path: str, place: str) -> bool:
    return f"{path}/".startswith(f"{place}/")


@get("/", include_in_schema=False, opt={"public": True}, cache_control=ASK_FIRST)
async def home() -> File:
    page = DIST / "home" / "index.html"
    if not page.is_file():
        raise NotFound("The web apps are not built; `make web` builds them.")
    return File(page, content_disposition_type="inline", media_type="text/html")


@get("/api/openapi.json", include_in_schema=False, opt={"public": True}, cache_control=ASK_FIRST)
async def contract() -> File:
    return File(CONTRACT, content_disposition_type="inline", media_type="application/json")


def pages() -> list[HTTPRouteHandler | Router]:
    """Files under assets/ carry a hash of their content in their name; the rest may change."""
    routers: list[HTTPRouteHandler | Router] = [home]
    for place, name in PLACES.items():
        if (DIST / name).is_dir():
            routers += [
                create_static_files_router(
                    f"{place}/assets",
                    [DIST / name / "assets"],
                    cache_control=FOREVER,
                    name=f"{name}-assets",
                    opt={"public": True},
                ),
                create_static_files_router(
                    place,
                    [DIST / name],
                    html_mode=True,
                    cache_control=ASK_FIRST,
                    name=name,
                    opt={"public": True},
                ),
            ]
    return routers
