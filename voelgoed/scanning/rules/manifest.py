"""The manifest as bytes: written, signed, verified, and brought up to date by a delta.

Nothing is ever parsed and written again that a signature or a hash is about, except by `apply_delta`,
whose result has to be the same to the byte. So every part is written one way only: JSON without
blanks, keys in the order of docs/offline.md, moments in UTC with microseconds.
"""

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from hashlib import sha256

import msgspec
from msgspec import Raw

from voelgoed.scanning.model.manifests import DeltaDoesNotFit, Head, ManifestSettings, Tail

ALGORITHM = "HMAC-SHA256="
HASH = "sha256:"
CODE_KEY_PURPOSE = "code-key"
CODE_HASH_BYTES = 16
TAG_HASH_CHARACTERS = 16

_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError)
_TAIL = b',"offset_seconds":'
_HEAD = ("event_id", "event_name", "manifest_version", "generated_at", "expires_at", "occupancy")
_SETTINGS = ("event", "gates", "zones", "ticket_types", "public_keys", "seat_notes")
_DELTA_HEAD = (
    "event_id",
    "since",
    "manifest_version",
    "generated_at",
    "expires_at",
    "event_name",
    "content_hash",
    "occupancy",
)


def moment_text(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}Z"


def settings_text(settings: ManifestSettings) -> bytes:
    """The text of an object in a manifest, without its braces."""
    return msgspec.json.encode(settings)[1:-1]


def document_text(head: Head, settings: bytes, entries: bytes) -> bytes:
    """The entries as one text, with commas between, by ticket."""
    return _object(_fields(head, _HEAD), settings, entries)


def delta_text(
    head: Head, since: int, content_hash: str, settings: bytes | None, entries: bytes
) -> bytes:
    """The settings, and those entries, that are not as they were in the version `since`."""
    fields = _fields(head, _DELTA_HEAD, since=since, content_hash=content_hash)
    changed = b"" if settings is None else b'"settings":{%b}' % settings
    return _object(fields, changed, entries)


def content_hash(document: bytes) -> str:
    return HASH + sha256(document).hexdigest()


def tag_of(version: int, content_hash: str) -> str:
    """The tag of a whole manifest. It is weak: the bytes of answers differ by device, encoding and
    moment, their content does not."""
    return f'W/"{version}-{content_hash.removeprefix(HASH)[:TAG_HASH_CHARACTERS]}"'


def code_hash(code_key: bytes, code: str) -> str:
    """Under which a typed code is found. Without the key, which is in no manifest, codes cannot be
    tried out."""
    return sha256(code_key + code.encode()).digest()[:CODE_HASH_BYTES].hex()


def barcode_hash(text: str) -> str:
    return HASH + sha256(text.encode(errors="surrogatepass")).hexdigest()


def sign(document: bytes, api_key: str) -> str:
    return ALGORITHM + hmac.digest(api_key.encode(), document, "sha256").hex()


def tail_text(offset_seconds: float | None, code_key: bytes, signature: str) -> bytes:
    """The end of an answer, which replaces the last brace of the signed text."""
    key = urlsafe_b64encode(code_key).decode().rstrip("=")
    tail = Tail(offset_seconds=offset_seconds, code_key=key, signature=signature)
    return b"," + msgspec.json.encode(tail)[1:]


def body_of(document: bytes, tail: bytes) -> bytes:
    return document[:-1] + tail


def cut(body: bytes) -> tuple[bytes, Tail] | None:
    """The signed text, and the part that was added to it for this device."""
    at = body.rfind(_TAIL)
    try:
        tail = msgspec.json.decode(b"{" + body[at + 1 :], type=Tail) if at > 0 else None
    except _UNREADABLE:
        return None
    return None if tail is None else (body[:at] + b"}", tail)


def verify(body: bytes, api_key: str) -> bytes | None:
    """The manifest or delta that was signed with this key; None where the signature is wrong."""
    parts = cut(body)
    if parts is None:
        return None
    document, tail = parts
    # As bytes: what somebody forged need not be ASCII.
    is_genuine = hmac.compare_digest(sign(document, api_key).encode(), tail.signature.encode())
    return document if is_genuine else None


def is_delta(document: bytes) -> bool:
    return "since" in _read(document)


def apply_delta(document: bytes, delta: bytes) -> bytes:
    """The manifest that the delta leads to."""
    before, new = _read(document), _read(delta)
    settings = _read(bytes(new["settings"])) if "settings" in new else before
    try:
        entries = _entries(before["tickets"]) | _entries(new["tickets"])
        after = _object(
            {name: new[name] for name in _HEAD},
            _members({name: settings[name] for name in _SETTINGS}),
            b",".join(entries[each] for each in sorted(entries)),
        )
        expected = msgspec.json.decode(new["content_hash"], type=str)
    except (KeyError, *_UNREADABLE) as fault:
        raise DeltaDoesNotFit() from fault
    if content_hash(after) != expected:
        raise DeltaDoesNotFit()
    return after


class _Entry(msgspec.Struct):
    ticket_id: str


_entry_decoder = msgspec.json.Decoder(_Entry)


def _entries(tickets: Raw) -> dict[str, Raw]:
    found = msgspec.json.decode(tickets, type=list[Raw])
    return {_entry_decoder.decode(entry).ticket_id: entry for entry in found}


def _read(text: bytes) -> dict[str, Raw]:
    try:
        return msgspec.json.decode(text, type=dict[str, Raw])
    except _UNREADABLE as fault:
        raise DeltaDoesNotFit() from fault


def _fields(head: Head, names: Iterable[str], **others: object) -> dict[str, bytes]:
    values = {name: getattr(head, name) for name in _HEAD} | others
    values["generated_at"] = moment_text(head.generated_at)
    values["expires_at"] = moment_text(head.expires_at)
    return {name: msgspec.json.encode(values[name]) for name in names}


def _object(head: Mapping[str, bytes | Raw], settings: bytes, entries: bytes) -> bytes:
    begin = b",".join(part for part in (_members(head), settings) if part)
    return b"".join((b"{", begin, b',"tickets":[', entries, b"]}"))  # large, so copied once


def _members(fields: Mapping[str, bytes | Raw]) -> bytes:
    return b",".join(b'"%b":%b' % (name.encode(), value) for name, value in fields.items())
