"""`voelgoed up` as a person meets it: started, started twice, stopped, cut off, refused."""

import signal
import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest

from tests.processes import (
    HANG_S,
    IS_UP,
    Installation,
    Process,
    an_installation,
    eventually,
    is_alive,
)
from tests.prove.length import luck, rounds
from voelgoed.accounts.model import Role
from voelgoed.infra.embedded import EmbeddedPostgres

pytestmark = pytest.mark.own_database

KEPT = ("organization_id", "organization_slug", "users", "event_id", "gates")


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[Installation, Process]]:
    """One that is up for the first time, for the tests that leave it so."""
    with an_installation() as installation:
        process = installation.execute("up", "--port", "0", log_level="debug")
        yield installation, process.wait_for(IS_UP)


def log_in(demo: dict[str, Any], role: str = "owner") -> httpx.Response:
    who = {"organization": demo["organization_slug"], **demo["users"][role]}
    return httpx.post(f"{demo['url']}/api/sessions", json=who, trust_env=False, timeout=HANG_S)


def read(demo: dict[str, Any], path: str) -> Any:
    token = log_in(demo).json()["data"]["token"]
    headers = {"Authorization": f"Bearer {token}"}
    answer = httpx.get(demo["url"] + path, headers=headers, trust_env=False, timeout=HANG_S)
    return answer.raise_for_status().json()["data"]


def refusal_of(process: Process) -> str:
    assert process.wait() not in (0, None)
    [line] = process.err.splitlines()
    assert line.startswith("voelgoed: ")
    return line


def listening_addresses(pid: int) -> set[str]:
    """As the kernel writes them: the address backwards, all in hexadecimal."""
    open_files = {str(path.readlink()) for path in Path(f"/proc/{pid}/fd").iterdir()}
    table = "".join(Path(f"/proc/{pid}/net/{name}").read_text() for name in ("tcp", "tcp6"))
    rows = [line.split() for line in table.splitlines()]
    return {row[1] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in open_files}


def test_the_first_start_writes_down_all_one_needs_to_try_it(
    running: tuple[Installation, Process],
) -> None:
    here, process = running
    demo = here.demo
    assert (here.data / "demo.json").stat().st_mode & 0o777 == 0o600
    assert demo["url"] == process.url
    assert set(demo["users"]) == set(get_args(Role))
    for role in demo["users"]:
        user = log_in(demo, role).json()["data"]["user"]
        assert (user["role"], user["organization_id"]) == (role, demo["organization_id"])
    gates = read(demo, f"/api/events/{demo['event_id']}/gates")
    assert {gate["id"] for gate in gates} == {gate["id"] for gate in demo["gates"]}
    assert read(demo, f"/api/events/{demo['event_id']}")["status"] == "live"
    assert all(user["password"] in process.out for user in demo["users"].values())


def test_it_listens_on_this_machine_only(running: tuple[Installation, Process]) -> None:
    here, process = running
    port = int(process.url.rpartition(":")[2])
    assert listening_addresses(process.pid) == {f"0100007F:{port:04X}"}
    assert not any(listening_addresses(pid) for pid in here.database_processes())


def test_a_second_start_is_told_of_the_first_and_does_not_disturb_it(
    running: tuple[Installation, Process],
) -> None:
    here, process = running
    port = process.url.rpartition(":")[2]
    for start, at in ((here.execute, "0"), (here.run, port)):
        line = refusal_of(start("up", "--port", at))
        assert "already running" in line
        assert process.url in line
    assert log_in(here.demo).status_code == 201


def test_the_logs_hold_no_password_and_no_token(running: tuple[Installation, Process]) -> None:
    here, process = running
    demo = here.demo
    token = log_in(demo).json()["data"]["token"]
    wrong = demo["users"]["owner"] | {"password": "not-the-right-one"}
    assert log_in(demo | {"users": {"owner": wrong}}).status_code == 401
    forged = {"Authorization": "Bearer forged-token"}
    httpx.get(demo["url"] + "/api/session", headers=forged, trust_env=False, timeout=HANG_S)
    secrets = [token, "not-the-right-one", "forged-token"]
    secrets += [user["password"] for user in demo["users"].values()]
    logs = process.err + here.postgres.log.read_text()
    assert not [secret for secret in secrets if secret in logs]


@pytest.mark.parametrize("end", ["Ctrl-C", "SIGTERM"])
def test_an_end_leaves_nothing_running_and_a_second_start_finds_everything(
    here: Installation, end: str
) -> None:
    first = here.up()
    before = here.demo
    pids = [first.pid, *here.database_processes()]
    assert len(pids) > 3
    assert (first.ctrl_c() if end == "Ctrl-C" else first.end(signal.SIGTERM)) == 0
    eventually(lambda: not any(map(is_alive, pids)))  # they are told to end, and need a moment
    assert "Traceback" not in first.err
    second = here.up()
    assert here.demo["url"] == second.url
    assert [here.demo[name] for name in KEPT] == [before[name] for name in KEPT]
    assert log_in(here.demo).status_code == 201


@pytest.mark.parametrize(
    ("step", "end"),
    [
        ("Creating the database", "SIGTERM"),
        ("Starting PostgreSQL", "Ctrl-C"),
        ("Starting PostgreSQL", "SIGTERM"),
        ("Making a demo", "SIGTERM"),
    ],
)
def test_an_end_while_it_starts_leaves_nothing_running(
    empty: Installation, step: str, end: str
) -> None:
    process = empty.run("up", "--port", "0").wait_for(step)
    code = process.ctrl_c() if end == "Ctrl-C" else process.end(signal.SIGTERM)
    assert code != 0 or IS_UP in process.out  # where we were late and it was up
    eventually(lambda: not empty.database_processes())  # orphans of a killed initdb take a moment
    assert "Traceback" not in process.err


CUTS = (
    ("", False),
    ("Creating the database", True),
    ("Starting PostgreSQL", False),
    ("Making a demo", True),
    ("Making a demo", False),
    ("Selling", True),
    ("Letting people in", False),
)
"""The step in which a start is cut off, and whether the database is killed too."""
LATER_S = (0.0, 0.3)


@pytest.mark.parametrize("cuts", [CUTS, *((cut,) for cut in CUTS[: rounds(0, len(CUTS))])])
def test_first_starts_cut_off_by_kill_9_are_finished_by_the_next(
    empty: Installation, cuts: tuple[tuple[str, bool], ...]
) -> None:
    moment = luck("cut off")
    for step, database_too in cuts:
        process = empty.run("up", "--port", "0").wait_for(step, IS_UP)
        time.sleep(moment.uniform(*LATER_S))
        process.end(signal.SIGKILL)
        if database_too:
            empty.kill_database()
    empty.up()
    demo = empty.demo
    assert {log_in(demo, role).text[:8] for role in demo["users"]} == {'{"data":'}
    assert len(read(demo, f"/api/events/{demo['event_id']}/gates")) == len(demo["gates"]) == 3


def test_a_phone_nearby_is_served_over_tls_by_the_same_certificate_every_time(
    here: Installation,
) -> None:
    first = here.up("--https")
    certificate = (here.data / "tls.pem").read_bytes()
    demo, port = here.demo, int(first.url.rpartition(":")[2])
    assert demo["url"] == first.url == f"https://127.0.0.1:{port}"
    assert listening_addresses(first.pid) == {f"00000000:{port:04X}"}
    trusted = ssl.create_default_context(cafile=here.data / "tls.pem")
    who = {"organization": demo["organization_slug"], **demo["users"]["owner"]}
    with httpx.Client(
        base_url=first.url, verify=trusted, trust_env=False, timeout=HANG_S
    ) as client:
        cookie = client.post("/api/sessions", json=who).headers["set-cookie"]
    assert "Secure" in cookie
    first.end(signal.SIGTERM)
    here.up("--https")
    assert (here.data / "tls.pem").read_bytes() == certificate


def test_a_busy_port_is_explained(empty: Installation) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        line = refusal_of(empty.run("up", "--port", str(port)))
    assert f"port {port} cannot be listened on: Address already in use" in line


@pytest.mark.parametrize("host", ["no host", "x" * 64])
def test_an_unknown_host_is_explained(empty: Installation, host: str) -> None:
    line = refusal_of(empty.run("up", "--port", "0", "--host", host))
    assert "cannot be listened on: Name or service not known" in line


def test_a_directory_that_cannot_be_written_is_explained(empty: Installation) -> None:
    # Not even root may make a directory in /sys.
    line = refusal_of(empty.run("up", "--port", "0", data="/sys/voelgoed"))
    assert "/sys/voelgoed is not writable" in line


def test_a_file_in_place_of_the_directory_is_explained(empty: Installation) -> None:
    empty.data.write_text("mine")
    assert "cannot be the data directory" in refusal_of(empty.run("up", "--port", "0"))
    assert empty.data.read_text() == "mine"


def test_a_foreign_directory_is_explained_and_left_alone(empty: Installation) -> None:
    foreign = empty.data / "[red]thesis[/]"  # nor is its name taken for mark-up
    foreign.mkdir(parents=True)
    (foreign / "thesis.txt").write_text("mine")
    line = refusal_of(empty.run("up", "--port", "0", data=str(foreign)))
    assert f"{foreign} is not empty and not a data directory of Voelgoed's" in line
    assert [path.name for path in foreign.iterdir()] == ["thesis.txt"]


def test_an_unknown_setting_is_explained(empty: Installation) -> None:
    line = refusal_of(empty.execute("up", "--port", "0", databse_url="postgresql:///x"))
    assert "Unknown setting VOELGOED_DATABSE_URL" in line


def test_a_redis_address_that_is_none_is_explained(empty: Installation) -> None:
    line = refusal_of(empty.run("up", "--port", "0", redis_url="localhost:6379"))
    assert "VOELGOED_REDIS_URL" in line


def test_serving_without_a_database_is_explained(empty: Installation) -> None:
    assert "Set VOELGOED_DATABASE_URL" in refusal_of(empty.run("serve", "--port", "0"))


@pytest.mark.parametrize("role", ["postgres", "voelgoed_owner"])
def test_serving_as_a_role_that_is_too_powerful_is_refused(
    empty: Installation, postgres: EmbeddedPostgres, role: str
) -> None:
    line = refusal_of(empty.serve(postgres.url(role)))
    assert "connect as voelgoed_server, not as an owner or superuser" in line


@pytest.mark.parametrize(
    ("command", "database_url"),
    [
        ("serve", "postgresql://voelgoed_server@/voelgoed?host=/nowhere"),
        ("work", "postgresql://voelgoed_server@127.0.0.1:port/voelgoed"),
        ("up --port 0", "mysql://voelgoed_server@127.0.0.1/voelgoed"),
    ],
)
def test_a_database_that_cannot_be_reached_is_explained(
    empty: Installation, command: str, database_url: str
) -> None:
    line = refusal_of(empty.run(*command.split(), database_url=database_url))
    assert "The database cannot be reached: " in line
