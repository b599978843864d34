"""How live messages travel: packed by topic, as many together as a notification can carry."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from uuid import UUID

import msgspec

PAYLOAD_BYTES_MAX = 7_900  # NOTIFY carries just under 8,000
PARCEL_BYTES_MAX = 7_700  # what is said; the rest is for ids, the number, the topic and brackets
TOPIC_BYTES_MAX = 120
AROUND_BYTES = PAYLOAD_BYTES_MAX - PARCEL_BYTES_MAX - TOPIC_BYTES_MAX
NOTHING = b"null"
KEYS_TOGETHER = 40


class Parcel(msgspec.Struct, frozen=True, array_like=True):
    """As it arrives: messages of one topic, or cache keys that every process must forget. Nobody
    unpacks what nobody there follows."""

    organization_id: UUID
    topic: str
    seq: int
    """Of the first of them."""
    data: list[msgspec.Raw] | None = None
    dropped_keys: list[str] = []


class Packed(msgspec.Struct, frozen=True):
    """As it is sent; PostgreSQL fills in the numbers."""

    payload: int
    """With which it travels."""
    topic: str
    first: int
    """The place of the first message in it among those of its topic, from one."""
    content: str


_parcels = msgspec.json.Decoder(list[Parcel])


def read_payload(payload: str) -> list[Parcel]:
    return _parcels.decode(payload)


def pack(messages: Iterable[tuple[str, bytes]]) -> tuple[dict[str, int], list[Packed]]:
    """Topics and what is said there, in order. Gives how many there are of each, and the parcels."""
    by_topic: dict[str, list[bytes]] = defaultdict(list)
    for topic, data in messages:
        by_topic[topic].append(NOTHING if len(data) > PARCEL_BYTES_MAX else data)
    packed: list[Packed] = []
    payload, size = 0, 0
    for topic, told in by_topic.items():
        for first, together in _parts(told):
            content = b"[" + b",".join(together) + b"]"
            weight = len(content) + len(topic.encode()) + AROUND_BYTES
            if size and size + weight > PAYLOAD_BYTES_MAX:
                payload, size = payload + 1, 0
            size += weight
            packed.append(Packed(payload, topic, first, content.decode()))
    return {topic: len(told) for topic, told in by_topic.items()}, packed


def _parts(told: Sequence[bytes]) -> Iterable[tuple[int, Sequence[bytes]]]:
    """As many together as fit, with the place of their first."""
    begun, size = 0, 0
    for at, data in enumerate(told):
        if size and size + len(data) + 1 > PARCEL_BYTES_MAX:
            yield begun + 1, told[begun:at]
            begun, size = at, 0
        size += len(data) + 1
    yield begun + 1, told[begun:]


def pack_dropped(organization_id: UUID, keys: Sequence[str]) -> list[str]:
    return [
        msgspec.json.encode(
            [Parcel(organization_id, "", 0, None, list(keys[at : at + KEYS_TOGETHER]))]
        ).decode()
        for at in range(0, len(keys), KEYS_TOGETHER)
    ]
