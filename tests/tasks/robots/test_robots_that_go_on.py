"""Explore, guided and zones: robots that always have another goal, until the time-out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agora.core.recording import Outcome
from agora.draft.people import People
from agora.draft.stage import Stage
from agora.draft.surroundings import Surroundings
from agora.draft.task import Task
from agora.episode import Conditions, Episodes
from agora.errors import InputError, PlacementError
from agora.maps.grid import Map
from agora.maps.zones import Zone
from agora.planners.local.go_to_goal import GoToGoal
from agora.registry import Named
from agora.seeds import Stream
from agora.tasks.obstacles.random import Amount
from agora.tasks.obstacles.random import Random as RandomObstacles
from agora.tasks.robots.explore import Explore
from agora.tasks.robots.guided import Guided
from agora.tasks.robots.zones import Zones
from agora.tasks.suite import Suite
from agora.tasks.worlds.open import Open

ROOM = Map.from_shapes(
    segments=[(2.0, -1.5, 2.0, 4.0), (-5.0, 5.2, -2.6, 5.2), (-2.6, 5.2, -2.6, 6.5)],
    bounds=(-5.0, -1.5, 6.0, 6.5),
    resolution=0.1,
    name="crooked",
)
RADIUS, SAFETY = 0.3, 0.15
PLANE = Named("open", Open(7.0, 11.0, -8.3, 2.2))


def task(number=0, **more) -> Task:
    world = Surroundings(ROOM, zones=more.pop("zones", ()))
    return Task(world, ROOM, RADIUS, SAFETY, Stream(f"test/stage/{number}", 3, "task"), People(), **more)


def placed(mode, number=0, **more):
    given = task(number, **more)
    given.robots = mode.place(given)
    for finish in given.later:
        finish()
    return given.robots


def run(mode, **more):
    stage = Stage("stage", PLANE, Named("mode", mode), timeout=more.pop("timeout", 25.0), robot="jackal", **more)
    suite = Suite("test", (stage,), seed=5)
    start = suite.start("stage", 0)
    (_, [recording]), *_ = Episodes([start], GoToGoal(), Conditions.of(stage))
    return start, recording


def arrivals(start, recording):
    """Numbers of the goals that the robot came to, in the order of the list, each after the one before."""
    reached, k = [], 0
    for x, y in recording.pose[:, :2]:
        goal = start.robots[0].goals[k]
        if math.hypot(x - goal[0], y - goal[1]) < start.goal_tolerance:
            reached.append(k)
            k += 1
    return reached


@pytest.mark.parametrize("distance", [1.5, 4.0])
def test_a_robot_that_explores_reaches_one_goal_after_the_other_and_ends_at_the_time_out(distance):
    start, recording = run(Explore(distance=distance))
    assert recording.outcome == Outcome.TIMEOUT
    assert recording.time[-1] == pytest.approx(25.0)
    assert len(arrivals(start, recording)) >= 3
    legs = np.vstack([start.robots[0].pose, start.robots[0].goals])[:, :2]
    assert (np.hypot(*np.diff(legs, axis=0).T) >= distance).all()


def test_nobody_can_use_up_the_goals_of_explore():
    """Each goal is a ride of distance - 2 tolerances at least, which even the fastest robot cannot make more often."""
    for timeout, speed, distance in ((60.0, 2.0, 3.0), (7.3, 0.22, 1.5), (600.0, 1.0, 5.0)):
        ((_, goals),) = placed(Explore(distance=distance), timeout=timeout, speed=speed, goal_tolerance=0.4)
        assert (len(goals) - 1) * (distance - 0.8) > timeout * speed
    ((_, goals),) = placed(Explore(distance=0.5), timeout=9.0, goal_tolerance=0.4, control=0.1)
    assert len(goals) > 90  # where goals may be reached without a ride, one a control period


def test_goals_of_explore_can_be_reached_and_keep_clear_of_furniture_that_comes_later():
    given = task()
    given.robots = Explore(distance=2.0).place(given)
    RandomObstacles(static=Amount(3, 3, ("table", "chair")), keep_clear=0.5).place(given)
    first = given.robots[0][1].copy()
    for finish in given.later:
        finish()
    goals = given.robots[0][1]
    assert (goals[: len(first)] == first).all()
    assert given.map.gap(goals[:, :2]).min() >= RADIUS + SAFETY - 1e-9


def test_a_guided_robot_drives_round_its_waypoints_in_their_order():
    route = ((-6.9, 4.1), (-3.2, 5.0), (-4.4, 9.3))
    start, recording = run(Guided(route, start=(-5.0, 7.0, 2.0)), timeout=40.0)
    assert recording.outcome == Outcome.TIMEOUT
    assert start.robots[0].pose == pytest.approx([-5.0, 7.0, 2.0])
    assert len(arrivals(start, recording)) >= 5
    goals = start.robots[0].goals
    assert all(goals[k, :2] == pytest.approx(route[k % 3]) for k in range(len(goals)))


def test_a_guided_robot_of_one_waypoint_stays_there_and_one_of_none_where_it_is():
    start, recording = run(Guided(((-5.1, 6.0),)), timeout=25.0)
    assert recording.outcome == Outcome.TIMEOUT
    assert np.hypot(*(recording.pose[-1, :2] - (-5.1, 6.0))) < start.goal_tolerance
    start, recording = run(Guided(), timeout=5.0)
    assert recording.outcome == Outcome.TIMEOUT
    assert np.hypot(*(recording.pose[:, :2] - start.robots[0].pose[:2]).T).max() < start.goal_tolerance


def test_waypoints_can_come_from_a_file_and_be_added(tmp_path):
    file = tmp_path / "route.yaml"
    file.write_text("start: [0.0, 1.0, 0.5]\nwaypoints: [[-4.0, 0.0], [4.0, 5.0, 1.5]]\n")
    mode = Guided(file=str(file))
    assert mode.route().waypoints == ((-4.0, 0.0, 0.0), (4.0, 5.0, 1.5))
    longer = mode.with_waypoint((3.0, 2.0))
    assert longer.waypoints == ((-4.0, 0.0, 0.0), (4.0, 5.0, 1.5), (3.0, 2.0, 0.0))
    assert longer.start == (0.0, 1.0, 0.5)
    reset = longer.restarted((1.0, 1.0, 7.0))
    assert reset.waypoints == ()
    assert reset.start == pytest.approx((1.0, 1.0, 7.0 - math.tau))


@pytest.mark.parametrize(
    ("waypoint", "message"),
    [
        ("[2.0, 1.0]", "has no room for a robot of radius 0.3 m"),
        ("[9.0, 1.0]", "has no room"),
        ("[-4.0, 6.0]", "cannot be reached from the others"),
    ],
)
def test_a_waypoint_in_a_wall_off_the_map_or_cut_off_is_named_with_its_line(tmp_path, waypoint, message):
    file = tmp_path / "route.yaml"
    file.write_text(f"waypoints:\n  - [-4.0, 0.0]\n  - {waypoint}\n")
    with pytest.raises(PlacementError) as caught:
        placed(Guided(file=str(file)))
    assert "route.yaml:3: waypoints[1]" in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "parameters",
    [{"waypoints": ((1.0,),)}, {"count": 0}, {"file": "./none.yaml"}, {"file": "x.yaml", "start": (0.0, 0.0)}],
)
def test_guided_refuses_what_makes_no_sense(parameters):
    with pytest.raises((ValueError, InputError)):
        Guided(**parameters)


ROLES = """\
robots:
  - {name: cleaner, waypoints in: [public, staff]}
  - {name: guard, waypoints in: [staff]}
"""
ZONES = (
    Zone("west", ("public",), (np.array([(-5.0, -1.5), (1.2, -1.5), (1.9, 6.0), (-1.0, 6.5)]),)),
    Zone(
        "east",
        ("staff", "quiet"),
        (np.array([(2.1, -1.4), (6.0, -1.0), (5.5, 3.0)]), np.array([(3.0, 4.2), (6.0, 4.0), (5.0, 6.5)])),
    ),
)


@pytest.fixture
def roles(tmp_path):
    path = tmp_path / "roles.yaml"

    def write(old="", new=""):
        assert old in ROLES
        path.write_text(ROLES.replace(old, new, 1) if old else ROLES)
        return str(path)

    return write


def test_robots_of_zones_start_and_end_in_the_zones_of_their_role(roles):
    mode, west, east = Zones(roles(), distance=1.0), 0, 0
    for number in range(30):
        ((start, goals),) = placed(mode, number, zones=ZONES)
        points = np.vstack([start, goals])[:, :2]
        in_west, in_east = ZONES[0].contains(points), ZONES[1].contains(points)
        assert (in_west | in_east).all()
        west += in_west.all()
        east += in_east.all()
        assert (np.hypot(*np.diff(points, axis=0).T) >= 1.0).all()
    assert east >= 10  # the guard, half of the draws; the cleaner is in both
    assert west + east < 30


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "[staff]",
            "[stuff]",
            "roles.yaml:3: robots[1].waypoints in: no zone of category 'stuff' in map 'crooked'; did you mean 'staff'?",
        ),
        (
            "waypoints in: [staff]",
            "waypoint in: [staff]",
            "roles.yaml:3: robots[1].waypoint in: unknown key; did you mean 'waypoints in'?",
        ),
        ("[staff]", "[]", "roles.yaml:3"),
        ("[staff]", "staff", "must be a list of categories, or '*'"),
        ("[staff]", "[.nan]", "expected a string"),
        ("name: guard, ", "", "robots[1].name: expected a string, got nothing"),
    ],
)
def test_a_wrong_file_of_roles_is_refused_with_line_key_and_nearest_name(roles, old, new, message):
    mode = Zones(roles(old, new))
    with pytest.raises(InputError) as caught:
        for number in range(8):
            placed(mode, number, zones=ZONES)
    assert message in str(caught.value), str(caught.value)


def test_a_file_that_is_not_there_or_a_world_without_a_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="no folder and so no zones/default"):
        placed(Zones(), zones=ZONES)
    with pytest.raises(InputError, match="there is no file"):
        placed(Zones(str(tmp_path / "other.yaml")), zones=ZONES)
