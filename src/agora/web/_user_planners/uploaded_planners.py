"""Planners uploaded as code: Python files that the ``contained`` planner runs in a sandboxed process.

Each is a file ``planners/NAME.py`` in the server's folder; ``planners/NAME.json`` is its card, which a sandboxed process created
when the file was uploaded. The server itself never imports such a file.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Collection
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from agora.config import build
from agora.errors import AgoraError, InputError, UnknownNameError
from agora.files import write_whole
from agora.planners.contained.child import describe_end, start_process
from agora.planners.contained.confine import lack
from agora.web._file_names import check_name

LARGEST = 256 << 10
"""Maximum size of a file, bytes."""

NOT_ALLOWED = "this server does not run users' code; its administrator can allow it with agora web --allow-code"
"""The reason why planners uploaded as code are rejected by default."""

PATIENCE = 60.0
"""Maximum time for reading a file, s."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_MOST_CARD = 1 << 18
_AFTER = 2.0
"""Maximum time from receiving a card to the end of the process that sent it, s."""


@dataclass(frozen=True)
class _Field:
    """A parameter in the format of forms; see `agora.web._catalogue.fields_of`."""

    name: str
    type: str
    words: str = ""
    default: Any = None
    required: bool = False
    least: float | None = None
    most: float | None = None
    above: bool = False
    choices: tuple[str, ...] = ()
    kind: str = ""
    shape: Any = None
    help: str = ""


@dataclass(frozen=True)
class PlannerCard:
    """The description of a planner's file. The card is untrusted, because it is reported by the process that runs the file.

    Attributes:
        wrong: problem with the file; empty if there is none.
        text: docstring of the planner.
        needs: names of the channels that the planner reads.
        fields: parameters of the planner.
    """

    wrong: str = ""
    text: str = ""
    needs: tuple[str, ...] = ()
    fields: tuple[_Field, ...] = ()


class UploadedPlanners:
    """The uploaded planners.

    Args:
        folder: folder that holds their files; created when the first planner is uploaded.
        allowed: whether the administrator allows uploaded code.
    """

    def __init__(self, folder: Path, *, allowed: bool) -> None:
        self._folder, self._allowed, self._writing = folder, allowed, threading.Lock()
        self._reading = threading.Lock()

    @property
    def refusal(self) -> str:
        """The reason why uploaded code cannot run on this server; empty if it can."""
        return lack() if self._allowed else NOT_ALLOWED

    def names(self) -> list[str]:
        """Return the names of the planners."""
        return sorted(path.stem for path in self._folder.glob("*.py") if _NAME.fullmatch(path.stem))

    def path(self, name: str) -> Path:
        """Return the path for a planner with a given name; the file need not exist."""
        return self._folder / f"{name}.py"

    def file(self, name: str) -> Path:
        """Return the file of a planner.

        Raises:
            UnknownNameError: there is no planner with this name.
        """
        if name not in self.names():
            raise UnknownNameError("uploaded planner", name, self.names())
        return self.path(name)

    def check_allowed(self) -> None:
        """Reject uploaded code if it cannot run on this server.

        Raises:
            InputError: the administrator does not allow uploaded code, or the system cannot sandbox it.
        """
        if refusal := self.refusal:
            raise InputError(f"planner: {refusal}")

    def read(self, name: str, data: bytes) -> PlannerCard:
        """Return the card of a planner's file, which a sandboxed process reads; only one file is read at a time.

        Raises:
            InputError: uploaded code is not allowed, the name is invalid, another file is being read, or the file does not define a
                planner.
        """
        self.check_allowed()
        check_name("planner", name)
        if len(data) > LARGEST:
            raise InputError(f"{name}.py: expected a file of at most {LARGEST >> 10} KiB")
        if not self._reading.acquire(blocking=False):
            raise InputError(f"{name}.py: the server is reading another planner; try again in a moment")
        try:
            with tempfile.TemporaryDirectory(prefix="agora-planner-") as place:
                part = Path(place) / f"{name}.py"
                part.write_bytes(data)
                card = _card_of(part)
        finally:
            self._reading.release()
        if card.wrong:
            raise InputError(card.wrong)
        return card

    def keep(self, name: str, data: bytes, card: PlannerCard, taken: Collection[str] = (), *, instead: bool = False) -> None:
        """Store a planner under an unused name.

        Args:
            name: name of the planner.
            data: content of the file.
            card: card of the planner, from `read`.
            taken: names that are taken, in addition to those of the uploaded planners.
            instead: whether to replace an existing planner with this name.

        Raises:
            InputError: the name is taken; nothing is stored. OSError: the disk is full.
        """
        with self._writing:
            if name in taken or (name in self.names() and not instead):
                raise InputError(f"planner: {name!r} already exists and may be in use by runs; choose another name")
            self._folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._card(name), json.dumps(asdict(card)))
            write_whole(self.path(name), data)

    def remove(self, name: str) -> None:
        """Remove a planner.

        Raises:
            UnknownNameError: there is no planner with this name.
        """
        with self._writing:
            self.file(name).unlink()
            self._card(name).unlink(missing_ok=True)

    def all(self) -> list[dict[str, Any]]:
        """Return all planners in the format used by the front end."""
        return [self.describe(name) for name in self.names()]

    def describe(self, name: str) -> dict[str, Any]:
        """Return a planner in the format used by the front end.

        Raises:
            UnknownNameError: there is no planner with this name.
        """
        card = self._read(name)
        return {
            "name": f"own/{name}",
            "kind": "planner",
            "planner": f"own:{name}",
            "summary": " ".join(card.text.partition("\n\n")[0].split()) or "One of your planners.",
            "label": "own",
            "needs": list(card.needs),
            "changes": {},
            "learned": False,
            "missing": self.refusal or card.wrong,
            "path": str(self.path(name)),
        }

    def component(self, name: str) -> dict[str, Any]:
        """Return a planner with its fields, in the format of `agora.web._catalogue.component`.

        Raises:
            UnknownNameError: there is no planner with this name.
        """
        card = self._read(name)
        fields = [asdict(one) for one in card.fields]
        said = {"kind": "planners", "name": f"own/{name}", "summary": self.describe(name)["summary"], "text": card.text}
        return {**said, "fields": fields, "records": {}}

    def _card(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def _read(self, name: str) -> PlannerCard:
        """Return the stored card of a planner."""
        file = self.file(name)
        try:
            return build(json.loads(self._card(name).read_text(encoding="utf-8")), PlannerCard, file.name)
        except (OSError, ValueError, AgoraError):
            return PlannerCard("its stored card cannot be read; upload the file again")


def _card_of(file: Path) -> PlannerCard:
    """Return the card of a file, or its problem; a separate process reads the file."""
    mine, its = os.pipe()
    with tempfile.TemporaryFile() as output, os.fdopen(mine, "rb") as read:
        child = start_process("agora.web._user_planners.planner_card", [str(its), str(file)], output, its, files=[file])
        os.close(its)
        late = threading.Timer(PATIENCE, child.kill)
        late.start()
        try:
            data = read.read(_MOST_CARD)
        finally:
            in_time = late.is_alive()
            late.cancel()
            with suppress(subprocess.TimeoutExpired):
                child.wait(_AFTER)
            child.kill()
            code = child.wait()
        if not in_time:
            return PlannerCard(f"{file.name}: it was not imported within {PATIENCE:g} s")
        if not data:
            return PlannerCard(f"{file.name}: cannot be imported: {describe_end(code, output)}")
    try:
        card = build(json.loads(data), PlannerCard, file.name)
    except (ValueError, RecursionError, InputError):
        return PlannerCard(f"{file.name}: its process sent no valid description of the planner")
    return replace(card, fields=tuple(replace(one, shape=None) for one in card.fields))
