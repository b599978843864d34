"""What an operator of the installation does for the browser tests, one request in each line.

To import the program takes seconds, and to make an organisation does not: so one process serves a
whole run. A request is {"command": [...], "input": "..."} for a command of `voelgoed`, or
{"pass_seconds": n, "organization": slug, "event": id}.
"""

import json
import sys
from datetime import timedelta
from typing import Any
from uuid import UUID

import uvloop
from typer.testing import CliRunner

from tests.processes import quick_passwords
from voelgoed import admin
from voelgoed.cli import cli
from voelgoed.services import build_services, master_key_of, running

MOMENTS = (
    ("seat_hold", "held_until"),
    ("seat_state", "held_until"),
    ("ticket_order", "held_until"),
    ("manifest", "checked_at"),
)


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    if "command" in asked:
        done = CliRunner().invoke(cli, asked["command"], input=asked.get("input"))
        return {"is_done": done.exit_code == 0, "output": done.output}
    passed = timedelta(seconds=asked["pass_seconds"])
    uvloop.run(pass_time(asked["organization"], UUID(asked["event"]), passed))
    return {"is_done": True, "output": ""}


async def pass_time(slug: str, event_id: UUID, passed: timedelta) -> None:
    """What is held at the event, and how fresh its ticket list is, as if that time had passed."""
    chosen = admin.settings(for_a_person=True)
    url = admin.running_database(chosen)
    services = build_services(chosen, url, master_key=master_key_of(chosen))
    async with running(services, with_jobs=False):
        organization_id = await services.database.find_organization(slug)
        assert organization_id is not None, slug
        async with services.database.transaction(organization_id) as tx:
            for table, moment in MOMENTS:
                await tx.run(
                    f"UPDATE {table} SET {moment} = {moment} - $2::interval WHERE event_id = $1",
                    event_id,
                    passed,
                )


if __name__ == "__main__":
    with quick_passwords():
        for line in sys.stdin:
            print(json.dumps(answer(json.loads(line))), flush=True)
