"""Messages for a full disk and for a database that does not respond."""

from __future__ import annotations

import errno
import sqlite3

from sqlalchemy.exc import SQLAlchemyError

from agora.errors import in_words

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_POSTGRES_FULL = "53100"


def is_full(error: BaseException | None) -> bool:
    """Return whether an error means that the disk is full."""
    return isinstance(error, OSError) and error.errno in _FULL


def disk_message(error: OSError, then: str) -> str:
    """Return the system's message about a file and, if the disk is full, the remedy ``then``."""
    if not is_full(error):
        return in_words(error)
    return f"the disk of the server is full ({error.strerror}); {then}"


def database_message(error: SQLAlchemyError) -> str:
    """Return the reason why a database failed and, if its disk is full, the remedy."""
    reason = getattr(error, "orig", None) or error
    if getattr(reason, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL or getattr(reason, "sqlstate", None) == _POSTGRES_FULL:
        return f"the disk of the database is full ({reason}); nothing was saved: free some space and try again"
    return f"the database does not answer ({reason}); nothing was saved: try again later"
