from __future__ import annotations

import numpy as np
import pytest
from tests.planners.local.cohan.test_planner import SHUT, scene_among

from agora.planners.local.cohan._modes import BACK_OFF, DUAL, OBSTACLES, PASS, SINGLE, find_retreat, is_at_door, next_mode
from agora.planners.local.cohan._people import MOVING, STATIC, STOPPED, STUCK

F = np.float32


def after(mode, clock, periods, distance=3.0, count=1, nearest=2.0, state=MOVING, moves=True, door=False):
    """The mode after some periods of 0.1 s in which nothing changes."""
    for _ in range(periods):
        mode = next_mode(mode, clock, F(0.1), F(distance), count, F(nearest), state, moves, door)
    return mode


def test_the_modes_come_one_after_the_other_where_nobody_gets_on():
    clock = np.zeros(4, F)
    assert after(SINGLE, clock, 3, count=0, state=0, moves=False) == SINGLE
    assert after(SINGLE, clock, 3, state=STATIC, moves=False) == SINGLE
    assert after(SINGLE, clock, 1, distance=2.9) == DUAL
    assert after(DUAL, clock, 19, distance=2.9) == DUAL
    assert after(DUAL, clock, 2, distance=2.9) == OBSTACLES
    assert after(OBSTACLES, clock, 10, distance=2.9) == OBSTACLES
    assert after(OBSTACLES, clock, 8, distance=2.9, state=STOPPED, moves=False) == OBSTACLES
    assert after(OBSTACLES, clock, 1, distance=2.9, state=STOPPED, moves=False) == BACK_OFF


@pytest.mark.parametrize(("nearest", "expected"), [(2.4, OBSTACLES), (2.6, DUAL)])
def test_only_somebody_near_makes_a_robot_that_is_held_give_up_two_bands(nearest, expected):
    assert after(DUAL, np.zeros(4, F), 25, nearest=nearest) == expected


def test_a_robot_that_gets_on_keeps_two_bands_and_one_alone_is_back_at_one():
    clock, mode = np.zeros(4, F), DUAL
    for k in range(40):
        mode = next_mode(mode, clock, F(0.1), F(9.0 - 0.07 * k), 1, F(2.0), MOVING, True, False)
    assert mode == DUAL
    assert after(DUAL, clock, 1, count=0, moves=False) == SINGLE
    assert after(OBSTACLES, clock, 1, count=0, moves=False) == SINGLE
    assert after(OBSTACLES, clock, 1, nearest=5.5) == DUAL


def test_a_person_who_goes_on_does_not_make_it_back_off():
    clock = np.zeros(4, F)
    assert after(OBSTACLES, clock, 40, state=MOVING) == OBSTACLES
    assert after(OBSTACLES, clock, 1, state=STUCK) == BACK_OFF


def test_a_door_is_passed_for_five_seconds_at_most():
    clock = np.zeros(4, F)
    assert after(DUAL, clock, 49, door=True) == PASS
    assert after(PASS, clock, 5, door=True) != PASS
    assert after(PASS, clock, 1, door=False) != PASS
    assert after(SINGLE, clock, 1, door=True) == PASS


@pytest.mark.parametrize(("gap", "deep", "x", "expected"), [(0.9, 0.2, 0.7, True), (1.6, 0.2, 0.7, False), (0.9, 0.2, 2.4, False)])
def test_a_door_is_narrow_with_room_before_it(gap, deep, x, expected):
    """A wall across the path ``x`` m ahead with a gap in it."""
    walls = [(x, sign * (0.5 * gap + 0.05 + 0.1 * k), 0.08) for sign in (-1, 1) for k in range(30)]
    scene, _names = scene_among((), walls)
    route = np.column_stack((0.1 * np.arange(30), np.zeros(30))).astype(F)
    assert is_at_door(scene, 0, route, 30, F(1.3)) == expected


def test_a_corridor_is_no_door():
    walls = [(0.1 * k, sign * 0.6, 0.08) for sign in (-1, 1) for k in range(-30, 40)]
    scene, _names = scene_among((), walls)
    route = np.column_stack((0.1 * np.arange(30), np.zeros(30))).astype(F)
    assert not is_at_door(scene, 0, route, 30, F(1.3))


def test_it_backs_off_beside_its_way_into_the_nearest_place_with_room():
    """In a 1.4 m corridor with a 2.4 m recess on the left behind the robot; and shut in."""
    sides = [(0.1 * k, -0.78, 0.08) for k in range(-40, 40)]
    recess = [(0.1 * k, 0.78, 0.08) for k in range(-40, 40) if not -28 < k < -3]
    niche = [(x, 0.8 + 0.1 * k, 0.08) for x in (-2.8, -0.3) for k in range(14)]
    out = np.zeros(3, F)
    scene, _names = scene_among((), [*sides, *recess, *niche])
    assert find_retreat(scene, 0, F(0.3), np.zeros((0, 3), F), 0, out)
    assert -2.2 < out[0] < -0.9 and out[1] > 0.1
    scene, _names = scene_among((), SHUT)
    assert not find_retreat(scene, 0, F(0.3), np.zeros((0, 3), F), 0, out)
