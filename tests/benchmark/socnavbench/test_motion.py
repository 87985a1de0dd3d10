"""SocNavBench's kinematics: what its functions of 2724ea85 give, computed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agora.benchmark.socnavbench._motion import follow

OLD = np.array([1.0, 2.0, 0.3], np.float32)
V, W = (0.0, 1.2), (-1.1, 1.1)


def go(*command, pose=OLD, dt=0.05, v=V):
    return follow(np.array(command, np.float32), pose, dt, v, W)


def test_a_position_within_reach_is_taken_with_its_heading_whatever_that_is():
    pose, twist, clipped = go(1.03, 1.96, -2.5, 0.7)
    assert pose.tolist() == np.array([1.03, 1.96, -2.5], np.float32).tolist() and not clipped
    to = math.atan2(-0.04, 0.03) + 2.5  # from the heading
    assert twist == pytest.approx((math.cos(to), math.sin(to), (-2.5 - 0.3) / 0.05), abs=1e-4)


def test_a_position_beyond_reach_is_shortened_along_its_direction_which_is_then_the_heading():
    pose, twist, clipped = go(2.0, 3.5, -2.0, 0.1)
    to = math.atan2(1.5, 1.0)
    np.testing.assert_allclose(pose, [1 + 0.06 * math.cos(to), 2 + 0.06 * math.sin(to), to], atol=2e-7)
    assert clipped and twist == pytest.approx((1.2, 0.0, (to - 0.3) / 0.05), abs=1e-4)


@pytest.mark.parametrize(("way", "reached"), [(0.0604, 0.0604), (0.0606, 0.06)])
def test_a_hundredth_of_a_metre_per_second_too_fast_is_let_through(way, reached):
    start = np.array([0.0, 0.0, 0.0], np.float32)
    pose, _, clipped = go(0.0, -way, 1.0, 0.0, pose=start)
    assert pose[1] == pytest.approx(-reached, abs=1e-7) and clipped == (way != reached)


def test_velocities_are_rounded_clipped_and_go_by_euler():
    pose, twist, clipped = go(0.98764, -0.5)
    np.testing.assert_allclose(pose, [1 + 0.05 * 0.988 * math.cos(0.3), 2 + 0.05 * 0.988 * math.sin(0.3), 0.3 - 0.025], atol=2e-7)
    assert twist == pytest.approx((0.988, 0.0, -0.5)) and not clipped
    pose, twist, clipped = go(-0.4, 9.0)
    np.testing.assert_allclose(pose, [1.0, 2.0, 0.3 + 0.055], atol=2e-7)
    assert twist == pytest.approx((0.0, 0.0, 1.1)) and clipped
    assert not go(1.2004, 1.1004)[2], "it is the third digit that counts"


def test_headings_count_turns_and_turning_rates_do_not():
    pose = np.array([0.0, 0.0, 12.5], np.float32)
    after, twist, _ = go(0.0, 1.0, pose=pose)
    assert after[2] == pytest.approx(12.55) and twist[2] == pytest.approx(1.0)
    after, twist, _ = go(0.0, 0.0, 12.55 - 4 * math.pi, 0.0, pose=pose)
    assert after[2] == pytest.approx(12.55 - 4 * math.pi, abs=1e-6) and twist[2] == pytest.approx(1.0, abs=1e-4)
