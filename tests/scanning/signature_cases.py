"""Writes contracts/scan_signatures.json, the cases that every device's signatures must pass:

    .venv/bin/python -m tests.scanning.signature_cases >contracts/scan_signatures.json

Nothing in it is random. The keys are for this file only.
"""

import sys
from hashlib import sha256
from typing import Any
from uuid import UUID

import msgspec

from voelgoed.scanning.rules.device_keys import DeviceKey, key_text
from voelgoed.scanning.rules.scan_signatures import SignedFields, sign_scan, signed_bytes

ABOUT = (
    "Signatures of scans. `good` ones: `signed` is the text whose UTF-8 bytes are signed, HMAC-SHA256 "
    "with the UTF-8 bytes of the API key's text. `bad` ones are refused for these fields and this key."
)
ORGANIZATION = UUID("0190a1b2-0000-7000-8000-000000000001")
DEVICE = UUID("0190a1b2-0000-7000-8000-0000000000d1")
HASH = "sha256:" + sha256(b"a barcode").hexdigest()
USUAL: dict[str, Any] = {
    "scan_id": "9b2f7c1e-4d3a-4f6b-8e5c-7a1d2b3c4e5f",
    "ticket_id": "0190a1b2-ffff-7000-8000-00000000002a",
    "barcode_hash": HASH,
    "scanned_at": "2026-11-16T17:45:00.123456Z",
    "gate_id": "north-main",
}


def a_key(version: int = 1, device_id: UUID = DEVICE) -> str:
    secret = sha256(b"voelgoed contract device %d" % version).digest()
    return key_text(DeviceKey(ORGANIZATION, device_id, version, secret))


GOOD: dict[str, tuple[dict[str, Any], str]] = {
    "a scan of a ticket that is known": ({}, a_key()),
    "a ticket that is in no manifest": ({"ticket_id": None}, a_key()),
    "the gate by its id": ({"gate_id": "0190a1b2-eeee-7000-8000-000000000001"}, a_key()),
    "no gate": ({"gate_id": None}, a_key()),
    "a clock of whole seconds": ({"scanned_at": "2026-11-16T17:45:00Z"}, a_key()),
    "another zone's clock": ({"scanned_at": "2026-11-16T19:45:00.123+02:00"}, a_key()),
    "ids in capitals": ({"scan_id": USUAL["scan_id"].upper()}, a_key()),
    "letters that are not ASCII": ({"gate_id": "süd-eingang"}, a_key()),
    "what JSON must escape": ({"gate_id": 'a"b\\c\nd'}, a_key()),
    "the next key": ({}, a_key(2)),
}


def fields_of(changes: dict[str, Any]) -> SignedFields:
    return SignedFields(**(USUAL | changes))


def good_cases() -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "fields": msgspec.to_builtins(fields_of(changes)),
            "api_key": api_key,
            "signed": signed_bytes(fields_of(changes)).decode(),
            "signature": sign_scan(fields_of(changes), api_key),
        }
        for name, (changes, api_key) in GOOD.items()
    ]


def bad_cases() -> list[dict[str, Any]]:
    genuine = sign_scan(fields_of({}), a_key())
    last = "0" if genuine[-1] != "0" else "1"
    other_device = UUID("0190a1b2-0000-7000-8000-0000000000d2")
    signatures = {
        "nothing": "",
        "the scheme alone": "HMAC-SHA256=",
        "no scheme": genuine.removeprefix("HMAC-SHA256="),
        "another scheme": genuine.replace("SHA256", "SHA512"),
        "in capitals": "HMAC-SHA256=" + genuine.removeprefix("HMAC-SHA256=").upper(),
        "one symbol wrong": genuine[:-1] + last,
        "one symbol short": genuine[:-1],
        "one symbol more": genuine + "0",
        "a blank before": " " + genuine,
        "letters that are not ASCII": genuine[:-1] + "é",
        "by another device": sign_scan(fields_of({}), a_key(device_id=other_device)),
        "by the device's next key": sign_scan(fields_of({}), a_key(2)),
        "of another scan": sign_scan(fields_of({"scan_id": str(UUID(int=4))}), a_key()),
        "of another ticket": sign_scan(fields_of({"ticket_id": str(UUID(int=4))}), a_key()),
        "of no ticket": sign_scan(fields_of({"ticket_id": None}), a_key()),
        "of another barcode": sign_scan(fields_of({"barcode_hash": "sha256:00"}), a_key()),
        "of another moment": sign_scan(
            fields_of({"scanned_at": "2026-11-16T17:44:00.123456Z"}), a_key()
        ),
        "of the same moment, written otherwise": sign_scan(
            fields_of({"scanned_at": "2026-11-16T17:45:00.123456+00:00"}), a_key()
        ),
        "of another gate": sign_scan(fields_of({"gate_id": "south"}), a_key()),
    }
    fields = msgspec.to_builtins(fields_of({}))
    return [
        {"name": name, "fields": fields, "api_key": a_key(), "signature": signature}
        for name, signature in signatures.items()
    ]


def document() -> bytes:
    contract = {"about": ABOUT, "good": good_cases(), "bad": bad_cases()}
    return msgspec.json.format(msgspec.json.encode(contract)) + b"\n"


if __name__ == "__main__":
    sys.stdout.buffer.write(document())
