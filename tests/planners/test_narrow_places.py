"""Narrow places for the planners beside DWA: what went wrong there, and what their pages say does not go."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.planners.local.observations import observe
from tests.starts import people, start

from agora.core.recording import Reason
from agora.costmap.window import inscribed_radius
from agora.episode import Conditions, Episodes
from agora.maps.grid import Map
from agora.pedestrians.models.anticipation import Anticipation
from agora.perception.perception import Perception
from agora.planners.local.teb import Teb
from agora.planners.local.teb.scene import steps
from agora.planners.presets import named_planner
from agora.registry import make
from agora.robots.model import load_robot
from agora.testing import ContractError, check_narrow_places
from agora.testing.narrow import CAR, PLACES
from agora.world.start import PedestrianStarts, RobotStart, Start


@pytest.mark.parametrize("place", ["door", "corridor"])
def test_teb_passes_with_robots_of_two_metres_a_second(place):
    check_narrow_places(make("planners", "teb"), [place], [load_robot("jackal")], starts=12 if place == "door" else 2)


@pytest.mark.parametrize(
    ("place", "robot", "starts", "values"),
    [
        ("corridor", "burger", 2, ""),
        ("hairpin", "waffle", 1, ""),
        ("wall", "rlca", 2, ""),
        ("lane", "agvota", 2, ":footprint_model=polygon,min_obstacle_dist=0.2,inflation_dist=0.3"),
    ],
    ids=["a slow one", "another", "one that cannot back up", "a long one that knows its outline"],
)
def test_teb_passes_with_robots_that_are(place, robot, starts, values):
    check_narrow_places(named_planner(f"teb{values}")[1].part, [place], [load_robot(robot)], starts=starts)


def test_the_times_of_the_package_are_too_coarse_for_a_door_at_two_metres_a_second():
    coarse = named_planner("teb:dt_ref=0.3,dt_hysteresis=0.1,feasibility_check_no_poses=5")[1].part
    with pytest.raises(ContractError, match="wall_collision"):
        check_narrow_places(coarse, ["door"], [load_robot("jackal")])


def test_a_band_is_as_fine_as_its_robot_is_fast():
    fast, slow, slowest = (dict(holonomic=False, max_vx=v) for v in (2.0, 0.8, 0.2))
    aside = dict(holonomic=True, max_vx=1.0, max_vy=1.5)
    for planner, bounds, dt, hurry, checked in (
        (Teb(), fast, 0.15, 4.0, 10),
        (Teb(), slow, 0.3, 1.0, 5),
        (Teb(), slowest, 0.6, 1.0, 3),
        (Teb(), aside, 0.3 / math.hypot(1.0, 0.5), 1.25, 6),
        (Teb(max_vel_x=0.4), fast, 0.3, 1.0, 5),
        (Teb(dt_ref=0.25, feasibility_check_no_poses=7), fast, 0.25, 1.0, 7),
    ):
        o = observe([(0.0, 0.0, 0.4)], [(3.0, 1.0)], **bounds)
        times, hysteresis, much, poses = (value[0] for value in steps(planner, o))
        assert (times, hysteresis, much, poses) == pytest.approx((dt, dt / 3, hurry, checked), rel=1e-5)


def test_a_corner_that_is_given_twice_makes_no_outline_thin():
    corners = np.array([[[0.4, 0.15], [-0.1, 0.15], [-0.1, -0.15], [0.4, -0.15], [0.4, -0.15]]], np.float32)
    assert inscribed_radius(corners) == pytest.approx(0.1)


def test_orca_goes_round_the_end_of_a_wall_without_touching_it():
    robots = [load_robot("crowdnav"), load_robot("youbot")]
    check_narrow_places(make("planners", "orca"), ["hairpin", "door"], robots, starts=2)


@pytest.mark.parametrize(
    ("place", "robot", "starts"),
    [
        ("door", load_robot("f1tenth"), 2),
        ("wall", load_robot("f1tenth"), 1),
        ("wall", CAR, 1),
        ("hairpin", load_robot("rto"), 3),
        ("hall", load_robot("cob4"), 4),
    ],
    ids=["a car at a door", "a car before a wall", "a slow car", "one that needs long to stop", "one that is slow sideways"],
)
def test_orca_passes_with_robots_that_do_not_have_the_velocity_that_they_want_at_once(place, robot, starts):
    check_narrow_places(make("planners", "orca"), [place], [robot], starts=starts)


@pytest.mark.parametrize("robot", ["burger", "waffle"])
def test_mpc_goes_round_the_end_of_a_wall_with_slow_robots(robot):
    check_narrow_places(make("planners", "mpc"), ["hairpin"], [load_robot(robot)], starts=1)


def through_a_lane(width, length, y, timeout=12.0):
    """The start of a jackal before a lane in the middle of a hall, with its goal behind the lane."""
    low, high, end = 3.0 - 0.5 * width, 3.0 + 0.5 * width, 4.0 + length
    ends = [(x, *side) for x in (4.0, end) for side in ((0.0, x, low), (high, x, 6.0))]
    place = Map.from_shapes(
        bounds=(0.0, 0.0, 12.0, 6.0), resolution=0.05, segments=[*ends, (4.0, low, end, low), (4.0, high, end, high)], name="lane"
    )
    robot = RobotStart(load_robot("jackal"), np.array([1.5, y, 0.0]), np.array([[10.5, 3.0, 0.0]]))
    return Start(f"lane/{width}/{length}/{y}", 1, place, (robot,), PedestrianStarts.none(), timeout=timeout)


def test_teb_drives_through_lanes_that_are_narrower_than_twice_its_distance_to_walls_as_through_the_open():
    """With ``min_obstacle_dist`` there too, the poses of its band are pushed out of the lane, and the robot stays at the mouth."""
    starts = [through_a_lane(w, length, y) for w in (0.7, 0.8, 0.95) for length in (0.2, 2.0, 4.0) for y in (2.4, 3.0)]
    for _, (made,) in Episodes(starts, make("planners", "teb"), Conditions()):
        assert made.outcome.label == "reached" and made.time[-1] < 5.5
    package = named_planner("teb:min_lane_dist=null")[1].part
    ((_, (made,)),) = Episodes([through_a_lane(0.8, 4.0, 3.0)], package, Conditions())
    assert made.outcome.label == "timeout" and made.pose[-1, 0] < 4.0 and made.reason[-1] == Reason.NO_HEADWAY


def test_a_car_whose_curves_ahead_are_not_free_backs_up_under_trajectory_rollout():
    check_narrow_places(make("planners", "trajectory_rollout"), ["door"], [CAR], starts=3)


def through_the_door(planner, pose, crowd, robot="jackal", timeout=60.0):
    """A recording of a robot that drives through the 0.9 m door at (3, 3.05) and knows the people behind the wall."""
    begun = start(pose=pose, goal=(6.0, 5.0, 0.0), crowd=crowd, model=load_robot(robot), timeout=timeout)
    begun = replace(begun, map=PLACES["door"].map(load_robot(robot)))
    conditions = Conditions(crowd=Anticipation(), perception=Perception("truth", walls=False))
    ((_, (made,)),) = Episodes([begun], named_planner(planner)[1].part, conditions)
    return made


@pytest.mark.parametrize("planner", ["dwa+polite", "orca+polite"])
@pytest.mark.parametrize("y", [1.2, 2.8])
def test_who_gives_way_at_a_door_to_somebody_who_comes_through_drives_through_it_then(planner, y):
    crowd = people([(5.5, 3.3)], [[(3.6, 3.05), (2.4, 3.05), (0.7, 5.5)]], speed=1.3)
    made = through_the_door(planner, (1.0, y, 1.57), crowd)
    assert made.outcome.label == "reached" and (made.reason == Reason.RETREATING).any()


def test_dwa_waits_a_metre_from_somebody_who_stands_in_a_door():
    crowd = people([(3.0, 3.1)], [[(3.0, 3.1)]], speed=1.0)
    made = through_the_door("dwa", (1.9, 3.0, 0.1), crowd, "tiago", timeout=20.0)
    gap = np.hypot(*(made.pose[-1, :2] - made.pedestrian_position[-1, 0])) - 0.3 - 0.27
    assert made.outcome.label == "timeout" and np.ptp(made.pose[-50:, 0]) < 0.01 and 0.9 < gap < 1.3


def test_four_robots_with_two_wheels_that_meet_in_the_middle_pass_each_other():
    """With a turn gain of 2 they creep towards each other until the time is up."""
    model, place = load_robot("rlca"), Map.open((-9.3, -9.1), (9.2, 9.6))

    def robot(angle: float) -> RobotStart:
        here = 6.0 * np.array([math.cos(angle), math.sin(angle)])
        return RobotStart(model, np.array([*here, angle + math.pi]), np.array([[*-here, 0.0]]))

    met = Start("met", 1, place, tuple(robot(0.3 + 0.5 * math.pi * k) for k in range(4)), PedestrianStarts.none(), timeout=40.0)
    for gain, arrived in (("", 4), ("turn_gain=2.0", 0)):
        ((_, recordings),) = Episodes([met], named_planner(f"orca:{gain}" if gain else "orca")[1].part, Conditions())
        assert sum(recording.outcome.label == "reached" for recording in recordings) == arrived
