"""The OpenAPI document: generated from the routes, committed as contracts/openapi.json."""

from litestar.openapi import OpenAPIConfig
from litestar.openapi.spec import Components, License, SecurityScheme

PATH = "/api/openapi.json"

DESCRIPTION = """
Every error has one shape: `{"error": code, "message": sentence, "details": {...}}`.
Lists are read page by page: give the `next` of one page as `after` of the next.
Log in with `POST /api/sessions`; send the token as `Authorization: Bearer ...`.
"""


def openapi_config() -> OpenAPIConfig:
    return OpenAPIConfig(
        title="Voelgoed",
        version="1",
        description=DESCRIPTION.strip(),
        license=License(name="Apache-2.0", identifier="Apache-2.0"),
        path="/api",
        use_handler_docstrings=True,
        components=Components(
            security_schemes={
                "bearer": SecurityScheme(type="http", scheme="bearer"),
                "cookie": SecurityScheme(
                    type="apiKey", name="voelgoed_session", security_scheme_in="cookie"
                ),
            }
        ),
        security=[{"bearer": []}, {"cookie": []}],
    )
