"""Contacts of bags: who closed the gap comes from the messages about it, and is what the engine says, to the bit."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tests.engines import engine as engine_at
from tests.starts import DISC, people, start

from agora.core.recording import ContactKind
from agora.datasets.episode_messages import EpisodeMessages
from agora.datasets.rosbag import _contacts
from agora.engine.recorder import take_events
from agora.pedestrians.models.waypoint import Waypoint
from agora.world.start import RobotStart

DT = 0.05
TURNING = replace(DISC, name="box", radius=0.6, footprint=((-0.5, -0.2), (0.5, -0.2), (0.5, 0.25), (-0.5, 0.25)))


@pytest.fixture(scope="module")
def said():
    """The messages of a graph about two robots among people, at every physics step, and the contacts of the engine by robot."""
    crowd = people([[2.2, 0.3], [-1.9, 0.4], [0.4, 2.5]], [[[-4.0, 0.3]], [[5.0, 0.1]], [[0.2, -3.0]]])
    robots = (
        RobotStart(TURNING, np.array([0.0, 0.0, 0.3]), np.array([[8.0, 5.0, 0.0]])),
        RobotStart(DISC, np.array([2.4, 1.0, -3.07]), np.array([[-6.0, -3.0, 0.0]])),
    )
    made = replace(start(crowd=crowd), robots=robots)
    engine = engine_at([made], DT, crowd=Waypoint(), ends=0)
    engine.world.commands[0] = (0.4, 0.0, 0.5), (0.7, 0.0, 0.0)
    told, events = EpisodeMessages(), [[], []]

    def say(step):
        now, robots = engine.world.pedestrians, engine.world.robots
        parts = {name: getattr(robots, name)[0].tolist() for name in ("x", "y", "heading", "vx", "vy", "omega")}
        told.robots[step] = SimpleNamespace(**parts)
        places = {"x": now.x[0].tolist(), "y": now.y[0].tolist(), "present": now.active[0].tolist()}
        told.pedestrians[step] = SimpleNamespace(id=engine.world.traits.id[0].tolist(), **places)

    say(0)
    for step in range(1, 110):
        engine.step()
        say(step)
        for _, r, contact in take_events(engine.world):
            events[r].append(contact)
            told.contacts.append(SimpleNamespace(robot=f"robot_{r}", **contact._asdict()))
    engine.close()
    return told, events


def test_closing_speeds_of_a_bag_are_those_of_the_engine_to_the_bit(said):
    told, events = said
    assert {c.kind for c in events[0]} == {ContactKind.PEDESTRIAN, ContactKind.ROBOT} and events[1]
    for r, model in enumerate((TURNING, DISC)):
        assert _contacts(told, model, f"robot_{r}", r, DT) == tuple(sorted(events[r], key=lambda c: (c.time, c.kind, c.party)))


def test_of_steps_that_were_lost_the_nearest_stand(said):
    told, events = said
    some = replace(told, robots={k: m for k, m in told.robots.items() if k % 4 == 0})
    for mine, whole in zip(_contacts(some, TURNING, "robot_0", 0, DT), events[0], strict=True):
        assert mine.closing.robot == pytest.approx(whole.closing.robot, abs=0.1)
        assert mine.closing.party == pytest.approx(whole.closing.party, abs=0.2)
    none = replace(told, pedestrians={}, robots={0: told.robots[0]})
    assert [c.closing for c in _contacts(none, TURNING, "robot_0", 0, DT)] == [None] * len(events[0])
