"""A curriculum: stages of increasing difficulty."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar

from agora.config import load
from agora.errors import InputError
from agora.interfaces import Module, ResetPlan
from agora.maps.generators.arena import from_arena
from agora.ranges import Checked, Within
from agora.registry import Named
from agora.share import named_file
from agora.tasks.modules.dynamic_map import DynamicMap
from agora.tasks.obstacles.random import Amount, Random
from agora.tasks.population import MOST
from agora.world.start import WIDEST_GOAL


@dataclass(frozen=True)
class CurriculumStage(Checked):
    """A stage in an Arena 3.0 curriculum file, which is a list of stages.

    Attributes:
        static: number of static obstacles.
        interactive: number of obstacles that pedestrians use.
        dynamic: number of pedestrians.
        goal_radius: distance at which a goal counts as reached, m.
        map_generator: ``algorithm`` and ``algorithm_config`` for the ``dynamic_map`` module; or, as in older files, a mapping from
            algorithms to their configurations, of which the first is used.
    """

    static: Annotated[int, Within(0, MOST)] = 0
    interactive: Annotated[int, Within(0, MOST)] = 0
    dynamic: Annotated[int, Within(0, MOST)] = 0
    goal_radius: Annotated[float, Within(0.0, WIDEST_GOAL, above=True)] = 0.3
    map_generator: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.map_generator:
            try:
                from_arena(self.algorithm())
            except InputError as error:
                raise ValueError(f"map_generator: {error}") from error

    def algorithm(self) -> dict[str, Any]:
        """Return the algorithm that generates maps, in the format of Arena's ``map_generator.yaml``."""
        if "algorithm" in self.map_generator:
            return self.map_generator
        name, config = next(iter(self.map_generator.items()))
        return {"algorithm": name, "algorithm_config": config}


@dataclass(frozen=True)
class Staged(Module):
    """Arena's ``staged``: takes the numbers of obstacles, the goal radius and the type of map from a curriculum stage.

    The obstacles mode must be ``random``; this module sets its numbers. If the ``dynamic_map`` module comes after this module, it
    uses the map algorithm of the curriculum stage.

    Attributes:
        curriculum: name of a file in ``configs/training/curriculums``, with or without ``.yaml``, or a path, which must contain a
            slash.
        index: number of the current curriculum stage, clamped to the first and last stages.
    """

    sets: ClassVar = ("goal_tolerance",)

    curriculum: str = "default"
    index: int = 0

    def __post_init__(self) -> None:
        try:
            last = len(self.stages()) - 1
        except InputError as error:
            raise ValueError(f"curriculum: {error}") from error
        object.__setattr__(self, "index", min(max(self.index, 0), last))

    def files(self) -> list[Path]:
        """Return the curriculum file.

        Raises:
            InputError: there is no such file.
        """
        return [named_file("training/curriculums", self.curriculum, ".yaml")]

    def stages(self) -> tuple[CurriculumStage, ...]:
        """Return the stages of the curriculum.

        Raises:
            InputError: the file is invalid or empty.
        """
        (path,) = self.files()
        return _read_once(path, path.stat().st_mtime_ns)

    def moved(self, by: int) -> Staged:
        """Return the module, moved forward or back by a number of stages, clamped to the first and last stages."""
        return replace(self, index=self.index + by)

    def before_reset(self, plan: ResetPlan) -> ResetPlan:
        """Return the plan with the current curriculum stage's numbers of obstacles, goal radius and map algorithm.

        Raises:
            InputError: the obstacles mode is not ``random``.
        """
        stage, mode = self.stages()[self.index], plan.stage.obstacles.part
        if not isinstance(mode, Random):
            raise InputError(f"module 'staged' works only with the obstacles mode 'random', got {plan.stage.obstacles.name!r}")
        counted = replace(
            mode,
            static=_exactly(stage.static, mode.static, "shelf"),
            interactive=_exactly(stage.interactive, mode.interactive, "shelf"),
            dynamic=_exactly(stage.dynamic, mode.dynamic, "actor1"),
        )
        obstacles = Named(plan.stage.obstacles.name, counted)
        modules = tuple(_with_maps(module, stage) for module in plan.stage.modules)
        return replace(plan, stage=replace(plan.stage, obstacles=obstacles, goal_tolerance=stage.goal_radius, modules=modules))


def _exactly(count: int, present: Amount | tuple[int, int], model: str) -> Amount:
    """Return an amount of exactly ``count`` obstacles with the current models, or with ``model`` if there are no current models."""
    if isinstance(present, Amount) and present.models:
        return replace(present, min=count, max=count)
    return Amount(count, count, (model,))


def _with_maps(module: Named, stage: CurriculumStage) -> Named:
    """Return the module; if it is ``dynamic_map``, return it with the curriculum stage's map algorithm."""
    if not isinstance(module.part, DynamicMap) or not stage.map_generator:
        return module
    return Named(module.name, module.part.with_algorithm(stage.algorithm()))


@lru_cache(maxsize=16)
def _read_once(path: Path, changed: int) -> tuple[CurriculumStage, ...]:
    stages = load(path, tuple[CurriculumStage, ...])
    if not stages:
        raise InputError(f"{path}:1: expected at least one stage, got none")
    return stages
