from voelgoed.accounts.model import Organization
from voelgoed.infra.database import Transaction


async def insert_organization(tx: Transaction, slug: str, name: str) -> None:
    await tx.run(
        """
        INSERT INTO organization (id, slug, name, created_at)
        VALUES (current_organization(), $1, $2, $3)
        """,
        slug,
        name,
        tx.now,
    )


async def read_organization(tx: Transaction) -> Organization | None:
    return await tx.row(Organization, "SELECT id, slug, name FROM organization")


async def rename_organization(tx: Transaction, name: str) -> None:
    await tx.run("UPDATE organization SET name = $1", name)
