"""Crowds to test crowd models on: crooked maps, slots that are not in use in the middle, robots, groups."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.ndimage import distance_transform_edt

from agora.core import state
from agora.core.jit import bind
from agora.interfaces import CrowdRecord


class Crowd(NamedTuple):
    pedestrians: state.Pedestrians
    traits: state.Traits
    waypoints: state.Waypoints
    robots: state.Robots
    robot_traits: state.RobotTraits
    maps: state.Maps


def maps_of(clearances, resolution, origins, index):
    """Maps from clearance arrays (rows, columns)."""
    starts = np.cumsum([0] + [c.size for c in clearances])[:-1].astype(np.int64)
    flat = np.concatenate([c.ravel() for c in clearances]).astype(np.float32)
    rows, columns = np.array([c.shape for c in clearances], np.int32).T.copy()
    origin = np.array(origins, np.float32)
    bounds = np.zeros(len(clearances), np.int32)
    return state.Maps(
        np.array(index, np.int32), starts, starts, rows, columns, np.full(len(rows), resolution, np.float32),
        origin[:, 0].copy(), origin[:, 1].copy(), (flat == 0).astype(np.uint8), flat, flat,
        np.zeros((0, 4), np.float32), np.zeros((0, 3), np.float32), bounds, bounds, bounds, bounds,
    )  # fmt: skip


def open_plain(worlds=1):
    """A map without obstacles, on which every clearance is 100 m."""
    return maps_of([np.full((3, 4), 100.0)], 50.0, [(-101.0, -73.0)], [0] * worlds)


def wall_at(x, worlds=1):
    """A map with one straight wall: the clearance of a point is its distance to the line x = ``x``, m."""
    columns = np.abs(-40.0 + 0.1 * (np.arange(801) + 0.5) - x)
    return maps_of([np.tile(columns, (3, 1))], 0.1, [(-40.0, -0.15)], [0] * worlds)


def rooms(worlds):
    """Two maps of different, not square size with walls and pillars."""
    clearances = []
    for seed, shape in enumerate(((130, 170), (150, 110))):
        rng = np.random.default_rng(seed)
        free = np.ones(shape, bool)
        free[[0, -1]] = free[:, [0, -1]] = False
        for _ in range(6):
            row, column = rng.integers(10, 90, 2)
            free[row : row + rng.integers(2, 9), column : column + rng.integers(2, 12)] = False
        clearances.append(0.1 * distance_transform_edt(free))
    return maps_of(clearances, 0.1, [(-3.7, 2.3), (1.9, -6.1)], np.arange(worlds) % 2)


def empty(worlds, slots, robots, maps):
    return Crowd(
        state.pedestrians(worlds, slots), state.traits(worlds, slots), state.waypoints(worlds, slots, 1),
        state.robots(worlds, robots), state.robot_traits(worlds, robots), maps,
    )  # fmt: skip


def random_crowd(rng, counts=(23, 0, 1, 14), slots=32, robots=2):
    """Worlds of so many active pedestrians each, scattered over more slots than that; a third of them walks in groups."""
    crowd = empty(len(counts), slots, robots, rooms(len(counts)))
    people, traits, waypoints, machines = crowd.pedestrians, crowd.traits, crowd.waypoints, crowd.robots
    for w, count in enumerate(counts):
        m = crowd.maps.index[w]
        corner = np.array([crowd.maps.origin_x[m], crowd.maps.origin_y[m]])
        size = 0.1 * np.array([crowd.maps.columns[m], crowd.maps.rows[m]])
        used = np.sort(rng.permutation(min(slots, count + 6))[:count])
        people.active[w, used] = True
        traits.count[w] = used[-1] + 1 if count else 0
        for x, y in ((people.x, people.y), (waypoints.x, waypoints.y), (machines.x, machines.y)):
            x[w], y[w] = (corner[:, None] + size[:, None] * rng.uniform(0.03, 0.97, (2, x.shape[1]))).astype(np.float32)
        people.vx[w], people.vy[w] = rng.normal(0.0, 0.7, (2, slots))
        machines.world_vx[w], machines.world_vy[w] = rng.normal(0.0, 0.5, (2, robots))
        traits.radius[w], traits.speed[w] = rng.uniform(0.2, 0.35, slots), rng.uniform(0.6, 1.6, slots)
        traits.group[w] = np.where(rng.random(slots) < 0.4, rng.integers(0, 4, slots), -1)
        waypoints.mode[w], waypoints.index[w], waypoints.count[w] = rng.integers(0, 3, slots), 1, rng.integers(1, 4, slots)
        machines.active[w] = np.arange(robots) != 1
        crowd.robot_traits.radius[w] = rng.uniform(0.2, 0.5, robots)
        gather_groups(people, traits.group[w], w, rng)
    return crowd


def gather_groups(people, group, w, rng):
    """Bring the members of each group within some metres of each other."""
    for g in np.unique(group[group >= 0]):
        members = np.flatnonzero(group == g)
        people.x[w, members] = people.x[w, members[0]] + rng.normal(0.0, 0.9, members.size)
        people.y[w, members] = people.y[w, members[0]] + rng.normal(0.0, 0.9, members.size)


def placed(position, velocity=None, goal=None, speed=1.3, radius=0.25, group=None, maps=None):
    """One world of the given pedestrians, in slots 0, 1, ...; by default they stand still and are where they want to be."""
    position = np.asarray(position, np.float64)
    n = len(position)
    crowd = empty(1, state.padded_slots(n), 0, maps or open_plain())
    goal = position if goal is None else np.asarray(goal, np.float64)
    velocity = np.zeros((n, 2)) if velocity is None else np.asarray(velocity, np.float64)
    people, waypoints = crowd.pedestrians, crowd.waypoints
    for row, values in zip((people.x, people.y), position.T, strict=True):
        row[0, :n] = values
    for row, values in zip((people.vx, people.vy, waypoints.x, waypoints.y), [*velocity.T, *goal.T], strict=True):
        row[0, :n] = values
    people.active[0, :n] = True
    crowd.traits.count[0] = n
    crowd.traits.radius[0, :n], crowd.traits.speed[0, :n] = radius, speed
    if group is not None:
        crowd.traits.group[0, :n] = group
    return crowd


def with_robot(crowd, position, velocity=(0.0, 0.0), radius=0.25):
    """The crowd and one robot in every world."""
    worlds = len(crowd.maps.index)
    robots, traits = state.robots(worlds, 1), state.robot_traits(worlds, 1)
    robots.x[:], robots.y[:] = position
    robots.world_vx[:], robots.world_vy[:] = velocity
    robots.active[:] = True
    traits.radius[:] = radius
    return crowd._replace(robots=robots, robot_traits=traits)


def repadded(crowd, slots):
    """The same crowd in more slots."""

    def wider(record):
        out = []
        for a in record:
            if a.ndim >= 2:
                pad = [(0, 0), (0, slots - a.shape[1])] + [(0, 0)] * (a.ndim - 2)
                a = np.pad(a, pad, mode="edge") if a.dtype != np.bool_ else np.pad(a, pad)
            out.append(a)
        return type(record)(*out)

    return crowd._replace(pedestrians=wider(crowd.pedestrians), traits=wider(crowd.traits), waypoints=wider(crowd.waypoints))


def one_world(crowd, w):
    """World ``w`` alone."""

    def row(record):
        return type(record)(*(a[w : w + 1].copy() for a in record))

    maps = crowd.maps._replace(index=crowd.maps.index[w : w + 1].copy())
    return Crowd(row(crowd.pedestrians), row(crowd.traits), row(crowd.waypoints), row(crowd.robots), row(crowd.robot_traits), maps)


def forces(model, crowd, sees=3, dt=0.1):
    """Return the output of the model's kernel, (W, P, 2)."""
    out = np.full((2, *crowd.pedestrians.x.shape), np.nan, np.float32)
    record = CrowdRecord(np.float32(dt), np.int64(sees), *crowd)
    bind(model.kernel(), model.parameters(), record, out[0], out[1])(0, len(crowd.maps.index))
    return np.stack(out, axis=-1)
