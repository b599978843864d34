from voelgoed.accounts.api import audit, memberships, organization, sessions, users, whitelists

ROUTES = [
    *sessions.ROUTES,
    *organization.ROUTES,
    *users.ROUTES,
    *memberships.ROUTES,
    *whitelists.ROUTES,
    *audit.ROUTES,
]
