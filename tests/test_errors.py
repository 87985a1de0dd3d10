"""The page of errors at the top of `agora.errors` is whole."""

from __future__ import annotations

import importlib
import pkgutil
import re

import agora
from agora import errors
from agora.errors import AgoraError

FILES = [
    m.name
    for m in pkgutil.walk_packages(agora.__path__, "agora.")
    if not m.name.startswith(("agora.learning.sb3", "agora.learning.trainers"))
]


def tree(kind, depth=0):
    """Names of a class and of all below it, with their depth."""
    found = {(depth, kind.__name__)}
    return found.union(*(tree(one, depth + 1) for one in kind.__subclasses__() if one.__module__.startswith("agora.")))


def test_the_tree_of_errors_is_the_one_that_is_drawn():
    for name in FILES:
        importlib.import_module(name)
    drawn = re.findall(r"^((?:[│ ]   )*)(?:[├└]── )?(\w+Error)\b", errors.__doc__, re.MULTILINE)
    lines = [line for line in errors.__doc__.splitlines() if re.search(r"\w+Error\b", line)]
    depths = {((line.index(name) // 4), name) for (_, name), line in zip(drawn, lines, strict=True)}
    assert depths == tree(AgoraError)
