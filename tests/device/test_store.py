"""A scan that a device has answered is on its disk."""

import os
import random
import signal
import stat
import subprocess
import sys
from pathlib import Path
from uuid import UUID, uuid4

import httpx
import pytest

from tests.device.support import API_KEY, a_scan
from tests.scanning.signature_cases import a_key
from voelgoed.device.client import Device
from voelgoed.device.clock import DeviceClock
from voelgoed.device.ledger import Ledger, signed, signed_fields
from voelgoed.device.model import ClockState, Identity, Outgoing, StateUnusable
from voelgoed.device.store import DeviceStore
from voelgoed.scanning.rules.scan_signatures import is_signed_by

KILLS = 5
SCANS_BEFORE_MAX = 40


@pytest.fixture
def store(tmp_path: Path) -> DeviceStore:
    return DeviceStore(tmp_path / "device.db")


def an_identity() -> Identity:
    return Identity(
        url="http://127.0.0.1:9",
        api_key=API_KEY,
        device_id=UUID(int=1),
        name="iPad",
        organization_id=UUID(int=2),
        organization_name="Acme",
        event_id=UUID(int=3),
        gate_id=UUID(int=4),
    )


def reopened(store: DeviceStore) -> DeviceStore:
    store.close()
    return DeviceStore(store.path)


def test_everything_is_there_when_the_store_is_opened_again(store: DeviceStore):
    batch = Outgoing(uuid4(), b"\0bytes\xff", [uuid4(), uuid4()], 15.25)
    rotation_id, scans = (
        uuid4(),
        [a_scan(), a_scan(ticket_id=None, ticket_code="null", barcode="1")],
    )
    clock = ClockState(offset_seconds=1.5, is_measured=True, last_read=scans[0].scanned_at)
    with store.transaction():
        store.keep_identity(an_identity())
        store.keep_manifest(b"{}", bytes(32))
        store.keep_outgoing(batch)
        store.keep_rotation_id(rotation_id)
        store.keep_clock(clock)
        for scan in scans:
            store.add_scan(scan)
    again = reopened(store)
    assert again.identity == an_identity()
    assert again.manifest == (b"{}", bytes(32))
    assert again.outgoing == batch
    assert again.rotation_id == rotation_id
    assert again.clock == clock
    assert again.scans() == scans
    again.forget_outgoing()
    again.forget_rotation_id()
    again.forget_manifest()
    assert (again.outgoing, again.rotation_id, again.manifest) == (None, None, None)


def test_a_new_store_is_empty(store: DeviceStore):
    assert store.identity is None
    assert store.manifest is None
    assert store.clock == ClockState()
    assert store.count() == {"pending": 0, "synced": 0, "failed": 0}


def test_only_the_owner_can_read_the_file_with_the_key(store: DeviceStore):
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600


def test_a_failed_transaction_leaves_nothing(store: DeviceStore):
    with pytest.raises(ZeroDivisionError), store.transaction():
        store.add_scan(a_scan())
        raise ZeroDivisionError
    assert store.scans() == []


def test_scans_are_found_in_their_order_by_status_and_by_id(store: DeviceStore):
    scans = [a_scan(sync_status=status) for status in ("pending", "synced", "pending", "failed")]
    for scan in scans:
        store.add_scan(scan)
    assert store.scans("pending") == [scans[0], scans[2]]
    assert store.scans("pending", 1) == [scans[0]]
    assert store.scans_by_ids([scans[3].scan_id, scans[1].scan_id]) == [scans[1], scans[3]]
    assert store.count() == {"pending": 2, "synced": 1, "failed": 1}


def test_a_file_that_is_something_else_is_refused(tmp_path: Path):
    path = tmp_path / "letter.txt"
    path.write_text("Dear Sir or Madam, " * 100)
    with pytest.raises(StateUnusable, match="letter.txt"):
        DeviceStore(path)
    with pytest.raises(StateUnusable):
        DeviceStore(tmp_path / "nowhere" / "device.db")


def test_a_file_of_a_later_version_is_not_touched(store: DeviceStore):
    store._connection.execute("PRAGMA user_version = 99")  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(StateUnusable, match="another version"):
        reopened(store)


def test_a_file_of_the_version_before_keeps_its_scans(store: DeviceStore):
    waiting = a_scan(retry_count=3)
    store.add_scan(waiting)
    store._connection.executescript(  # pyright: ignore[reportPrivateUsage]
        "ALTER TABLE scan DROP COLUMN refusal_count; PRAGMA user_version = 1"
    )
    store.close()
    for _ in range(2):
        again = DeviceStore(store.path)
        assert again.scans() == [waiting]
        again.close()


def test_with_another_key_all_waiting_scans_are_signed_again(store: DeviceStore):
    ledger = Ledger(store, DeviceClock())
    statuses = ("pending", "failed", "synced")
    for status in statuses:
        ledger.add(signed(a_scan(sync_status=status), API_KEY))
    store.keep_outgoing(Outgoing(uuid4(), b"", [], 0.0))
    with store.transaction():
        ledger.sign_anew(a_key(2))
    keys = {
        scan.sync_status: is_signed_by(scan.signature, signed_fields(scan), a_key(2))
        for scan in store.scans()
    }
    assert keys == {"pending": True, "failed": True, "synced": False}
    assert store.outgoing is None


def test_answered_scans_are_there_after_a_kill(store: DeviceStore):
    """The device is killed with -9 in the middle of scanning, again and again."""
    store.keep_identity(an_identity())
    store.close()
    answered: list[str] = []
    luck = random.Random(3)
    for _ in range(KILLS):
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.device.scan_until_killed", str(store.path)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        for _ in range(luck.randint(1, SCANS_BEFORE_MAX)):
            answered.append(process.stdout.readline().strip())
        os.kill(process.pid, signal.SIGKILL)
        answered += [line.strip() for line in process.stdout if line.endswith("\n")]
        process.wait()
        process.stdout.close()
        kept = [str(scan.scan_id) for scan in DeviceStore(store.path).scans("pending")]
        assert len(set(kept)) == len(kept)
        assert [each for each in answered if each not in kept] == []
        # Each killed device may have written one scan that it has not answered yet.
        assert len(kept) - len(answered) <= KILLS


async def test_a_killed_device_continues_where_it_was(store: DeviceStore):
    store.keep_identity(an_identity())
    store.add_scan(a_scan(scan_id=UUID(int=9)))
    store.close()
    async with httpx.AsyncClient(verify=False) as client:
        device = Device(store.path, client)
        assert [own.at for own in device.ledger.own[UUID(int=7)]] == [a_scan().scanned_at_corrected]
        device.close()
