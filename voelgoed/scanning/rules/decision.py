"""Whether somebody is let through.

The only place where this is decided, online, offline and afterwards; the scanner's twin of it is
judged by the same cases (contracts/scan_decisions.json). Everything it needs is given to it.
"""

import datetime as dt
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import get_args

import msgspec

from voelgoed.events.model import EventDay
from voelgoed.scanning.model.decisions import (
    REASONS_OF_HISTORY,
    Attempt,
    EventFacts,
    GateFacts,
    History,
    Reason,
    TicketFacts,
    Verdict,
)


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a decision is made from."""

    attempt: Attempt
    event: EventFacts
    gate: GateFacts
    ticket: TicketFacts | None
    """None where no ticket has this code."""
    history: History


_Check = Callable[[Case, TicketFacts], Reason | None]


def decide(case: Case) -> Verdict:
    if case.ticket is None:
        return Verdict(status="denied", reason="ticket_not_found")
    if case.attempt.direction == "exit":
        return _leave(case, case.ticket)
    for refuse in _ENTRY:
        if (reason := refuse(case, case.ticket)) is not None:
            return _deny(case, case.ticket, reason)
    day = day_of(case.event.days, case.attempt.at)
    return Verdict(status="admitted", entry_number=case.history.entries + 1, day=day)


def _deny(case: Case, ticket: TicketFacts, reason: Reason) -> Verdict:
    has_left = reason in _REASONS_AFTER_ENTRIES and case.history.left_at is not None
    return Verdict(
        status="denied",
        reason=reason,
        seconds_since_last_scan=_seconds_since(case) if reason == "already_scanned" else None,
        left_at=case.history.left_at if has_left else None,
        may_return_at=_may_return_at(case, ticket) if has_left else None,
    )


def _may_return_at(case: Case, ticket: TicketFacts) -> datetime | None:
    """The end of the duplicate window, but not before the ticket has an entry left."""
    last = case.history.last_scanned_at
    limit = _may_not_come_again(case, ticket) or _came_too_often(case, ticket)
    if last is None or limit not in (None, "daily_limit_reached"):
        return None
    at = last + timedelta(seconds=case.event.dedup_window_s)
    if limit == "daily_limit_reached":
        next_day = _next_day(case, ticket)
        if next_day is None:
            return None
        at = max(at, next_day.starts_at)
    return at if at <= case.event.ends_at else None


def _next_day(case: Case, ticket: TicketFacts) -> EventDay | None:
    """The next of the event's days on which the ticket is valid."""
    today = day_of(case.event.days, case.attempt.at)
    dates = ticket.days or [day.date.isoformat() for day in case.event.days]
    later = (day for day in case.event.days if today and day.date.isoformat() > today)
    return next((day for day in later if day.date.isoformat() in dates), None)


def judge_stateless(case: Case) -> Reason | None:
    """The reason against it from place, time, and ticket, whatever was scanned before."""
    ticket = case.ticket
    if ticket is None:
        return "ticket_not_found"
    if case.attempt.direction == "exit":
        return _wrong_event(case, ticket)
    return _first(_STATELESS_CHECKS, case, ticket)


def judge_ticket(case: Case, ticket: TicketFacts) -> Reason | None:
    """What is against it because of the ticket and its barcode, as they were at that moment, and of them alone."""
    if case.attempt.direction == "exit":
        return None
    return _revoked(case, ticket) or _not_valid(case, ticket)


def judge_history(case: Case, ticket: TicketFacts) -> Reason | None:
    """The reason against it from earlier scans, and from those alone."""
    if case.attempt.direction == "exit":
        return "not_inside" if _nobody_is_inside(case.history) else None
    return _first(_HISTORY_CHECKS, case, ticket)


def _first(checks: Sequence[_Check], case: Case, ticket: TicketFacts) -> Reason | None:
    for refuse in checks:
        if (reason := refuse(case, ticket)) is not None:
            return reason
    return None


def foremost(*reasons: Reason | None) -> Reason | None:
    """The reason that is asked first, of those against the scan; None where there is none."""
    against: list[Reason] = [reason for reason in reasons if reason is not None]
    return min(against, key=_REASONS.index, default=None)


def _leave(case: Case, ticket: TicketFacts) -> Verdict:
    """A person who is inside may leave, whatever has become of the ticket or of the gate."""
    if ticket.event_id != case.event.id:
        return Verdict(status="denied", reason="wrong_event")
    if _nobody_is_inside(case.history):
        return Verdict(status="denied", reason="not_inside")
    return Verdict(status="admitted")


def _nobody_is_inside(history: History) -> bool:
    return history.inside_day is None and not history.irregular


def day_of(days: Sequence[EventDay], at: datetime) -> str | None:
    """The date of the day for which somebody comes, as a text."""
    date = date_of(days, at)
    return date and date.isoformat()


def date_of(days: Sequence[EventDay], at: datetime) -> dt.date | None:
    """The day of the event for which somebody comes. Gates open before a day begins: a moment
    between two days belongs to the later one, a moment after the last day to that."""
    for day in days:
        if at < day.ends_at:
            return day.date
    return days[-1].date if days else None


def _wrong_event(case: Case, ticket: TicketFacts) -> Reason | None:
    return "wrong_event" if ticket.event_id != case.event.id else None


def _revoked(case: Case, ticket: TicketFacts) -> Reason | None:
    """A barcode of an earlier issue: somebody else has the ticket now, or it was lost."""
    issue = case.attempt.issue
    return "barcode_revoked" if issue is not None and issue != ticket.issue else None


def _not_valid(case: Case, ticket: TicketFacts) -> Reason | None:
    if ticket.status == "used":
        return "ticket_already_used"
    if ticket.status == "voided":
        return "ticket_voided"
    return "ticket_refunded" if ticket.status == "refunded" else None


def _scanned_just_now(case: Case, ticket: TicketFacts) -> Reason | None:
    since = _seconds_since(case)
    return "already_scanned" if since is not None and since < case.event.dedup_window_s else None


def _seconds_since(case: Case) -> int | None:
    """Whole ones. Measured between the moments of the two scans, whenever they became known."""
    last = case.history.last_scanned_at
    return None if last is None else int(abs((case.attempt.at - last).total_seconds()))


def _event_is_off(case: Case, ticket: TicketFacts) -> Reason | None:
    if case.event.status != "live":
        return "event_not_live"
    return "event_ended" if case.attempt.at > case.event.ends_at else None


def _gate_is_closed(case: Case, ticket: TicketFacts) -> Reason | None:
    return "gate_closed" if case.gate.status != "open" else None


def _wrong_gate(case: Case, ticket: TicketFacts) -> Reason | None:
    if ticket.gate_ids is not None and case.gate.id not in ticket.gate_ids:
        return "wrong_gate"
    zones = case.gate.allowed_zones
    return "wrong_gate" if zones is not None and ticket.zone_id not in zones else None


def _wrong_day(case: Case, ticket: TicketFacts) -> Reason | None:
    if not ticket.days:
        return None
    return (
        "not_valid_today" if day_of(case.event.days, case.attempt.at) not in ticket.days else None
    )


def _membership_ended(case: Case, ticket: TicketFacts) -> Reason | None:
    return "membership_not_active" if ticket.is_membership_active is False else None


def _may_not_come_again(case: Case, ticket: TicketFacts) -> Reason | None:
    if not case.history.entries or ticket.reentry == "allowed":
        return None
    if ticket.reentry == "never":
        return "reentry_not_allowed"
    # Who was not seen leaving last night has left all the same.
    today = day_of(case.event.days, case.attempt.at)
    return "exit_required" if case.history.inside_day == today else None


def _came_too_often(case: Case, ticket: TicketFacts) -> Reason | None:
    if ticket.entry_limit is not None and case.history.entries >= ticket.entry_limit:
        return "entry_limit_reached"
    today = day_of(case.event.days, case.attempt.at)
    entries_today = case.history.entries_by_day.get(today, 0) if today else case.history.entries
    most = ticket.max_daily_entries
    return "daily_limit_reached" if most is not None and entries_today >= most else None


def _gate_is_full(case: Case, ticket: TicketFacts) -> Reason | None:
    """A person who counts as inside by this gate adds nobody there by coming again."""
    if case.history.inside_gate_id == case.gate.id:
        return None
    most = case.gate.hard_capacity_limit
    return "gate_at_capacity" if most is not None and case.gate.inside >= most else None


_ENTRY: tuple[_Check, ...] = (
    _wrong_event,
    _revoked,
    _not_valid,
    _scanned_just_now,
    _event_is_off,
    _gate_is_closed,
    _wrong_gate,
    _wrong_day,
    _membership_ended,
    _may_not_come_again,
    _came_too_often,
    _gate_is_full,
)
"""The reasons of the ticket come before those of the place: a denied person should hear first what
will not change by waiting."""
_HISTORY_CHECKS = (_scanned_just_now, _may_not_come_again, _came_too_often)
_STATELESS_CHECKS = tuple(check for check in _ENTRY if check not in _HISTORY_CHECKS)
_REASONS_AFTER_ENTRIES = REASONS_OF_HISTORY - {"exit_required"}
"""After `exit_required` there is no exit to name: the person has not left."""
_REASONS: tuple[Reason, ...] = get_args(Reason)
