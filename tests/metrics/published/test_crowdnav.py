"""CrowdNav's and AG-RL's own metrics, by hand, and as their codes compute them; the robot's radius is 0.3 m."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from agora.core.recording import Outcome
from agora.metrics.published import crowdnav as code
from recordings import among, crowded, drive

DT = 0.25
TIME = DT * np.arange(9)


def passing(gap, *, time=TIME, **changes):
    """A robot that goes at 0.8 m/s along x = 1 from y = -0.5, and somebody of 0.25 m who goes along beside with a gap."""
    y = -0.5 + 0.8 * time
    return drive(time, np.full_like(time, 1.0), y, **among(time, (1.55 + gap, y)), **changes)


def test_a_company_at_a_tenth_of_a_metre_is_in_danger_all_the_way_but_for_the_last_step():
    close = passing(0.1)
    assert code.danger_frequency_crowdnav(close) == pytest.approx(7 / 8)
    assert code.danger_distance_crowdnav(close) == pytest.approx(0.1)
    assert code.danger_frequency_crowdnav(passing(0.2001)) == 0.0 and code.danger_distance_crowdnav(passing(0.2001)) is None
    assert code.danger_frequency_crowdnav(passing(-0.1)) == 0.0  # a collision is no danger


def test_the_clearance_is_the_least_within_a_step_as_people_went_before_it():
    # meeting head on, 0.1 m beside: at samples 0.6 m before and after the closest approach, which lies within a step
    y = -0.9 + 2.4 * TIME[:4]
    meeting = drive(TIME[:4], np.zeros(4), y, **among(TIME[:4], (0.65, -y)))
    assert code.danger_frequency_crowdnav(meeting) == pytest.approx(1 / 3)
    assert code.danger_distance_crowdnav(meeting) == pytest.approx(0.1)
    # who went the robot's way before is not met within the step
    turning = replace(meeting, pedestrian_velocity=-meeting.pedestrian_velocity)
    assert code.danger_distance_crowdnav(turning) is None


def test_the_reward_of_a_goal_is_discounted_by_the_way_at_full_speed():
    alone = drive(TIME, 0.8 * TIME, 0.0 * TIME, max_speed=1.2)
    assert code.total_reward_crowdnav(alone) == pytest.approx(0.9 ** (7 * DT * 1.2))
    ends = {Outcome.PEDESTRIAN_COLLISION: -0.25, Outcome.WALL_COLLISION: -0.25, Outcome.TIMEOUT: 0.0, Outcome.PLANNER_FAILED: 0.0}
    for outcome, last in ends.items():
        assert code.total_reward_crowdnav(replace(alone, outcome=outcome)) == pytest.approx(last * 0.9 ** (7 * DT * 1.2))


def test_the_reward_of_danger_is_that_of_every_such_step():
    expected = sum(0.9 ** (DT * k) * (0.1 - 0.2) * 0.5 * DT for k in range(7)) + 0.9 ** (DT * 7)
    assert code.total_reward_crowdnav(passing(0.1)) == pytest.approx(expected)


def test_an_intrusion_is_where_somebody_will_be_within_five_steps():
    # somebody comes along at 0.8 m/s, 3 m behind a robot that stands: 0.6 m away after 3 s
    time = DT * np.arange(17)
    still = np.zeros_like(time)
    coming = drive(time, still + 2.0, still - 1.0, 0.3, **among(time, (2.0, -4.0 + 0.8 * time)))
    steps = [k for k in range(16) if any(abs(3.0 - 0.8 * DT * j) < 0.6 for j in range(k + 1, min(k + 5, 16) + 1))]
    assert code.intrusion_ratio_attngraph(coming) == pytest.approx(len([k for k in steps if k < 15]) / 16)
    distance = [min(abs(3.0 - 0.8 * DT * j) for j in range(k + 1, min(k + 5, 16) + 1)) for k in steps if k < 15]
    assert code.intrusion_distance_attngraph(coming) == pytest.approx(np.mean(distance))
    assert 0.0 < code.intrusion_ratio_attngraph(coming) < 1.0


def test_the_present_place_of_somebody_who_goes_away_is_no_intrusion():
    time = DT * np.arange(5)
    fleeing = drive(time, 0.0 * time, 0.0 * time, 0.3, **among(time, (0.59 + 2.0 * time, 0.0 * time)))
    assert code.intrusion_ratio_attngraph(fleeing) == 0.0 and code.intrusion_distance_attngraph(fleeing) is None


def test_without_pedestrians_or_steps_there_is_no_danger():
    gone = passing(0.1)
    gone.pedestrian_present[:] = False
    for alone in (gone, drive(TIME, TIME, 0.0 * TIME)):
        assert code.danger_frequency_crowdnav(alone) == code.intrusion_ratio_attngraph(alone) == 0.0
        assert code.danger_distance_crowdnav(alone) is None and code.intrusion_distance_attngraph(alone) is None
    moment = drive(TIME[:1], [0.0], [0.0], 0.2)
    assert code.danger_frequency_crowdnav(moment) is None and code.intrusion_ratio_attngraph(moment) is None
    assert code.total_reward_crowdnav(moment) == 0.0


def as_coded(recording):
    """Both tests of danger, step by step and person by person."""
    clearance, foreseen = [], []
    for k in range(len(recording.time) - 1):
        dt, robot = recording.time[k + 1] - recording.time[k], recording.pose[k, :2]
        motion = (recording.pose[k + 1, :2] - robot) / dt
        least, nearest = math.inf, math.inf
        for i in range(len(recording.pedestrian_id)):
            if recording.pedestrian_present[k, i]:
                start = recording.pedestrian_position[k, i] - robot
                way = (recording.pedestrian_velocity[k, i] - motion) * dt
                along = min(max(-(start @ way) / (way @ way), 0.0), 1.0) if way @ way else 0.0
                least = min(least, np.hypot(*(start + along * way)) - recording.pedestrian_radius[i] - recording.radius)
            for j in range(k + 1, len(recording.time)):
                if recording.time[j] - recording.time[k] < 1.25 + 1e-9 and recording.pedestrian_present[j, i]:
                    nearest = min(nearest, np.hypot(*(recording.pedestrian_position[j, i] - robot)))
        clearance.append(least)
        foreseen.append(nearest)
    return np.array(clearance), np.array(foreseen)


@pytest.mark.parametrize("seed", [1, 2])
def test_of_a_crowd_who_come_and_go_they_agree_with_loops(seed):
    recording = crowded(np.cumsum(np.r_[0.0, 0.2 + 0.1 * np.random.default_rng(seed).random(200)]), people=30, seed=seed)
    clearance, foreseen = as_coded(recording)
    danger, intruding = (clearance >= 0.0) & (clearance < 0.2), foreseen < recording.radius + 0.3
    danger[-1] = intruding[-1] = False
    assert danger.any() and intruding.any()
    assert code.danger_frequency_crowdnav(recording) == pytest.approx(danger.mean())
    assert code.danger_distance_crowdnav(recording) == pytest.approx(clearance[danger].mean())
    assert code.intrusion_ratio_attngraph(recording) == pytest.approx(intruding.mean())
    assert code.intrusion_distance_attngraph(recording) == pytest.approx(foreseen[intruding].mean())
