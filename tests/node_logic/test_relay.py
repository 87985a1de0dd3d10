"""An interplanner between somebody else's planner and controller."""

from __future__ import annotations

import numpy as np
import pytest

from agora.errors import InputError
from agora.node_logic.relay import Relay
from agora.registry import Named
from agora.robots.model import load_robot

PATH = np.column_stack((np.linspace(0.5, 6.0, 80), np.linspace(-1.0, 2.0, 80)))


def relay(inter):
    made = Relay(load_robot("burger"), Named.of("interplanners", inter))
    made.begin((6.0, 2.0, 0.4))
    made.navigator.see_robot(0, (0.5, -1.0, 0.5), (0.2, 0.0, 0.0), 10.0)
    if made.navigator.beams(0):
        made.navigator.see_scan(0, np.full(360, 3.4), 10.0)
    return made


def somebody(made, x, y):
    people = made.navigator.people(1)
    people.now.vx[0, 0] = -0.4
    people.now.x[0, 0], people.now.y[0, 0], people.now.active[0, 0] = x, y, True
    people.traits.count[0] = 1


def test_the_path_is_passed_on_and_told_once():
    made = relay("bypass")
    led = made.guide(PATH, 10.0)
    assert np.allclose(led.path, PATH, atol=1e-6) and led.speed == 1.0
    assert made.is_news(led) and made.leads_to_goal(led)
    assert not made.is_news(made.guide(PATH, 10.2))


def test_before_a_pedestrian_the_controller_is_told_to_back_away_and_then_to_go_on():
    made = relay("polite")
    assert made.is_news(made.guide(PATH, 10.0))
    somebody(made, 1.6, -0.4)
    away = made.guide(PATH, 10.2)
    assert made.is_news(away) and not made.leads_to_goal(away)
    assert away.speed == 0.5 and away.danger > 0.8
    assert not made.is_news(made.guide(PATH, 10.4))
    somebody(made, 30.0, 30.0)
    back = made.guide(PATH, 10.6)
    assert made.is_news(back) and made.leads_to_goal(back) and back.speed == 1.0


def test_the_shortsighted_one_tells_the_next_part_again_and_again():
    made = relay("shortsighted")
    first = made.guide(PATH, 10.0)
    assert len(first.path) == 20 and not made.leads_to_goal(first) and made.is_news(first)
    made.navigator.see_robot(0, (*PATH[5], 0.5), (0.2, 0.0, 0.0), 10.2)
    assert made.is_news(made.guide(PATH, 10.2))


def test_one_that_reads_a_costmap_is_refused():
    with pytest.raises(InputError, match="replan: it reads a costmap"):
        relay("replan")
