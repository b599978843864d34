"""Structured logs, one event a line, without secrets."""

import logging
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import structlog
from structlog.typing import EventDict, WrappedLogger

SECRET_WORDS = ("password", "token", "secret", "authorization", "cookie", "api_key", "barcode")
REDACTED = "[redacted]"


def configure_logs(level: str, style: str) -> None:
    readable = style == "console" or (style == "auto" and sys.stderr.isatty())
    # Not the default traceback: it prints local variables, tokens and passwords among them.
    console = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    renderer = console if readable else structlog.processors.JSONRenderer()
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    if not readable:
        shared.append(structlog.processors.format_exc_info)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,  # first: what nobody reads takes no time
            *shared,
            redact,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for noisy in ("uvicorn", "pgqueuer", "asyncio"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


@contextmanager
def only_warnings() -> Generator[None]:
    """While so much happens that nobody would read it."""
    root = logging.getLogger()
    before = root.level
    root.setLevel(max(before, logging.WARNING))
    try:
        yield
    finally:
        root.setLevel(before)


def redact(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    return {name: _redacted(name, value) for name, value in event.items()}


def _redacted(name: str, value: object) -> object:
    if any(word in name.lower() for word in SECRET_WORDS):
        return REDACTED
    if isinstance(value, dict):
        return {str(k): _redacted(str(k), v) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return value
