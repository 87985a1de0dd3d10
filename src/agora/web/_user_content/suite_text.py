"""The text of a suite's file: changed content is rewritten, and comments on unchanged content are kept."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError

from agora.config import parse
from agora.errors import InputError

_WIDTH, _KEPT = 120, 4096
"""Maximum number of characters per line in a new file, and in a file whose lines should stay unchanged."""
_SHORT = 110
"""Maximum length of a mapping or list that is written on one line, characters."""
_SHARED = re.compile(r"(^|[\s,\[{])[&*]\w", re.MULTILINE)
"""Matches a YAML anchor or alias: a value shared by several places in the file, so that changing one would change all."""


def parse_content(text: str, where: str) -> dict[str, Any]:
    """Return the content of a file as plain data.

    Raises:
        InputError: the text is not YAML, or not a mapping.
    """
    found: dict[str, Any] = parse(text, dict[str, Any], where)
    return found


def rewrite(text: str, content: Mapping[str, Any]) -> str:
    """Return the text of a file with its content updated.

    Args:
        text: previous text, whose comments on unchanged content are kept; empty for a new file.
        content: new content, as plain data.
    """
    yaml = YAML()
    yaml.preserve_quotes, yaml.width = True, _KEPT if text else _WIDTH
    yaml.indent(mapping=2, sequence=4, offset=2)
    known = None
    if text and not _SHARED.search(text):
        with suppress(YAMLError, InputError):  # a file that was damaged by manual editing
            known = yaml.load(text)
            if _same(parse_content(text, "file"), content):
                return text
    out = io.StringIO()
    yaml.dump(_merge(known, content, 0), out)
    made = out.getvalue()
    return made if _same(parse_content(made, "file"), content) else json.dumps(content, indent=2) + "\n"


def _same(one: Any, other: Any) -> bool:
    """Return whether two pieces of plain data are equal; integers equal floats of the same value."""
    return json.dumps(_plain(one), sort_keys=True) == json.dumps(_plain(other), sort_keys=True)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53 else value


def _merge(old: Any, new: Any, depth: int) -> Any:
    """Return a value to write, with the comments and the format of the old value if the two are similar."""
    if isinstance(new, Mapping):
        if not isinstance(old, CommentedMap):
            return _mapping(new, depth)
        for key in [key for key in old if key not in new]:
            del old[key]
        for place, (key, value) in enumerate(new.items()):
            if key in old:
                old[key] = _merge(old[key], value, depth + 1)
            else:
                old.insert(min(place, len(old)), key, _merge(None, value, depth + 1))
        return old
    if isinstance(new, list):
        return old if isinstance(old, CommentedSeq) and _same(old, new) else _list(old, new, depth)
    return old if old is not None and _same(old, new) else new


def _mapping(new: Mapping[str, Any], depth: int) -> CommentedMap:
    made = CommentedMap((key, _merge(None, value, depth + 1)) for key, value in new.items())
    if depth > 2 and len(json.dumps(new)) <= _SHORT:
        made.fa.set_flow_style()
    return made


def _list(old: Any, new: list[Any], depth: int) -> CommentedSeq:
    """Return a list whose mappings inherit comments from the old mappings with the same name, or else at the same position."""
    before = list(old) if isinstance(old, CommentedSeq) else []
    by_name = {one["name"]: one for one in before if isinstance(one, CommentedMap) and isinstance(one.get("name"), str)}
    named = [one.get("name") if isinstance(one, Mapping) else None for one in new]
    made = CommentedSeq()
    for k, value in enumerate(new):
        like = by_name.pop(named[k], None) if isinstance(named[k], str) else None
        if like is None and k < len(before) and isinstance(before[k], CommentedMap) and before[k].get("name") not in named:
            like = before[k]
        made.append(_merge(like, value, depth + 1))
    if len(json.dumps(new)) <= _SHORT and not any(isinstance(one, Mapping) for one in new):
        made.fa.set_flow_style()
    return made
