"""The options that a command line has, and those that have no effect together with the others."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar

from agora.errors import InputError

__all__ = ["given", "note", "refuse"]

_options: ContextVar[Mapping[str, str]] = ContextVar("_options", default={})  # noqa: B039 - never written to


def note(options: Mapping[str, str]) -> None:
    """Note the options of the command that runs next: by the name of the parameter, as they are written on the command line."""
    _options.set(options)


def given() -> Mapping[str, str]:
    """Return the options that the command was given, as in `note`; none if a program calls the command's function."""
    return _options.get()


def refuse(why: str, *names: str) -> None:
    """Make sure that none of some options was given.

    Args:
        why: the reason why they have no effect: "with --predictor".
        *names: names of the parameters.

    Raises:
        InputError: one was given.
    """
    if unread := [option for name, option in given().items() if name in names]:
        have, them = ("has", "it") if len(unread) == 1 else ("have", "them")
        raise InputError(f"{', '.join(unread)} {have} no effect {why}; leave {them} out")
