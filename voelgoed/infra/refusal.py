"""Why something was not done.

A refusal is a class: its name is the code (`EventNotFound` -> `event_not_found`), its
docstring the message for a person. Domains define their own under one of the kinds
below; `infra/web.py` has the one table from kind to HTTP status.
"""

import re

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Refusal(Exception):
    """The request was refused."""

    code: str = "refused"
    message: str

    def __init_subclass__(cls) -> None:
        if "code" not in cls.__dict__:  # what two refusals share, under different statuses
            cls.code = _WORD_START.sub("_", cls.__name__).lower()

    def __init__(self, message: str | None = None, **details: object) -> None:
        self.message = message or " ".join((type(self).__doc__ or "").split())
        self.details = details
        super().__init__(self.message)


class Malformed(Refusal):
    """The request could not be read."""


class Unauthenticated(Refusal):
    """Who is asking is not known."""


class Forbidden(Refusal):
    """Your role does not allow this."""


class Missing(Refusal):
    """There is nothing here by that name."""


class Conflict(Refusal):
    """This contradicts the present state."""


class Invalid(Refusal):
    """The request is well-formed but wrong."""


class TooMany(Refusal):
    """Too many requests; wait a little."""


class Unavailable(Refusal):
    """The service cannot do this right now; try again shortly."""


class Untimely(Refusal):
    """This cannot be done at this time."""


class Failed(Refusal):
    """This should have worked, and did not; it has been noted."""


class NotFound(Missing):
    """There is nothing at this address."""


class InvalidRequest(Invalid):
    """The request has faults; `details.faults` names each one."""


class VersionConflict(Conflict):
    """Somebody changed this in the meantime; read it again and repeat the change."""


class RateLimited(TooMany):
    """Too many attempts; wait a little."""


class StorageUnavailable(Unavailable):
    """The database cannot be reached right now; try again shortly."""


class StorageBusy(StorageUnavailable):
    """Others are at work on the same; try again shortly."""

    code = StorageUnavailable.code
