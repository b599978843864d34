"""One server per data directory, and no directory that is somebody else's."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from voelgoed.infra.data_directory import UNFINISHED, DataDirectory, DataDirectoryError

CLAIM_IN_ANOTHER_PROCESS = """
import sys, time
from pathlib import Path
from voelgoed.infra.data_directory import UNFINISHED, DataDirectory, DataDirectoryError
claimed = DataDirectory.claim(Path(sys.argv[1]))
claimed.announce("http://127.0.0.1:8000")
print("claimed", flush=True)
time.sleep(60)
"""


def test_a_new_directory_is_made_and_marked(tmp_path: Path) -> None:
    claimed = DataDirectory.claim(tmp_path / "new" / "var")
    assert "Voelgoed" in (claimed.path / "voelgoed-data").read_text()
    claimed.release()


def test_a_released_directory_can_be_claimed_again(tmp_path: Path) -> None:
    DataDirectory.claim(tmp_path).release()
    DataDirectory.claim(tmp_path).release()


def test_a_second_claim_is_told_where_the_first_server_is(tmp_path: Path) -> None:
    claimed = DataDirectory.claim(tmp_path)
    pid = os.getpid()
    with pytest.raises(DataDirectoryError, match=rf"\(process {pid}, still starting\)"):
        DataDirectory.claim(tmp_path)
    claimed.announce("http://127.0.0.1:8000")
    with pytest.raises(
        DataDirectoryError,
        match=rf"already running here \(process {pid}, http://127\.0\.0\.1:8000\)",
    ):
        DataDirectory.claim(tmp_path)
    claimed.release()


def test_a_killed_server_leaves_no_claim_behind(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CLAIM_IN_ANOTHER_PROCESS, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == "claimed\n"
        with pytest.raises(DataDirectoryError, match=f"process {other.pid}, http"):
            DataDirectory.claim(tmp_path)
        other.kill()
    DataDirectory.claim(tmp_path).release()


def test_a_program_started_by_the_server_does_not_inherit_the_claim(tmp_path: Path) -> None:
    claimed = DataDirectory.claim(tmp_path)
    with subprocess.Popen(["sleep", "60"], close_fds=False) as child:
        claimed.release()
        DataDirectory.claim(tmp_path).release()
        child.kill()


def test_a_foreign_directory_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(DataDirectoryError, match=r"not a data directory of Voelgoed's"):
        DataDirectory.claim(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_freshly_formatted_volume_is_empty_enough(tmp_path: Path) -> None:
    (tmp_path / "lost+found").mkdir()
    DataDirectory.claim(tmp_path).release()


def test_a_read_only_directory_is_refused() -> None:
    # Not even root may make a directory in /sys.
    with pytest.raises(DataDirectoryError, match=r"^the data directory /sys/vg is not writable"):
        DataDirectory.claim(Path("/sys/vg"))


def test_a_file_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "var").write_text("a file")
    with pytest.raises(DataDirectoryError, match=r"var cannot be the data directory: File exists"):
        DataDirectory.claim(tmp_path / "var")


def test_a_secret_is_readable_by_its_owner_only_and_replaced_whole(tmp_path: Path) -> None:
    claimed = DataDirectory.claim(tmp_path)
    for text in ("first", "sécond"):
        path = claimed.write_secret("demo.json", text)
        assert path == tmp_path / "demo.json"
        assert path.read_text(encoding="utf-8") == text
        assert path.stat().st_mode & 0o777 == 0o600
    assert {entry.name for entry in tmp_path.iterdir()} == {"demo.json", "lock", "voelgoed-data"}
    claimed.release()


def test_a_failed_write_leaves_the_old_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claimed = DataDirectory.claim(tmp_path)
    claimed.write_secret("demo.json", "old")

    def fsync(_: int) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError, match=r"no space"):
        claimed.write_secret("demo.json", "new")
    assert (tmp_path / "demo.json").read_text() == "old"
    assert not list(tmp_path.glob(".demo*"))
    claimed.release()


def test_a_secret_that_a_killed_process_left_half_written_is_removed(tmp_path: Path) -> None:
    DataDirectory.claim(tmp_path).release()
    left = tmp_path / f"{UNFINISHED}x1y2"
    left.write_text("half a secr")
    directory = DataDirectory.claim(tmp_path)
    try:
        assert not left.exists()
    finally:
        directory.release()
