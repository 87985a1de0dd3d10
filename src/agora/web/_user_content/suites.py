"""The suites of a server's users, which are edited in the web interface. They are files ``suites/NAME.yaml`` in the server's
folder, in the format of `agora bench`.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from agora.draft.stage import Stage
from agora.errors import InputError
from agora.tasks.suite import Suite, load_suite, suite_in
from agora.tasks.suite_file import OWN
from agora.web._file_names import check_name
from agora.web._user_content.store import Store, version_of
from agora.web._user_content.suite_text import parse_content, rewrite
from agora.yaml_tree import join, tree_of_plain, tree_of_text, value_text

LARGEST = 256 << 10
"""Maximum size of a suite's file, bytes."""

_KEYED = re.compile(r"suite(?::\d+)?: (?:((?:\w+(?:\[\d+\])*)(?:\.\w+(?:\[\d+\])*)*): )?(.*)", re.DOTALL)
_ABOUT = re.compile(r"(\w+)(?:: | must | has | cannot )")
_PATHS = frozenset({"path", "file", "folder", "scenarios"})
"""Keys of components whose values may be file paths."""


class Suites:
    """The suites of a server's users.

    Args:
        folder: folder that contains ``suites``, ``worlds`` and ``scenarios``.
    """

    def __init__(self, folder: Path) -> None:
        self._home, self.store = folder, Store(folder / "suites", "suite", ".yaml", self.get)

    def all(self) -> list[dict[str, Any]]:
        """Return users' suites in the format used by the front end."""
        return [_summary(name, file, file.stat().st_mtime_ns) for name, file in self.store.files().items()]

    def get(self, name: str) -> dict[str, Any]:
        """Return a user's suite with its content, text, version and problems.

        Raises:
            UnknownNameError: there is no suite with this name. InputError: its file is not YAML, or not a mapping.
        """
        data = self.store.path(name).read_bytes()
        text = data.decode("utf-8", "replace")
        content = read_content(text)
        return {"name": name, "version": version_of(data), "content": content, **self.check(name, content)}

    def put(self, name: str, given: Any, version: str) -> dict[str, Any]:
        """Store a user's suite, and return it as stored; the ``name`` key is set to its name.

        Args:
            name: name of the suite.
            given: content as plain data, or the text of a file.
            version: version on which the change is based; empty for a new suite.

        Raises:
            InputError: the name or the suite is invalid, or the suite refers to a file by path; nothing is written.
            ConflictError: the suite has been changed in the meantime; nothing is written.
        """
        check_name("suite", name)
        if isinstance(given, str):
            self._check_text(given)
        text = self._text(name, given)
        self._check_text(text)
        self.store.put(name, text.encode(), version)
        return self.get(name)

    def check(self, name: str, given: Any) -> dict[str, Any]:
        """Return the problems found in a suite, by key; the number of episodes of each stage; and the text of the suite's file."""
        problems, stages, text = list[dict[str, str]](), list[dict[str, Any]](), ""
        try:
            text = self._text(name, given)
            suite = self.suite_of(read_content(text))
            stages = [{"name": stage.name, "count": stage.count} for stage in suite.stages]
        except InputError as error:
            problems = [_problem(line) for line in str(error).splitlines()]
        return {"problems": problems, "stages": stages, "text": text}

    def suite_of(self, content: Mapping[str, Any]) -> Suite:
        """Return the suite described by plain data.

        Raises:
            InputError: the data do not describe a suite, or refer to a file by path.
        """
        wrong = [
            f"suite: {key}: the pages accept only names, not paths; got {value_text(path)}" for key, path in _paths(content, "")
        ]
        if wrong:
            raise InputError("\n".join(wrong))
        return suite_in(tree_of_plain(content, "suite"), "suite", self._home)

    def _check_text(self, text: str) -> None:
        """Reject a text that is not a suite, with one line per problem."""
        content = read_content(text)
        suite_in(tree_of_text(text, "suite", is_json=False), "suite", self._home)
        self.suite_of(content)

    def _text(self, name: str, given: Any) -> str:
        """Return the text of a suite's file with the suite's name set: plain data merged into the existing file, or the given
        text.
        """
        if isinstance(given, str):
            return rewrite(given, {"name": name} | read_content(given) | {"name": name})
        files = self.store.files()
        before = files[name].read_text(encoding="utf-8-sig", errors="replace") if name in files else ""
        return rewrite(before, {"name": name} | read_content(given) | {"name": name})


_TOO_LARGE = f"suite: the file is larger than {LARGEST >> 10} KiB"


def read_content(given: Any) -> dict[str, Any]:
    """Return the content of a suite; size limits apply after aliases are expanded.

    Args:
        given: plain data, or the text of a file.

    Raises:
        InputError: the content is too large, not YAML, or not a mapping.
    """
    if isinstance(given, str) and len(given.encode("utf-8", "replace")) > LARGEST:
        raise InputError(_TOO_LARGE)
    found = parse_content(given, "suite") if isinstance(given, str) else given
    if not isinstance(found, dict):
        raise InputError(f"suite: expected a mapping with the keys of a suite, got {value_text(given)}")
    if len(json.dumps(found)) > LARGEST:
        raise InputError(f"{_TOO_LARGE} with its aliases expanded" if isinstance(given, str) else _TOO_LARGE)
    return found


def named_parts(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a suite's content that name components and other content, for
    `agora.web._accounts.restrictions.check_restrictions`.
    """
    stages = content.get("stages")
    named = [{k: v for k, v in one.items() if k != "drawn_as"} if isinstance(one, dict) else one for one in _list(stages)]
    return {**{key: value for key, value in content.items() if key != "description"}, "stages": named}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _paths(value: Any, key: str) -> Iterator[tuple[str, str]]:
    """Yield the file paths in a suite's content, with their keys. The front end may only read content that has a name on the
    server.
    """
    if isinstance(value, Mapping):
        for name, item in value.items():
            here = join(key, str(name))
            for text in [item] if isinstance(item, str) else item if isinstance(item, list) else []:
                if name in _PATHS and isinstance(text, str) and ("/" in text or text[:1] in (".", "~")) and not _is_own(text):
                    yield here, text
            yield from _paths(item, here)
    elif isinstance(value, list):
        for k, item in enumerate(value):
            yield from _paths(item, f"{key}[{k}]")


def _is_own(text: str) -> bool:
    return text.startswith(OWN) and "/" not in text.removeprefix(OWN)


def _problem(line: str) -> dict[str, str]:
    """Return a line of a message with the key that it concerns; messages about a record begin with the key of the rejected
    value.
    """
    found = _KEYED.match(line)
    if found is None:
        return {"key": "", "text": line}
    key, text = found[1] or "", found[2]
    about = _ABOUT.match(text)
    if about and not key.endswith(about[1]) and (not re.fullmatch(r"stages\[\d+\]", key) or about[1] in _OF_STAGE):
        key = join(key, about[1])
    return {"key": key, "text": text}


_OF_STAGE = {field.name for field in dataclasses.fields(Stage)}


@lru_cache(maxsize=256)
def _summary(name: str, file: Path, changed: int) -> dict[str, Any]:
    said = {"name": f"{OWN}{name}", "kind": "suite", "description": "", "stages": [], "missing": "", "path": str(file)}
    try:
        found = load_suite(file)
        stages = [{"name": stage.name, "count": stage.count} for stage in found.stages]
    except InputError as error:
        return {**said, "missing": str(error).replace(f"{file.parent}/", "")}
    return {**said, "description": found.description, "stages": stages}
