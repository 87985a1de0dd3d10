from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from tests.planners.local.driving import limits, look, moved
from tests.planners.local.observations import tracks

from agora.core.recording import Reason
from agora.errors import InputError
from agora.planners._bands.discs import MOMENT, MOMENTS
from agora.planners._expected import discs
from agora.planners.local.cohan import Cohan
from agora.planners.local.cohan._modes import BACK_OFF, DUAL, OBSTACLES, PASS, SINGLE
from agora.planners.local.cohan._people import MOVING, STATIC, STOPPED, corners, update_people
from agora.planners.local.teb import Teb
from agora.planners.local.teb.scene import scene_of

F, AREA = np.float32, 6.4
ROBOT = limits(min_vx=-0.4, max_vx=0.7, max_omega=1.2, acceleration=1.0, alpha=1.5)
COHAN = Cohan(passage_vel=0.7)
HERE = (0.0, 0.0, 0.0)
SHUT = [(0.5 * math.cos(a), 0.5 * math.sin(a), 0.1) for a in np.linspace(0.0, 2.0 * math.pi, 24)]
CORRIDOR = [(0.1 * k, sign * 1.3, 0.05) for sign in (-1, 1) for k in range(-45, 46)]


def see(pose, twist, goal, people=(), walls=(), dt=0.1, names=None, path=None, size=AREA):
    """A robot's observation of walls and people (x, y, vx, vy)."""
    people = np.array(people, F).reshape(1, -1, 4)
    crowd = tracks(people[:, :, :2], people[:, :, 2:])
    if names is not None:
        crowd = dataclasses.replace(crowd, id=np.array([names], np.int32))
    seen = look(pose, twist, goal, discs=walls, dt=dt, robot=ROBOT, size=size, path=path)
    return dataclasses.replace(seen, pedestrians=crowd, robots=tracks(np.zeros((1, 0, 2))))


def scene_among(people, walls, pose=HERE):
    """What kernels read of a scene, and the names of its people."""
    o, band = see(pose, HERE, (3.0, 0.0, 0.0), people, walls), Teb()
    about, _memory = discs(band.prediction.part, o, MOMENTS, float(MOMENT), {})
    return scene_of(band, o, about), o.pedestrians.id


def drive(planner, people, seconds, walls=(), goal=(8.0, 0.0, 0.0), start=HERE, dt=0.1, stop=math.inf):
    """Drive among people who walk straight on until ``stop``; return poses, people at every pose, modes and reasons."""
    people, pose, twist, memory = np.array(people, float).reshape(-1, 4), start, HERE, {}
    poses, crowd, modes, reasons = [pose], [people.copy()], [], []
    for k in range(round(seconds / dt)):
        if k * dt >= stop:
            people[:, 2:] = 0.0
        path = np.linspace(start[:2], goal[:2], 80)
        answer = planner.act(see(pose, twist, goal, people, [(x, y, r) for x, y, r in walls], dt, path=path), memory)
        twist, memory = tuple(answer.twists[0].tolist()), answer.memory
        pose = moved(pose, twist, dt)
        people[:, :2] += dt * people[:, 2:]
        poses.append(pose)
        crowd.append(people.copy())
        modes.append(int(memory["mode"][0]) if "mode" in memory else 0)
        reasons.append(Reason(int(answer.notes["reason"][0])))
    return np.array(poses), np.array(crowd), modes, reasons


def corridor(x):
    """The walls of a 2.5 m corridor about a robot at ``x``."""
    return [(x + a, b, r) for a, b, r in CORRIDOR]


@pytest.fixture(scope="module")
def met():
    """The drives of CoHAN and of its band alone towards somebody in a 2.5 m corridor."""
    walls = [(0.1 * k, sign * 1.3, 0.05) for sign in (-1, 1) for k in range(-20, 100)]
    plain = dataclasses.replace(COHAN.band, min_obstacle_dist=0.2)
    return [drive(planner, [(7.0, 0.08, -0.8, 0.0)], 8.0, walls)[:3] for planner in (COHAN, plain)]


def test_head_on_in_a_corridor_it_gives_way_earlier_and_farther_than_its_band_alone(met):
    gaps, begins = [], []
    for poses, crowd, _modes in met:
        apart = np.hypot(*(crowd[:, 0, :2] - poses[:, :2]).T)
        gaps.append(apart.min())
        begins.append(apart[np.flatnonzero(np.abs(poses[:, 1]) > 0.1)[0]])
    assert gaps[0] > gaps[1] + 0.05
    assert begins[0] > begins[1] + 0.3
    assert DUAL in met[0][2] and met[0][2][0] == DUAL


def test_nobody_and_somebody_who_stands_leave_it_at_one_band():
    for people in ((), [(3.0, 2.0, 0.0, 0.0)]):
        poses, _crowd, modes, _reasons = drive(COHAN, people, 4.0)
        assert set(modes) == {SINGLE}
        assert poses[-1, 0] > 1.5


def test_without_anybody_it_is_the_band_of_teb():
    alone = dataclasses.replace(COHAN, add_invisible_humans=False)
    ours, theirs = (drive(planner, (), 3.0)[0] for planner in (alone, COHAN.band))
    assert ours == pytest.approx(theirs, abs=1e-3)


def test_somebody_whose_way_is_shut_off_makes_it_try_discs_and_then_back_off_and_wait():
    """A corridor too narrow for two, with a recess; the person comes, stops 1.3 m before the robot and stays."""
    walls = [(0.1 * k, -0.6, 0.05) for k in range(-30, 60)] + [(0.1 * k, 0.6, 0.05) for k in range(-30, 60) if not -28 < k < -3]
    walls += [(x, 0.6 + 0.1 * k, 0.05) for x in (-2.8, -0.3) for k in range(18)]
    poses, _crowd, modes, reasons = drive(COHAN, [(3.0, 0.0, -0.8, 0.0)], 20.0, walls, stop=2.0, dt=0.2)
    order = [mode for k, mode in enumerate(modes) if k == 0 or mode != modes[k - 1]]
    assert order.index(DUAL) < order.index(OBSTACLES) < order.index(BACK_OFF)
    assert Reason.RETREATING in reasons and reasons[-1] == Reason.WAITING
    assert poses[-1, 1] > 0.5


def test_in_a_door_it_is_slow():
    walls = [(1.2, sign * (0.5 + 0.1 * k), 0.05) for sign in (-1, 1) for k in range(35)]
    slow = Cohan()
    poses, _crowd, modes, _reasons = drive(slow, (), 5.0, walls, goal=(3.0, 0.0, 0.0))
    assert PASS in modes
    speeds = np.hypot(*np.diff(poses[:, :2], axis=0).T) / 0.1
    in_door = np.array(modes) == PASS
    assert np.median(speeds[in_door]) <= 0.21 and speeds.max() > 0.2


def test_it_minds_those_before_it_that_no_wall_hides_the_nearest_first():
    people = [(4.0, 0.5, 0.3, 0.0), (-1.0, 0.0, 0.5, 0.0), (2.0, 0.0, 0.0, 0.0), (3.0, -3.0, 0.4, 0.1), (11.0, 0.0, 1.0, 0.0)]
    walls = [(1.5 + 0.1 * k, -1.5 - 0.1 * k, 0.1) for k in range(-3, 4)] + [(1.2 + 0.1 * k, -1.8 - 0.02 * k, 0.1) for k in range(8)]
    scene, names = scene_among(people, walls)
    ids, states, seen = np.zeros(64, np.int32), np.zeros(64, np.int32), np.zeros((8, 3), F)
    count, moves = update_people(scene, 0, names, F(10.0), ids, states, seen)
    assert seen[:count, 0].tolist() == [2.0, 0.0] and moves
    assert seen[:count, 2].tolist() == [STATIC, MOVING]
    still, _names = scene_among([(x, y, 0.0, 0.0) for x, y, _, _ in people], walls)
    count, moves = update_people(still, 0, names, F(10.0), ids, states, seen)
    assert seen[:count, 2].tolist() == [STATIC, STOPPED] and not moves


def test_somebody_may_step_out_from_behind_a_corner_and_from_nowhere_else():
    wall = [(1.5, -0.6 - 0.05 * k, 0.05) for k in range(60)]
    places = np.zeros((12, 2), F)
    scene, _names = scene_among((), wall)
    count = corners(scene, 0, F(0.3), places)
    assert count == 1 and places[0] == pytest.approx((1.8, -0.6), abs=0.45)
    scene, _names = scene_among((), ())
    assert corners(scene, 0, F(0.3), places) == 0


def test_a_corner_is_passed_more_slowly_where_somebody_may_step_out():
    wall = [(1.5, -0.35 - 0.05 * k, 0.05) for k in range(60)]
    fast = []
    for hides in (True, False):
        planner = dataclasses.replace(COHAN, add_invisible_humans=hides, weight_invisible_human=20.0)
        poses = drive(planner, (), 3.0, wall)[0]
        fast.append(poses[-1, 0])
    assert fast[0] < fast[1] - 0.1


def test_rows_of_a_batch_are_those_of_one_alone():
    one = [see((0.1 * k, 0.03 * k, 0.1), (0.3, 0.0, 0.0), (6.0, 0.0, 0.0), [(3.0, 0.2, -0.5, 0.05 * k)]) for k in range(4)]
    parts = {
        name: np.concatenate([getattr(o, name) for o in one]) for name in ("pose", "twist", "goal", "radius", "path", "path_count")
    }
    people = [o.pedestrians for o in one]
    crowd = {
        name: np.concatenate([getattr(p, name) for p in people])
        for name in ("position", "velocity", "radius", "present", "id", "group")
    }
    together = dataclasses.replace(
        one[0],
        **parts,
        footprint=np.zeros((4, 0, 2), F),
        limits=limits(4, min_vx=-0.4, max_vx=0.7, max_omega=1.2, acceleration=1.0, alpha=1.5),
        pedestrians=dataclasses.replace(people[0], **crowd),
        robots=tracks(np.zeros((4, 0, 2))),
        costmap=dataclasses.replace(
            one[0].costmap,
            cost=np.concatenate([o.costmap.cost for o in one]),
            origin=np.concatenate([o.costmap.origin for o in one]),
        ),
    )
    answer = COHAN.act(together, {})
    again = COHAN.act(together, answer.memory).twists
    for k in range(4):
        alone = COHAN.act(one[k], {})
        assert np.array_equal(alone.twists[0], answer.twists[k])
        assert np.array_equal(COHAN.act(one[k], alone.memory).twists[0], again[k])


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"agent_acc_lim_x": 0.0}, "agent_acc_lim_x"),
        ({"weight_invisible_human": -1.0}, "weight_invisible_human"),
        ({"band": Teb()}, "max_number_classes"),
    ],
)
def test_parameters_that_make_no_sense_are_refused_by_name(values, word):
    with pytest.raises(InputError, match=word):
        Cohan(**values)
