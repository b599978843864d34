"""Every setting, read once from the environment, checked before anything starts."""

import os
import re
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import msgspec

PREFIX = "VOELGOED_"
REDIS_SCHEMES = ("redis", "rediss", "unix")
SMTP_SCHEMES = ("smtp", "smtps", "smtp+starttls")
KEY_BYTES = 32


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
    master_key: str | None = None
    """Seals and derives secrets: 32 bytes as hex or base64; none beside the embedded database
    means a file of its own, which is made once."""
    previous_master_key: str | None = None
    """The one before, while something may still be sealed with it."""
    smtp_url: str | None = None
    """Who sends e-mail: smtp://user:password@host:port, or smtps, or smtp+starttls; none means off."""
    mail_from: str | None = None
    """The address that e-mail is from."""
    metrics_token: str | None = None
    """Bearer token for /metrics; without it only this machine may read them."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["auto", "json", "console"] = "auto"
    database_connections_max: int = 20
    """Per process; PostgreSQL's max_connections must cover all processes."""
    sync_batches_per_minute_max: int = 10
    """Of scans made offline, from one device."""

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
    if not 1 <= settings.sync_batches_per_minute_max <= 100_000:
        raise SettingsError(f"{PREFIX}SYNC_BATCHES_PER_MINUTE_MAX must be between 1 and 100000.")
    if settings.redis_url and urlsplit(settings.redis_url).scheme not in REDIS_SCHEMES:
        raise SettingsError(f"{PREFIX}REDIS_URL must begin with one of {', '.join(REDIS_SCHEMES)}.")
    if settings.public_url and not re.match(r"https?://[^/]", settings.public_url):
        raise SettingsError(f"{PREFIX}PUBLIC_URL must begin with http:// or https://.")
    _check_keys(settings)
    _check_mail(settings)
    return settings


def key_bytes(text: str | None) -> bytes | None:
    if text is None:
        return None
    key = bytes.fromhex(text) if len(text) == 2 * KEY_BYTES else b64decode(text, validate=True)
    if len(key) != KEY_BYTES:
        raise ValueError(f"a key of {len(key)} bytes")
    return key


def _check_keys(settings: Settings) -> None:
    for name in ("master_key", "previous_master_key"):
        try:
            key_bytes(getattr(settings, name))
        except ValueError:  # which may quote the key, so it is not quoted here
            raise SettingsError(
                f"{PREFIX}{name.upper()} must be {KEY_BYTES} bytes, as {2 * KEY_BYTES} hexadecimal "
                f"digits or as base64; `openssl rand -hex {KEY_BYTES}` makes one."
            ) from None
    if settings.previous_master_key and settings.database_url and not settings.master_key:
        raise SettingsError(f"{PREFIX}PREVIOUS_MASTER_KEY needs a {PREFIX}MASTER_KEY to follow it.")


def _check_mail(settings: Settings) -> None:
    if settings.smtp_url is None:
        return
    try:
        server = urlsplit(settings.smtp_url)
        is_complete = server.hostname and server.port != 0
    except ValueError:  # which may quote the password, so it is not quoted here
        raise SettingsError(
            f"{PREFIX}SMTP_URL must be like smtp://user:password@host:25, with %2F for a / in the password."
        ) from None
    if server.scheme not in SMTP_SCHEMES or not is_complete:
        raise SettingsError(
            f"{PREFIX}SMTP_URL must begin with one of {', '.join(SMTP_SCHEMES)}, then :// and a host."
        )
    if not re.fullmatch(r"[\w.+-]+@[\w-]+(\.[\w-]+)*", settings.mail_from or "", re.ASCII):
        raise SettingsError(
            f"{PREFIX}SMTP_URL needs a {PREFIX}MAIL_FROM such as tickets@example.org."
        )
    if settings.public_url is None:
        raise SettingsError(
            f"{PREFIX}SMTP_URL needs a {PREFIX}PUBLIC_URL such as https://tickets.example.org, "
            "because letters lead back to it."
        )


_USED_ELSEWHERE = {"chromium"}  # where the browser tests find their browser


def _decode(kind: type, value: object) -> object:
    if kind is Path:
        return Path(str(value))
    raise NotImplementedError(kind)
