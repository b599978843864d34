"""Writes contracts/offline_decisions.json, the cases that every device must pass which decides alone:

    .venv/bin/python -m tests.scanning.offline_cases >contracts/offline_decisions.json

Nothing in it is random. The keys are for this file only. The result of each case is written here by
hand; only what the screen shows beside it is computed.
"""

import sys
from base64 import b64encode
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from voelgoed.scanning.model.offline import Manifest, OwnScan
from voelgoed.scanning.rules.manifest import barcode_hash, code_hash
from voelgoed.scanning.rules.offline import decide_offline
from voelgoed.scanning.rules.register import Register
from voelgoed.ticketing.rules.barcode import BarcodeFields, barcode_text

ABOUT = (
    "What a device decides alone. Each case is `base` with the fields under `with` in their places; "
    "those under `with.manifest` replace the manifest's. `own` is whom the device let through itself: "
    "scans that the manifest does not know yet are added to what it tells. `gives` is the decision, in "
    "which fields that are not named are null (notes: none); `undecided` says why there is none."
)
EVENT = UUID("0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b")
OTHER_EVENT = UUID("0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5c")
STALLS, FIELD = (UUID(f"0190a1b2-aaaa-7000-8000-00000000000{n}") for n in (1, 2))
NORTH, SOUTH = (UUID(f"0190a1b2-bbbb-7000-8000-00000000000{n}") for n in (1, 2))
SEATED, STANDING, SINCE = (UUID(f"0190a1b2-ffff-7000-8000-00000000000{n}") for n in (1, 2, 3))
CODES = {SEATED: "7K2M-9QXD-4F1A", STANDING: "3KQR-7F92-4M1X", SINCE: "ABCD-EFGH-1234"}
CODE_KEY = sha256(b"voelgoed contract code key").digest()
FRIDAY, SATURDAY = "2026-06-05", "2026-06-06"
NOON = "2026-06-05T12:00:00.000000Z"
"""The moment at which the manifest was made."""


def a_key(number: int) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(sha256(b"voelgoed contract %d" % number).digest())


def a_barcode(
    ticket_id: UUID = SEATED,
    *,
    key: Ed25519PrivateKey | None = None,
    event_id: UUID = EVENT,
    **changes: Any,
) -> str:
    usual: dict[str, Any] = {"key_number": 1, "issue": 1, "ticket_type_number": 1}
    usual |= {"zone_number": 1, "seat_label": "A-1"} | changes
    fields = BarcodeFields(ticket_id=ticket_id, **usual)
    return barcode_text(fields, event_id, CODES[ticket_id], key or a_key(fields.key_number))


def of_the_field(ticket_id: UUID = SINCE, **changes: Any) -> str:
    return a_barcode(
        ticket_id,
        **({"ticket_type_number": 2, "zone_number": 2, "seat_label": ""} | changes),
    )


def an_entry(ticket_id: UUID = SEATED, **changes: Any) -> dict[str, Any]:
    is_seated = ticket_id == SEATED
    text = a_barcode() if is_seated else of_the_field(STANDING)
    usual = {
        "ticket_id": str(ticket_id),
        "barcode_hash": barcode_hash(text),
        "zone": str(STALLS if is_seated else FIELD),
        "gate_ids": ["north"] if is_seated else None,
        "entry_limit": 1 if is_seated else None,
        "is_valid": True,
        "expires_at": "2026-06-06T23:00:00.000000Z",
        "code_hash": code_hash(CODE_KEY, CODES[ticket_id]),
        "status": "active",
        "issue": 1,
        "type": 1 if is_seated else 2,
    }
    return usual | ({"seat": "A-1"} if is_seated else {}) | changes


def a_gate(code: str, gate_id: UUID, **changes: Any) -> dict[str, Any]:
    rules = {
        "zones": changes.pop("zones", None),
        "max_concurrent": changes.pop("max_concurrent", None),
        "hard_capacity_limit": changes.pop("hard_capacity_limit", None),
        "entry_rules": ["check_ticket_valid", "check_not_duplicate"],
    }
    usual = {"gate_id": code, "id": str(gate_id), "name": f"Gate {code}", "status": "open"}
    return usual | {"access_rules": rules} | changes


def gates(**north: Any) -> dict[str, Any]:
    return {"gates": [a_gate("north", NORTH, **north), a_gate("south", SOUTH, zones=[str(FIELD)])]}


def a_type(number: int, **changes: Any) -> dict[str, Any]:
    usual = {"number": number, "name": f"Type {number}", "entry_limit": None}
    usual |= {"max_daily_entries": None, "reentry": "allowed", "gate_ids": None}
    return usual | changes


def types(**field: Any) -> dict[str, Any]:
    """The ticket types; the second is that of the field."""
    return {
        "ticket_types": [a_type(1, entry_limit=1, gate_ids=["north"]), a_type(2, **field)],
    }


def an_event(**changes: Any) -> dict[str, Any]:
    usual = {
        "status": "live",
        "ends_at": "2026-06-06T23:00:00.000000Z",
        "dedup_window_s": 300,
        "days": [
            {
                "date": FRIDAY,
                "starts_at": "2026-06-05T10:00:00.000000Z",
                "ends_at": "2026-06-05T23:00:00.000000Z",
            },
            {
                "date": SATURDAY,
                "starts_at": "2026-06-06T10:00:00.000000Z",
                "ends_at": "2026-06-06T23:00:00.000000Z",
            },
        ],
    }
    return {"event": usual | changes}


def tickets(seated: dict[str, Any] | None = None, **standing: Any) -> dict[str, Any]:
    return {"tickets": [an_entry(**(seated or {})), an_entry(STANDING, **standing)]}


def came(at: str, gate: str = "north", entries: int = 1, **more: Any) -> dict[str, Any]:
    """What an entry of a manifest says of a ticket that came in."""
    usual = {"status": "scanned", "entries": entries, "day": at[:10], "day_entries": entries}
    return usual | {"last_scanned_at": at, "last_gate": gate, "is_inside": True} | more


def mine(at: str, ticket_id: UUID = STANDING, **changes: Any) -> dict[str, Any]:
    usual = {"ticket_id": str(ticket_id), "at": at, "direction": "entry", "gate": "north"}
    return usual | {"acknowledged_at": None} | changes


BASE: dict[str, Any] = {
    "manifest": {
        "event_id": str(EVENT),
        "event_name": "Festival",
        "manifest_version": 7,
        "generated_at": NOON,
        "expires_at": "2026-06-06T23:00:00.000000Z",
        "occupancy": [],
        **an_event(),
        **gates(),
        "zones": [
            {"number": 1, "zone": str(STALLS), "name": "Stalls"},
            {"number": 2, "zone": str(FIELD), "name": "Field"},
        ],
        **types(),
        "public_keys": [
            {
                "number": number,
                "public_key": b64encode(a_key(number).public_key().public_bytes_raw()).decode(),
            }
            for number in (1, 2)
        ],
        "seat_notes": [{"seat": "A-1", "notes": ["Wheelchair place, companion beside in A-2"]}],
        **tickets(),
    },
    "code_key": CODE_KEY.hex(),
    "text": a_barcode(),
    "gate": "north",
    "direction": "entry",
    "at": "2026-06-05T18:00:00.000000Z",
    "own": [],
}
EVENING = BASE["at"]
LEFT = "2026-06-05T17:59:00.000000Z"
"""A moment one minute earlier."""
ADMITTED = "admitted"
STANDS = {"text": of_the_field(STANDING)}
NEW = {"text": of_the_field()}
FULL = gates(hard_capacity_limit=2) | {"occupancy": [{"gate_id": "north", "inside": 1}]}
"""A gate that has room for one more person."""


def cases() -> dict[str, tuple[dict[str, Any], str]]:
    return {
        **cases_of_presented_texts(),
        **cases_of_the_rule(),
        **cases_of_tickets_sold_since(),
        **cases_of_own_scans(),
        **cases_of_capacity(),
    }


def cases_of_presented_texts() -> dict[str, tuple[dict[str, Any], str]]:
    code = CODES[SEATED]
    return {
        "a barcode of the manifest": ({}, ADMITTED),
        "its code": ({"text": code}, ADMITTED),
        "its code as people type it": ({"text": f" {code.lower().replace('-', ' ')} "}, ADMITTED),
        "its code with another key": (
            {"text": code, "code_key": bytes(32).hex()},
            "ticket_not_found",
        ),
        "a code that the manifest does not have": ({"text": CODES[SINCE]}, "ticket_not_found"),
        "nothing": ({"text": ""}, "ticket_not_found"),
        "something else": ({"text": "https://example.org/a-page-of-somebody"}, "ticket_not_found"),
        "letters of another alphabet": ({"text": "Σκανάρισμα εισιτηρίου εδώ"}, "ticket_not_found"),
        "a barcode that was cut short": ({"text": a_barcode()[:-1]}, "ticket_not_found"),
        "a barcode in small letters": ({"text": a_barcode().lower()}, "ticket_not_found"),
        "the barcode before this one": (
            {"manifest": tickets({"issue": 2, "barcode_hash": barcode_hash(a_barcode(issue=2))})},
            "barcode_revoked",
        ),
        "the barcode before this one, forged": (
            {
                "text": a_barcode(key=a_key(99)),
                "manifest": tickets({"issue": 2, "barcode_hash": barcode_hash(a_barcode(issue=2))}),
            },
            "ticket_not_found",
        ),
        "the barcode after this one": ({"text": a_barcode(issue=2)}, ADMITTED),
        "the barcode after this one, forged": (
            {"text": a_barcode(issue=2, key=a_key(99))},
            "ticket_not_found",
        ),
        "the same issue, signed by another key of the event": (
            {"text": a_barcode(key_number=2)},
            ADMITTED,
        ),
        "a known ticket, signed by a stranger": (
            {"text": a_barcode(key=a_key(99))},
            "ticket_not_found",
        ),
        "a known ticket that claims another seat": (
            {"text": a_barcode(seat_label="A-2", key=a_key(99))},
            "ticket_not_found",
        ),
        "of another event": ({"text": a_barcode(SINCE, event_id=OTHER_EVENT)}, "wrong_event"),
        "of another event, on the way out": (
            {"text": a_barcode(SINCE, event_id=OTHER_EVENT), "direction": "exit"},
            "wrong_event",
        ),
        "after the manifest": ({"at": "2026-06-06T23:00:00.000001Z"}, "manifest_expired"),
        "leaving after the manifest": (
            STANDS
            | {
                "at": "2026-06-07T00:30:00.000000Z",
                "direction": "exit",
                "manifest": tickets(**came("2026-06-06T18:00:00.000000Z")),
            },
            ADMITTED,
        ),
        "leaving after the manifest without having come": (
            {"at": "2026-06-07T00:30:00.000000Z", "direction": "exit"},
            "not_inside",
        ),
        "at its last moment": ({"at": "2026-06-06T23:00:00.000000Z"}, ADMITTED),
        "at a gate that came since": ({"gate": "west"}, "gate_unknown"),
    }


def cases_of_the_rule() -> dict[str, tuple[dict[str, Any], str]]:
    def seated(**changes: Any) -> dict[str, Any]:
        return {"manifest": tickets(changes)}

    def standing(settings: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
        return STANDS | {"manifest": tickets(**changes) | (settings or {})}

    early = came("2026-06-05T11:00:00.000000Z")
    return {
        "voided": (seated(status="voided", is_valid=False), "ticket_voided"),
        "refunded": (seated(status="refunded", is_valid=False), "ticket_refunded"),
        "used": (seated(status="used"), "ticket_already_used"),
        "came a moment ago": (standing(**came("2026-06-05T17:55:00.000001Z")), "already_scanned"),
        "came five minutes ago": (standing(**came("2026-06-05T17:55:00.000000Z")), ADMITTED),
        "a longer window": (
            standing(an_event(dedup_window_s=25_201), **early),
            "already_scanned",
        ),
        "an event that is not live": ({"manifest": an_event(status="published")}, "event_not_live"),
        "an event that has ended": (
            {"manifest": an_event(ends_at="2026-06-05T17:00:00.000000Z")},
            "event_ended",
        ),
        "a closed gate": ({"manifest": gates(status="closed")}, "gate_closed"),
        "a gate that is not its": ({"gate": "south"}, "wrong_gate"),
        "a gate that is not its zone's": (
            {"gate": "south", "manifest": tickets({"gate_ids": None})},
            "wrong_gate",
        ),
        "a gate that is its zone's": (STANDS | {"gate": "south"}, ADMITTED),
        "only gates that came since": (seated(gate_ids=["west"]), "wrong_gate"),
        "another day": (seated(days=[SATURDAY]), "not_valid_today"),
        "this day": (seated(days=[FRIDAY]), ADMITTED),
        "a membership that is over": (seated(membership=False), "membership_not_active"),
        "a membership": (seated(membership=True), ADMITTED),
        "no re-entry": (standing(types(reentry="never"), **early), "reentry_not_allowed"),
        "inside, and nobody saw them leave": (
            standing(types(reentry="after_exit"), **early),
            "exit_required",
        ),
        "seen leaving": (
            standing(
                types(reentry="after_exit"), **came(early["last_scanned_at"], is_inside=False)
            ),
            ADMITTED,
        ),
        "inside since yesterday": (
            standing(types(reentry="after_exit"), **early) | {"at": "2026-06-06T18:00:00.000000Z"},
            ADMITTED,
        ),
        "came a moment ago and left": (
            standing(**came("2026-06-05T17:58:00.000000Z", is_inside=False, last_exit_at=LEFT)),
            "already_scanned",
        ),
        "came a moment ago and left, no re-entry": (
            standing(
                types(reentry="never"),
                **came("2026-06-05T17:58:00.000000Z", is_inside=False, last_exit_at=LEFT),
            ),
            "already_scanned",
        ),
        "all entries of today used, and left": (
            standing(
                types(max_daily_entries=1),
                **came(early["last_scanned_at"], is_inside=False, last_exit_at=LEFT),
            ),
            "daily_limit_reached",
        ),
        "all entries used": (seated(**early), "entry_limit_reached"),
        "one entry left": (standing(entry_limit=2, **early), ADMITTED),
        "all entries of today used": (
            standing(types(max_daily_entries=1), **early),
            "daily_limit_reached",
        ),
        "all entries of yesterday used": (
            standing(types(max_daily_entries=1), **early) | {"at": "2026-06-06T18:00:00.000000Z"},
            ADMITTED,
        ),
        "leaving": (seated(**early) | {"direction": "exit"}, ADMITTED),
        "leaving with a ticket that was voided since": (
            seated(**(early | {"status": "voided"})) | {"direction": "exit"},
            ADMITTED,
        ),
        "leaving twice": (
            seated(**came(early["last_scanned_at"], is_inside=False)) | {"direction": "exit"},
            "not_inside",
        ),
        "leaving without having come": ({"direction": "exit"}, "not_inside"),
    }


def cases_of_tickets_sold_since() -> dict[str, tuple[dict[str, Any], str]]:
    return {
        "sold since": (NEW, ADMITTED),
        "sold since, with a seat": ({"text": a_barcode(SINCE)}, ADMITTED),
        "sold since, signed by the event's second key": (
            {"text": of_the_field(key_number=2)},
            ADMITTED,
        ),
        "sold since, signed by a stranger": (
            {"text": of_the_field(key=a_key(99))},
            "ticket_not_found",
        ),
        "sold since, signed by a key that came since": (
            {"text": of_the_field(key_number=3)},
            "ticket_not_found",
        ),
        "sold since, of a type that came since": (
            {"text": of_the_field(ticket_type_number=9)},
            "ticket_not_found",
        ),
        "sold since, at a gate that is not its type's": (
            {"text": a_barcode(SINCE), "gate": "south"},
            "wrong_gate",
        ),
        "sold since, at a gate that is its zone's": (NEW | {"gate": "south"}, ADMITTED),
        "sold since, for a zone that came since, where zones matter": (
            {"text": of_the_field(zone_number=9), "gate": "south"},
            "wrong_gate",
        ),
        "sold since, for a zone that came since, where they do not": (
            {"text": of_the_field(zone_number=9)},
            ADMITTED,
        ),
        "sold since, for no zone": ({"text": of_the_field(zone_number=0)}, ADMITTED),
        "sold since, for today": ({"text": of_the_field(days=1)}, ADMITTED),
        "sold since, for tomorrow": ({"text": of_the_field(days=2)}, "not_valid_today"),
        "sold since, for both days by name": ({"text": of_the_field(days=3)}, ADMITTED),
        "sold since, for a day that the event did not have": (
            {"text": of_the_field(days=4)},
            "not_valid_today",
        ),
        "sold since, and shown again": (
            NEW | {"own": [mine("2026-06-05T17:58:00.000000Z", SINCE)]},
            "already_scanned",
        ),
        "sold since, all its entries used here": (
            NEW
            | {
                "manifest": types(entry_limit=1),
                "own": [mine("2026-06-05T16:00:00.000000Z", SINCE)],
            },
            "entry_limit_reached",
        ),
        "sold since, leaving": (
            NEW | {"direction": "exit", "own": [mine("2026-06-05T16:00:00.000000Z", SINCE)]},
            ADMITTED,
        ),
        "sold since, its code": ({"text": CODES[SINCE]}, "ticket_not_found"),
    }


def cases_of_own_scans() -> dict[str, tuple[dict[str, Any], str]]:
    morning, later = "2026-06-05T11:00:00.000000Z", "2026-06-05T17:58:00.000000Z"
    twice = {"manifest": tickets(entry_limit=2, **came(morning))}
    acknowledged = mine(morning, acknowledged_at="2026-06-05T11:00:01.000000Z")
    return {
        "let in here a moment ago": (STANDS | {"own": [mine(later)]}, "already_scanned"),
        "let in here a moment ago, by its code now": (
            {"text": CODES[STANDING], "own": [mine(later)]},
            "already_scanned",
        ),
        "let in here under another barcode": (
            {"text": of_the_field(STANDING, issue=2), "own": [mine(later)]},
            "already_scanned",
        ),
        "somebody else was let in here": (STANDS | {"own": [mine(later, SEATED)]}, ADMITTED),
        "the manifest's entry and an own one": (
            STANDS | twice | {"own": [mine("2026-06-05T14:00:00.000000Z")]},
            "entry_limit_reached",
        ),
        "an own entry that the manifest counts, by the server's answer": (
            STANDS | twice | {"own": [acknowledged]},
            ADMITTED,
        ),
        "an own entry that the manifest counts, by its moment": (
            STANDS | twice | {"own": [mine(morning)]},
            ADMITTED,
        ),
        "an own entry that was acknowledged when the manifest was made": (
            STANDS | twice | {"own": [mine("2026-06-05T11:59:00.000000Z", acknowledged_at=NOON)]},
            "entry_limit_reached",
        ),
        "an own entry before the manifest's last one counts": (
            STANDS | twice | {"own": [mine("2026-06-05T10:30:00.000000Z")]},
            "entry_limit_reached",
        ),
        "an own entry before the manifest's last one is not the last": (
            STANDS
            | {
                "manifest": tickets(**came("2026-06-05T17:58:00.000000Z")),
                "own": [mine("2026-06-05T10:30:00.000000Z")],
            },
            "already_scanned",
        ),
        "an own exit before the manifest's last entry": (
            STANDS
            | {
                "manifest": tickets(**came(morning)) | types(reentry="after_exit"),
                "own": [mine("2026-06-05T10:30:00.000000Z", direction="exit")],
            },
            "exit_required",
        ),
        "an own exit after the manifest's last entry": (
            STANDS
            | {
                "manifest": tickets(**came(morning)) | types(reentry="after_exit"),
                "own": [mine("2026-06-05T14:00:00.000000Z", direction="exit")],
            },
            ADMITTED,
        ),
        "let in here a moment ago, and left here": (
            STANDS | {"own": [mine(later), mine(LEFT, direction="exit")]},
            "already_scanned",
        ),
        "let in here, left here, and let in here again a moment ago": (
            STANDS
            | {
                "own": [
                    mine("2026-06-05T17:50:00.000000Z"),
                    mine("2026-06-05T17:52:00.000000Z", direction="exit"),
                    mine(later),
                ]
            },
            "already_scanned",
        ),
        "came elsewhere, and left here a moment ago": (
            STANDS
            | {
                "manifest": tickets(**came(later)),
                "own": [mine(LEFT, direction="exit")],
            },
            "already_scanned",
        ),
        "left elsewhere as the manifest knows, and then let in here": (
            STANDS
            | {
                "manifest": tickets(
                    **came(morning, is_inside=False, last_exit_at="2026-06-05T11:30:00.000000Z")
                ),
                "own": [mine(later)],
            },
            "already_scanned",
        ),
        "all entries used here, and left here": (
            STANDS
            | {
                "manifest": tickets(entry_limit=1),
                "own": [mine(morning), mine("2026-06-05T14:00:00.000000Z", direction="exit")],
            },
            "entry_limit_reached",
        ),
        "own scans in the wrong order": (
            STANDS
            | {
                "manifest": types(reentry="after_exit"),
                "own": [
                    mine("2026-06-05T15:00:00.000000Z", direction="exit"),
                    mine("2026-06-05T14:00:00.000000Z"),
                ],
            },
            ADMITTED,
        ),
        "left here, and leaves again": (
            STANDS
            | {
                "direction": "exit",
                "own": [
                    mine("2026-06-05T14:00:00.000000Z"),
                    mine("2026-06-05T15:00:00.000000Z", direction="exit"),
                ],
            },
            "not_inside",
        ),
        "own entries of today, all used": (
            STANDS
            | {
                "manifest": types(max_daily_entries=2),
                "own": [mine("2026-06-05T14:00:00.000000Z"), mine("2026-06-05T15:00:00.000000Z")],
            },
            "daily_limit_reached",
        ),
        "own entries of yesterday": (
            STANDS
            | {
                "at": "2026-06-06T18:00:00.000000Z",
                "manifest": types(max_daily_entries=2),
                "own": [mine("2026-06-05T14:00:00.000000Z"), mine("2026-06-05T15:00:00.000000Z")],
            },
            ADMITTED,
        ),
        "by a clock that was set back": (
            STANDS | {"own": [mine("2026-06-05T18:04:59.000000Z")]},
            "already_scanned",
        ),
    }


def cases_of_capacity() -> dict[str, tuple[dict[str, Any], str]]:
    def at_north(*own: dict[str, Any], **changes: Any) -> dict[str, Any]:
        return STANDS | {"manifest": FULL | changes, "own": list(own)}

    after = "2026-06-05T14:00:00.000000Z"
    other = tickets(came("2026-06-05T11:00:00.000000Z"))
    next_day = {"at": "2026-06-06T18:00:00.000000Z"}
    return {
        "room for one more": (at_north(), ADMITTED),
        "the last place was taken here": (at_north(mine(after, SEATED)), "gate_at_capacity"),
        "the last place was taken here, and left": (
            at_north(
                mine(after, SEATED), mine("2026-06-05T15:00:00.000000Z", SEATED, direction="exit")
            ),
            ADMITTED,
        ),
        "as many as may be inside": (
            at_north(occupancy=[{"gate_id": "north", "inside": 2}]),
            "gate_at_capacity",
        ),
        "one of them left here": (
            at_north(
                mine(after, SEATED, direction="exit"),
                occupancy=[{"gate_id": "north", "inside": 2}],
                **other,
            ),
            ADMITTED,
        ),
        "one of them came again here, without having been seen leaving": (
            at_north(mine(after, SEATED), **other),
            ADMITTED,
        ),
        "full, and one of those who are inside by this gate comes again": (
            at_north(mine(after), mine("2026-06-05T13:00:00.000000Z", SEATED)),
            ADMITTED,
        ),
        "full, and one who is inside by another gate comes here": (
            at_north(mine(after, gate="south"), occupancy=[{"gate_id": "north", "inside": 2}]),
            "gate_at_capacity",
        ),
        "one who is inside by another gate left here": (
            at_north(
                mine(after, SEATED, direction="exit"),
                occupancy=[{"gate_id": "north", "inside": 2}],
                **tickets(came("2026-06-05T11:00:00.000000Z", "south")),
            ),
            "gate_at_capacity",
        ),
        "the last place was taken here, as the manifest knows": (
            at_north(mine(after, SEATED, acknowledged_at="2026-06-05T11:59:59.000000Z")),
            ADMITTED,
        ),
        "all of it yesterday": (
            at_north(mine(after, SEATED), occupancy=[{"gate_id": "north", "inside": 2}]) | next_day,
            "gate_at_capacity",
        ),
        "full since yesterday, as the manifest knows": (
            at_north(occupancy=[{"gate_id": "north", "inside": 2}]) | next_day,
            "gate_at_capacity",
        ),
        "room for one more since yesterday": (at_north() | next_day, ADMITTED),
        "the last place was taken here yesterday": (
            at_north(mine(after, SEATED)) | next_day,
            "gate_at_capacity",
        ),
        "one of them, inside since yesterday, left here today": (
            at_north(
                mine("2026-06-06T15:00:00.000000Z", SEATED, direction="exit"),
                occupancy=[{"gate_id": "north", "inside": 2}],
                **other,
            )
            | next_day,
            ADMITTED,
        ),
        "another gate is full": (
            STANDS | {"manifest": {"occupancy": [{"gate_id": "south", "inside": 900}]}},
            ADMITTED,
        ),
        "leaving through a gate that is full": (
            at_north(mine(after), occupancy=[{"gate_id": "north", "inside": 5}])
            | {"direction": "exit"},
            ADMITTED,
        ),
    }


def given_of(changes: dict[str, Any]) -> dict[str, Any]:
    return BASE | changes | {"manifest": BASE["manifest"] | changes.get("manifest", {})}


def decided(given: dict[str, Any]) -> Any:
    register = Register(
        msgspec.convert(given["manifest"], Manifest), bytes.fromhex(given["code_key"])
    )
    own: dict[UUID, list[OwnScan]] = {}
    for scan in msgspec.convert(given["own"], list[OwnScan]):
        own.setdefault(scan.ticket_id, []).append(scan)
    return decide_offline(
        register,
        given["text"],
        gate=given["gate"],
        direction=given["direction"],
        at=datetime.fromisoformat(given["at"]),
        own=own,
    )


def expected(given: dict[str, Any]) -> dict[str, Any]:
    decision = decided(given)
    if isinstance(decision, str):
        return {"undecided": decision}
    result = msgspec.to_builtins(decision)
    verdict, shown = result.pop("verdict"), result.pop("shown")
    for said in ("left_at", "may_return_at"):
        if (moment := getattr(decision.verdict, said)) is not None:
            verdict[said] = f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"
    if (last := decision.shown.last_scanned_at) is not None:
        shown["last_scanned_at"] = f"{last:%Y-%m-%dT%H:%M:%S.%f}Z"
    shown = {name: value for name, value in shown.items() if value}
    return {
        **{name: value for name, value in verdict.items() if value is not None},
        **{name: value for name, value in result.items() if value not in (None, False)},
        **({"shown": shown} if shown else {}),
    }


def document() -> bytes:
    listed = [
        {"name": name, "with": changes, "gives": expected(given_of(changes))}
        for name, (changes, _) in cases().items()
    ]
    contract = {"about": ABOUT, "base": BASE, "cases": listed}
    return msgspec.json.format(msgspec.json.encode(contract)) + b"\n"


if __name__ == "__main__":
    sys.stdout.buffer.write(document())
