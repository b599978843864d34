import pytest

from voelgoed.infra import database

PATIENCE_S = 30.0


@pytest.fixture(autouse=True)
def patient_for_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dozens want one at the same moment; on a busy machine the last of them waits longer than a
    customer would. A race is about who wins, not about how long it takes."""
    monkeypatch.setattr(database, "ACQUIRE_TIMEOUT_S", PATIENCE_S)
