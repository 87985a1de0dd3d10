"""Hybrid A*: drivable, clear of walls, backwards where nothing else leads there."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.starts import start

from agora.core.recording import Outcome
from agora.costmap.inflation import cost_of
from agora.episode import Conditions, Episodes
from agora.errors import InputError
from agora.interfaces import PathRequest
from agora.maps.grid import Map
from agora.planners.global_._curves import SEGMENTS, Price, advance, cheapest_curve
from agora.planners.global_._ground import Ground, drive_cost, spare_clearance
from agora.planners.global_.astar import AStar
from agora.planners.global_.hybrid_astar import HybridAStar
from agora.planners.global_.hybrid_astar._planner import cover
from agora.planners.local.pure_pursuit import PurePursuit
from agora.robots.model import load_robot

CAR = load_robot("f1tenth")


def ask(m, here, there, planner=None, **more):
    given = {"radius": CAR.radius, "turning_radius": CAR.turning_radius, "footprint": CAR.footprint} | more
    return (planner or HybridAStar()).path(PathRequest(m, np.array(here, float), np.array(there, float), **given))


def length(path):
    return np.linalg.norm(np.diff(path[:, :2].astype(float), axis=0), axis=1).sum()


def ways(path):
    """Whether each step goes forwards."""
    steps = np.diff(path[:, :2].astype(float), axis=0)
    headings = np.unwrap(path[:, 2].astype(float))
    middle = 0.5 * (headings[1:] + headings[:-1])
    return steps @ [1, 0] * np.cos(middle) + steps @ [0, 1] * np.sin(middle) > 0


def check_drivable(path, radius):
    """No step turns more than the smallest curve does, and each goes where the robot looks, or back."""
    p = path.astype(float)
    steps, turns = np.diff(p[:, :2], axis=0), np.diff(np.unwrap(p[:, 2]))
    assert np.abs(p[:, 2]).max() <= math.pi + 1e-6
    middle = p[:-1, 2] + 0.5 * turns
    chord = np.hypot(*steps.T)
    aside = steps[:, 1] * np.cos(middle) - steps[:, 0] * np.sin(middle)
    assert np.abs(aside).max() < 1e-4
    arc = chord / np.sinc(0.5 * turns / math.pi)
    assert (np.abs(turns) <= arc / radius + 1e-4).all()


def outlines(path, footprint):
    c, s = np.cos(path[:, 2]), np.sin(path[:, 2])
    x, y = np.array(footprint).T
    return np.stack([path[:, :1] + np.outer(c, x) - np.outer(s, y), path[:, 1:2] + np.outer(s, x) + np.outer(c, y)], axis=2)


def clutter(rng, discs=22):
    circles = np.column_stack([rng.uniform(0.5, 8.5, discs), rng.uniform(-5.5, 4.5, discs), rng.uniform(0.1, 0.4, discs)])
    return Map.from_shapes(discs=circles, segments=[[3, -3, 3.5, 1.2]], bounds=(0, -6, 9, 5), resolution=0.05)


@pytest.mark.parametrize("reverse", ["never", "needed", "free"])
def test_paths_are_drivable_clear_of_walls_and_end_as_asked(rng, reverse):
    m = clutter(rng)
    free, found = m.centre_of(*np.nonzero(m.clearance > 0.5)), 0
    for k in range(12):
        places, headings = free[rng.choice(len(free), 2)], rng.uniform(-3, 3, 2)
        goal = (*places[1], headings[1] if k % 2 else math.nan)
        path = ask(m, (*places[0], headings[0]), goal, HybridAStar(reverse=reverse))
        if path is None:
            continue
        found += 1
        check_drivable(path, CAR.turning_radius)
        assert path[0] == pytest.approx((*places[0], headings[0]), abs=1e-5)
        assert path[-1, :2] == pytest.approx(places[1], abs=1e-4)
        if k % 2:
            assert math.remainder(path[-1, 2] - headings[1], 2 * math.pi) == pytest.approx(0.0, abs=1e-4)
        assert np.linalg.norm(np.diff(path[:, :2], axis=0), axis=1).max() <= 0.1 + 1e-5
        assert m.gap_of(outlines(path.astype(float), CAR.footprint)).min() > 0.0
        if reverse == "never":
            assert ways(path).all()
    assert found >= 8


def test_in_an_open_field_it_is_the_curve_itself(rng):
    m = Map.open((-9.0, -8.0), (10.0, 7.0))
    for k in range(8):
        here, there = np.array([*rng.uniform(-3, 3, 2), rng.uniform(-3, 3)]), np.array([*rng.uniform(-3, 3, 2), rng.uniform(-3, 3)])
        reverse, price = ("free", Price()) if k % 2 else ("never", Price(math.inf))
        planner = HybridAStar(reverse=reverse, reverse_cost=1.0, change_cost=0.0, turn_cost=1.0, spacing=0.02)
        path = ask(m, here, there, planner)
        d, c, s = there - here, math.cos(here[2]), math.sin(here[2])
        out = np.zeros((SEGMENTS, 2))
        cheapest_curve(c * d[0] + s * d[1], c * d[1] - s * d[0], d[2], CAR.turning_radius, price, 0, out)
        assert length(path) == pytest.approx(np.abs(out[:, 0]).sum(), rel=1e-3)


def dead_end():
    return Map.from_shapes(segments=[[0, 0, 6, 0], [0, 1.3, 6, 1.3], [6, 0, 6, 1.3]], bounds=(-4, -3, 8, 4), resolution=0.05)


def test_out_of_a_dead_end_leads_no_way_forwards():
    here, there = (5.0, 0.65, 0.0), (-2.0, 2.0, math.nan)
    assert ask(dead_end(), here, there, HybridAStar(reverse="never")) is None
    path = ask(dead_end(), here, there)
    assert not ways(path).all()
    check_drivable(path, CAR.turning_radius)
    assert ways(ask(dead_end(), (5.0, 0.65, math.pi), there)).all()


def test_it_parks_between_two_cars():
    cars = [[[0, 0], [2, 0], [2, 0.5], [0, 0.5]], [[3.2, 0], [6, 0], [6, 0.5], [3.2, 0.5]]]
    m = Map.from_shapes(polygons=cars, segments=[[-2, 0, 8, 0]], bounds=(-2, -0.5, 8, 3), resolution=0.05)
    path = ask(m, (-1.0, 1.2, 0.0), (2.5, 0.27, 0.0))
    assert not ways(path).all() and path[-1] == pytest.approx((2.5, 0.27, 0.0), abs=1e-4)
    assert m.gap_of(outlines(path.astype(float), CAR.footprint)).min() > 0.0


def test_there_is_no_path_to_a_goal_where_the_outline_does_not_fit():
    m = Map.from_shapes(segments=[[0, 0, 6, 0], [0, 0.5, 6, 0.5]], bounds=(-2, -2, 8, 3), resolution=0.05)
    lane = (3.0, 0.25)
    assert ask(m, (-1.5, 0.25, 0.0), (*lane, 0.0)) is not None
    assert ask(m, (-1.5, 0.25, 0.0), (*lane, math.nan)) is not None
    assert ask(m, (-1.5, 0.25, 0.0), (*lane, 1.5)) is None
    assert ask(m, (-1.5, 0.25, 0.0), (3.0, 0.01, math.nan)) is None
    assert ask(m, (-1.5, 0.25, 0.0), (9.0, 0.25, math.nan)) is None
    assert ask(m, (-1.5, 0.25, 0.0), (*lane, math.nan), footprint=()) is None


def test_a_start_whose_heading_nobody_knows_is_looked_at_from_all_sides():
    m = Map.open((-5.0, -4.0), (6.0, 4.0))
    any_heading = ask(m, (0.3, 0.2, math.nan), (4.0, 2.5, 1.0))
    check_drivable(any_heading, CAR.turning_radius)
    assert length(any_heading) <= length(ask(m, (0.3, 0.2, -2.5), (4.0, 2.5, 1.0))) - 1.0
    assert length(any_heading) < 1.03 * math.hypot(3.7, 2.3)


def test_a_robot_that_turns_in_place_gets_the_curves_that_the_planner_is_given():
    m = Map.from_shapes(segments=[[0, 0, 6, 0]], bounds=(-2, -4, 9, 4), resolution=0.05)
    for radius in (0.4, 1.1):
        disc = {"turning_radius": 0.0, "footprint": (), "radius": 0.3}
        path = ask(m, (2.0, -0.8, 0.0), (2.0, 0.8, math.nan), HybridAStar(turning_radius=radius), **disc)
        check_drivable(path, radius)


def test_it_leaves_a_wall_that_it_touches_on_its_own_side():
    m = Map.from_shapes(segments=[[2, 0, 2, 6]], bounds=(0, 0, 5, 7), resolution=0.05)
    path = ask(m, (1.8, 2.0, 1.7), (0.6, 5.0, math.nan), footprint=(), radius=0.4, turning_radius=0.6)
    assert (path[:, 0] < 2.0).all() and (m.clearance_at(path[np.hypot(*(path[:, :2] - path[0, :2]).T) > 0.8, :2]) > 0.375).all()


def test_costs_of_layers_lead_it_away():
    m = Map.open((0.0, 0.0), (8.0, 6.0), resolution=0.1)
    cost = np.zeros(m.shape, np.uint8)
    cost[20:40, 30:50] = 200
    there = (7.0, 3.0, math.nan)
    straight, round_it = ask(m, (1.0, 3.0, 0.0), there), ask(m, (1.0, 3.0, 0.0), there, cost=cost)
    inside = lambda p: ((p[:, 0] > 3.05) & (p[:, 0] < 4.95) & (p[:, 1] > 2.05) & (p[:, 1] < 3.95)).sum()  # noqa: E731
    assert inside(straight) > 15 and inside(round_it) <= 4


def test_discs_cover_the_outline(rng):
    for count in (1, 2, 4, 7):
        along, across, radius = cover(CAR.footprint, count)
        low, high = np.array(CAR.footprint).min(0), np.array(CAR.footprint).max(0)
        points = rng.uniform(low, high, (300, 2))
        gap = np.hypot(points[:, :1] - along, points[:, 1:] - across).min(axis=1)
        assert gap.max() <= radius + 1e-12
    assert radius < 0.17 < cover(CAR.footprint, 1)[2]


def test_the_cost_of_a_drive_is_that_of_a_fine_sum(rng):
    m = clutter(rng)
    along, across, radius = cover(CAR.footprint, 4)
    reach = float(np.hypot(np.abs(along).max(), across))
    ground = Ground(m.clearance, np.zeros((0, 0), np.uint8), 0.05, along, across, radius, radius, reach, 0.016, 1.0, 5.0)
    corner = np.array(m.origin) + 0.025
    places = m.centre_of(*np.nonzero(m.clearance > 0.45)) - corner
    both = 0
    for x, y in places[rng.choice(len(places), 60)]:
        heading, long, bend = rng.uniform(-3, 3), rng.uniform(-2.5, 2.5), rng.choice([0.0, 1.3, -1.3])
        poses = np.array([advance(x, y, heading, s, bend) for s in np.linspace(0, long, 400)])
        c, s = np.cos(poses[:, 2, None]), np.sin(poses[:, 2, None])
        discs = np.stack([poses[:, :1] + c * along - s * across, poses[:, 1:2] + s * along + c * across], axis=2)
        least = m.clearance_at(discs + corner).min(axis=1) - radius
        assert spare_clearance(ground, x, y, heading) <= least[0] + 1e-5
        cost = drive_cost(ground, x, y, heading, long, bend, 0.0)
        inside = ((poses[:, :2] > 0) & (poses[:, :2] < np.array(m.size) - 0.05)).all()
        if least.min() > 0.0 and inside:
            both |= 1
            factor = 1 + 0.016 * cost_of((least + radius).astype(np.float32), radius, 1.0, 5.0)
            assert cost == pytest.approx(abs(long) * factor.mean(), rel=0.03)
        elif least.min() < -0.02:
            both |= 2
            assert cost == math.inf
    assert both == 3


def test_a_blind_follower_gets_round_a_wall_in_a_lane_where_a_path_for_discs_leads_it_into_it():
    m = Map.from_shapes(
        segments=[[0, 0, 6, 0], [-1, -1.2, 8, -1.2], [8, -1.2, 8, 1.2], [8, 1.2, -1, 1.2], [-1, 1.2, -1, -1.2]],
        bounds=(-2, -4, 9, 4),
        resolution=0.05,
    )
    starts = [start((x, -0.6 + dy, 0.05), (1.0, 0.6, 0.0), place=m, model=CAR) for x in (1.0, 2.3) for dy in (-0.1, 0.1)]
    reached = {}
    for planner in (AStar(), HybridAStar()):
        played = Episodes(starts, PurePursuit(), replace(Conditions(), global_planner=planner))
        reached[type(planner)] = sum(r.outcome == Outcome.REACHED for _, recordings in played for r in recordings)
    assert reached[HybridAStar] == 4 > reached[AStar]


@pytest.mark.parametrize("fields", [{"reverse": "maybe"}, {"weight": 0.9}, {"cell": 0.0}, {"turn_cost": 0.5}, {"discs": 0}])
def test_parameters_that_make_no_sense_are_refused(fields):
    with pytest.raises(InputError, match=next(iter(fields))):
        HybridAStar(**fields)


@pytest.mark.parametrize(("kind", "asked"), [(HybridAStar, 1), (AStar, 2)])
def test_where_nothing_leads_to_the_goal_only_who_plans_for_a_disc_is_asked_for_a_smaller_one(kind, asked):
    radii = []

    class Counts(kind):
        def path(self, request):
            radii.append(request.radius)
            return super().path(request)

    m = Map.from_shapes(segments=[[2.0, -3.1, 2.0, 4.2]], bounds=(-2.3, -3.1, 6.4, 4.2))
    shut = start((0.4, 0.3, 0.2), (4.0, 1.0, 0.0), place=m, model=CAR, timeout=0.3)
    ((_, (made,)),) = Episodes([shut], PurePursuit(), replace(Conditions(), global_planner=Counts()))
    assert made.outcome == Outcome.TIMEOUT and (made.pose == made.pose[0]).all()
    assert radii == [CAR.radius, CAR.inscribed_radius][:asked]
