from voelgoed.reporting.api import attendance, funnel, no_shows, sales

ROUTES = [*sales.ROUTES, *attendance.ROUTES, *no_shows.ROUTES, *funnel.ROUTES]
