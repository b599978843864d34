"""The OpenAPI document, made from the routes.

It is committed as contracts/openapi.json and served from there, so that clients are
generated, and reviews done, from the same bytes that the server gives out; a test
keeps them equal to what the routes say.
"""

import re
from typing import Any, cast

import msgspec
from litestar import Litestar
from litestar.handlers.http_handlers import HTTPRouteHandler
from litestar.openapi import OpenAPIConfig
from litestar.openapi.spec import Components, License, SecurityScheme

from voelgoed.accounts.access import COOKIE
from voelgoed.http import API_ROUTES, DEPENDENCIES

Json = dict[str, Any]

DESCRIPTION = """
Every error has one shape: `{"error": code, "message": sentence, "details": {...}}`.
Lists are read page by page: give the `next` of one page as `after` of the next.
Log in with `POST /api/sessions`; send the token as `Authorization: Bearer ...`.
"""

_WRAPPED = re.compile(r"(Data|Page)_(list_)?[\w.]*?(\w+)_$")
_FRAMEWORK_ERROR = "400"


def document() -> bytes:
    app = Litestar(route_handlers=API_ROUTES, dependencies=DEPENDENCIES, openapi_config=_config())
    tidied = _tidied(app.openapi_schema.to_schema())
    return msgspec.json.format(msgspec.json.encode(tidied, order="sorted")) + b"\n"


def _config() -> OpenAPIConfig:
    return OpenAPIConfig(
        title="Voelgoed",
        version="1",
        description=DESCRIPTION.strip(),
        license=License(name="Apache-2.0", identifier="Apache-2.0"),
        use_handler_docstrings=True,
        operation_id_creator=_operation_id,
        components=Components(
            security_schemes={
                "bearer": SecurityScheme(type="http", scheme="bearer"),
                "device": SecurityScheme(type="http", scheme="bearer"),
                "cookie": SecurityScheme(type="apiKey", name=COOKIE, security_scheme_in="cookie"),
            }
        ),
        security=[{"bearer": []}, {"cookie": []}],
    )


def _operation_id(handler: HTTPRouteHandler, _method: object, _path: object) -> str:
    """The name of the function that answers, which generated clients call."""
    return handler.handler_name


def _tidied(schema: Json) -> Json:
    """What the framework gets wrong or leaves out."""
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            operation["tags"] = [path.removeprefix("/api").split("/")[1]]
            operation["summary"] = operation["operationId"].replace("_", " ").capitalize()
            refused = operation["responses"].get(_FRAMEWORK_ERROR)
            if refused and "ErrorBody" not in str(refused["content"]):
                del operation["responses"][_FRAMEWORK_ERROR]  # ours is 422, in our shape
            operation["responses"].get("204", {}).pop("content", None)
    for name in _request_bodies(schema):
        schema["components"]["schemas"][name]["additionalProperties"] = False
    return _renamed(schema)


def _request_bodies(schema: Json) -> set[str]:
    bodies = [
        operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        for operations in schema["paths"].values()
        for operation in operations.values()
        if "application/json" in operation.get("requestBody", {}).get("content", {})
    ]
    return {ref.rpartition("/")[2] for ref in bodies}


def _renamed(schema: Json) -> Json:
    """`Data_list_voelgoed.events.model.Gate_` is `GateListData` to who reads it."""
    names = {name: _readable(name) for name in schema["components"]["schemas"]}
    if len(set(names.values())) != len(names):
        raise ValueError("two schemas would share a name")

    def rename(value: Any) -> Any:
        if isinstance(value, dict):
            return {names.get(k, k): rename(v) for k, v in cast(Json, value).items()}
        if isinstance(value, list):
            return [rename(item) for item in cast(list[Any], value)]
        if isinstance(value, str) and value.startswith("#/components/schemas/"):
            return "#/components/schemas/" + names[value.rpartition("/")[2]]
        return value

    return rename(schema)


def _readable(name: str) -> str:
    wrapped = _WRAPPED.match(name)
    if wrapped is None:
        return name
    wrapper, many, inner = wrapped.groups()
    return f"{inner}{'List' if many else ''}{wrapper}"
