"""A device that asks for manifests and verifies each of them."""

import gzip
import json
from dataclasses import dataclass, field
from typing import Any

import brotli
import httpx
import zstandard

from tests.scanning.support import Device, World
from voelgoed.scanning.model.manifests import Tail
from voelgoed.scanning.rules.manifest import apply_delta, content_hash, cut, is_delta, verify

DECODERS = {
    "zstd": lambda body: zstandard.ZstdDecompressor().decompressobj().decompress(body),
    "br": brotli.decompress,
    "gzip": gzip.decompress,
    None: bytes,
}


async def fetch(world: World, device: Device, event_id: Any = None, **more: Any) -> httpx.Response:
    """The answer as the server sends it, not decoded."""
    headers = device.headers | more.pop("headers", {})
    path = f"/api/scanning/events/{event_id or world.event_id}/manifest"
    async with world.client.stream("GET", path, headers=headers, params=more) as answer:
        raw = b"".join([piece async for piece in answer.aiter_raw()])
    if answer.status_code == 200:
        assert len(raw) == int(answer.headers["content-length"])
        body = DECODERS[answer.headers.get("content-encoding")](raw)
    else:
        body = raw
    kept = {name: answer.headers[name] for name in answer.headers if name != "content-encoding"}
    return httpx.Response(answer.status_code, headers=kept, content=body)


@dataclass
class Reader:
    """This reader keeps the last manifest that it could verify."""

    world: World
    device: Device
    document: bytes = b""
    tail: Tail | None = None
    deltas: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @property
    def manifest(self) -> dict[str, Any]:
        return json.loads(self.document)

    @property
    def version(self) -> int:
        return self.manifest["manifest_version"]

    def entry(self, ticket_id: Any) -> dict[str, Any]:
        [found] = [each for each in self.manifest["tickets"] if each["ticket_id"] == str(ticket_id)]
        return found

    async def hydrate(self, **more: Any) -> httpx.Response:
        answer = await fetch(self.world, self.device, **more)
        assert answer.status_code == 200, answer.text
        self.document = self._verified(answer)
        assert not is_delta(self.document)
        return answer

    async def update(self) -> httpx.Response:
        """Updates by a delta, and checks that it leads to exactly the present manifest."""
        answer = await fetch(self.world, self.device, since=self.version)
        if answer.status_code == 304:
            return answer
        delta = self._verified(answer)
        assert is_delta(delta)
        self.deltas.append(json.loads(delta))
        self.document = apply_delta(self.document, delta)
        whole = await fetch(self.world, self.device)
        assert self._verified(whole) == self.document
        return answer

    def _verified(self, answer: httpx.Response) -> bytes:
        verified = verify(answer.content, self.device.api_key)
        assert verified is not None
        parts = cut(answer.content)
        assert parts is not None
        self.tail = parts[1]
        assert answer.headers["x-signature"] == self.tail.signature
        version = json.loads(verified)["manifest_version"]
        assert answer.headers["x-manifest-version"] == str(version)
        if not is_delta(verified):
            shown = content_hash(verified)[7:23]
            assert answer.headers["etag"] == f'W/"{version}-{shown}"'
        return verified


async def a_reader(world: World, device: Device | None = None) -> Reader:
    reader = Reader(world, device or await world.device())
    await reader.hydrate()
    return reader
