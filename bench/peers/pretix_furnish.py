"""Run by pretix's own Python: an organiser, an event that is on, a device, and paid tickets.

`python -P pretix_furnish.py 2000` writes one JSON object: the device's token, the id of the
check-in list, and what is in the tickets' QR codes. -P because pretix.py lies beside this file.
"""

import json
import os
import sys
from datetime import timedelta
from decimal import Decimal

import django
from django.conf import settings
from django.utils.crypto import get_random_string
from django.utils.timezone import now
from django_scopes import scopes_disabled

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pretix.settings")
django.setup()

from pretix.base.models import (  # noqa: E402
    Device,
    Event,
    Order,
    OrderPayment,
    OrderPosition,
    Organizer,
)
from pretix.base.models.devices import generate_api_token  # noqa: E402

PRICE = Decimal("150.00")
ROWS_AT_ONCE = 1_000
SECRET_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
"""Of pretix's default generator of ticket secrets."""


def main() -> None:
    organizer = Organizer.objects.create(name="Bench", slug="bench")
    event = Event.objects.create(
        organizer=organizer,
        name="Concert",
        slug="concert",
        currency="ZAR",
        date_from=now() - timedelta(hours=1),
        date_to=now() + timedelta(hours=3),
        live=True,
        plugins=settings.PRETIX_PLUGINS_DEFAULT,
    )
    event.set_defaults()
    device = Device.objects.create(
        organizer=organizer,
        name="Gate",
        all_events=True,
        initialized=now(),
        api_token=generate_api_token(),
        security_profile="pretixscan",
    )
    check_in_list = event.checkin_lists.create(name="Gate")
    secrets = sell(event, int(sys.argv[1]))
    print(json.dumps({"token": device.api_token, "list": check_in_list.id, "secrets": secrets}))


def sell(event: Event, tickets: int) -> list[str]:
    """One ticket an order, paid by hand."""
    item = event.items.create(name="Standard", default_price=PRICE, admission=True)
    event.quotas.create(name="Standard", size=tickets).items.add(item)
    channel = event.organizer.sales_channels.get(identifier="web")
    orders = [
        Order(
            organizer=event.organizer,
            event=event,
            code=f"B{number:07}",
            status=Order.STATUS_PAID,
            email=f"guest{number}@bench.example",
            locale="en",
            datetime=now(),
            expires=now() + timedelta(days=1),
            total=PRICE,
            sales_channel=channel,
        )
        for number in range(tickets)
    ]
    Order.objects.bulk_create(orders, ROWS_AT_ONCE)
    OrderPayment.objects.bulk_create(map(payment_of, orders), ROWS_AT_ONCE)
    positions = [
        OrderPosition(
            organizer=event.organizer,
            order=order,
            item=item,
            price=PRICE,
            tax_rate=Decimal(0),
            tax_value=Decimal(0),
            attendee_name_parts={"_scheme": "given_family", "given_name": "Anna"},
            attendee_name_cached="Anna",
            secret=get_random_string(settings.ENTROPY["ticket_secret"], SECRET_LETTERS),
            pseudonymization_id=order.code,
        )
        for order in orders
    ]
    OrderPosition.objects.bulk_create(positions, ROWS_AT_ONCE)
    return [position.secret for position in positions]


def payment_of(order: Order) -> OrderPayment:
    return OrderPayment(
        order=order,
        local_id=1,
        state=OrderPayment.PAYMENT_STATE_CONFIRMED,
        amount=order.total,
        payment_date=order.datetime,
        provider="manual",
    )


with scopes_disabled():
    main()
