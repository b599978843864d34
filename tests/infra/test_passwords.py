"""Passwords are hashed off the event loop, whichever loop it is."""

import asyncio

import pytest
from argon2 import extract_parameters, profiles

from tests.conftest import REAL_PASSWORD_HASHER
from voelgoed.infra import passwords
from voelgoed.infra.passwords import NOBODY, hash_password, verify_password

AT_ONCE = 12
"""More than any machine of ours has cores, so that some wait."""


async def test_a_hash_is_as_slow_as_is_recommended_also_of_nobodys_password(
    monkeypatch: pytest.MonkeyPatch,
):
    """All other tests hash quickly."""
    monkeypatch.setattr(passwords, "HASHER", REAL_PASSWORD_HASHER)
    for each in (NOBODY, await hash_password("a password")):
        assert extract_parameters(each) == profiles.RFC_9106_LOW_MEMORY


async def hash_many() -> list[str]:
    return await asyncio.gather(*(hash_password(f"password {n}") for n in range(AT_ONCE)))


def test_one_loop_after_another_has_as_many_hashed_as_it_likes():
    """`voelgoed up` makes its demo in one loop and serves in the next."""
    asyncio.run(hash_many())
    hashes = asyncio.run(hash_many())
    assert len(set(hashes)) == AT_ONCE
    assert asyncio.run(verify_password(hashes[3], "password 3"))
    assert not asyncio.run(verify_password(hashes[3], "password 4"))
    assert not asyncio.run(verify_password(None, "password 3"))
