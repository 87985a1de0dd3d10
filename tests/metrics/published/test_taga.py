"""TAGA's rates, by hand: an episode that ends where the robot comes into a group's circle."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from agora.core.recording import ContactKind, Outcome
from agora.metrics import groups
from agora.metrics.published import taga
from recordings import among, drive, touching

TIME = np.linspace(0.0, 9.5, 951)
RATES = (taga.success_taga, taga.collision_taga, groups.group_intrusion, taga.timeout_taga)


def passing(below, outcome=Outcome.REACHED, number=2, **changes):
    """The robot drives 9.5 m at 1 m/s from (2, -1 - below) past a pair at (7, -1) and (9, -1), whose circle is 1.15 m wide."""
    crowd = among(TIME, (7.0, -1.0), (9.0, -1.0))
    crowd["pedestrian_group"] = np.full((len(TIME), 2), number, np.int32)
    return drive(TIME, 2.0 + TIME, np.full_like(TIME, -1.0 - below), 0.0, **crowd, outcome=outcome, **changes)


def rates(recording):
    return [rate(recording) for rate in RATES]


@pytest.mark.parametrize(
    ("outcome", "outside"),
    [
        (Outcome.REACHED, [1, 0, 0, 0]),
        (Outcome.PEDESTRIAN_COLLISION, [0, 1, 0, 0]),
        (Outcome.WALL_COLLISION, [0, 1, 0, 0]),
        (Outcome.TIMEOUT, [0, 0, 0, 1]),
    ],
)
def test_an_episode_has_one_end_and_a_group_comes_before_all_others(outcome, outside):
    assert rates(passing(1.2, outcome)) == outside
    assert rates(passing(1.1, outcome)) == [0, 0, 1, 0]
    assert rates(passing(1.1, outcome, number=np.arange(2))) == outside, "two strangers are no group"


def test_time_is_of_successes_and_the_path_ends_at_the_circle():
    assert taga.time_to_goal_taga(passing(1.2)) == 9.5
    assert taga.time_to_goal_taga(passing(1.1)) is None
    assert taga.time_to_goal_taga(passing(1.2, Outcome.TIMEOUT)) is None
    assert taga.path_length_taga(passing(1.2)) == pytest.approx(9.5)
    for below in (0.0, 0.5, 1.1):
        assert taga.path_length_taga(passing(below)) == pytest.approx(6.0 - np.sqrt(1.15**2 - below**2), abs=0.011)


def test_a_goal_reached_after_a_contact_is_no_success():
    touched = dataclasses.replace(passing(1.2), contacts=touching(ContactKind.PEDESTRIAN))
    assert taga.success_taga(touched) == 0.0
    assert taga.success_taga(passing(1.2)) == 1.0
