"""Cache files with a digest of their contents at the end: a damaged file counts as missing."""

from __future__ import annotations

import hashlib
import logging
from contextlib import suppress
from pathlib import Path

__all__ = ["seal", "unseal"]

_LOG = logging.getLogger(__name__)
_SIZE = 16


def seal(data: bytes) -> bytes:
    """Return the contents of a file that holds some data."""
    return data + _digest(data)


def unseal(path: Path) -> bytes | None:
    """Return the data that a file holds; None if it is missing, cannot be read, or is damaged, which is logged.

    A damaged file is removed, so that it is logged once.
    """
    try:
        whole = path.read_bytes()
    except OSError:
        return None
    data = whole[:-_SIZE]
    if _digest(data) == whole[-_SIZE:]:
        return data
    _LOG.warning("%s is damaged and is created again", path)
    with suppress(OSError):
        path.unlink()
    return None


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_SIZE).digest()
