from voelgoed.events.api import events, gates, venues

ROUTES = [*venues.ROUTES, *events.ROUTES, *gates.ROUTES]
