"""Predicted occupancy: the formula in float64, ways behind people, mirrored scenes, nobody."""

import math

import numpy as np
import pytest

from agora.costmap.layers import put_layers
from agora.costmap.predicted_occupancy import PredictedOccupancy
from agora.episode import Conditions, Episodes
from agora.errors import InputError
from agora.interfaces import PathRequest
from agora.maps.grid import Map
from agora.pedestrians.models.waypoint import Waypoint
from agora.planners.local.pure_pursuit import PurePursuit
from agora.registry import make
from costmap.people import offsets, stamp
from starts import people, start

PLACE = (2.03, 6.11)
HALL = Map.open((-4.0, -5.0), (8.0, 5.0), resolution=0.1)


def formula(place, velocity, layer):
    d, v = offsets(place), np.array(velocity)
    speed = math.hypot(*velocity)
    t = np.clip(d @ v / speed**2, 0.0, layer.horizon) if speed > 0.05 else np.zeros(d.shape[:2])
    deviation = layer.deviation + layer.growth * t
    apart = np.hypot(*np.moveaxis(d - t[..., None] * v, -1, 0))
    cost = layer.cost * layer.discount**t * np.exp(-0.5 * (apart / deviation) ** 2)
    return np.where(cost < layer.cutoff, 0.0, cost)


@pytest.mark.parametrize("velocity", [(0.7, 0.45), (-1.3, 0.2), (0.0, -0.9), (0.0, 0.0), (0.01, -0.02)])
def test_a_cell_costs_by_the_time_when_the_pedestrian_is_nearest_to_it(velocity):
    layer = PredictedOccupancy(cost=230.0, horizon=2.9, deviation=0.45, growth=0.2, discount=0.7)
    cost, expected = stamp([layer], [PLACE], [velocity]).astype(float), formula(PLACE, velocity, layer)
    at_the_limit = np.abs(expected - layer.cutoff) < 0.1
    assert np.abs(cost - np.floor(expected))[~at_the_limit].max() <= 1
    assert cost.max() > 220


def test_costs_fall_and_widen_ahead():
    layer, velocity = PredictedOccupancy(), (1.0, 0.0)
    cost, d = stamp([layer], [PLACE], [velocity]), offsets(PLACE)
    middle = np.abs(d[..., 1]).min(axis=1).argmin()
    heights, widths = [], []
    for seconds in (0.0, 1.0, 2.0, 4.0):
        column = np.abs(d[middle, :, 0] - seconds).argmin()
        heights.append(int(cost[middle, column]))
        widths.append((cost[:, column] > 0.5 * heights[-1]).sum())
    assert heights == sorted(heights, reverse=True) and heights[-1] == pytest.approx(200 * 0.8**4, abs=3)
    assert widths == sorted(widths) and widths[-1] > 1.5 * widths[0]
    behind = cost[d[..., 0] < -0.5 * math.sqrt(2 * math.log(20)) - 0.1]
    assert behind.max() == 0


def test_absent_pedestrians_leave_no_cost_and_two_leave_the_larger_of_theirs():
    layer, places, velocities = PredictedOccupancy(), [PLACE, (3.4, 7.0)], [(0.8, 0.3), (-0.5, 0.1)]
    both = stamp([layer], places, velocities)
    alone = [stamp([layer], places, velocities, present=[k == 0, k == 1]) for k in (0, 1)]
    assert np.array_equal(both, np.maximum(*alone)) and all(one.any() for one in alone)
    assert not stamp([layer], places, velocities, present=[False, False]).any()
    assert (stamp([layer], places, velocities, below=254) == 254).all()
    assert (stamp([layer], places, velocities, below=255) == 255).all()
    assert stamp([layer], [(-6.0, 5.0)], [(1.0, 0.0)]).max() > 50
    assert not stamp([layer], [(-6.0, 5.0)], [(-1.0, 0.0)]).any()


def path(name, *walkers):
    """The path of a global planner across the hall, past those at (x, y, vx, vy)."""
    walkers = np.array(walkers, np.float32).reshape(1, -1, 4)
    flags = np.ones(walkers.shape[:2], np.bool_)
    shape = (walkers[..., :2], walkers[..., 2:], np.zeros(flags.shape, np.float32), np.ones((1, *flags.shape), np.float32), flags)
    cost = put_layers([PredictedOccupancy()], *(np.ascontiguousarray(one) for one in shape), HALL)
    return make("global_planners", name).path(
        PathRequest(HALL, np.array([-3.0, 0.05, 0.0]), np.array([7.0, 0.05, 0.0]), 0.3, cost=cost)
    )


def beside(way, x):
    """Where a path passes a place along it, y in m."""
    return float(way[np.abs(way[:, 0] - x).argmin(), 1])


PLANNERS = ["a_star", "navfn", "global_planner", "theta_star"]


@pytest.mark.parametrize("name", PLANNERS)
def test_the_path_bends_behind_who_is_about_to_cross_it(name):
    for y, vy in ((-0.9, 0.9), (-1.9, 1.2), (1.0, -1.1)):
        way = path(name, (2.0, y, 0.0, vy))
        assert (beside(way, 2.0) - y) * math.copysign(1.0, vy) < -0.6
    gone = path(name, (2.0, 1.3, 0.0, 1.0))
    assert abs(beside(gone, 2.0)) < 0.3
    ahead = path(name, (2.0, -3.3, 0.0, 0.3))
    assert abs(beside(ahead, 2.0)) < 0.3


@pytest.mark.parametrize("name", PLANNERS)
def test_mirrored_scenes_have_mirrored_paths_and_nobody_changes_nothing(name):
    here, there = path(name, (2.0, -1.0, 0.1, 1.0)), path(name, (2.0, 1.1, 0.1, -1.0))
    there[:, 1] = 0.1 - there[:, 1]
    apart = np.linalg.norm(here[:, None, :2] - there[None, :, :2], axis=2)
    assert apart.min(axis=1).max() < 0.35
    alone = path(name)
    request = PathRequest(HALL, np.array([-3.0, 0.05, 0.0]), np.array([7.0, 0.05, 0.0]), 0.3)
    np.testing.assert_array_equal(alone, make("global_planners", name).path(request))


def test_a_robot_with_the_layer_passes_behind_a_crossing_pedestrian_with_more_room():
    def run(*layers):
        crowd = people([(1.05, -4.0)], [(1.05, 4.5)], speed=0.8)
        begun = start(pose=(-3.4, 0.05, 0.0), goal=(7.0, 0.05, 0.0), crowd=crowd, place=HALL, timeout=30.0)
        conditions = Conditions(crowd=Waypoint(), layers=layers, replan=0.5, ends=0)
        ((_, (recording,)),) = list(Episodes([begun], PurePursuit(speed=0.8), conditions))
        return recording

    def gap(recording):
        return np.hypot(*(recording.pose[:, :2] - recording.pedestrian_position[:, 0]).T).min()

    without, with_layer = run(), run(PredictedOccupancy())
    assert gap(with_layer) > gap(without) + 0.3
    crossing = np.abs(with_layer.pose[:, 0] - 1.05).argmin()
    assert with_layer.pose[crossing, 1] < with_layer.pedestrian_position[crossing, 0, 1]
    assert with_layer.outcome.label == "reached"


@pytest.mark.parametrize(
    "wrong",
    [
        {"cost": 253.0},
        {"cutoff": 0.0},
        {"deviation": 0.0},
        {"growth": -0.1},
        {"discount": 0.0},
        {"discount": 1.1},
        {"horizon": -1.0},
    ],
)
def test_parameters_that_make_no_sense_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        PredictedOccupancy(**wrong)
