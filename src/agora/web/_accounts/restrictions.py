"""Restrictions on forms: users may name components and their own content, but not files, programs or addresses on the server."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from agora.errors import InputError
from agora.web._accounts.people import ADMINISTER, Person
from agora.yaml_tree import value_text

_OUTSIDE = re.compile(r"[\\/!]|\.(?:safetensors|py)\b|\b(?:remote|ray|contained)\b")
"""Matches characters of paths, characters of YAML escapes and tags that could hide a path, and components that connect to other
programs."""

_OWN = re.compile(r"\bown/[A-Za-z0-9][A-Za-z0-9_-]*")


def check_restrictions(person: Person, form: Mapping[str, Any], *but: str) -> None:
    """Reject strings that refer to anything that the web interface does not offer; administrators may use everything that the
    command line accepts.

    Args:
        person: person who filled in the form.
        form: the form, as plain data.
        but: keys whose values are free text, such as a title.

    Raises:
        InputError: a string names a file, a program or an address.
    """
    if person.may(ADMINISTER):
        return
    for key, text in _texts({name: value for name, value in form.items() if name not in but}, ""):
        if found := _OUTSIDE.search(_OWN.sub("own", text)):
            raise InputError(
                f"{key}: {value_text(text)} has {found[0]!r}; only an administrator may name files, programs and addresses"
            )


def _texts(value: Any, key: str) -> Iterator[tuple[str, str]]:
    """Yield all strings in plain data, including keys, each with its key."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield key or "form", str(name)
            yield from _texts(inner, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from _texts(inner, f"{key}[{number}]")
