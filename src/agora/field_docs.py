"""Extracts the descriptions of a component's fields from its docstrings, for the manual and the web forms."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from typing import Any


def introduction(component: Any) -> str:
    """Return the text of a component's docstring before its sections."""
    return re.split(r"\n\s*\n(?=(?:Attributes|Args|Raises|Returns):\n)|\n(?=Attributes:\n)", inspect.getdoc(component) or "")[0]


def meanings(component: type, names: Iterable[str]) -> dict[str, str]:
    """Return the descriptions of the fields, keyed by name. A description has the form ``one, two: text.``, at the start of a line
    or after a full stop.

    If the component's docstring does not describe a field, the docstring of a parent class is used.
    """
    known, found = set(names), {}
    for parent in reversed(component.__mro__[:-1]):
        section = re.search(r"\nAttributes:\n(.*?)(?:\n\n\S|\Z)", inspect.getdoc(parent) or "", re.DOTALL)
        text = "" if section is None else re.sub(r"\s+", " ", section[1])
        starts = [m for m in re.finditer(r"(?<![^ ])((?:\*?\w+\*?, )*\*?\w+\*?): ", text) if _meant(m[1], known)]
        for start, after in zip(starts, [*(m.start() for m in starts[1:]), len(text)], strict=False):
            for name in _meant(start[1], known):
                found[name] = text[start.end() : after].strip(" ;")
    return found


def _meant(words: str, known: set[str]) -> set[str]:
    """Return the known names in ``one, two, *_three``; empty if any of the words is not a known name."""
    found: set[str] = set()
    for word in words.split(", "):
        some = {name for name in known if re.fullmatch(word.replace("*", ".*"), name)}
        if not some:
            return set()
        found |= some
    return found
