"""Reads YAML files from other programs: plain values, the line of each key, and notes on keys that have no counterpart in Agora."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from agora.errors import InputError
from agora.yaml_tree import Node, value_text

MOST = 10_000
"""Maximum number of objects per entry."""


@dataclass
class Notes:
    """Collects notes on the keys of a file; each note is listed once, with the line of its first occurrence.

    Attributes:
        where: path of the file.
        lines: first line and number of occurrences of each note, by key and text.
    """

    where: str
    lines: dict[tuple[str, str], tuple[int | None, int]] = field(default_factory=dict)

    def add(self, line: int | None, key: str, text: str) -> None:
        """Add a note about a key."""
        first, count = self.lines.get((key, text), (line, 0))
        self.lines[key, text] = first, count + 1

    def left_out(self, node: Node, known: Collection[str], path: str, why: Mapping[str, str]) -> None:
        """Add a note on each unknown key of a mapping.

        Args:
            node: node of the mapping.
            known: keys that are read.
            path: path of the mapping in the file, without names and numbers.
            why: reasons why keys are not read, by path of the key.
        """
        for key in node.value if isinstance(node.value, dict) else ():
            if key not in known:
                name = f"{path}.{key}".lstrip(".")
                self.add(node.key_lines.get(key, node.line), name, f"not imported: {why.get(name, 'no counterpart in Agora')}")

    def texts(self) -> list[str]:
        """Return the notes, one line each."""
        return [
            f"{self.where}:{line}: {key}: {text}" + (f" ({count} occurrences)" if count > 1 else "")
            for (key, text), (line, count) in self.lines.items()
        ]


def wrong(where: str, line: int | None, key: str, expected: str, value: Any) -> InputError:
    """Return the error for a key with an unexpected value."""
    return InputError(f"{where}:{line}: {key}: expected {expected}, got {value_text(value)}")


def plain_of(node: Node) -> Any:
    """Return the plain value of a node: a scalar, a list or a dict."""
    if isinstance(node.value, dict):
        return {key: plain_of(value) for key, value in node.value.items()}
    return [plain_of(value) for value in node.value] if isinstance(node.value, list) else node.value


def numbers_of(node: Node | None, where: str, key: str, least: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
    """Return the value of a node, which must be a list of at least ``least`` finite numbers; ``default`` if the node is None.

    Raises:
        InputError: the value is anything else.
    """
    if node is None and default is not None:
        return default
    values = [plain_of(one) for one in node.value] if node is not None and isinstance(node.value, list) else []
    if len(values) < least or not all(is_number(value) for value in values):
        raise wrong(where, node.line if node else None, key, f"{least} or more numbers", plain_of(node) if node else None)
    return tuple(float(value) for value in values)


def number_of(node: Node | None, where: str, key: str, default: float) -> float:
    """Return the value of a node, which must be a finite number; ``default`` if the node is None.

    Raises:
        InputError: the value is anything else.
    """
    if node is None:
        return default
    if not is_number(node.value):
        raise wrong(where, node.line, key, "a number", plain_of(node))
    return float(node.value)


def is_number(value: Any) -> bool:
    """Return whether a plain value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
