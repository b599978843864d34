"""Passwords are hashed off the event loop, whichever loop it is."""

import asyncio
import os

from voelgoed.infra import passwords as module
from voelgoed.infra.passwords import hash_password, verify_password

AT_ONCE = (os.cpu_count() or 1) + 2
"""More than are hashed at the same time, so that some wait."""


async def hash_many() -> list[str]:
    return await asyncio.gather(*(hash_password(f"password {n}") for n in range(AT_ONCE)))


def test_one_loop_after_another_has_as_many_hashed_as_it_likes():
    """`voelgoed up` makes its demo in one loop and serves in the next."""
    asyncio.run(hash_many())
    hashes = asyncio.run(hash_many())
    assert len(set(hashes)) == AT_ONCE
    assert asyncio.run(verify_password(hashes[2], "password 2"))
    assert not asyncio.run(verify_password(hashes[2], "password 3"))
    assert not asyncio.run(verify_password(None, "password 3"))


def test_to_compare_with_nobodys_password_takes_as_long_as_with_anybodys():
    """Its hash was made with the parameters that a new one is made with."""
    assert not module._hasher.check_needs_rehash(module._NOBODY)
