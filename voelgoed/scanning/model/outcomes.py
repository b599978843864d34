"""The five outcomes that a device reports of a scan."""

from typing import Literal

Outcome = Literal["valid", "duplicate", "invalid", "gate_access_denied", "expired"]
"""`valid`: somebody was let through. Anything else: nobody was."""
Colour = Literal["green", "red"]
