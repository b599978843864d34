"""The browser apps, as built into web/dist: right caching, strict content policy."""

from pathlib import Path

from litestar import Router
from litestar.datastructures import CacheControlHeader
from litestar.static_files import create_static_files_router  # pyright: ignore[reportUnknownVariableType]

DIST = Path(__file__).parents[1] / "web" / "dist"
APPS = ("scanner", "box-office", "dashboard")
PATHS = tuple(f"/{app}" for app in APPS)

FOREVER = CacheControlHeader(public=True, max_age=31_536_000, immutable=True)
ASK_FIRST = CacheControlHeader(no_cache=True)


def static_routers(dist: Path = DIST) -> list[Router]:
    """Files under assets/ carry a hash of their content in their name; the rest may change."""
    routers: list[Router] = []
    for app in APPS:
        if not (dist / app).is_dir():
            continue
        routers.append(
            create_static_files_router(
                f"/{app}/assets",
                [dist / app / "assets"],
                cache_control=FOREVER,
                name=f"{app}-assets",
                include_in_schema=False,
            )
        )
        routers.append(
            create_static_files_router(
                f"/{app}",
                [dist / app],
                html_mode=True,
                cache_control=ASK_FIRST,
                name=app,
                include_in_schema=False,
            )
        )
    return routers
