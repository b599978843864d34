from uuid import UUID

import pytest

from voelgoed.infra.keys import key

ORGANIZATION = UUID("01a1e103-7dfe-725d-8bf3-a07322fb1c93")


def test_a_key_begins_with_its_organisation():
    made = key(ORGANIZATION, "event", UUID(int=1), "occupancy")
    assert made == f"voelgoed:org:{ORGANIZATION}:event:{UUID(int=1)}:occupancy"


def test_no_key_without_an_organisation():
    with pytest.raises(TypeError):
        key()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        key("event", "1")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="more than the organisation"):
        key(ORGANIZATION)
