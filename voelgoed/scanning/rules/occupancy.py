"""The people who are present now, from the counts of each day.

At the end of an event day people stay counted where a gate has a hard limit, until they leave or somebody
declares the venue empty. Elsewhere the day starts at zero.
"""

import datetime as dt
from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from voelgoed.scanning.model.occupancy import (
    NOBODY,
    Counted,
    CountedHead,
    Heads,
    OccupancyFacts,
    Presence,
)
from voelgoed.scanning.rules.decision import day_of
from voelgoed.scanning.rules.tally import Tally


def presence_at(facts: OccupancyFacts, now: datetime) -> Presence:
    """The people present at that moment. An event without days has nobody present."""
    today = day_of(facts.days, now)
    return _presence(facts, dt.date.fromisoformat(today)) if today else Presence(today=None)


def _presence(facts: OccupancyFacts, today: dt.date) -> Presence:
    now = [each for each in facts.counts if each.day == today]
    carried = [
        each
        for each in facts.counts
        if each.scope == "gate" and each.scope_id in facts.limited_gates and each.day < today
    ]
    return Presence(
        today=today,
        event=_sum([*(each for each in now if each.scope == "event"), *carried]),
        gates=_by_id([*(each for each in now if each.scope == "gate"), *carried]),
        zones=_by_id(each for each in now if each.scope == "zone"),
    )


def _by_id(counts: Iterable[Counted]) -> dict[UUID, Heads]:
    found: dict[UUID, list[Counted]] = {}
    for each in counts:
        found.setdefault(each.scope_id, []).append(each)
    return {scope_id: _sum(those) for scope_id, those in found.items()}


def _sum(counts: Iterable[Counted]) -> Heads:
    those = list(counts)
    inside = max(sum(each.inside for each in those), 0)
    irregular = max(sum(each.irregular for each in those), 0)
    return Heads(inside=inside, irregular=min(irregular, inside))


def at_gate(presence: Presence, gate_id: UUID) -> Heads:
    return presence.gates.get(gate_id, NOBODY)


def taken_out(event_id: UUID, heads: Iterable[CountedHead]) -> list[Counted]:
    """The change of the counts when these people have left unseen."""
    tally = Tally()
    for head in heads:
        here = tally.presence(event_id, head.day, head.gate_id, head.zone_id)
        tally.change(here, inside=-1, irregular=-1 if head.is_irregular else 0)
    return tally.changes()
