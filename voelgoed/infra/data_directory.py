"""The directory in which an installation keeps everything, and one server's claim on it."""

import errno
import fcntl
import os
import tempfile
from pathlib import Path
from typing import Self

MARKER = "voelgoed-data"
MARKER_TEXT = "This directory holds the data of a Voelgoed installation.\n"
# A volume that was just formatted has this in it and still counts as empty.
NOT_FOREIGN = {"lost+found"}
UNFINISHED = ".unfinished-"


class DataDirectoryError(Exception):
    """The data directory cannot be used."""


class DataDirectory:
    """Claimed until `release`, or until this process ends in whatever way."""

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self._lock = lock

    @classmethod
    def claim(cls, path: Path) -> Self:
        path = path.resolve()
        try:
            path.mkdir(parents=True, exist_ok=True)
            _mark(path)
            if not os.access(path, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise DataDirectoryError(_refusal(path, error)) from error
        claimed = cls(path, lock)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            claimed.announce()
            for left in path.glob(f"{UNFINISHED}*"):  # by a process that was killed while writing
                left.unlink()
        except BlockingIOError:
            holder = os.pread(lock, 1000, 0).decode(errors="replace").strip()
            os.close(lock)
            raise DataDirectoryError(_already_running(path, holder)) from None
        except OSError as error:
            os.close(lock)
            raise DataDirectoryError(_refusal(path, error)) from error
        return claimed

    def announce(self, url: str = "") -> None:
        """Tells whoever tries to start a second server here where the first one is."""
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, f"{os.getpid()} {url}\n".encode(), 0)

    def release(self) -> None:
        # The file stays: removing it would let two servers lock two files of the same name.
        os.ftruncate(self._lock, 0)
        os.close(self._lock)

    def write_secret(self, name: str, text: str) -> Path:
        """Readable by nobody else at any moment, and after a crash either the old or the new."""
        descriptor, temporary = tempfile.mkstemp(prefix=UNFINISHED, dir=self.path)
        try:
            with open(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(descriptor)
            os.replace(temporary, self.path / name)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        _sync(self.path)
        return self.path / name


def _mark(path: Path) -> None:
    marker = path / MARKER
    if marker.exists():
        return
    if any(entry.name not in NOT_FOREIGN for entry in path.iterdir()):
        raise DataDirectoryError(
            f"{path} is not empty and not a data directory of Voelgoed's; choose another"
        )
    marker.write_text(MARKER_TEXT)


def _sync(path: Path) -> None:
    directory = os.open(path, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _already_running(path: Path, holder: str) -> str:
    process, _, url = holder.partition(" ")
    return (
        f"Voelgoed is already running here (process {process or 'unknown'}, "
        f"{url or 'still starting'}): {path}"
    )


def _refusal(path: Path, error: OSError) -> str:
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return f"the data directory {path} is not writable: {error.strerror}"
    if error.errno == errno.ENOSPC:
        return f"the disk of the data directory {path} is full"
    return f"{path} cannot be the data directory: {error.strerror}"
