"""Cache files that end with a digest of their contents, so that a damaged file is treated as missing."""

from __future__ import annotations

import hashlib
import logging
from contextlib import suppress
from pathlib import Path

__all__ = ["seal", "unseal"]

_LOG = logging.getLogger(__name__)
_SIZE = 16


def seal(data: bytes) -> bytes:
    """Return the contents of a cache file that holds the data: the data, followed by a digest."""
    return data + _digest(data)


def unseal(path: Path) -> bytes | None:
    """Return the data in a file; None if the file is missing, cannot be read, or is damaged. Damage is logged.

    A damaged file is removed, so that it is logged only once.
    """
    try:
        whole = path.read_bytes()
    except OSError:
        return None
    data = whole[:-_SIZE]
    if _digest(data) == whole[-_SIZE:]:
        return data
    _LOG.warning("%s is damaged and will be created again", path)
    with suppress(OSError):
        path.unlink()
    return None


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_SIZE).digest()
