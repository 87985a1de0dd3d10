"""Encounters are cut, sorted and scored, by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from agora.core.recording import Contact, ContactKind
from agora.metrics import encounters
from recordings import among, drive

TIME = np.linspace(0.0, 20.0, 2001)


def meeting(*walks, speed=0.5, turn=0.7):
    """A robot drives at 0.5 m/s from (1, 2) along 0.7 rad; walks are (forward, left) of there."""
    c, s = np.cos(turn), np.sin(turn)
    crowd = among(TIME, *((1.0 + c * a - s * b, 2.0 + s * a + c * b) for a, b in walks))
    return drive(TIME, 1.0 + c * speed * TIME, 2.0 + s * speed * TIME, turn, [[speed, 0.0, 0.0]] * 2001, **crowd)


HEAD_ON = (10.0 - 0.8 * TIME, 0.8 + 0 * TIME)
CROSSING = (5.0 + 0 * TIME, -8.0 + 0.9 * TIME)
OVERTAKEN = (2.5 + 0.31 * TIME, 0.7 + 0 * TIME)
STANDS = (4.0 + 0 * TIME, -1.0 + 0 * TIME)
AFAR = (3.0 + 0.5 * TIME, 2.1 + 0 * TIME)
COUNTS = (encounters.encounters_overtaking, encounters.encounters_crossing, encounters.encounters_head_on)


@pytest.mark.parametrize(("walk", "kind"), [(OVERTAKEN, 0), (CROSSING, 1), (HEAD_ON, 2), (STANDS, -1)])
def test_the_kind_is_the_angle_between_both_ways(walk, kind):
    recording = meeting(walk)
    assert encounters.encounters(recording) == 1.0
    assert [count(recording) for count in COUNTS] == [float(kind == k) for k in range(3)]


def test_whom_the_robot_meets_twice_has_two_encounters():
    back_and_forth = (4.0 + 3.0 * (np.abs(TIME - 10.0) < 5.0) + 0 * TIME, 1.0 + 4.0 * (np.abs(TIME - 10.0) < 2.0))
    assert encounters.encounters(meeting(back_and_forth)) == 2.0
    assert encounters.encounters(meeting(HEAD_ON, STANDS, AFAR)) == 2.0


def test_speed_and_distance_are_of_each_encounter():
    # passing at 1 m by somebody who stands: within 2 m for 2 sqrt(3) m of way
    recording = meeting((4.0 + 0 * TIME, 1.0 + 0 * TIME))
    assert encounters.encounter_speed_average(recording) == pytest.approx(0.5, abs=1e-3)
    half = np.sqrt(3.0)
    mean = (2.0 * half / 2.0 + 0.5 * np.arcsinh(half)) / half  # of sqrt(1 + s^2) from 0 to sqrt(3)
    assert encounters.encounter_distance_average(recording) == pytest.approx(mean, abs=2e-3)


def test_an_encounter_is_survived_without_a_contact_with_that_pedestrian():
    recording = meeting(HEAD_ON, STANDS)
    assert encounters.encounter_survival_rate(recording) == 1.0

    def touched(time, kind, party):
        contact = Contact(time, kind, party, 2.0, 3.0)
        return encounters.encounter_survival_rate(dataclasses.replace(recording, contacts=(contact,)))

    # HEAD_ON has the id 7 and is within 2 m from 6.3 to 9.1 s
    assert touched(7.5, ContactKind.PEDESTRIAN, 7) == 0.5
    assert touched(7.5, ContactKind.PEDESTRIAN, 99) == touched(2.0, ContactKind.PEDESTRIAN, 7) == 1.0
    assert touched(7.5, ContactKind.WALL, 7) == 1.0


def test_without_encounters_there_is_nothing_to_score():
    for recording in (meeting(), meeting(AFAR)):
        assert encounters.encounters(recording) == 0.0 and [count(recording) for count in COUNTS] == [0.0] * 3
        assert encounters.encounter_survival_rate(recording) is None
        assert encounters.encounter_speed_average(recording) is None
        assert encounters.encounter_distance_average(recording) is None
