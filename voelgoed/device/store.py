"""The data of a device, in one SQLite file. A scan is on the disk before its verdict is shown."""

import os
import sqlite3
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import msgspec

from voelgoed.device.model import (
    ClockState,
    Identity,
    LoggedScan,
    Outgoing,
    StateUnusable,
    SyncStatus,
)
from voelgoed.scanning.rules.manifest import moment_text

T = TypeVar("T")
WAIT_S = 5.0
"""The wait for another process that uses the same file."""
SCHEMA_VERSION = 2
SCHEMA = """
CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS manifest (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    document BLOB NOT NULL,
    code_key BLOB NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS scan (
    place                INTEGER PRIMARY KEY AUTOINCREMENT,
    scan_id              TEXT NOT NULL UNIQUE,
    ticket_id            TEXT,
    barcode              TEXT NOT NULL,
    barcode_hash         TEXT NOT NULL,
    scanned_at           TEXT NOT NULL,
    scanned_at_corrected TEXT NOT NULL,
    is_measured          INTEGER NOT NULL,
    gate_id              TEXT NOT NULL,
    direction            TEXT NOT NULL,
    outcome              TEXT NOT NULL,
    reason               TEXT,
    ticket_code          TEXT,
    signature            TEXT NOT NULL,
    sync_status          TEXT NOT NULL CHECK (sync_status IN ('pending', 'synced', 'failed')),
    retry_count          INTEGER NOT NULL,
    last_error           TEXT,
    synced_at            TEXT,
    refusal_count        INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX IF NOT EXISTS scan_by_status ON scan (sync_status, place);
"""
FROM_VERSION_1 = """
BEGIN IMMEDIATE;
ALTER TABLE scan ADD COLUMN refusal_count INTEGER NOT NULL DEFAULT 0;
PRAGMA user_version = 2;
COMMIT;
"""


class DeviceStore:
    def __init__(self, path: Path) -> None:
        """The key in it is for nobody else to read."""
        self.path = path
        try:
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            self._connection = sqlite3.connect(path, timeout=WAIT_S, isolation_level=None)
            self._connection.row_factory = sqlite3.Row
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._prepare()
        except (OSError, sqlite3.Error) as fault:
            raise StateUnusable(f"{path}: {fault}") from fault

    def _prepare(self) -> None:
        [version] = self._connection.execute("PRAGMA user_version").fetchone()
        if version == 1:
            self._connection.executescript(FROM_VERSION_1)
        elif version not in (0, SCHEMA_VERSION):
            raise StateUnusable(f"{self.path}: was written by another version of this program")
        self._connection.executescript(SCHEMA)
        self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def transaction(self) -> Generator[None]:
        """A transaction that is on the disk when it ends."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    @property
    def identity(self) -> Identity | None:
        return self._read("identity", Identity)

    def keep_identity(self, identity: Identity) -> None:
        self._keep("identity", identity)

    @property
    def rotation_id(self) -> UUID | None:
        """The id of a rotation whose key was asked for and has not arrived yet."""
        return self._read("rotation", UUID)

    def keep_rotation_id(self, rotation_id: UUID) -> None:
        self._keep("rotation", rotation_id)

    def forget_rotation_id(self) -> None:
        self._connection.execute("DELETE FROM state WHERE name = 'rotation'")

    @property
    def clock(self) -> ClockState:
        return self._read("clock", ClockState) or ClockState()

    def keep_clock(self, state: ClockState) -> None:
        self._keep("clock", state)

    @property
    def outgoing(self) -> Outgoing | None:
        return self._read("outgoing", Outgoing)

    def keep_outgoing(self, batch: Outgoing) -> None:
        self._keep("outgoing", batch)

    def forget_outgoing(self) -> None:
        self._connection.execute("DELETE FROM state WHERE name = 'outgoing'")

    @property
    def manifest(self) -> tuple[bytes, bytes] | None:
        """The document and the key to its codes."""
        row = self._connection.execute("SELECT document, code_key FROM manifest").fetchone()
        return None if row is None else (row["document"], row["code_key"])

    def keep_manifest(self, document: bytes, code_key: bytes) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO manifest (id, document, code_key) VALUES (1, ?, ?)",
            (document, code_key),
        )

    def forget_manifest(self) -> None:
        self._connection.execute("DELETE FROM manifest")

    def add_scan(self, scan: LoggedScan) -> None:
        self._connection.execute(
            """
            INSERT INTO scan (
                scan_id, ticket_id, barcode, barcode_hash, scanned_at, scanned_at_corrected,
                is_measured, gate_id, direction, outcome, reason, ticket_code, signature,
                sync_status, retry_count, last_error, synced_at, refusal_count
            ) VALUES (
                :scan_id, :ticket_id, :barcode, :barcode_hash, :scanned_at, :scanned_at_corrected,
                :is_measured, :gate_id, :direction, :outcome, :reason, :ticket_code, :signature,
                :sync_status, :retry_count, :last_error, :synced_at, :refusal_count
            )
            """,
            _as_row(scan),
        )

    def change_scans(self, scans: Iterable[LoggedScan]) -> None:
        """Writes the columns of scans that may change."""
        self._connection.executemany(
            """
            UPDATE scan
            SET scanned_at = :scanned_at, scanned_at_corrected = :scanned_at_corrected,
                is_measured = :is_measured, signature = :signature, sync_status = :sync_status,
                retry_count = :retry_count, last_error = :last_error, synced_at = :synced_at,
                refusal_count = :refusal_count
            WHERE scan_id = :scan_id
            """,
            [_as_row(scan) for scan in scans],
        )

    def scans(self, status: SyncStatus | None = None, most: int = -1) -> list[LoggedScan]:
        """The scans in the order in which they were made."""
        rows = self._connection.execute(
            "SELECT * FROM scan WHERE ? IS NULL OR sync_status = ? ORDER BY place LIMIT ?",
            (status, status, most),
        )
        return [_from_row(row) for row in rows]

    def scans_by_ids(self, scan_ids: Sequence[UUID]) -> list[LoggedScan]:
        ids = msgspec.json.encode(scan_ids).decode()
        rows = self._connection.execute(
            "SELECT * FROM scan WHERE scan_id IN (SELECT value FROM json_each(?)) ORDER BY place",
            (ids,),
        )
        return [_from_row(row) for row in rows]

    def count(self) -> dict[SyncStatus, int]:
        rows = self._connection.execute(
            "SELECT sync_status, count(*) AS count FROM scan GROUP BY sync_status"
        )
        counts: dict[SyncStatus, int] = {"pending": 0, "synced": 0, "failed": 0}
        return counts | {row["sync_status"]: row["count"] for row in rows}

    def _read(self, name: str, kind: type[T]) -> T | None:
        row = self._connection.execute("SELECT value FROM state WHERE name = ?", (name,)).fetchone()
        return None if row is None else msgspec.msgpack.decode(row["value"], type=kind)

    def _keep(self, name: str, value: object) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO state (name, value) VALUES (?, ?)",
            (name, msgspec.msgpack.encode(value)),
        )


def _as_row(scan: LoggedScan) -> dict[str, Any]:
    row: dict[str, Any] = msgspec.structs.asdict(scan)
    return {name: _as_cell(value) for name, value in row.items()}


def _as_cell(value: object) -> object:
    if isinstance(value, datetime):
        return moment_text(value)
    return str(value) if isinstance(value, UUID) else value


def _from_row(row: sqlite3.Row) -> LoggedScan:
    cells = dict(row)
    cells["is_measured"] = bool(cells["is_measured"])
    del cells["place"]
    return msgspec.convert(cells, LoggedScan)
