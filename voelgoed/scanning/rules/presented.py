"""The code that somebody shows to a scanner, or types."""

from hashlib import sha256

from voelgoed.scanning.model.admission import Presented
from voelgoed.scanning.model.refusals import InvalidTicketCodeFormat, InvalidTicketCodeLength
from voelgoed.ticketing.rules.barcode import PREFIX
from voelgoed.ticketing.rules.codes import CODE_SYMBOLS, dashed, read_code

TYPED_MAX = 20
"""Characters. A barcode has many more."""
CODE_LENGTHS = range(CODE_SYMBOLS, CODE_SYMBOLS + 3)
"""Characters of a code, with the dashes or without."""


def read_presented(text: str) -> Presented | None:
    """The code or barcode in a text; None where it is neither a code nor a barcode of ours."""
    if len(text) <= TYPED_MAX:
        code = read_code(text)
        return None if code is None else Presented(text, code, None)
    end = len(PREFIX) + CODE_SYMBOLS
    code = read_code(text[len(PREFIX) : end]) if text.startswith(PREFIX) else None
    if code is None or dashed(text[len(PREFIX) : end]) != code:
        return None
    return Presented(text, code, sha256(text.encode(errors="surrogatepass")).hexdigest())


def refusal_to_read(text: str) -> InvalidTicketCodeFormat | InvalidTicketCodeLength:
    """Why a text is neither a code nor a barcode of ours."""
    if text.startswith(PREFIX) or len(text) in CODE_LENGTHS:
        return InvalidTicketCodeFormat()
    return InvalidTicketCodeLength(provided=len(text))
