"""ORCA with robots that are asked only for velocities that they can track: NH-ORCA."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.planners.local.observations import beside, observe, tracks

from agora.episode import Conditions, Episodes
from agora.errors import InputError
from agora.maps.grid import Map
from agora.planners.local.orca import OrcaPlanner
from agora.planners.local.orca._tracking import track
from agora.planners.presets import named_planner
from agora.robots.model import load_robot
from agora.world.start import PedestrianStarts, RobotStart, Start

ERROR, TIME = 0.12, 0.4


def arcs(speed, angle, heading=0.7, time=TIME, max_omega=20.0):
    """Twists (N, 3) of robots that track velocities at angles (N,) to their heading."""
    angle = np.asarray(angle, np.float32)
    o = observe([(1.0, -2.0, heading)] * len(angle), [(0.0, 0.0)] * len(angle), holonomic=False, max_omega=max_omega)
    way = angle + heading
    twists = np.zeros((len(angle), 3), np.float32)
    track((speed * np.stack([np.cos(way), np.sin(way)], -1)).astype(np.float32), o, time, twists)
    return twists.astype(float)


def deviations(v, omega, speed, angle, time, times):
    """Distances (T,) of a robot that drives an arc for ``time`` and straight on at ``speed``, from the point at that velocity."""
    along = np.minimum(times, time)
    x, y = v / omega * np.sin(omega * along), v / omega * (1.0 - np.cos(omega * along))
    straight = np.maximum(times - time, 0.0) * speed
    x, y = x + straight * math.cos(angle), y + straight * math.sin(angle)
    return np.hypot(x - speed * times * math.cos(angle), y - speed * times * math.sin(angle))


@pytest.mark.parametrize("angle", [0.05, 0.6, -1.3, 1.9, 2.6, -3.1])
def test_the_arc_that_is_driven_is_the_one_of_the_paper_and_the_best(angle):
    speed, times = 0.9, np.linspace(0.0, 3.0 * TIME, 601)
    v, _, omega = arcs(speed, [angle])[0]
    assert omega * TIME == pytest.approx(angle, abs=1e-5)
    assert v == pytest.approx(speed * angle * math.sin(angle) / (2.0 * (1.0 - math.cos(angle))), abs=1e-5)
    away = deviations(v, omega, speed, angle, TIME, times)
    both = 2.0 * (1.0 - math.cos(angle))
    error = speed * TIME * math.sqrt((both - math.sin(angle) ** 2) / both)
    assert away.max() == pytest.approx(error, abs=1e-5) and away[200:] == pytest.approx(error, abs=1e-5)
    assert all(deviations(v + more, omega, speed, angle, TIME, times).max() > error for more in (-0.05, 0.05))


def test_who_cannot_turn_in_the_time_turns_as_fast_as_it_can():
    twists = arcs(0.5, [2.0, -2.8, 0.5], max_omega=1.6)
    assert twists[:, 2] == pytest.approx([1.6, -1.6, 0.5 / TIME], abs=1e-5)
    half = np.array([1.0, 1.4, 0.25])
    assert twists[:, 0] == pytest.approx(0.5 * half / np.tan(half), abs=1e-5)


def crowd(rng, rows=200):
    """Robots with two wheels among pedestrians and robots, beside a wall."""
    angle, away = rng.uniform(-np.pi, np.pi, (rows, 7)), rng.uniform(0.7, 3.0, (rows, 7))
    pose = np.column_stack([rng.uniform(-0.5, 0.3, rows), rng.uniform(-1, 1, rows), rng.uniform(-np.pi, np.pi, rows)])
    place = pose[:, None, :2] + away[..., None] * np.stack([np.cos(angle), np.sin(angle)], -1)
    moving = rng.normal(0, 0.5, (rows, 7, 2))
    goal = pose[:, :2] + rng.normal(0, 4.0, (rows, 2))
    twist = np.column_stack([rng.uniform(0, 1, rows), 0.0 * angle[:, 0], rng.normal(0, 0.5, rows)])
    bounds = dict(holonomic=False, max_vx=1.1, max_omega=1.8)
    seen = dict(pedestrians=tracks(place[:, :4], moving[:, :4]), robots=tracks(place[:, 4:], moving[:, 4:]))
    return beside(observe(pose, goal, twist=twist, **seen, **bounds), [[1.02, -4.0, 1.02, 4.0]])


@pytest.mark.parametrize("walls", ["discs", "edges"])
def test_no_robot_is_asked_for_a_velocity_that_it_tracks_worse_than_the_error(rng, walls):
    o = crowd(rng)
    twists = OrcaPlanner(tracking_error=ERROR, turning_time=TIME, walls=walls).act(o, {}).twists.astype(float)
    v, omega = twists[:, 0], twists[:, 2]
    free = (np.abs(omega) < 1.8 - 1e-4) & (np.abs(omega) > 1e-3)  # who turns at its limit turns for longer than TIME
    half = 0.5 * omega[free] * TIME
    speed = v[free] * np.tan(half) / half
    error = speed * TIME * np.abs(np.sin(half))
    assert len(error) > 80 and np.count_nonzero(error > 0.5 * ERROR) > 10
    assert error.max() < ERROR + 1e-5 and speed.max() < 1.1 + 1e-4
    any_velocity = OrcaPlanner(walls=walls).act(o, {}).twists
    assert np.mean(np.abs(any_velocity - twists).max(1) > 0.05) > 0.5


def test_robots_that_move_sideways_and_cars_drive_as_without(rng):
    o = crowd(rng, 60)
    rows = np.arange(60)
    limits = replace(o.limits, holonomic=rows % 2 == 0, turning_radius=np.where(rows % 2, 0.4, 0.0).astype(np.float32))
    o = replace(o, limits=limits)
    assert (OrcaPlanner(tracking_error=0.2).act(o, {}).twists == OrcaPlanner().act(o, {}).twists).all()


def test_a_mirrored_scene_has_a_mirrored_answer(rng):
    o = crowd(rng, 100)
    o = replace(o, costmap=None)
    flip = np.array([1.0, -1.0], np.float32)

    def flipped(seen):
        return replace(seen, position=seen.position * flip, velocity=seen.velocity * flip)

    around = dict(pedestrians=flipped(o.pedestrians), robots=flipped(o.robots))
    sides = dict(pose=o.pose * [1, -1, -1], goal=o.goal * [1, -1, 1], twist=o.twist * [1, -1, -1], path=o.path * flip)
    mirrored = replace(o, **around, **{key: value.astype(np.float32) for key, value in sides.items()})
    planner = OrcaPlanner(tracking_error=ERROR, wall_horizon=0.0)
    mine, other = planner.act(o, {}).twists, planner.act(mirrored, {}).twists
    assert np.mean(np.abs(mine * [1, -1, -1] - other).max(1) < 1e-4) > 0.95


@pytest.mark.parametrize("aside", [0.0, 0.01, -0.01])
def test_a_goal_right_behind_is_turned_to_by_one_side(aside):
    planner, heading, turned = OrcaPlanner(tracking_error=0.05), 0.0, []
    for _ in range(12):
        o = observe([(1.0, 2.0, heading)], [(-3.0, 2.0 + aside)], holonomic=False, dt=0.05)
        turned.append(planner.act(o, {}).twists[0, 2])
        heading += 0.05 * turned[-1]
    assert (np.sign(turned) == np.sign(turned[0])).all() and abs(heading) > 1.0


def met(number, radius, jitter, name="rlca"):
    """Robots on a circle that go to the places opposite, each put aside by up to ``jitter``, m; their headings are askew."""
    place, model, draw = Map.open((-12.3, -11.1), (11.2, 12.6)), load_robot(name), np.random.default_rng(5)

    def robot(k):
        angle = 0.3 + 2.0 * math.pi * k / number
        here = radius * np.array([math.cos(angle), math.sin(angle)]) + draw.uniform(-jitter, jitter, 2)
        return RobotStart(model, np.array([*here, angle + math.pi - 0.4 * k]), np.array([[*-here, 0.0]]))

    return Start("met", 1, place, tuple(robot(k) for k in range(number)), PedestrianStarts.none(), timeout=90.0)


def driven(planner, start):
    """Recordings of the robots of one world."""
    ((_, recordings),) = Episodes([start], named_planner(planner)[1].part, Conditions())
    return recordings


def gap(recordings):
    """The least distance between the edges of two robots while both drive, m."""
    steps = min(len(one.pose) for one in recordings)
    at = np.stack([one.pose[:steps, :2] for one in recordings])
    apart = np.hypot(*np.moveaxis(at[:, None] - at[None], -1, 0)) - 2.0 * recordings[0].radius
    return apart[np.triu_indices(len(at), 1)].min()


def test_two_robots_that_change_places_stay_apart_by_both_errors():
    recordings = driven("orca:tracking_error=0.1", met(2, 4.0, 0.1))
    assert all(one.outcome.label == "reached" for one in recordings)
    assert gap(recordings) > 0.2 - 0.01
    assert gap(driven("orca", met(2, 4.0, 0.1))) < 0.1


def test_of_twenty_robots_that_meet_none_touches_another():
    recordings = driven("nh_orca:tracking_error=0.1", met(20, 8.0, 0.3, "tiago"))
    assert [one.outcome.label for one in recordings] == 20 * ["reached"]
    assert gap(recordings) > 0.0
    assert gap(driven("orca", met(20, 8.0, 0.3, "tiago"))) < 0.0


def test_an_error_or_time_without_meaning_is_refused():
    for wrong in ({"tracking_error": -0.1}, {"turning_time": 0.0}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            OrcaPlanner(**wrong)
