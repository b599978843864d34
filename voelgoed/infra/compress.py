"""Compressed bodies that are all the same but for their last bytes.

The first part is compressed once and left open; whatever each answer ends with is appended to it,
uncompressed or nearly so, which takes microseconds. What a reader gets is one ordinary stream.
"""

import zlib
from collections.abc import Callable
from typing import Any, Literal

import brotli  # pyright: ignore[reportMissingTypeStubs]
import msgspec
import zstandard

_brotli: Any = brotli  # which knows no types
Encoding = Literal["zstd", "br", "gzip", "identity"]
PREFERRED: tuple[Encoding, ...] = ("zstd", "br", "gzip", "identity")

# The fastest: what is mostly hashes is not made smaller by looking longer, sometimes larger.
ZSTD_LEVEL = 1
BROTLI_QUALITY = 1
GZIP_LEVEL = 1
ENDING_BYTES_MAX = 65_536
"""What fits into one block, of brotli as of zstd."""

_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_ZSTD_HEAD = b"\x28\xb5\x2f\xfd\x00\x58"
"""Of a frame that says neither its size nor a checksum; the library writes none for no content."""


class Opened(msgspec.Struct, frozen=True):
    """What comes first, compressed, and to be ended."""

    encoding: Encoding
    content: bytes
    size: int
    """Before it was compressed."""
    checksum: int
    """CRC-32, which gzip ends with."""


def open_stream(encoding: Encoding, first: bytes | memoryview) -> Opened:
    """Takes a while; the libraries let other threads run meanwhile."""
    checksum = zlib.crc32(first) if encoding == "gzip" else 0
    return Opened(encoding, _OPEN[encoding](first), len(first), checksum)


def ending(opened: Opened, last: bytes) -> bytes:
    """What follows `opened.content`."""
    if len(last) > ENDING_BYTES_MAX:
        raise ValueError("more than the end of a stream has room for")
    return _END[opened.encoding](opened, last)


def unzstd(opened: bytes, size: int) -> bytes:
    """What was opened with zstd; `size` is what it had before."""
    content = zstandard.ZstdDecompressor().decompressobj().decompress(opened)
    if len(content) != size:
        raise ValueError("not all of it is there")
    return content


def _open_zstd(first: bytes | memoryview) -> bytes:
    compressor = zstandard.ZstdCompressor(
        ZSTD_LEVEL, write_content_size=False, write_checksum=False
    ).compressobj()
    content = compressor.compress(first)
    return (content + compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)) or _ZSTD_HEAD


def _end_zstd(_: Opened, last: bytes) -> bytes:
    """One raw block, which is the last."""
    return (len(last) << 3 | 1).to_bytes(3, "little") + last


def _open_brotli(first: bytes | memoryview) -> bytes:
    compressor = _brotli.Compressor(quality=BROTLI_QUALITY)
    return compressor.process(first) + compressor.flush()


def _end_brotli(_: Opened, last: bytes) -> bytes:
    """One uncompressed meta-block, and an empty one, which is the last."""
    if not last:
        return b"\x03"
    head = 1 << 19 | (len(last) - 1) << 3
    return head.to_bytes(3, "little") + last + b"\x03"


def _open_gzip(first: bytes | memoryview) -> bytes:
    compressor = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return _GZIP_HEAD + compressor.compress(first) + compressor.flush(zlib.Z_FULL_FLUSH)


def _end_gzip(opened: Opened, last: bytes) -> bytes:
    compressor = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    checksum = zlib.crc32(last, opened.checksum)
    size = (opened.size + len(last)) & 0xFFFFFFFF
    end = checksum.to_bytes(4, "little") + size.to_bytes(4, "little")
    return compressor.compress(last) + compressor.flush() + end


_OPEN: dict[Encoding, Callable[[bytes | memoryview], bytes]] = {
    "zstd": _open_zstd,
    "br": _open_brotli,
    "gzip": _open_gzip,
    "identity": bytes,
}
_END: dict[Encoding, Callable[[Opened, bytes], bytes]] = {
    "zstd": _end_zstd,
    "br": _end_brotli,
    "gzip": _end_gzip,
    "identity": lambda _, last: last,
}


def choose_encoding(accepted: str) -> Encoding:
    """By an Accept-Encoding header: what is liked best, and among equals what we like best. What is
    not named, nor meant by `*`, is not sent; as it is, everything may be."""
    weights = dict(_weighted(each) for each in accepted.lower().split(",") if each.strip())
    best, most = PREFERRED[-1], 0.0
    for encoding in PREFERRED[:-1]:
        names = ("gzip", "x-gzip") if encoding == "gzip" else (encoding,)
        named = [weights[name] for name in names if name in weights]
        weight = max(named) if named else weights.get("*", 0.0)
        if weight > most:
            best, most = encoding, weight
    return best if most >= weights.get("identity", 0.0) else "identity"


def _weighted(text: str) -> tuple[str, float]:
    """What is no weight is none: whoever cannot write it gets what everybody can read."""
    name, _, parameter = text.partition(";")
    key, _, value = parameter.strip().partition("=")
    if not parameter.strip():
        return name.strip(), 1.0
    try:
        weight = float(value) if key.strip() == "q" else 0.0
    except ValueError:
        weight = 0.0
    return name.strip(), weight if 0.0 < weight <= 1.0 else 0.0
