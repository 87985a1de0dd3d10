"""Goal-directed prediction: closed forms, goals, people who are known again."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from agora.interfaces import Tracks
from agora.predictors.goal_directed import GoalDirected
from agora.testing import observation


def seen(*people: tuple[float, float, float, float], ids: tuple[int, ...] = ()):
    """An observation of one robot that sees these people: places and velocities."""
    x = np.array(people, np.float32).reshape(-1, 4)[None]
    count = x.shape[1]
    tracks = Tracks(
        x[..., :2].copy(),
        x[..., 2:].copy(),
        np.full((1, count), 0.25, np.float32),
        np.ones((1, count), np.bool_),
        np.array([ids or range(7, 7 + count)], np.int32).reshape(1, -1),
        np.full((1, count), -1, np.int32),
    )
    return replace(observation(1, 0, dt=0.2), pedestrians=tracks)


def test_who_has_walked_straight_on_goes_on_at_constant_velocity():
    model = GoalDirected(averaging=1.3, relaxation=0.9)
    _, kept = None, {}
    for k in range(5):
        answer = model.predict(seen((1.0 + 0.2 * k * 1.1, -2.0 + 0.2 * k * 0.4, 1.1, 0.4)), 4, 0.5, kept)
        kept = answer.memory
    times = 0.5 * np.arange(1, 5)[:, None]
    assert answer.position[0, 0] == pytest.approx(np.array((1.88, -1.68)) + times * (1.1, 0.4), abs=1e-4)


def test_a_step_aside_passes_as_helbings_relaxation_says():
    model, tau = GoalDirected(averaging=36000.0, relaxation=0.8), 0.8
    kept = model.predict(seen((0.0, 0.0, 1.2, 0.0)), 1, 0.5, {}).memory
    there = model.predict(seen((0.24, 0.1, 0.9, 0.7)), 20, 0.5, kept).position[0, 0]
    for k in (0, 3, 19):
        t = 0.5 * (k + 1)
        settled = tau * (1.0 - math.exp(-t / tau))
        assert there[k] == pytest.approx((0.24 + 1.2 * (t - settled) + 0.9 * settled, 0.1 + 0.7 * settled), abs=1e-3)


def test_who_walks_towards_a_goal_goes_there_and_stays():
    model = GoalDirected(goals=((10.0, 0.5), (0.0, 12.0)), averaging=0.5, relaxation=0.3)
    ahead = model.predict(seen((2.0, 0.0, 1.0, 0.1)), 60, 0.5, {}).position[0, 0]
    assert np.hypot(*(ahead[-1] - (10.0, 0.5))) < 0.05
    off = model.predict(seen((2.0, 0.0, -1.0, 0.1)), 60, 0.5, {}).position[0, 0]
    assert off[-1, 0] < -20.0


def test_people_are_known_again_by_their_ids_and_a_stranger_begins_afresh():
    model = GoalDirected(averaging=36000.0, relaxation=0.01)
    kept = model.predict(seen((0.0, 0.0, 1.0, 0.0), (5.0, 5.0, 0.0, -1.0), ids=(4, 9)), 1, 0.5, {}).memory
    there = model.predict(seen((5.0, 4.8, 1.0, 0.0), (0.0, 3.0, 0.0, 1.0), ids=(9, 30)), 2, 1.0, kept).position[0, :, 1]
    assert there == pytest.approx(np.array([(5.0, 2.8), (0.0, 5.0)]), abs=0.05)


def test_who_stands_stays_without_a_direction():
    assert GoalDirected().predict(seen((1.5, -0.5, 0.0, 0.0)), 3, 1.0, {}).position[0, 0] == pytest.approx(
        np.tile((1.5, -0.5), (3, 1))
    )
