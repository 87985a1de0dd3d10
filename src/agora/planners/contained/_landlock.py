"""Restricts the files that a confined process may open, using Landlock (Linux), which also blocks signals and the network.

Each version of Landlock restricts more. The first (Linux 5.13) restricts files; later ones add truncation (3), TCP (4), commands to
devices (5), and signals and abstract Unix sockets (6, Linux 6.12). All restrictions that the kernel supports are used.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable
from contextlib import suppress

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_READ, _READ_FILE, _READ_AND_WRITE_FILE = 0b1101, 0b0101, 0b0111
"""Access rights: execute, read files and list folders; execute and read a single file; execute, read and write a single file."""
_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
"""Number of file rights, by the version of Landlock that introduced this number."""
_BIND_AND_CONNECT, _SIGNALS_AND_ABSTRACT_SOCKETS = 0b11, 0b11
_WITH_NETWORK, _WITH_SCOPES = 4, 6
"""First versions of Landlock that restrict the network and signals, respectively."""


def version() -> int:
    """Return the Landlock version of the kernel; 0 or less if the kernel does not support Landlock."""
    return int(ctypes.CDLL(None).syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(1)))


def restrict(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Permanently restrict this thread to the given files. The thread must already have disabled new privileges (``no_new_privs``).

    Args:
        readable: files and folders that the thread may read; nonexistent ones are left out.
        writable: files that the thread may also write.

    Raises:
        OSError: the kernel does not support Landlock.
    """
    known = version()
    files = (1 << max(count for since, count in _RIGHTS.items() if since <= max(known, 1))) - 1
    network = _BIND_AND_CONNECT if known >= _WITH_NETWORK else 0
    scopes = _SIGNALS_AND_ABSTRACT_SOCKETS if known >= _WITH_SCOPES else 0
    size = 8 * (1 + (known >= _WITH_NETWORK) + (known >= _WITH_SCOPES))
    system = ctypes.CDLL(None, use_errno=True)
    rules = system.syscall(_CREATE, struct.pack("QQQ", files, network, scopes), ctypes.c_size_t(size), ctypes.c_uint(0))
    for path in readable:
        _allow(system, rules, path, _READ, _READ_FILE)
    for path in writable:
        _allow(system, rules, path, 0, _READ_AND_WRITE_FILE)
    if rules < 0 or system.syscall(_RESTRICT, rules, ctypes.c_uint(0)):
        raise OSError(ctypes.get_errno(), "the files of the process cannot be restricted")
    os.close(rules)


def _allow(system: ctypes.CDLL, rules: int, path: str, of_folder: int, of_file: int) -> None:
    """Allow access rights below a path, if the path exists."""
    with suppress(OSError):
        handle = os.open(path, os.O_PATH)
        try:
            rights = of_folder if os.path.isdir(path) else of_file
            system.syscall(_ADD, rules, ctypes.c_int(1), struct.pack("=Qi", rights, handle), ctypes.c_uint(0))
        finally:
            os.close(handle)
