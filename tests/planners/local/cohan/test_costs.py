"""What couples bands, in float64, against hand-computed values, a plain twin and finite differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.planners.bands.test_solver import NARROW, OUTLINES, crooked, near, room, shape, weights
from tests.planners.bands.twin import clearance, speed

from agora.planners._bands.costs import STEP, WIDTH, linearise, measure
from agora.planners.local.cohan._costs import (
    BANDS,
    WIDEST,
    Crowd,
    Social,
    cost_of,
    costs_between,
    measure_bands,
    write_normal_equations,
)
from agora.planners.local.cohan._solver import optimise_all

NAMES = Social._fields[:6]


def social(**given):
    """Weights of 0 and thresholds that crooked bands break."""
    values = dict.fromkeys(Social._fields, 0.0) | {
        "epsilon": 0.02,
        "min_agent_robot_dist": 0.7,
        "min_agent_agent_dist": 0.8,
        "rel_vel_cost_threshold": 1.3,
        "visibility_cost_threshold": 0.4,
        "invisible_human_threshold": 1.1,
        "sight": math.cos(1.3),
        "agent_radius": 0.25,
    }
    return Social(**{name: np.float64(value) for name, value in (values | given).items()})


def crowd_of(bands, hidden=(), most=9):
    """Bands of some poses, the second person's shorter, and their room."""
    rows = 4 * most * BANDS
    made = Crowd(
        *(np.zeros((BANDS, most, 4)), np.zeros((BANDS, most, 4)), np.array([len(band) for band in bands] + [0] * (3 - len(bands)))),
        *(
            np.array([0.0, 0.5, 0.7]),
            np.zeros((4, 2)),
            np.array([len(hidden)]),
            np.zeros((BANDS, most, 2)),
            np.zeros((BANDS, most, STEP)),
        ),
        *(np.zeros((BANDS, 4 * most, WIDTH + 1)), np.zeros((BANDS, 4 * most)), np.full((rows, WIDEST + 1), np.nan)),
        *(np.full((rows, WIDEST + 1), np.nan), np.full(rows, np.nan), np.full(rows, np.nan)),
        *(np.zeros(WIDEST + 1), np.zeros(10, np.int64)),
    )
    for b, band in enumerate(bands):
        made.bands[b, : len(band)] = band
    made.hidden[: len(hidden)] = np.reshape(hidden, (-1, 2))
    return made


def three(seed):
    """Crooked bands of a robot and of two people about it, one of whom goes the robot's way before it."""
    rng = np.random.default_rng(seed)
    robot, first, second = crooked(seed), crooked(seed + 10), crooked(seed + 20, 5)
    first[:, :2] += (0.5, 0.3)
    second[:, :2] += (0.6, -0.2)
    first[:, 2] = robot[:, 2] + rng.uniform(-0.6, 0.6, 6)
    return [robot, first, second]


def wanted(bands, s, hidden, model, clock):
    """Pairs of weight and value of what is between bands, plainly; the times at poses are fixed, as they are upstream."""
    robot, out = bands[0], []
    nominal = (0.0, 0.5, 0.7)
    for b, person in enumerate(bands[1:], 1):
        both = min(len(robot), len(person))
        for i in range(both):
            missing = max(s.min_agent_robot_dist + s.epsilon - gap(robot[i], person[i], s, model), 0.0)
            out.append((s.agent_robot_safety, missing**2 + missing))
            dx, dy = robot[i, :2] - person[i, :2]
            angle = math.acos((math.cos(person[i, 2]) * dx + math.sin(person[i, 2]) * dy) / math.hypot(dx, dy))
            same = math.cos(robot[i, 2] - person[i, 2]) >= 0.0
            behind = 5.0 * 2.0 ** -(dx * dx + dy * dy) if angle >= math.acos(s.sight) and same else 0.0
            out.append((s.agent_robot_visibility, max(behind - s.visibility_cost_threshold + s.epsilon, 0.0)))
        for i in range(both - 1):
            u = (robot[i + 1, :2] - robot[i, :2]) / robot[i, 3]
            v = (person[i + 1, :2] - person[i, :2]) / person[i, 3]
            d = person[i, :2] - robot[i, :2]
            value = (max((u - v) @ d, 0.0) + np.linalg.norm(u) + 1.0) / np.linalg.norm(d)
            out.append((s.agent_robot_rel_vel, max(value - s.rel_vel_cost_threshold + s.epsilon, 0.0)))
        out += [(s.nominal_agent_vel_x, speed(*pair) - nominal[b]) for pair in zip(person, person[1:], strict=False)]
    if len(bands) > 2:
        for a, c in zip(bands[1], bands[2], strict=False):
            missing = s.min_agent_agent_dist + s.epsilon - math.dist(a[:2], c[:2]) + 2 * s.agent_radius
            out.append((s.agent_agent_safety, max(missing, 0.0) ** 2 + max(missing, 0.0)))
    for i in range(1, len(robot) - 1):
        for place in hidden:
            time = clock[:i].sum()
            fast = math.dist(robot[i, :2], robot[i + 1, :2]) / robot[i, 3]
            together = max(1.5 + fast - 0.1 - (0.68 * time if time > 0.5 else 0.0), 0.01)
            far = gap(robot[i], np.array(place), s, model)
            out.append((s.invisible_human, max(s.invisible_human_threshold + s.epsilon - far / together, 0.0) if far > 0 else 0.0))
    return np.array(out)


def gap(pose, person, s, model):
    return clearance(pose, (model, OUTLINES[model]), *person[:2]) - s.agent_radius


def free(bands):
    """The unknowns: band, pose, and which of its numbers, in the order of the matrix."""
    order = [(i, b, k) for i in range(9) for b in range(len(bands)) for k in range(4)]
    return [(b, i, k) for i, b, k in order if i < len(bands[b]) - 1 and (k == 3 or i > 0)]


def number(many, b, i, k):
    return 4 * many * i + 4 * b + k


def dense(crowd, size, many):
    """The normal matrix from its lower band."""
    width, full = 8 * many + 2, np.zeros((size, size))
    for r in range(size):
        for c in range(max(0, r - width), r + 1):
            full[r, c] = full[c, r] = crowd.joint[r, width - r + c]
    return full


@pytest.mark.parametrize("model", ["point", "polygon"])
@pytest.mark.parametrize("many", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_the_normal_equations_between_bands_are_those_of_finite_differences(name, many, model):
    seen, hidden = 0.0, [(0.7, 0.5), (1.5, -0.6)]
    for seed in range(4):
        bands, s = three(seed)[:many], social(**{name: 3.7})
        crowd, bounds = crowd_of(bands, hidden), (NARROW, NARROW, NARROW)
        measure_bands(crowd, crowd.bands, many, bounds)
        crowd.joint[:], crowd.right[:] = 0.0, 0.0
        total = costs_between(crowd, crowd.bands, many, s, shape(model), True, True)
        weight, value = wanted(bands, s, hidden, model, bands[0][:, 3]).T
        assert total == pytest.approx(weight @ value**2, rel=1e-6, abs=1e-9)
        places, columns = free(bands), []
        for b, i, k in places:
            sides = []
            for h in (1e-6, -1e-6):
                moved = [band.copy() for band in bands]
                moved[b][i, k] += h
                sides.append(wanted(moved, s, hidden, model, bands[0][:, 3])[:, 1])
            columns.append((sides[0] - sides[1]) / 2e-6)
        jac = np.stack(columns, -1)
        at = [number(many, *place) for place in places]
        scale = max(np.abs(jac).max(), 1.0)
        assert crowd.right[at] == pytest.approx(-(jac.T * weight) @ value, rel=1e-4, abs=1e-4 * scale)
        full = dense(crowd, 4 * many * 5, many)
        assert full[np.ix_(at, at)] == pytest.approx((jac.T * weight) @ jac, rel=1e-4, abs=1e-4 * scale**2)
        seen = max(seen, total)
    assert seen > 1e-3 or (name == "agent_agent_safety" and many == 2)


def test_the_equations_of_all_bands_are_those_of_each_where_nothing_is_between_them():
    bands, w, s = three(3), weights(max_vel_x=2.0, obstacle=7.0, optimaltime=1.0, kinematics_nh=30.0, acc_lim_x=3.0), social()
    crowd, everybody = crowd_of(bands), (NARROW, NARROW, NARROW)
    heed = tuple(near(len(band), [(2, 0.6, 0.1, 0.1, False)]) for band in bands)
    measure_bands(crowd, crowd.bands, 3, everybody)
    size = write_normal_equations(crowd, 3, (w, w, w), everybody, (shape(), shape(), shape()), heed, np.float64(2.0), s, False)
    full = dense(crowd, size, 3)
    for b, band in enumerate(bands):
        work, n = room(len(band)), len(band)
        measure(band, n, NARROW, work)
        linearise(band, n, w, NARROW, shape(), heed[b], np.float64(2.0), work)
        mine = [place for place in free(bands) if place[0] == b]
        own, at = [4 * i + k for _, i, k in mine], [number(3, *place) for place in mine]
        alone = np.array([[work.matrix[max(r, c), WIDTH - abs(r - c)] if abs(r - c) <= WIDTH else 0.0 for c in own] for r in own])
        assert full[np.ix_(at, at)] == pytest.approx(alone)
        assert crowd.right[at] == pytest.approx(work.side[own])
    fixed = sorted(set(range(size)) - {number(3, *place) for place in free(bands)})
    assert np.array_equal(full[fixed][:, fixed], np.eye(len(fixed))) and not crowd.right[fixed].any()


def test_all_bands_give_way_together_and_the_cost_falls():
    """A robot and a person who walk towards each other, half a hand's breadth beside one line."""
    n = 8
    robot = np.column_stack((np.linspace(0.0, 2.1, n), 0.02 * np.ones(n), np.zeros(n), np.full(n, 0.4)))
    person = np.column_stack((np.linspace(2.4, 0.3, n), np.zeros(n), np.full(n, math.pi), np.full(n, 0.4)))
    w = weights(max_vel_x=2.0, max_vel_theta=1.0, optimaltime=1.0, kinematics_nh=1000.0, kinematics_forward_drive=10.0)
    s = social(agent_robot_safety=5.0, agent_robot_rel_vel=0.1, min_agent_robot_dist=0.6)
    bounds = NARROW._replace(forward=np.float64(0.8), omega=np.float64(1.5), now_omega=np.float64(0.0))
    crowd, heed = crowd_of([robot, person]), (near(n), near(n), near(n))
    given = ((w, w, w), (bounds,) * 3, (shape(),) * 3, heed, np.float64(1.0), s, True)
    measure_bands(crowd, crowd.bands, 2, given[1])
    before = cost_of(crowd, crowd.bands, 2, *given)
    after = optimise_all(crowd, 2, *given, 30)
    assert after < 0.8 * before
    gaps = [math.dist(crowd.bands[0, i, :2], crowd.bands[1, i, :2]) for i in range(n)]
    assert min(gaps) - 0.25 > 0.3
    assert crowd.bands[0, 1:-1, 1].max() > 0.05 and crowd.bands[1, 1:-1, 1].min() < -0.03
    assert np.array_equal(crowd.bands[:2, [0, n - 1], :3], np.stack((robot, person))[:, [0, n - 1], :3])


def pair(robot, person):
    return [np.array(robot, float), np.array(person, float)]


@pytest.mark.parametrize(
    ("name", "robot", "person", "value"),
    [
        # (1 + 0.8) m/s towards each other, 2 m apart: ((1.8) 2 + 1 + 1) / 2 = 2.8
        ("agent_robot_rel_vel", [(0, 0, 0, 0.5), (0.5, 0, 0, 0)], [(2, 0, math.pi, 0.5), (1.6, 0, math.pi, 0)], 2.8 - 1.3 + 0.02),
        # away from each other it is the robot's own speed: (0 + 1 + 1) / 1 = 2
        ("agent_robot_rel_vel", [(0, 0, 0, 0.5), (-0.5, 0, 0, 0)], [(1, 0, 0, 0.5), (1.3, 0, 0, 0)], 2.0 - 1.3 + 0.02),
        # 0.9 m apart, 0.25 m of it the person: 0.72 - 0.65 = 0.07 are missing
        ("agent_robot_safety", [(0, 0, 0, 1.0)], [(0.9, 0, 1.0, 1.0)], 0.07 + 0.07**2),
        # 1 m behind somebody who goes the same way: 5 / 2
        ("agent_robot_visibility", [(0, 0, 0.2, 1.0)], [(1.0, 0, 0.0, 1.0)], 2.5 - 0.4 + 0.02),
        ("agent_robot_visibility", [(2, 0, 0.2, 1.0)], [(1.0, 0, 0.0, 1.0)], 0.0),
        ("agent_robot_visibility", [(0, 0, 2.9, 1.0)], [(1.0, 0, 0.0, 1.0)], 0.0),
    ],
)
def test_residuals_are_those_worked_out_by_hand(name, robot, person, value):
    crowd = crowd_of(pair(robot, person))
    measure_bands(crowd, crowd.bands, 2, (NARROW, NARROW, NARROW))
    total = costs_between(crowd, crowd.bands, 2, social(**{name: 1.0}), shape(), True, False)
    assert total == pytest.approx(value**2)
