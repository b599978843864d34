"""How live messages travel. What PostgreSQL does with them is tried in test_live."""

from collections import defaultdict
from uuid import uuid4

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from voelgoed.infra.chunks import (
    CHUNK_BYTES_MAX,
    RESYNC,
    OutgoingChunk,
    pack,
    pack_dropped,
    read_payload,
)

NOTIFY_BYTES_MAX = 7_999
LAST = 10**18
"""The number of a topic that has been busy since the beginning of time."""
ORGANIZATION = uuid4()


def sent(packed: list[OutgoingChunk]) -> list[str]:
    """As `tell_live` fills them in."""
    payloads: dict[int, list[str]] = defaultdict(list)
    for each in packed:
        topic = msgspec.json.encode(each.topic).decode()
        payloads[each.payload].append(
            f'["{ORGANIZATION}",{topic},{LAST + each.first},{each.content},[]]'
        )
    return [f"[{','.join(chunks)}]" for _, chunks in sorted(payloads.items())]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["gate:1", "gate:2", "x" * 120]),
            st.one_of(st.integers(0, 300), st.integers(3_000, 9_000)),
        ),
        max_size=60,
    )
)
def test_all_of_it_arrives_numbered_and_in_order_and_fits(said: list[tuple[str, int]]) -> None:
    messages = [
        (topic, msgspec.json.encode({"n": number, "": "x" * size}))
        for number, (topic, size) in enumerate(said)
    ]
    counts, packed = pack(messages)
    arrived: dict[str, list[bytes]] = defaultdict(list)
    for payload in sent(packed):
        assert len(payload.encode()) <= NOTIFY_BYTES_MAX
        for chunk in read_payload(payload):
            assert chunk.organization_id == ORGANIZATION
            assert chunk.seq == LAST + len(arrived[chunk.topic]) + 1
            arrived[chunk.topic] += [bytes(raw) for raw in chunk.data or ()]
    expected: dict[str, list[bytes]] = defaultdict(list)
    for topic, data in messages:
        expected[topic].append(data if len(data) <= CHUNK_BYTES_MAX else RESYNC)
    assert arrived == expected
    assert counts == {topic: len(told) for topic, told in expected.items()}


def test_what_is_small_travels_together() -> None:
    _, packed = pack([(f"gate:{number % 10}", b'{"n":1}') for number in range(100)])
    assert len(packed) == 10
    assert {each.payload for each in packed} == {0}


def test_keys_to_forget_travel_by_the_dozen() -> None:
    keys = [f"voelgoed:org:{ORGANIZATION}:{number:0100}" for number in range(100)]
    payloads = pack_dropped(ORGANIZATION, keys)
    assert all(len(payload) <= NOTIFY_BYTES_MAX for payload in payloads)
    arrived = [
        key for each in payloads for chunk in read_payload(each) for key in chunk.dropped_keys
    ]
    assert arrived == keys
    assert pack_dropped(ORGANIZATION, []) == []
