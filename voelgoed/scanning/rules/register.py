"""A manifest as a device keeps it in memory, to look things up in."""

from base64 import b64decode

import msgspec

from voelgoed.scanning.model.offline import Manifest


class Register:
    def __init__(self, manifest: Manifest, code_key: bytes) -> None:
        self.manifest = manifest
        self.code_key = code_key
        self.gates = {gate.gate_id: gate for gate in manifest.gates}
        """Gates by their codes, and by their ids, which stay when a device goes to another
        event."""
        self.gates |= {str(gate.id): gate for gate in manifest.gates}
        self.types = {each.number: each for each in manifest.ticket_types}
        self.zones = {zone.number: zone.zone for zone in manifest.zones}
        self.zone_names = {zone.zone: zone.name for zone in manifest.zones}
        self.keys = {key.number: b64decode(key.public_key) for key in manifest.public_keys}
        self.notes = {each.seat: each.notes for each in manifest.seat_notes}
        self.by_barcode = {entry.barcode_hash: entry for entry in manifest.tickets}
        self.by_code = {entry.code_hash: entry for entry in manifest.tickets}
        self.by_ticket = {entry.ticket_id: entry for entry in manifest.tickets}
        if any(entry.type not in self.types for entry in manifest.tickets):
            raise ValueError("a ticket is of a type that the manifest does not have")


def read_manifest(document: bytes) -> Manifest:
    """Reads a document whose signature was verified."""
    return _manifest.decode(document)


_manifest = msgspec.json.Decoder(Manifest)
