"""ArtPlanner over the map: the robot goes through lengthwise, feet need ground, and more poses make better ways."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agora.core.jit import device
from agora.errors import InputError
from agora.interfaces import PathRequest
from agora.maps.grid import Map
from agora.planners._roadmaps.stance import Pace, travel_time
from agora.planners.global_.artplanner import ArtPlanner

TORSO = ((0.655, 0.325), (-0.655, 0.325), (-0.655, -0.325), (0.655, -0.325))
PACE = Pace(*np.float32((0.5, 0.1, 0.5)))
FREE = math.nan


@device
def _travel_time(pace, a, b):
    return travel_time(pace, a[0], a[1], a[2], b[0], b[1], b[2])


def request(place, start, goal, footprint=TORSO, radius=0.732):
    return PathRequest(place, np.array(start, float), np.array(goal, float), radius, footprint=footprint)


def seconds(way):
    poses = way.astype(np.float32)
    return sum(float(_travel_time(PACE, a, b)) for a, b in zip(poses, poses[1:], strict=False))


def corridor(width, unknown=None):
    """Two rooms of 4 m, and a corridor of 4 m between them, a little below the middle; the map's corner is off the origin."""
    occupied = np.zeros((60, 122), bool)
    occupied[[0, -1]] = occupied[:, [0, -1]] = True
    occupied[:, 41:81] = True
    low = 26 - round(width / 0.2)
    occupied[low : low + round(width / 0.1), 41:81] = False
    return Map("corridor", 0.1, (-1.3, 2.2), occupied, unknown)


@pytest.mark.parametrize("seed", range(3))
def test_a_corridor_of_90_cm_is_passed_lengthwise_alone(seed):
    path = ArtPlanner(seed=seed).path(request(corridor(0.9), (0.7, 3.4, 1.0), (9.6, 5.0, FREE)))
    inside = path[(path[:, 0] > 3.4) & (path[:, 0] < 6.2)]
    assert len(inside) > 20
    assert np.abs(np.sin(inside[:, 2])).max() < 0.2
    assert ArtPlanner(seed=seed).path(request(corridor(0.9), (0.7, 3.4, 1.0), (4.8, 4.85, math.pi / 2))) is None
    assert ArtPlanner(seed=seed).path(request(corridor(0.9), (0.7, 3.4, 1.0), (4.8, 4.85, 0.0))) is not None


@pytest.mark.parametrize("width", [0.9, 1.3])
def test_the_torso_is_free_in_every_pose_of_a_path(width):
    place = corridor(width)
    path = ArtPlanner(spacing=0.03).path(request(place, (0.7, 3.4, 1.0), (9.6, 5.0, FREE))).astype(float)
    cosine, sine = np.cos(path[:, 2, None]), np.sin(path[:, 2, None])
    x, y = np.array(TORSO).T
    outlines = np.stack((path[:, :1] + cosine * x - sine * y, path[:, 1:2] + sine * x + cosine * y), -1)
    assert place.gap_of(outlines).min() > 0.0


def test_a_corridor_narrower_than_the_torso_has_no_way_but_for_a_smaller_robot():
    assert ArtPlanner().path(request(corridor(0.6), (0.7, 3.4, 1.0), (9.6, 5.0, FREE))) is None
    assert ArtPlanner().path(request(corridor(0.6), (0.7, 3.4, 1.0), (9.6, 5.0, FREE), (), 0.2)) is not None


def test_aside_it_walks_a_curve_because_side_steps_cost_five_times_as_much():
    place = Map.open((-3.1, -3.2), (7.3, 3.7), resolution=0.1)
    way = ArtPlanner(density=300).find_poses(request(place, (0, 0, 0), (0, 2, 0)))
    assert seconds(way) < 0.5 * 2.0 / 0.1
    assert np.abs(way[:, 2]).max() > 0.5


@pytest.mark.parametrize(
    ("start", "goal", "bound", "simple"),
    [
        ((0, 0, math.pi / 2), (4, 0, FREE), 8.63, math.pi + 8.0),
        ((0, 0, FREE), (4, 0, FREE), 4.0 / math.hypot(0.5, 0.1), 8.0),
    ],
    ids=["turn, then drive", "any heading"],
)
def test_ways_come_near_the_optimum_as_poses_grow_more(start, goal, bound, simple):
    """The bound: ahead and aside together, from the first moment on at the heading that is fastest, or turning to it."""
    place = Map.open((-3.1, -3.2), (7.3, 3.7), resolution=0.1)
    times = [
        np.mean([seconds(ArtPlanner(density=density, seed=seed).find_poses(request(place, start, goal))) for seed in range(3)])
        for density in (30, 150, 1200)
    ]
    assert times[2] < times[1] + 1e-3 < times[0] + 2e-3
    assert bound - 1e-3 < times[2] < min(1.12 * bound, simple + 1e-3)


def test_a_turn_on_the_spot_takes_its_angle():
    place = Map.open((-3.1, -3.2), (7.3, 3.7), resolution=0.1)
    assert seconds(ArtPlanner().find_poses(request(place, (0, 0, 0.5), (0, 0, 2.5)))) == pytest.approx(4.0, abs=1e-3)


def test_feet_do_not_stand_on_unknown_ground_and_step_over_as_much_as_they_reach():
    def crossed(cells, **values):
        unknown = np.zeros((60, 90), bool)
        unknown[:, 40 : 40 + cells] = True
        place = Map("bog", 0.1, (0.0, 0.0), np.zeros((60, 90), bool), unknown)
        return ArtPlanner(**values).path(request(place, (1, 3, 0), (7, 3, 0))) is not None

    assert crossed(2) and not crossed(5)
    assert crossed(5, foot_reach=0.0)


def test_a_start_in_contact_is_left_first():
    place = Map.from_shapes(segments=[[0.0, -2.0, 0.0, 3.0]], bounds=(-1.0, -2.0, 6.0, 3.0), name="wall")
    path = ArtPlanner().path(request(place, (0.6, 0.2, 0.0), (4.0, 1.0, 0.0)))
    assert path[0] == pytest.approx([0.6, 0.2, 0.0], abs=1e-6)
    assert path[1, 0] > 0.6


def test_the_same_seed_is_the_same_path_and_another_is_another():
    asked = request(corridor(1.2), (0.7, 3.4, 1.0), (9.6, 5.0, FREE))
    one, again, other = (ArtPlanner(seed=seed).path(asked) for seed in (3, 3, 4))
    assert np.array_equal(one, again)
    assert one.shape != other.shape or not np.array_equal(one, other)


def test_the_path_has_a_pose_every_spacing_and_headings_in_range():
    path = ArtPlanner(spacing=0.25).path(request(corridor(1.2), (0.7, 3.4, 3.0), (9.6, 5.0, -3.0)))
    assert np.hypot(*np.diff(path[:, :2], axis=0).T).max() < 0.25 + 1e-5
    assert (path[:, 2] > -math.pi - 1e-6).all() and (path[:, 2] <= math.pi + 1e-6).all()
    assert path[0] == pytest.approx([0.7, 3.4, 3.0], abs=1e-5)
    assert path[-1] == pytest.approx([9.6, 5.0, -3.0], abs=1e-5)


def test_numbers_that_make_no_roadmap_are_refused_by_name():
    with pytest.raises(InputError, match="density: expected a number"):
        ArtPlanner(density=0.0)
