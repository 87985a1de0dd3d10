"""The options given on the command line, and the rejection of options that have no effect in combination with others."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar

from agora.errors import InputError

__all__ = ["given", "note", "refuse"]

_options: ContextVar[Mapping[str, str]] = ContextVar("_options", default={})  # noqa: B039 - never written to


def note(options: Mapping[str, str]) -> None:
    """Record the options of the command that runs next: for each parameter name, the option as written on the command line."""
    _options.set(options)


def given() -> Mapping[str, str]:
    """Return the options given to the command, in the format of `note`; empty if a program calls the command's function
    directly.
    """
    return _options.get()


def refuse(why: str, *names: str) -> None:
    """Reject some options.

    Args:
        why: reason why the options have no effect, such as "with --predictor".
        *names: names of the parameters.

    Raises:
        InputError: one of the options was given.
    """
    if unread := [option for name, option in given().items() if name in names]:
        have, them = ("has", "it") if len(unread) == 1 else ("have", "them")
        raise InputError(f"{', '.join(unread)} {have} no effect {why}; leave {them} out")
