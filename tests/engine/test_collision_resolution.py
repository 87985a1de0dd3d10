"""People who yield: doors let everybody out, dense crowds walk, and nobody jumps or turns at once."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engine.test_published_collision_resolution_parity import crowded
from tests.engines import engine as engine_at
from tests.pedestrians.twins import clearance
from tests.starts import people, start

from agora.core.jit import bind
from agora.engine.collision_parts import ALL
from agora.engine.collision_resolution import keep_apart
from agora.engine.gait import Gait
from agora.maps.grid import Map
from agora.pedestrians.models.anticipation import Anticipation
from agora.pedestrians.models.helbing import Helbing
from agora.validation.flow import weidmann
from agora.world import records

DT = 0.05


def room(door, x=2.6, side=7.4, depth=6.0):
    """A room whose door, as wide as that, is at x in the middle of its right wall, and 14 m of floor behind it."""
    low, high, thick = -1.2, -1.2 + side, 0.3
    middle = 0.5 * (low + high)
    boxes = [
        (x - depth - thick, low - thick, x + thick, low),
        (x - depth - thick, high, x + thick, high + thick),
        (x - depth - thick, low, x - depth, high),
        (x, low, x + thick, middle - 0.5 * door),
        (x, middle + 0.5 * door, x + thick, high),
    ]
    walls = [[(a, b), (c, b), (c, d), (a, d)] for a, b, c, d in boxes]
    return Map.from_shapes(polygons=walls, bounds=(x - depth - 1, low - 5, x + 14, high + 5), resolution=0.05), x, middle


def walked(crowd, place, seconds, model=None, dt=DT, **more):
    """Places and velocities (T, P, 4) at every step."""
    one = start(
        pose=(place.origin[0] + 0.6, place.origin[1] + 0.6, 0.0), goal=(90.0, 90.0, 0.0), crowd=crowd, place=place, timeout=600.0
    )
    conditions = {"careful": True, "routes": True, "sees_robots": False} | more
    engine = engine_at([one], dt, crowd=model or Anticipation(), ends=0, **conditions)
    seen, n = [], len(crowd.id)
    for _ in range(round(seconds / dt)):
        engine.step()
        p = engine.world.pedestrians
        seen.append(np.stack([p.x[0, :n], p.y[0, :n], p.vx[0, :n], p.vy[0, :n]], -1))
    return np.array(seen, float)


def leaving(count, door, seed):
    """People who stand about in a room, and want to go to places beyond its door."""
    place, x, middle = room(door)
    rng = np.random.default_rng(seed)
    lattice = np.stack(np.meshgrid(np.arange(x - 5.2, x - 0.8, 0.9), np.arange(middle - 3.0, middle + 3.1, 0.9)), -1).reshape(-1, 2)
    places = rng.permutation(lattice)[:count] + rng.uniform(-0.1, 0.1, (count, 2))
    goals = np.stack([np.full(count, x + 12.0), middle + rng.uniform(-6.0, 6.0, count)], -1)
    return people(places, goals, speed=np.clip(rng.normal(1.34, 0.26, count), 0.82, 1.86)), place, x


@pytest.mark.parametrize("door", [0.8, 1.0, 1.2])
def test_all_of_twenty_get_out_by_a_door_as_quickly_as_people_do(door):
    flows = []
    for seed in range(4):
        crowd, place, x = leaving(20, door, seed)
        seen = walked(crowd, place, 45.0)
        out = np.sort(np.where((seen[..., 0] > x + 0.3).any(0), (seen[..., 0] > x + 0.3).argmax(0) * DT, np.inf))
        assert np.isfinite(out).all()
        flows.append(15.0 / (out[17] - out[2]) / door)
    assert 1.0 < np.mean(flows) < 2.1, flows  # persons per metre and second; of many more people 1.2 to 1.9
    assert min(flows) > 0.7, flows  # two people may block the narrowest door for some seconds


def test_slow_people_whom_walls_repel_go_through_a_narrow_door():
    place, x, middle = room(0.8)
    seen = walked(people([(x - 3.0, middle + 0.4)], [(x + 6.0, middle - 1.0)], speed=0.7), place, 25.0, Helbing())
    assert seen[-1, 0, 0] > x + 1.0


def test_two_crowds_pass_each_other_in_a_door():
    crowd, place, x = leaving(7, 0.9, 4)
    other = np.array([[2 * x + 0.3, 0.0]]) + crowd.position * (-1.0, 1.0)
    both = people(
        np.vstack([crowd.position, other]),
        np.vstack([other[::-1], crowd.position[::-1]]),
        speed=np.tile(crowd.speed, 2),
        first_id=5,
    )
    seen = walked(both, place, 60.0)
    assert ((seen[:, :7, 0] > x + 0.6).any(0) & (seen[:, 7:, 0] < x - 0.3).any(0)).all()


@pytest.mark.parametrize(("density", "off"), [(1.0, 0.2), (2.0, 0.2), (4.0, 0.25)])
def test_dense_crowds_walk_as_fast_as_recorded_people(density, off):
    side = np.sqrt(2.0 / (np.sqrt(3.0) * density))
    rng = np.random.default_rng(3)
    rows = np.arange(-0.6, 1.7, side * np.sqrt(3.0) / 2)
    places = np.array([(x + 0.5 * side * (k % 2), y) for k, y in enumerate(rows) for x in np.arange(-6.0, 14.0, side)])
    places += rng.uniform(-0.1, 0.1, places.shape) * side
    walls = [[(-9.0, y), (60.0, y), (60.0, y + 0.3), (-9.0, y + 0.3)] for y in (-1.3, 2.0)]
    place = Map.from_shapes(polygons=walls, bounds=(-9.0, -1.5, 60.0, 2.5), resolution=0.1)
    crowd = people(places, np.stack([np.full(len(places), 58.0), places[:, 1]], -1), speed=1.34)
    late = walked(crowd, place, 9.0, routes=False)[100:]
    there = (late[..., 0] > 0.0) & (late[..., 0] < 8.0)
    here = there.sum(1).mean() / (8.0 * 3.0)
    assert late[..., 2][there].mean() == pytest.approx(float(weidmann(here)), abs=off)
    assert late[..., 2][there].mean() > 0.1


def test_nobody_jumps_or_turns_at_once_in_a_crowd():
    crowd, place, _ = leaving(16, 1.0, 7)
    seen = walked(crowd, place, 12.0)
    velocity = seen[::2, :, 2:]
    change = np.hypot(*np.moveaxis(np.diff(velocity, axis=0), -1, 0))
    assert (change > 1.0).sum() <= 2  # in 16 x 12 s
    ways = np.diff(seen[::8, :, :2], axis=0)
    fast = np.hypot(ways[..., 0], ways[..., 1]) > 0.4 * 0.5
    angle = np.abs(np.angle(np.exp(1j * np.diff(np.arctan2(ways[..., 1], ways[..., 0]), axis=0))))
    assert ((angle > np.pi / 4) & fast[1:] & fast[:-1]).mean() < 0.02


def test_who_wants_to_go_back_turns_first():
    crowd = people([(0.0, 0.0)], [[(3.0, 0.5), (-6.0, 0.1)]], speed=1.3)
    seen = walked(crowd, Map.open((-9.0, -5.0), (9.0, 6.0)), 8.0)
    walks = np.hypot(seen[:, 0, 2], seen[:, 0, 3]) > 0.02
    turned = np.abs(np.angle(np.exp(1j * np.diff(np.arctan2(seen[:, 0, 3], seen[:, 0, 2])))))
    assert turned[walks[1:] & walks[:-1]].max() < 2.6 * DT
    assert not walks[40:].all()  # it comes to a stand in between
    assert np.hypot(*np.diff(seen[:, 0, 2:], axis=0).T).max() < 0.3
    assert seen[-1, 0, 0] < 0.0


def test_who_is_alone_at_its_place_stands_still():
    crowd = people([(0.0, 0.0)], [(2.0, 0.7)], speed=1.2)
    seen = walked(crowd, Map.open((-9.0, -5.0), (9.0, 6.0)), 12.0)
    assert np.hypot(*seen[-20:, 0, 2:].T).max() < 0.03


@pytest.mark.parametrize("spread", [0.5, 1.0])
def test_no_bodies_overlap_after_a_step_that_did_not_before(spread):
    h, tried = 0.05, 0
    for seed in range(6):
        crowd, v, number = crowded(seed, spread)
        people_, traits = crowd.pedestrians, crowd.traits
        worlds, slots = people_.x.shape
        clock = records.status(worlds, 2, slots, delay=0).clock
        clock.done[:] = False
        gait = Gait(*np.zeros((7, worlds, slots), np.float32))
        x, y = v[..., 0].copy(), v[..., 1].copy()
        given = (np.full_like(number, ALL), people_, traits, crowd.waypoints, records.replay(worlds, slots), crowd.robots)
        head = (np.float32(h), np.int64(1), np.int64(3))
        bind(keep_apart, *head, *given, crowd.robot_traits, crowd.maps, clock, gait, x, y)(0, worlds)
        for w in range(worlds):
            who = np.flatnonzero(people_.active[w])
            before = np.stack([people_.x[w, who], people_.y[w, who]], -1).astype(float)
            after = before + h * np.stack([x[w, who], y[w, who]], -1)
            bodies = traits.radius[w, who][:, None] + traits.radius[w, who]
            gaps = [np.hypot(*np.moveaxis(p[:, None] - p[None], -1, 0)) - bodies + 9.0 * np.eye(len(who)) for p in (before, after)]
            assert (gaps[1] >= np.minimum(gaps[0], 0.0) - 2e-3).all()
            free = [
                np.array([clearance(crowd.maps, crowd.maps.index[w], *p)[0] for p in q]) - traits.radius[w, who]
                for q in (before, after)
            ]
            assert (free[1] >= np.minimum(free[0], 0.0) - 0.03).all()  # the field is read between cells
            tried += len(who)
    assert tried > 100
