"""Model predictive path integral control: its plain twin, closed forms, mirrors, walls and people."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tests.planners.local.driving import drive, look, moved
from tests.planners.local.dwa.test_planner import corners_of, row_of
from tests.planners.local.mppi.twin import command

from agora.core.recording import Reason
from agora.costmap.window import Window
from agora.episode import Conditions, Episodes
from agora.errors import InputError
from agora.interfaces import Tracks
from agora.maps.grid import Map
from agora.planners.local.mppi import Mppi
from agora.planners.local.mppi._planner import _noise
from agora.robots.model import load_robot
from agora.testing import observation
from agora.world.start import PedestrianStarts, RobotStart, Start

WINDOW = Window(size=6.0, sources=("map",))
TWIN = {"samples": 24, "time_steps": 8, "horizon": 1.2, "temperature": 2.0, "min_vel_x": -0.2}
START = (2.3, -4.1, 0.6)


def small(**fields):
    return Mppi(**{"window": Window(size=8.05, sources=("map",)), "horizon": 2.5} | fields)


def people(*rows):
    """Tracks of one robot: x, y, vx, vy, radius."""
    x = np.array(rows, np.float32).reshape(1, -1, 5)
    count = x.shape[1]
    ids = np.arange(count, dtype=np.int32)[None]
    return Tracks(x[..., :2], x[..., 2:4], x[..., 4], np.ones((1, count), np.bool_), ids, np.full((1, count), -1, np.int32))


@pytest.mark.parametrize(
    "kind", [{}, {"max_vy": 0.6}, {"turning_radius": 0.7, "corners": 4}], ids=["differential", "holonomic", "car"]
)
def test_the_kernel_drives_as_its_plain_twin(kind):
    planner = Mppi(
        window=Window(size=4.2, sources=("map",)), samples=24, time_steps=8, horizon=1.2, temperature=2.0, min_vel_x=-0.2
    )
    noise, close = _noise(24, 8, math.exp(-0.15)), 0
    for seed in (4, 5):
        seen = observation(6, 4, seed=seed, window=planner.window, **kind)
        answer = planner.act(seen, {})
        for n in range(6):
            discs = []
            for tracks in (seen.pedestrians, seen.robots):
                for q in np.flatnonzero(tracks.present[n]):
                    here, v = tracks.position[n, q].astype(float), tracks.velocity[n, q].astype(float)
                    discs.append((here + 0.15 * np.arange(1, 9)[:, None] * v, here, float(tracks.radius[n, q] + seen.radius[n])))
            row = row_of(seen, n)
            named = SimpleNamespace(**vars(planner), prune_plan=True)
            found = command(
                named, noise, corners=corners_of(planner, seen, n), discs=list(zip(*discs, strict=True)) or [[], [], []], **row
            )
            close += np.abs(found - answer.twists[n]).max() < 2e-3
    assert close >= 11  # a point on a cell's border may fall to either side


def test_on_an_empty_map_it_reaches_top_speed_drives_straight_and_stops_at_the_goal():
    goal = (START[0] + 5.0 * math.cos(0.6), START[1] + 5.0 * math.sin(0.6), 0.6)
    poses, twists = drive(small(), START, goal, 9.0)
    assert twists[:, 0].max() > 0.9
    aside = (poses[:, :2] - START[:2]) @ (-math.sin(0.6), math.cos(0.6))
    assert np.abs(aside).max() < 0.05
    assert math.dist(poses[-1, :2], goal[:2]) < 0.15
    assert abs(twists[-1, 0]) < 0.05
    time = 0.05 * np.argmax(np.hypot(*(poses[:, :2] - goal[:2]).T) < 0.3)
    assert 4.7 + 0.5 / 2.5 <= time < 7.5  # at 1 m/s and 2.5 m/s2 it cannot be sooner


@pytest.mark.parametrize("name", ["youbot", "rto"])
def test_a_robot_that_is_as_fast_sideways_as_ahead_drives_straight_ahead_and_faces_its_way(name):
    goal = np.array([[14.0, 4.0, 0.0]])
    place = Map.from_shapes(bounds=(0.0, 0.0, 16.0, 8.0), resolution=0.05, segments=[(0.0, 0.0, 16.0, 0.0)], name="hall")
    robot = RobotStart(load_robot(name), np.array([2.0, 4.0, 0.0]), goal)
    begun = Start(f"hall/{name}", 1, place, (robot,), PedestrianStarts.none(), timeout=20.0)
    ((_, (made,)),) = Episodes([begun], Mppi(), Conditions())
    assert made.outcome.label == "reached" and np.abs(made.pose[:, 2]).max() < 0.35
    assert np.hypot(*np.diff(made.pose[:, :2], axis=0).T).sum() < 12.0


def test_who_has_the_goal_behind_turns_round():
    goal = (START[0] - 3.0 * math.cos(0.6), START[1] - 3.0 * math.sin(0.6), 0.0)
    poses, _ = drive(small(), START, goal, 9.0)
    assert math.dist(poses[-1, :2], goal[:2]) < 0.2


def test_mirrored_scenes_have_mirrored_commands():
    planner = small()
    for aside, vy in ((0.3, -0.4), (-0.15, 0.1)):
        answers = []
        for side in (1.0, -1.0):
            seen = look((0.025, 0.025, 0.0), (0.4, 0.0, 0.2 * side), (4.0, 0.025, 0.0), discs=[(1.4, 0.7 * side, 0.3)], size=6.05)
            seen = replace(seen, pedestrians=people((1.5, aside * side, -0.8, vy * side, 0.25)))
            answers.append(planner.act(seen, {}).twists[0])
        assert answers[0] == pytest.approx(answers[1] * (1, -1, -1), abs=0.01)


def test_two_calls_and_two_planners_answer_alike_and_a_plan_goes_on_where_it_was():
    seen = look(START, (0.2, 0.0, 0.1), (6.0, -2.0, 0.0))
    one, other = small().act(seen, {}), small().act(seen, {})
    assert one.twists.tobytes() == other.twists.tobytes()
    later = small().act(seen, one.memory)
    assert np.abs(later.memory["plan"]["controls"]).max() > 0.2


def test_a_wall_all_round_stops_it():
    ring = [(START[0] + 0.75 * math.cos(a), START[1] + 0.75 * math.sin(a), 0.3) for a in np.linspace(0, 2 * math.pi, 16)]
    answer = small().act(look(START, (0.2, 0.0, 0.1), (6.0, -2.0, 0.0), discs=ring), {})
    assert answer.twists[0] == pytest.approx((0.2 - 2.5 * 0.05, 0.0, 0.0), abs=0.05)


def test_in_a_wall_it_brakes_and_says_why():
    answer = small().act(look(START, (0.2, 0.0, 0.1), (6.0, -2.0, 0.0), discs=[(2.65, -4.1, 0.1)]), {})
    assert answer.twists[0] == pytest.approx((0.2 - 2.5 * 0.05, 0.0, 0.0), abs=1e-6)
    assert answer.notes["reason"][0] == Reason.START_IN_CONTACT


def passing(planner, prediction_sees=None, speed=-1.0, seconds=6.0):
    """Closest gap and largest deviation of a robot that meets a person head-on, 0.1 m to its left."""
    pose, twist, memory, person = (0.0, 0.0, 0.0), (0.6, 0.0, 0.0), {}, np.array((5.0, 0.1))
    gap, aside = np.inf, 0.0
    for _ in range(round(seconds / 0.1)):
        seen = look(pose, twist, (9.0, 0.0, 0.0), path=np.linspace((0, 0), (9, 0), 90), dt=0.1, size=8.05)
        seen = replace(seen, pedestrians=people((*person, speed, 0.0, 0.25)))
        answer = planner.act(seen, memory)
        twist, memory = tuple(answer.twists[0].tolist()), answer.memory
        pose, person = moved(pose, twist, 0.1), person + 0.1 * np.array((speed, 0.0))
        gap, aside = min(gap, math.dist(pose[:2], person) - 0.55), max(aside, abs(pose[1]))
    return gap, aside


def test_it_steps_aside_for_who_comes_towards_it():
    gap, aside = passing(small())
    assert gap > 0.1
    assert aside > 0.3
    careful, _ = passing(small(people_scale=100.0))
    assert careful > gap


def test_it_drives_out_from_under_a_person_who_touches_it():
    seen = replace(look(START, (0.0, 0.0, 0.0), (6.0, -2.0, 0.0)), pedestrians=people((2.0, -4.3, 0.0, 0.0, 0.3)))
    answer = small().act(seen, {})
    assert answer.twists[0, 0] > 0.05


def test_absurd_fields_are_refused_by_name():
    for fields in ({"samples": 2}, {"temperature": 0.0}, {"time_steps": 1}, {"people_distance": 0.0}):
        with pytest.raises(InputError, match=next(iter(fields))):
            Mppi(**fields)
