"""Uploaded policies: weight files that the ``policy`` planner uses.

Each is a file ``policies/NAME.safetensors`` in the server's folder. Weights are data, so files that could contain code are
rejected, as are files that do not match the network named in their header.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Collection
from pathlib import Path
from typing import Any

from agora.config import plain
from agora.errors import InputError, UnknownNameError
from agora.files import write_whole
from agora.planners.learned.policy import PolicyPlanner
from agora.policies.policy import Policy, load_policy
from agora.policies.weights import SUFFIX
from agora.web._file_names import check_name

_MOST_HEADER = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


class UploadedPolicies:
    """The uploaded policies.

    Args:
        folder: folder that holds their files; created when the first policy is uploaded.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._writing = folder, threading.Lock()

    def names(self) -> list[str]:
        """Return the names of the policies."""
        return sorted(path.stem for path in self._folder.glob(f"*{SUFFIX}") if _NAME.fullmatch(path.stem))

    def file(self, name: str) -> Path:
        """Return the file of a policy.

        Raises:
            UnknownNameError: there is no policy with this name.
        """
        if name not in self.names():
            raise UnknownNameError("uploaded policy", name, self.names())
        return self.path(name)

    def path(self, name: str) -> Path:
        """Return the path for a policy with a given name; the file need not exist."""
        return self._folder / f"{name}{SUFFIX}"

    def keep(self, name: str, data: bytes, taken: Collection[str] = ()) -> None:
        """Atomically store a policy under an unused name.

        Args:
            name: name of the policy.
            data: content of the file.
            taken: names that are taken, in addition to those of the uploaded policies.

        Raises:
            InputError: the name is taken or invalid, or the file is not an Agora policy; nothing is stored. OSError: the disk is
                full.
        """
        check_name("policy", name)
        _check_head(name, data)
        with self._writing:
            if name in (*self.names(), *taken):
                raise InputError(f"policy: {name!r} already exists and may be in use by runs; choose another name")
            self._folder.mkdir(parents=True, exist_ok=True)
            part = self._folder / f".{name}.{os.getpid()}{SUFFIX}"
            try:
                write_whole(part, data)
                _check_loads(part)
                part.replace(self.path(name))
            except InputError as error:
                raise InputError(str(error).replace(str(part), name)) from error
            finally:
                part.unlink(missing_ok=True)

    def remove(self, name: str) -> None:
        """Remove a policy.

        Raises:
            UnknownNameError: there is no policy with this name.
        """
        with self._writing:
            self.file(name).unlink()

    def describe(self, name: str) -> dict[str, Any]:
        """Return a description of a policy, read from its file, or what is ``wrong`` with the file.

        Raises:
            UnknownNameError: there is no policy with this name.
        """
        path = self.file(name)
        size = path.stat().st_size
        said: dict[str, Any] = {"path": str(path), "size": size, "label": "", "needs": [], "words": "", "wrong": ""}
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
            "words": f"{type(policy.network).__name__} with {count:,} weights and the encoding {type(policy.observe).__name__}",
            "about": dict(policy.about),
            "body": None if policy.body is None else plain(policy.body),
            "period": policy.period,
            "weights": shapes,
        }


def _check_head(name: str, data: bytes) -> None:
    """Reject data that does not begin like a safetensors file, before any library opens it.

    Raises:
        InputError: the data has a different format, or its header is longer than a policy's header can be, or longer than the file.
    """
    how = (
        "save its layers as safetensors with Policy.of_torch(observe, layers).save(path), as shown on the manual's page on training"
    )
    length = int.from_bytes(data[:8], "little")
    if length <= len(data) - 8 and data[8:9] == b"{":
        if length > _MOST_HEADER:
            raise InputError(f"{name}: its header has {length:,} bytes; expected at most {_MOST_HEADER:,}")
        return
    if data[:1] == b"\x80" or data[:4] == b"PK\x03\x04":
        raise InputError(f"{name}: a PyTorch file or a pickle, which can contain code and is never opened; {how}")
    if data[:4] == b"\x89HDF" or (data[:1] in (b"\x08", b"\x0a") and b"onnx" in data[:256].lower()):
        raise InputError(f"{name}: a Keras or ONNX file, which Agora does not read as a policy; {how}")
    raise InputError(f"{name}: not a safetensors file; {how}")


def _check_loads(path: Path) -> Policy:
    """Read a policy as the ``policy`` planner does: its header, the names and shapes of its weights, and its parts."""
    planner = PolicyPlanner(str(path))
    _ = planner.declares
    return planner.policy
