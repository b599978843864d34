"""Whom a device let in with a ticket that was void, or not for there: somebody hears of each of them."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.scanning.model.alerts import AlertKind, SubjectType, Suspicion
from voelgoed.scanning.model.decisions import Reason
from voelgoed.scanning.rules.alerts import merge_suspicions
from voelgoed.scanning.rules.fraud import SEVERITY

TICKETS_ALERTED_MAX = 100
"""Tickets of one delivery that have an alert each; of more there is one list."""


class InvalidAdmission(msgspec.Struct, frozen=True, kw_only=True):
    """One person who was let in so."""

    event_id: UUID
    ticket_id: UUID
    scan_id: UUID
    gate_name: str
    reason: Reason


class WhoseDelivery(msgspec.Struct, frozen=True, kw_only=True):
    """The delivery with which that became known."""

    device_id: UUID
    device_name: str
    batch_id: UUID


def invalid_admissions(
    found: Sequence[InvalidAdmission], delivery: WhoseDelivery, at: datetime
) -> list[Suspicion]:
    """One for each person. Of very many tickets in one delivery there is one about the delivery instead, which
    counts and lists everybody: another delivery has another list."""
    if len({each.ticket_id for each in found}) <= TICKETS_ALERTED_MAX:
        return each_by_ticket(found, at)
    by_batch = [_suspicion(each, "batch", delivery.batch_id, at) for each in found]
    more = {
        "device_id": delivery.device_id,
        "device_name": delivery.device_name,
        "batch_id": delivery.batch_id,
    }
    return [
        msgspec.structs.replace(each, details={**more, **each.details})
        for each in merge_suspicions(by_batch)
    ]


def each_by_ticket(found: Sequence[InvalidAdmission], at: datetime) -> list[Suspicion]:
    return [_suspicion(each, "ticket", each.ticket_id, at) for each in found]


def _suspicion(
    admission: InvalidAdmission, subject_type: SubjectType, subject_id: UUID, at: datetime
) -> Suspicion:
    kind: AlertKind = "invalid_admission"
    return Suspicion(
        event_id=admission.event_id,
        kind=kind,
        severity=SEVERITY[kind],
        subject_type=subject_type,
        subject_id=subject_id,
        at=at,
        details={
            "ticket_id": admission.ticket_id,
            "scan_id": admission.scan_id,
            "gate_name": admission.gate_name,
            "reason": admission.reason,
        },
    )
