"""Measures of how people move in a place: whether they make progress, turn back, turn sharply, and keep apart.

All positions are sampled every 0.4 s, as in ETH/UCY, so recorded and simulated people are measured in the same way. A pedestrian
*wants to move on* if it has a preferred speed and its waypoint is farther away than `THERE`. People who wait, talk or stand still
on purpose do not want to move on. The thresholds are Agora's own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agora.core.state import Bools, Doubles

__all__ = ["PERIOD", "THERE", "Movement", "Tracks", "measure"]

PERIOD = 0.4
"""Time between two samples, s."""

THERE = 0.8
"""Distance from the waypoint up to which a pedestrian counts as having arrived, m."""

_WEDGED, _STILL = 10.0, 0.3  # s and m, a pedestrian is wedged if it wants to move on but moves less than this distance in this time
_JAMMED, _ROUND = 30.0, 1.0  # s and m, the same limits for people who make no progress
_CLUSTER, _BESIDE = 3, 1.2  # minimum number of people in a cluster, and maximum distance between neighbours in it, m
_WALKS, _TURNS = 0.5, 0.3  # m/s, minimum speeds at which turning and U-turns are measured
_BACK, _WITHIN = 135.0, 5  # minimum change of direction in a U-turn, degrees, and maximum number of samples
_DEEP = 0.02  # m, minimum overlap of discs that counts
_AROUND = 2.0  # m, radius around a pedestrian within which density is measured
BANDS = (0.0, 0.25, 0.5, 1.0, np.inf)
"""Bounds of the density bands in which mean speeds are computed, 1/m2."""


@dataclass(frozen=True, eq=False)
class Tracks:
    """The motion of P people, sampled every `PERIOD` seconds.

    Attributes:
        position: (T, P, 2) positions, m.
        present: (T, P) whether each pedestrian is present.
        wants: (T, P) whether each pedestrian wants to move on.
        radius: (P,) radii, m.
    """

    position: Doubles
    present: Bools
    wants: Bools
    radius: Doubles


@dataclass(frozen=True)
class Movement:
    """Measures of one episode, as sums that can be added over episodes.

    Attributes:
        minutes: total time for which people were present, person-minutes.
        wedged: number of people who, during some period of 10 s, want to move on but move less than 0.3 m.
        stuck: number of people who, during some period of 30 s, want to move on but stay within 1 m.
        jammed: number of people in clusters of at least three people, all of whom want to move on but move less than 0.3 m during
            the last 10 s or more.
        turns_round: number of U-turns, in which the direction of motion changes by more than 135 degrees within 2 s, at speeds
            above 0.3 m/s.
        turning: histogram (181,), with bins of one degree, of changes of direction in 0.4 s at speeds above 0.5 m/s.
        deepest: maximum overlap between the discs of two people, m.
        overlapping: time during which people overlap another person by more than 0.02 m, person-minutes.
        speeds: sum of the speeds of people who want to move on in each of the density bands `BANDS`, m/s.
        walkers: number of samples in each density band.
    """

    minutes: float
    wedged: int
    stuck: int
    jammed: int
    turns_round: int
    turning: tuple[int, ...]
    deepest: float
    overlapping: float
    speeds: tuple[float, ...]
    walkers: tuple[int, ...]

    @property
    def is_jam(self) -> bool:
        """True if any pedestrian was stuck, or if a cluster was jammed until the end."""
        return bool(self.stuck or self.jammed)


def measure(seen: Tracks) -> Movement:
    """Return the measures of one episode."""
    step = np.diff(seen.position, axis=0)
    both = seen.present[1:] & seen.present[:-1]
    speed = np.hypot(step[..., 0], step[..., 1]) / PERIOD
    direction = np.arctan2(step[..., 1], step[..., 0])
    turn = np.degrees(np.abs(np.angle(np.exp(1j * (direction[1:] - direction[:-1])))))
    walks = both & (speed > _WALKS)
    degrees = turn[walks[1:] & walks[:-1]]
    deepest, overlapping, density = _company(seen)
    band = np.digitize(density[:-1], BANDS) - 1
    going = both & seen.wants[:-1]
    count = len(BANDS) - 1
    return Movement(
        minutes=float(seen.present.sum()) * PERIOD / 60.0,
        wedged=int(_stays(seen, _WEDGED, _STILL).any(axis=0).sum()),
        stuck=int(_stays(seen, _JAMMED, _ROUND).any(axis=0).sum()),
        jammed=_jammed(seen),
        turns_round=_turns_round(direction, both & (speed > _TURNS)),
        turning=tuple(np.bincount(np.rint(degrees).astype(np.int64), minlength=181).tolist()),
        deepest=deepest,
        overlapping=overlapping,
        speeds=tuple(np.bincount(band[going], speed[going], count).tolist()),
        walkers=tuple(np.bincount(band[going], minlength=count).tolist()),
    )


def percentile(turning: Doubles, share: float) -> float:
    """Return the angle, degrees, below which a fraction of the turns in a histogram (181,) lies; NaN if it is empty."""
    total = np.cumsum(turning)
    return float(np.searchsorted(total, share * total[-1])) if total[-1] else np.nan


def _stays(seen: Tracks, seconds: float, most: float) -> Bools:
    """Return whether each pedestrian (T, P) wants to move on during the following ``seconds``, but stays within ``most`` metres of
    its position.
    """
    long, count = round(seconds / PERIOD), len(seen.present)
    stays = np.zeros(seen.present.shape, np.bool_)
    if count <= long:
        return stays
    stays[: count - long] = True
    for k in range(long + 1):
        later = slice(k, count - long + k)
        away = seen.position[later] - seen.position[: count - long]
        stays[: count - long] &= seen.wants[later] & seen.present[later] & (np.hypot(away[..., 0], away[..., 1]) < most)
    return stays


def _jammed(seen: Tracks) -> int:
    """Return the number of people in clusters of three or more people who stand still until the end."""
    long = round(_WEDGED / PERIOD)
    if len(seen.present) <= long:
        return 0
    still = _stays(seen, _WEDGED, _STILL)[-1 - long]
    where = seen.position[-1][still]
    linked = np.hypot(*(where[:, None] - where[None]).transpose(2, 0, 1)) < _BESIDE
    for _ in range(len(where).bit_length()):
        linked = (linked.astype(np.int64) @ linked) > 0
    return int((linked.sum(axis=1) >= _CLUSTER).sum())


def _turns_round(direction: Doubles, walks: Bools) -> int:
    """Return the number of U-turns; consecutive samples of the same U-turn are counted once."""
    found = np.zeros(walks.shape, np.bool_)
    for k in range(1, _WITHIN + 1):
        turn = np.abs(np.angle(np.exp(1j * (direction[k:] - direction[:-k]))))
        found[k:] |= walks[k:] & walks[:-k] & (np.degrees(turn) > _BACK)
    rises = found.copy()
    for k in range(1, _WITHIN + 1):
        rises[k:] &= ~found[:-k]
    return int(rises.sum())


def _company(seen: Tracks) -> tuple[float, float, Doubles]:
    """Return the maximum overlap between two discs, m; the time during which people overlap, person-minutes; and the density (T, P)
    around each person, 1/m2.
    """
    deepest, overlapping = 0.0, 0
    density = np.zeros(seen.present.shape)
    for t, here in enumerate(seen.present):
        at, radius = seen.position[t, here], seen.radius[here]
        apart = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))
        np.fill_diagonal(apart, np.inf)
        deep = (radius[:, None] + radius - apart).max(axis=1, initial=0.0)
        deepest, overlapping = max(deepest, float(deep.max(initial=0.0))), overlapping + int((deep > _DEEP).sum())
        density[t, here] = ((apart < _AROUND).sum(axis=1) + 1) / (np.pi * _AROUND**2)
    return deepest, overlapping * PERIOD / 60.0, density
