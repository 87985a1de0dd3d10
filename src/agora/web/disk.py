"""Words about a disk that has no room."""

from __future__ import annotations

import errno

from agora.errors import in_words

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def is_full(error: BaseException | None) -> bool:
    """Return whether an error is that of a disk without room."""
    return isinstance(error, OSError) and error.errno in _FULL


def no_room(error: OSError, then: str) -> str:
    """Return what the system says of a file, and, where the disk is full, what to do ``then``."""
    if not is_full(error):
        return in_words(error)
    return f"the disk of the server is full ({error.strerror}); {then}"
