"""The files that come with the library (``configs/``, ``scenarios/`` and the ROS messages), and the user's own data folder.

An installed wheel has the files in ``agora/_share``. A checkout has ``configs`` and ``scenarios`` next to ``src``, and the messages
in their ROS package.
"""

from __future__ import annotations

import os
from pathlib import Path

from agora.errors import InputError, UnknownNameError

__all__ = ["folder", "named_file"]

_PACKAGE = Path(__file__).resolve().parent
_IN_CHECKOUT = {"agora_msgs": "src/agora_msgs/msg"}


def folder(name: str) -> Path:
    """Return the folder ``name`` ("configs", "scenarios" or "agora_msgs") of the wheel or the checkout.

    Raises:
        InputError: neither the wheel nor the checkout has this folder.
    """
    root = checkout()
    place = _PACKAGE / "_share" / name if root is None else root / _IN_CHECKOUT.get(name, name)
    if not place.is_dir():
        raise InputError(f"the folder {place} is missing; the installation is incomplete")
    return place


def checkout() -> Path | None:
    """Return the root of the checkout that Agora runs from; None if it was installed."""
    root = _PACKAGE.parents[1]
    return root if (root / "pyproject.toml").is_file() and not (_PACKAGE / "_share").is_dir() else None


def home() -> Path:
    """Return the user's home folder; for a user without a home folder, as in many containers, a folder that does not exist."""
    try:
        return Path.home()
    except RuntimeError:  # HOME is not set, and the machine does not know the user
        return Path("/nonexistent")


def data_home() -> Path:
    """Return the folder for the user's data sets, worlds and robots, which may not exist yet."""
    named = os.environ.get("AGORA_DATA")
    return Path(named).expanduser() if named else home() / ".local" / "share" / "agora"


def names_in(kind: str, suffix: str = ".yaml") -> list[str]:
    """Return the sorted names, without suffix, of the files in ``configs/<kind>``."""
    return sorted(path.name.removesuffix(suffix) for path in (folder("configs") / kind).glob(f"*{suffix}"))


def named_file(kind: str, name: str, suffix: str) -> Path:
    """Return the path of a file in ``configs/<kind>``, given its name with or without the suffix, or of any other file, given a
    path that contains a slash.

    Raises:
        UnknownNameError: the folder has no such file.
        InputError: the path does not exist.
    """
    if "/" in name:
        if not Path(name).is_file():
            raise InputError(f"there is no file {name}")
        return Path(name)
    place = folder("configs") / kind
    known = [path.stem for path in place.glob(f"*{suffix}")]
    if name.removesuffix(suffix) not in known:
        raise UnknownNameError(f"file in configs/{kind}", name, known)
    return place / f"{name.removesuffix(suffix)}{suffix}"
