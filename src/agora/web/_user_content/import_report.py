"""Selects the keys of a file that Agora knows, and reports the remaining keys."""

from __future__ import annotations

import dataclasses
import re
import typing
from dataclasses import dataclass, field
from typing import Any

from agora.errors import similar
from agora.written import key_of
from agora.yaml_tree import join


@dataclass
class ImportReport:
    """The understood and the ignored keys of files; keys of all entries of a list share one line.

    Attributes:
        understood: lines about understood keys, by file and key.
        dropped: lines about ignored keys, by file and key.
    """

    understood: dict[tuple[str, str, str], int] = field(default_factory=dict)
    dropped: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def add_understood(self, file: str, key: str, words: str) -> None:
        """Record an understood key."""
        _count(self.understood, file, key, words)

    def add_dropped(self, file: str, key: str, words: str) -> None:
        """Record an ignored key."""
        _count(self.dropped, file, key, words)

    def plain(self) -> dict[str, Any]:
        """Return both lists in the format used by the front end."""
        return {"understood": _lines(self.understood), "dropped": _lines(self.dropped)}


def _count(lines: dict[tuple[str, str, str], int], file: str, key: str, words: str) -> None:
    line = (file, re.sub(r"\[\d+\]", "[…]", key), words)
    lines[line] = lines.get(line, 0) + 1


def _lines(lines: dict[tuple[str, str, str], int]) -> list[dict[str, str]]:
    many = {line: f"{line[2]} ({count} times)" if count > 1 else line[2] for line, count in lines.items()}
    return [{"file": file, "key": key, "words": words} for (file, key, _), words in many.items()]


def keep_known_keys(value: Any, kind: Any, file: str, report: ImportReport, key: str = "") -> Any:
    """Return the part of plain data whose keys are fields of a dataclass; other spellings such as ``Robots`` and ``wait-time`` are
    accepted.

    Args:
        value: plain data.
        kind: type to build: a dataclass, a tuple of dataclasses, or any other type, for which the data is returned unchanged.
        file: name of the file with the data.
        report: report to which ignored keys, and keys that were read under a different name, are added.
        key: key of the value in the file.
    """
    kind = _without_none(kind)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type) and isinstance(value, dict):
        return _keep_keys(value, kind, file, report, key)
    inner = typing.get_args(kind)
    if typing.get_origin(kind) is tuple and isinstance(value, list) and inner[-1:] == (...,):
        return [keep_known_keys(one, inner[0], file, report, f"{key}[{number}]") for number, one in enumerate(value)]
    return value


def _keep_keys(value: dict[str, Any], kind: type, file: str, report: ImportReport, key: str) -> dict[str, Any]:
    names = {key_of(one): one.name for one in dataclasses.fields(kind) if one.init}
    hints, folded, found = typing.get_type_hints(kind), {_folded(name): name for name in names}, dict[str, Any]()
    for given, one in value.items():
        own = given if given in names else folded.get(_folded(given))
        where = join(key, given[:60])
        if own is None:
            report.add_dropped(file, where, f"Agora has no such key{similar(given, names)}")
        elif own in found or (own != given and own in value):
            report.add_dropped(file, where, f"ignored, because the key {own} also exists")
        else:
            if own != given:
                report.add_understood(file, where, f"read as {own}")
            found[own] = keep_known_keys(one, hints[names[own]], file, report, where)
    return found


def _folded(key: str) -> str:
    return key.lower().replace("-", "_").replace(" ", "_")


def _without_none(kind: Any) -> Any:
    """Return the type of an optional value; for other types, the type itself."""
    members = [one for one in typing.get_args(kind) if one is not type(None)]
    return members[0] if len(members) == 1 and type(None) in typing.get_args(kind) else kind
