"""Bodies of deliveries: compressed, cut short, too large, or in another format."""

import gzip
import json
import tracemalloc
import zlib
from typing import Any
from uuid import uuid4

import httpx
import pytest
import zstandard

from tests.scanning.recovery_support import exported
from tests.scanning.support import Device, World
from tests.scanning.sync_support import iso, offline, offline_batch, signed, signed_batch
from voelgoed.infra.digest import digest_of
from voelgoed.infra.web import BodyTooLarge, InvalidEncoding, UnsupportedEncoding, unpacked

WHOLE, SIGNED = "/api/scans/sync", "/api/scanning/sync"
MEGABYTE = 1024 * 1024
PACKING = {"gzip": gzip.compress, "zstd": zstandard.ZstdCompressor().compress}


async def post(
    world: World,
    device: Device,
    path: str,
    content: bytes,
    encoding: str | None = None,
    **more: str,
) -> httpx.Response:
    headers = device.headers | {"Content-Type": "application/json"} | more
    if encoding is not None:
        headers["Content-Encoding"] = encoding
    return await world.client.post(path, content=content, headers=headers)


async def refused(answer: httpx.Response, status: int, error: str) -> None:
    assert (answer.status_code, answer.json()["error"]) == (status, error), answer.text


def bomb(encoding: str, megabytes: int) -> bytes:
    """Blanks, which are valid JSON as far as they go."""
    blanks = b" " * MEGABYTE
    if encoding == "gzip":
        packing = zlib.compressobj(9, wbits=31)
        return b"".join(packing.compress(blanks) for _ in range(megabytes)) + packing.flush()
    kit = zstandard.ZstdCompressor().compressobj()
    return b"".join(kit.compress(blanks) for _ in range(megabytes)) + kit.flush()


@pytest.mark.parametrize("encoding", ["gzip", "zstd", "GZIP", "identity"])
async def test_both_addresses_accept_compressed_bodies(world: World, encoding: str):
    device, (first, second) = await world.device(), await world.tickets(2)
    pack = PACKING.get(encoding.lower(), bytes)
    body = offline_batch(world, device, offline(world, first.code))
    answer = await post(world, device, WHOLE, pack(json.dumps(body).encode()), encoding)
    assert (answer.status_code, answer.json()["processed_count"]) == (200, 1), answer.text
    body = signed_batch(device, await signed(world, device, second))
    answer = await post(world, device, SIGNED, pack(json.dumps(body).encode()), encoding)
    assert (answer.status_code, len(answer.json()["processed"])) == (200, 1), answer.text
    assert (await world.inside())["event"] == 2


async def test_a_batch_is_the_same_in_every_encoding(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    body = offline_batch(world, device, offline(world, ticket.code))
    first = await post(world, device, WHOLE, json.dumps(body, indent=2).encode())
    again = await post(world, device, WHOLE, gzip.compress(json.dumps(body).encode()), "gzip")
    assert again.json()["message"] == "Batch already synced (idempotent)"
    assert first.json() == {name: each for name, each in again.json().items() if name != "message"}


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
async def test_files_of_queues_may_be_compressed_too(world: World, encoding: str):
    device, [ticket] = await world.device(), await world.tickets(1)
    file = json.dumps(exported(world, device, await signed(world, device, ticket))).encode()
    headers = world.tenant.as_("admin") | {
        "Content-Type": "application/json",
        "Content-Encoding": encoding,
    }
    path, packed = "/api/scanning/recoveries", PACKING[encoding](file)
    answer = await world.client.post(path, content=packed, headers=headers)
    assert (answer.status_code, answer.json()["data"]["kept"]) == (200, 1), answer.text
    cut = await world.client.post(path, content=packed[:-5], headers=headers)
    await refused(cut, 400, "invalid_encoding")


@pytest.mark.parametrize("encoding", ["br", "deflate", "gzip, zstd", "x"])
async def test_other_encodings_are_refused(world: World, encoding: str):
    device = await world.device()
    for path in (WHOLE, SIGNED):
        await refused(await post(world, device, path, b"{}", encoding), 415, "unsupported_encoding")


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
async def test_a_body_that_was_cut_short_or_extended_is_refused(world: World, encoding: str):
    device, [ticket] = await world.device(), await world.tickets(1)
    body = json.dumps(offline_batch(world, device, offline(world, ticket.code))).encode()
    whole = PACKING[encoding](body)
    for wrong in (whole[:-1], whole[: len(whole) // 2], whole + b"x", whole + whole, body):
        await refused(await post(world, device, WHOLE, wrong, encoding), 400, "invalid_encoding")
    assert await world.rows("SELECT 1 FROM scan") == []


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
async def test_a_small_body_that_becomes_a_large_one_is_refused(world: World, encoding: str):
    device = await world.device()
    for path, megabytes in ((SIGNED, 20), (WHOLE, 200)):
        content = bomb(encoding, megabytes)
        assert len(content) < 400_000
        answer = await post(world, device, path, content, encoding)
        # A body that is too large before it is decompressed is refused for that, too.
        await refused(answer, 413, "body_too_large")


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_no_more_is_decompressed_than_is_allowed(encoding: str):
    content = bomb(encoding, 300)
    tracemalloc.start()
    try:
        with pytest.raises(BodyTooLarge):
            unpacked(content, encoding, MEGABYTE)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 20 * MEGABYTE


def test_an_allowed_body_is_decompressed_to_the_last_byte():
    plain = b"x" * MEGABYTE
    for encoding, pack in PACKING.items():
        assert unpacked(pack(plain), encoding, MEGABYTE) == plain
        with pytest.raises(BodyTooLarge):
            unpacked(pack(plain + b"x"), encoding, MEGABYTE)
    with pytest.raises(UnsupportedEncoding):
        unpacked(plain, "br", MEGABYTE)
    huge = zstandard.ZstdCompressionParameters(window_log=27)
    kit = zstandard.ZstdCompressor(compression_params=huge).compressobj()
    with pytest.raises(InvalidEncoding):
        unpacked(kit.compress(plain) + kit.flush(), "zstd", MEGABYTE)


@pytest.mark.parametrize("content", [b"", b"{", b"nothing", b"\xff\xfe"])
async def test_a_body_that_is_not_json_is_refused(world: World, content: bytes):
    device = await world.device()
    for path in (WHOLE, SIGNED):
        answer = await post(world, device, path, content)
        await refused(answer, 400, "invalid_json" if content else "batch_malformed")


async def test_at_most_fifty_scans_are_accepted_at_once(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scans = [await signed(world, device, ticket) for _ in range(51)]
    answer = await post(world, device, SIGNED, json.dumps(signed_batch(device, *scans)).encode())
    await refused(answer, 400, "batch_malformed")
    assert answer.json()["details"]["faults"][0]["path"] == "$.scans"
    answer = await post(world, device, SIGNED, json.dumps(signed_batch(device)).encode())
    await refused(answer, 400, "batch_malformed")
    body = signed_batch(device, *scans[:50])
    assert (await post(world, device, SIGNED, json.dumps(body).encode())).status_code == 200


async def test_at_most_ten_thousand_scans_are_accepted_at_once(world: World):
    device = await world.device()
    scan = {"ticket_code": "0000-0000-0000", "scanned_at": iso(world.now)}
    for count in (0, 10_001):
        body = offline_batch(world, device, *[scan] * count)
        answer = await post(world, device, WHOLE, json.dumps(body).encode())
        await refused(answer, 400, "batch_malformed")


async def test_a_batch_must_state_its_number_of_scans(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    for size in (0, 2, 10_001):
        body = offline_batch(world, device, offline(world, ticket.code), batch_size=size)
        answer = await post(world, device, WHOLE, json.dumps(body).encode())
        await refused(answer, 400, "batch_malformed")
        assert answer.json()["details"]["faults"][0]["path"] == "$.batch_size"


WRONG_OF_WHOLE: list[dict[str, Any]] = [
    {"ticket_code": 5},
    {"ticket_code": ""},
    {"ticket_code": "a\0b"},
    {"ticket_code": "x" * 301},
    {"scanned_at": "yesterday"},
    {"scanned_at": "2026-11-16T10:00:00"},
    {"scanned_at": 1_700_000_000},
    {"offline_id": ""},
    {"offline_id": "x" * 101},
    {"gate_id": "a gate"},
    {"direction": "out"},
    {"outcome": "perhaps"},
]
WRONG_OF_SIGNED: list[dict[str, Any]] = [
    {"scan_id": "1"},
    {"scan_id": None},
    {"ticket_id": 5},
    {"barcode_hash": "sha256:AB"},
    {"scanned_at": "2026-13-45T99:00:00Z"},
    {"scanned_at": "2026-11-16T10:00:00"},
    {"gate_id": ""},
    {"outcome": "perhaps"},
    {"signature": "HMAC-SHA256=ABC"},
    {"signature": None},
]


@pytest.mark.parametrize("wrong", WRONG_OF_WHOLE, ids=str)
async def test_a_wrong_scan_in_a_whole_queue_is_named(world: World, wrong: dict[str, Any]):
    device = await world.device()
    body = offline_batch(world, device, offline(world, "0000-0000-0000") | wrong)
    answer = await post(world, device, WHOLE, json.dumps(body).encode())
    await refused(answer, 400, "batch_malformed")
    assert answer.json()["details"]["faults"][0]["path"].startswith("$.scans[")


@pytest.mark.parametrize("wrong", WRONG_OF_SIGNED, ids=str)
async def test_a_wrong_signed_scan_is_named(world: World, wrong: dict[str, Any]):
    device = await world.device()
    body = signed_batch(device, await signed(world, device, None) | wrong)
    answer = await post(world, device, SIGNED, json.dumps(body).encode())
    await refused(answer, 400, "batch_malformed")
    assert answer.json()["details"]["faults"][0]["path"].startswith("$.scans[")


async def test_the_id_of_a_delivery_is_a_uuid(world: World):
    device = await world.device()
    whole = offline_batch(world, device, offline(world, "0000-0000-0000")) | {"batch_id": "queue-1"}
    a_signed = signed_batch(device, await signed(world, device, None)) | {"sync_batch_id": "1"}
    for path, body in ((WHOLE, whole), (SIGNED, a_signed)):
        answer = await post(world, device, path, json.dumps(body).encode())
        await refused(answer, 400, "batch_malformed")


@pytest.mark.parametrize("offset", ["5", None, 1e300, True])
async def test_an_impossible_offset_is_refused(world: World, offset: object):
    device = await world.device()
    scan = await signed(world, device, None)
    body = json.dumps(signed_batch(device, scan, offset_seconds=offset)).encode()
    await refused(await post(world, device, SIGNED, body), 400, "batch_malformed")


@pytest.mark.parametrize(
    "device_time", ["", "now", "5", "2026-11-16T10:00:00", "0001-01-01T00:00:00Z"]
)
async def test_an_invalid_device_time_is_refused(world: World, device_time: str):
    device, [ticket] = await world.device(), await world.tickets(1)
    body = json.dumps(signed_batch(device, await signed(world, device, ticket))).encode()
    answer = await post(world, device, SIGNED, body, **{"X-Device-Time": device_time})
    await refused(answer, 400, "batch_malformed")
    assert answer.json()["details"]["faults"][0]["path"] == "X-Device-Time"


async def test_other_addresses_decompress_nothing(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    body = world.body(device, ticket.code, scan_id=str(uuid4()))
    packed = gzip.compress(json.dumps(body).encode())
    answer = await post(world, device, "/api/scans", packed, "gzip")
    assert 400 <= answer.status_code < 500


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
async def test_a_body_that_was_changed_on_its_way_is_refused(world: World, encoding: str):
    device, [ticket] = await world.device(), await world.tickets(1)
    body = json.dumps(signed_batch(device, await signed(world, device, ticket))).encode()
    sent = gzip.compress(body) if encoding == "gzip" else body
    headers = device.headers | {
        "Content-Type": "application/json",
        "Content-Encoding": encoding,
        "Content-Digest": f"sha-512=:of-no-interest:, {digest_of(sent)}",
    }
    changed = sent.replace(b'"offset_seconds": 0', b'"offset_seconds": 8')
    changed = changed if changed != sent else sent[:-1] + bytes([sent[-1] ^ 1])
    answer = await world.client.post("/api/scanning/sync", content=changed, headers=headers)
    await refused(answer, 400, "invalid_digest")
    assert await world.rows("SELECT id FROM scan") == []
    answer = await world.client.post("/api/scanning/sync", content=sent, headers=headers)
    assert answer.status_code == 200, answer.text
