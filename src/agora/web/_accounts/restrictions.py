"""Restrictions of forms: users name components and their own content, but no files, programs or addresses of the server."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from agora.errors import InputError
from agora.web._accounts.people import ADMINISTER, Person
from agora.yaml_tree import value_text

_OUTSIDE = re.compile(r"[\\/!]|\.(?:safetensors|py)\b|\b(?:remote|ray|contained)\b")
"""Characters of a path and of a YAML escape or tag that could hide one, and components that connect to other programs."""

_OWN = re.compile(r"\bown/[A-Za-z0-9][A-Za-z0-9_-]*")


def check_restrictions(person: Person, form: Mapping[str, Any], *but: str) -> None:
    """Refuse texts that refer to anything that pages do not offer; administrators may use everything that the command line accepts.

    Args:
        person: person who filled in the form.
        form: the form, plain data.
        but: keys of free texts, such as a title.

    Raises:
        InputError: a text names a file, a program or an address.
    """
    if person.may(ADMINISTER):
        return
    for key, text in _texts({name: value for name, value in form.items() if name not in but}, ""):
        if found := _OUTSIDE.search(_OWN.sub("own", text)):
            raise InputError(
                f"{key}: {value_text(text)} has {found[0]!r}; only an administrator may name files, programs and addresses"
            )


def _texts(value: Any, key: str) -> Iterator[tuple[str, str]]:
    """Yield all texts of plain data, including keys, each with its key."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield key or "form", str(name)
            yield from _texts(inner, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from _texts(inner, f"{key}[{number}]")
