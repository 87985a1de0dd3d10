"""Words about a disk that has no room, and a database that does not answer."""

from __future__ import annotations

import errno
import sqlite3

from sqlalchemy.exc import SQLAlchemyError

from agora.errors import in_words

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_POSTGRES_FULL = "53100"


def is_full(error: BaseException | None) -> bool:
    """Return whether an error is that of a disk without room."""
    return isinstance(error, OSError) and error.errno in _FULL


def disk_message(error: OSError, then: str) -> str:
    """Return what the system says of a file, and, where the disk is full, what to do ``then``."""
    if not is_full(error):
        return in_words(error)
    return f"the disk of the server is full ({error.strerror}); {then}"


def database_message(error: SQLAlchemyError) -> str:
    """Return the reason why a database did not take or give something; where its disk is full, also the remedy."""
    reason = getattr(error, "orig", None) or error
    if getattr(reason, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL or getattr(reason, "sqlstate", None) == _POSTGRES_FULL:
        return f"the disk of the database is full ({reason}); nothing was saved: make room, and try again"
    return f"the database does not answer ({reason}); nothing was saved: try again later"
