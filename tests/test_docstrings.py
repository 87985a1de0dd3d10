"""The docstrings of the library and of the ROS packages: they name the thing, and an attribute has a line of its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"

RIDDLE = re.compile(r"(What|Who|Whom|Whose|Whether|How|Where|Which|When|Why|Whoever|Whatever|Whichever|That|Those)\b")
PACKED = re.compile(r"^ +(?:\*{0,2}\w+, )+\*{0,2}\w+: ")
SEE_THERE = re.compile(r": sees? there\b")


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The docstrings of a file, each with the line at which it begins."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
            text := ast.get_docstring(node)
        ):
            yield node.body[0].lineno, text


def faults(text: str) -> Iterator[str]:
    """The faults of a docstring: a first word that hides the thing, two attributes on a line, "see there"."""
    if RIDDLE.match(text):
        yield f"begins with {text.split()[0]!r}; name the thing"
    section = ""
    for line in text.splitlines():
        section = line if line and not line.startswith(" ") else section
        if section in ("Attributes:", "Args:") and PACKED.match(line):
            yield f"has two attributes in {line.strip()!r}; give each a line"
        if SEE_THERE.search(line):
            yield f"says {line.strip()!r}; say where"


def test_docstrings_name_the_thing_and_give_an_attribute_a_line():
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        for line, text in docstrings(ast.parse(path.read_text(encoding="utf-8"))):
            found += [f"{name}:{line} {fault}" for fault in faults(text)]
    assert not found, "\n".join(found)


def test_the_check_would_find_what_it_looks_for():
    assert list(faults("What it says of itself.")) and list(faults("Whether it is over."))
    assert list(faults("A point.\n\nAttributes:\n    x, y: place, m.")) and list(faults("A line.\n\nArgs:\n    y: see there."))
    assert not list(faults("A point, x, y: a pair.\n\nAttributes:\n    x: place along x, m; in the map frame: not the robot's."))
