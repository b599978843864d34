from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction
from voelgoed.scanning.model.manifests import GateInside, StoredManifest, Versions


async def lock_manifest(tx: Transaction, event_id: UUID) -> None:
    """One builds, on whatever node; the others then find it built."""
    await tx.run(
        "SELECT pg_advisory_xact_lock(hashtextextended('manifest:' || $1::uuid, 0))", event_id
    )


async def find_manifest(tx: Transaction, event_id: UUID) -> StoredManifest | None:
    return await tx.row(
        _manifest,
        """
        SELECT event_id, version, generated_at, event_name, expires_at, occupancy, settings,
               settings_version, base_version, tickets, content_hash, document_bytes, code_key_hash,
               fingerprint, seen_xid, checked_at, octet_length(document) AS stored_bytes
          FROM manifest WHERE event_id = $1
        """,
        event_id,
    )


class Version(msgspec.Struct, frozen=True):
    event_id: UUID
    version: int


async def find_versions(tx: Transaction, event_ids: Sequence[UUID]) -> list[Version]:
    """The present version of each event's manifest, for events that have one."""
    return await tx.rows(
        Version,
        "SELECT event_id, version FROM manifest WHERE event_id = ANY($1::uuid[])",
        event_ids,
    )


async def find_document(tx: Transaction, event_id: UUID, version: int) -> bytes | None:
    """The document without its last brace, as a zstd stream that is not ended; None where there is
    a newer one."""
    return await tx.value(
        bytes,
        "SELECT document FROM manifest WHERE event_id = $1 AND version = $2",
        event_id,
        version,
    )


async def write_entries(
    tx: Transaction, event_id: UUID, entries: Sequence[str], version: int
) -> None:
    """Writes the entries that changed with this version."""
    await tx.run(
        """
        INSERT INTO manifest_entry (organization_id, event_id, ticket_id, entry, version)
        SELECT current_organization(), $1, substr(entry, 15, 36)::uuid, entry, $3
          FROM unnest($2::text[]) AS entry
        ON CONFLICT (organization_id, event_id, ticket_id) DO UPDATE
           SET entry = EXCLUDED.entry, version = EXCLUDED.version
        """,
        event_id,
        entries,
        version,
    )


async def list_entries_since(
    tx: Transaction, event_id: UUID, version: int, since: int
) -> str | None:
    """The entries that changed after `since`; None where there is a newer version already."""
    return await tx.value(
        str,
        """
        SELECT (SELECT coalesce(string_agg(entry, ',' ORDER BY ticket_id), '')
                  FROM manifest_entry WHERE event_id = $1 AND version > $3)
          FROM manifest WHERE event_id = $1 AND version = $2
        """,
        event_id,
        version,
        since,
    )


async def write_manifest(tx: Transaction, manifest: StoredManifest, document: bytes) -> None:
    await tx.run(
        """
        INSERT INTO manifest (organization_id, event_id, version, generated_at, event_name, expires_at,
                              occupancy, settings, settings_version, base_version, tickets,
                              content_hash, document, document_bytes, code_key_hash, fingerprint,
                              seen_xid, checked_at)
        VALUES (current_organization(), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
                $15, $16, $17)
        ON CONFLICT (organization_id, event_id) DO UPDATE SET
            version = $2, generated_at = $3, event_name = $4, expires_at = $5, occupancy = $6,
            settings = $7, settings_version = $8, base_version = $9, tickets = $10, content_hash = $11,
            document = $12, document_bytes = $13, code_key_hash = $14, fingerprint = $15,
            seen_xid = $16, checked_at = $17
        """,
        manifest.event_id,
        manifest.version,
        manifest.generated_at,
        manifest.event_name,
        manifest.expires_at,
        manifest.occupancy,
        manifest.settings,
        manifest.settings_version,
        manifest.base_version,
        manifest.tickets,
        manifest.content_hash,
        document,
        manifest.document_bytes,
        manifest.code_key_hash,
        manifest.fingerprint,
        manifest.seen_xid,
        manifest.checked_at,
    )


async def note_checked(
    tx: Transaction, event_id: UUID, fingerprint: str, seen_xid: int, at: datetime
) -> None:
    """Records that nothing has changed."""
    await tx.run(
        """
        UPDATE manifest SET fingerprint = $2, seen_xid = $3, checked_at = $4 WHERE event_id = $1
        """,
        event_id,
        fingerprint,
        seen_xid,
        at,
    )


async def count_versions(tx: Transaction, event_id: UUID) -> list[Versions]:
    """The number of devices at an event's gates with each version, as they last reported."""
    return await tx.rows(
        Versions,
        """
        SELECT device.manifest_version AS version, count(*) AS devices
          FROM scan_device AS device
          JOIN gate ON gate.organization_id = device.organization_id AND gate.id = gate_id
         WHERE gate.event_id = $1 AND deleted_at IS NULL
         GROUP BY device.manifest_version ORDER BY device.manifest_version DESC NULLS LAST
        """,
        event_id,
    )


def _manifest(occupancy: list[dict[str, object]], **columns: object) -> StoredManifest:
    inside = msgspec.convert(occupancy, list[GateInside])
    return StoredManifest(occupancy=inside, **columns)  # pyright: ignore[reportArgumentType]
