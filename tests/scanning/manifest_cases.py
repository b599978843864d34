"""Writes contracts/manifests.json, the cases that every device must pass, in every language:

    .venv/bin/python -m tests.scanning.manifest_cases >contracts/manifests.json

Nothing in it is random. The keys are for this file only.
"""

import datetime as dt
import sys
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

import msgspec

from voelgoed.scanning.model.manifests import (
    AccessRules,
    GateInside,
    Head,
    ManifestDay,
    ManifestEvent,
    ManifestGate,
    ManifestKey,
    ManifestSettings,
    ManifestTicketType,
    ManifestZone,
    SeatNotes,
)
from voelgoed.scanning.rules.manifest import (
    barcode_hash,
    body_of,
    code_hash,
    content_hash,
    delta_text,
    document_text,
    moment_text,
    settings_text,
    sign,
    tag_of,
    tail_text,
)

ABOUT = (
    "Manifests and deltas as texts, whose UTF-8 is the bytes. `signed`: a body that was made for the "
    "device with this key, what is signed in it, and what else it says. `forged`: bodies that must be "
    "refused. `deltas`: applied to `before` they give exactly `after`, of this content_hash. "
    "`misfits`: deltas that must be refused when applied to `before`. `codes`: what a typed code is "
    "found under; `barcodes`: what a scanned one is. `tags`: what a whole manifest is asked for again by."
)
EVENT = UUID("0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b")
STALLS = UUID("0190a1b2-aaaa-7000-8000-000000000001")
FIELD = UUID("0190a1b2-aaaa-7000-8000-000000000002")
NORTH = UUID("0190a1b2-bbbb-7000-8000-000000000001")
SOUTH = UUID("0190a1b2-bbbb-7000-8000-000000000002")
API_KEY = "vgd_AZChssPUfl-Kmwwd_for_the_contract_only"
OTHER_KEY = "vgd_AZChssPUfl-Kmwwd_of_another_device"
CODE_KEY = sha256(b"voelgoed contract code key").digest()
CODES = ["7K2M-9QXD-4F1A", "3KQR-7F92-4M1X", "ABCD-EFGH-1234"]
BARCODES = ["VG17K2M9QXD4F1A-NOT-SIGNED", "anything at all, \u00e9 and \U0001f39f"]
BEGIN = datetime(2026, 11, 16, 16, 0, tzinfo=UTC)
END = datetime(2026, 11, 16, 22, 0, tzinfo=UTC)
ODD = 'Caf\u00e9 "North" \\ \u2028 \U0001f39f \x07\x0b\b\f\n\r\t\x7f/ end'
"""Characters that JSON writes in a form of its own."""


def a_head(version: int, **changes: Any) -> Head:
    usual: dict[str, Any] = {
        "event_id": EVENT,
        "event_name": "Paris Music Festival",
        "generated_at": datetime(2026, 11, 16, 17, 45, version, 123_000 + version, tzinfo=UTC),
        "expires_at": END,
        "occupancy": [GateInside(gate_id="north-main", inside=12)],
    }
    return Head(manifest_version=version, **(usual | changes))


def some_settings(**changes: Any) -> ManifestSettings:
    day = ManifestDay(
        date=dt.date(2026, 11, 16), starts_at=moment_text(BEGIN), ends_at=moment_text(END)
    )
    usual: dict[str, Any] = {
        "event": ManifestEvent(
            status="live", ends_at=moment_text(END), dedup_window_s=300, days=[day]
        ),
        "gates": [a_gate("north-main", NORTH, 1000, [STALLS, FIELD]), a_gate("south", SOUTH)],
        "zones": [
            ManifestZone(number=1, zone=STALLS, name="Stalls"),
            ManifestZone(number=2, zone=FIELD, name=ODD),
        ],
        "ticket_types": [
            ManifestTicketType(
                number=1,
                name="Adult",
                entry_limit=1,
                max_daily_entries=None,
                reentry="after_exit",
                gate_ids=["north-main"],
            )
        ],
        "public_keys": [
            ManifestKey(number=1, public_key="d4KzY7jgwRzcmEtWh8MInoTmagYoUKHmp5IygqLxZbk=")
        ],
        "seat_notes": [SeatNotes(seat="A-1", notes=["Wheelchair place, companion beside in A-2"])],
    }
    return ManifestSettings(**(usual | changes))


def a_gate(
    code: str,
    gate_id: UUID,
    most: int | None = None,
    zones: list[UUID] | None = None,
    status: Any = "open",
) -> ManifestGate:
    rules = AccessRules(
        zones=zones,
        max_concurrent=most,
        hard_capacity_limit=most,
        entry_rules=["check_ticket_valid", "check_not_duplicate"],
    )
    return ManifestGate(
        gate_id=code, id=gate_id, name=f"Gate {code}", status=status, access_rules=rules
    )


def an_entry(number: int, **changes: Any) -> bytes:
    """The entry of the ticket with this number; a key that is changed to `...` is left out."""
    code = CODES[number % len(CODES)]
    usual: dict[str, Any] = {
        "ticket_id": UUID(int=(0x0190A1B2FFFF7000 << 64) | (0x8 << 60) | number),
        "barcode_hash": barcode_hash(f"barcode {number}"),
        "zone": STALLS,
        "gate_ids": ["north-main"],
        "entry_limit": 1,
        "is_valid": True,
        "expires_at": moment_text(END),
        "code_hash": code_hash(CODE_KEY, code),
        "status": "active",
        "issue": 1,
        "type": 1,
        "seat": f"A-{number}",
    }
    return msgspec.json.encode({k: v for k, v in (usual | changes).items() if v is not ...})


def joined(*entries: bytes) -> bytes:
    return b",".join(entries)


SETTINGS = settings_text(some_settings())
CLOSED = settings_text(
    some_settings(
        gates=[a_gate("north-main", NORTH, 1000, status="closed"), a_gate("south", SOUTH)]
    )
)
SCANNED: dict[str, Any] = {
    "status": "scanned",
    "entries": 1,
    "day": "2026-11-16",
    "day_entries": 1,
    "last_scanned_at": "2026-11-16T18:00:00.000001Z",
    "last_gate": "north-main",
    "is_inside": True,
}


def documents() -> dict[str, bytes]:
    usual = joined(an_entry(1), an_entry(2), an_entry(4))
    voided = an_entry(2, status="voided", is_valid=False)
    odd = an_entry(3, seat=ODD, gate_ids=None, zone=None, entry_limit=None)
    plain = a_head(1, occupancy=[])
    return {
        "three tickets": document_text(a_head(1), SETTINGS, usual),
        "no tickets": document_text(plain, SETTINGS, b""),
        "all that JSON writes in its own way": document_text(
            a_head(7, event_name=ODD), SETTINGS, joined(an_entry(1, **SCANNED), odd)
        ),
        "something that looks like a tail": document_text(
            a_head(1, event_name=',"offset_seconds":1}'),
            SETTINGS,
            an_entry(1, seat=',"offset_seconds":null,"code_key":"","signature":""}'),
        ),
        "a ticket that was voided": document_text(
            a_head(2), SETTINGS, joined(an_entry(1), voided, an_entry(4))
        ),
    }


def signed_cases() -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = []
    offsets: list[float | None] = [None, 0.0, -3.25, 0.000001, 86400.5]
    for offset, (name, document) in zip(offsets, documents().items(), strict=True):
        signature = sign(document, API_KEY)
        cases.append(
            {
                "name": name,
                "api_key": API_KEY,
                "document": document.decode(),
                "content_hash": content_hash(document),
                "signature": signature,
                "offset_seconds": offset,
                "code_key": CODE_KEY.hex(),
                "body": body_of(document, tail_text(offset, CODE_KEY, signature)).decode(),
            }
        )
    return cases


def forged_cases() -> list[dict[str, Any]]:
    document = documents()["three tickets"]
    signature = sign(document, API_KEY)
    body = body_of(document, tail_text(1.5, CODE_KEY, signature))

    def signed(text: str) -> bytes:
        return body_of(document, tail_text(1.5, CODE_KEY, text))

    bodies = {
        "for another device": signed(sign(document, OTHER_KEY)),
        "a ticket made valid for every gate": body.replace(
            b'"gate_ids":["north-main"]', b'"gate_ids":null', 1
        ),
        "a ticket left out": body.replace(an_entry(2) + b",", b""),
        "two tickets in another order": body.replace(
            joined(an_entry(1), an_entry(2)), joined(an_entry(2), an_entry(1))
        ),
        "an older version number": body.replace(b'"manifest_version":1', b'"manifest_version":0'),
        "a blank added": body.replace(b'"tickets":[', b'"tickets": ['),
        "a letter written otherwise": body.replace(b"Paris", b"\\u0050aris"),
        "signature of another algorithm": signed(signature.replace("SHA256", "SHA512")),
        "signature in capitals": signed("HMAC-SHA256=" + signature[12:].upper()),
        "signature without its name": signed(signature[12:]),
        "signature cut short": signed(signature[:-2]),
        "empty signature": signed(""),
        "signature of the whole body": signed(sign(body, API_KEY)),
        "signature with the hash of the key": signed(
            sign(document, sha256(API_KEY.encode()).hexdigest())
        ),
        "no tail": document,
        "no signature": document[:-1] + b',"offset_seconds":1.5,"code_key":""}',
        "something after the signature": body[:-1] + b',"tickets":[]}',
        "two tails": body_of(signed(""), tail_text(1.5, CODE_KEY, signature)),
        "cut off": body[:-1],
        "nothing": b"",
        "not JSON": b"not found",
    }
    return [
        {"reason": reason, "api_key": API_KEY, "body": forged.decode()}
        for reason, forged in bodies.items()
    ]


def delta_cases() -> list[dict[str, Any]]:
    first = document_text(a_head(1), SETTINGS, joined(an_entry(1), an_entry(2), an_entry(4)))
    none = document_text(a_head(1, occupancy=[]), SETTINGS, b"")
    changes: dict[str, tuple[bytes, Head, bytes | None, list[bytes], list[bytes]]] = {
        "a ticket was scanned": (
            first,
            a_head(2, occupancy=[GateInside(gate_id="north-main", inside=13)]),
            None,
            [an_entry(2, **SCANNED)],
            [an_entry(1), an_entry(2, **SCANNED), an_entry(4)],
        ),
        "tickets were sold, before, between and after those there were": (
            first,
            a_head(9),
            None,
            [an_entry(0), an_entry(3), an_entry(5)],
            [an_entry(each) for each in range(6)],
        ),
        "the first tickets": (none, a_head(2), None, [an_entry(3)], [an_entry(3)]),
        "a gate was closed": (
            first,
            a_head(2),
            CLOSED,
            [],
            [an_entry(1), an_entry(2), an_entry(4)],
        ),
        "the event has another name, and a ticket an odd seat": (
            first,
            a_head(3, event_name=ODD, expires_at=BEGIN),
            CLOSED,
            [an_entry(4, seat=ODD)],
            [an_entry(1), an_entry(2), an_entry(4, seat=ODD)],
        ),
        "nothing but its number": (
            first,
            a_head(2),
            None,
            [],
            [an_entry(1), an_entry(2), an_entry(4)],
        ),
    }
    cases: list[dict[str, Any]] = []
    for name, (before, head, settings, changed, entries) in changes.items():
        after = document_text(head, settings or SETTINGS, joined(*entries))
        delta = delta_text(head, 1, content_hash(after), settings, joined(*changed))
        cases.append(
            {
                "name": name,
                "before": before.decode(),
                "delta": delta.decode(),
                "after": after.decode(),
                "content_hash": content_hash(after),
            }
        )
    return cases


def misfit_cases() -> list[dict[str, Any]]:
    good = delta_cases()[0]
    before, delta = good["before"], good["delta"]
    others = {
        "to another manifest": (documents()["no tickets"].decode(), delta),
        "with another hash": (before, delta.replace(good["content_hash"], "sha256:" + "0" * 64)),
        "without a hash": (before, delta.replace(f'"content_hash":"{good["content_hash"]}",', "")),
        "without its tickets": (before, delta[: delta.index(',"tickets"')] + "}"),
        "of which a ticket was changed": (before, delta.replace('"entries":1', '"entries":2')),
        "of which a ticket was left out": (
            before,
            delta[: delta.index(',"tickets"')] + ',"tickets":[]}',
        ),
        "cut off": (before, delta[:-1]),
        "that is a manifest": (before, before),
        "to a manifest that was cut off": (before[:-1], delta),
    }
    return [
        {"reason": reason, "before": given, "delta": text}
        for reason, (given, text) in others.items()
    ]


def document() -> bytes:
    cases = {
        "about": ABOUT,
        "signed": signed_cases(),
        "forged": forged_cases(),
        "deltas": delta_cases(),
        "misfits": misfit_cases(),
        "codes": [
            {"code_key": CODE_KEY.hex(), "code": code, "code_hash": code_hash(CODE_KEY, code)}
            for code in CODES
        ],
        "barcodes": [{"text": text, "barcode_hash": barcode_hash(text)} for text in BARCODES],
        "tags": [
            {"manifest_version": version, "content_hash": hashed, "tag": tag_of(version, hashed)}
            for version, hashed in ((1, content_hash(b"{}")), (70_000, content_hash(b"")))
        ],
    }
    return msgspec.json.format(msgspec.json.encode(cases)) + b"\n"


if __name__ == "__main__":
    sys.stdout.buffer.write(document())
