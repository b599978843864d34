"""Bytes in the alphabet of QR codes (RFC 9285). Every text that is read is the only one of its bytes:
groups that stand for no bytes are refused, and there is nothing to pad or to skip."""

import struct

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"
_PAIRS = [second + first for first in ALPHABET for second in ALPHABET]
"""The two characters of every number below 45 squared, the lower one first."""
_VALUES = {character: value for value, character in enumerate(ALPHABET)}


def to_base45(raw: bytes) -> str:
    words: tuple[int, ...] = struct.unpack(f">{len(raw) // 2}H", raw[: len(raw) & ~1])
    text = "".join([_PAIRS[word % 2025] + ALPHABET[word // 2025] for word in words])
    return text + _PAIRS[raw[-1]] if len(raw) % 2 else text


def from_base45(text: str) -> bytes | None:
    try:
        values = [_VALUES[character] for character in text]
    except KeyError:
        return None
    full = len(values) // 3 * 3
    words = [
        first + 45 * second + 2025 * third
        for first, second, third in zip(
            values[0:full:3], values[1:full:3], values[2:full:3], strict=True
        )
    ]
    rest = values[full:]
    last = [rest[0] + 45 * rest[1]] if len(rest) == 2 else []
    if len(rest) == 1 or max(words, default=0) > 0xFFFF or max(last, default=0) > 0xFF:
        return None
    return struct.pack(f">{len(words)}H", *words) + bytes(last)
