"""The outcomes that a device reports, from the rule's reasons."""

from voelgoed.scanning.model.decisions import Reason
from voelgoed.scanning.model.outcomes import Colour, Outcome

OUTCOMES: dict[Reason, Outcome] = {
    "ticket_not_found": "invalid",
    "wrong_event": "invalid",
    "barcode_revoked": "invalid",
    "ticket_already_used": "duplicate",
    "ticket_voided": "invalid",
    "ticket_refunded": "invalid",
    "already_scanned": "duplicate",
    "event_not_live": "expired",
    "event_ended": "expired",
    "gate_closed": "gate_access_denied",
    "wrong_gate": "gate_access_denied",
    "not_valid_today": "expired",
    "membership_not_active": "invalid",
    "reentry_not_allowed": "duplicate",
    "exit_required": "duplicate",
    "entry_limit_reached": "duplicate",
    "daily_limit_reached": "duplicate",
    "gate_at_capacity": "gate_access_denied",
    "not_inside": "invalid",
    "unverified": "invalid",
}
_REASONS: dict[Outcome, Reason] = {
    "duplicate": "already_scanned",
    "invalid": "ticket_not_found",
    "gate_access_denied": "wrong_gate",
    "expired": "event_ended",
}


def outcome_of(reason: Reason | None) -> Outcome:
    """The outcome that a device reports for a reason; None means that somebody was let through."""
    return "valid" if reason is None else OUTCOMES[reason]


def reason_of(outcome: Outcome) -> Reason:
    """The reason for a device that let nobody through although nothing known is against it."""
    return _REASONS[outcome]


def colour_of(outcome: Outcome) -> Colour:
    return "green" if outcome == "valid" else "red"
