"""The own policies of a server: files of weights that somebody brought along, which the planner ``policy`` drives with.

An own policy is the file ``policies/NAME.safetensors`` of the server's folder. On the pages it is the planner ``own/NAME``. Weights
are data: no file is kept that could be code, and none that does not make up the network that its header names.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agora.benchmark.request import Request
from agora.config import plain
from agora.errors import InputError, UnknownNameError
from agora.files import write_whole
from agora.planners.learned.policy import PolicyPlanner
from agora.policies.policy import Policy, load_policy
from agora.policies.weights import SUFFIX
from agora.web.names import check_name

OWN = "own/"
"""The names of own policies begin with this where names of planners are expected."""

_MOST_HEADER = 1 << 20
_NAMED = re.compile(r"(?:(?P<alone>^)|(?P<file>\bfile=))own/(?P<name>[\w-]*)(?P<rest>:?)")
_PLAIN_PATH = re.compile(r"(?:[^,+#:{}\[\]&*!|>'\"%@`=()]|\+(?![A-Za-z_]))+")
"""Paths that a planner's text can hold."""


class Policies:
    """The own policies of a server.

    Args:
        folder: folder of their files; made where the first is kept.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._writing = folder, threading.Lock()

    def names(self) -> list[str]:
        """Names of the own policies."""
        return sorted(path.stem for path in self._folder.glob(f"*{SUFFIX}") if path.name[0] != ".")

    def file(self, name: str) -> Path:
        """The file of an own policy.

        Raises:
            UnknownNameError: there is none of this name.
        """
        if name not in self.names():
            raise UnknownNameError("policy of yours", name, self.names())
        return self.path(name)

    def path(self, name: str) -> Path:
        """Return the file of an own policy of a name, which may not be there."""
        return self._folder / f"{name}{SUFFIX}"

    def all(self) -> list[dict[str, Any]]:
        """Return the own policies as pages list them."""
        return [_told(name, self.file(name)) for name in self.names()]

    def planners(self) -> list[dict[str, Any]]:
        """Return the own policies as planners of the pages."""
        return [
            {
                "name": one["name"],
                "kind": "preset",
                "planner": "policy",
                "summary": "A policy of yours: " + (one["words"] or "drives as it was trained to."),
                "label": one["label"],
                "needs": one["needs"],
                "learned": True,
                "missing": one["wrong"],
                "path": f"policy:file={self._folder / one['name'].removeprefix(OWN)}{SUFFIX}",
            }
            for one in self.all()
        ]

    def keep(self, name: str, data: bytes) -> dict[str, Any]:
        """Keep a policy under a name that is free, whole or not at all, and return it.

        Args:
            name: its name.
            data: its file.

        Raises:
            InputError: the name is taken or none, or the file is no policy of Agora's; nothing is kept. OSError: the disk is full.
        """
        check_name("policy", name)
        _check_head(name, data)
        with self._writing:
            if name in self.names():
                raise InputError(f"policy: there is one called {name!r} already, which runs may name; choose another name")
            self._folder.mkdir(parents=True, exist_ok=True)
            part = self._folder / f".{name}.{os.getpid()}{SUFFIX}"
            try:
                write_whole(part, data)
                _try(part)
                part.replace(self.path(name))
            except InputError as error:
                raise InputError(str(error).replace(str(part), name)) from error
            finally:
                part.unlink(missing_ok=True)
        return _told(name, self.file(name))

    def remove(self, name: str) -> None:
        """Remove an own policy.

        Raises:
            UnknownNameError: there is none of this name.
        """
        with self._writing:
            self.file(name).unlink()

    def planner(self, text: str) -> str:
        """Return the text of a planner with the files of own policies in place of their names.

        ``own/NAME`` and ``policy:file=own/NAME`` are the same.

        Raises:
            UnknownNameError: there is no own policy of this name. InputError: the path of the folder is none that a text can hold.
        """

        def put(found: re.Match[str]) -> str:
            path = str(self.file(found["name"]))
            if not _PLAIN_PATH.fullmatch(path):
                raise InputError(f"policy: the folder {self._folder} has signs in its path that a planner's text cannot hold")
            if found["file"]:
                return f"file={path}{found['rest']}"
            return f"policy:file={path}{',' if found['rest'] else ''}"

        return _NAMED.sub(put, text)

    def labelled(self, request: Request) -> Request:
        """Return a request whose own policies are called ``own|NAME`` in its rows, not by their paths."""
        return replace(request, planners=self._labels(request.planners))

    def _labels(self, planners: Mapping[str, Any]) -> dict[str, Any]:
        ways = {
            f"policy:file={self._folder / name}{SUFFIX}".replace("/", "|"): f"{OWN}{name}".replace("/", "|")
            for name in self.names()
        }
        found: dict[str, Any] = {}
        for label, planner in planners.items():
            short = next(
                (own + label.removeprefix(way).replace(",", ":", 1) for way, own in ways.items() if label.startswith(way)), label
            )
            found[short if short not in planners else label] = planner
        return found


def _check_head(name: str, data: bytes) -> None:
    """Refuse what is not the beginning of a safetensors file, before any library opens it.

    Raises:
        InputError: it is another program's file, or its header is longer than a policy's or than the file.
    """
    how = "write its layers as safetensors with Policy.of_torch(observe, layers).save(path), as the manual's page on training shows"
    length = int.from_bytes(data[:8], "little")
    if length <= len(data) - 8 and data[8:9] == b"{":
        if length > _MOST_HEADER:
            raise InputError(f"{name}: its header has {length:,} bytes; expected at most {_MOST_HEADER:,}")
        return
    if data[:1] == b"\x80" or data[:4] == b"PK\x03\x04":
        raise InputError(f"{name}: a file of PyTorch or a pickle, which can hold code and is never opened; {how}")
    if data[:4] == b"\x89HDF" or (data[:1] in (b"\x08", b"\x0a") and b"onnx" in data[:256].lower()):
        raise InputError(f"{name}: a file of Keras or ONNX, which Agora does not read as a policy; {how}")
    raise InputError(f"{name}: not a safetensors file; {how}")


def _try(path: Path) -> Policy:
    """Read a policy as the planner ``policy`` will: its header, the names and shapes of its weights, its parts."""
    planner = PolicyPlanner(str(path))
    _ = planner.declares
    return planner.policy


def _told(name: str, path: Path) -> dict[str, Any]:
    """An own policy as pages list it."""
    said: dict[str, Any] = {
        "name": f"{OWN}{name}",
        "card": None,
        "size": path.stat().st_size,
        "label": "",
        "needs": [],
        "words": "",
        "wrong": "",
    }
    try:
        policy = load_policy(path)
    except InputError as error:
        return {**said, "wrong": str(error).replace(str(path), name)}
    shapes = {key: list(array.shape) for key, array in policy.arrays.items()}
    count = sum(int(array.size) for array in policy.arrays.values())
    return {
        **said,
        "label": policy.label,
        "needs": sorted(policy.observe.needs),
        "words": f"{type(policy.network).__name__} of {count:,} weights that sees by {type(policy.observe).__name__}",
        "about": dict(policy.about),
        "body": None if policy.body is None else plain(policy.body),
        "period": policy.period,
        "weights": shapes,
    }
