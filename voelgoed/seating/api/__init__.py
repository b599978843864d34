from voelgoed.seating.api import event_layouts, layouts, policy, seats

ROUTES = [*policy.ROUTES, *layouts.ROUTES, *event_layouts.ROUTES, *seats.ROUTES]
