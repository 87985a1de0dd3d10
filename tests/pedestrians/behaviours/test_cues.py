"""Pedestrians who wait for their moment and pedestrians who stay with a robot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests import starts
from tests.engines import engine as engine_at

from agora.errors import InputError
from agora.pedestrians.behaviours.cues import Cues
from agora.pedestrians.models.helbing import Helbing
from agora.pedestrians.models.waypoint import Waypoint
from agora.tasks.suite import load_suite

DT = 0.1


def crowd(places, routes, waits=None, company=None, speed=1.0):
    people = starts.people(places, routes, speed=speed)
    n, k = people.waypoints.shape[:2]
    given = np.zeros((n, k)), np.zeros((n, 3))
    return replace(
        people, waits=given[0] if waits is None else np.array(waits), company=given[1] if company is None else np.array(company)
    )


def run(all_starts, seconds, *, crowd_model=None, slots=0, commands=(0.0, 0.0, 0.0)):
    """Places (T, W, P, 2) of everybody; sampled after every step."""
    engine = engine_at(all_starts, DT, crowd=crowd_model or Waypoint(), behaviours=(Cues(),), ends=0, slots=slots)
    engine.world.commands[...] = commands
    seen = []
    for _ in range(round(seconds / DT)):
        seen.append(np.stack([engine.world.pedestrians.x, engine.world.pedestrians.y], -1).astype(float))
        engine.step()
    engine.close()
    return np.array(seen)


def test_one_who_waits_stands_exactly_so_long_and_then_walks():
    start = starts.start(crowd=crowd([(1.0, 2.0)], [[(3.0, 2.0), (3.0, 5.0)]], waits=[[2.0, 1.5]]))
    seen = run([start], 8.0)[:, 0, 0]
    moving = np.hypot(*np.diff(seen, axis=0).T) > 1e-4
    assert not moving[:20].any() and moving[20:37].all()
    turn = 20 + round((2.0 - 0.3) / (1.0 * DT))
    stands = np.flatnonzero(~moving[turn - 1 :])[:14] + turn - 1
    assert len(stands) == 14 and np.ptp(stands) == 13
    assert seen[-1, 1] > 4.0


def test_one_in_company_stops_at_its_distance_and_comes_along_when_the_robot_drives_off():
    start = starts.start(
        pose=(2.0, 1.0, 0.4), crowd=crowd([(-3.0, -1.5)], [[(-3.0, -1.5)]], company=[[1.1, 0.0, 100.0]], speed=1.2)
    )
    seen = run([start], 12.0)[:, 0, 0]
    away = np.hypot(*(seen - (2.0, 1.0)).T)
    assert away[-1] == pytest.approx(1.1, abs=0.01)
    assert (away > 1.09).all()
    along = run([start], 12.0, commands=(0.5, 0.0, 0.0))[:, 0, 0]
    robot = np.array([2.0, 1.0]) + 0.5 * 12.0 * np.array([np.cos(0.4), np.sin(0.4)])
    assert 1.0 < np.hypot(*(along[-1] - robot)) < 1.6


def test_when_the_company_ends_one_goes_on_to_its_waypoint():
    start = starts.start(pose=(2.0, 1.0, 0.0), crowd=crowd([(-1.0, 1.0)], [[(-1.0, 6.0)]], company=[[1.0, 0.5, 4.0]]))
    seen = run([start], 12.0)[:, 0, 0]
    assert seen[3, 1] > 1.2 and seen[40, 0] > 0.5
    assert seen[-1] == pytest.approx([-1.0, 6.0], abs=0.05)


def test_others_are_left_alone():
    plain = crowd([(0.0, 0.0), (1.0, 3.0)], [[(5.0, 1.0)], [(5.0, -2.0)]])
    cued = replace(plain, waits=np.array([[3.0], [0.0]]))
    alone = run([starts.start(crowd=crowd([(1.0, 3.0)], [[(5.0, -2.0)]]), pose=(-6.0, 8.0, 0.0))], 3.0, crowd_model=Waypoint())
    both = run([starts.start(crowd=cued, pose=(-6.0, 8.0, 0.0))], 3.0, crowd_model=Waypoint())
    assert np.array_equal(both[:, 0, 1], alone[:, 0, 0])


def test_nothing_depends_on_padding_or_on_the_other_worlds():
    places = [(0.0, 0.0), (1.0, 3.0), (-2.0, 2.0)]
    routes = [[(4.0, 1.0), (4.0, 4.0)], [(5.0, -2.0), (1.0, 1.0)], [(-2.0, 2.0), (-2.0, 2.0)]]
    cues = {"waits": [[1.0, 2.0], [0.0, 0.7], [0.0, 0.0]], "company": [[0, 0, 0], [0, 0, 0], [0.9, 0.3, 4.0]]}
    first = starts.start(pose=(2.0, 5.0, 0.3), crowd=crowd(places, routes, **cues))
    other = starts.start(pose=(1.0, 1.0, 0.3), crowd=crowd([(3.0, 3.0)], [[(-4.0, 1.0)]], waits=[[0.4]]), place=first.map)
    alone = run([first], 5.0, crowd_model=Helbing())
    beside = run([other, first, other], 5.0, crowd_model=Helbing(), slots=64)
    assert np.array_equal(beside[:, 1, :3], alone[:, 0, :3])


def twin(place, waypoint, route, index, speed, robots, time, waits, since, company, pause):
    """The rule for one pedestrian in plain float64: waypoint and speed."""
    distance, begins, ends = company
    if distance > 0 and begins <= time < ends and len(robots):
        away = np.array(robots) - place
        nearest = away[np.argmin(np.hypot(*away.T))]
        return place + nearest, min(speed, max(np.hypot(*nearest) - distance, 0.0) / pause)
    return route[index] if distance > 0 else waypoint, 0.0 if time - since < waits[index] else speed


@pytest.mark.parametrize("seed", range(6))
def test_the_kernel_does_what_its_plain_twin_does(seed):
    rng = np.random.default_rng(seed)
    places, routes = rng.uniform(-4, 4, (5, 2)), rng.uniform(-4, 4, (5, 3, 2))
    waits = rng.uniform(0, 2, (5, 3)) * (rng.random((5, 1)) < 0.7)
    company = np.column_stack([rng.uniform(0.5, 1.5, 5) * (rng.random(5) < 0.5), rng.uniform(0, 0.4, 5), rng.uniform(0.4, 1.2, 5)])
    start = starts.start(pose=(*rng.uniform(-3, 3, 2), 0.3), crowd=crowd(places, routes, waits, company, speed=1.1))
    engine = engine_at([start], DT, crowd=Waypoint(), behaviours=(Cues(pause=0.4),), ends=0)
    since, heading_for = np.zeros(5), np.zeros(5, int)
    for step in range(12):
        now = np.stack([engine.world.pedestrians.x[0, :5], engine.world.pedestrians.y[0, :5]], -1).astype(float)
        index = engine.world.waypoints.index[0, :5].copy()
        before = np.stack([engine.world.waypoints.x[0, :5], engine.world.waypoints.y[0, :5]], -1).astype(float)
        robot = [[float(engine.world.robots.x[0, 0]), float(engine.world.robots.y[0, 0])]]
        engine.step()
        for i in range(5):
            in_company = company[i, 0] > 0 and company[i, 1] <= step * DT < company[i, 2]
            if not in_company and index[i] != heading_for[i]:
                since[i], heading_for[i] = step * DT, index[i]
            if not waits[i].any() and company[i, 0] == 0:
                assert engine.world.traits.speed[0, i] == np.float32(1.1)
                continue
            _, speed = twin(now[i], before[i], routes[i], index[i], 1.1, robot, step * DT, waits[i], since[i], company[i], 0.4)
            assert engine.world.traits.speed[0, i] == pytest.approx(speed, abs=2e-5)
    engine.close()


def test_a_pause_that_is_none_is_refused():
    with pytest.raises(ValueError, match=r"^pause: expected a number in \(0, 36000\], got 0"):
        Cues(pause=0.0)


def test_a_suite_that_forgets_cues_is_told_so():
    suite = load_suite("francis2023")
    stage = suite.stage("leading")
    bare = replace(suite, stages=(replace(stage, crowd=replace(stage.crowd, behaviours=())),))
    with pytest.raises(
        InputError, match=r"francis2023/leading/0: its pedestrians wait or stay with the robot: crowd.behaviours must include cues"
    ):
        bare.start("leading", 0)
