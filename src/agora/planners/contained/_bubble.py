"""Namespaces for a confined process, created by bubblewrap, which contain no other processes, no network and no other files.

bubblewrap (`bwrap`, packaged by every distribution) is used if it is installed and works, both for root and for other users. It
does not work in an unprivileged container, or if the system forbids user namespaces.
"""

from __future__ import annotations

import functools
import shutil
import subprocess
import sys
from collections.abc import Iterable

from agora.planners.contained._files import readable_paths

_NAMESPACES = (
    *("--unshare-all", "--die-with-parent", "--as-pid-1", "--new-session", "--cap-drop", "ALL"),
    *("--dev", "/dev", "--proc", "/proc"),
)
_PATIENCE = 10.0
"""Maximum time that bubblewrap may take to start Python, s."""


@functools.cache
def is_available() -> bool:
    """Return whether bubblewrap is installed and can start Python on this system."""
    if shutil.which("bwrap") is None:
        return False
    try:
        tried = subprocess.run(
            [*command_prefix(readable_paths()), sys.executable, "-I", "-S", "-c", ""],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return tried.returncode == 0


def command_prefix(paths: Iterable[str], *, told: int | None = None) -> list[str]:
    """Return the command prefix for running a command in its own namespaces.

    Args:
        paths: files and folders that the command can read but not write; nonexistent ones are left out.
        told: file descriptor to which bubblewrap writes the process ID, as JSON with the key "child-pid".
    """
    seen = (word for path in paths for word in ("--ro-bind-try", path, path))
    telling = () if told is None else ("--info-fd", str(told))
    return [shutil.which("bwrap") or "bwrap", *_NAMESPACES, *seen, "--remount-ro", "/", *telling, "--"]
