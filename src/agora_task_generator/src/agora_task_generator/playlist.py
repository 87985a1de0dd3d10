"""The playlist of episodes: those of a suite, or of task modes that can be changed at run time."""

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
    """An episode to be played.

    Attributes:
        start: start of the episode, resolved.
        stage: conditions of the episode.
        robots: planner of each robot.
    """

    start: Start
    stage: Stage
    robots: tuple[RobotEntry, ...]

    @staticmethod
    def of(plan: ResetPlan, robots: list[RobotEntry]) -> Turn:
        """The episode of a plan.

        Raises:
            InputError: it cannot be put together, or its robots cannot be driven.
        """
        start, stage = resolve(plan)
        count = len(start.robots)
        if len(robots) not in (1, count):
            raise InputError(f"{plan.entry}: the robot setup has {len(robots)} robots, the episode {count}")
        turn = Turn(start, stage, tuple(robots if len(robots) == count else robots * count))
        turn.names()
        return turn

    def given_names(self) -> list[str]:
        """The robots' names as their models spell them."""
        return robot_names([robot.model.name for robot in self.start.robots])

    def names(self) -> list[str]:
        """The robots' names in ROS.

        Raises:
            InputError: two robots would have the same.
        """
        given = self.given_names()
        names = [ros_name(name) for name in given]
        for k, name in enumerate(names):
            if name in names[:k]:
                other = given[names.index(name)]
                raise InputError(
                    f"robots {other!r} and {given[k]!r} would both be called {name!r} in ROS: rename one of the models"
                )
        return names

    def message(self, number: int) -> Episode:
        """The message of the episode as reset ``number``."""
        robots = [
            Robot(name=name, navigation=entry.navigation, planner=entry.local_planner, interplanner=entry.inter_planner)
            for name, entry in zip(self.names(), self.robots, strict=True)
        ]
        return to_episode(self.start, self.stage.conditions(), robots, number)


class Playlist(Protocol):
    """The episodes to play, one after the other."""

    @property
    def finished(self) -> bool:
        """True where all episodes were played."""

    def next(self) -> Turn:
        """The next episode.

        Raises:
            InputError: it cannot be put together; the next call tries the one after.
        """

    def adopt(self, parameters: Parameters, settings: Settings) -> None:
        """Follow the parameters and the settings from the next episode on.

        Raises:
            InputError: something that does not exist or fit; nothing has changed then.
        """

    def memory(self) -> dict[str, Any]:
        """Return the position in the list, in plain values, for `recall` of a node that was started again."""

    def recall(self, memory: dict[str, Any], again: bool) -> None:
        """Go on from there, with the episode that was played last where that is to be played again; nothing of another playlist."""


class TaskModes:
    """Episodes of Arena's task modes.

    Args:
        parameters: parameters of the graph.
        settings: settings of modes and modules.

    Raises:
        InputError: something that does not exist or fit.
    """

    def __init__(self, parameters: Parameters, settings: Settings) -> None:
        self._robots, self._modes, self._agent = driven(parameters), parameters.modes(), parameters.agent_name
        modes = dict(self._modes)
        named = {f"tm_{kind}": modes.pop(kind) for kind in ("robots", "obstacles", "modules")}
        self.generator = TaskGenerator(settings, **named, **modes, periods=parameters.how_often(), seed=parameters.seed)
        self._maps, self._algorithm = 0, ""

    @property
    def finished(self) -> bool:
        """True where the settings' number of episodes was played."""
        return self.generator.finished

    def adopt(self, parameters: Parameters, settings: Settings) -> None:
        """Switch the changed parameters; see `Playlist.adopt`."""
        robots, modes = driven(parameters), parameters.modes()
        changed = {name: value for name, value in modes.items() if value != self._modes[name]}
        if settings != self.generator.setup.settings:
            changed["settings"] = settings
        if changed.keys() & {"modules", "world"}:  # a map that was asked for is not that of another world
            changed["modules"], self._maps, self._algorithm = modes["modules"], 0, ""
        if changed:
            self.generator.switch(**changed)
        self._robots, self._modes, self._agent = robots, modes, parameters.agent_name

    def next(self) -> Turn:
        """See `Playlist.next`."""
        plan = self.generator.next_plan()
        return Turn.of(plan, self._contestants(plan))

    def new_map(self, algorithm: str, maps: int = 1) -> None:
        """Take other maps from the next episode on, by another generator where one is named.

        Raises:
            InputError: there is no such generator, or episodes are not on generated maps.
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
        """True where the robots mode lets everybody but the robots stay at a time-out."""
        return self.generator.stage.robots.name in ("explore", "zones", "guided")

    @property
    def lacks_waypoints(self) -> bool:
        """True where robots are guided, and there are no waypoints."""
        return self.generator.stage.robots.name == "guided" and not self.generator.waypoints

    def carry_on(self, last: Start, people: Present, poses: dict[int, Array]) -> Turn:
        """Return an episode that goes on with the pedestrians in place; robots have new goals, and, if not guided, new places.

        Args:
            last: start of the episode that goes on.
            people: present pedestrians.
            poses: (3,) poses of robots by number, which guided ones keep.

        Raises:
            InputError: there is no room.
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
        """Return the robots, driven by the contestant whose turn it is where the module ``benchmark`` plays a contest."""
        contest = next((m.part for m in plan.stage.modules if isinstance(m.part, Benchmark)), None)
        if contest is None:
            return self._robots
        turn = contest.contestant(plan.episode)
        robots = [replace(r, local_planner=turn.local_planner, inter_planner=turn.inter_planner) for r in self._robots]
        for robot in robots:
            check_planners(robot, self._agent)
        return robots


class SuiteEntries:
    """The episodes of a suite, as ``agora bench`` plays them.

    Args:
        parameters: parameters of the graph.
        name: name of the suite, or path of its file.
        seed: seed in place of the suite's, as ``agora bench --seed`` takes it.
        episodes: number of the episodes to play, the first ones of the suite; all where None or below 0.

    Raises:
        InputError: there is no such suite, it is wrong, or it has fewer episodes.
    """

    def __init__(self, parameters: Parameters, name: str, *, seed: int | None = None, episodes: int | None = None) -> None:
        self._suite, self._played = with_seed(load_suite(name), seed), 0
        entries = self._suite.entries()
        if episodes is not None and episodes > len(entries):
            raise InputError(f"episodes: suite {self._suite.name!r} has {len(entries)} episodes, got {episodes}")
        self._entries = entries if episodes is None or episodes < 0 else entries[:episodes]
        self._follow(parameters)

    def _follow(self, parameters: Parameters) -> None:
        """Take over the planners of the robots, and the models of a robot setup file, which must be those of the suite."""
        self._robots = driven(parameters)
        self._models = [robot.model for robot in self._robots] if parameters.robot_setup_file else []

    @property
    def finished(self) -> bool:
        """True where all entries were played."""
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
        """One of its episodes.

        Raises:
            InputError: there is none, or it cannot be put together.
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
    """Return the episodes that the parameters name: those of a suite, or of task modes.

    Raises:
        InputError: something that does not exist or fit.
    """
    if parameters.suite:
        return SuiteEntries(parameters, parameters.suite, seed=parameters.seed, episodes=parameters.episodes)
    return TaskModes(parameters, settings)


def driven(parameters: Parameters) -> list[RobotEntry]:
    """Return the robots that the parameters name, with their planners.

    Raises:
        InputError: a robot or a planner that does not exist.
    """
    robots = parameters.robots()
    for robot in robots:
        check_planners(robot, parameters.agent_name)
    return robots


def check_planners(robot: RobotEntry, agent: str) -> None:
    """Make sure that the library has the planners of a robot, where it is the library that drives.

    Raises:
        InputError: no such planner, parameters that it refuses, or an extra of it that is not here.
    """
    if robot.planned_here:
        try:
            named_planner(robot.local_planner, robot.inter_planner, agent)
        except InputError as error:
            raise InputError(f"planner of {robot.model}: {error}") from error
