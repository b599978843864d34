"""The installation's master key. What is secret and must be kept is sealed with it; what need not
be kept is derived from it.

Sealed is the id of the key (1 byte), a nonce (12), and what AES-256-GCM makes of the plaintext. The
id says which key to try, so that during a rotation the previous one still opens what it sealed.
"""

import hmac
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from secrets import token_bytes

import structlog
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from voelgoed.infra.data_directory import MARKER, UNFINISHED, DataDirectoryError
from voelgoed.infra.refusal import Unavailable

log = structlog.get_logger()

FILE = "master.key"
FILE_CHARACTERS_MAX = 200
KEY_BYTES = 32
ID_BYTES = 1
NONCE_BYTES = 12
OTHERS = 0o077


class MasterKeyMissing(Unavailable):
    """This installation has no master key; its operator must set VOELGOED_MASTER_KEY."""


class SealBroken(Unavailable):
    """A secret of this installation does not open. It is damaged, or was sealed with a master key
    that its operator must set again, as VOELGOED_MASTER_KEY or VOELGOED_PREVIOUS_MASTER_KEY."""


class MasterKey:
    """Without a key everything it is asked for is refused, so that the rest can do without one."""

    def __init__(self, current: bytes | None = None, previous: bytes | None = None) -> None:
        self._given = [key for key in (current, previous) if key is not None]
        if current is None and self._given:
            raise ValueError("a previous master key without a present one")
        if any(len(key) != KEY_BYTES for key in self._given):
            raise ValueError(f"a master key has {KEY_BYTES} bytes")

    @property
    def is_missing(self) -> bool:
        return not self._given

    @property
    def id(self) -> bytes:
        """Tells master keys apart without telling what they are."""
        return _derived(self._keys[0], "id", "whole")

    def derive(self, purpose: str, *context: bytes) -> bytes:
        """32 bytes that only this key gives, for this purpose and context."""
        return _derived(self._keys[0], "derive", purpose, *context)

    def derivations(self, purpose: str, *context: bytes) -> list[bytes]:
        """What `derive` gives, and gave before the key was changed: to verify, not to give out."""
        return [_derived(key, "derive", purpose, *context) for key in self._keys]

    def seal(self, purpose: str, plaintext: bytes, context: bytes) -> bytes:
        """The context is where it belongs: what is moved elsewhere does not open there."""
        key, nonce = self._keys[0], token_bytes(NONCE_BYTES)
        cipher = AESGCM(_derived(key, "seal", purpose))
        return _short_id(key) + nonce + cipher.encrypt(nonce, plaintext, context)

    def open(self, purpose: str, sealed: bytes, context: bytes) -> bytes:
        id_, nonce, encrypted = _parts(sealed)
        for key in self._keys:
            if _short_id(key) == id_:
                with suppress(InvalidTag, ValueError):
                    cipher = AESGCM(_derived(key, "seal", purpose))
                    return cipher.decrypt(nonce, encrypted, context)
        log.error("seal_broken", purpose=purpose)
        raise SealBroken()

    @property
    def _keys(self) -> list[bytes]:
        if self.is_missing:
            raise MasterKeyMissing()
        return self._given


def _derived(key: bytes, use: str, purpose: str, *context: bytes) -> bytes:
    parts = (use.encode(), purpose.encode(), *context)
    # With its length before each part, no two lists of parts are the same bytes.
    message = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return hmac.digest(key, message, "sha256")


def _short_id(key: bytes) -> bytes:
    """One of 256, for a shorter search: whether it is the right key, only opening tells."""
    return _derived(key, "id", "seal")[:ID_BYTES]


def _parts(sealed: bytes) -> tuple[bytes, bytes, bytes]:
    end = ID_BYTES + NONCE_BYTES
    return sealed[:ID_BYTES], sealed[ID_BYTES:end], sealed[end:]


def key_kept_in(directory: Path) -> bytes:
    """Made by whoever comes first, whole or not at all, and never readable by anybody else."""
    path = directory / FILE
    if not (directory / MARKER).exists():
        raise DataDirectoryError(
            f"{directory} holds no data of Voelgoed's; run `voelgoed up` first"
        )
    try:
        while not os.path.lexists(path):
            _make(path)
        return _read(path)
    except OSError as fault:
        raise DataDirectoryError(
            f"the master key {path} cannot be used: {fault.strerror}"
        ) from fault


def _make(path: Path) -> None:
    descriptor, temporary = tempfile.mkstemp(prefix=UNFINISHED, dir=path.parent)
    try:
        with open(descriptor, "w", encoding="ascii") as file:
            file.write(f"{token_bytes(KEY_BYTES).hex()}\n")
            file.flush()
            os.fsync(descriptor)
        # Unlike a rename, a link never replaces the key of who was first. A server that starts
        # takes unfinished files away, perhaps this one: then it is made again.
        with suppress(FileExistsError, FileNotFoundError):
            os.link(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_mode & OTHERS:
            raise DataDirectoryError(
                f"the master key {path} is open to others; make it its owner's alone: "
                f"chmod 600 {path}"
            )
        text = file.read(FILE_CHARACTERS_MAX)
    with suppress(ValueError):
        key = bytes.fromhex(text.decode("ascii"))
        if len(key) == KEY_BYTES:
            return key
    raise DataDirectoryError(
        f"the master key {path} is not {2 * KEY_BYTES} hexadecimal digits; "
        "put back the one that this installation began with"
    )
