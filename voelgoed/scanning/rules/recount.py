"""The counters of an event compared with its scans."""

import datetime as dt
from collections.abc import Iterator
from uuid import UUID

from voelgoed.scanning.model.occupancy import Counted, Scope
from voelgoed.scanning.model.recount import ContestedPassage, Difference, RecountFacts

Key = tuple[dt.date, Scope, UUID]


def differences(facts: RecountFacts) -> list[Difference]:
    """The counters that say something else than the scans, in their order."""
    kept = {_key(each): each for each in facts.kept}
    proven = {_key(each): each for each in facts.by_scans}
    irregular: dict[Key, int] = {}
    for head in _irregular_heads(facts):
        for key in _places(facts.event_id, head):
            irregular[key] = irregular.get(key, 0) + 1
    found = [
        _difference(facts.event_id, key, kept.get(key), proven.get(key), irregular.get(key, 0))
        for key in {*kept, *proven, *irregular}
    ]
    return sorted(each for each in found if each.correction != _nothing(each))


def _key(counted: Counted) -> Key:
    return counted.day, counted.scope, counted.scope_id


def _places(event_id: UUID, head: ContestedPassage) -> Iterator[Key]:
    yield head.day, "event", event_id
    yield head.day, "gate", head.gate_id
    if head.zone_id is not None:
        yield head.day, "zone", head.zone_id


def _irregular_heads(facts: RecountFacts) -> list[ContestedPassage]:
    """Irregular entries of people who did not leave. Who came in rightly leaves before them; who comes in
    rightly afterwards is the same person, unless there is a conflict; and nobody is left when somebody
    declared the venue empty."""
    inside: set[UUID] = set()
    heads: dict[UUID | None, list[ContestedPassage]] = {}
    resets = list(reversed(facts.resets))
    for each in facts.contested:
        while resets and resets[-1] < each.at:
            resets.pop()
            inside.clear()
            heads.clear()
        if not each.is_admitted:
            heads.setdefault(each.ticket_id, []).append(each)
        elif each.ticket_id is not None:
            if each.direction == "entry":
                inside.add(each.ticket_id)
                left = heads.pop(each.ticket_id, [])
                heads[each.ticket_id] = [head for head in left if head.is_conflict]
            elif each.ticket_id in inside:
                inside.discard(each.ticket_id)
            else:
                del heads.get(each.ticket_id, [])[:1]
    return [] if resets else [each for those in heads.values() for each in those]


def _difference(
    event_id: UUID, key: Key, kept: Counted | None, proven: Counted | None, irregular: int
) -> Difference:
    day, scope, scope_id = key
    return Difference(
        event_id=event_id,
        day=day,
        scope=scope,
        scope_id=scope_id,
        entries=kept.entries if kept else 0,
        exits=kept.exits if kept else 0,
        inside=kept.inside if kept else 0,
        entries_by_scans=proven.entries if proven else 0,
        exits_by_scans=proven.exits if proven else 0,
        inside_by_scans=(proven.inside if proven else 0) + irregular,
        irregular=kept.irregular if kept else 0,
        irregular_by_scans=irregular,
    )


def _nothing(each: Difference) -> Counted:
    return Counted(
        event_id=each.event_id,
        day=each.day,
        scope=each.scope,
        scope_id=each.scope_id,
        entries=0,
        exits=0,
        inside=0,
    )
