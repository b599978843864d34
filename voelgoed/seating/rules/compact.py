"""Every seat's code in four bits, two to a byte: 50,000 seats are 25,000 bytes."""

import numpy as np

from voelgoed.seating.rules.house import Codes


def pack(codes: Codes) -> bytes:
    """The first of two seats in the low bits."""
    padded = np.append(codes, np.zeros(len(codes) % 2, np.uint8))
    return (padded[::2] | (padded[1::2] << 4)).astype(np.uint8).tobytes()


def unpack(packed: bytes, count: int) -> Codes:
    pairs = np.frombuffer(packed, np.uint8)
    codes = np.empty(len(pairs) * 2, np.uint8)
    codes[::2], codes[1::2] = pairs & 15, pairs >> 4
    return codes[:count]
