"""Optional packages, grouped by the extras in ``pyproject.toml``, and how to install them."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from pathlib import Path

from agora.errors import InputError, UnknownNameError

_CHECKOUT = Path(__file__).resolve().parents[2]
_NAME = re.compile(r"[\w.-]+")
_OF_AN_EXTRA = re.compile(r"(?P<package>[^;]+?)\s*;\s*extra\s*==\s*['\"](?P<extra>[\w-]+)['\"]")


def packages_of(extra: str) -> list[str]:
    """Return the packages of an extra with their versions, as given in the installation's metadata."""
    found = map(_OF_AN_EXTRA.fullmatch, requires("agora-nav") or ())
    return [one["package"] for one in found if one is not None and one["extra"] == extra]


def how_to_install(extra: str) -> str:
    """Return the command that installs the packages of an extra in this environment, from the same source as Agora.

    The command names the packages, not the extra, so Agora need not be on a package index. In a checkout, the versions are those in
    ``requirements.lock``.
    """
    lock = _CHECKOUT / "requirements.lock"
    pins = ["--constraint", str(lock)] if lock.is_file() and (_CHECKOUT / "pyproject.toml").is_file() else []
    return shlex.join([sys.executable, "-m", "pip", "install", *pins, *packages_of(extra)])


def lacking(extras: Iterable[str]) -> str:
    """Return a message that says which packages of the given extras are missing and how to install them; empty if all are
    installed.

    Raises:
        UnknownNameError: an extra is unknown.
    """
    known = metadata("agora-nav").get_all("Provides-Extra") or []
    for extra in extras:
        if extra not in known:
            raise UnknownNameError("extra", extra, known)
        if absent := [name for line in packages_of(extra) if not _is_here(name := _NAME.match(line)[0])]:  # type: ignore[index]
            return f"packages of the extra {extra} are not installed: {', '.join(absent)}; install them: {how_to_install(extra)}"
    return ""


def _is_here(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def missing(what: str, package: str, extra: str) -> InputError:
    """Return the error to raise when a feature needs a package that is not installed.

    Args:
        what: feature that needs the package, with a verb, such as "reading bags needs".
        package: name of the package.
        extra: extra that includes the package.
    """
    return InputError(f"{what} the package {package}; install it: {how_to_install(extra)}")
