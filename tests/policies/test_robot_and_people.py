"""The input of DS-RNN's policy does not depend on the map's frame, and its actions are velocities no faster than preferred."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from agora.errors import InputError
from agora.planners.steering import velocity_to_twist
from agora.policies.joint_state import PERSON, ROBOT
from agora.policies.robot_and_people import RobotAndPeople
from agora.robots.model import load_robot
from agora.testing.scenes import Move, observation

SCENE = {"rows": 6, "pedestrians": 7, "max_vy": 1.0, "dt": 0.25}
SEE = RobotAndPeople(people=4, reach=6.0, preferred_speed=0.8)


def persons_of(seen):
    return seen[:, ROBOT:].reshape(len(seen), -1, PERSON)


def actions(rng, rows):
    return rng.normal(0.0, 1.3, (rows, 2)).astype(np.float32)


def test_a_scene_that_is_moved_and_turned_looks_the_same_and_is_driven_the_same(rng):
    move, chosen = Move(dx=-31.7, dy=12.3, turn=2.2), actions(rng, 6)
    here, there = observation(**SCENE), observation(**SCENE, move=move)
    assert SEE(there) == pytest.approx(SEE(here), abs=2e-5)
    ways = [SEE.velocities(chosen, o.limits, o.pose, o.goal) for o in (here, there)]
    assert ways[1] == pytest.approx(move.vectors(ways[0]), abs=1e-5)
    twists = [SEE.twists(chosen, o.limits, o.pose, o.goal) for o in (here, there)]
    assert twists[1] == pytest.approx(twists[0], abs=1e-5)


def test_each_person_is_known_by_a_mark_that_depends_on_the_identity_alone():
    o = observation(**SCENE)
    slots = np.array([5, 2, 6, 0, 3, 1, 4])
    shuffled = dataclasses.replace(o.pedestrians, **{
        field.name: getattr(o.pedestrians, field.name)[:, slots]
        for field in dataclasses.fields(o.pedestrians)
        if getattr(o.pedestrians, field.name) is not None
    })  # fmt: skip
    seen = SEE(o)
    assert SEE(dataclasses.replace(o, pedestrians=shuffled)) == pytest.approx(seen)
    marks = persons_of(seen)[..., -1]
    for n in range(6):
        ids = set((1 + o.pedestrians.id[n][o.pedestrians.present[n]]).tolist())
        robots = set((-1 - o.robots.id[n][o.robots.present[n]]).tolist())
        assert set(marks[n][marks[n] != 0].tolist()) <= ids | robots and (marks[n] != 0).any()
    assert not persons_of(seen)[marks == 0].any(), "nobody is six zeros"
    alone = dataclasses.replace(o, pedestrians=None, robots=None)
    assert not persons_of(SEE(alone)).any() and (SEE(alone)[:, :ROBOT] == seen[:, :ROBOT]).all()


def test_an_action_is_a_velocity_towards_the_goal_and_is_shortened_to_the_preferred_speed(rng):
    o = observation(**SCENE)
    speed = np.minimum(o.limits.max_vx, 0.8)
    ahead = SEE.velocities(np.tile([[1.0, 0.0]], (6, 1)), o.limits, o.pose, o.goal)
    way = o.goal[:, :2] - o.pose[:, :2]
    assert ahead == pytest.approx(way / np.hypot(*way.T)[:, None] * speed[:, None], abs=1e-5)
    chosen = np.array([[0.3, -0.4], [3.0, 4.0], [0.0, 0.0], [-0.6, 0.8], [-5.0, 0.0], [0.0, -1.01]])
    sizes = np.hypot(*SEE.velocities(chosen, o.limits, o.pose, o.goal).T) / speed
    assert sizes == pytest.approx([0.5, 1.0, 0.0, 1.0, 1.0, 1.0], abs=1e-6)
    short = chosen / np.maximum(np.hypot(*chosen.T), 1.0)[:, None]
    back = SEE.actions(SEE.twists(chosen, o.limits, o.pose, o.goal), o.limits, o.pose, o.goal)
    assert back == pytest.approx(short, abs=1e-5)


def test_training_and_driving_turn_an_action_into_the_same_twist_of_a_holonomic_robot(rng):
    o, chosen = observation(**SCENE), actions(rng, 6)
    limits = dataclasses.replace(o.limits, min_vx=-o.limits.max_vx, max_vy=o.limits.max_vx)
    driven = velocity_to_twist(SEE.velocities(chosen, limits, o.pose, o.goal), dataclasses.replace(o, limits=limits), 2.0)
    assert SEE.twists(chosen, limits, o.pose, o.goal) == pytest.approx(driven, abs=1e-5)
    assert np.hypot(*driven[:, :2].T).max() <= 0.8 + 1e-6 and not driven[:, 2].any()


def test_a_number_that_is_not_finite_comes_through_so_that_the_episode_ends():
    o = observation(**SCENE)
    chosen = np.full((6, 2), [math.nan, 0.2])
    assert not np.isfinite(SEE.twists(chosen, o.limits, o.pose, o.goal)[:, :2]).any()


def test_only_robots_that_take_every_velocity_are_trained_on():
    SEE.check(load_robot("crowdnav"))
    with pytest.raises(InputError, match="robot 'burger' cannot take in every direction"):
        SEE.check(load_robot("burger"))
    with pytest.raises(InputError, match="people: must be at most 200, is 10000"):
        RobotAndPeople(people=10_000)
