from collections.abc import Collection, Sequence
from datetime import date
from uuid import UUID

import msgspec

from voelgoed.events.model import EventDay
from voelgoed.infra.database import Transaction, json_text
from voelgoed.scanning.model.occupancy import Counted, GateLevels, OccupancyFacts


async def add_counts(tx: Transaction, changes: Sequence[Counted]) -> list[Counted]:
    """Gives what there is now, which nobody else changes until this transaction ends."""
    return await tx.rows(
        Counted,
        """
        INSERT INTO occupancy AS counted
               (organization_id, event_id, day, scope, scope_id, entries, exits, inside, irregular)
        SELECT current_organization(), event_id, day, scope, scope_id, entries, exits, inside,
               irregular
          FROM json_to_recordset($1::json)
            AS new (event_id uuid, day date, scope text, scope_id uuid, entries integer,
                    exits integer, inside integer, irregular integer)
        ON CONFLICT (organization_id, event_id, day, scope, scope_id) DO UPDATE
           SET entries = counted.entries + EXCLUDED.entries,
               exits = counted.exits + EXCLUDED.exits,
               inside = counted.inside + EXCLUDED.inside,
               irregular = counted.irregular + EXCLUDED.irregular
        RETURNING event_id, day, scope, scope_id, entries, exits, inside, irregular
        """,
        # In one order, so that nobody waits in a circle.
        json_text(sorted(changes)),
    )


class _OccupancyRow(msgspec.Struct, frozen=True):
    days: str
    counts: str
    limited_gates: str


async def read_occupancy_facts(tx: Transaction, event_id: UUID) -> OccupancyFacts:
    """Reads who is inside, at one moment."""
    found = await tx.row(
        _OccupancyRow,
        """
        SELECT (SELECT coalesce(json_agg(json_build_object('date', date, 'starts_at', starts_at,
                                                           'ends_at', ends_at) ORDER BY date), '[]')
                  FROM event_day WHERE event_id = $1)::text AS days,
               (SELECT coalesce(json_agg(json_build_object(
                           'event_id', event_id, 'day', day, 'scope', scope, 'scope_id', scope_id,
                           'entries', entries, 'exits', exits, 'inside', inside,
                           'irregular', irregular) ORDER BY day, scope, scope_id), '[]')
                  FROM occupancy WHERE event_id = $1)::text AS counts,
               (SELECT coalesce(json_agg(id), '[]')
                  FROM gate WHERE event_id = $1 AND hard_capacity_limit IS NOT NULL)::text
                   AS limited_gates
        """,
        event_id,
    )
    assert found is not None
    return OccupancyFacts(
        days=_days.decode(found.days),
        counts=_counts.decode(found.counts),
        limited_gates=_ids.decode(found.limited_gates),
    )


async def read_gate_levels(
    tx: Transaction, days: Collection[tuple[UUID, date]]
) -> list[GateLevels]:
    """The levels of all gates of these events, each event on the given day."""
    return _levels.decode(
        await tx.statement(
            """
            WITH level AS (
                SELECT gate.event_id, shown.day,
                       json_agg(json_build_object(
                           'gate_id', gate.id, 'occupancy', present.inside,
                           'capacity', present.capacity,
                           'percent', 100 * present.inside / present.capacity)
                           ORDER BY gate.id) AS gates
                  FROM unnest($2::uuid[], $3::date[]) AS shown (event_id, day)
                  JOIN gate ON gate.event_id = shown.event_id
                 CROSS JOIN LATERAL (
                       SELECT greatest(coalesce(sum(inside), 0), 0) AS inside,
                              least(gate.capacity, gate.hard_capacity_limit) AS capacity
                         FROM occupancy
                        WHERE occupancy.event_id = gate.event_id AND occupancy.scope = 'gate'
                          AND occupancy.scope_id = gate.id
                          -- Who came earlier and was not seen leaving counts where there is a hard limit.
                          AND (occupancy.day = shown.day
                               OR occupancy.day < shown.day AND gate.hard_capacity_limit IS NOT NULL)
                       ) AS present
                 GROUP BY gate.event_id, shown.day
            )
            SELECT (SELECT coalesce(json_agg(level), '[]') FROM level)::text
             WHERE CASE WHEN current_organization() <> $1
                        THEN abort('VG002', 'the connection is set to another organisation')
                        ELSE true END
            """,
            [event_id for event_id, _ in days],
            [day for _, day in days],
        )
    )


_levels = msgspec.json.Decoder(list[GateLevels])
_days = msgspec.json.Decoder(list[EventDay])
_counts = msgspec.json.Decoder(list[Counted])
_ids = msgspec.json.Decoder(frozenset[UUID])
