"""Argon2id, off the event loop and never more at once than the machine has cores."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

_hasher = PasswordHasher()
_threads = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="password")
_NOBODY = (  # made once, because making it takes a fifth of a second of every start
    "$argon2id$v=19$m=65536,t=3,p=4"
    "$XdHOL+huOMNoJpRuUAzCYg$CLazQUm0IAuTzVcJn9NukXaxpQiFN2mWhoyELQLp/sQ"
)


async def hash_password(password: str) -> str:
    return await asyncio.get_running_loop().run_in_executor(_threads, _hasher.hash, password)


async def verify_password(stored_hash: str | None, password: str) -> bool:
    """None takes as long as a wrong password: whether an account exists must not show."""
    loop = asyncio.get_running_loop()
    right = await loop.run_in_executor(_threads, _verify, stored_hash or _NOBODY, password)
    return right and stored_hash is not None


def _verify(stored_hash: str, password: str) -> bool:
    try:
        return _hasher.verify(stored_hash, password)
    except (Argon2Error, InvalidHashError):
        return False
