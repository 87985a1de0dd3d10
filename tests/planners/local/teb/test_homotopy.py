from __future__ import annotations

import cmath
import math

import numpy as np
import pytest

from agora.planners.local.teb._homotopy import classify, connect, explore, is_detour, obstacles, product, scatter, sweep

NOBODY = np.zeros((0, 5))
SIDES, PRODUCT = (0.1, 0.0), (0.1, 1.0)


def detour(height, shape=1.0, n=40, length=6.0, time=0.25):
    """A band from (0, 0) to (length, 0) that goes round by ``height``."""
    share = np.linspace(0.0, 1.0, n)
    return np.stack((length * share, height * np.sin(math.pi * share) ** shape, 0.0 * share, np.full(n, time)), -1)


def h_signature(band, places):
    """The H-signature in two dimensions of the paper and the package, from the angles that `sweep` gives.

    A_l is the package's: a (o_l - BL) b (o_l - TR) / prod (o_l - o_j), with the corners BL, TR to the right of the start and to
    the left of the end, and a + b = max(N - 1, 5).
    """
    start, end = complex(*band[0, :2]), complex(*band[-1, :2])
    normal = 1j * (end - start)
    m = max(len(places) - 1, 5)
    total = 0.0
    for k, place in enumerate(places):
        o = complex(*place[:2])
        factor = math.ceil(m / 2) * (o - (start - normal)) * (m - math.ceil(m / 2)) * (o - (end + normal))
        for other in np.delete(places, k, axis=0):
            factor /= o - complex(*other[:2])
        total += factor * (math.log(abs(end - o) / abs(start - o)) + 2j * math.pi * float(sweep(band, len(band), place)))
    return total


@pytest.mark.parametrize("places", [[(3.0, 0.0)], [(2.0, 0.3), (4.0, -0.4)], [(1.0 + 0.6 * k, 0.5 * (-1) ** k) for k in range(8)]])
def test_the_product_is_that_of_the_package(places):
    places = np.array([(*place, 0.0, 0.0) for place in places])
    for height, shape in ((1.2, 1.0), (-0.7, 2.0), (2.6, 1.4)):
        band = detour(height, shape)
        assert complex(*product(band, 40, places, len(places), 1.0)) == pytest.approx(h_signature(band, places), rel=1e-6, abs=1e-6)
    twice = np.concatenate((places, places[:1] + (0.03, 0.0, 0.0, 0.0)))
    assert np.isfinite(product(band, 40, twice, len(twice), 1.0)).all()


def test_products_tell_apart_ways_that_sides_do_not():
    """Once more round the obstacle, by less than a turn: the side on which it is passed is the same."""
    place, known = np.array([[3.0, 0.0, 0.0, 0.0]]), np.zeros((3, 2))
    angle = np.linspace(1.0, -0.9, 60) * math.pi
    once = np.column_stack((3.0 + 3.0 * np.cos(angle), 0.1 + 3.0 * np.sin(angle), 0 * angle, 0 * angle + 0.2))
    less = np.column_stack((3.0 + 3.0 * np.cos(angle), 0.1 + 3.0 * np.sin(angle), 0 * angle, 0 * angle + 0.2))[:32]
    for rule, expected in ((SIDES, [0, 0]), (PRODUCT, [0, 1])):
        assert [classify(way, len(way), place, 1, known, k, rule) for k, way in enumerate((once, less))] == expected
    through = detour(0.0)
    assert classify(through, 40, np.array([through[20] * (1, 1, 0, 0)]), 1, known, 0, PRODUCT) == 0
    assert classify(through, 40, np.array([through[0] * (1, 1, 0, 0)]), 1, known, 0, PRODUCT) == -1


def still(*places):
    return np.array([(x, y, r) for x, y, r in places], float)


@pytest.mark.parametrize(("height", "shape"), [(1.2, 1.0), (0.7, 2.0), (2.6, 1.4)])
def test_any_way_past_an_obstacle_on_one_side_has_the_signature_of_the_closed_form(height, shape):
    """One obstacle midway on 6 m: A = 6 (3 + 6i)(-3 - 6i) = 162 - 216i, times -i pi on the left and i pi on the right."""
    place = np.array([[3.0, 0.0, 0.0, 0.0]])
    assert h_signature(detour(height, shape), place) == pytest.approx(-678.58 - 508.94j, abs=0.01)
    assert h_signature(detour(-height, shape), place) == pytest.approx(678.58 + 508.94j, abs=0.01)


def test_signatures_tell_all_ways_past_two_obstacles_apart_and_only_those():
    places = np.array([[2.0, 0.3, 0.0, 0.0], [4.0, -0.4, 0.0, 0.0]])
    slalom = detour(1.0)
    slalom[:, 1] = np.sin(2 * math.pi * np.linspace(0.0, 1.0, 40))
    ways = [detour(2.0), detour(1.5, 0.8), detour(-2.0), detour(-1.4, 1.3), slalom, slalom * (1, -1, 1, 1)]
    found = [h_signature(way, places) for way in ways]
    same = [(i, j) for i in range(6) for j in range(i) if cmath.isclose(found[i], found[j], abs_tol=0.1)]
    assert same == [(1, 0), (3, 2)]
    signatures, classes, known = np.full((7, 2), np.nan), [], 0
    for way in ways:
        classes.append(classify(way, len(way), places, 2, signatures, known, SIDES))
        known += classes[-1] == known
    assert classes == [0, 0, 1, 1, 2, 3]


def magnetic(band, place):
    """Line integral along a band in space and time of the field of a straight conductor, from far before to far after, over 4
    pi."""
    far = 1e4
    at, velocity = np.append(place[:2], 0.0), np.append(place[2:], 1.0)
    ends = at - far * velocity, at + far * velocity
    points = np.column_stack((band[:, :2], np.concatenate(([0.0], np.cumsum(band[:-1, 3])))))
    total = 0.0
    for a, b in zip(points, points[1:], strict=False):
        for k in range(20):
            r = a + (k + 0.5) / 20 * (b - a)
            p, q, s = ends[0] - r, ends[1] - r, ends[1] - ends[0]
            d = np.cross(s, np.cross(p, q)) / (s @ s)
            field = (np.cross(d, q) / np.linalg.norm(q) - np.cross(d, p) / np.linalg.norm(p)) / (d @ d)
            total += field @ (b - a) / 20
    return total / (4.0 * math.pi)


@pytest.mark.parametrize(
    ("place", "stretch"),
    [((3.0, 0.1, 0.0, 0.0), 1e-4), ((4.0, -1.5, 0.0, 0.0), 1e-4), ((5.0, -0.5, -0.6, 0.1), 0.01), ((1.0, -3.0, 0.0, 0.9), 0.01)],
)
def test_the_angle_about_an_obstacle_is_the_field_s_integral_in_space_and_time(place, stretch):
    """But for the angle at which the planes of equal time cut a conductor that leans, because the obstacle moves."""
    for height in (1.1, -0.8):
        band = detour(height)
        assert float(sweep(band, len(band), np.array(place))) == pytest.approx(magnetic(band, np.array(place)), abs=stretch)


def test_a_band_round_an_obstacle_is_of_no_class():
    angle = np.linspace(0.0, 2.6 * math.pi, 60)
    loop = np.column_stack((np.cos(angle), np.sin(angle), 0 * angle, 0 * angle + 0.2))
    assert classify(loop, 60, np.zeros((1, 4)), 1, np.zeros((2, 2)), 0, SIDES) == -1


def test_discs_between_which_the_robot_does_not_fit_are_one_obstacle():
    discs = still((2.0, 1.0, 0.1), (2.0, 0.4, 0.1), (2.0, -1.2, 0.1), (5.0, 0.3, 0.2), (2.0, 1.5, 0.0))
    moving = np.array([(1.0, 3.0, 0.2, -0.1, 0.3)])
    out = np.full((6, 4), np.nan)
    for width, expected in ((0.41, [(2.0, 0.4), (2.0, -1.2), (5.0, 0.3)]), (1.41, [(2.0, 0.4), (5.0, 0.3)]), (4.0, [(5.0, 0.3)])):
        count = obstacles(discs, 5, moving, 1, (6.0, 0.6), width, np.zeros(5, np.int32), out)
        assert sorted(map(tuple, out[: count - 1, :2])) == sorted(expected)
        assert tuple(out[count - 1]) == (1.0, 3.0, 0.2, -0.1)


def test_the_roadmap_s_points_come_in_mirrored_pairs_within_its_area_and_never_twice():
    seen = set()
    for tick in range(3):
        nodes = np.zeros((9, 2))
        scatter(3.0, 4.0, 2.0, 1.0, tick, 7, nodes)
        along, across = nodes @ (0.6, 0.8), nodes @ (-0.8, 0.6)
        assert tuple(nodes[0]) == (0.0, 0.0) and tuple(nodes[-1]) == (3.0, 4.0)
        assert np.all((along[1:-1] > 0.0) & (along[1:-1] < 5.0) & (np.abs(across[1:-1]) < 1.0))
        assert along[1:7:2] == pytest.approx(along[2:7:2]) and across[1:7:2] == pytest.approx(-across[2:7:2])
        seen |= set(along[1:8:2].round(6))
    assert len(seen) == 12


@pytest.mark.parametrize("turn", [0.0, 1.1])
def test_ways_of_the_roadmap_lead_on_and_keep_clear(turn):
    rotation = np.array(((math.cos(turn), -math.sin(turn)), (math.sin(turn), math.cos(turn))))
    nodes = np.array([(0.0, 0.0), (2.0, 1.5), (2.0, -1.5), (0.5, 2.5), (4.0, 0.0)]) @ rotation.T
    discs = still((*(rotation @ (2.0, 0.2)), 0.3))
    edges = np.ones((5, 5), bool)
    connect(nodes, 5, discs, 1, NOBODY, 0, 0.5, 0.45, edges)
    assert set(zip(*np.nonzero(edges), strict=True)) == {(0, 1), (0, 2), (1, 4), (2, 4), (3, 1), (3, 4)}
    walker = np.array([(*(rotation @ (3.0, -0.7)), 0.0, 0.0, 0.2)])
    connect(nodes, 5, discs, 1, walker, 1, 0.5, 0.45, edges)
    assert set(zip(*np.nonzero(edges), strict=True)) == {(0, 1), (0, 2), (1, 4), (3, 1), (3, 4)}


def test_both_ways_past_a_disc_are_found_and_no_third():
    discs = still((2.0, 0.0, 0.3))
    nodes, edges = np.zeros((17, 2)), np.zeros((17, 17), bool)
    places, signatures = np.array([(2.0, 0.0, 0.0, 0.0)]), np.zeros((6, 1))
    bands, counts, roadmap = np.zeros((6, 40, 4)), np.zeros(6, np.int32), np.zeros((3, 17), np.int32)
    scatter(4.0, 0.0, 6.0, 1.0, 0, 15, nodes)
    connect(nodes, 17, discs, 1, NOBODY, 0, 0.5, 0.45, edges)
    guess = (0.4, 0.3, 3)
    found = explore(nodes, 17, edges, (0.0, 0.0), guess, places, 1, SIDES, bands, counts, 0, 5, roadmap, signatures)
    assert found == 2
    assert np.sign(signatures[0, 0]) != np.sign(signatures[1, 0])
    for c in range(2):
        way = bands[c, : counts[c]]
        assert np.hypot(way[:, 0] - 2.0, way[:, 1]).min() > 0.8
        assert tuple(way[0, :2]) == (0.0, 0.0) and tuple(way[-1, :2]) == (4.0, 0.0)


def test_a_band_that_sets_out_backwards_or_takes_three_times_as_long_is_a_detour():
    best = detour(0.3)
    back = detour(0.3) * (-1, 1, 1, 1)
    slow = detour(0.4) * (1, 1, 1, 3.1)
    for way, expected in ((best, False), (detour(1.5), False), (back, True), (slow, True), (detour(0.1, length=0.3), True)):
        assert is_detour(way, 40, best, 40, 0.5 * math.pi, 0.4, 3.0) == expected
