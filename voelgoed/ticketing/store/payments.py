from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction, json_text
from voelgoed.ticketing.model.orders import Payment, PaymentAccount


async def insert_payments(tx: Transaction, payments: Sequence[Payment]) -> None:
    if not payments:
        return
    await tx.run(
        """
        INSERT INTO payment (organization_id, id, order_id, provider, method, status, amount_minor,
                             currency, reference, actor_id, note, created_at, updated_at)
        SELECT current_organization(), id, order_id, provider, method, status, amount_minor, currency,
               reference, actor_id, note, $2, $2
          FROM json_to_recordset($1::json)
            AS new (id uuid, order_id uuid, provider text, method text, status text,
                    amount_minor bigint, currency text, reference text, actor_id uuid, note text)
        """,
        json_text(payments),
        tx.now,
    )


async def find_payment(tx: Transaction, payment_id: UUID) -> Payment | None:
    return await tx.row(
        Payment,
        """
        SELECT id, order_id, provider, method, status, amount_minor, refunded_minor,
               refund_due_minor, currency, reference, actor_id, note, created_at, updated_at
          FROM payment WHERE id = $1
        """,
        payment_id,
    )


async def list_payments(tx: Transaction, order_id: UUID) -> list[Payment]:
    return await tx.rows(
        Payment,
        """
        SELECT id, order_id, provider, method, status, amount_minor, refunded_minor,
               refund_due_minor, currency, reference, actor_id, note, created_at, updated_at
          FROM payment WHERE order_id = $1 ORDER BY id
        """,
        order_id,
    )


async def update_payment(tx: Transaction, payment: Payment) -> None:
    """Of an order that is locked."""
    await tx.run(
        """
        UPDATE payment SET status = $2, amount_minor = $3, currency = $4, refunded_minor = $5,
               refund_due_minor = $6, reference = $7, note = $8, updated_at = $9
         WHERE id = $1
        """,
        payment.id,
        payment.status,
        payment.amount_minor,
        payment.currency,
        payment.refunded_minor,
        payment.refund_due_minor,
        payment.reference,
        payment.note,
        tx.now,
    )


class Delivery(msgspec.Struct, frozen=True):
    body_hash: bytes
    outcome: str


async def find_delivery(tx: Transaction, provider: str, delivery_id: str) -> Delivery | None:
    return await tx.row(
        Delivery,
        """
        SELECT body_hash, outcome FROM payment_delivery WHERE provider = $1 AND delivery_id = $2
        """,
        provider,
        delivery_id,
    )


async def insert_delivery(
    tx: Transaction,
    provider: str,
    delivery_id: str,
    payment_id: UUID,
    body_hash: bytes,
    outcome: str,
) -> int:
    """0 when it is being dealt with by somebody else, or was."""
    return await tx.run(
        """
        INSERT INTO payment_delivery (organization_id, provider, delivery_id, payment_id, body_hash,
                                      outcome, at)
        VALUES (current_organization(), $1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING
        """,
        provider,
        delivery_id,
        payment_id,
        body_hash,
        outcome,
        tx.now,
    )


class SealedAccount(msgspec.Struct, frozen=True, kw_only=True):
    provider: str
    page_url: str
    sealed_secret: bytes
    version: int
    created_at: datetime
    updated_at: datetime

    def opened(self) -> PaymentAccount:
        return PaymentAccount(
            provider=self.provider,
            page_url=self.page_url,
            version=self.version,
            created_at=self.created_at,
            updated_at=self.updated_at,
        )


async def find_account(tx: Transaction, provider: str) -> SealedAccount | None:
    return await tx.row(
        SealedAccount,
        """
        SELECT provider, page_url, sealed_secret, version, created_at, updated_at
          FROM payment_account WHERE provider = $1
        """,
        provider,
    )


async def put_account(
    tx: Transaction, provider: str, page_url: str, sealed_secret: bytes
) -> SealedAccount:
    found = await tx.row(
        SealedAccount,
        """
        INSERT INTO payment_account AS account (organization_id, provider, page_url, sealed_secret,
                                                version, created_at, updated_at)
        VALUES (current_organization(), $1, $2, $3, 1, $4, $4)
        ON CONFLICT (organization_id, provider) DO UPDATE SET
            page_url = EXCLUDED.page_url, sealed_secret = EXCLUDED.sealed_secret,
            version = account.version + 1, updated_at = EXCLUDED.updated_at
        RETURNING provider, page_url, sealed_secret, version, created_at, updated_at
        """,
        provider,
        page_url,
        sealed_secret,
        tx.now,
    )
    assert found is not None
    return found
