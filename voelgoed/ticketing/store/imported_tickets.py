"""Which tickets that were sold elsewhere there are already."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from voelgoed.infra.database import Transaction
from voelgoed.ticketing.model.imports import Identity, KnownTicket


async def find_by_codes(tx: Transaction, codes: Sequence[str]) -> list[KnownTicket]:
    """Of any event: a code is one ticket of the organisation."""
    return await tx.rows(
        KnownTicket,
        """
        SELECT code, issue, order_id, ticket_type_id, zone_id, seat_id, days, holder_name,
               holder_email, external_reference, price_minor
          FROM ticket WHERE code = ANY($1::text[])
        """,
        codes,
    )


async def find_by_seats(
    tx: Transaction, event_id: UUID, seat_ids: Sequence[UUID]
) -> list[KnownTicket]:
    """Those that are valid."""
    return await tx.rows(
        KnownTicket,
        """
        SELECT code, issue, order_id, ticket_type_id, zone_id, seat_id, days, holder_name,
               holder_email, external_reference, price_minor
          FROM ticket
         WHERE event_id = $1 AND seat_id = ANY($2::uuid[])
           AND status IN ('active', 'scanned', 'used')
        """,
        event_id,
        seat_ids,
    )


async def find_identities(
    tx: Transaction, event_id: UUID, identities: Sequence[Identity]
) -> set[Identity]:
    """Those of them that were imported before."""
    found = await tx.rows(
        Identity,
        """
        SELECT reference, content_hash, number
          FROM unnest($2::text[], $3::bytea[], $4::integer[]) AS wanted (reference, content_hash, number)
         WHERE EXISTS (SELECT 1 FROM ticket_import_identity AS known
                        WHERE known.event_id = $1 AND known.reference = wanted.reference
                          AND known.content_hash = wanted.content_hash
                          AND known.number = wanted.number)
        """,
        event_id,
        [each.reference for each in identities],
        [each.content_hash for each in identities],
        [each.number for each in identities],
    )
    return set(found)


async def count_identities(
    tx: Transaction, event_id: UUID, references: Sequence[str]
) -> dict[str, int]:
    found = await tx.rows(
        _counted,
        """
        SELECT reference, count(*) AS imported FROM ticket_import_identity
         WHERE event_id = $1 AND reference = ANY($2::text[]) GROUP BY reference
        """,
        event_id,
        references,
    )
    return dict(found)


async def insert_identities(
    tx: Transaction, event_id: UUID, tickets: Mapping[Identity, UUID]
) -> None:
    await tx.run(
        """
        INSERT INTO ticket_import_identity (organization_id, event_id, reference, content_hash,
                                            number, ticket_id)
        SELECT current_organization(), $1, reference, content_hash, number, ticket_id
          FROM unnest($2::text[], $3::bytea[], $4::integer[], $5::uuid[])
            AS new (reference, content_hash, number, ticket_id)
        """,
        event_id,
        [each.reference for each in tickets],
        [each.content_hash for each in tickets],
        [each.number for each in tickets],
        list(tickets.values()),
    )


def _counted(reference: str, imported: int) -> tuple[str, int]:
    return reference, imported
