"""The organisation's seating policy: its defaults, its changes, and where it is enforced."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.seating.api_support import (
    Office,
    a_config,
    a_new_layout,
    a_seated_event,
    a_zone,
    faults,
    refusal,
)
from tests.support import Tenant

DEFAULTS = {
    "allow_reserved_seating": True,
    "allow_ga_seating": True,
    "allow_hybrid_ga_reserved": True,
    "allow_vip_zones": False,
    "enforce_accessibility_rules": True,
    "companion_release_occupancy_threshold": 85,
    "max_wheelchair_seats_per_booking": 1,
    "accessibility_audit_enabled": True,
    "max_seats_per_booking": 10,
    "orphan_avoidance_strict": True,
    "group_adjacency_strict": False,
    "max_group_split": 2,
    "prefer_clustering_over_selection": False,
    "default_hold_ttl_minutes": 5,
    "max_holds_per_user": None,
    "max_holds_per_ip": None,
    "mandatory": [],
    "version": 1,
}
"""As the specification and our decisions have them."""
OTHERWISE = {
    "allow_reserved_seating": False,
    "allow_ga_seating": False,
    "allow_hybrid_ga_reserved": False,
    "allow_vip_zones": True,
    "enforce_accessibility_rules": False,
    "companion_release_occupancy_threshold": 0,
    "max_wheelchair_seats_per_booking": 50,
    "accessibility_audit_enabled": False,
    "max_seats_per_booking": 50,
    "orphan_avoidance_strict": False,
    "group_adjacency_strict": True,
    "max_group_split": 0,
    "prefer_clustering_over_selection": True,
    "default_hold_ttl_minutes": 60,
    "max_holds_per_user": 1,
    "max_holds_per_ip": 10_000,
    "mandatory": sorted(DEFAULTS.keys() - {"mandatory", "version"}),
}


@pytest.fixture
def office(client: httpx.AsyncClient, tenant: Tenant) -> Office:
    return Office(client, tenant)


async def read(office: Office) -> dict[str, Any]:
    return (await office.ask("GET", "/api/seating-policy", by="gate_supervisor")).json()["data"]


async def change(office: Office, **changes: Any) -> httpx.Response:
    return await office.ask("PATCH", "/api/seating-policy", {"version": 1, **changes}, by="owner")


async def test_until_somebody_changes_it_the_policy_is_the_default(office: Office):
    policy = await read(office)
    assert {name: policy[name] for name in DEFAULTS} == DEFAULTS
    assert policy["id"] == str(office.tenant.id)


async def test_every_field_can_be_changed_and_the_log_says_from_what_to_what(
    office: Office, other_tenant: Tenant
):
    answer = await change(office, **OTHERWISE)
    assert answer.status_code == 200
    policy = await read(office)
    assert policy == answer.json()["data"]
    assert {name: policy[name] for name in OTHERWISE} == OTHERWISE
    assert policy["version"] == 2
    [entry] = await office.audit("seating_policy_changed")
    assert entry["changes"].keys() == OTHERWISE.keys()
    assert entry["changes"]["max_seats_per_booking"] == {"from": 10, "to": 50}
    answer = await change(office, version=2, max_holds_per_user=None, max_seats_per_booking=50)
    assert answer.json()["data"]["max_holds_per_user"] is None
    [entry, _] = await office.audit("seating_policy_changed")
    assert entry["changes"] == {"max_holds_per_user": {"from": 1, "to": None}}
    theirs = await read(Office(office.client, other_tenant))
    assert {name: theirs[name] for name in DEFAULTS} == DEFAULTS


async def test_a_faulty_change_is_refused_with_the_fault(office: Office):
    for broken, path in (
        ({"version": 0}, "$.version"),
        ({"companion_release_occupancy_threshold": 101}, "$.companion_release_occupancy_threshold"),
        ({"companion_release_occupancy_threshold": -1}, "$.companion_release_occupancy_threshold"),
        ({"max_seats_per_booking": 0}, "$.max_seats_per_booking"),
        ({"max_seats_per_booking": 51}, "$.max_seats_per_booking"),
        ({"max_seats_per_booking": 2.5}, "$.max_seats_per_booking"),
        ({"max_group_split": 21}, "$.max_group_split"),
        ({"default_hold_ttl_minutes": 0}, "$.default_hold_ttl_minutes"),
        ({"default_hold_ttl_minutes": 61}, "$.default_hold_ttl_minutes"),
        ({"max_holds_per_ip": 0}, "$.max_holds_per_ip"),
        ({"allow_vip_zones": None}, "$.allow_vip_zones"),
        ({"allow_vip_zones": "yes"}, "$.allow_vip_zones"),
        ({"mandatory": ["everything"]}, "$.mandatory[0]"),
        ({"mandatory": None}, "$.mandatory"),
        ({"id": str(office.tenant.id)}, "$"),
    ):
        answer = await change(office, **broken)
        assert (refusal(answer), faults(answer)) == ((422, "invalid_request"), [path])
    answer = await office.ask("PATCH", "/api/seating-policy", {"max_group_split": 1}, by="owner")
    assert refusal(answer) == (422, "invalid_request"), "of which version?"
    assert (await read(office))["version"] == 1


async def test_of_two_changes_of_one_version_one_is_refused(office: Office):
    for version in (1, 2):  # the first change makes the row, the second finds it
        answers = await asyncio.gather(
            *(change(office, version=version, max_group_split=n) for n in range(4))
        )
        assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
        assert {refusal(a)[1] for a in answers if a.status_code == 409} == {"version_conflict"}
    assert (await read(office))["version"] == 3
    answer = await change(office, version=1)
    assert answer.json()["details"] == {"current_version": 3}


async def test_layouts_obey_the_policy(office: Office):
    path = f"/api/venues/{await office.venue()}/layouts"
    seats, standing = a_config(), a_config(places={"Pit": 5})
    standing["zones"] = standing["zones"][1:]
    hybrid = a_config(places={"Pit": 5})
    for denied, config, where in (
        ("allow_reserved_seating", seats, ["$.zones[0].zone_type"]),
        ("allow_ga_seating", standing, ["$.zones[0].zone_type"]),
        ("allow_hybrid_ga_reserved", hybrid, ["$.zones[1].zone_type"]),
        ("allow_vip_zones", a_zone(standing, zone_type="vip_standing"), ["$.zones[0].zone_type"]),
    ):
        await office.policy(**{"allow_vip_zones": True, denied: False})
        answer = await office.ask("POST", path, a_new_layout(config))
        assert (refusal(answer), faults(answer)) == ((403, "policy_forbids"), where), denied
        await office.policy(**{denied: True})
        answer = await office.ask("POST", path, a_new_layout(config))
        assert answer.status_code == 201, denied


async def test_a_change_holds_for_events_that_are_on_sale(
    client: httpx.AsyncClient, tenant: Tenant
):
    event = await a_seated_event(client, tenant, a_config(("..........",)))
    assert (await event.best(4)).status_code == 200
    await event.office.policy(max_seats_per_booking=3)
    assert refusal(await event.best(4)) == (409, "booking_refused")
    await event.office.policy(max_seats_per_booking=10, prefer_clustering_over_selection=True)
    [problem] = (await event.check("A5 A6"))["problems"]
    assert problem["code"] == "seats_are_chosen_for_you"
