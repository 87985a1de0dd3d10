"""Nobody steps into a wall, a robot or a pedestrian whom they see."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engines import engine as engine_at
from tests.starts import people, plane, start

from agora.errors import InputError
from agora.interfaces import CrowdDeclaration
from agora.maps.grid import Map
from agora.pedestrians.models.evacuation import Evacuation
from agora.pedestrians.models.helbing import Helbing
from agora.pedestrians.models.orca import Orca
from agora.pedestrians.models.waypoint import Waypoint

DT = 0.05


class Straight(Waypoint):
    """Everybody walks straight at the waypoint, and only the last step minds others."""

    declares = CrowdDeclaration("velocity")


def run(crowd, seconds=8.0, place=None, model=None, robot=(0.0, 90.0, 0.0), command=(0.0, 0.0, 0.0), dt=DT, **more):
    """The engine after a while, and the least gaps: among people, to the robot and to walls, m."""
    one = start(pose=robot, goal=(90.0, 90.0, 0.0), crowd=crowd, place=place or plane(), timeout=600.0)
    engine = engine_at([one], dt, crowd=model or Straight(), ends=0, **({"careful": True} | more))
    n, least = len(crowd.id), [np.inf] * 3
    for _ in range(round(seconds / dt)):
        engine.step(np.array([[command]], np.float32))
        p, r = engine.world.pedestrians, engine.world.robots
        points = np.stack([p.x[0, :n], p.y[0, :n]], -1).astype(float)
        gaps = np.hypot(*(points[:, None] - points[None]).T) - crowd.radius[:, None] - crowd.radius
        np.fill_diagonal(gaps, np.inf)
        robots = np.hypot(points[:, 0] - r.x[0, 0], points[:, 1] - r.y[0, 0]) - crowd.radius - 0.25
        walls = one.map.clearance_at(points) - crowd.radius
        least = [min(a, float(b.min())) for a, b in zip(least, (gaps, robots, walls), strict=True)]
    return engine, least


@pytest.mark.parametrize("turn", [0.0, 0.8, 4.0])
def test_two_who_walk_straight_at_each_other_pass_on_the_right(turn):
    along, left = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
    crowd = people([-2.0 * along, 2.0 * along], [2.0 * along, -2.0 * along], speed=np.array([1.2, 0.6]))
    beside, among = [], np.inf
    for seconds in np.arange(1.5, 6.0, 0.5):
        engine, (gap, *_) = run(crowd, seconds)
        p = engine.world.pedestrians
        beside.append(((p.x[0, 1] - p.x[0, 0]) * left[0] + (p.y[0, 1] - p.y[0, 0]) * left[1], gap))
        among = min(among, gap)
    assert among > -5e-3
    assert max(b for b, _ in beside) > 0.5  # the other one is to the left of the first
    x = engine.world.pedestrians.x[0, :2] * along[0] + engine.world.pedestrians.y[0, :2] * along[1]
    assert x[0] > 1.0 and x[1] < -0.5


def test_who_stands_is_not_pushed():
    crowd = people([(-2.0, 1.0), (0.5, 1.1)], [(3.0, 1.0), (0.5, 1.1)], speed=1.3)
    engine, (among, *_) = run(crowd)
    assert among > -1e-4
    assert engine.world.pedestrians.x[0, 1] == pytest.approx(0.5, abs=1e-3)
    assert engine.world.pedestrians.y[0, 1] == pytest.approx(1.1, abs=1e-3)


@pytest.mark.parametrize("angle", np.linspace(0.1, 6.2, 7))
@pytest.mark.parametrize("model", [Straight(), Helbing(), Orca()])
def test_a_robot_that_stands_is_never_stepped_into(angle, model):
    place = 2.5 * np.array([np.cos(angle), np.sin(angle)])
    _, (_, robot, _) = run(people([place], [-place], speed=1.8), model=model, robot=(0.0, 0.0, 0.3))
    assert robot > 0.0


def test_a_robot_that_nobody_sees_is():
    _, (_, robot, _) = run(people([(-2.0, 0.0)], [(2.0, 0.0)]), robot=(0.0, 0.0, 0.0), sees_robots=False)
    assert robot < -0.4


def test_who_is_followed_closely_walks_on_as_fast_as_before():
    alone, _ = run(people([(-2.0, 1.0)], [(9.0, 1.0)], speed=1.0), 4.0)
    both, (among, *_) = run(people([(-2.0, 1.0), (-2.65, 1.0)], [(9.0, 1.0), (9.0, 1.0)], speed=np.array([1.0, 1.5])), 4.0)
    assert among > -1e-4
    assert both.world.pedestrians.x[0, 0] == alone.world.pedestrians.x[0, 0]


@pytest.mark.parametrize("turn", [0.0, 0.5, 1.1])
def test_nobody_steps_into_a_wall(turn):
    s, c = np.sin(turn), np.cos(turn)
    wall = Map.from_shapes(
        segments=[[-5 * c + s, -5 * s - c, 5 * c + s, 5 * s - c]], bounds=(-6.3, -6.1, 6.0, 6.2), resolution=0.05
    )
    _, (_, _, gap) = run(people([(0.0, 0.0)], [(3 * s, -3 * c)]), place=wall)
    assert -0.02 < gap < 0.05  # the field is read between cells


def test_a_crowd_that_presses_on_one_point_keeps_its_bodies_apart():
    angles = np.linspace(0.0, 2 * np.pi, 12, endpoint=False) + 0.03
    places = 3.0 * np.stack([np.cos(angles), np.sin(angles)], -1) + (1.0, 2.0)
    _, (among, *_) = run(people(places, np.broadcast_to((1.0, 2.0), (12, 2)), speed=1.4), 12.0)
    assert among > -0.03  # some have turned their shoulders on the way


@pytest.mark.parametrize("seed", range(4))
def test_who_steps_aside_steps_into_nobody_who_comes_from_there(seed):
    rng = np.random.default_rng(seed)
    places = np.stack(np.meshgrid(np.arange(4.0), np.arange(-2.0, 3.0)), -1).reshape(-1, 2) + rng.uniform(-0.15, 0.15, (20, 2))
    _, (among, *_) = run(people(places, rng.permutation(places), speed=rng.uniform(0.9, 1.8, 20)), 12.0)
    assert among > -2e-3


def test_those_who_overlap_at_first_part_slowly():
    engine, _ = run(people([(0.0, 0.0), (0.4, 0.1)], [(0.0, 0.0), (0.4, 0.1)]), 2.0)
    p = engine.world.pedestrians
    assert np.hypot(p.x[0, 1] - p.x[0, 0], p.y[0, 1] - p.y[0, 0]) > 0.599
    first, _ = run(people([(0.0, 0.0), (0.4, 0.1)], [(0.0, 0.0), (0.4, 0.1)]), DT)
    q = first.world.pedestrians
    assert np.hypot(q.vx[0, 1] - q.vx[0, 0], q.vy[0, 1] - q.vy[0, 0]) <= 0.31


def test_models_whose_own_forces_act_between_bodies_keep_them_and_only_robots_and_walls_are_minded():
    crowd = people([(-2.0, 1.0), (2.0, 1.02)], [(2.0, 1.0), (-2.0, 1.02)], speed=1.2)
    with_it, _ = run(crowd, model=Evacuation())
    without, _ = run(crowd, model=Evacuation(), careful=False)
    assert with_it.world.pedestrians.x[0, 0] == pytest.approx(without.world.pedestrians.x[0, 0], abs=1e-5)
    _, (_, robot, _) = run(people([(-2.0, 0.0)], [(2.0, 0.0)]), model=Evacuation(), robot=(0.0, 0.0, 0.0))
    assert robot > 0.0


def test_a_model_that_minds_something_else_is_refused():
    class Odd(Waypoint):
        @property
        def declares(self):
            return CrowdDeclaration("velocity", last_step="walls")

    with pytest.raises(InputError, match="crowd model Odd: last_step: expected one of all, robots, nothing, got 'walls'"):
        run(people([(-2.0, 1.0)], [(2.0, 1.0)]), model=Odd())


def test_who_minds_nobody_is_left_alone():
    crowd = people([(-2.0, 1.0), (2.0, 1.0)], [(2.0, 1.0), (-2.0, 1.0)])
    _, (among, *_) = run(crowd, model=Waypoint())
    assert among < -0.5


def test_without_yielding_the_last_step_changes_nothing_where_nothing_is_near_and_with_nobody():
    crowd = people([(-5.0, 1.0), (5.0, 8.0)], [(-5.0, 6.0), (5.0, 2.0)], speed=1.2)
    tracks = [run(crowd, 3.0, model=Orca(), careful=careful, yields=False)[0].world.pedestrians for careful in (True, False)]
    assert (tracks[0].x == tracks[1].x).all() and (tracks[0].y == tracks[1].y).all()
    one = start(crowd=None)
    engine = engine_at([one], DT, crowd=Orca(), careful=True)
    engine.step()
    assert not engine.world.pedestrians.active.any()
