"""The confinement of a process that runs untrusted code (Linux), in four layers:

- bubblewrap, if it works on this system, hides other processes, the network and other files (`agora.planners.contained._bubble`).
- Resource limits restrict memory, time, output and file descriptors, and all capabilities are dropped (this module).
- Landlock refuses access to other files and, if the kernel's version supports it, signals and sockets
  (`agora.planners.contained._landlock`).
- seccomp refuses every system call that a planner does not need (`agora.planners.contained._calls`).

The last three are required and work without bubblewrap. A confined process can read Python, its packages and the files that come
with Agora (`agora.planners.contained._files`). It cannot write files, start processes or threads, open connections or send signals.
Without bubblewrap, it can test whether a guessed path exists, and read the file's size.
"""

from __future__ import annotations

import ctypes
import os
import resource
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

from agora.planners.contained import _bubble as bubble
from agora.planners.contained import _landlock as landlock
from agora.planners.contained._calls import library, refuse_other_calls
from agora.planners.contained._files import DEVICES, OF_THE_KERNEL, readable_paths

SECONDS = 4 * 3600
"""Maximum processor time, s."""
MOST_SAID = 1 << 20
"""Maximum number of bytes that the process may write to the files that receive its output."""

_LIMITS = {
    resource.RLIMIT_CPU: SECONDS,
    resource.RLIMIT_FSIZE: MOST_SAID,
    resource.RLIMIT_NOFILE: 128,
    resource.RLIMIT_NPROC: 0,
    resource.RLIMIT_CORE: 0,
}
_NO_NEW_PRIVILEGES, _DEATH_SIGNAL, _DROP, _KILL = 38, 1, 24, 9
_CAPABILITIES = 0x20080522
"""The version of the kernel's record of capabilities."""


def lack() -> str:
    """Return a description of the features that this system lacks to confine a process; empty if nothing is missing."""
    if sys.platform != "linux":
        return "user code runs only on Linux, which can confine it"
    if landlock.version() < 1:
        where = "Linux 5.13 or later, not switched off nor kept back by a container"
        return f"this kernel has no Landlock, which confines user code ({where})"
    if library() is None:
        return "libseccomp is not installed, which confines user code (on Debian and Ubuntu: apt install libseccomp2)"
    return ""


def layers() -> str:
    """Return a description of the layers that confine a process on this system."""
    outer = ("bubblewrap",) if bubble.is_available() else ()
    return ", ".join((*outer, f"Landlock {landlock.version()}", "seccomp"))


def die_with_parent() -> None:
    """Make the kernel end this process when its parent process ends."""
    if sys.platform == "linux":
        _system().prctl(_DEATH_SIGNAL, _KILL, 0, 0, 0)


def confine(files: Iterable[Path], memory: float) -> None:
    """Permanently revoke this process's access to everything that a planner does not need.

    Args:
        files: files and folders that the process may read in addition to Python, its packages and Agora's data.
        memory: maximum address space, GiB.

    Raises:
        OSError: the system does not support this, or the process already has several threads, not all of which would be confined.
    """
    if lacking := lack():
        raise OSError(lacking)
    if len(os.listdir("/proc/self/task")) > 1:
        raise OSError("the process has several threads, which cannot all be confined")
    for which, most in {**_LIMITS, resource.RLIMIT_AS: int(memory * 2**30)}.items():
        hard = resource.getrlimit(which)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (least, least))
    system = _system()
    for one in range(64):
        system.prctl(_DROP, one, 0, 0, 0)
    system.capset(struct.pack("Ii", _CAPABILITIES, 0), bytes(24))
    system.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    landlock.restrict((*readable_paths(files), *OF_THE_KERNEL), DEVICES)
    refuse_other_calls()


def _system() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
