"""The oracle: its search against a plain twin, its drive, and what it says where nobody can get through."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests import starts
from tests.recordings import among
from tests.recordings import drive as recorded

from agora.benchmark.informed import _search, oracle
from agora.core.recording import Outcome
from agora.episode import Conditions
from agora.maps.grid import Map
from agora.metrics.clean import spoiling_moments
from agora.robots.model import load_robot
from agora.tasks.cards.card import load_card
from agora.tasks.suite import Suite


def twin(lattice, keep, free, people, reach, pedestrians, start, goal, delay):
    """The search in plain float64: tick of the cheapest arrival, and its cost."""
    tick, cell, parts = lattice.tick, lattice.cell, lattice.parts
    moves = [tuple(map(int, move)) for move in lattice.moves()]
    cost, came, best, when = {start: 0.0}, {start: (0.0, 0.0)}, math.inf, -1

    def near(at, moment):
        away = [math.hypot(x - at[1], y - at[0]) * cell - r for (x, y), r in zip(people[moment], reach, strict=True)]
        return min([keep, *away[:pedestrians]]), min([free[at], *away])

    for t in range(1, 1 + (len(people) - 1) // parts):
        after, entered, first = {}, {}, (t - 1) * parts
        for at in np.ndindex(free.shape):
            here, gap = near(at, first + parts)
            if free[at] < 0 or (gap < 0 and t > delay):
                continue
            for move in moves:
                a = (at[0] - move[0], at[1] - move[1])
                if a not in cost or (t <= delay and move != (0, 0)):
                    continue
                there, before = near(a, first + parts)[0], near(a, first)[0]
                own = there - here
                if t > delay and here < keep and own > 0 and own > 0.35 * (own + max(before - there, 0.0)):
                    continue
                turned = (move[0] - came[a][0]) ** 2 + (move[1] - came[a][1]) ** 2
                c = cost[a] + tick + 0.2 * cell * math.hypot(*move) + lattice.agility * (cell / tick) ** 2 * turned
                for j in range(parts):
                    back = 1.0 - (j + 1) / parts
                    via = tuple(at[i] - round(move[i] * back) for i in (0, 1))
                    gap = near(via, first + j + 1)[1]
                    c += (
                        math.inf
                        if gap < 0 and t > delay
                        else lattice.penalty * tick / parts * max(1 - gap / lattice.wide, 0.0) ** 2
                    )
                if c < after.get(at, math.inf):
                    after[at], entered[at] = c, move
        cost, came = after, entered
        if cost.get(goal, math.inf) < best:
            best, when = cost[goal], t
    return when, best


@pytest.mark.parametrize(
    ("lattice", "keep", "seed", "delay"),
    [
        (_search.CAREFUL, 0.0, 0, 0),
        (_search.CAREFUL, 0.0, 2, 5),
        (_search.Lattice(0.1, 0.2, 1.5, 2, 0.03, 0.9, 1.5), 0.0, 1, 0),
        (_search.Lattice(0.1, 0.2, 1.5, 2, 0.03, 0.9, 1.5), 0.3, 3, 0),
        (_search.Lattice(0.05, 0.3, 0.5, 3, 0.03, 0.9, 1.5), 0.4, 4, 2),
    ],
)
def test_the_search_finds_what_its_plain_twin_finds(lattice, keep, seed, delay):
    rng = np.random.default_rng(seed)
    ticks, parts = 40, lattice.parts
    free = rng.uniform(-0.1, 0.9, (9, 14)).astype(np.float32)
    free[:, 0], free[:, -1] = 0.5, 0.5
    free[4] = np.maximum(free[4], 0.05)
    count = (ticks - 1) * parts + 1
    walk = np.cumsum(rng.normal(0.0, 0.4, (count, 3, 2)), axis=0) + rng.uniform(2, 10, (3, 2))
    people, reach = walk.astype(np.float32), np.array([0.15, 0.25, 0.1], np.float32)
    came = np.full((ticks, *free.shape), -1, np.int8)
    moves = lattice.moves()
    steps, via, costs = _search._tables(lattice, keep, np.zeros(2))
    ends = ((4, 0), (3, 13))
    when = _search._explore(free, people, reach, 2, *ends, delay, moves, steps, via, costs, came)
    expected, best = twin(lattice, keep, free.astype(float), people.astype(float), reach.astype(float), 2, *ends, delay)
    assert when == expected and math.isfinite(best)


@pytest.mark.parametrize("speed", [2.0, 1.5, 0.8, 0.34])
def test_a_robot_on_the_fast_lattice_reaches_about_its_top_speed_in_all_directions(speed):
    lattice = _search.Lattice.fast(replace(load_robot("jackal"), vx=(-speed, speed)))
    moves = lattice.moves() * lattice.cell / lattice.tick
    for angle in np.linspace(0.0, 2.0 * math.pi, 16, endpoint=False):
        assert (moves @ (math.cos(angle), math.sin(angle))).max() > 0.75 * speed
    assert np.hypot(*moves.T).max() <= speed
    assert len(moves) < 127


def test_the_robot_lets_somebody_pass_and_does_not_touch_it():
    start = starts.start(pose=(-3.0, 0.0, 0.0), goal=(4.0, 0.5, 0.0), crowd=starts.people([(0.5, -3.0)], [[(0.5, 4.0)]], speed=0.8))
    conditions = Conditions(sees_robots=False)
    standing = oracle.drive(start, np.array([[-3.0, 0.0]]), replace(conditions, ends=0))
    assert oracle.straight_gap(start, recorded(standing.time, 0 * standing.time, 0 * standing.time)) == math.inf
    track = _search.search(start, standing, 0.1, 0.15)
    offset = np.hypot(*(standing.pedestrian_position[: len(track), 0] - track).T)
    assert offset.min() > 0.25 + 0.3 + 0.1
    assert np.hypot(*np.diff(track, axis=0).T).max() <= 0.1 * _search.CAREFUL.speed + 1e-9
    assert oracle.drive(start, track, conditions).outcome == Outcome.REACHED


def test_where_there_is_no_way_there_is_no_track():
    wall = Map.from_shapes(polygons=[[(0.0, -3.0), (0.3, -3.0), (0.3, 3.0), (0.0, 3.0)]], bounds=(-4.0, -3.0, 5.0, 3.0))
    start = starts.start(pose=(-3.0, 0.0, 0.0), goal=(4.0, 0.5, 0.0), place=wall)
    time = np.arange(0.0, 20.0, 0.1)
    nobody = recorded(time, -3.0 + 0 * time, 0 * time, radius=0.25, **among(time))
    assert _search.search(start, nobody, 0.1, 0.1) is None


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
    rng, corridor = np.random.default_rng(25), Map.open((-7.3, -1.6), (8.1, 1.7))
    places = np.column_stack([rng.uniform(-2.0, 7.5, 10), rng.uniform(-1.2, 1.3, 10)])
    ends = np.column_stack([np.full(10, -6.5), rng.uniform(-1.0, 1.0, 10)])
    crowd = starts.people(places, ends[:, None], speed=1.2)
    start = starts.start(pose=(-4.3, 0.4, 0.2), goal=(4.9, -0.6, 0.0), place=corridor, crowd=crowd)
    once, reached = (oracle.foresee(start, Conditions(), drives) for drives in (1, 24))
    assert (once.outcome, reached.outcome) == (Outcome.PEDESTRIAN_COLLISION, Outcome.REACHED)
    kept = int(np.argmax(np.hypot(*(reached.pose[: len(once.pose), :2] - once.pose[: len(reached.pose), :2]).T) > 1e-6))
    assert reached.time[kept] <= once.time[-1] - 1.5


def test_a_clean_search_comes_no_nearer_to_people_and_does_not_cross_a_group():
    crowd = starts.people([(0.5, -0.7), (0.5, 0.7)], [[(0.5, -0.7)], [(0.5, 0.7)]], speed=0.5)
    start = starts.start(pose=(-3.0, 0.0, 0.0), goal=(4.0, 0.1, 0.0), crowd=crowd)
    standing = oracle.drive(start, np.array([[-3.0, 0.0]]), Conditions(sees_robots=False, ends=0))
    together = replace(standing, pedestrian_group=np.zeros_like(standing.pedestrian_group))
    lattice = _search.Lattice.fast(start.robots[0].model)
    for people, keep, through in ((together, 0.0, True), (standing, 0.46, False), (together, 0.46, False)):
        track = _search.search(start, people, 0.1, 0.05, lattice=lattice, keep=keep)
        assert (np.abs(track[:, 1]).max() < 0.3) == through
        offset = track[:, None] - people.pedestrian_position[0]
        gap = np.hypot(*offset.T).min() - 0.25 - 0.3
        assert gap > (0.36 if keep else 0.0)
    assert _search.search(start, standing, 0.1, 0.05, lattice=lattice, keep=0.46, latest=2.0) is None


def test_an_informed_robot_arrives_clean_where_it_can():
    crowd = starts.people([(0.5, -3.0), (1.0, 0.2)], [[(0.5, 4.0)], [(1.0, 0.2)]], speed=0.8)
    start = starts.start(pose=(-3.0, 0.0, 0.0), goal=(4.0, 0.5, 0.0), crowd=crowd)
    done = oracle.foresee(start, Conditions())
    assert done.outcome == Outcome.REACHED and spoiling_moments(done) == []
    again = oracle.foresee(start, Conditions())
    assert (done.pose == again.pose).all()


class _Plays:
    """A world source that plays one card."""

    def __init__(self, card):
        self.card = card

    def names(self):
        return [self.card.name]

    def world(self, name, stream):
        return self.card.draw(stream).world()
