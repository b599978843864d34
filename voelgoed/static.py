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
PACKED = {
    f"{place}/assets/{file.stem}": f"{place}/packed/{file.name}"
    for place, name in PLACES.items()
    for file in (DIST / name / "packed").glob("*.br")
}
"""Where the build has put what it has compressed of a file."""

FOREVER = CacheControlHeader(public=True, max_age=31_536_000, immutable=True)
ASK_FIRST = CacheControlHeader(no_cache=True)

_SELF = "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
_APP = f"style-src 'self'; font-src 'self'; manifest-src 'self'; worker-src 'self'; {_SELF}"
APP_POLICY = f"default-src 'none'; script-src 'self'; {_APP}".encode()
SCANNER_POLICY = (  # what reads the camera is WebAssembly; text still becomes no code
    f"default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; {_APP}"
).encode()
DOCS_POLICY = (  # the documentation viewer sets styles on its elements
    f"default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    f"font-src 'self' data:; {_SELF}"
).encode()
PLAIN_POLICY = (  # no script at all: whoever runs one on the page of an order has the tickets
    b"default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; "
    b"form-action 'none'; frame-ancestors 'none'"
)
API_POLICY = b"default-src 'none'; frame-ancestors 'none'"

NO_PERMISSIONS = b"camera=(), microphone=(), geolocation=(), payment=(), usb=()"
SCANNER_PERMISSIONS = NO_PERMISSIONS.replace(b"camera=()", b"camera=(self)")


def packed_path(path: str, accepted: bytes) -> str | None:
    """Of the same file, for who takes Brotli."""
    packed = PACKED.get(path)
    if packed is None:
        return None
    takes = {each.split(b";")[0].strip() for each in accepted.split(b",") if b"q=0" not in each}
    return packed if b"br" in takes else None


def policy_of(path: str) -> bytes:
    if path.startswith("/api/"):  # first, because most are
        return DOCS_POLICY if is_below(path, "/api/docs") else API_POLICY
    if is_below(path, ORDERS):
        return PLAIN_POLICY
    if is_below(path, "/scanner"):  # its workers too: each goes by the policy of its own file
        return SCANNER_POLICY
    return APP_POLICY if is_page(path) else PLAIN_POLICY


def permissions_of(path: str) -> bytes:
    """What a page may ask a person for."""
    return SCANNER_PERMISSIONS if is_below(path, "/scanner") else NO_PERMISSIONS


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
                # Two, for the framework keeps the headers of a directory's last file for the next.
                *(
                    create_static_files_router(
                        f"{place}/{kept}",
                        [DIST / name / kept],
                        cache_control=FOREVER,
                        name=f"{name}-{kept}",
                        opt={"public": True},
                    )
                    for kept in ("assets", "packed")
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
