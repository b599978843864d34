"""kill -9 in the middle of sales: what was answered is sold, what was not is sold once when it is
asked for again, and no seat, ticket, order or payment is left without the others."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import httpx
import pytest

from tests.processes import Installation, a_client, ask, eventually, is_alive
from tests.prove.chaos.test_kill import log_in
from tests.prove.length import luck, rounds
from tests.seating.api_support import a_config, a_new_layout
from tests.support import a_venue, an_event
from tests.ticketing.checkout_support import SOUND
from tests.ticketing.support import a_ticket_type

pytestmark = pytest.mark.own_database

TILLS = 4
ROWS, SEATS_IN_A_ROW = 26, 80
ORDERS_MAX = ROWS * SEATS_IN_A_ROW // 2
WORK_S = (0.0, 0.5)
WAYS = ("server", "postmaster", "server and database", "database at once") * rounds(1, 4)


class Hall:
    """An event with many pairs of seats and a floor, made through the API."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        config = a_config(["." * SEATS_IN_A_ROW] * ROWS, places={"Floor": 10 * ORDERS_MAX})
        self.floor = config["zones"][-1]["zone_id"]
        venue = self._make("/api/venues", a_venue())["id"]
        layout = self._make(f"/api/venues/{venue}/layouts", a_new_layout(config))
        self.event_id = self._make("/api/events", an_event(venue, capacity=20_000))["id"]
        path = f"/api/events/{self.event_id}"
        self._make(f"{path}/transitions", {"to": "published"})
        body = {"layout_id": layout["id"], "version": None}
        client.put(f"{path}/layout", json=body).raise_for_status()
        self.seated = self._make(f"{path}/ticket-types", a_ticket_type())["id"]
        ga = {"name": "Floor", "kind": "ga", "entitlement": "ga_standing"}
        self.resolution = self._make(f"{path}/ticket-types", a_ticket_type(**ga))["id"]
        seats = [seat["seat_id"] for zone in config["zones"] for seat in zone.get("seats", [])]
        self.pairs = list(zip(seats[::2], seats[1::2], strict=True))

    def _make(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = self._client.post(path, json=body)
        assert answer.is_success, answer.text
        return answer.json()["data"]


class Tills:
    """Each sells pair after pair with a place on the floor, every step under a key of its own."""

    def __init__(self, hall: Hall, token: str) -> None:
        self.sold: dict[int, dict[str, Any]] = {}
        self.sent: list[int] = []
        self.hall, self._token = hall, token
        self._enough = threading.Event()

    @contextmanager
    def at_work(self, url: str) -> Iterator[None]:
        self._enough.clear()
        with ThreadPoolExecutor(TILLS) as pool:
            tills = [pool.submit(self._work, url) for _ in range(TILLS)]
            try:
                yield
            finally:
                self._enough.set()
        for till in tills:
            till.result()

    def _work(self, url: str) -> None:
        with a_client(url, self._token) as client:
            while not self._enough.is_set() and len(self.sent) < ORDERS_MAX - TILLS:
                self.sent.append(number := len(self.sent))
                with suppress(httpx.TransportError):
                    self.sell(client, number)
                if number not in self.sold:
                    time.sleep(0.05)  # something is dead; keep some seats for later

    def sell(self, client: httpx.Client, number: int) -> None:
        wish = {
            "seat_ids": list(self.hall.pairs[number]),
            "places": [{"zone_id": self.hall.floor, "count": 1}],
        }
        path = f"/api/events/{self.hall.event_id}/holds"
        held = client.post(path, json=wish, headers={"Idempotency-Key": f"hold-{number}"})
        if held.status_code == 503:
            return
        assert held.is_success, held.text
        items = [
            {
                "hold_id": hold["hold_id"],
                "ticket_type_id": self.hall.seated if hold["seat_id"] else self.hall.resolution,
            }
            for hold in held.json()["data"]["holds"]
        ]
        order = {
            "items": items,
            "buyer_name": "Anna Botha",
            "note": f"sale {number}",
            "payment": {"provider": "manual", "method": "cash"},
        }
        headers = {"Idempotency-Key": f"order-{number}"}
        answer = client.post("/api/orders", json=order, headers=headers)
        if answer.status_code == 503:
            return
        assert answer.status_code == 201, answer.text
        self.sold[number] = answer.json()["data"]


def test_sales_survive_the_death_of_server_and_database_at_any_moment(here: Installation) -> None:
    random = luck("sales")
    server = here.up()
    token = log_in(here.demo)
    with a_client(server.url, token) as client:
        tills = Tills(Hall(client), token)
    for way in WAYS:
        with tills.at_work(server.url):
            before = len(tills.sold)
            eventually(lambda: len(tills.sold) > before)  # noqa: B023
            time.sleep(random.uniform(*WORK_S))
            die(here, server, way)
        if "server" in way:
            server = here.up()
        with a_client(server.url, token) as client:
            eventually(lambda: client.get("/health/ready").is_success)
            for number in set(tills.sent) - tills.sold.keys():
                tills.sell(client, number)
        check_sound(here)
    check_all_there(here, tills)


def die(here: Installation, server: Any, way: str) -> None:
    if way == "postmaster":
        here.kill_postmaster()
    elif way == "database at once":
        pids = here.database_processes()
        os.kill(pids[0], signal.SIGQUIT)
        eventually(lambda: not any(map(is_alive, pids)))
    else:
        server.end(signal.SIGKILL)
        if way == "server and database":
            here.kill_database()


def check_sound(here: Installation) -> None:
    url = here.postgres.url("postgres")
    for what, query in SOUND.items():
        assert ask(url, query.replace("$1", "now()")) == [], what


def check_all_there(here: Installation, tills: Tills) -> None:
    def found(what: str, where: str) -> list[Any]:
        """At the hall's event: the demo has sales of its own."""
        event = f"event_id = '{tills.hall.event_id}'"
        return ask(here.postgres.url("postgres"), f"SELECT {what} WHERE {event} AND {where}")

    assert tills.sold.keys() == set(tills.sent)
    paid = found("note FROM ticket_order", "status = 'paid'")
    assert sorted(paid) == sorted(f"sale {number}" for number in tills.sent)
    assert found("id FROM ticket_order", "status <> 'paid'") == []
    codes = {ticket["code"] for sale in tills.sold.values() for ticket in sale["tickets"]}
    assert set(found("code FROM ticket", "true")) == codes
    assert len(codes) == 3 * len(tills.sent)
    payments = "payment JOIN ticket_order AS sale ON sale.id = order_id"
    taken = found(f"sum(amount_minor)::bigint FROM {payments}", "payment.status = 'succeeded'")
    assert taken == [sum(sale["order"]["total_minor"] for sale in tills.sold.values())]
    assert found("id FROM seat_hold", "status <> 'converted'") == []
