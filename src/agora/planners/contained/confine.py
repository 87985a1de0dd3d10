"""The confinement of a process that runs a stranger's code (Linux): memory and time by resource limits, files by Landlock, the
rest by a filter of system calls (`agora.planners.contained.calls`).

A confined process reads Python, its packages and what comes with Agora. It writes no file, starts no process and no thread, opens
no connection and signals nobody. The names and sizes of files whose place it guesses are not hidden from it.
"""

from __future__ import annotations

import ctypes
import os
import resource
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from agora.planners.contained.calls import has_table, refuse_calls
from agora.share import folder

SECONDS = 4 * 3600
"""Most time of a processor, s."""
MOST_SAID = 1 << 20
"""Most bytes that it writes to the files it is given, those of its output."""

_LIMITS = {
    resource.RLIMIT_CPU: SECONDS,
    resource.RLIMIT_FSIZE: MOST_SAID,
    resource.RLIMIT_NOFILE: 128,
    resource.RLIMIT_CORE: 0,
}
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_EVERYTHING = (1 << 13) - 1
"""All rights to files that the first version of Landlock knows; the filter refuses what later ones added."""
_READ, _READ_FILE, _ALL_OF_FILE = 0b1101, 0b0101, 0b0111
"""Rights of Landlock: execute, read files and list folders; the same of a file; and to write it."""
_NO_NEW_PRIVILEGES, _DEATH_SIGNAL, _DROP, _KILL = 38, 1, 24, 9
_CAPABILITIES = 0x20080522
"""The version of the kernel's record of capabilities."""
_READABLE = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/localtime", "/proc/self", "/proc/cpuinfo", "/proc/meminfo")


def lack() -> str:
    """Return what this system lacks to confine a process, in words; empty where nothing."""
    if sys.platform != "linux":
        return "code of users runs on Linux alone, which can confine it"
    if not has_table():
        return "code of users runs on x86_64 and aarch64 alone, whose system calls Agora knows"
    if _system().syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(1)) < 1:
        return "this kernel has no Landlock, which confines the code of users (Linux 5.13 or later, not switched off)"
    return ""


def die_with_parent() -> None:
    """Have the system end this process when the one that started it ends."""
    if sys.platform == "linux":
        _system().prctl(_DEATH_SIGNAL, _KILL, 0, 0, 0)


def confine(files: Iterable[Path], memory: float) -> None:
    """Take from this process what a planner does not need, for good.

    Args:
        files: files and folders that it may read besides Python, its packages and what comes with Agora.
        memory: most address space, GiB.

    Raises:
        OSError: the system cannot.
    """
    if lacking := lack():
        raise OSError(lacking)
    system = _system()
    for which, most in {**_LIMITS, resource.RLIMIT_AS: int(memory * 2**30)}.items():
        hard = resource.getrlimit(which)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (least, least))
    for one in range(64):
        system.prctl(_DROP, one, 0, 0, 0)
    system.capset(struct.pack("Ii", _CAPABILITIES, 0), bytes(24))
    system.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    _restrict(system, files)
    refuse_calls(system)


def _system() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _restrict(system: ctypes.CDLL, files: Iterable[Path]) -> None:
    """Restrict the files that this process opens."""
    rules = system.syscall(_CREATE, struct.pack("Q", _EVERYTHING), ctypes.c_size_t(8), ctypes.c_uint(0))
    shared = folder("configs").parent
    readable = [
        *_READABLE,
        sys.prefix,
        sys.base_prefix,
        *filter(None, sys.path),
        str(shared / "configs"),
        str(shared / "scenarios"),
    ]
    for path in {*readable, *map(str, files)}:
        _allow(system, rules, path, _READ, _READ_FILE)
    for path in ("/dev/null", "/dev/urandom", "/dev/zero"):
        _allow(system, rules, path, 0, _ALL_OF_FILE)
    if rules < 0 or system.syscall(_RESTRICT, rules, ctypes.c_uint(0)):
        raise OSError(ctypes.get_errno(), "the process cannot be confined")
    os.close(rules)


def _allow(system: ctypes.CDLL, rules: int, path: str, of_folder: int, of_file: int) -> None:
    """Allow rights beneath a path, where there is one."""
    with suppress(OSError):
        handle = os.open(path, os.O_PATH)
        try:
            rights = of_folder if os.path.isdir(path) else of_file
            system.syscall(_ADD, rules, ctypes.c_int(1), struct.pack("=Qi", rights, handle), ctypes.c_uint(0))
        finally:
            os.close(handle)
