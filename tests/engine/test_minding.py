"""Pedestrians who mind a robot early go round it, those who mind it late stop before it, and those who never do walk on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests import starts
from tests.starts import people

from agora.draft.stage import CrowdSettings, Share
from agora.engine.conditions import Conditions
from agora.engine.engine import Engine
from agora.pedestrians.models.anticipation import Anticipation
from agora.registry import Named
from agora.seeds import Stream

MINDING = ("early", "late", "never")
ROBOT = (4.0, 2.05, 0.3)


def gaps(number: int) -> tuple[float, float]:
    """Least distance between a walker and a robot that stands in the way, and how far the walker comes, m."""
    crowd = replace(people([(-1.0, 2.0)], [[(9.0, 2.0)]], speed=1.2), model=np.array([number], np.int32))
    start = starts.start(pose=ROBOT, crowd=crowd)
    conditions = Conditions(crowd=(Anticipation(),) * 3, minding=MINDING, careful=True, ends=0)
    engine = Engine.of([start], conditions)
    engine.reset(0, start)
    gap = []
    for _ in range(round(12.0 / engine.world.dt)):
        now = engine.world.pedestrians
        gap.append(float(np.hypot(now.x[0, 0] - ROBOT[0], now.y[0, 0] - ROBOT[1])))
        engine.step()
    reached = float(engine.world.pedestrians.x[0, 0])
    engine.close()
    return min(gap), reached


def test_each_minds_the_robot_as_it_is_said_to():
    bodies = starts.start(pose=ROBOT).robots[0].model.radius + 0.3
    early, late, never = (gaps(number) for number in range(3))
    assert early[0] > bodies + 0.1 and early[1] > 8.0
    assert late[0] == pytest.approx(bodies + 0.02, abs=0.03)
    assert never[0] < 0.1 and never[1] > 8.0


def test_shares_of_the_crowd_say_who_minds_and_everybody_does_where_nothing_is_said():
    model = Named.of("crowd_models", "anticipation")
    assert CrowdSettings().minding == ("early",)
    crowd = CrowdSettings(models=(Share(model, 1.0), Share(model, 1.0, "late")))
    assert crowd.minding == ("early", "late")
    from agora.draft.people import Person

    walkers = [Person(np.array([k, 0.0]), np.array([[k, 5.0]]), 1.0, 0.3) for k in range(400)]
    late = np.mean([person.model for person in crowd.share_out(walkers, Stream("minding", 3, "test"))])
    assert late == pytest.approx(0.5, abs=0.07)
