"""Curves of a car: they end where asked, and no word of their families is shorter, by a solver that knows no formula."""

import math

import numpy as np
import pytest

from agora.planners.global_._curves import SEGMENTS, Price, advance, cheapest_curve

Q = math.pi / 2
FAMILIES = [  # turn and length of each part but the last, by the two unknowns a and b, and the turn of the last
    *[(lambda a, b: ((1, a), (0, b)), last) for last in (1, -1)],
    (lambda a, b: ((1, a), (-1, b)), 1),
    (lambda a, b: ((1, a), (-1, b), (1, -b)), -1),
    (lambda a, b: ((1, a), (-1, b), (1, b)), -1),
    *[(lambda a, b, q=q: ((1, a), (-1, q), (0, b)), last) for q in (Q, -Q) for last in (1, -1)],
    *[(lambda a, b, q=q, k=k: ((1, a), (0, b), (k, q)), -k) for q in (Q, -Q) for k in (1, -1)],
    *[(lambda a, b, q=q: ((1, a), (-1, q), (0, b), (1, q)), -1) for q in (Q, -Q)],
]
DUBINS = FAMILIES[:3]


def ended(parts):
    """Where parts of unit radius end, from the origin; arrays allowed."""
    x = y = h = 0.0
    for turn, length in parts:
        t = turn * length
        chord = length * np.sinc(0.5 * t / math.pi)
        x, y, h = x + chord * np.cos(h + 0.5 * t), y + chord * np.sin(h + 0.5 * t), h + t
    return x, y, h


def solved(family, poses, forward):
    """Least length of a family's words that end at each pose (P, 3), by Newton's method from many beginnings."""
    parts, last = family
    x, y, turn = poses.T[:, :, None]

    def off(a, b):
        words = parts(a, b)
        v = last * (turn - ended(words)[2])
        v = v % (2 * math.pi) if forward else np.mod(v + math.pi, 2 * math.pi) - math.pi
        ex, ey, _ = ended((*words, (last, v)))
        return np.array([ex - x, ey - y]), sum(abs(length + 0 * a) for _, length in words) + abs(v), v

    begin = np.linspace(0.1, 6.2, 8) if forward else np.linspace(-3.0, 3.0, 7)
    grid = np.meshgrid(begin, np.concatenate([begin, np.linspace(-7.0, 7.0, 5)]))
    a, b = (np.tile(g.ravel(), (len(poses), 1)) for g in grid)
    with np.errstate(all="ignore"):
        for _ in range(15):
            f, step = off(a, b)[0], 1e-6
            da, db = (off(a + step, b)[0] - f) / step, (off(a, b + step)[0] - f) / step
            det = da[0] * db[1] - da[1] * db[0]
            a = a - np.clip((f[0] * db[1] - f[1] * db[0]) / det, -1, 1)
            b = b - np.clip((da[0] * f[1] - da[1] * f[0]) / det, -1, 1)
        straight = any(turn == 0 for turn, _ in parts(0.0, 0.0))
        if forward:
            a, b = a % (2 * math.pi), b if straight else b % (2 * math.pi)
        else:
            a = np.mod(a + math.pi, 2 * math.pi) - math.pi
        f, length, v = off(a, b)
        good = np.hypot(*f) < 1e-7
        if forward:
            good &= (b >= 0) & (v >= 0)
    return np.where(good, length, np.inf).min(axis=1)


def oracle(poses, families, forward):
    poses = np.array(poses)
    both = (poses, poses * [1.0, -1.0, -1.0])
    return np.min([solved(f, p, forward) for f in families for p in both], axis=0)


def curve(x, y, turn, radius=1.0, price=None, before=0):
    out = np.zeros((SEGMENTS, 2))
    return cheapest_curve(x, y, turn, radius, price or Price(), before, out), out


def poses(rng, count, far=4.0):
    return zip(*rng.uniform(-far, far, (2, count)), rng.uniform(-math.pi, math.pi, count), strict=True)


def test_no_word_of_reeds_and_shepp_is_shorter(rng):
    asked = [*poses(rng, 7), *poses(rng, 4, 1.2), (0.0, 0.7, 0.0), (0.1, -0.2, 3.0)]
    np.testing.assert_allclose([curve(*pose)[0] for pose in asked], oracle(asked, FAMILIES, False), atol=1e-6)


def test_no_word_of_dubins_is_shorter(rng):
    asked = [*poses(rng, 12), *poses(rng, 8, 1.2)]
    lengths = [curve(*pose, price=Price(math.inf))[0] for pose in asked]
    np.testing.assert_allclose(lengths, oracle(asked, DUBINS, True), atol=1e-6)


@pytest.mark.parametrize("price", [Price(), Price(2.5, 0.7, 1.2), Price(math.inf)])
@pytest.mark.parametrize("radius", [0.4, 1.0, 2.7])
def test_a_curve_ends_at_the_pose_and_costs_what_its_parts_cost(rng, price, radius):
    for x, y, turn in poses(rng, 150):
        cost, parts = curve(x, y, turn, radius, price, before=1)
        at, due, way = (0.0, 0.0, 0.0), 0.0, 1
        for length, curvature in parts:
            assert abs(curvature) in (0.0, pytest.approx(1.0 / radius))
            if length:
                due += price.change if way * length < 0 else 0.0
                way = math.copysign(1, length)
                due += abs(length) * (price.backward if length < 0 else 1.0) * (price.turn if curvature else 1.0)
            at = advance(*at, length, curvature)
        assert at[:2] == pytest.approx((x, y), abs=1e-6)
        assert math.remainder(at[2] - turn, 2 * math.pi) == pytest.approx(0.0, abs=1e-6)
        assert cost == pytest.approx(due, rel=1e-9)


def test_there_and_back_mirrored_and_scaled_are_as_long(rng):
    for x, y, turn in poses(rng, 60):
        long = curve(x, y, turn)[0]
        c, s = math.cos(turn), math.sin(turn)
        assert curve(-(c * x + s * y), s * x - c * y, -turn)[0] == pytest.approx(long, abs=1e-9)
        assert curve(x, -y, -turn)[0] == pytest.approx(long, abs=1e-9)
        assert curve(-x, y, -turn)[0] == pytest.approx(long, abs=1e-9)
        assert curve(1.7 * x, 1.7 * y, turn, radius=1.7)[0] == pytest.approx(1.7 * long, abs=1e-9)
        assert math.hypot(x, y) - 1e-9 <= long <= curve(x, y, turn, price=Price(math.inf))[0] + 1e-9


def test_known_curves():
    assert curve(3.0, 0.0, 0.0)[0] == pytest.approx(3.0)
    assert curve(-3.0, 0.0, 0.0)[0] == pytest.approx(3.0)
    assert curve(-3.0, 0.0, 0.0, price=Price(2.0))[0] == pytest.approx(6.0)
    assert curve(1.0, 1.0, Q)[0] == pytest.approx(Q)
    assert curve(0.0, 0.0, math.pi)[0] == pytest.approx(math.pi)  # the turn in place: three arcs of 60 degrees
    assert curve(0.0, 0.0, math.pi, price=Price(math.inf))[0] == pytest.approx(7 / 3 * math.pi)  # a pear: 60, 300 and 60 degrees
    assert curve(0.0, 2.0, math.pi, price=Price(math.inf))[0] == pytest.approx(math.pi)
    assert curve(0.0, 0.0, 0.0)[0] == 0.0


def test_a_dear_change_of_direction_is_avoided(rng):
    def changes(parts):
        ways = np.sign(parts[np.abs(parts[:, 0]) > 1e-9, 0])
        return int((np.diff(ways) != 0).sum())

    found = [(changes(curve(*p)[1]), changes(curve(*p, price=Price(1.0, 20.0))[1])) for p in poses(rng, 80, 1.5)]
    assert max(few for _, few in found) <= 1 < max(many for many, _ in found)


def test_any_heading_will_do_where_the_goal_has_none(rng):
    for x, y, _ in poses(rng, 100):
        cost, parts = curve(x, y, math.nan, price=Price(math.inf))
        at = (0.0, 0.0, 0.0)
        for part in parts:
            at = advance(*at, *part)
        assert at[:2] == pytest.approx((x, y), abs=1e-6)
        if math.hypot(x, abs(y) - 1.0) > 1.0:  # else two arcs are shorter than one and a line
            assert cost <= min(curve(x, y, h, price=Price(math.inf))[0] for h in np.linspace(0, 6.2, 25)) + 1e-9
