"""What is to be said of scans that come from a file and not from the device itself."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid5

from voelgoed.scanning.model.alerts import AlertKind, Suspicion
from voelgoed.scanning.model.devices import Device
from voelgoed.scanning.model.recoveries import Imported
from voelgoed.scanning.model.scans import Doubt
from voelgoed.scanning.model.sync import SignedScan
from voelgoed.scanning.rules.device_clock import DeviceClock, canonical, is_from_future
from voelgoed.scanning.rules.fraud import SEVERITY, SUBJECT
from voelgoed.scanning.rules.scan_signatures import SignedFields, is_signed_by

_FILES = UUID("0b1f7c64-8a5e-5d0e-9d3b-6f1d1c7a2e10")
"""Random, for names of files."""


def batch_id_of(fingerprint: str) -> UUID:
    """The same file is the same import, whoever brings it and however often."""
    return uuid5(_FILES, fingerprint)


def fields_of(scan: SignedScan) -> SignedFields:
    return SignedFields(
        scan_id=scan.scan_id,
        ticket_id=scan.ticket_id,
        barcode_hash=scan.barcode_hash,
        scanned_at=scan.scanned_at,
        gate_id=scan.gate_id,
    )


def which_are_signed(scans: Sequence[SignedScan], api_keys: Sequence[str]) -> list[bool]:
    """By any of the keys. Most were signed with the same one as those before them."""
    keys, found = list(api_keys), list[bool]()
    for scan in scans:
        fields = fields_of(scan)
        key = next((key for key in keys if is_signed_by(scan.signature, fields, key)), None)
        if key is not None and key != keys[0]:
            keys.remove(key)
            keys.insert(0, key)
        found.append(key is not None)
    return found


def doubts_about(
    scanned_at: datetime, clock: DeviceClock, device: Device, now: datetime
) -> list[Doubt]:
    """Nothing is refused for its moment: that is why it could not be sent."""
    at, doubts = canonical(scanned_at, clock), list[Doubt]()
    if at < device.created_at:
        doubts.append("before_pairing")
    if is_from_future(at, clock.tolerance, now):
        doubts.append("from_future")
    if device.deleted_at is not None and at > device.deleted_at:
        doubts.append("after_revocation")
    return doubts


def suspicion_of(imported: Imported) -> Suspicion:
    """Not of anybody: that something waits for a person to look at it."""
    kind: AlertKind = "unverified_scans"
    return Suspicion(
        event_id=imported.event_id,
        kind=kind,
        severity=SEVERITY[kind],
        subject_type=SUBJECT[kind],
        subject_id=imported.device_id,
        at=imported.imported_at,
        details={
            "device_name": imported.device_name,
            "batch_id": imported.batch_id,
            "scans": imported.kept,
            "wrong_signatures": imported.wrong_signatures,
            "doubtful": imported.doubtful,
        },
    )


def recovery_told(what: str, batch_id: UUID, device_id: UUID, scans: int) -> dict[str, object]:
    return {"event": what, "batch_id": batch_id, "device_id": device_id, "scans": scans}
