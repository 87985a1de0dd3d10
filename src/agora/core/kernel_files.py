"""The files of a compiled function: Numba's index and machine code. A digest is stored with each file, because Numba does not check
the files.

Without this check, damaged machine code would be executed and could crash the process or change a result.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

from numba.core.caching import IndexDataCacheFile

from agora.core.sealed import seal, unseal

__all__ = ["verify_files"]


class _VerifiedFiles(IndexDataCacheFile):  # type: ignore[misc]
    """Index and machine code in Numba's format. Damaged files are not loaded; the function is compiled again instead."""

    def _load_index(self) -> dict[Any, str]:
        data = unseal(Path(self._index_path))
        if data is None:
            return {}
        version, stamp, names = pickle.loads(data)
        return names if (version, stamp) == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        with self._open_for_write(self._index_path) as file:
            file.write(seal(self._dump((self._version, self._source_stamp, overloads))))

    def _load_data(self, name: str) -> Any:
        data = unseal(Path(self._data_path(name)))
        if data is None:
            raise FileNotFoundError(name)  # this makes Numba compile
        return pickle.loads(data)

    def _save_data(self, name: str, data: Any) -> None:
        with self._open_for_write(self._data_path(name)) as file:
            file.write(seal(self._dump(data)))


def verify_files(dispatcher: Any) -> Any:
    """Make a function's Numba dispatcher use verified files; with ``NUMBA_DISABLE_JIT=1``, the plain function is left unchanged."""
    cache: Any = getattr(dispatcher, "_cache", None)
    if hasattr(cache, "_cache_file"):
        files = _VerifiedFiles.__new__(_VerifiedFiles)
        files.__dict__.update(cache._cache_file.__dict__)
        cache._cache_file = files
    return dispatcher
