"""`voelgoed scans import` as an operator uses it: the real executable, on the tests' database."""

import asyncio
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.processes import Installation, Process, an_installation
from tests.scanning.recovery_support import accept, exported, revoke
from tests.scanning.support import World
from tests.scanning.sync_support import signed
from tests.support import MASTER_KEY_BYTES

MASTER_KEY = MASTER_KEY_BYTES.hex()


@pytest.fixture
def installation() -> Iterator[Installation]:
    with an_installation() as installation:
        yield installation


async def run(installation: Installation, world: World, file: Path) -> tuple[int, Process]:
    given = {"database_url": world.services.database.url, "master_key": MASTER_KEY}
    where = ("--organization", world.tenant.organization.slug)
    process = installation.run("scans", "import", str(file), *where, **given)
    return await asyncio.to_thread(process.wait), process


async def test_a_file_of_a_revoked_device_is_imported_with_a_plain_report(
    installation: Installation, world: World, tmp_path: Path
):
    device, (first, second) = await world.device(), await world.tickets(2)
    scan = await signed(world, device, first, timedelta(0))
    changed = await signed(world, device, second, timedelta(0)) | {"signature": scan["signature"]}
    nowhere = await signed(world, device, second, timedelta(0), gate_id="nowhere")
    await revoke(world, device)
    file = tmp_path / "queue.json"
    file.write_text(json.dumps(exported(world, device, scan, changed, nowhere)))
    code, process = await run(installation, world, file)
    assert code == 0, process.err
    rejected, summary, batch_id = process.out.splitlines()
    assert rejected == f"{nowhere['scan_id']}: There is no such gate at this event."
    assert summary == (
        f"{file}: 2 of 3 scans of 'iPad-Gate-1' kept, 1 rejected, 1 not signed by it, which never "
        "count; they count once somebody has accepted them"
    )
    code, again = await run(installation, world, file)
    assert (code, again.out) == (0, process.out)
    await accept(world, {"batch_id": batch_id})
    assert (await world.inside())["event"] == 1


async def test_an_unusable_file_is_reported_in_one_line(
    installation: Installation, world: World, tmp_path: Path
):
    file = tmp_path / "queue.json"
    for content in (b"", b"\xff", b"[]", b'{"device_id": "x"}'):
        file.write_bytes(content)
        code, process = await run(installation, world, file)
        assert code != 0
        assert "Traceback" not in process.err
        assert "this is no queue that a device exported" in process.err
    code, process = await run(installation, world, tmp_path / "none.json")
    assert code != 0
    assert "No such file" in process.err
