"""The contract: committed, served, fresh, and telling of every error."""

from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from voelgoed.openapi import document


@pytest.fixture(scope="module")
def contract(repository: Path) -> dict[str, Any]:
    return msgspec.json.decode((repository / "contracts" / "openapi.json").read_bytes())


def operations(contract: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, operation)
        for path, methods in contract["paths"].items()
        for method, operation in methods.items()
    ]


def bodies_of(operation: dict[str, Any]) -> dict[str, Any]:
    """By their kind."""
    return operation.get("requestBody", {}).get("content", {})


def test_the_committed_document_is_what_the_routes_say(repository: Path):
    committed = (repository / "contracts" / "openapi.json").read_bytes()
    assert committed == document(), "run `make contracts`"


async def test_it_is_served_at_a_fixed_path(client: httpx.AsyncClient, repository: Path):
    answer = await client.get("/api/openapi.json")
    assert answer.headers["content-type"].startswith("application/json")
    assert answer.content == (repository / "contracts" / "openapi.json").read_bytes()


A_DENIAL = ("/api/scans", "404")
"""Of a ticket that does not exist: a decision, like every other denial."""


def test_every_error_has_the_one_shape(contract: dict[str, Any]):
    for method, path, operation in operations(contract):
        for status, response in operation["responses"].items():
            if int(status) >= 400 and (path, status) != A_DENIAL:
                content = response["content"]["application/json"]["schema"]
                assert content == {"$ref": "#/components/schemas/ErrorBody"}, (method, path, status)
                assert response["description"].startswith("`"), "names the codes"


def test_every_operation_says_what_may_go_wrong(contract: dict[str, Any]):
    for method, path, operation in operations(contract):
        if path.startswith("/health"):
            continue
        expected = {"422", "503"}
        if operation.get("security") == [{"device": []}]:
            expected |= {"401"}
        elif operation.get("security") != [{}]:
            expected |= {"401", "403"}
        if "{" in path:
            expected |= {"404"}
        if "requestBody" in operation:
            expected |= {"413", "415"}
        if "application/json" in bodies_of(operation):
            expected |= {"400"}
        assert expected <= set(operation["responses"]), (method, path)


def test_operations_have_distinct_readable_names(contract: dict[str, Any]):
    names = [operation["operationId"] for _, _, operation in operations(contract)]
    assert len(names) == len(set(names)) >= 60
    assert all("." not in name for name in contract["components"]["schemas"])


def test_unknown_fields_are_ruled_out_in_every_request(contract: dict[str, Any]):
    for method, path, operation in operations(contract):
        if "application/json" in bodies_of(operation):
            ref = bodies_of(operation)["application/json"]["schema"]["$ref"]
            schema = contract["components"]["schemas"][ref.rpartition("/")[2]]
            assert schema["additionalProperties"] is False, (method, path)


def test_what_a_layout_is_made_of_is_in_the_document(contract: dict[str, Any]):
    """A request takes any object as its config, to name all faults at once; here is what fits."""
    schemas = contract["components"]["schemas"]
    assert {"LayoutConfig", "Seat", "SeatGroup"} <= schemas.keys()
    assert set(schemas["Zone"]["required"]) == {"zone_id", "zone_type", "name", "capacity"}
