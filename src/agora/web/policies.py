"""The policies that a server has trained: their names, their cards, and the planners that drive with them.

A trained policy is called ``own/NAME`` where a planner's parameter ``file`` names a policy. A page names no other files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from agora.config import load, plain
from agora.errors import InputError, UnknownNameError
from agora.learning.card import CARD, PolicyCard
from agora.learning.run import RECORD, policy_kept
from agora.learning.seeds import seed_folder

OWN = "own/"
"""The names of own policies begin with this where names of policies are expected."""

_OWN = re.compile(r"(?<![\w/.-])own/([A-Za-z0-9][\w-]*)(?![\w/.-])")
_PATH = re.compile(r"[\\/~]|\.safetensors")


class Policies:
    """The policies of a server's trainings.

    Args:
        runs: folder of the runs; a training has its file ``training.yaml`` there.
    """

    def __init__(self, runs: Path) -> None:
        self._runs = runs

    def all(self) -> list[dict[str, Any]]:
        """Return all policies as pages list them, the newest first."""
        return [self._described(run, file) for run, file in sorted(self._found(), reverse=True)]

    def of_run(self, run: Path) -> dict[str, Any] | None:
        """Return the policy of a training as pages list it; None before its first round has ended."""
        file = _policy_of(run)
        return None if file is None else self._described(run, file)

    def planner(self, text: str) -> str:
        """Return the text of a planner as `agora.planners.presets.named_planner` takes it: own policies by their files.

        Raises:
            UnknownNameError: there is no own policy of this name. InputError: the text names a file.
        """
        rest = _OWN.sub("", text)
        if "\\" in rest or ("file" in rest and _PATH.search(rest)):
            raise InputError(
                f"planner: file: expected the name of a policy, or own/NAME of one that was trained here; got {text!r}"
            )
        return _OWN.sub(lambda found: f'"{self._file(found[1])}"', text)

    def label(self, label: str) -> str:
        """Return the label of a planner with own policies by their names; a planner of which nothing else is said is its policy."""
        there = re.escape(str(self._runs).replace("/", "|"))
        named = re.sub(rf'"{there}\|([\w-]+)\|[^"]*"', lambda found: f"own|{_name(self._runs / found[1])}", label)
        return re.sub(r"^\w+:file=own\|([\w-]+)$", r"\1", named)

    def _file(self, name: str) -> Path:
        found = {_name(run): file for run, file in self._found()}
        if name not in found:
            raise UnknownNameError("policy of your own", name, found)
        return found[name]

    def _found(self) -> Iterator[tuple[Path, Path]]:
        """The folders of trainings that have a policy, with its file."""
        for record in self._runs.glob(f"*/{RECORD}"):
            with suppress(InputError, KeyError):  # a file of another kind, or one that was changed by hand
                if (file := _policy_of(record.parent)) is not None:
                    yield record.parent, file

    def _described(self, run: Path, file: Path) -> dict[str, Any]:
        name = _name(run)
        card = run / CARD
        return {
            "name": f"{OWN}{name}",
            "card": plain(load(card, PolicyCard)) if card.is_file() else None,
            "run": run.name,
            "planner": _with_file(str(_training_in(run)["planner"]), f"{OWN}{name}"),
            "path": str(file),
        }


def _policy_of(run: Path) -> Path | None:
    """The best policy of a training's first seed so far; None before its first round has ended."""
    return policy_kept(seed_folder(run, _training_in(run)["seeds"][0]))


def _name(run: Path) -> str:
    """The name of the policy of a training: that of what is trained, and the end of the run's."""
    return f"{_training_in(run)['name']}-{run.name.rpartition('-')[2]}"


def _training_in(run: Path) -> dict[str, Any]:
    return _read(run / RECORD)


@lru_cache(maxsize=256)
def _read(record: Path) -> dict[str, Any]:
    """The training of a folder; its file does not change."""
    return load(record, dict[str, Any])


def _with_file(planner: str, file: str) -> str:
    """The text of a planner that drives with a policy."""
    if planner.endswith(")"):
        return f"{planner[:-1]},file={file})"
    return f"{planner}{',' if ':' in planner else ':'}file={file}"
