"""Free headings, against the plain equations and by what is known of a single person."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agora.learning.headings import free_heading


def plain(place, velocity, present, speed, goal, seen, none):
    """The free heading of one robot, by angles (Xie and Dames 2023; nothing is free within a disc)."""
    best, nearest = none, math.inf
    for heading in np.linspace(-np.pi, np.pi, 60, endpoint=False):
        off = abs((heading - goal + np.pi) % (2 * np.pi) - np.pi)
        taken = False
        for p, v, there in zip(place, velocity, present, strict=True):
            away = math.hypot(*p)
            if not there or away >= seen:
                continue
            u = speed * np.array([math.cos(heading), math.sin(heading)]) - v
            between = abs((math.atan2(u[1], u[0]) - math.atan2(p[1], p[0]) + np.pi) % (2 * np.pi) - np.pi)
            taken |= away <= 0.9 or between < math.asin(0.9 / away)
        if not taken and off < nearest:
            best, nearest = heading, off
    return best


@pytest.mark.parametrize("people", [0, 1, 7])
def test_headings_are_those_of_the_plain_equations(people):
    chance = np.random.default_rng(people)
    n = 60
    place, velocity = chance.uniform(-6, 6, (n, people, 2)), chance.normal(0, 1, (n, people, 2))
    present, speed, goal = chance.random((n, people)) < 0.8, chance.uniform(0, 2, n), chance.uniform(-np.pi, np.pi, n)
    found = free_heading(place, velocity, present, speed, goal, seen=7.0, none=math.pi / 2)
    told = [plain(*row, 7.0, math.pi / 2) for row in zip(place, velocity, present, speed, goal, strict=True)]
    same = np.abs(found - np.array(told, np.float32)) < 1e-4
    assert same.mean() > 0.95  # where two headings are equally near, or graze a disc, a bit decides
    if people == 0:
        assert same.all()


def test_a_free_heading_leads_past_who_stands_in_the_way():
    """The tangent to the disc of 0.9 m about somebody at 3 m, to the next of 60 headings."""
    nobody, person = np.zeros((1, 1, 2), np.float32), np.array([[[3.0, 0.0]]], np.float32)
    goes, goal = np.ones(1, np.float32), np.zeros(1, np.float32)
    there, gone = np.ones((1, 1), bool), np.zeros((1, 1), bool)
    assert free_heading(person, nobody, gone, goes, goal) == pytest.approx([0.0], abs=1e-6)
    tangent, each = math.asin(0.9 / 3.0), 2 * math.pi / 60
    assert np.abs(free_heading(person, nobody, there, goes, goal)) == pytest.approx([math.ceil(tangent / each) * each], abs=1e-5)
    away = np.array([[[1.5, 0.0]]], np.float32)
    assert free_heading(person, away, there, goes, goal) == pytest.approx([0.0], abs=1e-5)
    assert free_heading(0.2 * person, nobody, there, goes, goal) == pytest.approx([math.pi])
    assert free_heading(3.0 * person, nobody, there, goes, goal) == pytest.approx([0.0], abs=1e-5)
    assert free_heading(0.2 * person, nobody, there, goes, goal, none=1.5) == pytest.approx([1.5])
    assert free_heading(person, nobody, there, goes, goal, seen=2.9) == pytest.approx([0.0], abs=1e-6)
