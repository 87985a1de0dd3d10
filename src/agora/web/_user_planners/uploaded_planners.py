"""The planners that somebody brought along as code: files of Python, which the planner ``contained`` runs, confined.

Each is the file ``planners/NAME.py`` of the server's folder; ``planners/NAME.json`` beside it is its card, which was read in a
confined process when the file came. The server itself never imports one.
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
from agora.planners.contained.child import ended, started
from agora.planners.contained.confine import lack
from agora.web._file_names import check_name

LARGEST = 256 << 10
"""Most bytes of a file."""

NOT_ALLOWED = "this server runs no code of its users; its administrator allows it by agora web --allow-code"
"""The reason why planners as code are refused by default."""

PATIENCE = 60.0
"""Longest time until a file has been read, s."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_MOST_CARD = 1 << 18
_AFTER = 2.0
"""Longest time from a card to the end of its process, s."""


@dataclass(frozen=True)
class _Field:
    """A parameter as forms show it; see `agora.web._catalogue.fields_of`."""

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
    """The contents of a planner's file, as its own process says them: a stranger's words.

    Attributes:
        wrong: what is wrong with it; empty where nothing is.
        text: docstring of the planner.
        needs: names of the channels that it reads.
        fields: its parameters.
    """

    wrong: str = ""
    text: str = ""
    needs: tuple[str, ...] = ()
    fields: tuple[_Field, ...] = ()


class UploadedPlanners:
    """The planners that were brought along.

    Args:
        folder: folder of their files; made where the first is kept.
        allowed: whether the administrator allows code.
    """

    def __init__(self, folder: Path, *, allowed: bool) -> None:
        self._folder, self._allowed, self._writing = folder, allowed, threading.Lock()
        self._reading = threading.Lock()

    @property
    def refusal(self) -> str:
        """The reason why no code runs here; empty where it does."""
        return lack() if self._allowed else NOT_ALLOWED

    def names(self) -> list[str]:
        """Names of the planners."""
        return sorted(path.stem for path in self._folder.glob("*.py") if _NAME.fullmatch(path.stem))

    def path(self, name: str) -> Path:
        """Return the file of a planner of a name, which may not be there."""
        return self._folder / f"{name}.py"

    def file(self, name: str) -> Path:
        """The file of a planner.

        Raises:
            UnknownNameError: there is none of this name.
        """
        if name not in self.names():
            raise UnknownNameError("planner of yours", name, self.names())
        return self.path(name)

    def check_allowed(self) -> None:
        """Refuse code where it does not run.

        Raises:
            InputError: the administrator does not allow it, or the system cannot confine it.
        """
        if refusal := self.refusal:
            raise InputError(f"planner: {refusal}")

    def read(self, name: str, data: bytes) -> PlannerCard:
        """Return the card of a planner's file, which a confined process reads; of all that come, one at a time.

        Raises:
            InputError: code is not allowed, the name is none, another file is being read, or there is no planner in the file.
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
        """Keep a planner under a name that is free.

        Args:
            name: its name.
            data: its file.
            card: its card, as `read` gives it.
            taken: names that are not free, besides those of the planners here.
            instead: replace the planner of this name, if there is one.

        Raises:
            InputError: the name is taken; nothing is kept. OSError: the disk is full.
        """
        with self._writing:
            if name in taken or (name in self.names() and not instead):
                raise InputError(f"planner: there is one called {name!r} already, which runs may name; choose another name")
            self._folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._card(name), json.dumps(asdict(card)))
            write_whole(self.path(name), data)

    def remove(self, name: str) -> None:
        """Remove a planner.

        Raises:
            UnknownNameError: there is none of this name.
        """
        with self._writing:
            self.file(name).unlink()
            self._card(name).unlink(missing_ok=True)

    def all(self) -> list[dict[str, Any]]:
        """Return all planners as pages list them."""
        return [self.describe(name) for name in self.names()]

    def describe(self, name: str) -> dict[str, Any]:
        """Return a planner as pages list it.

        Raises:
            UnknownNameError: there is none of this name.
        """
        card = self._read(name)
        return {
            "name": f"own/{name}",
            "kind": "planner",
            "planner": f"own:{name}",
            "summary": " ".join(card.text.partition("\n\n")[0].split()) or "A planner of yours.",
            "label": "own",
            "needs": list(card.needs),
            "changes": {},
            "learned": False,
            "missing": self.refusal or card.wrong,
            "path": str(self.path(name)),
        }

    def component(self, name: str) -> dict[str, Any]:
        """Return a planner with its fields, as `agora.web._catalogue.component` does.

        Raises:
            UnknownNameError: there is none of this name.
        """
        card = self._read(name)
        fields = [asdict(one) for one in card.fields]
        said = {"kind": "planners", "name": f"own/{name}", "summary": self.describe(name)["summary"], "text": card.text}
        return {**said, "fields": fields, "records": {}}

    def _card(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def _read(self, name: str) -> PlannerCard:
        """The card that was kept with a planner."""
        file = self.file(name)
        try:
            return build(json.loads(self._card(name).read_text(encoding="utf-8")), PlannerCard, file.name)
        except (OSError, ValueError, AgoraError):
            return PlannerCard("the card that was kept with it cannot be read; bring the file again")


def _card_of(file: Path) -> PlannerCard:
    """Say what is in a file, or what is wrong with it; it is read in a process of its own."""
    mine, its = os.pipe()
    with tempfile.TemporaryFile() as output, os.fdopen(mine, "rb") as read:
        child = started("agora.web._user_planners.planner_card", [str(its), str(file)], output, its, files=[file])
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
            return PlannerCard(f"{file.name}: it is not imported within {PATIENCE:g} s")
        if not data:
            return PlannerCard(f"{file.name}: cannot be imported: {ended(code, output)}")
    try:
        card = build(json.loads(data), PlannerCard, file.name)
    except (ValueError, RecursionError, InputError):
        return PlannerCard(f"{file.name}: its process does not say what it is")
    return replace(card, fields=tuple(replace(one, shape=None) for one in card.fields))
