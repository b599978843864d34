"""What people read out and type: ticket codes and order numbers.

Both are made of Crockford's 32 symbols, of which none looks like another. Codes of tickets that were
sold elsewhere may have any letter, so nothing is corrected in a code; order numbers are all ours.
"""

import re

SYMBOLS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
CODE_RANDOM_BYTES = 8
CODE_BITS = 60
CODE_SYMBOLS = 12
ORDER_RANDOM_BYTES = 5
ORDER_SYMBOLS = 8
ORDER_PREFIX = "VG"

_CODE = re.compile(r"([A-Z0-9]{4})[- ]?([A-Z0-9]{4})[- ]?([A-Z0-9]{4})")
_ORDER_NUMBER = re.compile(r"(?:VG[- ]?)?([A-Z0-9]{3})[- ]?([A-Z0-9]{3})[- ]?([A-Z0-9]{3})")
_LOOKALIKES = str.maketrans("OIL", "011")


def code_from(random_bytes: bytes) -> str:
    """60 of the 64 bits given."""
    if len(random_bytes) != CODE_RANDOM_BYTES:
        raise ValueError(f"a code is made of {CODE_RANDOM_BYTES} bytes")
    number = int.from_bytes(random_bytes, "big") >> (8 * CODE_RANDOM_BYTES - CODE_BITS)
    return dashed(_symbols(number, CODE_SYMBOLS))


def read_code(text: str) -> str | None:
    """As it is kept, or None. Case, blanks around and what stands between the groups do not matter."""
    found = _CODE.fullmatch(_folded(text))
    return "-".join(found.groups()) if found else None


def dashed(symbols: str) -> str:
    return f"{symbols[:4]}-{symbols[4:8]}-{symbols[8:]}"


def order_number_from(random_bytes: bytes) -> str:
    """40 bits and a check symbol: `VG-7K2-M9Q-XDE`."""
    if len(random_bytes) != ORDER_RANDOM_BYTES:
        raise ValueError(f"an order number is made of {ORDER_RANDOM_BYTES} bytes")
    symbols = _symbols(int.from_bytes(random_bytes, "big"), ORDER_SYMBOLS)
    # The symbol that makes the remainder of the whole zero.
    symbols += SYMBOLS[_remainder(symbols + SYMBOLS[0])]
    return _grouped(symbols)


def read_order_number(text: str) -> str | None:
    """As it is kept, or None where a symbol is wrong or two have changed places."""
    found = _ORDER_NUMBER.fullmatch(_folded(text))
    if found is None:
        return None
    symbols = "".join(found.groups()).translate(_LOOKALIKES)
    if not set(SYMBOLS).issuperset(symbols) or _remainder(symbols) != 0:
        return None
    return _grouped(symbols)


def _folded(text: str) -> str:
    """Only ASCII is folded: other letters have capitals that are ASCII, as the long s has S."""
    text = text.strip()
    return text.upper() if text.isascii() else ""


def _symbols(number: int, count: int) -> str:
    return "".join(SYMBOLS[number >> (5 * place) & 31] for place in reversed(range(count)))


def _grouped(symbols: str) -> str:
    return f"{ORDER_PREFIX}-{symbols[:3]}-{symbols[3:6]}-{symbols[6:]}"


def _remainder(symbols: str) -> int:
    """A polynomial over the field of 32 elements, at a generator of it: each place has another
    power as its weight, so no wrong symbol and no exchange of two leaves the sum as it was."""
    value = 0
    for symbol in symbols:
        value = value << 1 ^ (0b100101 if value & 16 else 0) ^ SYMBOLS.index(symbol)
    return value
