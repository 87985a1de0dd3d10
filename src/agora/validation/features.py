"""The features of a walker that a classifier uses: summaries over a window that do not reveal place, time or scene."""

from __future__ import annotations

import numpy as np

from agora.core.state import Array, Doubles
from agora.validation.stretches import STEP
from agora.validation.window import TrackWindow, apart

NEIGHBOURS = 3
_FAR = 6.0  # m, distance to neighbours that is assumed for a person who is alone
_LONG = 8.0  # s, time to collision that is assumed for people who do not approach
_MOVES = 0.1  # m/s, speed below which a direction is meaningless
_SIZES = (0.8, 1.5, 3.0)  # m, radii within which people are counted


def features(seen: TrackWindow) -> Doubles:
    """Return the features (N, F), one row per walker, which describe the walker's motion, its neighbours over time, and walls."""
    found: Doubles = np.nan_to_num(np.concatenate([_own(seen), _among(seen), _walls(seen)], 1))
    return found


def _own(seen: TrackWindow) -> Doubles:
    """Return the features of each walker's own motion: speed, acceleration, turning and the shape of the path."""
    n = seen.walkers
    place, velocity = seen.position[:, :n], seen.velocity[:, :n]
    speed = np.hypot(velocity[..., 0], velocity[..., 1])
    ahead = _along(velocity)
    change = np.diff(velocity, axis=0) / STEP
    faster = (change * ahead[:-1]).sum(-1)
    aside = np.abs(_cross(ahead[:-1], change))
    turn = np.abs(np.arctan2(_cross(ahead[:-1], ahead[1:]), (ahead[:-1] * ahead[1:]).sum(-1)))
    way, chord = np.hypot(*np.moveaxis(np.diff(place, axis=0), -1, 0)).sum(0), place[-1] - place[0]
    length = np.hypot(*chord.T)
    off = np.abs(_cross(chord / np.maximum(length, 1e-9)[:, None], place - place[0]))
    return np.stack(
        [
            *_summary(speed),
            speed[-1] - speed[0],
            *_summary(faster),
            *_summary(aside),
            *_summary(turn),
            np.abs(faster).mean(0),
            length / np.maximum(way, 1e-9),
            off.max(0),
            _cross(ahead[0], ahead[-1]),
        ],
        1,
    )


def _among(seen: TrackWindow) -> Doubles:
    """Return the features of neighbours: distance, bearing and relative velocity of the nearest neighbours over time, and the
    reaction to the nearest neighbour.
    """
    n, distance = seen.walkers, apart(seen)
    others = min(NEIGHBOURS, distance.shape[2])
    nearest = np.argsort(distance, -1)[..., :others]
    near = np.minimum(np.take_along_axis(distance, nearest, -1), _FAR)
    near = np.concatenate([near, np.full((*near.shape[:2], NEIGHBOURS - others), _FAR)], -1)
    columns: list[Array] = [*_summary(near[..., 0]), *_summary(near[..., 1]), near[..., 2].mean(0)]
    columns += [(distance < size).sum(-1).mean(0) for size in _SIZES]
    time = np.arange(len(distance))[:, None]
    first = nearest[..., 0]
    to = seen.position[time, first] - seen.position[:, :n]
    to = to / np.maximum(np.hypot(to[..., 0], to[..., 1]), 1e-9)[..., None]
    relative = seen.velocity[time, first] - seen.velocity[:, :n]
    there = near[..., 0] < _FAR
    ahead = _along(seen.velocity[:, :n])
    bearing = np.where(there, (ahead * to).sum(-1), 0.0)
    closing = np.where(there, -(relative * to).sum(-1), 0.0)
    change = np.diff(seen.velocity[:, :n], axis=0) / STEP
    away = np.where(there[:-1], -(change * to[:-1]).sum(-1), 0.0)
    left = np.where(there, np.abs(_cross(ahead, to)), 0.0)
    speeds = np.where(there, np.hypot(relative[..., 0], relative[..., 1]), 0.0)
    columns += [*_summary(bearing), *_summary(closing), *_summary(away), left.mean(0), *_summary(speeds)]
    columns += [_collision(seen, distance).min(0), (there & (bearing > 0.5)).mean(0)]
    return np.stack(columns, 1)


def _collision(seen: TrackWindow, distance: Doubles) -> Doubles:
    """Return the time (T, N), s, until any person's centre is within 0.5 m of the walker's centre at constant velocities."""
    n = seen.walkers
    to = seen.position[:, None] - seen.position[:, :n, None]
    relative = seen.velocity[:, None] - seen.velocity[:, :n, None]
    a, b, c = (relative**2).sum(-1), (to * relative).sum(-1), (to**2).sum(-1) - 0.25
    root = np.sqrt(np.maximum(b * b - a * c, 0.0))
    time = np.where((b < 0) & (b * b > a * c) & np.isfinite(distance), (-b - root) / np.maximum(a, 1e-9), _LONG)
    return np.asarray(np.clip(time, 0.0, _LONG).min(-1))


def _walls(seen: TrackWindow) -> Doubles:
    """Return the minimum and mean distance to walls; constants if no walls are known."""
    wall = np.minimum(seen.wall, _FAR) if len(seen.wall) else np.full((1, seen.walkers), _FAR)
    return np.stack([wall.min(0), wall.mean(0)], 1)


def _summary(values: Doubles) -> tuple[Doubles, ...]:
    """Return the mean, standard deviation, minimum and maximum over time of values (T, N)."""
    return values.mean(0), values.std(0), values.min(0), values.max(0)


def _along(velocity: Doubles) -> Doubles:
    """Return the unit vectors along velocities; 0 for very small velocities."""
    speed = np.hypot(velocity[..., 0], velocity[..., 1])[..., None]
    return np.asarray(np.where(speed > _MOVES, velocity / np.maximum(speed, _MOVES), 0.0))


def _cross(one: Doubles, other: Doubles) -> Doubles:
    return np.asarray(one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0])
