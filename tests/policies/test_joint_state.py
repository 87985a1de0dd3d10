"""The joint state of the CrowdNav family is plain geometry in the robot's goal frame."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from agora.errors import InputError
from agora.policies.joint_state import PERSON, ROBOT, JointState
from agora.policies.look_ahead import pairs_of, present_in
from agora.testing.scenes import Move, observation

SCENE = {"rows": 5, "pedestrians": 9, "max_vy": 0.3}


def twin(o, see: JointState) -> np.ndarray:
    """The same in float64, one row after the other."""
    rows = []
    for n in range(len(o.pose)):
        x, y, heading = o.pose[n].astype(float)
        bearing = math.atan2(o.goal[n, 1] - y, o.goal[n, 0] - x)
        into = np.array([[math.cos(bearing), math.sin(bearing)], [-math.sin(bearing), math.cos(bearing)]])
        turn = heading - bearing
        speed = o.limits.max_vx[n] if see.preferred_speed is None else min(see.preferred_speed, o.limits.max_vx[n])
        slowed = see.trained_speed / speed
        drive = slowed * np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]]) @ o.twist[n, :2]
        distance = min(math.dist(o.goal[n, :2], (x, y)), see.goal_range)
        robot = [distance, see.trained_speed, o.radius[n], *drive, math.cos(turn), math.sin(turn)]
        people = []
        for tracks in (o.pedestrians, o.robots):
            for i in np.flatnonzero(tracks.present[n]):
                away = tracks.position[n, i] - (x, y)
                people.append([*(into @ away), *(slowed * into @ tracks.velocity[n, i]), tracks.radius[n, i], 1.0])
        near = sorted((p for p in people if math.hypot(p[0], p[1]) < see.reach), key=lambda p: math.hypot(p[0], p[1]))
        padded = [*near[: see.people], *([[0.0] * PERSON] * (see.people - len(near)))]
        rows.append(robot + [value for person in padded for value in person])
    return np.array(rows)


OTHERS = [JointState(people=2, reach=4.0), JointState(people=20, goal_range=3.0, preferred_speed=0.4)]


@pytest.mark.parametrize("see", [JointState(), *OTHERS])
def test_a_joint_state_is_what_plain_geometry_says(see):
    o = observation(**SCENE)
    assert see(o) == pytest.approx(twin(o, see), abs=1e-5)


def test_moving_and_turning_the_whole_scene_changes_nothing():
    here = JointState()(observation(**SCENE))
    there = JointState()(observation(**SCENE, move=Move(-13.0, 4.5, 2.1)))
    assert there == pytest.approx(here, abs=3e-5)


def test_a_robot_of_another_speed_sees_the_same_ways_at_another_pace():
    o = observation(**SCENE)
    limits = dataclasses.replace(o.limits, max_vx=np.full(5, 2.0, np.float32))
    slow = JointState()(dataclasses.replace(o, limits=dataclasses.replace(limits, max_vx=np.full(5, 1.0, np.float32))))
    fast = JointState()(dataclasses.replace(o, limits=limits))
    velocities = [3, 4, *(ROBOT + PERSON * p + k for p in range(5) for k in (2, 3))]
    assert fast[:, velocities] == pytest.approx(0.5 * slow[:, velocities], abs=1e-6)
    others = [k for k in range(slow.shape[1]) if k not in velocities]
    assert fast[:, others].tolist() == slow[:, others].tolist()
    assert JointState(preferred_speed=5.0).scale(limits).tolist() == [2.0] * 5


def test_without_anybody_every_place_is_empty():
    o = dataclasses.replace(observation(rows=3, pedestrians=0), pedestrians=None, robots=None)
    states = JointState(people=3)(o)
    assert not states[:, ROBOT:].any()
    assert not present_in(states).any()


def test_a_pair_holds_the_values_of_the_code_in_its_order():
    # 3 m to the goal, 1 m/s, radius .3, driving (.6, -.2); a person at (1.2, -.5) walking (-.3, .4), radius .35
    state = np.float32([[3.0, 1.0, 0.3, 0.6, -0.2, 1.0, 0.0, 1.2, -0.5, -0.3, 0.4, 0.35, 1.0]])
    pairs, present = pairs_of(state)
    assert pairs[0, 0].tolist() == pytest.approx([3, 1, 0, 0.3, 0.6, -0.2, 1.2, -0.5, -0.3, 0.4, 0.35, 1.3, 0.65])
    assert present.tolist() == [[True]]


@pytest.mark.parametrize("wrong", [{"people": 0}, {"reach": 0.0}, {"goal_range": math.inf}, {"preferred_speed": -1.0}])
def test_numbers_that_make_no_sense_are_refused_by_name(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        JointState(**wrong)
