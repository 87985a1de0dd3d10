"""Suites and contests of an Arena installation, with the stages and planners that can be played here."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agora.config import dump, load
from agora.errors import InputError
from agora.planners.presets import named_interplanner, named_planner
from agora.tasks.arena_benchmark import ContestFile, SuiteFile, stage_of
from agora.tasks.suite import Stage, Suite


@dataclass
class Playable:
    """What can be played of a file.

    Attributes:
        text: the file with the entries that can; empty if none.
        reasons: why others cannot, a line for those that have the same reason.
    """

    text: str
    reasons: list[str]


@dataclass
class _Kept:
    """Entries of a list in a file, one after the other."""

    entries: list[Any] = field(default_factory=list)
    refused: dict[str, list[str]] = field(default_factory=dict)

    def playable(self, key: str, where: str) -> Playable:
        reasons = [f"{where}: {', '.join(names)}: {reason}" for reason, names in self.refused.items()]
        return Playable(dump({key: self.entries}) if self.entries else "", reasons)


def playable_suite(path: Path) -> Playable:
    """Return a file of ``suites`` with those of its stages whose worlds, scenarios, robots and modes are there and make sense.

    Raises:
        InputError: the file is wrong.
    """
    stages, raw, kept = load(path, SuiteFile).stages, load(path, dict[str, Any])["stages"], _Kept()
    for number, stage in enumerate(stages):
        try:
            _check(stage_of(path, number, stage), path)
        except InputError as error:
            kept.refused.setdefault(_reason(error, f"stages[{number}]: "), []).append(stage.name)
        else:
            kept.entries.append(raw[number])
    return kept.playable("stages", f"suite {path.stem}")


def playable_contest(path: Path) -> Playable:
    """Return a file of ``contests`` with those of its contestants whose planners and interplanners are there.

    Raises:
        InputError: the file is wrong.
    """
    contestants, raw, kept = load(path, ContestFile).contestants, load(path, dict[str, Any])["contestants"], _Kept()
    for number, contestant in enumerate(contestants):
        try:
            named_planner(contestant.local_planner)
            named_interplanner(contestant.inter_planner)
        except InputError as error:
            kept.refused.setdefault(_reason(error), []).append(contestant.name)
        else:
            kept.entries.append(raw[number])
    return kept.playable("contestants", f"contest {path.stem}")


def _check(stage: Stage, path: Path) -> None:
    """Place what a scenario says, which is the same in every episode.

    Raises:
        InputError: a file is wrong, or somebody would stand in a wall or in another.
    """
    if stage.robots.name == stage.obstacles.name == "scenario":
        Suite(path.stem, (stage,)).start(stage.name, 0)


def _reason(error: InputError, after: str = "") -> str:
    """The reason alone, without the place and the list of what there is."""
    text = str(error).splitlines()[0]
    return (text.partition(after)[2] or text if after else text).partition(";")[0]
