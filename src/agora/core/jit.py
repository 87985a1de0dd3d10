"""How kernels are compiled: one place, one set of options.

No ``fastmath=True``: reassociation would change results with padding and CPU. ``contract`` allows fused multiply-add only.
Threads do not enter here: a kernel takes the range of worlds ``first <= w < last``, releases the GIL, and the engine runs
ranges on threads (`docs/decisions/2026-11-20-threads.md`), so that no result depends on their number.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

_SOURCE = Path(__file__).resolve().parents[1]


def _source_stamp() -> str:
    """Digest of the library's files: Numba's own key does not see that a called kernel in another file has changed."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(_SOURCE.rglob("*.py")):
        stat = path.stat()
        digest.update(f"{path.relative_to(_SOURCE)}:{stat.st_size}:{stat.st_mtime_ns};".encode())
    return digest.hexdigest()


def _cache_root() -> Path:
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agora"


import numba  # noqa: E402

numba.config.CACHE_DIR = str(_cache_root() / _source_stamp())

OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}, "nogil": True}

kernel: Callable[..., Any] = numba.njit(**OPTIONS)
"""Compiles a function that loops over worlds ``first <= w < last``."""

device: Callable[..., Any] = numba.njit(**OPTIONS)
"""Compiles a function that kernels call: scalars, or the arrays of one world."""


def bind(function: Any, *arguments: Any) -> Callable[..., Any]:
    """Return ``function`` with its leading arguments fixed, without Numba's type dispatch (a third of the call's cost).

    Args:
        function: a kernel whose remaining arguments are the integers ``first`` and ``last``.
        *arguments: arrays, or tuples of them; they must stay the same objects for as long as the result is used.

    Returns:
        A callable of ``(first, last)``.
    """
    signature = tuple(numba.typeof(a) for a in arguments) + (numba.int64, numba.int64)
    function.compile(signature)
    return functools.partial(function.overloads[signature].entry_point, *arguments)
