"""Passwords: their rules, and their hashes by argon2 (RFC 9106)."""

from __future__ import annotations

import asyncio
from functools import cached_property

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from starlette.concurrency import run_in_threadpool

from agora.errors import InputError

SHORTEST, LONGEST = 10, 200
"""Smallest and largest number of characters of a password; longer ones are refused unread, because hashing them could block the
server.
"""

HASHER = PasswordHasher()
"""Its cost parameters are those of RFC 9106 for little memory: 64 MiB, three passes, four lanes."""

_AT_ONCE = 2  # hashes computed at a time: each takes 64 MiB


def check_password(password: str, name: str) -> None:
    """Refuse a password that is easy to guess, or too long to be hashed.

    Raises:
        InputError: it is too short or too long, equals the name, or repeats few characters.
    """
    if not SHORTEST <= len(password) <= LONGEST:
        raise InputError(f"password: expected {SHORTEST} to {LONGEST} characters, got {len(password)}")
    if password.strip().casefold() == name.casefold():
        raise InputError("password: must differ from the name")
    if len(set(password)) < 5:
        raise InputError("password: expected at least five different characters")


class Passwords:
    """Hashes and checks passwords, few at a time, without blocking other requests. Use it in the server's loop."""

    def __init__(self) -> None:
        self._turns = asyncio.Semaphore(_AT_ONCE)

    @cached_property
    def _nobody(self) -> str:
        """The hash for names without a user; it is made with the first password that is checked."""
        return HASHER.hash("a password without a user")

    async def hash(self, password: str) -> str:
        """Return the hash of a password."""
        async with self._turns:
            return await run_in_threadpool(HASHER.hash, _bytes(password))

    def is_old(self, hashed: str) -> bool:
        """Return whether a hash was made with other cost parameters than the present ones."""
        return HASHER.check_needs_rehash(hashed)

    async def fits(self, password: str, hashed: str) -> bool:
        """Return whether a hash belongs to a password; with an empty hash, it takes equally long and returns False."""
        async with self._turns:
            nobody = await run_in_threadpool(lambda: self._nobody)
            return await run_in_threadpool(_fits, hashed or nobody, _bytes(password)) and hashed != ""


def _fits(hashed: str, password: bytes) -> bool:
    try:
        return HASHER.verify(hashed, password)
    except (VerificationError, InvalidHashError):
        return False


def _bytes(password: str) -> bytes:
    return password[:LONGEST].encode("utf-8", "surrogatepass")
