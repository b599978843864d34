"""How live messages travel: in chunks by topic, as many together as a notification can carry."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from uuid import UUID

import msgspec

PAYLOAD_BYTES_MAX = 7_900  # NOTIFY carries just under 8,000
CHUNK_BYTES_MAX = 7_700  # of messages; the rest is for ids, the number, the topic and brackets
TOPIC_BYTES_MAX = 120
AROUND_BYTES = PAYLOAD_BYTES_MAX - CHUNK_BYTES_MAX - TOPIC_BYTES_MAX
RESYNC = b"null"
KEYS_TOGETHER = 40


class Chunk(msgspec.Struct, frozen=True, array_like=True):
    """Messages of one topic as they arrive, or cache keys that every process must forget. A process
    decodes only messages of topics that somebody follows there."""

    organization_id: UUID
    topic: str
    seq: int
    """The number of the first message."""
    data: list[msgspec.Raw] | None = None
    dropped_keys: list[str] = []


class OutgoingChunk(msgspec.Struct, frozen=True):
    """Messages of one topic as they are sent; PostgreSQL fills in the numbers."""

    payload: int
    """The notification it travels in."""
    topic: str
    first: int
    """The place of its first message among those of its topic, from one."""
    content: str


_chunks = msgspec.json.Decoder(list[Chunk])


def read_payload(payload: str) -> list[Chunk]:
    return _chunks.decode(payload)


def pack(messages: Iterable[tuple[str, bytes]]) -> tuple[dict[str, int], list[OutgoingChunk]]:
    """Takes topics and their messages, in order. Gives the count of messages by topic, and the
    chunks. A message that is too large becomes a resync."""
    by_topic: dict[str, list[bytes]] = defaultdict(list)
    for topic, data in messages:
        by_topic[topic].append(RESYNC if len(data) > CHUNK_BYTES_MAX else data)
    chunks: list[OutgoingChunk] = []
    payload, size = 0, 0
    for topic, published in by_topic.items():
        for first, together in _parts(published):
            content = b"[" + b",".join(together) + b"]"
            weight = len(content) + len(topic.encode()) + AROUND_BYTES
            if size and size + weight > PAYLOAD_BYTES_MAX:
                payload, size = payload + 1, 0
            size += weight
            chunks.append(OutgoingChunk(payload, topic, first, content.decode()))
    return {topic: len(published) for topic, published in by_topic.items()}, chunks


def _parts(messages: Sequence[bytes]) -> Iterable[tuple[int, Sequence[bytes]]]:
    """As many together as fit, with the place of their first."""
    begun, size = 0, 0
    for at, data in enumerate(messages):
        if size and size + len(data) + 1 > CHUNK_BYTES_MAX:
            yield begun + 1, messages[begun:at]
            begun, size = at, 0
        size += len(data) + 1
    yield begun + 1, messages[begun:]


def pack_dropped(organization_id: UUID, keys: Sequence[str]) -> list[str]:
    return [
        msgspec.json.encode(
            [Chunk(organization_id, "", 0, None, list(keys[at : at + KEYS_TOGETHER]))]
        ).decode()
        for at in range(0, len(keys), KEYS_TOGETHER)
    ]
