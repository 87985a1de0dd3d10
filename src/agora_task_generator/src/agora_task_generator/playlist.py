"""The playlist of episodes, from a suite or from task modes, which can be changed at run time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from agora_ros.conversions import to_episode
from agora_ros.names import ros_name

from agora.core.state import Array
from agora.draft.stage import Stage
from agora.errors import InputError
from agora.interfaces import ResetPlan
from agora.maps.generators.arena import parse_generator
from agora.planners.presets import named_planner
from agora.robots.model import load_robot
from agora.tasks.generator import TaskGenerator
from agora.tasks.modules.benchmark import Benchmark
from agora.tasks.robot_setup import RobotEntry, robot_names
from agora.tasks.settings import Settings
from agora.tasks.suite import load_suite, resolve, with_seed
from agora.world.start import Start
from agora_msgs.msg import Episode, Robot
from agora_task_generator.parameters import Parameters
from agora_task_generator.present import Present


@dataclass(frozen=True, eq=False)
class Turn:
    """An episode to be run.

    Attributes:
        start: start of the episode.
        stage: conditions of the episode.
        robots: planner of each robot.
    """

    start: Start
    stage: Stage
    robots: tuple[RobotEntry, ...]

    @staticmethod
    def of(plan: ResetPlan, robots: list[RobotEntry]) -> Turn:
        """Return the episode for a plan.

        Raises:
            InputError: the episode cannot be created, or its robots cannot be driven.
        """
        start, stage = resolve(plan)
        count = len(start.robots)
        if len(robots) not in (1, count):
            raise InputError(f"{plan.entry}: the robot setup has {len(robots)} robots, but the episode has {count}")
        turn = Turn(start, stage, tuple(robots if len(robots) == count else robots * count))
        turn.names()
        return turn

    def given_names(self) -> list[str]:
        """The robots' names as spelled in their models."""
        return robot_names([robot.model.name for robot in self.start.robots])

    def names(self) -> list[str]:
        """The robots' names in ROS.

        Raises:
            InputError: two robots would have the same name.
        """
        given = self.given_names()
        names = [ros_name(name) for name in given]
        for k, name in enumerate(names):
            if name in names[:k]:
                other = given[names.index(name)]
                raise InputError(f"robots {other!r} and {given[k]!r} would both be named {name!r} in ROS: rename one of the models")
        return names

    def message(self, number: int) -> Episode:
        """Return the message for the episode as reset ``number``."""
        robots = [
            Robot(name=name, navigation=entry.navigation, planner=entry.local_planner, interplanner=entry.inter_planner)
            for name, entry in zip(self.names(), self.robots, strict=True)
        ]
        return to_episode(self.start, self.stage.conditions(), robots, number)


class Playlist(Protocol):
    """The episodes to run, one after another."""

    @property
    def finished(self) -> bool:
        """True once all episodes have been run."""

    def next(self) -> Turn:
        """Return the next episode.

        Raises:
            InputError: the episode cannot be created; the next call tries the one after it.
        """

    def adopt(self, parameters: Parameters, settings: Settings) -> None:
        """Use these parameters and settings from the next episode on.

        Raises:
            InputError: a named item does not exist, or the values are inconsistent; nothing has changed.
        """

    def memory(self) -> dict[str, Any]:
        """Return the position in the list as plain values, for `recall` after a restart of the node."""

    def recall(self, memory: dict[str, Any], again: bool) -> None:
        """Continue from a position returned by `memory`, beginning with the last episode if ``again``; a position from another
        playlist is ignored.
        """


class TaskModes:
    """Episodes created by Arena's task modes.

    Args:
        parameters: parameters of the graph.
        settings: settings of modes and modules.

    Raises:
        InputError: a named item does not exist, or the values are inconsistent.
    """

    def __init__(self, parameters: Parameters, settings: Settings) -> None:
        self._robots, self._modes, self._agent = driven(parameters), parameters.modes(), parameters.agent_name
        modes = dict(self._modes)
        named = {f"tm_{kind}": modes.pop(kind) for kind in ("robots", "obstacles", "modules")}
        self.generator = TaskGenerator(settings, **named, **modes, periods=parameters.how_often(), seed=parameters.seed)
        self._maps, self._algorithm = 0, ""

    @property
    def finished(self) -> bool:
        """True once the number of episodes given by the settings has been run."""
        return self.generator.finished

    def adopt(self, parameters: Parameters, settings: Settings) -> None:
        """Apply the changed parameters; see `Playlist.adopt`."""
        robots, modes = driven(parameters), parameters.modes()
        changed = {name: value for name, value in modes.items() if value != self._modes[name]}
        if settings != self.generator.setup.settings:
            changed["settings"] = settings
        if changed.keys() & {"modules", "world"}:  # a requested map does not belong to another world
            changed["modules"], self._maps, self._algorithm = modes["modules"], 0, ""
        if changed:
            self.generator.switch(**changed)
        self._robots, self._modes, self._agent = robots, modes, parameters.agent_name

    def next(self) -> Turn:
        """See `Playlist.next`."""
        plan = self.generator.next_plan()
        return Turn.of(plan, self._contestants(plan))

    def new_map(self, algorithm: str, maps: int = 1) -> None:
        """Use other maps from the next episode on, and another generator if one is given.

        Raises:
            InputError: the generator is unknown, or episodes do not use generated maps.
        """
        self.generator.new_map(parse_generator(algorithm, "request_new_map") if algorithm.strip() else None, maps)
        self._maps, self._algorithm = self._maps + maps, algorithm or self._algorithm

    def memory(self) -> dict[str, Any]:
        """See `Playlist.memory`."""
        guided = self.generator.stage.robots.name == "guided"
        waypoints = [list(map(float, pose)) for pose in self.generator.waypoints] if guided else []
        return {"played": self.generator.episode, "maps": self._maps, "algorithm": self._algorithm, "waypoints": waypoints}

    def recall(self, memory: dict[str, Any], again: bool) -> None:
        """See `Playlist.recall`."""
        if "waypoints" not in memory:
            return
        self.generator.episode = memory["played"] - again
        if memory["maps"]:
            self.new_map(memory["algorithm"], memory["maps"])
        if memory["waypoints"]:
            for x, y, heading in memory["waypoints"][len(self.generator.waypoints) :]:
                self.generator.append_waypoint((x, y, heading))

    @property
    def goes_on(self) -> bool:
        """True if, in the current robots mode, everything except the robots stays in place at a time-out."""
        return self.generator.stage.robots.name in ("explore", "zones", "guided")

    @property
    def lacks_waypoints(self) -> bool:
        """True if robots are guided and there are no waypoints."""
        return self.generator.stage.robots.name == "guided" and not self.generator.waypoints

    def carry_on(self, last: Start, people: Present, poses: dict[int, Array]) -> Turn:
        """Return an episode in which the pedestrians stay where they are, and the robots get new goals and, unless they are guided,
        new positions.

        Args:
            last: start of the episode to continue.
            people: current pedestrians.
            poses: poses (3,) of robots, keyed by robot index; guided robots keep their poses.

        Raises:
            InputError: there is not enough room.
        """
        plan, robots = self.generator.next_plan(), list(self.generator.teleport(last, people.discs()))
        if self.generator.stage.robots.name == "guided":
            for k, pose in poses.items():
                goals = robots[k].goals if self.generator.waypoints else np.repeat(pose[None], len(robots[k].goals), 0)
                robots[k] = replace(robots[k], pose=pose, goals=goals)
        crowd = last.pedestrians.moved(people.id, people.position, people.velocity, people.heading)
        start = replace(last, entry=plan.entry, seed=plan.seed, robots=tuple(robots), pedestrians=crowd)
        count = len(robots) if len(self._robots) == 1 else 1
        return Turn(start, plan.stage, (*self._robots,) * count)

    def _contestants(self, plan: ResetPlan) -> list[RobotEntry]:
        """Return the robots. If the ``benchmark`` module runs a contest, the contestant whose turn it is drives them."""
        contest = next((m.part for m in plan.stage.modules if isinstance(m.part, Benchmark)), None)
        if contest is None:
            return self._robots
        turn = contest.contestant(plan.episode)
        robots = [replace(r, local_planner=turn.local_planner, inter_planner=turn.inter_planner) for r in self._robots]
        for robot in robots:
            check_planners(robot, self._agent)
        return robots


class SuiteEntries:
    """The episodes of a suite, as run by ``agora bench``.

    Args:
        parameters: parameters of the graph.
        name: name of the suite, or path of its file.
        seed: seed to use instead of the suite's, as with ``agora bench --seed``.
        episodes: number of episodes to run, from the beginning of the suite; None or a negative number for all.

    Raises:
        InputError: the suite does not exist, is invalid, or has fewer episodes.
    """

    def __init__(self, parameters: Parameters, name: str, *, seed: int | None = None, episodes: int | None = None) -> None:
        self._suite, self._played = with_seed(load_suite(name), seed), 0
        entries = self._suite.entries()
        if episodes is not None and episodes > len(entries):
            raise InputError(f"episodes: suite {self._suite.name!r} has {len(entries)} episodes, got {episodes}")
        self._entries = entries if episodes is None or episodes < 0 else entries[:episodes]
        self._follow(parameters)

    def _follow(self, parameters: Parameters) -> None:
        """Take over the robots' planners, and the models from a robot setup file; these models must match the suite's."""
        self._robots = driven(parameters)
        self._models = [robot.model for robot in self._robots] if parameters.robot_setup_file else []

    @property
    def finished(self) -> bool:
        """True once all episodes have been run."""
        return self._played == len(self._entries)

    def adopt(self, parameters: Parameters, settings: Settings) -> None:
        """Take over the planners of the robots; see `Playlist.adopt`."""
        self._follow(parameters)

    def next(self) -> Turn:
        """See `Playlist.next`."""
        self._played += 1
        return self.entry(*self._entries[self._played - 1])

    def memory(self) -> dict[str, Any]:
        """See `Playlist.memory`."""
        return {"suite": self._suite.name, "played": self._played}

    def recall(self, memory: dict[str, Any], again: bool) -> None:
        """See `Playlist.recall`."""
        if memory.get("suite") == self._suite.name:
            self._played = memory["played"] - again

    def entry(self, stage: str, episode: int) -> Turn:
        """Return one of the suite's episodes.

        Raises:
            InputError: the episode does not exist or cannot be created.
        """
        suite = self._suite
        count = suite.stage(stage).count
        if episode >= count:
            raise InputError(f"stage {stage!r} of suite {suite.name!r} has {count} episodes, got {episode}")
        turn = Turn.of(ResetPlan(suite.name, suite.stage(stage), episode, suite.seed_of(stage)), self._robots)
        for model, robot in zip(self._models, turn.start.robots, strict=False):
            if load_robot(model).name != robot.model.name:
                raise InputError(
                    f"robot_setup_file: model {model!r} has no effect: in stage {stage!r} of suite {suite.name!r} it is "
                    f"{robot.model.name!r}"
                )
        return turn


def playlist_of(parameters: Parameters, settings: Settings) -> Playlist:
    """Return the episodes that the parameters select: from a suite, or from task modes.

    Raises:
        InputError: a named item does not exist, or the values are inconsistent.
    """
    if parameters.suite:
        return SuiteEntries(parameters, parameters.suite, seed=parameters.seed, episodes=parameters.episodes)
    return TaskModes(parameters, settings)


def driven(parameters: Parameters) -> list[RobotEntry]:
    """Return the robots that the parameters select, with their planners.

    Raises:
        InputError: a robot or planner does not exist.
    """
    robots = parameters.robots()
    for robot in robots:
        check_planners(robot, parameters.agent_name)
    return robots


def check_planners(robot: RobotEntry, agent: str) -> None:
    """Check that the library has the planners of a robot, if the library drives it.

    Raises:
        InputError: a planner does not exist, rejects its parameters, or needs an extra that is not installed.
    """
    if robot.planned_here:
        try:
            named_planner(robot.local_planner, robot.inter_planner, agent)
        except InputError as error:
            raise InputError(f"planner of {robot.model}: {error}") from error
