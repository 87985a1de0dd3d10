"""People who foresee collisions: on crooked fixtures, with bounds of what one would believe."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agora.interfaces import Span
from agora.maps.grid import Map
from agora.pedestrians.models.anticipation import Anticipation
from agora.testing import check_crowd_model
from agora.validation.flow import weidmann
from agora.validation.walk import walk
from pedestrians import crowds, twins
from pedestrians.models.test_every_model import moved
from pedestrians.models.test_every_model import walk as steps

MODEL = Anticipation()
PLAIN = Map.open((-21.0, -17.0), (20.0, 22.0), resolution=0.5)
RADIUS = 0.25


def meeting(start, goals, seconds=20.0, place=PLAIN, speed=1.3, tolerance=0.5):
    """Let people walk; returns the walk and the least clearance between two of them, m."""
    start = np.asarray(start, float)
    goals = np.asarray(goals, float).reshape(len(start), -1, 2)
    seen = walk(MODEL, place, start, goals, seconds, speed=speed, radius=RADIUS, tolerance=tolerance)
    apart = np.hypot(*(seen.position[:, :, None] - seen.position[:, None]).transpose(3, 0, 1, 2))
    apart[:, np.arange(len(start)), np.arange(len(start))] = np.inf
    return seen, apart.min() - 2 * RADIUS


@pytest.mark.parametrize("sees", [0, 1, 2, 3])
def test_kernel_agrees_with_its_float64_twin(sees, rng):
    crowd = crowds.random_crowd(rng)
    expected, size = twins.anticipation(MODEL, crowd, sees)
    error = np.linalg.norm(crowds.forces(MODEL, crowd, sees) - expected, axis=-1)
    assert size[crowd.pedestrians.active].min() > 0.0
    assert np.all(error <= 3e-5 * size)


def test_it_keeps_the_contract_of_crowd_models():
    check_crowd_model(MODEL, handed=True)


@pytest.mark.parametrize("slots", [48, 128])
def test_padding_changes_no_bit(slots, rng):
    crowd = crowds.random_crowd(rng)
    assert np.array_equal(crowds.forces(MODEL, crowd), crowds.forces(MODEL, crowds.repadded(crowd, slots))[:, :32])


def test_a_turned_scene_gives_turned_answers(rng):
    crowd = crowds.random_crowd(rng)._replace(maps=crowds.open_plain(4))
    turn = np.array([[math.cos(2.1), -math.sin(2.1)], [math.sin(2.1), math.cos(2.1)]])
    before, after = crowds.forces(MODEL, crowd), crowds.forces(MODEL, moved(crowd, turn, (-4.3, 1.7)))
    assert np.abs(after - before @ turn.T).max() < 1e-4


def test_one_alone_relaxes_to_the_preferred_speed_as_semi_implicit_euler_does():
    crowd = crowds.placed([(0.0, 0.0)], goal=[(24.0, -10.0)], speed=1.2)
    for k, step in enumerate(steps(MODEL, crowd, 40, np.float32(0.05)), start=1):
        assert np.linalg.norm(step.velocity[0, 0]) == pytest.approx(1.2 * (1.0 - 0.9**k), rel=2e-5)


def test_who_stays_at_the_last_waypoint_comes_to_rest_there():
    crowd = crowds.placed([(0.3, -0.2)], goal=[(3.0, 1.0)])
    crowd.waypoints.mode[:], crowd.waypoints.count[:] = 2, 1
    *_, end = steps(MODEL, crowd, 200, np.float32(0.1))
    assert np.linalg.norm(end.position[0, 0] - (3.0, 1.0)) < 0.05
    assert np.linalg.norm(end.velocity[0, 0]) < 0.01


def test_accelerations_stay_human(rng):
    crowd = crowds.random_crowd(rng)
    assert np.linalg.norm(crowds.forces(MODEL, crowd), axis=-1).max() <= MODEL.max_acceleration * 1.00001


@pytest.mark.parametrize("aside", [0.0, 0.1, -0.1, 0.25, -0.25, 0.6])
def test_two_who_meet_head_on_pass_with_room_between_them(aside):
    seen, gap = meeting([(-5.0, 0.3), (5.0, 0.3 + aside)], [(8.0, 0.3), (-8.0, 0.3 + aside)])
    assert gap > 0.1
    assert seen.passed(5.0)[0] < 9.0


def test_two_who_meet_exactly_head_on_pass_on_the_right():
    seen, _ = meeting([(-5.0, 0.3), (5.0, 0.3)], [(8.0, 0.3), (-8.0, 0.3)])
    k = np.abs(seen.position[:, 0, 0] - seen.position[:, 1, 0]).argmin()
    assert seen.position[k, 0, 1] < 0.3 - 0.2
    assert seen.position[k, 1, 1] > 0.3 + 0.2


def test_four_who_cross_in_one_point_get_through_without_touching():
    angle = np.deg2rad([11.0, 101.0, 191.0, 281.0])
    start = 5.0 * np.stack([np.cos(angle), np.sin(angle)], -1)
    seen, gap = meeting(start, -1.2 * start)
    assert gap > 0.1
    assert np.hypot(*(seen.position[-1] + 1.2 * start).T).max() < 0.5


@pytest.mark.parametrize("velocity", [0.0, -0.5])
def test_a_robot_in_the_way_is_passed_without_contact_from_everywhere(velocity, rng):
    """It stands, or comes straight at the pedestrian; one edge is never nearer than 0.2 m to the other."""
    for angle in np.linspace(0.07, 2 * np.pi, 50, endpoint=False):
        way = np.array([math.cos(angle), math.sin(angle)])
        beside = rng.uniform(-0.3, 0.3) * np.array([-way[1], way[0]])
        crowd = crowds.placed([beside - 5.0 * way], [1.3 * way], [beside + 9.0 * way])
        crowd = crowds.with_robot(crowd, -velocity * 4.0 * way, velocity * way, radius=0.3)
        nearest = np.inf
        for step in steps(MODEL, crowd, 130, np.float32(0.1)):
            crowd.robots.x[:] += 0.1 * crowd.robots.world_vx
            crowd.robots.y[:] += 0.1 * crowd.robots.world_vy
            robot = (crowd.robots.x[0, 0], crowd.robots.y[0, 0])
            nearest = min(nearest, float(np.linalg.norm(step.position[0, 0] - robot)) - 0.55)
        assert nearest > 0.2
        assert (step.position[0, 0] - beside) @ way > 8.0


def test_who_stands_makes_a_little_room_for_who_comes():
    crowd = crowds.placed([(0.1, 0.2), (-4.0, 0.2)], [(0.0, 0.0), (1.3, 0.0)], [(0.1, 0.2), (9.0, 0.2)])
    crowd.waypoints.mode[:], crowd.waypoints.count[:] = 2, 1
    way = np.array([s.position[0, :2] for s in steps(MODEL, crowd, 70, np.float32(0.1))])
    assert 0.02 < np.linalg.norm(way[:, 0] - way[0, 0], axis=-1).max() < 0.6
    assert np.linalg.norm(way[:, 0] - way[:, 1], axis=-1).min() > 0.5


def test_members_of_a_group_keep_walking_side_by_side():
    crowd = crowds.placed([(0.0, 0.0), (0.1, 0.55)], [(1.2, 0.3)] * 2, [(40.0, 10.0), (40.1, 10.55)], group=[3, 3])
    *_, end = steps(MODEL, crowd, 60, np.float32(0.1))
    assert np.linalg.norm(end.position[0, 0] - end.position[0, 1]) == pytest.approx(math.hypot(0.1, 0.55), abs=0.05)


def test_nobody_walks_into_a_wall():
    crowd = crowds.placed([(4.0, 0.3)], [(-1.3, 0.0)], [(-9.0, 1.0)], maps=crowds.wall_at(-0.35))
    way = np.array([s.position[0, 0, 0] for s in steps(MODEL, crowd, 80, np.float32(0.1))])
    assert way.min() > -0.35 + RADIUS


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_five_against_five_get_through_a_door_for_one(seed):
    rng = np.random.default_rng(seed)
    start = np.stack([rng.uniform(2.0, 5.0, 10), np.tile(np.linspace(-2.0, 2.0, 5), 2)], -1)
    start[:5, 0] *= -1.0
    sign = np.repeat([1.0, -1.0], 5)
    walls = [[(-0.1, y), (0.1, y), (0.1, z), (-0.1, z)] for y, z in ((-6.0, -0.45), (0.45, 6.0))]
    place = Map.from_shapes(polygons=walls, bounds=(-9.0, -6.5, 9.0, 6.5), resolution=0.05, name="door")
    goals = np.stack([np.stack([0.3 * sign, 0.0 * sign], -1), np.stack([6.0 * sign, start[:, 1]], -1)], 1)
    seen, _ = meeting(start, goals, 60.0, place, tolerance=0.35)
    assert (seen.position[-1, :, 0] * sign > 1.0).all()


@pytest.mark.slow
def test_speed_falls_with_density_as_weidmann_measured():
    from agora.validation.flow import fundamental_diagram

    diagram = fundamental_diagram(MODEL, (0.5, 2.0, 4.0))
    assert np.abs(diagram.speed - weidmann(diagram.density)).max() < 0.2


def test_what_may_be_fitted_lies_within_its_span():
    for name, span in Anticipation().declares.tunable.items():
        assert isinstance(span, Span)
        assert span.low <= getattr(MODEL, name) <= span.high
