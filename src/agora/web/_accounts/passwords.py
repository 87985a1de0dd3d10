"""Password rules, and password hashing with argon2 (RFC 9106)."""

from __future__ import annotations

import asyncio
from functools import cached_property

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from starlette.concurrency import run_in_threadpool

from agora.errors import InputError

SHORTEST, LONGEST = 10, 200
"""Minimum and maximum number of characters in a password; longer passwords are rejected without hashing, which could block the
server.
"""

HASHER = PasswordHasher()
"""Hasher with the cost parameters that RFC 9106 recommends for limited memory: 64 MiB, three passes, four lanes."""

_AT_ONCE = 2  # maximum number of hashes computed at the same time, each of which takes 64 MiB


def check_password(password: str, name: str) -> None:
    """Reject a password that is easy to guess, or too long to be hashed.

    Raises:
        InputError: the password is too short or too long, equals the name, or has too few distinct characters.
    """
    if not SHORTEST <= len(password) <= LONGEST:
        raise InputError(f"password: expected {SHORTEST} to {LONGEST} characters, got {len(password)}")
    if password.strip().casefold() == name.casefold():
        raise InputError("password: must differ from the name")
    if len(set(password)) < 5:
        raise InputError("password: expected at least five different characters")


class Passwords:
    """Hashes and checks passwords, a few at a time, without blocking other requests. Use it in the server's event loop."""

    def __init__(self) -> None:
        self._turns = asyncio.Semaphore(_AT_ONCE)

    @cached_property
    def _nobody(self) -> str:
        """The hash against which passwords for unknown user names are checked; it is computed on first use."""
        return HASHER.hash("a password without a user")

    async def hash(self, password: str) -> str:
        """Return the hash of a password."""
        async with self._turns:
            return await run_in_threadpool(HASHER.hash, _bytes(password))

    def is_old(self, hashed: str) -> bool:
        """Return whether a hash was computed with cost parameters that differ from the current ones."""
        return HASHER.check_needs_rehash(hashed)

    async def fits(self, password: str, hashed: str) -> bool:
        """Return whether a hash belongs to a password; for an empty hash, return False after the same amount of time."""
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
