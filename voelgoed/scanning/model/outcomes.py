"""What a device says of a scan, in five words."""

from typing import Literal

Outcome = Literal["valid", "duplicate", "invalid", "gate_access_denied", "expired"]
"""`valid`: somebody was let through. Anything else: nobody was."""
Colour = Literal["green", "red"]
