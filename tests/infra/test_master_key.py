"""One key, made once, read by nobody else; what it sealed opens only where it belongs."""

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path
from threading import Barrier, Lock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.processes import an_installation
from tests.prove.length import rounds
from voelgoed.config import Settings, SettingsError, key_bytes, read_settings
from voelgoed.infra import master_key as module
from voelgoed.infra.data_directory import UNFINISHED, DataDirectory, DataDirectoryError
from voelgoed.infra.master_key import FILE, MasterKey, MasterKeyMissing, SealBroken, key_kept_in
from voelgoed.services import master_key_of

OLD, NEW = bytes(range(32)), bytes(range(32, 64))
KEY = MasterKey(OLD)
RACERS = 6


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    DataDirectory.claim(tmp_path).release()
    return tmp_path


@given(st.binary(max_size=200), st.binary(max_size=50), st.text(max_size=20))
def test_what_was_sealed_opens(plaintext: bytes, context: bytes, purpose: str) -> None:
    assert KEY.open(purpose, KEY.seal(purpose, plaintext, context), context) == plaintext


def test_the_same_sealed_twice_looks_different_and_shows_nothing() -> None:
    one, other = (KEY.seal("p", b"a secret text", b"here") for _ in range(2))
    assert one != other
    assert b"secret" not in one
    assert OLD not in one


def test_it_does_not_open_elsewhere_or_for_another_purpose_or_with_another_key() -> None:
    sealed = KEY.seal("p", b"secret", b"here")
    for key, purpose, context in [
        (KEY, "p", b"there"),
        (KEY, "q", b"here"),
        (KEY, "p", b""),
        (MasterKey(NEW), "p", b"here"),
    ]:
        with pytest.raises(SealBroken):
            key.open(purpose, sealed, context)


def test_a_seal_with_any_bit_changed_or_any_length_cut_off_or_added_is_broken() -> None:
    sealed = KEY.seal("p", b"secret", b"here")
    flipped = [
        sealed[:at] + bytes([sealed[at] ^ 1 << bit]) + sealed[at + 1 :]
        for at in range(len(sealed))
        for bit in range(8)
    ]
    cut = [sealed[:length] for length in range(len(sealed))]
    for damaged in [*flipped, *cut, sealed + b"\0", sealed * 2]:
        with pytest.raises(SealBroken):
            KEY.open("p", damaged, b"here")


def test_during_a_rotation_the_previous_key_opens_and_the_present_one_seals() -> None:
    before, during, after = MasterKey(OLD), MasterKey(NEW, OLD), MasterKey(NEW)
    sealed = before.seal("p", b"secret", b"here")
    assert during.open("p", sealed, b"here") == b"secret"
    with pytest.raises(SealBroken):
        after.open("p", sealed, b"here")
    again = during.seal("p", b"secret", b"here")
    assert after.open("p", again, b"here") == b"secret"
    with pytest.raises(SealBroken):
        before.open("p", again, b"here")


def test_two_keys_with_the_same_short_id_both_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """One pair in 256 has it."""
    monkeypatch.setattr(module, "_short_id", lambda _key: b"\7")  # pyright: ignore
    sealed = MasterKey(OLD).seal("p", b"secret", b"here")
    assert MasterKey(NEW, OLD).open("p", sealed, b"here") == b"secret"


def test_what_is_derived_differs_by_key_purpose_and_context_however_they_are_divided() -> None:
    derived = [
        KEY.derive("p"),
        MasterKey(NEW).derive("p"),
        KEY.derive("p", b""),
        KEY.derive("p", b"", b""),
        KEY.derive("pa"),
        KEY.derive("p", b"a"),
        KEY.derive("p", b"ab"),
        KEY.derive("p", b"a", b"b"),
        KEY.derive("p", b"\0\0\0\1a"),
        KEY.derive(""),
        KEY.id,
    ]
    assert all(len(each) == 32 for each in derived)
    assert not [pair for pair in combinations(derived, 2) if pair[0] == pair[1]]
    assert KEY.derive("p", b"a") == MasterKey(OLD, NEW).derive("p", b"a")


def test_what_is_derived_stays_the_same_in_later_versions() -> None:
    """Devices have secrets that were derived; a change of this text changes all of them."""
    assert KEY.derive("device", b"7", b"1").hex() == (
        "d6e67024237bfc8a11f72e9a9e2aace32e59b82a23ec84c343b644f50b4a3d14"
    )


def test_without_a_key_everything_is_refused_by_name() -> None:
    none = MasterKey()
    assert none.is_missing
    for work in (
        lambda: none.derive("p"),
        lambda: none.seal("p", b"", b""),
        lambda: none.open("p", b"", b""),
        lambda: none.id,
    ):
        with pytest.raises(MasterKeyMissing, match="VOELGOED_MASTER_KEY"):
            work()


def test_a_key_of_another_length_or_only_a_previous_one_is_a_fault_of_ours() -> None:
    for keys in [(b"short",), (OLD + b"x",), (b"",), (OLD, b"short"), (None, OLD)]:
        with pytest.raises(ValueError, match="key"):
            MasterKey(*keys)


def test_no_key_is_shown_by_what_shows_objects() -> None:
    assert OLD.hex() not in repr(KEY)
    assert str(OLD) not in repr(KEY)


def test_the_file_is_made_once_for_its_owner_only(directory: Path) -> None:
    key = key_kept_in(directory)
    path = directory / FILE
    assert len(key) == 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text() == f"{key.hex()}\n"
    assert key_kept_in(directory) == key
    assert not list(directory.glob(f"{UNFINISHED}*"))


def test_two_installations_have_different_keys(tmp_path: Path) -> None:
    for name in ("one", "other"):
        DataDirectory.claim(tmp_path / name).release()
    assert key_kept_in(tmp_path / "one") != key_kept_in(tmp_path / "other")


def keys_of_racers(directory: Path, link: Callable[..., None], *, in_turn: bool) -> set[bytes]:
    """Of some that have all seen that there is no key before the first of them puts his there. Then
    they go on at once, or each when the one before has read the key."""
    all_have_looked, turn = Barrier(RACERS), Lock()

    def wait_and_link(source: str, target: Path) -> None:
        all_have_looked.wait()
        if in_turn:
            turn.acquire()
        link(source, target)

    def race() -> bytes:
        found = key_kept_in(directory)
        if in_turn:
            turn.release()
        return found

    with pytest.MonkeyPatch.context() as patched, ThreadPoolExecutor(RACERS) as threads:
        patched.setattr(os, "link", wait_and_link)
        racers = [threads.submit(race) for _ in range(RACERS)]
        found = {racer.result() for racer in racers}
    assert not list(directory.glob(f"{UNFINISHED}*"))
    return found


def test_all_who_come_at_the_same_moment_get_the_same_key(tmp_path: Path) -> None:
    for number in range(rounds(10, 200)):
        directory = tmp_path / str(number)
        DataDirectory.claim(directory).release()
        assert len(keys_of_racers(directory, os.link, in_turn=number == 0)) == 1


def test_control_renaming_instead_of_linking_gives_them_different_keys(directory: Path) -> None:
    assert len(keys_of_racers(directory, os.replace, in_turn=True)) == RACERS


def test_a_key_that_came_up_meanwhile_is_never_replaced(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link, first = os.link, NEW.hex()

    def somebody_is_first(source: str, target: Path) -> None:
        descriptor = os.open(target, os.O_CREAT | os.O_WRONLY, 0o600)
        os.write(descriptor, first.encode())
        os.close(descriptor)
        link(source, target)

    monkeypatch.setattr(os, "link", somebody_is_first)
    assert key_kept_in(directory) == NEW


def test_a_server_that_tidies_up_meanwhile_does_not_get_in_the_way(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link, tidied = os.link, list[str]()

    def tidy_up_first(source: str, target: Path) -> None:
        if not tidied:
            tidied.append(source)
            Path(source).unlink()
        link(source, target)

    monkeypatch.setattr(os, "link", tidy_up_first)
    assert len(key_kept_in(directory)) == 32
    assert tidied


@pytest.mark.parametrize("moment", ["fsync", "link"])
def test_killed_while_making_it_leaves_no_key_and_the_next_start_makes_one(
    directory: Path, moment: str
) -> None:
    dying = f"""
import os, signal, sys
from pathlib import Path
from voelgoed.infra.master_key import key_kept_in
os.{moment} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
key_kept_in(Path(sys.argv[1]))
"""
    ended = subprocess.run([sys.executable, "-c", dying, str(directory)], check=False)
    assert ended.returncode == -9
    assert not (directory / FILE).exists()
    DataDirectory.claim(directory).release()
    assert len(key_kept_in(directory)) == 32
    assert not list(directory.glob(f"{UNFINISHED}*"))


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o602, 0o777])
def test_a_key_that_others_may_read_or_write_is_refused_with_what_to_do(
    directory: Path, mode: int
) -> None:
    key = key_kept_in(directory)
    path = directory / FILE
    path.chmod(mode)
    with pytest.raises(DataDirectoryError, match=f"open to others.*chmod 600 {path}$"):
        key_kept_in(directory)
    path.chmod(0o600)
    assert key_kept_in(directory) == key


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"ab", OLD, OLD.hex()[:-2].encode(), OLD.hex().encode() * 2, b"z" * 64]
)
def test_a_file_that_holds_no_key_is_refused_and_left_alone(
    directory: Path, content: bytes
) -> None:
    path = directory / FILE
    path.touch(mode=0o600)
    path.write_bytes(content)
    with pytest.raises(DataDirectoryError, match="not 64 hexadecimal digits"):
        key_kept_in(directory)
    assert path.read_bytes() == content


def test_what_is_no_file_is_refused(directory: Path) -> None:
    path = directory / FILE
    path.mkdir()
    with pytest.raises(DataDirectoryError, match="cannot be used: Is a directory"):
        key_kept_in(directory)
    path.rmdir()
    path.symlink_to(directory / "nowhere")
    with pytest.raises(DataDirectoryError, match="cannot be used: No such file"):
        key_kept_in(directory)


def test_no_key_is_made_where_no_installation_is(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    for place in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(DataDirectoryError, match="holds no data of Voelgoed's"):
            key_kept_in(place)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    "text", [OLD.hex(), OLD.hex().upper(), "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="]
)
def test_a_setting_is_hex_or_base64(text: str) -> None:
    assert key_bytes(read_settings({"VOELGOED_MASTER_KEY": text}).master_key) == OLD


@pytest.mark.parametrize("name", ["VOELGOED_MASTER_KEY", "VOELGOED_PREVIOUS_MASTER_KEY"])
@pytest.mark.parametrize(
    "text", ["", "hunter2", OLD.hex()[:-1], OLD.hex() + "00", "é" * 64, "A" * 44, " " * 64]
)
def test_a_wrong_setting_is_named_and_not_repeated(name: str, text: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name} must be 32 bytes") as refused:
        read_settings({"VOELGOED_MASTER_KEY": OLD.hex(), name: text})
    assert not text.strip() or text not in str(refused.value)


def test_an_outside_database_has_the_key_of_its_setting_or_none(directory: Path) -> None:
    outside = Settings(data=directory, database_url="postgresql://db")
    assert master_key_of(outside).is_missing
    assert not (directory / FILE).exists()
    with_key = Settings(
        data=directory,
        database_url="postgresql://db",
        master_key=NEW.hex(),
        previous_master_key=OLD.hex(),
    )
    sealed = KEY.seal("p", b"secret", b"")
    assert master_key_of(with_key).open("p", sealed, b"") == b"secret"
    with pytest.raises(SettingsError, match="PREVIOUS_MASTER_KEY needs a VOELGOED_MASTER_KEY"):
        read_settings(
            {
                "VOELGOED_DATABASE_URL": "postgresql://db",
                "VOELGOED_PREVIOUS_MASTER_KEY": OLD.hex(),
            }
        )


def test_the_embedded_database_has_the_key_of_its_file_unless_one_is_set(directory: Path) -> None:
    kept = master_key_of(Settings(data=directory))
    assert kept.id == MasterKey(key_kept_in(directory)).id
    assert master_key_of(Settings(data=directory, master_key=NEW.hex())).id == MasterKey(NEW).id


def test_settings_say_that_a_key_is_set_and_not_which() -> None:
    with an_installation() as here:
        keys = {"master_key": NEW.hex(), "previous_master_key": OLD.hex()}
        process = here.execute("settings", **keys)
        assert process.wait() == 0
        shown = process.out + process.err
    assert "VOELGOED_MASTER_KEY=(set)\n" in shown
    assert "VOELGOED_PREVIOUS_MASTER_KEY=(set)\n" in shown
    assert NEW.hex() not in shown
    assert OLD.hex() not in shown
