"""Robots driven from what is said of them: bit by bit as in episodes, and with an answer to everything that goes wrong."""

from __future__ import annotations

import math
from concurrent.futures import Executor, Future

import numpy as np
import pytest

from agora.costmap.personal_space import PersonalSpace
from agora.episode import Batch, Conditions, Episodes
from agora.errors import InputError
from agora.maps.grid import Map
from agora.node_logic.navigator import Navigator
from agora.pedestrians.models.helbing import Helbing
from agora.perception.perception import Perception
from agora.perception.view import View
from agora.planners.presets import named_planner
from agora.robots.model import load_robot
from agora.world.start import RobotStart, Start
from starts import people, start

PLACE = Map.from_shapes(
    polygons=[[[2.0, 1.2], [3.5, 1.2], [3.5, 4.6], [2.0, 4.6]]], bounds=(-7.3, -4.1, 9.7, 6.9), resolution=0.1, name="yard"
)
ROBOT = load_robot("burger")


def two_robots(goals=2):
    far = np.array([[-0.3, 0.9, 0.0], [0.2, 4.5, 0.0]])[:goals]
    robots = tuple(
        RobotStart(ROBOT, np.array(pose), far + [0, y, 0]) for pose, y in (((0.4, -0.3, 0.7), 0.0), ((-1.1, 2.2, -0.5), 1.0))
    )
    crowd = people([(1.5, 0.9), (4.2, 0.1)], [(-3.0, 0.5), (0.0, 3.0)])
    return Start("test/stage/0", 5, PLACE, robots, crowd, 14.0, 0.5)


def played(begun, conditions, planner, control=2):
    """Poses (T, R, 3) of an episode whose robots a navigator drives, everything copied into it as messages would."""
    batch = Batch([begun], conditions, {"scan"}, 1)
    batch.begin(0, 0)
    nav, world, poses, numbers = Navigator(begun, conditions, planner), batch.world, [], set()
    while not world.status.clock.done[0]:
        robots, step = world.robots, int(world.status.clock.step[0])
        poses.append(np.stack((robots.x[0], robots.y[0], robots.heading[0]), -1))
        batch.look()
        time = step * world.dt
        for mine, its in zip((nav.robots, *nav.people(2)), (robots, world.pedestrians, world.traits, world.minds), strict=True):
            for name in its._fields:
                getattr(mine, name)[...] = getattr(its, name)
        nav.observed(time)
        for r, ranges in enumerate(batch.observer.observe().scan):
            nav.see_scan(r, ranges, time)
            number = int(world.layout.robots and len(begun.robots[r].goals) - 1 - world.status.goals.left[0, r])
            numbers.add(number)
            nav.follow(r, number, begun.robots[r].goals[number])
        decision = nav.decide(time, step, batch.active)
        batch.world.command(decision.twists, batch.active, decision.failures)
        batch.advance()
    return np.array(poses), numbers


@pytest.mark.parametrize(
    ("planner", "more"),
    [
        ("dwa+polite", {}),
        ("dwa_scan:window={size: 6.0, sources: [map, scan]}", {}),
        ("pure_pursuit+shortsighted", {"replan": 0.7, "layers": (PersonalSpace(),)}),
        ("orca", {"ends": 0}),
        ("pure_pursuit+replan:window={sources: [map, people, scan]}", {}),
        ("dwa", {"perception": Perception("tracked"), "replan": 0.7, "layers": (PersonalSpace(),)}),
        ("orca", {"perception": Perception("visible")}),
        ("orca", {"perception": Perception("view", view=View(1.6, 4.0))}),
    ],
)
def test_robots_driven_through_a_navigator_go_where_they_go_in_episodes(planner, more):
    begun, conditions = two_robots(), Conditions(crowd=Helbing(), **more)
    made = named_planner(planner)[1].part
    ((_, recordings),) = list(Episodes([begun], made, conditions))
    poses, numbers = played(begun, conditions, made)
    assert len(poses) > 30
    for r, recording in enumerate(recordings):
        count = min(len(poses), len(recording.pose))
        assert (poses[:count, r].astype(np.float64) == recording.pose[:count]).all()
    if more.get("ends") == 0:
        assert numbers == {0, 1}, "the robots had a second goal"


def alone(planner="pure_pursuit+polite", place=PLACE, **more):
    return Navigator.on_map(place, [ROBOT], named_planner(planner)[1].part, names=["r2"], **more)


def ready(nav, time=1.0, pose=(0.4, -0.3, 0.7)):
    nav.see_robot(0, pose, (0.0, 0.0, 0.0), time)
    nav.see_scan(0, np.full(nav.beams(0), 4.0), time)
    return nav.decide(time, round(10 * time), np.ones(1, bool))


def test_in_an_episode_a_robot_follows_the_pose_that_comes_with_a_number_whatever_the_episode_lists():
    begun = two_robots(goals=1)
    nav = Navigator(begun, Conditions(crowd=Helbing()), named_planner("pure_pursuit")[1].part)
    for number, goal in ((1, (4.5, -2.0, 0.3)), (7, (-5.0, 3.0, 1.0))):
        nav.follow(0, number, goal)
        assert nav.goal(0) == pytest.approx(goal) and nav.path(0)[-1] == pytest.approx(goal[:2], abs=0.1)
    nav.follow(0, 7, (0.0, 0.0, 0.0))
    nav.follow(0, 3, (1.0, 0.0, 0.0))  # late
    assert nav.goal(0) == pytest.approx((-5.0, 3.0, 1.0))
    nav.drop_goal(0)
    nav.follow(0, 8, (4.5, -2.0, 0.3))
    assert nav.goal(0) == pytest.approx((4.5, -2.0, 0.3)) and nav.goal(1) == pytest.approx(begun.robots[1].goals[0])


def test_a_robot_on_a_map_stands_until_it_has_a_goal_and_then_goes_there():
    nav = alone()
    assert ready(nav).twists.tolist() == [[0, 0, 0]]
    nav.set_goal(0, (6.0, 3.0, 0.3))
    assert ready(nav).twists[0, 0] > 0.05
    pose = np.array([0.4, -0.3, 0.7])
    for k in range(600):
        vx, _, omega = ready(nav, 2.0 + 0.1 * k, pose).twists[0]
        pose += 0.1 * np.array([vx * math.cos(pose[2]), vx * math.sin(pose[2]), omega])
        if nav.arrived(0):
            break
    assert math.dist(pose[:2], (6.0, 3.0)) < 0.31


class Later(Executor):
    """Works when it is told to."""

    def __init__(self):
        self.asked = []

    def submit(self, fn, /, *args, **kwargs):
        self.asked.append((future := Future(), fn))
        return future

    def work(self):
        while self.asked:
            future, fn = self.asked.pop(0)
            future.set_result(fn())


def test_a_path_that_is_made_aside_is_followed_when_it_is_there_and_its_goal_is_still_the_goal():
    later = Later()
    nav = alone("pure_pursuit", conditions=Conditions(replan=1.0), background=later)
    ready(nav, 0.9)
    nav.set_goal(0, (6.0, 3.0, 0.3))
    first = nav.path(0).copy()
    for time in (1.0, 2.5, 2.6, 3.7):
        pose = (0.4 + 0.2 * (time - 1.0), -0.3, 0.7)
        nav.see_robot(0, pose, (0.0, 0.0, 0.0), time)
        nav.decide(time, round(10 * time), np.ones(1, bool))
        assert (nav.path(0) == first).all(), "nobody has worked yet"
    assert len(later.asked) == 1, "one path after the other"
    later.work()
    nav.decide(3.8, 38, np.ones(1, bool))
    assert nav.path(0)[0] == pytest.approx((0.7, -0.3), abs=0.09), "from where it was when the path was due"
    assert nav.path(0)[-1] == pytest.approx((6.0, 3.0), abs=0.1)
    nav.see_robot(0, pose, (0.0, 0.0, 0.0), 5.0)
    nav.decide(5.0, 50, np.ones(1, bool))
    assert len(later.asked) == 1
    nav.set_goal(0, (-5.0, 3.0, 0.3))
    later.work()
    nav.decide(5.1, 51, np.ones(1, bool))
    assert nav.path(0)[-1] == pytest.approx((-5.0, 3.0), abs=0.1), "the path to the goal before is not taken"


def test_old_odometry_and_an_old_scan_stop_the_robot_and_say_how_old():
    nav = alone()
    nav.set_goal(0, (6.0, 3.0, 0.3))
    ready(nav, 1.0)
    late = nav.decide(1.7, 17, np.ones(1, bool))
    assert late.twists.tolist() == [[0, 0, 0]]
    assert late.standing == {0: "odometry of r2 is 0.70 s old (limit: 0.5 s): the robot stops"}
    nav.see_robot(0, (0.4, -0.3, 0.7), (0, 0, 0), 1.7)
    assert nav.decide(1.7, 17, np.ones(1, bool)).standing[0].startswith("the last scan of r2 is 0.70 s old")


def test_a_scan_with_other_beams_or_of_nothing_is_refused_and_lost_beams_are_no_returns():
    nav = alone()
    with pytest.raises(InputError, match="scan of r2: expected 360 beams, got 90"):
        nav.see_scan(0, np.ones(90), 1.0)
    with pytest.raises(InputError, match="scan of r2: 200 of 360 beams are NaN"):
        nav.see_scan(0, [math.nan] * 200 + [1.0] * 160, 1.0)
    with pytest.raises(InputError, match="odometry of r2: contains a non-finite value"):
        nav.see_robot(0, (0.0, math.nan, 0.0), (0, 0, 0), 1.0)
    nav.set_goal(0, (6.0, 3.0, 0.3))
    nav.see_robot(0, (0.4, -0.3, 0.7), (0, 0, 0), 1.0)
    nav.see_scan(0, [math.nan, math.inf] + [1.0] * 358, 1.0)
    assert np.isfinite(nav.decide(1.0, 10, np.ones(1, bool)).twists).all()


@pytest.mark.parametrize(
    ("goal", "why"),
    [
        ((2.5, 2.5, 0.0), r"its goal \(2.50, 2.50\) is 0.00 m from an obstacle, but the robot needs 0.1"),
        ((99.0, 0.0, 0.0), r"its goal \(99.00, 0.00\) is outside the map"),
        ((9.65, 6.0, 0.0), r"its goal \(9.65, 6.00\) is 0.05 m from the border of the map, but the robot needs 0.1"),
        ((6.5, 2.0, 0.0), r"no path from \(0.40, -0.30\) to \(6.50, 2.00\): no path is wide enough"),
    ],
)
def test_where_there_is_no_path_it_stands_and_says_why(goal, why):
    walls = [[4.0, -4.1, 4.0, 6.9]] if goal[0] == 6.5 else []
    place = Map.from_shapes(
        polygons=list(PLACE.polygons), segments=walls, bounds=(-7.3, -4.1, 9.7, 6.9), resolution=0.1, name="yard"
    )
    nav = alone(place=place)
    ready(nav)
    nav.set_goal(0, goal)
    decision = ready(nav, 1.1)
    assert decision.twists.tolist() == [[0, 0, 0]]
    with pytest.raises(AssertionError, match=why):
        raise AssertionError(decision.standing[0])


def test_a_robot_that_is_set_down_away_from_its_path_gets_one_from_there_and_drives_on():
    nav = alone("pure_pursuit")
    ready(nav, pose=(-5.0, 0.5, 0.0))
    nav.set_goal(0, (5.5, 3.0, 0.0))
    assert ready(nav, 1.1, (-5.0, 0.5, 0.0)).twists[0, 0] > 0.05
    ready(nav, 1.2, (-4.98, 0.5, 0.0))
    assert np.allclose(nav.path(0)[0], (-5.0, 0.5))  # it drove there
    decision = ready(nav, 1.3, (1.0, 5.8, 0.0))  # on the other side of the block
    assert np.allclose(nav.path(0)[0], (1.0, 5.8)) and np.allclose(nav.path(0)[-1], (5.5, 3.0), atol=0.2)
    assert decision.twists[0, 0] > 0.05 and not decision.standing
    decision = ready(nav, 1.4, (2.8, 2.9, 0.0))  # into the block
    assert not decision.twists.any() and "no path from (2.80, 2.90)" in decision.standing[0]


def test_what_a_planner_remembers_of_the_place_before_is_forgotten_where_a_robot_is_set_down():
    fresh, moved = alone("teb"), alone("teb")
    here, there = (-1.0, 5.5, 0.3), (-5.0, 0.5, 0.0)
    for nav, pose in ((fresh, here), (moved, there)):
        ready(nav, pose=pose)
        nav.set_goal(0, (5.5, 3.0, 0.0))
    for k in range(3):
        ready(moved, 1.1 + 0.1 * k, there)
    twists = [ready(nav, 1.4, here).twists for nav in (fresh, moved)]
    assert np.array_equal(*twists) and twists[0].any()


def test_when_the_clock_jumps_back_memory_is_forgotten_and_it_is_noted():
    nav = alone("pure_pursuit+sideways")
    people_ = nav.people(1)
    people_.now.x[0, 0], people_.now.y[0, 0], people_.now.active[0, 0] = 1.2, 0.3, True
    people_.now.vx[0, 0] = -0.4  # it walks
    people_.traits.count[0] = 1
    nav.set_goal(0, (6.0, 3.0, 0.3))
    ready(nav, 50.0)
    retreat = nav.guidance(0).path[-1]
    assert len(nav.guidance(0).path) == 21, "it backs away"
    later = (0.3, -0.35, 0.3)
    ready(nav, 50.1, later)
    assert np.array_equal(nav.guidance(0).path[-1], retreat), "it backs away to the same place"
    back = ready(nav, 3.0, later)
    assert back.notes == ("the clock jumped back from 50.100 s to 3.000 s: the planners' memory is cleared",)
    assert len(nav.guidance(0).path) == 21 and not np.array_equal(nav.guidance(0).path[-1], retreat)
    assert ready(nav, 3.1).notes == ()


def test_a_robot_stops_before_what_is_on_no_map_if_its_costmap_is_made_of_the_scan():
    """A box 0.6 m ahead that only the lidar sees: the twist before it is shorter, and it is gone once the scan says so."""
    angle = np.linspace(-math.pi, math.pi, 360, endpoint=False)
    box = np.where(np.abs(angle) < 0.6, 0.6 / np.cos(angle), 5.0)

    def cost_ahead(nav):
        cost, origin, cell = nav.local_costmap(0)
        column, row = ((np.array((0.4 + 0.63 * math.cos(0.7), -0.3 + 0.63 * math.sin(0.7))) - origin) / cell).astype(int)
        return cost[row - 1 : row + 2, column - 1 : column + 2].max()

    seen = {}
    for planner in ("dwa", "dwa_scan"):
        nav = alone(planner)
        nav.set_goal(0, (6.0, 3.0, 0.3))
        nav.see_robot(0, (0.4, -0.3, 0.7), (0, 0, 0), 1.0)
        nav.see_scan(0, box, 1.0)
        nav.decide(1.0, 10, np.ones(1, bool))
        seen[planner] = cost_ahead(nav)
    assert seen == {"dwa": 0, "dwa_scan": 254}
    nav.forget_obstacles(0)
    nav.decide(1.1, 11, np.ones(1, bool))
    assert cost_ahead(nav) == 0


def test_clearing_costmaps_clears_what_an_interplanner_remembers_of_them():
    ways = []
    for cleared in (False, True):
        nav = alone(
            "pure_pursuit+replan:lookahead=50.0,window={size: 3.0, sources: [scan]}", Map.open((-30.0, -30.0), (30.0, 30.0))
        )
        nav.set_goal(0, (9.0, 0.0, 0.0))
        nav.see_robot(0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 1.0)
        nav.see_scan(0, np.where(np.abs(np.linspace(-1, 1, nav.beams(0))) < 0.3, 1.2, 3.4), 1.0)
        nav.decide(1.0, 10, np.ones(1, bool))
        nav.see_robot(0, (-4.0, 0.0, 0.0), (0.0, 0.0, 0.0), 31.0)  # it has driven back
        if cleared:
            nav.forget_obstacles(0)
        nav.see_scan(0, np.full(nav.beams(0), 3.4), 31.0)
        nav.decide(31.0, 310, np.ones(1, bool))
        ways.append(np.abs(nav.guidance(0).path[:, 1]).max())
    assert ways[0] > 0.3 and ways[1] < 0.01


def test_more_pedestrians_than_there_is_room_for_are_refused():
    with pytest.raises(InputError, match="expected at most 16, got 17"):
        alone(room=9).people(17)


def test_costmaps_hold_walls_and_pedestrians_whatever_the_planner_reads():
    for planner in ("dwa", "pure_pursuit"):
        nav = alone(planner)
        people_ = nav.people(1)
        people_.now.x[0, 0], people_.now.y[0, 0], people_.now.active[0, 0] = 1.2, 0.3, True
        nav.set_goal(0, (6.0, 3.0, 0.3))
        ready(nav)
        cost, origin, cell = nav.local_costmap(0)

        def at(x, y, grid=cost, corner=origin, size=cell):
            column, row = ((np.array((x, y)) - corner) / size).astype(int)
            return grid[row, column]

        assert (at(1.2, 0.3), at(2.7, 2.0), at(-2.0, -3.0)) == (254, 254, 0)
        whole, corner, size = nav.global_costmap(0)
        assert (at(1.2, 0.3, whole, corner, size), at(2.7, 2.0, whole, corner, size)) == (0, 254)


def test_a_start_of_an_episode_is_where_its_robots_are_until_something_is_seen():
    nav = Navigator(start(model=ROBOT, pose=(1.5, -0.5, 2.0)), Conditions(), named_planner("pure_pursuit")[1].part)
    assert nav.path(0)[0] == pytest.approx((1.5, -0.5))
    assert np.abs(nav.decide(0.0, 0, np.ones(1, bool)).twists[0]).max() > 0.0


def test_a_robot_without_a_tracker_sees_people_in_its_own_scans():
    """Nobody says who is where: somebody in the way is in the scan alone, and on the local costmap within three scans."""
    nav = alone("dwa", conditions=Conditions(perception=Perception("tracked")))
    nav.set_goal(0, (-6.0, 2.0, 0.0))
    pose, marked = np.array([0.4, -0.3, 0.7]), []
    for k in range(5):
        bearing = np.linspace(-math.pi, math.pi, nav.beams(0), endpoint=False) if nav.beams(0) == 360 else None
        assert bearing is not None
        there, ranges = np.array([-1.6, 0.5]), np.full(360, 3.5)
        along = there[0] * np.cos(bearing) + there[1] * np.sin(bearing)
        aside = there[0] * np.sin(bearing) - there[1] * np.cos(bearing)
        on = (np.abs(aside) < 0.3) & (along > 0)
        ranges[on] = along[on] - np.sqrt(0.09 - aside[on] ** 2)
        nav.see_robot(0, pose, (0, 0, 0), 1.0 + 0.1 * k)
        nav.see_scan(0, ranges, 1.0 + 0.1 * k)
        nav.decide(1.0 + 0.1 * k, k, np.ones(1, bool))
        cost, corner, cell = nav.local_costmap(0)
        place = pose[:2] + [
            math.cos(0.7) * there[0] - math.sin(0.7) * there[1],
            math.sin(0.7) * there[0] + math.cos(0.7) * there[1],
        ]
        column, row = np.floor((place - corner) / cell).astype(int)
        marked.append(int(cost[row, column]))
    assert marked[0] == 0
    assert marked[-1] == 254
