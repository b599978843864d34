"""The text in a ticket's QR code, signed so that a device alone can tell that it is one of ours.

`VG1`, the twelve symbols of the code, and in base45 a payload and its Ed25519 signature. Big endian:

    1 key number      16 ticket id    2 issue         2 ticket type number
    2 zone number      4 event hint   8 days          1 length of, and the seat label

All of it is in the alphabet that QR codes pack tightest: with a label of up to 8 bytes it is a QR
code of version 7 (45 x 45 modules) at error level M, with the longest label one of version 8.
"""

import datetime as dt
import re
import struct
from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from uuid import UUID

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from voelgoed.ticketing.rules.base45 import from_base45, to_base45
from voelgoed.ticketing.rules.codes import CODE_SYMBOLS, dashed

PREFIX = "VG1"
DOMAIN = b"voelgoed-ticket-1\0"
SIGNATURE_BYTES = 64
HINT_BYTES = 4
LABEL_BYTES_MAX = 32
DAYS_MAX = 60
BYTE_MAX = 0xFF
SHORT_MAX = 0xFFFF
CHARACTERS_MAX = 300
"""No barcode of ours has as many, and nobody is to make us decode more."""

_HEAD = struct.Struct(f">B16sHHH{HINT_BYTES}sQB")
_SYMBOLS = re.compile(rf"[A-Z0-9]{{{CODE_SYMBOLS}}}")
_CODE = re.compile(r"[A-Z0-9]{4}(-[A-Z0-9]{4}){2}")


class BarcodeFields(msgspec.Struct, frozen=True, kw_only=True):
    key_number: int
    """Of the event's key that signs."""
    ticket_id: UUID
    issue: int
    ticket_type_number: int
    zone_number: int = 0
    """The zone's place in the layout, counted from 1; 0 for none."""
    days: int = 0
    """Bit 0 for the first day of the event; 0 for all days. See `days_mask`."""
    seat_label: str = ""
    """At most 32 bytes; see `short_label`."""

    def __post_init__(self) -> None:
        fits = (
            1 <= self.key_number <= BYTE_MAX
            and 1 <= self.issue <= SHORT_MAX
            and 1 <= self.ticket_type_number <= SHORT_MAX
            and 0 <= self.zone_number <= SHORT_MAX
            and 0 <= self.days < 1 << DAYS_MAX
            and len(self.seat_label.encode()) <= LABEL_BYTES_MAX
        )
        if not fits:
            raise ValueError("more than a barcode has room for")


class Barcode(msgspec.Struct, frozen=True):
    """A text of the right form. Whether it is genuine, only `verify_barcode` tells."""

    code: str
    fields: BarcodeFields
    event_hint: bytes
    """Tells a barcode of another event from a forged one; proves nothing."""
    signature: bytes


def barcode_text(
    fields: BarcodeFields, event_id: UUID, code: str, private_key: Ed25519PrivateKey
) -> str:
    """The same text every time: signatures of Ed25519 have nothing random."""
    if not _CODE.fullmatch(code):
        raise ValueError("not a ticket code")
    symbols = code.replace("-", "")
    payload = _payload(fields, event_hint(event_id))
    signature = private_key.sign(_signed(event_id, symbols, payload))
    return PREFIX + symbols + to_base45(payload + signature)


def read_barcode(text: str) -> Barcode | None:
    """None for any text that `barcode_text` does not write, letter for letter."""
    symbols, encoded = text[len(PREFIX) :][:CODE_SYMBOLS], text[len(PREFIX) + CODE_SYMBOLS :]
    if len(text) > CHARACTERS_MAX or text[: len(PREFIX)] != PREFIX:
        return None
    raw = from_base45(encoded) if _SYMBOLS.fullmatch(symbols) else None
    if raw is None or len(raw) < _HEAD.size + SIGNATURE_BYTES:
        return None
    read = _read_payload(raw[:-SIGNATURE_BYTES])
    if read is None:
        return None
    fields, hint = read
    return Barcode(dashed(symbols), fields, hint, raw[-SIGNATURE_BYTES:])


def verify_barcode(barcode: Barcode, event_id: UUID, public_keys: Mapping[int, bytes]) -> bool:
    """Signed for this event, by the key of that number."""
    public_key = public_keys.get(barcode.fields.key_number)
    if public_key is None or barcode.event_hint != event_hint(event_id):
        return False
    payload = _payload(barcode.fields, barcode.event_hint)
    message = _signed(event_id, barcode.code.replace("-", ""), payload)
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(barcode.signature, message)
    except InvalidSignature:
        return False
    return True


def barcode_hash(text: str) -> bytes:
    return sha256(text.encode()).digest()


def code_of(text: str) -> str | None:
    """The code in a barcode, genuine or not."""
    barcode = read_barcode(text)
    return barcode.code if barcode else None


def event_hint(event_id: UUID) -> bytes:
    return sha256(event_id.bytes).digest()[:HINT_BYTES]


def days_mask(days: Collection[dt.date], of_event: Sequence[dt.date]) -> int:
    """Of a ticket's days, among the event's in their order; 0 when it is for all of them."""
    mask = sum(1 << place for place, day in enumerate(of_event) if day in days)
    if mask == 0:
        raise ValueError("none of these days is one of the event's")
    return 0 if mask == (1 << len(of_event)) - 1 else mask


def short_label(label: str) -> str:
    """As much of it as a barcode has room for; it is there to be shown, not to be looked up."""
    return label.encode()[:LABEL_BYTES_MAX].decode(errors="ignore")


def _signed(event_id: UUID, symbols: str, payload: bytes) -> bytes:
    return DOMAIN + event_id.bytes + symbols.encode() + payload


def _payload(fields: BarcodeFields, hint: bytes) -> bytes:
    label = fields.seat_label.encode()
    numbers = (fields.issue, fields.ticket_type_number, fields.zone_number)
    head = (fields.key_number, fields.ticket_id.bytes, *numbers, hint, fields.days, len(label))
    return _HEAD.pack(*head) + label


def _read_payload(payload: bytes) -> tuple[BarcodeFields, bytes] | None:
    head, label = _HEAD.unpack(payload[: _HEAD.size]), payload[_HEAD.size :]
    key_number, ticket_id, issue, ticket_type_number, zone_number, hint, days, length = head
    if len(label) != length:
        return None
    try:
        fields = BarcodeFields(
            key_number=key_number,
            ticket_id=UUID(bytes=ticket_id),
            issue=issue,
            ticket_type_number=ticket_type_number,
            zone_number=zone_number,
            days=days,
            seat_label=label.decode(),
        )
    except ValueError:  # or a label that is not UTF-8, which is one too
        return None
    return fields, hint
