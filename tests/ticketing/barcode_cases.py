"""Writes contracts/barcodes.json, by which every reader of barcodes is judged, in whatever language:

    .venv/bin/python -m tests.ticketing.barcode_cases >contracts/barcodes.json

Nothing in it is random. The keys are for this file only.
"""

import struct
import sys
from hashlib import sha256
from typing import Any
from uuid import UUID

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from voelgoed.ticketing.rules.barcode import DOMAIN, PREFIX, BarcodeFields, barcode_text, event_hint
from voelgoed.ticketing.rules.base45 import to_base45

ORDER = 2**252 + 27742317777372353535851937790883648493
"""Of the group: adding it to the second half of a signature gives what a lax verifier accepts."""
EVENT = UUID("0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b")
OTHER_EVENT = UUID("0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5c")
TICKET = UUID("0190a1b2-ffff-7000-8000-00000000002a")
CODE, OTHER_CODE = "7K2M-9QXD-4F1A", "7K2M-9QXD-4F1B"
ABOUT = (
    "Barcodes of one event, verified with public_keys. `good` ones are read as the fields given and "
    "verified. Of the `bad` ones, those that are not readable are refused on reading; the others are "
    "read, and then not verified. Days are the places of a ticket's days among the event's, from 0; "
    "none means all. Bytes are in hex, sha256 is of the text."
)


def a_key(number: int) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(sha256(b"voelgoed contract %d" % number).digest())


KEYS = {1: a_key(1), 2: a_key(2)}
STRANGER = a_key(99)


def some_fields(**changes: Any) -> BarcodeFields:
    usual = {"key_number": 1, "ticket_id": TICKET, "issue": 1, "ticket_type_number": 3}
    return BarcodeFields(**(usual | {"zone_number": 2, "seat_label": "A-12"} | changes))


def a_payload(**changes: Any) -> bytes:
    """What `some_fields` are in bytes, and also what no fields can be."""
    usual = {"key_number": 1, "issue": 1, "kind": 3, "zone": 2, "days": 0, "event_id": EVENT}
    given = usual | {"label": b"A-12"} | changes
    label, hint = given["label"], event_hint(given["event_id"])
    numbers = (given["issue"], given["kind"], given["zone"])
    head = (given["key_number"], TICKET.bytes, *numbers, hint, given["days"])
    return struct.pack(">B16sHHH4sQB", *head, given.get("length", len(label))) + label


def forged(
    signed: bytes,
    *,
    shown: bytes | None = None,
    event_id: UUID = EVENT,
    code: str = CODE,
    key: Ed25519PrivateKey = KEYS[1],
    domain: bytes = DOMAIN,
) -> str:
    """Any bytes as a barcode: some are signed, these or others are shown."""
    symbols = CODE.replace("-", "")
    signature = key.sign(domain + event_id.bytes + code.replace("-", "").encode() + signed)
    return with_signature(signed if shown is None else shown, signature, symbols)


def with_signature(payload: bytes, signature: bytes, symbols: str = CODE.replace("-", "")) -> str:
    return PREFIX + symbols + to_base45(payload + signature)


GOOD: dict[str, tuple[str, dict[str, Any]]] = {
    "a numbered seat": (CODE, {}),
    "no seat and no zone": (CODE, {"zone_number": 0, "seat_label": ""}),
    "reissued": (CODE, {"issue": 2}),
    "signed by the second key": (CODE, {"key_number": 2}),
    "the first day only": (CODE, {"days": 1}),
    "the second and the sixtieth day": (CODE, {"days": 1 << 59 | 2}),
    "a label of two bytes a letter": (CODE, {"seat_label": "Ré-1"}),
    "a label of four bytes a letter": (CODE, {"seat_label": "\N{FACE WITH TEARS OF JOY}1"}),
    "a label that begins with a byte order mark": (CODE, {"seat_label": "\ufeffA1"}),
    "the longest label": (CODE, {"seat_label": "Upper Circle, Box 14, Seat 0012 A"[:32]}),
    "a code with letters that we do not give out": ("ILOU-ILOU-0000", {}),
    "the largest numbers": (
        "ZZZZ-ZZZZ-ZZZZ",
        {
            "ticket_id": UUID(int=2**128 - 1),
            "issue": 65535,
            "ticket_type_number": 65535,
            "zone_number": 65535,
            "days": (1 << 60) - 1,
        },
    ),
}


def good_cases() -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = []
    for name, (code, changes) in GOOD.items():
        fields = some_fields(**changes)
        text = barcode_text(fields, EVENT, code, KEYS[fields.key_number])
        given = msgspec.to_builtins(fields)
        given["days"] = [place for place in range(60) if fields.days >> place & 1]
        digest = sha256(text.encode()).hexdigest()
        cases.append({"name": name, "code": code, "fields": given, "text": text, "sha256": digest})
    return cases


def unreadable() -> dict[str, str]:
    good = forged(a_payload())
    middle = len(good) // 2
    return {
        "nothing": "",
        "a code alone": CODE,
        "the prefix alone": PREFIX,
        "no payload": good[:15],
        "lower case": good.lower(),
        "a lower case prefix": "vg1" + good[3:],
        "a lower case code": good[:3] + good[3:15].lower() + good[15:],
        "another version": "VG2" + good[3:],
        "the code with its dashes": PREFIX + CODE + good[15:],
        "a blank before": " " + good,
        "a blank after": good + " ",
        "a line end after": good + "\n",
        "a blank inside": good[:middle] + " " + good[middle:],
        "a blank in the code": good[:7] + " " + good[7:],
        "the last character missing": good[:-1],
        "the last group missing": good[:-3],
        "a zero appended": good + "0",
        "a group appended": good + "000",
        "itself appended": good + good,
        "a character that is not in the alphabet": good[:20] + "_" + good[21:],
        "a digit of another script": good[:20] + "\N{FULLWIDTH DIGIT ONE}" + good[21:],
        "a group above 65535": good[:15] + "GGW" + good[18:],
        "the largest group": good[:15] + ":::" + good[18:],
        "a last pair above 255": forged(a_payload(label=b"A-1"))[:-2] + "V5",
        "a signature cut short": PREFIX + good[3:15] + to_base45(a_payload() + bytes(63)),
        "too long for any": PREFIX + good[3:15] + "000" * 100,
        "key number 0": forged(a_payload(key_number=0)),
        "issue 0": forged(a_payload(issue=0)),
        "ticket type 0": forged(a_payload(kind=0)),
        "a sixty-first day": forged(a_payload(days=1 << 60)),
        "a label longer than it says": forged(a_payload(length=3)),
        "a label shorter than it says": forged(a_payload(length=5)),
        "a label of 33 bytes": forged(a_payload(label=b"A" * 33)),
        "a label that is not UTF-8": forged(a_payload(label=b"A\xff")),
        "a label with an overlong zero": forged(a_payload(label=b"A\xc0\x80")),
        "a label with half a surrogate pair": forged(a_payload(label=b"\xed\xa0\x80")),
        "a label that ends within a letter": forged(a_payload(label=b"R\xc3")),
    }


def unverified() -> dict[str, str]:
    payload = a_payload()
    signature = KEYS[1].sign(DOMAIN + EVENT.bytes + CODE.replace("-", "").encode() + payload)
    second_half = int.from_bytes(signature[32:], "little") + ORDER
    return {
        "of another event": forged(a_payload(event_id=OTHER_EVENT), event_id=OTHER_EVENT),
        "of another event, with this event's hint": forged(payload, event_id=OTHER_EVENT),
        "of this event, with another event's hint": forged(a_payload(event_id=OTHER_EVENT)),
        "with the code of another ticket": forged(payload, code=OTHER_CODE),
        "by a key that is not among them": forged(a_payload(key_number=3), key=STRANGER),
        "by a stranger under a known number": forged(payload, key=STRANGER),
        "by the second key under the first one's number": forged(payload, key=KEYS[2]),
        "signed for another purpose": forged(payload, domain=b"voelgoed-ticket-2\0"),
        "another key number": forged(payload, shown=a_payload(key_number=2)),
        "another issue": forged(payload, shown=a_payload(issue=2)),
        "another ticket type": forged(payload, shown=a_payload(kind=4)),
        "another zone": forged(payload, shown=a_payload(zone=1)),
        "another day": forged(payload, shown=a_payload(days=1)),
        "another seat": forged(payload, shown=a_payload(label=b"A-13")),
        "one bit of the signature": with_signature(
            payload, bytes([signature[0] ^ 1]) + signature[1:]
        ),
        "no signature but zeros": with_signature(payload, bytes(64)),
        "a signature with the order of the group added": with_signature(
            payload, signature[:32] + second_half.to_bytes(32, "little")
        ),
    }


def document() -> bytes:
    bad = [{"reason": r, "readable": False, "text": text} for r, text in unreadable().items()]
    bad += [{"reason": r, "readable": True, "text": text} for r, text in unverified().items()]
    cases = {
        "about": ABOUT,
        "event_id": EVENT,
        "public_keys": {
            str(number): key.public_key().public_bytes_raw().hex() for number, key in KEYS.items()
        },
        "private_keys": {str(n): key.private_bytes_raw().hex() for n, key in KEYS.items()},
        "good": good_cases(),
        "bad": bad,
    }
    return msgspec.json.format(msgspec.json.encode(cases)) + b"\n"


if __name__ == "__main__":
    sys.stdout.buffer.write(document())
