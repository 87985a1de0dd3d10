"""Plans the robots' global paths, and decides when a new path is due."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from agora.core.answers import blame, numbers
from agora.core.state import Array, Bools, Doubles, Floats
from agora.interfaces import GlobalPlanner, PathRequest

if TYPE_CHECKING:
    from agora.engine.conditions import Conditions
    from agora.engine.observers import Observers
    from agora.maps.grid import Map
    from agora.robots.model import RobotModel
    from agora.world.start import Start
    from agora.world.world import World


class Paths:
    """Gives the robots of a batch their global paths, if their planners read paths.

    Args:
        world: state of the worlds.
        observers: observers, which receive the paths and compute the costs that layers add to the map.
        conditions: conditions of the batch: the global planner, its replanning period, and the layers.
        keep: whether to keep the paths of an episode for `stored_paths`.
    """

    def __init__(self, world: World, observers: Observers, conditions: Conditions, *, keep: bool = False) -> None:
        self._world, self._observers, self._needed = world, observers, observers.read_paths
        self._planner, self._layered = conditions.global_planner, bool(conditions.layers)
        self._every = round(conditions.replan / conditions.periods.physics) if self._needed else 0
        self._starts: dict[int, Start] = {}
        self._looked = np.zeros(world.layout.worlds, np.int64)
        self._keep = keep and self._needed
        self._given: dict[tuple[int, int], list[Doubles]] = {}

    def begin(self, w: int, start: Start) -> None:
        """Start an episode in one world: every robot gets a path to its first goal."""
        self._starts[w], self._looked[w] = start, 0
        for r, robot in enumerate(start.robots):
            self._given[w, r] = []
            self.plan(w, r, robot.pose, robot.goals[0])

    def forget(self, w: int) -> None:
        """Restart the replanning schedule of a world."""
        self._looked[w] = 0

    def due_worlds(self, step: Array) -> Bools:
        """Return the worlds (W,) whose paths are due for replanning.

        Args:
            step: (W,) number of physics steps since each episode began; it must be higher than at the previous call.
        """
        if self._every == 0:
            return np.zeros(len(self._looked), np.bool_)
        late: Bools = step // self._every > self._looked // self._every
        self._looked[...] = step
        return late

    def pose(self, w: int, r: int) -> Doubles:
        """Return the pose of a robot, (3,) m and rad."""
        robots = self._world.robots
        return np.array([robots.x[w, r], robots.y[w, r], robots.heading[w, r]], float)

    def replan(self, w: int, r: int) -> None:
        """Give a robot the path from its current position to its current goal."""
        goals = self._world.status.goals
        self.plan(w, r, self.pose(w, r), np.array([goals.x[w, r], goals.y[w, r], goals.heading[w, r]], float))

    def plan(self, w: int, r: int, here: Array, goal: Array) -> None:
        """Plan a path from a place to a goal, given as points (2,) in metres or poses (3,), and give it to a robot; the robot gets
        an empty path if there is none.
        """
        if self._needed:
            path = self.find(w, r, here, goal)
            self._observers.set_path(w, r, path)
            if self._keep:
                now = float(self._world.status.clock.step[w]) * self._world.dt
                points = path if len(path) else np.asarray(here, float)[None, :2]
                self._given[w, r].append(np.column_stack((np.full(len(points), now), points)))

    def stored_paths(self, w: int, r: int) -> Doubles | None:
        """Return all paths that a robot has had since its episode began, in the form of
        `agora.core.recording.Recording.planned_path`; None if paths are not kept.
        """
        return np.concatenate(self._given[w, r]) if self._keep else None

    def find(self, w: int, r: int, here: Array, goal: Array) -> Floats:
        """Return the global planner's path (K, 2), m, from a place to a goal, given as points (2,) in metres or poses (3,); (0, 2)
        if there is no path.
        """
        return self.question(w, r, here, goal)()

    def question(self, w: int, r: int, here: Array, goal: Array) -> Callable[[], Floats]:
        """Return the planning task behind `find`, which can be run later and in another thread."""
        start = self._starts[w]
        place, model = start.map, start.robots[r].model
        cost = self._observers.layer_costs(w, r, place) if self._layered else None
        there = goal[:2] if start.heading_tolerance >= math.pi else goal

        def answer() -> Floats:
            path = path_for(model, self._planner, place, here, there, cost)
            return np.zeros((0, 2), np.float32) if path is None else path[:, :2]

        return answer


def path_for(
    model: RobotModel, planner: GlobalPlanner, place: Map, here: Array, there: Array, cost: Array | None = None
) -> Floats | None:
    """Return a global planner's path (K, 2) or (K, 3) for a robot from one place to another, given as points (2,) in metres or
    poses (3,); None if there is no path.

    The path is planned for the disc around the robot's outline or, if there is no such path, for the largest disc inside the
    outline. A planner that handles the outline itself is called only once.

    Raises:
        ComponentError: the planner raised an exception, or returned an invalid path.
    """
    request = PathRequest(place, _pose(here), _pose(there), model.radius, model.turning_radius, model.footprint, cost)
    path = _ask_planner(planner, request)
    if path is None and model.footprint and not getattr(planner, "fits_outline", False):
        path = _ask_planner(planner, replace(request, radius=model.inscribed_radius))
    return path


def _ask_planner(planner: GlobalPlanner, request: PathRequest) -> Floats | None:
    """Call a global planner and return its path after checking it.

    Raises:
        ComponentError: the planner raised an exception, or returned something other than points (K, 2), poses (K, 3) or None.
    """
    who = f"global planner {type(planner).__name__}"
    with blame(who):
        path = planner.path(request)
    if path is None:
        return None
    columns = 3 if np.shape(path)[1:] == (3,) else 2
    return numbers(who, "a path", path, (None, columns))


def _pose(place: Array) -> Doubles:
    """Return a point (2,) or pose (3,) as a pose (3,), with NaN for an unknown heading."""
    return np.array([place[0], place[1], place[2] if len(place) > 2 else np.nan])
