"""The counters of an event compared with its scans."""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import UUID

from voelgoed.scanning.model.occupancy import Counted, Scope
from voelgoed.scanning.model.recount import ContestedPassage, Difference, RecountFacts
from voelgoed.scanning.rules.facts import HeadsAt, add_head, without_first_head, without_head
from voelgoed.ticketing.model.admissions import IrregularHeads

Key = tuple[dt.date, Scope, UUID]


def differences(facts: RecountFacts) -> list[Difference]:
    """The counters that say something else than the scans, in their order."""
    kept = {_key(each): each for each in facts.kept}
    proven = {_key(each): each for each in facts.by_scans}
    irregular: dict[Key, int] = {}
    for heads in _irregular_heads(facts):
        for key in _places(facts.event_id, heads):
            irregular[key] = irregular.get(key, 0) + heads.count
    found = [
        _difference(facts.event_id, key, kept.get(key), proven.get(key), irregular.get(key, 0))
        for key in {*kept, *proven, *irregular}
    ]
    return sorted(each for each in found if each.correction != _nothing(each))


def _key(counted: Counted) -> Key:
    return counted.day, counted.scope, counted.scope_id


def _places(event_id: UUID, heads: IrregularHeads) -> Iterator[Key]:
    yield heads.day, "event", event_id
    yield heads.day, "gate", heads.gate_id
    if heads.zone_id is not None:
        yield heads.day, "zone", heads.zone_id


@dataclass(slots=True)
class _Contested:
    """A ticket with irregular entries, or all that came in without a ticket of the event."""

    is_inside: bool = False
    heads: list[IrregularHeads] = field(default_factory=list[IrregularHeads])
    alone: list[HeadsAt] = field(default_factory=list[HeadsAt])
    """The places of irregular entries that are in no conflict, since the last entry that counts."""

    def meet(self, passage: ContestedPassage) -> None:
        """Who came in rightly leaves first; who comes in rightly after an irregular entry is the same
        person, unless there is a conflict."""
        where = passage.gate_id, passage.zone_id, passage.day
        if not passage.is_admitted:
            self.heads = add_head(self.heads, where, passage.at)
            if not passage.is_conflict:
                self.alone.append(where)
        elif passage.direction == "entry":
            for each in self.alone:
                self.heads = without_head(self.heads, each)
            self.is_inside, self.alone = True, []
        elif self.is_inside:
            self.is_inside = False
        else:
            self.heads = without_first_head(self.heads)


def _irregular_heads(facts: RecountFacts) -> list[IrregularHeads]:
    """The heads of people who came in irregularly and did not leave; none after somebody declared
    the venue empty."""
    contested: dict[UUID | None, _Contested] = {}
    resets = list(reversed(facts.resets))
    for each in facts.contested:
        while resets and resets[-1] < each.at:
            resets.pop()
            for one in contested.values():
                one.is_inside, one.heads = False, []
        contested.setdefault(each.ticket_id, _Contested()).meet(each)
    return [] if resets else [heads for each in contested.values() for heads in each.heads]


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
