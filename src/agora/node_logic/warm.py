"""Compiles the kernels of a ROS graph in advance, so that its first start on a machine does not wait for the compiler."""

from __future__ import annotations

import hashlib
import multiprocessing
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, wait
from functools import partial
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
import numpy as np

from agora.config import build
from agora.core import jit  # noqa: F401 - says where compiled kernels are kept
from agora.draft.stage import Stage
from agora.episode import Conditions
from agora.node_logic.crowd import Crowd
from agora.node_logic.navigator import Navigator
from agora.node_logic.one_world import OneWorld
from agora.node_logic.referee import Referee
from agora.planners.presets import named_planner
from agora.registry import Named
from agora.tasks.suite import Suite
from agora.world.start import Start

__all__ = ["Compiled", "warm", "warm_episode"]

Episode = tuple[Start, Stage]

_STEPS = 6  # number of control steps, after which people have moved, scans have arrived, and planners have memories
_SILENT, _EVERY = 3.0, 10.0  # s until the first report, and between reports
_HALL = {"world": {"name": "folder", "path": "hall"}, "robots": "random", "obstacles": {"name": "random", "dynamic": [3, 3]}}
_CROWDS = {"plain": {}, "social": {"behaviours": ["groups", "social_states"]}}


def warm(tell: Callable[[str], None] = print) -> None:
    """Run the first steps of episodes in the hall, with the default planner and with a crowd that has social states.

    The compiled kernels are cached on disk, so a second call takes only a few seconds.

    Args:
        tell: function that shows a line of progress while kernels compile.
    """
    warm_episode(partial(_hall, "plain"), [named_planner("dwa", "bypass")[1]], tell)
    warm_episode(partial(_hall, "social"), [], tell)


def warm_episode(
    make: Callable[[], Episode], planners: Iterable[Named], tell: Callable[[str], None] = print, *, observed: bool = False
) -> None:
    """Run the first steps of an episode in two processes, like the nodes of a graph.

    Args:
        make: function that returns the start and the stage; called in another process, because placing robots and people also
            involves compiled code.
        planners: planners that drive the robots, one after another.
        tell: function that shows a line of progress while kernels compile.
        observed: whether to run Agora's referee, too, as for an external simulator that moves the robots.

    Raises:
        InputError: ``make`` or a node of the graph rejects the episode.
    """
    word = _Word(tell)
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:

        def together(*calls: Callable[[], Any]) -> list[Any]:
            futures = [pool.submit(call) for call in calls]
            while wait(futures, timeout=0.5).not_done:
                word.say()
            return [future.result() for future in futures]

        (episode,) = together(make)
        judged = [partial(_judge, episode)] if observed else []
        together(partial(_walk, episode), *(partial(_drive, episode, planner) for planner in planners), *judged)


class Compiled:
    """A marker in the cache of compiled kernels, which shows that all kernels for a given purpose are compiled. It disappears with
    the cache or when Agora's code changes.

    Args:
        what: name of the purpose for which the kernels are compiled.
    """

    def __init__(self, what: str) -> None:
        cpu = f"{llvmlite.binding.get_host_cpu_name()} {llvmlite.binding.get_host_cpu_features().flatten()}"
        digest = hashlib.blake2b(f"{what}\n{cpu}".encode(), digest_size=12).hexdigest()
        self._mark = Path(numba.config.CACHE_DIR) / "compiled" / digest

    def __bool__(self) -> bool:
        return self._mark.exists()

    def mark(self) -> None:
        """Set the marker."""
        self._mark.parent.mkdir(parents=True, exist_ok=True)
        self._mark.touch()


class _Word:
    """Reports the number of kernels written to the cache by any process, if compilation takes a long time."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell, self._before, self._began = tell, self._kernels(), time.monotonic()
        self._next = self._began + _SILENT

    @staticmethod
    def _kernels() -> int:
        return sum(1 for _ in Path(numba.config.CACHE_DIR).rglob("*.nbc"))

    def say(self) -> None:
        """Report progress if kernels have been compiled since the last report and that report was some time ago."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _EVERY
        if count := self._kernels() - self._before:
            self._tell(f"compiling, needed once per machine, takes a minute or two: {count} kernels in {now - self._began:.0f} s")


def _hall(crowd: str) -> Episode:
    stage = {"name": crowd, "crowd": _CROWDS[crowd], **_HALL}
    suite = build({"name": "kernels", "stages": [stage]}, Suite)
    return suite.start(crowd, 0), suite.stage(crowd)


def _walk(episode: Episode) -> None:
    crowd = Crowd(*episode)
    for _ in range(_STEPS):
        crowd.step()


def _judge(episode: Episode) -> None:
    start, stage = episode
    referee, poses = Referee(), np.array([robot.pose for robot in start.robots], np.float64).reshape(-1, 3)
    referee.begin(start, stage, [f"robot_{r}" for r in range(len(poses))], 0.0)
    for step in range(1, _STEPS):
        referee.observe(step, poses, np.zeros((len(poses), 3), np.float32))


def _drive(episode: Episode, planner: Named) -> None:
    """Run the simulator and the navigation of all robots with one planner, with people standing still."""
    start, stage = episode
    simulator, everybody = OneWorld(), np.ones(len(start.robots), np.bool_)
    simulator.begin(start, stage, [f"robot_{r}" for r in range(len(everybody))], 0.0)
    navigator = Navigator(start, Conditions.of(stage), planner.part)
    navigator.prepare()
    control = stage.periods.steps("control")
    for k in range(_STEPS):
        time = k * stage.periods.control
        for mine, its in zip(navigator.robots, simulator.robots, strict=True):
            mine[...] = its
        navigator.observed(time)
        for reading in simulator.readings():
            navigator.see_scan(reading.robot, reading.ranges, time)
        simulator.command(navigator.decide(time, k * control, everybody).twists, {})
        for _ in range(control):
            simulator.advance()
    for r in range(len(start.robots)):
        navigator.replan(r)
        for shown in (navigator.guidance, navigator.local_costmap, navigator.global_costmap):
            shown(r)
    simulator.close()
