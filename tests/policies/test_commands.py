"""Commands and their consequences: closed forms of driving, braking and meeting, a plain twin of the kernel, and symmetry."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.policies.commands_twin import Twin

from agora.errors import InputError
from agora.interfaces import Costmap, Limits, Observation, Tracks
from agora.policies.command_rollouts import CONTEXT, FEATURES, ROBOT
from agora.policies.command_scene import SECTORS
from agora.policies.commands import COMMANDS, MIRROR, Commands, commands_of
from agora.testing import Move
from agora.testing.scenes import observation

SEE = Commands()
COUNT = len(COMMANDS)
AHEAD, STAND = 0, COMMANDS.tolist().index([0.0, 0.0, 0.0])
CELL = math.sqrt(2.0) * 0.1  # m; as much nearer than a point of it a cell of the map may be
TURNED = 0.7  # rad; no multiple of a quarter


def limits(rows: int = 1, **given: float) -> Limits:
    """Limits of robots that reach 1.5 m/s and 2.5 m/s2."""
    values = {"min_vx": -1.5, "max_vx": 1.5, "max_vy": 0.0, "max_omega": 1.8, "max_ax": 2.5, "max_ay": 2.5, "max_alpha": 3.2}
    values |= {"turning_radius": 0.0} | given
    return Limits(np.full(rows, values["max_vy"] > 0), *(np.full(rows, value, np.float32) for value in values.values()))


def scene(
    *,
    walls: dict[float, float] | None = None,
    people: list[tuple[float, ...]] | None = None,
    speed: float = 0.0,
    path: float = 9.0,
    beams: int = 181,
    **given: Any,
) -> Observation:
    """A robot of 0.3 m at (3, -2) on a straight path, and what is about it in its own frame.

    Args:
        walls: ranges of beams, m, by their angles, degrees.
        people: x, y, vx, vy, radius and group of each.
        speed: of the robot, m/s.
        path: length of the path ahead, m.
        beams: of the lidar, one a degree.
        given: limits.
    """
    pose, cosine, sine = np.array([[3.0, -2.0, TURNED]], np.float32), math.cos(TURNED), math.sin(TURNED)

    def placed(points: Any) -> Any:
        x, y = np.moveaxis(np.asarray(points, np.float64), -1, 0)
        return np.stack([cosine * x - sine * y, sine * x + cosine * y], -1)

    scan, half = np.full((1, beams), 30.0, np.float32), beams // 2
    for angle, reach in (walls or {}).items():
        scan[0, round(angle) + half] = reach
    some = np.array(people or [(50.0, 0.0, 0.0, 0.0, 0.3, -1)])
    here = pose[0, :2]
    tracks = Tracks(
        (placed(some[:, :2]) + here)[None].astype(np.float32),
        placed(some[:, 2:4])[None].astype(np.float32),
        some[None, :, 4].astype(np.float32),
        np.ones((1, len(some)), np.bool_),
        np.arange(len(some))[None],
        some[None, :, 5].astype(np.int64),
    )
    way = (placed([(0.0, 0.0), (path / 3, 0.0), (path, 0.0)]) + here)[None].astype(np.float32)
    return Observation(
        pose,
        np.array([[speed, 0.0, 0.0]], np.float32),
        np.append(way[0, -1], 0.0)[None].astype(np.float32),
        np.array([0.3], np.float32),
        np.zeros((1, 0, 2), np.float32),
        limits(**given),
        0.1,
        path=way,
        path_count=np.array([3], np.int32),
        pedestrians=tracks,
        scan=scan,
        scan_angles=np.radians(np.arange(beams) - half).astype(np.float32),
        scan_pose=np.zeros(3, np.float32),
        scan_range=30.0,
    )


def mapped(seen: Observation, points: Any, cost: int = 254) -> Observation:
    """The scene with a map, which has cells of a cost at points (P, 2) in the robots' frame."""
    corner = seen.pose[:, :2] - np.array([3.03, 2.96])
    costs = np.zeros((len(seen.pose), 60, 60), np.uint8)
    for n, heading in enumerate(seen.pose[:, 2]):
        turn = np.array([[math.cos(heading), math.sin(heading)], [-math.sin(heading), math.cos(heading)]])
        cells = np.floor((np.asarray(points) @ turn + seen.pose[n, :2] - corner[n]) / 0.1).astype(int)
        costs[n, cells[:, 1], cells[:, 0]] = cost
    return replace(seen, costmap=Costmap(costs, corner.astype(np.float32), 0.1))


def told(seen: Observation, command: int = AHEAD, see: Commands = SEE) -> np.ndarray:
    """The values of a command."""
    return see(seen)[0, CONTEXT:].reshape(COUNT, FEATURES)[command]


def gone(time: float, speed: float = 1.5, change: float = 2.5, step: float = 0.2) -> float:
    """The way of a robot that speeds up from rest in steps, m."""
    return sum(step * min(change * step * k, speed) for k in range(1, round(time / step) + 1))


def test_commands_are_shares_of_what_the_robot_can_do():
    choices = commands_of(limits(2))
    assert choices.twist[0, 0].tolist() == pytest.approx([1.5, 0.0, 0.0])
    assert choices.twist[..., 0].min() == pytest.approx(-0.4) and abs(choices.twist[..., 2]).max() == pytest.approx(1.8)
    assert choices.possible.sum() == 2 * (COUNT - 6)
    assert commands_of(limits(max_vy=0.5)).possible.all()
    assert commands_of(limits(min_vx=0.0)).twist[..., 0].min() == 0.0
    assert abs(commands_of(limits(max_omega=4.0)).twist[..., 2]).max() == 2.0
    curved = commands_of(limits(turning_radius=2.0)).twist[0]
    assert (abs(curved[:, 2]) <= abs(curved[:, 0]) / 2.0 + 1e-6).all() and abs(curved[:, 2]).max() == pytest.approx(0.75)


def test_a_command_leads_as_far_as_the_robot_can_speed_up():
    ahead = told(scene())
    assert ahead[23] * 1.6 == pytest.approx(gone(0.8), abs=1e-4)
    assert ahead[24] * 6.0 == ahead[25] * 6.0 == pytest.approx(gone(3.0), abs=1e-3)
    assert ahead[[26, 27]] == pytest.approx(0.0, abs=1e-3) and ahead[28:30] == pytest.approx([1.0, 0.0], abs=1e-3)
    assert told(scene(), STAND)[23:26] == pytest.approx(0.0, abs=1e-5)
    assert told(scene(path=1.0))[30] * 2.0 == pytest.approx(abs(1.0 - gone(0.8)), abs=1e-3)


def test_the_gap_to_somebody_who_comes_is_that_of_both_ways():
    person = (4.0, 0.0, -1.0, 0.0, 0.35, -1)
    ahead = told(scene(people=[person], speed=1.5))
    for feature, time in ((8, 0.4), (9, 0.8)):
        assert ahead[feature] * 1.5 == pytest.approx(min(4.0 - time - 1.5 * time - 0.65, 1.5), abs=1e-4)
    assert ahead[17] * 1.5 == pytest.approx(-0.15, abs=1e-4) and ahead[18] * 1.5 == pytest.approx(-0.3)  # no less is told
    stopped = told(scene(people=[person], speed=1.5))[20:23] * 1.5
    way = 1.5 * 0.8 + 0.2 * (1.0 + 0.5)  # it brakes by 0.5 m/s in each step
    assert stopped[0] == pytest.approx(4.0 - 1.4 - way - 0.65, abs=1e-4) and stopped[1] == pytest.approx(-0.15, abs=1e-4)
    away = told(scene(people=[(1.5, 0.0, 1.5, 0.0, 0.35, -1)], speed=1.5))
    assert away[[8, 9, 17, 18, 19]] * 1.5 == pytest.approx(0.85, abs=1e-4)


def test_nobody_counts_who_is_too_far_or_beyond_the_nearest():
    crowd = [(1.2 + 0.1 * k, 1.0, 0.0, 0.0, 0.3, -1) for k in range(4)]
    nearest = told(scene(people=crowd[:1]), see=Commands(people=1))
    assert told(scene(people=crowd), see=Commands(people=1)) == pytest.approx(nearest)
    assert told(scene(people=crowd), see=Commands(reach=1.0))[[8, 9]] == pytest.approx(1.0)


def test_a_command_is_impossible_where_the_robot_could_not_brake_before_a_wall():
    """At 1.5 m/s it goes 0.15 m on, and then 0.1 (1.25 + 1.0 + 0.75 + 0.5 + 0.25) m."""
    way = 0.15 + 0.375 + 0.3
    for margin in (0.03, 0.2):
        for room, possible in ((way + margin + 0.01, 1.0), (way + margin - 0.01, 0.0)):
            seen = scene(walls={angle: room / math.cos(math.radians(angle)) for angle in range(-2, 3)}, speed=1.5)
            assert told(seen, see=Commands(margin=margin))[0] == possible
    assert told(scene(walls={0: 0.9}, speed=1.5), STAND)[0] == 1.0


def test_a_wall_of_the_map_counts_where_the_lidar_does_not_look():
    backs, behind = COMMANDS.tolist().index([np.float32(-0.3).item(), 0.0, 0.0]), [(-0.4, y) for y in np.arange(-0.6, 0.6, 0.05)]
    seen = scene()
    near, clear = told(mapped(seen, behind), backs), told(seen, backs)
    assert near[0] == 0.0 and clear[0] == 1.0 and clear[6] == 1.0
    assert 0.1 - CELL < told(mapped(seen, behind), STAND)[6] <= 0.1
    assert told(mapped(scene(beams=361), behind), backs) == pytest.approx(told(scene(beams=361), backs))  # it looks all around
    ahead = [(-x, y) for x, y in behind]
    assert told(mapped(seen, ahead)) == pytest.approx(told(seen))  # the scan says that nothing is there
    assert told(mapped(seen, behind, cost=253), backs) == pytest.approx(clear)


def test_the_edge_of_the_map_is_a_wall_wherever_the_lidar_looks():
    edge = [(0.8, y) for y in np.arange(-0.6, 0.6, 0.05)]
    ahead = told(mapped(scene(speed=1.5), edge, cost=255))
    assert ahead[0] == 0.0 and told(scene(speed=1.5))[0] == 1.0
    assert 0.5 - CELL < told(mapped(scene(), edge, cost=255), STAND)[6] <= 0.5


def test_a_robot_that_is_too_near_to_a_wall_has_the_commands_that_leave_most_room():
    seen = scene(walls={0: 0.31})
    possible = SEE(seen)[0, CONTEXT:].reshape(COUNT, FEATURES)[:, 0] > 0.5
    assert not possible[AHEAD] and possible.any() and (commands_of(seen.limits).twist[0, possible, 0] <= 0.0).all()


def test_beams_that_have_met_a_person_are_no_walls():
    walls = {angle: 2.0 for angle in range(-5, 6)}
    assert told(scene(walls=walls))[15] == pytest.approx(-0.2)
    met = told(scene(walls=walls, people=[(2.2, 0.0, 0.0, 3.0, 0.3, -1)]))
    assert met[15] == pytest.approx(1.0)
    assert SEE(scene(walls=walls))[0, CONTEXT - SECTORS : CONTEXT].min() == pytest.approx(2.0 / 6.0)


def test_the_line_between_two_of_a_group_is_told():
    pair = [(1.0, 0.9, 0.0, 0.0, 0.2, 4), (1.0, -0.9, 0.0, 0.0, 0.2, 4)]
    assert told(scene(people=pair, speed=1.5))[31] * 1.5 == pytest.approx(1.0 - 0.9 - 0.3, abs=1e-3)  # 0.9 m after 0.6 s
    strangers = [(*person[:5], k) for k, person in enumerate(pair)]
    assert told(scene(people=strangers, speed=1.5))[31] == 1.0
    assert told(scene(people=[(*person[:5], -1) for person in pair], speed=1.5))[31] == 1.0


@pytest.mark.parametrize("given", [{}, {"max_vy": 0.6}, {"turning_radius": 0.5}])
def test_a_place_does_not_count_and_left_is_as_right(given):
    here, move = observation(rows=4, beams=96, **given), Move(-7.0, 4.5, 2.1)
    whole = SEE(here)
    assert SEE(observation(rows=4, beams=96, move=move, **given)) == pytest.approx(whole, abs=2e-3)
    flipped, scan = observation(rows=4, beams=96, move=Move(mirror=True), **given), here.scan[:, ::-1].copy()
    turned_beams = {"scan": scan, "scan_angles": -here.scan_angles[::-1], "scan_pose": here.scan_pose * np.float32([1, -1, -1])}
    mirrored = SEE(replace(flipped, twist=here.twist * np.float32([1, -1, -1]), **turned_beams))
    order, sign = MIRROR
    assert mirrored == pytest.approx(whole[:, order] * sign, abs=2e-3) and (order[order] == np.arange(SEE.length)).all()
    assert mirrored[:, :5] == pytest.approx(whole[:, :5]) and (abs(whole[:, CONTEXT:]) < 10.0).all()


def test_actions_are_numbers_of_commands():
    both, pose = limits(3), np.zeros((3, 3), np.float32)
    numbers = np.array([[4.0], [37.0], [47.0]], np.float32)
    twists = SEE.twists(numbers, both, pose, pose)
    assert twists == pytest.approx(commands_of(both).twist[np.arange(3), [4, 37, 47]])
    assert np.array_equal(SEE.actions(twists, both, pose, pose), numbers)
    assert np.isnan(SEE.twists(np.array([[np.nan]]), limits(), pose[:1], pose[:1])).all()


def test_what_is_wrong_is_said():
    with pytest.raises(InputError, match="sectors: must be a multiple of 32, is 40"):
        Commands(sectors=40)
    with pytest.raises(InputError, match="people"):
        Commands(people=0)
    with pytest.raises(InputError, match="lidar"):
        SEE(replace(scene(), scan=None))


@pytest.mark.parametrize(("seed", "given"), [(1, {}), (2, {"max_vy": 0.6}), (5, {"turning_radius": 0.5})])
def test_the_kernel_is_as_its_plain_twin(seed, given):
    see = Commands(people=3, reach=6.0, sectors=64)
    seen = observation(rows=2, pedestrians=6, seed=seed, beams=97, **given)
    angles = np.random.default_rng(seed).uniform(-3.1, 3.1, 40)
    seen = mapped(seen, np.stack([np.cos(angles), np.sin(angles)], -1) * np.linspace(0.5, 2.8, 40)[:, None])
    seen.costmap.cost[1, :5] = 255
    found = see(seen)[:, CONTEXT:].reshape(2, COUNT, FEATURES)
    for n in range(2):
        plain = Twin(seen, n, see)
        for command in (*range(0, COUNT, 5), COUNT - 1):
            expected = plain.values(command)
            apart = np.flatnonzero(abs(found[n, command] - expected) > 2e-3)
            assert not len(apart), (n, command, apart, found[n, command][apart], expected[apart])
    assert found[..., 8].std() > 0.01 and found[..., 6].std() > 0.01 and (found[:, AHEAD, ROBOT] <= 1.0).all()
