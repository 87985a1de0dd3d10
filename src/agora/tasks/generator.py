"""The task generator: creates one episode after another, with modes that can be switched while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from agora.config import load, split
from agora.draft.periods import Periods
from agora.draft.scenario import Pose
from agora.draft.stage import CrowdSettings, NavigationSettings, Stage
from agora.errors import InputError
from agora.interfaces import ResetPlan
from agora.registry import Named
from agora.seeds import Stream
from agora.share import folder
from agora.tasks.modules.benchmark import Benchmark
from agora.tasks.modules.dynamic_map import DynamicMap, generator_of
from agora.tasks.modules.staged import Staged
from agora.tasks.robots.guided import Guided
from agora.tasks.settings import Settings
from agora.tasks.setup import Setup
from agora.tasks.suite import after_modules, prepare, put_together, robot_starts
from agora.world.start import RobotStart, Start

__all__ = ["TaskGenerator"]


class TaskGenerator:
    """Creates episodes one after another; the caller (a ROS node, a web page or a script) runs them.

    Episode n depends only on the setup, the seed and n, not on earlier episodes or switches. Episodes are created in the same way
    as the episodes of suites (`agora.tasks.suite.put_together`).

    Args:
        settings: Arena's ``task_generator.yaml``, as a path or as its contents; if not given, the file that comes with Agora.
        tm_robots: robots mode, by name or as a component.
        tm_obstacles: obstacles mode, by name or as a component.
        tm_modules: modules, by name or as components; also accepts a comma-separated string.
        world: name or path (with a slash) of a world folder, name of a world source, "dynamic_map", or a component.
        robot: robot model: one name for all robots, or one name per robot.
        crowd: crowd model, behaviours and types of pedestrians.
        periods: periods of physics, control, crowd and sensors.
        navigation: settings of global paths.
        seed: seed of every random stream; if None, ``RANDOM.seed`` from the settings is used, or 0 if ``RANDOM.seed`` is -1.
        name: prefix of the episodes' names.

    Attributes:
        setup: settings, modes, world and robots of the episodes.
        episode: number of the next episode.

    Raises:
        InputError: a name is unknown, a file is invalid, or a mode rejects something.
    """

    def __init__(
        self,
        settings: Settings | str | Path | None = None,
        *,
        tm_robots: Any = "random",
        tm_obstacles: Any = "random",
        tm_modules: str | Sequence[Any] = (),
        world: Any = "hall",
        robot: str | tuple[str, ...] = "jackal",
        crowd: CrowdSettings | None = None,
        periods: Periods | None = None,
        navigation: NavigationSettings | None = None,
        seed: int | None = None,
        name: str = "task_generator",
    ) -> None:
        modes = (tm_robots, tm_obstacles, _modules(tm_modules))
        conditions = (crowd or CrowdSettings(), periods or Periods(), navigation or NavigationSettings())
        self.setup = Setup(_settings(settings), *modes, world, robot, *conditions)
        self.episode, self._seed, self._name, self._moves = 0, seed, name, 0
        self._stage = self.setup.stage()
        _check_seed(seed, self.setup, self._stage)

    @property
    def stage(self) -> Stage:
        """The stage from which the next episode is created, before modules change it."""
        return self._stage

    @property
    def seed(self) -> int:
        """The seed in use."""
        given = self.setup.settings.random.seed
        return max(given, 0) if self._seed is None else self._seed

    @property
    def finished(self) -> bool:
        """True if as many episodes have been created as the settings specify."""
        return 0 <= self.setup.settings.episodes <= self.episode

    def start(self, episode: int) -> Start:
        """Create an episode without changing the generator's state.

        Raises:
            InputError: a file is invalid, or something does not fit into the world.
        """
        return put_together(self.plan(episode))

    def plan(self, episode: int) -> ResetPlan:
        """Return the plan of an episode, as required by `agora.tasks.suite.resolve`, without changing the generator's state."""
        return ResetPlan(self._name, self._stage, episode, self.seed)

    def reset(self) -> Start:
        """Create the next episode.

        Raises:
            InputError: as in `start`; the next call tries the following episode.
        """
        return put_together(self.next_plan())

    def next_plan(self) -> ResetPlan:
        """Return the plan of the next episode, and advance to the episode after it."""
        self.episode += 1
        return self.plan(self.episode - 1)

    def switch(
        self,
        *,
        robots: Any = None,
        obstacles: Any = None,
        modules: str | Sequence[Any] | None = None,
        world: Any = None,
        robot: str | tuple[str, ...] | None = None,
        crowd: CrowdSettings | None = None,
        navigation: NavigationSettings | None = None,
        settings: Settings | str | Path | None = None,
    ) -> None:
        """Change the setup, starting with the next reset; values that are not given stay the same.

        Raises:
            InputError: as for the class; in that case nothing has changed.
        """
        given = {"robots": robots, "obstacles": obstacles, "world": world, "robot": robot, "crowd": crowd, "navigation": navigation}
        changes = {key: value for key, value in given.items() if value is not None}
        if modules is not None:
            changes["modules"] = _modules(modules)
        if settings is not None:
            changes["settings"] = _settings(settings)
        self._adopt(replace(self.setup, **changes))

    def configure(self, **parameters: Any) -> None:
        """Change settings, starting with the next reset; they are given by Arena's parameter names:
        ``configure(RANDOM_dynamic_max=12)``.

        Raises:
            InputError: a name is unknown or a value is rejected; in that case nothing has changed.
        """
        self._adopt(replace(self.setup, settings=self.setup.settings.with_parameters(parameters)))

    def _adopt(self, setup: Setup) -> None:
        stage = setup.stage()
        _check_seed(self._seed, setup, stage)
        self.setup, self._stage = setup, stage

    def next_stage(self, by: int = 1) -> int:
        """Move the curriculum forward by ``by`` stages, or back if negative, clamped to its first and last stage; return the number
        of the new stage.

        Raises:
            InputError: the ``staged`` module is not in use.
        """
        module = self._staged()
        moved = module.part.moved(by)
        if "staged" in self.setup.modules:
            self.configure(STAGED_index=moved.index)
        else:
            given = (moved if part in (module, module.part) else part for part in self.setup.modules)
            self._adopt(replace(self.setup, modules=tuple(given)))
        index: int = moved.index
        return index

    def previous_stage(self) -> int:
        """Go back to the previous stage of the curriculum; return the number of the new stage."""
        return self.next_stage(-1)

    def new_map(self, generator: Named | None = None, maps: int = 1) -> None:
        """Let the ``dynamic_map`` module use new maps, starting with the next episode; the maps are made by ``generator`` if given.

        Raises:
            InputError: the ``dynamic_map`` module is not in use, the next map cannot be generated, or another module chooses the
                world; in that case nothing has changed.
        """
        before, stage = self.setup, self._stage
        number = next((k for k, m in enumerate(stage.modules) if isinstance(m.part, DynamicMap)), None)
        if number is None:
            raise InputError("only the module 'dynamic_map' generates maps: map_file must be dynamic_map")
        module = stage.modules[number]
        moved = replace(module.part, generator=generator or module.part.generator, ahead=module.part.ahead + maps)
        world = after_modules(self.plan(self.episode)).stage.world
        self._adopt(replace(before, modules=(*before.modules[:number], Named(module.name, moved), *before.modules[number + 1 :])))
        try:
            self._check_next_map(generator, world)
        except InputError:
            self._adopt(before)
            raise

    def _check_next_map(self, generator: Named | None, before: Named) -> None:
        """Make sure that the next episode takes place in a world that differs from ``before`` and, if ``generator`` is given, was
        made by it.

        Raises:
            InputError: another module chooses the world, or the map cannot be generated.
        """
        world = prepare(self.plan(self.episode))[0].stage.world
        used = generator_of(world.part)
        if world != before and generator in (None, used):
            return
        there = f"world {world.name!r}" if used is None else f"a map of {used.name!r}"
        others = ", ".join(repr(m.name) for m in self._stage.modules if not isinstance(m.part, DynamicMap))
        raise InputError(f"the next episode uses {there} regardless of the requested map, because of {others} in tm_modules")

    @property
    def stage_number(self) -> tuple[int, bool]:
        """Return the number of the current curriculum stage, and whether it is the last stage.

        Raises:
            InputError: the ``staged`` module is not in use.
        """
        part = self._staged().part
        return part.index, part.index == len(part.stages()) - 1

    def _staged(self) -> Named:
        module = next((m for m in self._stage.modules if isinstance(m.part, Staged)), None)
        if module is None:
            raise InputError("only the module 'staged' has curriculum stages, and it is not in use")
        return module

    @property
    def waypoints(self) -> tuple[Pose, ...]:
        """The waypoints that the ``guided`` robots mode cycles through."""
        return self._guided().route().waypoints

    def append_waypoint(self, pose: Pose) -> None:
        """Append a waypoint to the waypoint list of the ``guided`` robots mode.

        Raises:
            InputError: the robots mode is not ``guided``.
        """
        self._adopt(replace(self.setup, robots=Named("guided", self._guided().with_waypoint(pose))))

    def estimate_pose(self, pose: Pose) -> None:
        """Clear the waypoint list of the ``guided`` robots mode, and make the robot start at the given pose.

        Raises:
            InputError: the robots mode is not ``guided``.
        """
        self._adopt(replace(self.setup, robots=Named("guided", self._guided().restarted(pose))))

    def _guided(self) -> Guided:
        mode = self._stage.robots.part
        if not isinstance(mode, Guided):
            raise InputError(f"waypoints need the robots mode 'guided', not {self._stage.robots.name!r}")
        return mode

    def teleport(self, start: Start, taken: ArrayLike = ()) -> tuple[RobotStart, ...]:
        """Return new poses and goals for the robots in a running episode; the ``explore`` mode needs them after a time-out.

        Obstacles and pedestrians stay where they are. Each call draws new poses and goals.

        Args:
            start: start of the episode.
            taken: (K, 3) discs (x, y, radius) of the people and robots that are present, m.

        Raises:
            PlacementError: there is no room.
        """
        self._moves += 1
        plan, task, models = prepare(self.plan(max(self.episode - 1, 0)))
        task.stream = Stream(start.entry, start.seed, "teleport", self._moves)
        discs = np.asarray(taken, np.float64).reshape(-1, 3)
        task.map = replace(start.map, discs=np.vstack([start.map.discs, discs]))
        task.robots = plan.stage.robots.part.place(task)
        for finish in task.later:
            finish()
        return robot_starts(task, models)


def _check_seed(seed: int | None, setup: Setup, stage: Stage) -> None:
    """Check that a given seed applies to every episode.

    Raises:
        InputError: the settings, or stages of an Arena benchmark, have their own seeds.
    """
    if seed is None:
        return
    if setup.settings.random.seed >= 0:
        raise InputError(f"seed {seed}: the settings have a seed, RANDOM.seed: {setup.settings.random.seed}; leave one of them out")
    for module in stage.modules:
        stages = module.part.read().suite.stages if isinstance(module.part, Benchmark) else ()
        if own := [each.name for each in stages if each.seed is not None]:
            raise InputError(f"seed {seed}: has no effect in {', '.join(own)} of the benchmark, which have their own seeds")


def _settings(given: Settings | str | Path | None) -> Settings:
    if isinstance(given, Settings):
        return given
    return load(folder("configs") / "task_generator.yaml" if given is None else given, Settings)


def _modules(given: str | Sequence[Any]) -> tuple[Any, ...]:
    if isinstance(given, str):
        return tuple(name.strip() for name in split(given))
    return tuple(given)
