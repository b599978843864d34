"""Every setting, read once from the environment, checked before anything starts."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import msgspec

PREFIX = "VOELGOED_"
REDIS_SCHEMES = ("redis", "rediss", "unix")


class SettingsError(Exception):
    """A setting is wrong; the message says which and why."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    data: Path = Path("var")
    """Where the embedded database and the demo's log-ins live."""
    database_url: str | None = None
    """An outside PostgreSQL, as role voelgoed_server; none means the embedded one."""
    migration_url: str | None = None
    """The same database as the role that owns the tables; only `voelgoed migrate` uses it."""
    redis_url: str | None = None
    """Warm cache tier; without it reads go from memory straight to PostgreSQL."""
    public_url: str | None = None
    """How browsers reach us; https here makes the session cookie Secure."""
    forwarded_allow_ips: str = "127.0.0.1"
    """Proxies whose X-Forwarded-* headers are believed."""
    metrics_token: str | None = None
    """Bearer token for /metrics; without it only this machine may read them."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["auto", "json", "console"] = "auto"
    database_connections_max: int = 20
    """Per process; PostgreSQL's max_connections must cover all processes."""

    @property
    def secure_cookies(self) -> bool:
        return self.public_url is not None and urlsplit(self.public_url).scheme == "https"


def read_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    given = {
        name.removeprefix(PREFIX).lower(): value
        for name, value in environment.items()
        if name.startswith(PREFIX)
    }
    known = {field.name for field in msgspec.structs.fields(Settings)} | _USED_ELSEWHERE
    if unknown := sorted(set(given) - known):
        names = ", ".join(PREFIX + name.upper() for name in unknown)
        all_names = ", ".join(sorted(PREFIX + name.upper() for name in known))
        raise SettingsError(f"Unknown setting {names}; there are {all_names}.")
    values = {name: value for name, value in given.items() if name not in _USED_ELSEWHERE}
    try:
        settings = msgspec.convert(values, Settings, strict=False, dec_hook=_decode)
    except msgspec.ValidationError as fault:
        raise SettingsError(f"A setting is wrong: {fault}") from None
    if not 2 <= settings.database_connections_max <= 1000:
        raise SettingsError(f"{PREFIX}DATABASE_CONNECTIONS_MAX must be between 2 and 1000.")
    if settings.redis_url and urlsplit(settings.redis_url).scheme not in REDIS_SCHEMES:
        raise SettingsError(f"{PREFIX}REDIS_URL must begin with one of {', '.join(REDIS_SCHEMES)}.")
    if settings.public_url and not re.match(r"https?://[^/]", settings.public_url):
        raise SettingsError(f"{PREFIX}PUBLIC_URL must begin with http:// or https://.")
    return settings


_USED_ELSEWHERE = {"chromium"}  # where the browser tests find their browser


def _decode(kind: type, value: object) -> object:
    if kind is Path:
        return Path(str(value))
    raise NotImplementedError(kind)
