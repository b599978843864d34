"""`voelgoed tickets` as an operator meets it: the real executable, on the tests' database."""

import asyncio
import csv
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.processes import Installation, Process, an_installation
from tests.support import Tenant
from tests.ticketing.import_support import Desk, a_desk, a_file, codes, seated, standing
from voelgoed.services import Services
from voelgoed.ticketing.model.imports import FILE_BYTES_MAX

MASTER_KEY = bytes(range(32)).hex()


@pytest.fixture
async def desk(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> Desk:
    return await a_desk(services, client, tenant)


@pytest.fixture
def installation() -> Iterator[Installation]:
    with an_installation() as installation:
        yield installation


async def run(
    installation: Installation, desk: Desk, *arguments: str | Path, **settings: str
) -> tuple[int, Process]:
    """`voelgoed tickets ...` for the desk's event, to its end."""
    where = ("--organization", desk.tenant.slug, "--event", desk.event.event_id)
    given = {"database_url": desk.services.database.url, "master_key": MASTER_KEY} | settings
    process = installation.run("tickets", *map(str, arguments), *where, **given)
    return await asyncio.to_thread(process.wait), process


async def test_a_file_without_faults_is_imported(
    installation: Installation, desk: Desk, tmp_path: Path
) -> None:
    file = tmp_path / "sold.csv"
    file.write_bytes(a_file(seated("A1", name="Anna"), standing(reference="7")))
    code, process = await run(installation, desk, "import", file)
    assert code == 0, process.err
    assert process.out == f"{file}: 2 lines: 2 imported, 0 there already, 0 faulty\n"
    assert len(await desk.tickets()) == 2
    await desk.check()
    code, process = await run(installation, desk, "import", file)
    assert code == 0, process.err
    assert process.out == f"{file}: 2 lines: 0 imported, 2 there already, 0 faulty\n"
    entry, _ = await desk.event.office.audit("tickets_imported")
    assert (entry["actor_kind"], entry["changes"]["file_name"]) == ("system", "sold.csv")


async def test_a_dry_run_prints_every_fault_and_imports_nothing(
    installation: Installation, desk: Desk, tmp_path: Path
) -> None:
    file = tmp_path / "sold.csv"
    file.write_bytes(a_file(seated("A1"), seated("Z9"), {"type": "Nothing", "code": "x"}))
    code, process = await run(installation, desk, "import", file, "--dry-run")
    assert code == 1
    assert process.out.splitlines() == [
        f"{file}:3: seat: is no seat of this event",
        f"{file}:4: code: is no code of the form XXXX-XXXX-XXXX, of letters and digits",
        f"{file}:4: type: is no ticket type of this event",
        f"{file}:4: zone: is needed by a ticket without a seat",
        f"{file}: 3 lines: 1 would be imported, 0 there already, 2 faulty",
    ]
    assert await desk.tickets() == []


async def test_many_faults_are_shown_in_part_and_written_to_a_file_whole(
    installation: Installation, desk: Desk, tmp_path: Path
) -> None:
    file, faults = tmp_path / "sold.csv", tmp_path / "faults.csv"
    file.write_bytes(a_file(*({"type": "x", "code": each} for each in codes(40)), seated("A1")))
    code, process = await run(installation, desk, "import", file, "--faults", faults)
    assert code == 1
    lines = process.out.splitlines()
    assert len(lines) == 52
    assert lines[50] == "... and more; --faults FILE writes all of them"
    assert lines[51] == f"{file}: 41 lines: 1 imported, 0 there already, 40 faulty"
    with faults.open(encoding="utf-8", newline="") as written:
        assert len(list(csv.DictReader(written))) == 80


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"code,colour\n", "1: header: `colour` is no column"),
        (b"PK\x03\x04", "1: file: is a zip file or a workbook"),
        (b"type,name\nStandard,Zo\xeb\n", "2: file: is not UTF-8"),
        (b"type\n" + b"\n" * FILE_BYTES_MAX, "is longer than 33554432 bytes; split it"),
    ],
)
async def test_a_file_that_is_no_table_is_explained(
    installation: Installation, desk: Desk, tmp_path: Path, content: bytes, said: str
) -> None:
    file = tmp_path / "sold.csv"
    file.write_bytes(content)
    code, process = await run(installation, desk, "import", file)
    assert code == 1
    assert said in process.out + process.err
    assert "Traceback" not in process.err
    assert await desk.table("SELECT * FROM ticket_import") == []


async def test_what_is_not_there_is_explained(
    installation: Installation, desk: Desk, tmp_path: Path
) -> None:
    code, process = await run(installation, desk, "import", tmp_path / "nowhere.csv")
    assert (code, "No such file" in process.err) == (1, True)
    file = tmp_path / "sold.csv"
    file.write_bytes(a_file(seated("A1")))
    unknown = ("--event", "01a1e103-7dfe-725d-8bf3-a07322fb1c93")
    given = {"database_url": desk.services.database.url, "master_key": MASTER_KEY}
    process = installation.run(
        "tickets", "import", str(file), "--organization", desk.tenant.slug, *unknown, **given
    )
    assert await asyncio.to_thread(process.wait) == 1
    assert "There is no such event." in process.err


async def test_exports_are_written_to_files_and_to_standard_output(
    installation: Installation, desk: Desk, tmp_path: Path
) -> None:
    await desk.done(seated("A1", name="=SUM(1)"), standing(reference="7"))
    code, process = await run(installation, desk, "export", "tickets.csv")
    assert code == 0, process.err
    seat, place = csv.DictReader(process.out.splitlines())
    assert (seat["seat"], seat["name"], place["zone"]) == ("A1", "'=SUM(1)", "Pit")
    output = tmp_path / "tickets.json"
    code, process = await run(installation, desk, "export", "tickets.json", "--output", output)
    assert code == 0, process.err
    assert [each["reference"] for each in json.loads(output.read_text())] == [None, "7"]
    code, process = await run(installation, desk, "export", "tickets.xml")
    assert code == 1
    assert "There is no such export" in process.err
    nowhere = tmp_path / "nowhere" / "x.csv"
    code, process = await run(installation, desk, "export", "holds.csv", "--output", nowhere)
    assert code == 1
    assert "No such file" in process.err
