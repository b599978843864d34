"""Layouts in words and in tables, read over HTTP: what could be read, and what is wrong by line."""

from typing import Any

import httpx
import pytest

from tests.seating.api_support import Office, a_new_layout, refusal
from tests.support import Tenant
from voelgoed.seating.forms.csv_form import write_csv
from voelgoed.seating.model.layout import CAPACITY_MAX
from voelgoed.seating.samples import sample

SOUND = 'zone hall reserved_seating "Hall"\nblock at 0,0\nrow A 1-4\n'
FAULTY = SOUND + "row A 3-6\nrow\nzone pit ga_standing Pit capacity 30\n"


@pytest.fixture
def office(client: httpx.AsyncClient, tenant: Tenant) -> Office:
    return Office(client, tenant)


async def read(office: Office, form: str, text: Any) -> httpx.Response:
    return await office.ask("POST", "/api/layout-readings", {"form": form, "text": text})


async def test_a_sound_text_becomes_a_layout(office: Office):
    answer = await read(office, "text", SOUND)
    reading = answer.json()["data"]
    assert (answer.status_code, reading["faults"]) == (200, [])
    path = f"/api/venues/{await office.venue()}/layouts"
    made = await office.ask("POST", path, a_new_layout(config=reading["config"]))
    assert (made.status_code, made.json()["data"]["seat_count"]) == (201, 4)


async def test_a_table_of_a_stadium_becomes_a_layout(office: Office):
    stadium = sample("stadium")
    reading = (await read(office, "csv", write_csv(stadium))).json()["data"]
    assert reading["faults"] == []
    assert [len(zone.get("seats", [])) for zone in reading["config"]["zones"]] == [
        len(zone.seats) for zone in stadium.zones
    ]


async def test_every_fault_has_its_line_and_what_can_be_read_is_there_to_be_drawn(office: Office):
    answer = await read(office, "text", FAULTY)
    reading = answer.json()["data"]
    assert answer.status_code == 200
    assert {(fault["line"], fault["path"]) for fault in reading["faults"]} == {
        (4, "$.zones[0].seats[4].seat_id"),
        (4, "$.zones[0].seats[4].number"),
        (4, "$.zones[0].seats[5].seat_id"),
        (4, "$.zones[0].seats[5].number"),
        (5, ""),
    }
    assert [zone["name"] for zone in reading["config"]["zones"]] == ["Hall", "Pit"]
    assert len(reading["config"]["zones"][0]["seats"]) == 8


async def test_what_the_organisation_does_not_allow_is_told_by_line_too(office: Office):
    text = SOUND + 'zone box vip_reserved "Box" prefix B\nblock at 9,9\nrow A 1-2\n'
    [fault] = (await read(office, "text", text)).json()["data"]["faults"]
    assert (fault["line"], fault["path"]) == (4, "$.zones[1].zone_type")
    await office.policy(allow_vip_zones=True)
    assert (await read(office, "text", text)).json()["data"]["faults"] == []


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("csv", ""),
        ("csv", "\x00"),
        ("text", "\ufeff"),
        ("text", "zone " * 10_000),
        ("text", f"total {CAPACITY_MAX}0"),
        ("csv", "kind,zone\nseat,nowhere\n"),
        ("text", "x" * 1_000_001),
    ],
)
async def test_any_text_is_answered_with_its_faults(office: Office, form: str, text: str):
    answer = await read(office, form, text)
    assert answer.status_code == 200
    assert all(fault["line"] >= 1 for fault in answer.json()["data"]["faults"])
    assert answer.json()["data"]["faults"]


@pytest.mark.parametrize(("form", "text"), [("xml", "<a/>"), ("csv", None), ("text", 7)])
async def test_what_is_no_text_is_refused(office: Office, form: str, text: Any):
    assert refusal(await read(office, form, text))[0] in (400, 422)
