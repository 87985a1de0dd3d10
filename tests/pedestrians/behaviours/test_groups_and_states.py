"""The behaviours `groups` and `social_states` at work together."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.engines import engine as engine_at

import starts
from agora.core.state import SOCIAL_STATES
from agora.maps.grid import Map
from agora.pedestrians.behaviours.groups import Groups
from agora.pedestrians.behaviours.social_states import SocialStates
from agora.pedestrians.models.helbing import Helbing
from agora.pedestrians.shared.formations import formation

DT = 0.1
FIELD = Map.open((-9.3, -11.1), (40.7, 13.9), name="field")
BUSY = SocialStates(chat_rate=0.3, story_rate=0.2, pause_rate=0.1, running_rate=2.0, seek_rate=1.0)
CENTRE = np.array([3.0, 4.4])
TALKERS = slice(1, 5)  # the others: 0 walks alone, 5 to 7 walk in a group
CONVERSATION = [SOCIAL_STATES.index(name) for name in ("talking", "listening")]


def people(states=(), shift=0.0):
    """A lone walker, four who stand and talk, three who walk in a group; nobody's way meets another's."""
    ring, heading = formation("circle", 4, (*CENTRE, 0.7))
    walkers = np.array([[-2.0, -4.1], [-2.6, -4.9], [-1.8, -5.7]])
    position = np.vstack([[[-1.0, 9.0]], ring, walkers]) + shift
    ends = np.vstack([[[30.0, 11.0]], ring, walkers + (32.0, -2.0)]) + shift
    crowd = starts.people(position, ends[:, None], mode=2)
    names = ["walking", "talking", "listening", "listening", "listening", *(states or ["walking"] * 3)]
    return dataclasses.replace(
        crowd,
        group=np.array([-1, 4, 4, 4, 4, 2, 2, 2], np.int32),
        state=np.array([SOCIAL_STATES.index(name) for name in names], np.int32),
        heading=np.concatenate([[0.0], heading, np.zeros(3)]),
    )


def engine_of(crowds, rules=BUSY, **sizes):
    episodes = [starts.start((-8.0, -10.0, 0.4), (39.0, -10.0, 0.0), crowd, FIELD, timeout=1e4) for crowd in crowds]
    return engine_at(episodes, DT, crowd=Helbing(), behaviours=(Groups(), rules), ends=0, **sizes)


def run(engine, seconds):
    for _ in range(round(seconds / DT)):
        engine.step()
    now = engine.world.pedestrians
    return np.stack([now.x[0, :8], now.y[0, :8]], -1).astype(float)


def test_those_who_stand_and_talk_still_do_so_after_a_while_and_come_back_when_they_are_pushed():
    crowd = people()
    engine = engine_of([crowd])
    engine.world.minds.social[0, :8] = 1.0  # above everybody's threshold: they would phone, and go to others
    run(engine, 10.0)
    engine.world.pedestrians.x[0, 2] += 1.1
    engine.world.pedestrians.y[0, 2] -= 0.8
    place = run(engine, 14.0)
    assert np.isin(engine.world.minds.state[0, TALKERS], CONVERSATION).all()
    assert np.hypot(*(place[TALKERS] - crowd.position[TALKERS]).T).max() < 0.3
    look = np.arctan2(*(CENTRE - place[TALKERS]).T[::-1])
    assert np.cos(engine.world.pedestrians.heading[0, TALKERS] - look).min() > np.cos(0.3)
    assert sorted(engine.world.minds.partner[0, TALKERS] < 0) == [False] * 3 + [True]


def test_who_is_given_back_has_a_mind_of_its_own_again():
    engine = engine_of([people()])
    run(engine, 1.0)
    assert engine.world.minds.taken[0, :8].tolist() == [False] + [True] * 4 + [False] * 3
    engine.world.traits.group[0, 3] = -1
    run(engine, 1.0)
    assert not engine.world.minds.taken[0, 3] and SOCIAL_STATES[engine.world.minds.state[0, 3]] not in ("talking", "listening")


@pytest.mark.parametrize("texter", [0, 1, 2])
def test_a_walking_group_stays_together_while_one_of_it_texts(texter):
    quiet = {field.name: 0.0 for field in dataclasses.fields(SocialStates) if field.name.endswith("_rate")}
    names = ["walking"] * 3
    names[texter] = "texting"
    crowd = people(names)
    engine = engine_of([crowd], SocialStates(**quiet))
    engine.world.minds.social[0, :8] = 1.0
    for _ in range(4):
        place = run(engine, 4.0)
        assert SOCIAL_STATES[engine.world.minds.state[0, 5 + texter]] == "texting"
        assert np.hypot(*(place[5:, None] - place[None, 5:]).reshape(-1, 2).T).max() < 4.5
    # Half of what one walks in 16 s who texts alone; Helbing's forces hold up the one who texts between two others.
    assert (place[5:, 0] - crowd.position[5:, 0]).min() > (2.0 if texter == 1 else 4.0)


def test_one_who_follows_past_the_leaders_waypoint_does_not_stand_idle_there():
    quiet = {field.name: 0.0 for field in dataclasses.fields(SocialStates) if field.name.endswith("_rate")}
    crowd = people()
    ways = np.stack([crowd.waypoints[:, 0] * 0.25, crowd.waypoints[:, 0]], 1)
    crowd = dataclasses.replace(crowd, waypoints=ways, waypoint_count=np.full(8, 2, np.int32))
    engine = engine_of([crowd], SocialStates(**quiet))
    for _ in range(120):
        run(engine, DT)
        assert "idle" not in {SOCIAL_STATES[state] for state in engine.world.minds.state[0, 5:8]}


def test_results_depend_neither_on_other_worlds_nor_on_padding():
    alone, among = engine_of([people()]), engine_of([people(shift=0.4), people(), people(["running"] * 3)], slots=48)
    for _ in range(300):
        alone.step()
        among.step()
    for one, many in zip(
        (*alone.world.pedestrians[:5], *alone.world.minds), (*among.world.pedestrians[:5], *among.world.minds), strict=True
    ):
        np.testing.assert_array_equal(one[0, :8], many[1, :8])
