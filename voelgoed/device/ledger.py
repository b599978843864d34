"""A device's scans: kept, signed, and signed anew when its key changes.

What was scanned is never written otherwise, for the server may have it already though its answer was
lost. Each scan has the offset of the clock that it was read from: the time between its two moments.
"""

from datetime import datetime, timedelta
from uuid import UUID

from msgspec.structs import replace

from voelgoed.device.clock import DeviceClock
from voelgoed.device.model import LoggedScan, SyncStatus
from voelgoed.device.store import DeviceStore
from voelgoed.scanning.model.offline import OwnScan
from voelgoed.scanning.rules.manifest import moment_text
from voelgoed.scanning.rules.scan_signatures import SignedFields, sign_scan

NOT_SYNCED: tuple[SyncStatus, ...] = ("pending", "failed")


def signed(scan: LoggedScan, api_key: str) -> LoggedScan:
    return replace(scan, signature=sign_scan(signed_fields(scan), api_key))


def signed_fields(scan: LoggedScan) -> SignedFields:
    """The signed fields, with exactly the texts that are sent."""
    return SignedFields(
        scan_id=str(scan.scan_id),
        ticket_id=None if scan.ticket_id is None else str(scan.ticket_id),
        barcode_hash=scan.barcode_hash,
        scanned_at=moment_text(scan.scanned_at),
        gate_id=scan.gate_id,
    )


class Ledger:
    def __init__(self, store: DeviceStore, clock: DeviceClock) -> None:
        self._store = store
        self._clock = clock
        self.own: dict[UUID, list[OwnScan]] = {}
        self._by_id: dict[UUID, OwnScan] = {}
        for scan in store.scans():
            self._remember(scan)

    def now(self) -> datetime:
        """The moment by the device's clock. A jump is stored, because nobody could notice it after
        a start."""
        before = self._clock.offset
        now = self._clock.read()
        if self._clock.offset != before:
            with self._store.transaction():
                self._store.keep_clock(self._clock.state)
        return now

    def learn(self, offset_seconds: float, round_trip_s: float) -> None:
        """Takes the server's measurement of the clock. Scans that were made while its error was
        unknown are corrected by it."""
        before = self._clock.offset
        if not self._clock.learn(offset_seconds, round_trip_s):
            return
        error = self._clock.offset - before
        unsure = [scan for scan in self._store.scans("pending") if not scan.is_measured]
        with self._store.transaction():
            self._store.keep_clock(self._clock.state)
            self.change([self._moved(scan, error) for scan in unsure])

    def _moved(self, scan: LoggedScan, error: timedelta) -> LoggedScan:
        at = scan.scanned_at_corrected + error
        return replace(scan, scanned_at_corrected=at, is_measured=self._clock.is_sure)

    def add(self, scan: LoggedScan) -> None:
        """It is on the disk when this returns."""
        with self._store.transaction():
            self._store.add_scan(scan)
            self._store.keep_clock(self._clock.state)
        self._remember(scan)

    def change(self, scans: list[LoggedScan]) -> None:
        """Within a transaction of the caller's."""
        self._store.change_scans(scans)
        for scan in scans:
            self._remember(scan)

    def sign_anew(self, api_key: str) -> None:
        """Within a transaction of the caller's. What is on its way has the old signatures; it is
        sent under another batch id, for a scan is one scan whichever batch it comes with."""
        self._store.forget_outgoing()
        waiting = [scan for status in NOT_SYNCED for scan in self._store.scans(status)]
        self._store.change_scans(
            replace(signed(scan, api_key), refusal_count=0) for scan in waiting
        )

    def _remember(self, scan: LoggedScan) -> None:
        if scan.outcome != "valid" or scan.ticket_id is None:
            return
        new = OwnScan(
            ticket_id=scan.ticket_id,
            at=scan.scanned_at_corrected,
            direction=scan.direction,
            gate=scan.gate_id,
            acknowledged_at=scan.synced_at,
        )
        before, mine = self._by_id.get(scan.scan_id), self.own.setdefault(scan.ticket_id, [])
        mine[:] = [each for each in mine if each is not before] + [new]
        self._by_id[scan.scan_id] = new
