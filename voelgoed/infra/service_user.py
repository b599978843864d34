"""PostgreSQL refuses to run as root, so for root it runs as a user of its own."""

import fcntl
import os
import pwd
import subprocess
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

NAME = "voelgoed"
ATTEMPTS_MAX = 10
USER_FILES = Path("/etc")


class ServiceUserError(Exception):
    """The system user cannot be made."""


def as_the_owner_of(directory: Path) -> list[str]:
    """What to put before a command so that it runs as the directory's owner; nothing unless root.

    A directory of root's is handed over to the service user first.
    """
    if os.geteuid() != 0:
        return []
    if directory.stat().st_uid == 0:
        user = _service_user()
        _hand_over(directory, user.pw_uid, user.pw_gid)
    owner = directory.stat()
    return _setpriv(owner.st_uid, owner.st_gid)


def _service_user() -> pwd.struct_passwd:
    command = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin"]
    complaint: list[str] = []
    with _alone():
        # More than once, because useradd fails while another program has the user file locked.
        for attempt in range(ATTEMPTS_MAX):
            with suppress(KeyError):
                return pwd.getpwnam(NAME)
            time.sleep(0.1 * attempt)
            complaint = _call([*command, NAME]).stderr.strip().splitlines()
    reason = complaint[-1] if complaint else "no reason given"
    raise ServiceUserError(f"cannot add the system user {NAME}: {reason}")


@contextmanager
def _alone() -> Generator[None]:
    """Only one of our processes adds the user. useradd looks whether there is one before it locks the
    file: of two at the same time the second gives the user another id, and the first one's
    directory belongs to nobody."""
    directory = os.open(USER_FILES, os.O_RDONLY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        yield
    finally:
        os.close(directory)


def _hand_over(directory: Path, uid: int, gid: int) -> None:
    for parent, directories, files in os.walk(directory):
        for name in directories + files:
            os.lchown(Path(parent, name), uid, gid)
    # The directory last: until then an interrupted hand-over begins again.
    os.chown(directory, uid, gid)


def _setpriv(uid: int, gid: int) -> list[str]:
    """A capability lets the user reach a clone inside, say, a 0700 home without opening it up.

    PostgreSQL asks access(2) for its other programs, which ignores the capabilities of anyone
    but root unless no_setuid_fixup is set.
    """
    user = ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups"]
    for capability in ("dac_read_search", "dac_override"):
        command = [*user, "--securebits=+no_setuid_fixup"]
        command += [f"--inh-caps=+{capability}", f"--ambient-caps=+{capability}"]
        if _call([*command, "true"]).returncode == 0:
            return command
    return user


def _call(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd="/",
        env=os.environ | {"LC_ALL": "C"},
        check=False,
    )
