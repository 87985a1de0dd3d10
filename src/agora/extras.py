"""Packages that only some of Agora needs, by the extras of its installation (``pyproject.toml``), and how they get in."""

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
    """The packages of an extra with their versions, as the installation says them."""
    found = map(_OF_AN_EXTRA.fullmatch, requires("agora-nav") or ())
    return [one["package"] for one in found if one is not None and one["extra"] == extra]


def how_to_install(extra: str) -> str:
    """Return the command that installs the packages of an extra in this environment, from the same source as Agora.

    It names the packages, so no index needs to know Agora. In a checkout their versions are those of ``requirements.lock``.
    """
    lock = _CHECKOUT / "requirements.lock"
    pins = ["--constraint", str(lock)] if lock.is_file() and (_CHECKOUT / "pyproject.toml").is_file() else []
    return shlex.join([sys.executable, "-m", "pip", "install", *pins, *packages_of(extra)])


def lacking(extras: Iterable[str]) -> str:
    """Say which packages of some extras are missing, and how to install them; nothing where all are here.

    Raises:
        UnknownNameError: no such extra.
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
    """Return the error that something needs a package that is not installed.

    Args:
        what: feature that needs it, with its verb: "reading bags needs".
        package: name of the package.
        extra: extra that it is in.
    """
    return InputError(f"{what} the package {package}; install it: {how_to_install(extra)}")
