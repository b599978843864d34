"""Somebody beside every test, who must not notice it."""

from tests.everything import Rows


class Bystander:
    """An organisation that no test knows of. Whatever changes its rows has gone too far: a statement
    without row-level security, or work on all tenants in a test that should be `own_database`."""

    def __init__(self, rows: Rows, before: dict[str, str]) -> None:
        self.rows = rows
        self.before = before

    async def require_untouched(self) -> None:
        now = await self.rows.read()
        changed = [table for table, lines in self.before.items() if now[table] != lines]
        self.before = now  # the next test is not to blame
        assert changed == [], f"this test changed {', '.join(changed)} of another organisation"
