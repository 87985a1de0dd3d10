"""A curriculum: stages of growing difficulty."""

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
    """A stage of Arena 3.0's curriculum files, which are lists of stages.

    Attributes:
        static: number of static obstacles.
        interactive: number of obstacles that pedestrians use.
        dynamic: number of pedestrians.
        goal_radius: distance at which a goal counts as reached, m.
        map_generator: ``algorithm`` and ``algorithm_config`` for the module ``dynamic_map``; or, as in older files, a mapping of
            algorithms, each with its configuration, of which the first is used.
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
        """The algorithm that generates maps, as Arena's ``map_generator.yaml`` names it."""
        if "algorithm" in self.map_generator:
            return self.map_generator
        name, config = next(iter(self.map_generator.items()))
        return {"algorithm": name, "algorithm_config": config}


@dataclass(frozen=True)
class Staged(Module):
    """Arena's ``staged``: numbers of obstacles, goal radius and kind of map come from a stage of a curriculum.

    The obstacles mode is ``random``, whose numbers it sets; the maps are those of the module ``dynamic_map``, if it comes after.

    Attributes:
        curriculum: a name in ``configs/training/curriculums``, with or without ``.yaml``, or a path, which has a slash.
        index: number of the stage, limited to the first and the last.
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
        """The file.

        Raises:
            InputError: there is no such file.
        """
        return [named_file("training/curriculums", self.curriculum, ".yaml")]

    def stages(self) -> tuple[CurriculumStage, ...]:
        """The stages of the curriculum.

        Raises:
            InputError: the file is wrong, or empty.
        """
        (path,) = self.files()
        return _read_once(path, path.stat().st_mtime_ns)

    def moved(self, by: int) -> Staged:
        """The module some stages further, or back; not beyond the last or below the first."""
        return replace(self, index=self.index + by)

    def before_reset(self, plan: ResetPlan) -> ResetPlan:
        """Return the plan with the numbers of the present stage.

        Raises:
            InputError: the obstacles mode is another.
        """
        stage, mode = self.stages()[self.index], plan.stage.obstacles.part
        if not isinstance(mode, Random):
            raise InputError(f"module 'staged' sets the numbers of obstacles mode 'random', got {plan.stage.obstacles.name!r}")
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
    """An amount of so many, of the models that there were."""
    if isinstance(present, Amount) and present.models:
        return replace(present, min=count, max=count)
    return Amount(count, count, (model,))


def _with_maps(module: Named, stage: CurriculumStage) -> Named:
    """The module, with the stage's maps if it is the one that makes them."""
    if not isinstance(module.part, DynamicMap) or not stage.map_generator:
        return module
    return Named(module.name, module.part.with_algorithm(stage.algorithm()))


@lru_cache(maxsize=16)
def _read_once(path: Path, changed: int) -> tuple[CurriculumStage, ...]:
    stages = load(path, tuple[CurriculumStage, ...])
    if not stages:
        raise InputError(f"{path}:1: expected at least one stage, got none")
    return stages
