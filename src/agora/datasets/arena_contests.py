"""Reduces the suites and contests of an Arena installation to the stages and planners that this installation of Agora can run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agora.config import dump, load
from agora.draft.stage import Stage
from agora.errors import InputError
from agora.planners.presets import named_interplanner, named_planner
from agora.tasks.arena_benchmark import Contestant, ContestFile, StageEntry, SuiteFile, stage_of
from agora.tasks.suite import Suite


@dataclass
class Playable:
    """The part of a suite or contest file that can be run.

    Attributes:
        text: text of a file with only the entries that can be run; empty if no entry can be run.
        reasons: reasons why the other entries cannot be run, one line per reason.
    """

    text: str
    reasons: list[str]


def playable_suite(path: Path) -> Playable:
    """Reduce a file from ``suites`` to the stages whose worlds, scenarios, robots and modes exist and are valid.

    Raises:
        InputError: the file is invalid.
    """

    def check(number: int, stage: StageEntry) -> None:
        _check(stage_of(path, number, stage), path)

    return _playable(path, "suite", "stages", load(path, SuiteFile).stages, check)


def playable_contest(path: Path) -> Playable:
    """Reduce a file from ``contests`` to the contestants whose planners and interplanners are available.

    Raises:
        InputError: the file is invalid.
    """

    def check(number: int, contestant: Contestant) -> None:
        named_planner(contestant.local_planner)
        named_interplanner(contestant.inter_planner)

    return _playable(path, "contest", "contestants", load(path, ContestFile).contestants, check)


def _playable(path: Path, kind: str, key: str, entries: Sequence[Any], check: Callable[[int, Any], None]) -> Playable:
    """Reduce a file to the entries that pass a check, and collect the reasons why the other entries fail."""
    raw, kept = load(path, dict[str, Any])[key], []
    refused: dict[str, list[str]] = {}
    for number, entry in enumerate(entries):
        try:
            check(number, entry)
        except InputError as error:
            refused.setdefault(_reason(error, f"{key}[{number}]: "), []).append(entry.name)
        else:
            kept.append(raw[number])
    reasons = [f"{kind} {path.stem}: {', '.join(names)}: {reason}" for reason, names in refused.items()]
    return Playable(dump({key: kept}) if kept else "", reasons)


def _check(stage: Stage, path: Path) -> None:
    """Check a stage with a scenario by placing its robots and people, which are the same in every episode.

    Raises:
        InputError: a file is invalid, or a pedestrian or robot would overlap a wall or another pedestrian or robot.
    """
    if stage.robots.name == stage.obstacles.name == "scenario":
        Suite(path.stem, (stage,)).start(stage.name, 0)


def _reason(error: InputError, after: str) -> str:
    """Return only the reason from an error message, without the location (which ends with ``after``) and the list of existing
    names.
    """
    text = str(error).splitlines()[0]
    return (text.partition(after)[2] or text).partition(";")[0]
