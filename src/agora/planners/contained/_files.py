"""The files that a confined process may read: Python, its packages, Agora's data, and information about the machine."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from agora.core.jit import cache_root
from agora.share import folder

SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/localtime", "/sys/devices/system/cpu")
"""Programs, libraries, the local time, and the number of processors."""
OF_THE_KERNEL = (*("/proc/cpuinfo", "/proc/meminfo"), *(f"/proc/self/{name}" for name in ("maps", "stat", "statm", "status")))
"""Files about the machine and about the process itself, but not about other processes or the network."""
DEVICES = ("/dev/null", "/dev/urandom", "/dev/zero")
"""Devices that the process may also write to."""


def readable_paths(files: Iterable[Path] = ()) -> tuple[str, ...]:
    """Return the files and folders that a confined process may read; some of them may not exist.

    Args:
        files: additional files for the process.
    """
    shared = folder("configs").parent
    packages = (path for path in sys.path if Path(path).is_absolute())
    own = (cache_root(), shared / "configs", shared / "pyproject.toml", *(file.absolute() for file in files))
    return tuple(dict.fromkeys((*SYSTEM, sys.prefix, sys.base_prefix, *packages, *map(str, own))))
