"""World sources and task modes that can be had by name keep their contracts, and bad ones do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agora.draft.people import Person
from agora.draft.scenario import Robot, Scenario
from agora.draft.surroundings import Surroundings
from agora.maps.grid import Map
from agora.registry import available, make
from agora.seeds import Stream
from agora.tasks.obstacles.random import Random as RandomObstacles
from agora.tasks.robots.random import Random as RandomRobots
from agora.testing import ContractError, check_obstacles_mode, check_robots_mode, check_world_source
from agora.world.trajectories import Trajectories

DATA = {"barn", "dynabarn", "eth_ucy", "socnavbench"}
PARAMETERS = {"folder": {"path": "corridor", "scenarios": ["counterflow"]}, "card": {"card": "queue"}}
FIXED = {"none", "replay", "scenario"}


@pytest.mark.parametrize("name", sorted(available("worlds").keys() - DATA))
def test_a_registered_world_source_keeps_the_contract(name):
    check_world_source(make("worlds", name, **PARAMETERS.get(name, {})))


@pytest.mark.data
@pytest.mark.parametrize("name", sorted(DATA))
def test_a_registered_world_source_of_data_keeps_the_contract(name, data):
    check_world_source(make("worlds", name))


ROLES = """
pedestrians:
  - {name: visitor, waypoints in: [public], number of waypoints: [1, 3], amount: 2}
  - {name: nurse, waypoints in: "*", number of waypoints: 2, amount: [1, 2], type: human/adult}
robots:
  - {name: cleaner, waypoints in: [public, staff]}
  - {name: guard, waypoints in: [staff]}
"""


@pytest.fixture
def roles(tmp_path):
    (tmp_path / "roles.yaml").write_text(ROLES)
    return str(tmp_path / "roles.yaml")


@pytest.mark.parametrize("name", sorted(available("robots_modes")))
def test_a_registered_robots_mode_keeps_the_contract(name, roles):
    ways = ((-2.9, 4.2), (7.9, 9.3), (0.7, 9.6))
    given = {"circle": {"radius": (2.5, 2.5), "noise": 1.0}, "guided": {"waypoints": ways}, "zones": {"file": roles}}
    parameters = given.get(name, {})
    check_robots_mode(make("robots_modes", name, **parameters), random=name not in FIXED)


@pytest.mark.parametrize("name", sorted(available("obstacles_modes")))
def test_a_registered_obstacles_mode_keeps_the_contract(name, roles):
    crowd = {"dynamic": (3, 9), "static": (1, 2)}
    parameters = {"random": crowd, "groups": {"standing_groups": (0, 1)} | crowd, "zones": {"file": roles}}.get(name, {})
    check_obstacles_mode(make("obstacles_modes", name, **parameters), random=name not in FIXED)


@pytest.mark.parametrize("count", [1, 3])
def test_random_robots_keep_it_with_other_parameters(count):
    check_robots_mode(RandomRobots(count=count, distance=2.0, goals=2))


@pytest.mark.parametrize("mode", [{"dynamic": (6, 9), "group_size": (2, 3)}, {"static": (2, 3)}])
def test_random_obstacles_keep_it_with_other_parameters(mode):
    check_obstacles_mode(RandomObstacles(**mode))


def test_recordings_at_a_random_phase_keep_it():
    check_obstacles_mode(make("obstacles_modes", "replay", random_phase=True))


class Source:
    """One world; made bad by what is given."""

    def __init__(self, *worlds, names=("one",)):
        self.worlds, self.given = list(worlds), names
        self.calls = 0

    def names(self):
        return list(self.given)

    def world(self, name, stream):
        self.calls += 1
        return self.worlds[self.calls % len(self.worlds)]


PLANE = Map.open((0.0, 1.0), (5.0, 9.0))
WALL = replace(PLANE, discs=np.array([[2.0, 3.0, 0.6]]))
GOAL_IN_WALL = Surroundings(WALL, Scenario((Robot((1.0, 2.0), (2.1, 3.2)),)))
NOBODY = Trajectories.of_rows([0.0, 1.0], [1, 1], [1.0, 2.0], [3.0, 3.0])


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (Source(Surroundings(PLANE), names=()), "names: expected"),
        (Source(Surroundings(PLANE), names=("a", "a")), "names: expected"),
        (Source(Surroundings(PLANE), Surroundings(WALL), Surroundings(PLANE)), "not deterministic"),
        (Source(GOAL_IN_WALL), "robot 0 ends in a wall"),
        (Source(PLANE), "expected a World"),
        (Source(Surroundings(PLANE, replay=NOBODY, replay_radius=0.0)), "replay_radius"),
        (Source(Surroundings(PLANE, timeout=-1.0)), "timeout"),
        (Source(), "raises ZeroDivisionError"),
    ],
)
def test_a_bad_world_source_fails_for_its_own_reason(source, reason):
    with pytest.raises(ContractError, match=reason):
        check_world_source(source)


class Places:
    """A robots mode of a function."""

    def __init__(self, place):
        self.place = place


def anywhere(task):
    low, high = task.map.origin, np.add(task.map.origin, task.map.size)
    return [(np.array([*task.stream.uniform(low, high, (2,)), 0.0]), np.array([[1.0, 4.0, 0.0]])) for _ in range(4)]


def at_the_wall(task):
    return [(np.array([-3.3, 9.0, start[2]]), goals) for start, goals in RandomRobots().place(task)]


def on_top_of_each_other(task):
    return RandomRobots().place(task) * 2


def from_a_generator_of_its_own(task):
    return RandomRobots().place(replace(task, stream=Stream("mine", int(np.random.default_rng().integers(1 << 30)), "task")))


def always_the_same(task):
    return RandomRobots().place(replace(task, stream=Stream("mine", 3, "task")))


def turned_too_far(task):
    return [(start + (0.0, 0.0, 7.0), goals) for start, goals in RandomRobots().place(task)]


def moves_the_walls(task):
    task.map.discs.flags.writeable = True
    task.map.discs[:] += 0.1
    return RandomRobots().place(task)


def takes_what_it_gets(task):
    try:
        return RandomRobots().place(task)
    except Exception:  # noqa: BLE001 - the point
        return [(np.array([0.0, 4.0, 0.0]), np.array([[1.0, 4.0, 0.0]]))]


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        (anywhere, "from a wall"),
        (at_the_wall, "expected at least 0.5 m"),
        (on_top_of_each_other, "overlap"),
        (from_a_generator_of_its_own, "not deterministic"),
        (always_the_same, "the same positions for every seed"),
        (turned_too_far, "heading"),
        (moves_the_walls, "writes to"),
        (takes_what_it_gets, "without free space"),
    ],
)
def test_a_bad_robots_mode_fails_for_its_own_reason(place, reason):
    with pytest.raises(ContractError, match=reason):
        check_robots_mode(Places(place))


def person(x, y, **changes):
    return replace(Person(np.array([x, y]), np.array([[1.0, 4.0]]), 1.2, 0.3), **changes)


def crowds_the_robot(task):
    task.pedestrians.append(person(*(task.robots[0][0][:2] + task.stream.uniform(0.0, 0.1))))


def stands_in_a_wall(task):
    task.pedestrians.append(person(6.3, 4.2 + float(task.stream.uniform())))


def blocks_the_goal(task):
    x, y, _ = task.robots[0][1][0]
    task.map = replace(task.map, discs=np.vstack([task.map.discs, [x + task.stream.uniform(), y, 1.2]]))


def has_no_speed(task):
    task.pedestrians.append(person(2.4, 7.1, speed=0.0))


def moves_the_robots(task):
    task.robots[0][0][0] += 0.1


def ignores_the_seed(task):
    task.pedestrians.append(person(2.4, 7.1))


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        (crowds_the_robot, "overlap"),
        (stands_in_a_wall, "pedestrian 0.*from a wall"),
        (blocks_the_goal, "start or goal"),
        (has_no_speed, "speed 0"),
        (moves_the_robots, "writes to robots"),
        (ignores_the_seed, "the same positions for every seed"),
    ],
)
def test_a_bad_obstacles_mode_fails_for_its_own_reason(place, reason):
    with pytest.raises(ContractError, match=reason):
        check_obstacles_mode(Places(place))
