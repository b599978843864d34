"""Views of events that are being booked, made once and looked at again.

Whoever uses one asks, in the transaction it is used in, whether it is still so
(`require_same_view`), and when it is not, forgets it and begins again.
"""

from uuid import UUID

from cachetools import LRUCache

from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database
from voelgoed.seating.actions.views import View, see_any

VIEWS_MAX = 500


class Views:
    def __init__(self, database: Database, cache: Cache) -> None:
        self._database = database
        self._cache = cache
        self._views: LRUCache[tuple[UUID, UUID], View] = LRUCache(VIEWS_MAX)

    async def of(self, organization_id: UUID, event_id: UUID) -> View:
        view = self._views.get((organization_id, event_id))
        if view is None:
            view = await see_any(self._database, self._cache, organization_id, event_id)
            self._views[organization_id, event_id] = view
        return view

    def forget(self, organization_id: UUID, event_id: UUID) -> None:
        self._views.pop((organization_id, event_id), None)
