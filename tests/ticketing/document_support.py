"""Builders: orders as they are sold at the till, and what is asked about them."""

from io import BytesIO
from typing import Any

import httpx
from pypdf import PdfReader

from tests.ticketing.checkout_support import Shop

CASH = {"provider": "manual", "method": "cash"}
EVIL = "<script>alert(1)</script>\"'&<img src=x onerror=alert(1)>"


async def sale(shop: Shop, seats: str = "", pit: int = 0, **more: Any) -> dict[str, Any]:
    """At the till, paid; the rest is of the order's body, but for the name on the tickets."""
    till, holder = await shop.till(), more.pop("holder_name", "")
    holds = await shop.holds(till, seats, **({"pit": pit} if pit else {}))
    items = [item | {"holder_name": holder} for item in shop.items(holds)]
    body = {"items": items, "buyer_name": "Anna Botha", "payment": CASH, **more}
    answer = await till.ask("POST", "/api/orders", body)
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


async def voided(shop: Shop, ticket: dict[str, Any]) -> None:
    till = await shop.till()
    answer = await till.ask("POST", f"/api/tickets/{ticket['id']}/void", {"reason": "a mistake"})
    assert answer.status_code == 200, answer.text


async def refunded(shop: Shop, order: dict[str, Any]) -> None:
    till = await shop.till()
    path = f"/api/orders/{order['order']['id']}/refunds"
    answer = await till.ask("POST", path, {"reason": "rain"})
    assert answer.status_code == 201, answer.text


async def reissued(shop: Shop, ticket: dict[str, Any], **changes: Any) -> str:
    """The new barcode."""
    till = await shop.till()
    path = f"/api/tickets/{ticket['id']}/reissues"
    answer = await till.ask("POST", path, {"reason": "lost", **changes})
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]["barcode"]


async def barcode(shop: Shop, ticket: dict[str, Any]) -> str:
    till = await shop.till()
    return (await till.ask("GET", f"/api/tickets/{ticket['id']}")).json()["data"]["barcode"]


def pages(answer: httpx.Response) -> list[str]:
    """The words on each page of a PDF."""
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/pdf"
    reader = PdfReader(BytesIO(answer.content), strict=True)
    return [" ".join(page.extract_text().split()) for page in reader.pages]


def expect_kept_by_nobody(answer: httpx.Response) -> None:
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-robots-tag"] == "noindex"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert "script-src" not in answer.headers["content-security-policy"]
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
