"""What somebody holds before a scanner, or types."""

from hashlib import sha256

from voelgoed.scanning.model.admission import Presented
from voelgoed.ticketing.rules.barcode import PREFIX
from voelgoed.ticketing.rules.codes import CODE_SYMBOLS, dashed, read_code

TYPED_MAX = 20
"""Characters. A barcode has many more."""


def read_presented(text: str) -> Presented | None:
    """None where it is nothing of ours, whoever's barcode it may be."""
    if len(text) <= TYPED_MAX:
        code = read_code(text)
        return None if code is None else Presented(text, code, None)
    end = len(PREFIX) + CODE_SYMBOLS
    code = read_code(text[len(PREFIX) : end]) if text.startswith(PREFIX) else None
    if code is None or dashed(text[len(PREFIX) : end]) != code:
        return None
    return Presented(text, code, sha256(text.encode(errors="surrogatepass")).hexdigest())
