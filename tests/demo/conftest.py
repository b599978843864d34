from collections.abc import Iterator

import pytest

from tests.processes import quick_passwords


@pytest.fixture(autouse=True)
def passwords_are_quick() -> Iterator[None]:
    with quick_passwords():
        yield
