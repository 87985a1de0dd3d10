"""Named files that are edited in the web interface. Each file is written atomically, and only if the change is based on the file's
latest version.
"""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agora.errors import InputError, UnknownNameError
from agora.files import write_whole
from agora.web._file_names import check_name


class ConflictError(InputError):
    """Raised if a file or a world has been changed in the meantime, or its name is taken.

    Attributes:
        present: current state in the format used by the front end (for a world, only its version); empty if there is none.
    """

    def __init__(self, message: str, present: dict[str, Any]) -> None:
        super().__init__(message)
        self.present = present


class Store:
    """The files of one kind in a folder.

    Args:
        folder: folder of the files; created when the first file is stored.
        what: word for a single file, used in messages.
        suffix: suffix of the file names.
        shown: function that returns the file with a given name in the format used by the front end.
    """

    def __init__(self, folder: Path, what: str, suffix: str, shown: Callable[[str], dict[str, Any]]) -> None:
        self._folder, self._what, self._suffix, self._shown = folder, what, suffix, shown
        self.others: Sequence[Store] = ()
        """Stores of other kinds, whose names are not available for new files."""

    def files(self) -> dict[str, Path]:
        """Return the files, keyed and sorted by name."""
        return {file.stem: file for file in sorted(self._folder.glob(f"[!.]*{self._suffix}"))}

    def place(self, name: str) -> Path:
        """Return the path of the file with a given name; the file need not exist."""
        return self._folder / f"{name}{self._suffix}"

    def path(self, name: str) -> Path:
        """Return the path of an existing file.

        Raises:
            UnknownNameError: there is no file with this name.
        """
        known = self.files()
        if name not in known:
            raise UnknownNameError(self._what, name, known)
        return known[name]

    def put(self, name: str, data: bytes, version: str) -> None:
        """Write a file.

        Args:
            name: name of the file.
            data: content of the file.
            version: version on which the change is based; empty for a new file.

        Raises:
            InputError: the name is invalid; nothing is written.
            ConflictError: the file has been changed in the meantime, or its name is taken; nothing is written.
        """
        check_name(self._what, name)
        path = self.place(name)
        with self._alone():
            there = version_of(path.read_bytes()) if path.is_file() else ""
            if there != version:
                words = "no longer exists" if not there else "was changed elsewhere" if version else "already exists"
                raise ConflictError(f"{name}: this {self._what} {words}; nothing was saved", self._shown(name) if there else {})
            for other in self.others:
                if not version and name in other.files():
                    raise ConflictError(f"{name}: a {other._what} of this name already exists; nothing was saved", {})
            self._folder.mkdir(parents=True, exist_ok=True)
            write_whole(path, data)

    def remove(self, name: str) -> None:
        """Remove a file.

        Raises:
            UnknownNameError: there is no file with this name.
        """
        with self._alone():
            self.path(name).unlink()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Lock out all other writers of files of any kind, in this and other processes."""
        self._folder.parent.mkdir(parents=True, exist_ok=True)
        with (self._folder.parent / ".editing").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def version_of(data: bytes) -> str:
    """Return the version of a file's content."""
    return hashlib.sha256(data).hexdigest()[:16]
