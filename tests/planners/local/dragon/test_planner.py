"""Dragon: gaps where they are, doors that are wide enough, and its plain twin."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.planners.local.dragon import twin
from tests.planners.local.observations import observe
from tests.starts import start

from agora.core.recording import Reason
from agora.episode import Conditions, Episodes
from agora.errors import InputError
from agora.maps.grid import Map
from agora.planners.local.dragon import Dragon
from agora.planners.presets import named_planner
from agora.robots.model import load_robot
from agora.world.records import END_WALL

JACKAL = load_robot("jackal_barn")
MOUNT = (0.12, -0.03, 0.05)
BOX = [(0.25, 0.215), (-0.25, 0.215), (-0.25, -0.215), (0.25, -0.215)]
POSE = (3.2, -1.7, 0.6)


def cast(pose, angles, walls, mount=MOUNT, farthest=8.0):
    """Ranges of beams from a robot's sensor to walls (S, 4)."""
    c, s = math.cos(pose[2]), math.sin(pose[2])
    x, y = pose[0] + c * mount[0] - s * mount[1], pose[1] + s * mount[0] + c * mount[1]
    ranges = np.full(len(angles), farthest)
    for k, angle in enumerate(np.asarray(angles) + mount[2] + pose[2]):
        ux, uy = math.cos(angle), math.sin(angle)
        for ax, ay, bx, by in walls:
            ex, ey = bx - ax, by - ay
            cross = ux * ey - uy * ex
            if abs(cross) > 1e-12:
                along, share = ((ax - x) * ey - (ay - y) * ex) / cross, ((ax - x) * uy - (ay - y) * ux) / cross
                ranges[k] = min(ranges[k], along) if along > 0 and 0 <= share <= 1 else ranges[k]
    return ranges


def placed(pose, walls):
    """Walls (S, 4) of a robot's frame in the map's."""
    c, s = math.cos(pose[2]), math.sin(pose[2])
    ends = np.asarray(walls, float).reshape(-1, 2) @ np.array([[c, s], [-s, c]]) + pose[:2]
    return ends.reshape(-1, 4)


def seen(poses, goals, scans, angles, mount=MOUNT, box=True, farthest=8.0, **bounds):
    """The observation of robots with scans (N, B)."""
    given = {"holonomic": False, "max_vx": 1.0, "max_ax": 2.5, "max_alpha": 9.0} | bounds
    o = observe(poses, goals, radius=0.33, **given)
    corners = np.array([BOX] * len(poses) if box else np.zeros((len(poses), 0, 2)), np.float32)
    return replace(
        o,
        footprint=corners,
        scan=np.asarray(scans, np.float32),
        scan_angles=np.asarray(angles, np.float32),
        scan_pose=np.array(mount, np.float32),
        scan_range=farthest,
    )


def remembered(answer, row=0):
    """The middles (G, 2) of the gaps that a row remembers."""
    return answer.memory["gaps"][row][answer.memory["state"][row] > 0][:, :2]


FAN = np.linspace(-2.3, 2.3, 301)
TURN = np.linspace(0.0, 2 * math.pi, 400, endpoint=False)


@pytest.mark.parametrize("angles", [FAN, TURN])
@pytest.mark.parametrize("aside", [0.0, 0.3])
def test_the_gap_between_two_walls_is_found_in_its_middle(angles, aside):
    walls = placed(POSE, [(2.0, 0.5 + aside, 2.0, 6.0), (2.0, -0.7 + aside, 2.0, -6.0), (5.0, -6.0, 5.0, 6.0)])
    o = seen([POSE], [placed(POSE, [(9.0, 0.0, 9.0, 0.0)])[0, :2]], [cast(POSE, angles, walls)], angles)
    answer = Dragon().act(o, {})
    middle = placed(POSE, [(2.0, -0.1 + aside, 0.0, 0.0)])[0, :2]
    away = np.hypot(*(remembered(answer) - middle).T)
    assert away.min() < 0.05 and answer.memory["current"][0] > 0
    place = answer.memory["gaps"][0, answer.memory["current"][0] - 1]
    assert np.hypot(*(place[:2] - middle)) < 0.05
    assert np.hypot(*(place[2:4] - place[4:6])) == pytest.approx(1.2, abs=0.1)


def test_a_jump_that_is_too_small_and_a_plain_wall_are_no_gaps():
    for walls in ([(2.0, -6.0, 2.0, 6.0)], [(2.0, -6.0, 2.0, 0.3), (2.5, 0.3, 2.5, 6.0)]):
        there = placed(POSE, walls)
        o = seen([POSE], [placed(POSE, [(9.0, 0.0, 9.0, 0.0)])[0, :2]], [cast(POSE, FAN, there)], FAN)
        assert len(remembered(Dragon(range_cap=2.4).act(o, {}))) == 0


def test_a_gap_is_forgotten_where_something_stands_in_it_and_kept_where_it_is_out_of_sight():
    walls = [(2.0, 0.5, 2.0, 6.0), (2.0, -0.7, 2.0, -6.0), (5.0, -6.0, 5.0, 6.0)]
    goal = placed(POSE, [(9.0, 0.0, 9.0, 0.0)])[:, :2]
    middle = placed(POSE, [(2.0, -0.1, 0.0, 0.0)])[0, :2]
    planner = Dragon()
    before = planner.act(seen([POSE], goal, [cast(POSE, FAN, placed(POSE, walls))], FAN), {})

    def has(answer):
        return bool((np.hypot(*(remembered(answer) - middle).T) < 0.1).any())

    aside = [(1.0, -1.2, 1.0, 1.2)]  # hides it
    inside = [(2.0, -0.2, 2.0, 0.0)]
    for more, kept in ((aside, True), (inside, False)):
        scan = cast(POSE, FAN, placed(POSE, walls + more))
        assert has(before) and has(planner.act(seen([POSE], goal, [scan], FAN), before.memory)) is kept
    elsewhere = planner.act(seen([POSE], goal + 0.5, [cast(POSE, FAN, placed(POSE, aside))], FAN), before.memory)
    assert not has(elsewhere), "another goal begins anew"


def test_where_there_is_no_room_the_farthest_gap_is_forgotten():
    poles = [(x, y, x, y + 0.2) for x, y in ((1.6, 1.5), (2.5, -1.0), (3.5, 0.6), (4.0, -2.4), (4.5, 2.6), (2.0, 3.0), (1.5, -2.6))]
    walls = placed(POSE, [*poles, (6.5, -9.0, 6.5, 9.0)])
    o = seen([POSE], [placed(POSE, [(9.0, 0.0, 9.0, 0.0)])[0, :2]], [cast(POSE, FAN, walls)], FAN)
    every, few = remembered(Dragon().act(o, {})), remembered(Dragon(gaps=3).act(o, {}))
    assert len(every) > 5 and len(few) == 3

    def away(places):
        return np.sort(np.hypot(*(places - POSE[:2]).T))

    assert away(few).mean() < away(every).mean()


def doorway(width, model=JACKAL, planner="dragon", y=0.4):
    """The recording of a robot whose goal lies behind a wall with a door."""
    wall = [(3.0, -4.0, 3.0, y - width / 2), (3.0, y + width / 2, 3.0, 8.0), (-2.0, -4.0, 8.0, -4.0), (-2.0, 8.0, 8.0, 8.0)]
    place = Map.from_shapes(bounds=(-2.0, -4.0, 8.0, 8.0), segments=np.array(wall))
    begun = start(pose=(0.0, 0.9, -0.3), goal=(6.0, 0.1, 0.0), model=model, timeout=30.0, place=place)
    ((_, (made,)),) = Episodes([begun], named_planner(planner)[1].part, Conditions(ends=END_WALL))
    return made


@pytest.mark.parametrize("planner", ["dragon", "dragon_barn:stop=0.2"])
def test_a_jackal_passes_a_doorway_of_80_centimetres_and_refuses_one_of_45(planner):
    assert doorway(0.8, planner=planner).outcome.label == "reached"
    refused = doorway(0.45, planner="dragon")
    assert refused.outcome.label == "timeout" and refused.pose[:, 0].max() < 3.0
    assert Reason.BLOCKED in refused.reason


def test_the_published_widths_are_those_of_a_jackal_and_others_have_its_margins():
    for model, widths in ((JACKAL, (0.48, 0.65, 0.57, 0.8)), (load_robot("burger"), (0.276, 0.446, 0.366, 0.596))):
        o = seen([POSE], [(0.0, 0.0)], [np.full(3, 5.0)], FAN[:3], box=model is JACKAL)
        sizes, body, _ = Dragon().sizes(replace(o, radius=np.array([model.radius], np.float32)))
        assert sizes[0, :4] == pytest.approx(widths, abs=1e-6)
        assert body[0] == pytest.approx((0.25, 0.25, 0.215) if model is JACKAL else (0.113, 0.0, 0.113), abs=1e-6)


@pytest.mark.parametrize(
    ("scan", "drives"),
    [(0.0, False), (np.nan, False), (8.0, True), ([np.nan, 0.0] * 150 + [8.0], False), ([np.nan, 8.0] * 150 + [8.0], True)],
)
def test_it_stands_where_no_beam_says_anything_or_all_are_zero_and_drives_where_nothing_is_near(scan, drives):
    scans = np.broadcast_to(np.asarray(scan, float), (1, len(FAN)))
    answer = Dragon().act(seen([POSE], [placed(POSE, [(5.0, 0.0, 0.0, 0.0)])[0, :2]], scans, FAN), {})
    assert (answer.twists[0, 0] > 0.9) == drives
    assert answer.notes["reason"][0] == (Reason.NONE if drives else Reason.BLOCKED)


def test_a_robot_without_a_lidar_is_refused():
    with pytest.raises(InputError, match="no lidar"):
        Dragon().act(observe([POSE], [(0.0, 0.0)]), {})


def test_a_mirrored_place_turns_it_to_the_other_side():
    walls = np.array([(1.2, -0.1, 1.2, -3.0), (2.6, 0.8, 2.6, 4.0), (5.0, -6.0, 5.0, 6.0)])
    twists = []
    for side in (1.0, -1.0):
        there = walls * (1.0, side, 1.0, side)
        scan = cast((0.0, 0.0, 0.0), FAN, there, (0.1, 0.0, 0.0))
        o = seen([(0.0, 0.0, 0.0)], [(7.0, -0.4 * side)], [scan], FAN, (0.1, 0.0, 0.0))
        twists.append(Dragon().act(o, {}).twists[0])
    one, other = twists
    assert one[0] == pytest.approx(other[0], abs=1e-4) and one[2] == pytest.approx(-other[2], abs=2 * 2.0 * (FAN[1] - FAN[0]))
    assert abs(one[2]) > 0.1


def test_it_is_its_plain_twin(rng):
    """Scenes of poles and walls, each of a few scans from a robot that moves on; a choice on the edge may fall the other way."""
    scenes, steps = 24, 5
    differ = []
    angles = [FAN, TURN]
    for scene in range(scenes):
        fan = angles[scene % 2]
        poles = rng.uniform((-4, -5), (7, 5), (14, 2))
        poles = poles[np.hypot(*poles.T) > 0.8]
        walls = placed(POSE, [*((x, y - 0.12, x + 0.1, y + 0.12) for x, y in poles), (7.5, -9.0, 7.5, 3.0 * rng.random())])
        goal = placed(POSE, [(9.0, 3.0 * rng.normal(), 0.0, 0.0)])[0, :2]
        planner, memory = Dragon(speed=0.8), {}
        limits = (1.0, 2.5, 2.0, 9.0)
        other = twin.Dragon((0.48, 0.65, 0.57, 0.8, 0.3), (0.25, 0.25, 0.215), 0.05, limits, 0.05, 0.8, cap=8.0)
        pose = np.array(POSE)
        for _ in range(steps):
            scan = np.where(rng.random(len(fan)) < 0.02, np.nan, cast(pose, fan, walls)).astype(np.float32)
            at = pose.astype(np.float32)
            answer = planner.act(seen([at], [goal], [scan], fan), memory)
            memory, (v, w) = answer.memory, other.twist(at.astype(float), goal, scan, fan, MOUNT)
            differ.append(max(abs(answer.twists[0, 0] - v), abs(answer.twists[0, 2] - w)))
            pose += (0.3 * math.cos(pose[2]), 0.3 * math.sin(pose[2]), 0.15)
    print("SHARE", np.mean(np.array(differ) < 1e-3), np.sort(differ)[-8:])
    assert np.mean(np.array(differ) < 1e-3) > 0.97
