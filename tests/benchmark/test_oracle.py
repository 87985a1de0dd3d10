"""The oracle: its search against a plain twin, its drive, and what it says where nobody can get through."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from tests import starts
from tests.recordings import among
from tests.recordings import drive as recorded

from agora.benchmark import oracle
from agora.core.recording import Outcome
from agora.episode import Conditions
from agora.maps.grid import Map
from agora.tasks.cards.card import load_card
from agora.tasks.suite import Suite


def twin(free, people, reach, start, goal, delay):
    """The search in plain float64: least cost at the goal over time, and when."""
    ticks = people.shape[0]
    cost = {start: 0.0}
    best, when = math.inf, -1
    for t in range(1, ticks):
        after = {}
        for cell in np.ndindex(free.shape):
            if free[cell] < 0:
                continue
            came = [
                cost[(cell[0] + a, cell[1] + b)] + 0.2 * 0.1 * math.hypot(a, b)
                for a, b in itertools.product((-1, 0, 1), repeat=2)
                if (cell[0] + a, cell[1] + b) in cost and (t > delay or (a, b) == (0, 0))
            ]
            gap = min(
                [free[cell], *(math.hypot(x - cell[1], y - cell[0]) * 0.1 - r for (x, y), r in zip(people[t], reach, strict=True))]
            )
            if came and (gap >= 0 or t <= delay):
                after[cell] = min(came) + 0.15 + 0.6 * 0.15 * max(1 - gap / 0.45, 0.0) ** 2
        cost = after
        if cost.get(goal, math.inf) < best:
            best, when = cost[goal], t
        if when >= 0 and t > when + 40:
            break
    return best, when


@pytest.mark.parametrize(("seed", "delay"), [(0, 0), (1, 0), (2, 5), (3, 0)])
def test_the_search_finds_what_its_plain_twin_finds(seed, delay):
    rng = np.random.default_rng(seed)
    free = rng.uniform(-0.1, 0.9, (9, 14)).astype(np.float32)
    free[:, 0], free[:, -1] = 0.5, 0.5
    free[4] = np.maximum(free[4], 0.05)
    walk = np.cumsum(rng.normal(0.0, 0.4, (60, 2, 2)), axis=0) + rng.uniform(2, 10, (2, 2))
    people, reach = walk.astype(np.float32), np.array([0.15, 0.25], np.float32)
    came = np.full((60, *free.shape), -1, np.int8)
    when = oracle._explore(free, people, reach, (4, 0), (3, 13), delay, np.float32(oracle.TICK), came)
    best, expected = twin(free.astype(float), people.astype(float), reach.astype(float), (4, 0), (3, 13), delay)
    assert when == expected and math.isfinite(best)


def test_the_robot_lets_somebody_pass_and_does_not_touch_it():
    start = starts.start(pose=(-3.0, 0.0, 0.0), goal=(4.0, 0.5, 0.0), crowd=starts.people([(0.5, -3.0)], [[(0.5, 4.0)]], speed=0.8))
    conditions = Conditions(sees_robots=False)
    standing = oracle.drive(start, np.array([[-3.0, 0.0]]), replace(conditions, ends=0))
    assert oracle.straight_gap(start, recorded(standing.time, 0 * standing.time, 0 * standing.time)) == math.inf
    track = oracle.search(start, standing, 0.1, 0.15)
    offset = np.hypot(*(standing.pedestrian_position[: len(track), 0] - track).T)
    assert offset.min() > 0.25 + 0.3 + 0.1
    assert np.hypot(*np.diff(track, axis=0).T).max() <= 0.1 * math.sqrt(2) * oracle.CELL / oracle.TICK + 1e-9
    assert oracle.drive(start, track, conditions).outcome == Outcome.REACHED


def test_where_there_is_no_way_there_is_no_track():
    wall = Map.from_shapes(polygons=[[(0.0, -3.0), (0.3, -3.0), (0.3, 3.0), (0.0, 3.0)]], bounds=(-4.0, -3.0, 5.0, 3.0))
    start = starts.start(pose=(-3.0, 0.0, 0.0), goal=(4.0, 0.5, 0.0), place=wall)
    time = np.arange(0.0, 20.0, 0.1)
    nobody = recorded(time, -3.0 + 0 * time, 0 * time, radius=0.25, **among(time))
    assert oracle.search(start, nobody, 0.1, 0.1) is None


def test_somebody_who_stands_in_the_door_makes_a_card_unsolvable():
    card = load_card("narrow_doorway")

    def blocked(stream, **values):
        drawn = card.build(stream, **values)
        person = replace(drawn.people[0], position=np.zeros(2), waypoints=np.zeros((1, 2)), waits=(1e4,))
        return replace(drawn, people=(person,), timeout=20.0)

    stuck = replace(card, build=blocked)
    suite = Suite("library", (card.stage(),), 2)
    source = replace(suite.stages[0].world, part=_Plays(stuck))
    suite = replace(suite, stages=(replace(suite.stages[0], world=source),))
    solution = oracle.solve(stuck, suite, 0)
    assert not solution.solved and solution.recording.outcome != Outcome.REACHED


def test_a_drive_that_fails_is_taken_up_again_before_its_end():
    rng, corridor = np.random.default_rng(29), Map.open((-7.3, -1.6), (8.1, 1.7))
    places = np.column_stack([rng.uniform(-2.0, 7.5, 9), rng.uniform(-1.2, 1.3, 9)])
    ends = np.column_stack([np.full(9, -6.5), rng.uniform(-1.0, 1.0, 9)])
    crowd = starts.people(places, ends[:, None], speed=1.2)
    start = starts.start(pose=(-4.3, 0.4, 0.2), goal=(4.9, -0.6, 0.0), place=corridor, crowd=crowd)
    once, reached = (oracle.foresee(start, Conditions(), drives) for drives in (1, 24))
    assert (once.outcome, reached.outcome) == (Outcome.PEDESTRIAN_COLLISION, Outcome.REACHED)
    kept = int(np.argmax(np.hypot(*(reached.pose[: len(once.pose), :2] - once.pose[: len(reached.pose), :2]).T) > 1e-6))
    assert reached.time[kept] <= once.time[-1] - 1.5


class _Plays:
    """A world source that plays one card."""

    def __init__(self, card):
        self.card = card

    def names(self):
        return [self.card.name]

    def world(self, name, stream):
        return self.card.draw(stream).world()
