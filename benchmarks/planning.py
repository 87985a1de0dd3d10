"""Lines about planners: processor time of a control period for one robot, and a control period of 64 worlds with two threads."""

from __future__ import annotations

import functools
import time
from typing import Any

import numpy as np
from measure import Bench, Effort, Line, Pair, duration, paired, wait_for_cores
from scene import CELLS, LIDAR, RESOLUTION, SOCIAL_FORCE, Scene, crowd, free_points, halls, starts_of

from agora.episode import Batch, Conditions
from agora.maps.grid import Map
from agora.planners.adapters import call
from agora.planners.local.dwa import Dwa
from agora.planners.local.teb import Teb
from agora.planners.local.trajectory_rollout import TrajectoryRollout

_PEOPLE, _PERIODS = 20, 40


class Fleet:
    """Robots that drive to a goal (W, 2); contacts do not end episodes. ``memory`` is the planner's."""

    def __init__(self, scene: Scene, goal: np.ndarray, planner: Any, threads: int = 1) -> None:
        starts = starts_of(scene, True, goal)
        conditions = Conditions(crowd=(SOCIAL_FORCE,), ends=0, lidar=LIDAR)
        self.planner, self.memory = planner, {}
        self.batch = Batch(starts, conditions, planner.declares.needs, len(starts), threads=threads)
        for w in range(len(starts)):
            self.batch.begin(w, w)

    def period(self) -> float:
        """Run a control period; return the processor time that this thread spent in the planner, s."""
        batch = self.batch
        batch.look()
        seen, ranges = batch.observer.observe(), batch.observer.everywhere if batch.world.threads.several else None
        began = time.thread_time()
        answer, failures = call(self.planner, seen, self.memory, batch.active, ranges)
        spent, self.memory = time.thread_time() - began, answer.memory
        batch.world.command(answer.twists, batch.active, failures)
        batch.advance()
        return spent


def _halls(worlds: int) -> tuple[Scene, np.ndarray]:
    """Return halls with 20 pedestrians, and the goals of their robots."""
    scene, rng = halls(worlds, _PEOPLE), np.random.default_rng(8)
    return scene, np.stack([free_points(rng, place, 1, 0.6)[0] for place in scene.maps])


def _pillars(worlds: int) -> tuple[Scene, np.ndarray]:
    """Return four pillars in a row across the robot's path, which leave five gaps to choose from; 20 pedestrians walk around behind
    them.
    """
    occupied = np.zeros((CELLS, CELLS), np.bool_)
    for y in (8.25, 9.4, 10.6, 11.75):
        row, column = round(y / RESOLUTION), round(5.3 / RESOLUTION)
        occupied[row - 1 : row + 1, column - 1 : column + 1] = True
    place, rng = Map("pillars", RESOLUTION, (0.0, 0.0), occupied), np.random.default_rng(9)
    people = rng.uniform((9.5, 3.0), (17.0, 17.0), (_PEOPLE, 2))
    one = crowd(people, people[:, ::-1], place, radius=0.25, speed=1.2)
    robots = np.column_stack([np.full(worlds, 3.0), rng.uniform(9.9, 10.1, worlds), rng.uniform(-0.2, 0.2, worlds)])
    alike = {
        name: np.repeat(getattr(one, name), worlds, axis=0) for name in ("position", "velocity", "goal", "radius", "speed", "group")
    }
    return Scene(maps=[place] * worlds, robot=robots, **alike), np.tile((17.0, 10.0), (worlds, 1))


def plan(planner: Any, poses: int, bands: int, effort: Effort) -> Line:
    """Measure the median processor time of a call for one robot; for teb, of calls with at least ``bands`` alternative paths, the
    first of which has at least ``poses`` poses.
    """
    worlds, times = effort.times(12, 4), []
    scene, goal = _pillars(worlds) if bands > 1 else _halls(worlds)
    for w in range(worlds):
        part = Scene(*(getattr(scene, name)[w : w + 1] for name in Scene.__dataclass_fields__))
        fleet = Fleet(part, goal[w : w + 1], planner)
        for period in range(_PERIODS):
            spent = fleet.period()
            counts = fleet.memory.get("counts", np.full((1, max(bands, 1)), poses))[0]
            if period > 0 and counts[0] >= poses and (counts > 0).sum() >= bands:
                times.append(1e3 * spent)
    if not times:
        raise RuntimeError(f"in no period the planner had {bands} ways of {poses} poses")
    low, middle, high = np.percentile(times, (25, 50, 75))
    return Line(duration(1e-3 * middle), f"{len(times)} calls", float(middle), f"{low:.3g} .. {high:.3g}")


def two_threads(planner: Any, effort: Effort) -> Line:
    """Time a complete control period of 64 worlds: the best of four tries, each made, if possible, when no other process uses the
    cores.
    """
    tries = []
    for _ in range(effort.times(4, 1)):
        if effort.waits:
            wait_for_cores()
        tries.append(_threads_once(planner, effort))
    return Line.of(max(tries, key=lambda pair: pair.ratio))


def _threads_once(planner: Any, effort: Effort) -> Pair:
    """Time a control period with two threads (ours) and with one (other); both sides run the same periods."""
    scene, goal = _halls(64)
    two, one = (Fleet(scene, goal, planner, threads) for threads in (2, 1))
    pair = paired(two.period, one.period, effort, pairs=(15, 7), most=1)
    two.batch.engine.close()
    return pair


def benches() -> list[Bench]:
    """Return the lines; those for teb use upstream's limits, with which its bands are long."""
    slow = {"max_vel_x": 0.4, "max_vel_theta": 0.3, "acc_lim_x": 0.5, "acc_lim_theta": 0.5}
    alone, several = (Teb(max_number_classes=k, max_global_plan_lookahead_dist=far, **slow) for k, far in ((1, 3.8), (5, 4.4)))
    lines = [
        ("plan-dwa", Dwa(), 0, 0, 1.0),
        ("plan-rollout", TrajectoryRollout(), 0, 0, 1.0),
        ("plan-teb-1", alone, 30, 1, 4.0),
        ("plan-teb-5", several, 30, 5, 15.0),
    ]
    timed = [
        Bench(name, "", target, functools.partial(plan, planner, poses, bands), most=True, unit="ms")
        for name, planner, poses, bands, target in lines
    ]
    fleets = [("period-dwa-64", Dwa()), ("period-teb-64", Teb())]
    return timed + [Bench(name, "one thread", 1.7, functools.partial(two_threads, planner)) for name, planner in fleets]
