from voelgoed.ticketing.api import (
    documents,
    event_keys,
    exports,
    holds,
    imports,
    order_page,
    orders,
    ticket_types,
)
from voelgoed.ticketing.api.holds import RESERVE, RESERVE_TEMPLATE, answer_reserve
from voelgoed.ticketing.api.imports import UPLOAD, UPLOAD_S

__all__ = ["RESERVE", "RESERVE_TEMPLATE", "ROUTES", "UPLOAD", "UPLOAD_S", "answer_reserve"]

ROUTES = [
    *holds.ROUTES,
    *orders.ROUTES,
    *documents.ROUTES,
    *order_page.ROUTES,
    *event_keys.ROUTES,
    *ticket_types.ROUTES,
    *imports.ROUTES,
    *exports.ROUTES,
]
