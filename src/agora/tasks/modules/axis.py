"""A module that makes the episodes of a stage harder along one axis."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal

from agora import ranges
from agora.draft.stage import Stage
from agora.draft.task import Task
from agora.errors import InputError, nearest
from agora.interfaces import Module, ResetPlan
from agora.ranges import Checked
from agora.registry import Named
from agora.robots.model import RobotModel, load_robot
from agora.seeds import Stream

__all__ = ["Axis"]

_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_ROBOT = "robot."
"""Prefix of keys that belong to a robot's model."""

_ENDS = (1e-6, 1.0 - 1e-6)
"""Minimum and maximum fraction from the easy to the hard end; some keys reject the ends themselves."""


@dataclass(frozen=True)
class Axis(Checked, Module):
    """Gives each episode a difficulty between an easy and a hard end, and sets keys of the stage and its robots accordingly.

    The difficulties follow the golden-ratio sequence (a Kronecker sequence, L. Kuipers and H. Niederreiter, "Uniform distribution
    of sequences", 1974), shifted by an offset that depends on the stage's name and seed. The first episodes of a stage therefore
    cover the axis evenly, however many there are, and every planner gets the same difficulties.

    Attributes:
        axis: name of the axis. Stages with the same axis are analysed together.
        easy: value at the easy end.
        hard: value at the hard end.
        sets: keys and their values at the easy and at the hard end, such as ``obstacles.density: [0.05, 1.2]``. Numbers in a key
            select list elements, as in ``crowd.models.1.share``. Keys that begin with ``robot.`` change every robot's model, as in
            ``robot.command_delay``. Integer values stay integers. At least one key is required.
        scale: whether equal steps (linear) or equal factors (log) are equally likely, both for the axis's value and for the keys.
        unit: unit of the value, as a string that follows a number.
    """

    axis: str = "difficulty"
    easy: float = 0.0
    hard: float = 1.0
    sets: dict[str, tuple[float, float]] = field(default_factory=dict)
    scale: Literal["linear", "log"] = "linear"
    unit: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.axis:
            raise ValueError("axis must be a name, got an empty string")
        if self.easy == self.hard:
            raise ValueError(f"easy and hard must differ, got {self.easy:g} for both")
        for name, ends in {"easy and hard": (self.easy, self.hard), **self.sets}.items():
            if self.scale == "log" and min(ends) <= 0:
                raise ValueError(f"{name} must be above 0 with scale: log, got {list(ends)}")

    def fraction(self, stage: str, seed: int, episode: int) -> float:
        """Return the position of an episode on the axis, from 0 (easy end) to 1 (hard end), excluding both ends.

        Args:
            stage: ``suite/stage``.
            seed: seed of the stage.
            episode: number of the episode.
        """
        offset = float(Stream(stage, seed, "axis").uniform())
        return min(max((offset + (episode + 1) * _GOLDEN) % 1.0, _ENDS[0]), _ENDS[1])

    def value(self, fraction: float) -> float:
        """Return the value of the axis at a position given as a fraction."""
        return self._between((self.easy, self.hard), fraction)

    def before_reset(self, plan: ResetPlan) -> ResetPlan:
        """Return the plan, with the keys of its stage and robots set for the episode's difficulty.

        Raises:
            InputError: a key does not exist, no key is set, or a key rejects a value between the ends.
        """
        if not self.sets:
            raise InputError(
                "modules: axis: sets: is empty, so all episodes would be equally hard; add a key, or leave out the module"
            )
        if plan.episode == 0:
            for fraction in _ENDS:
                self._set(plan.stage, fraction)
        stage = self._set(plan.stage, self.fraction(f"{plan.suite}/{plan.stage.name}", plan.seed, plan.episode))
        return replace(plan, stage=stage)

    def _set(self, stage: Stage, fraction: float) -> Stage:
        """Return the stage with the difficulty ``fraction``; if any robot keys are set, the stage contains a module that changes
        its robots.
        """
        of_robots: dict[str, float] = {}
        for key, ends in self.sets.items():
            value = self._between(ends, fraction)
            if key.startswith(_ROBOT):
                of_robots[key.removeprefix(_ROBOT)] = value
            else:
                stage = _with(stage, key, value)
        if not of_robots:
            return stage
        for model in map(load_robot, stage.models):
            _changed(model, of_robots)
        return replace(stage, modules=(*stage.modules, Named(f"robots of {self.axis}", _Robots(of_robots))))

    def _between(self, ends: tuple[float, float], fraction: float) -> float:
        easy, hard = ends
        if self.scale == "log":
            return float(easy * (hard / easy) ** fraction)
        return easy + (hard - easy) * fraction


@dataclass(frozen=True)
class _Robots(Module):
    """Changes values in the models of a task's robots."""

    values: dict[str, float]

    def after_reset(self, task: Task) -> None:
        task.models = tuple(_changed(model, self.values) for model in task.models)


def _changed(model: RobotModel, values: Mapping[str, float]) -> RobotModel:
    for key, value in values.items():
        model = _with(model, key, value, _ROBOT)
    return model


def _with(whole: Any, key: str, value: float, before: str = "") -> Any:
    """Return a tree of dataclasses, components and lists with a new value at a key.

    Args:
        whole: root of the tree.
        key: names and numbers, joined by dots.
        value: new value; rounded if the current value is an integer.
        before: prefix of the key in messages.

    Raises:
        InputError: there is no such key, or the key does not accept the value.
    """
    name, _, rest = key.partition(".")
    if isinstance(whole, Named):
        return Named(whole.name, _with(whole.part, key, value, before))
    members: dict[Any, Any] = dict(enumerate(whole)) if isinstance(whole, tuple) else _fields(whole)
    known = {str(member): member for member in members}
    if name not in known:
        raise InputError(f"modules: axis: sets: no key {before + key!r}; {nearest(name, known)}")
    old = members[known[name]]
    if rest:
        new = _with(old, rest, value, f"{before}{name}.")
    elif isinstance(old, bool) or not isinstance(old, int | float | None):
        raise InputError(f"modules: axis: sets: {before + key!r} is not a number")
    else:
        new = round(value) if isinstance(old, int) else value
    if isinstance(whole, tuple):
        return tuple(new if number == known[name] else member for number, member in enumerate(whole))
    try:
        ranges.check(type(whole), {name: new})
        return replace(whole, **{name: new})
    except ValueError as error:
        raise InputError(f"modules: axis: sets: {before + key!r}: {error}") from error


def _fields(whole: Any) -> dict[str, Any]:
    return {each.name: getattr(whole, each.name) for each in fields(whole) if each.init} if is_dataclass(whole) else {}


def axis_of(stage: Stage) -> Axis | None:
    """Return the axis along which the episodes of a stage become harder; None if the stage has no axis."""
    return next((module.part for module in stage.modules if isinstance(module.part, Axis)), None)
