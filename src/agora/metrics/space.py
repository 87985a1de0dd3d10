"""The space that robot and pedestrians shared: shares of time in each zone, near misses, and who came too near to whom.

Zones are Hall's (`agora.metrics.proxemics`), of the surface distance d to the nearest pedestrian. Who came too near is told as who
closed the gap before a contact (`agora.core.recording.Closing`): by the parts of the velocities along the line between the centres.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from agora.core.recording import STANDING, Closer, Closing, Recording
from agora.core.state import Doubles
from agora.interfaces import Direction, Metric, metric
from agora.metrics.motion import SPACING
from agora.metrics.outline import closest_surface, surface_distances
from agora.metrics.proxemics import INTIMATE, PERSONAL, SOCIAL
from agora.metrics.quantities import (
    anyone,
    average,
    closest_centre,
    duration,
    intervals,
    least,
    offsets,
    path_metres,
    somebody,
    stretches,
    velocities,
    weighted_mean,
)

BANDS = {
    "intimate": (-math.inf, INTIMATE),
    "personal": (INTIMATE, PERSONAL),
    "social": (PERSONAL, SOCIAL),
    "public": (SOCIAL, math.inf),
}
"""Where each of Hall's zones begins and ends, m."""

_DIRECTIONS: dict[str, Direction] = {"intimate": "lower", "personal": "lower", "social": "neutral", "public": "higher"}
_NEAR = 0.5
_SEAN = "Tsoi et al. 2022, SEAN 2.0; Hall 1966"
_CLOSERS = {Closer.ROBOT: "more than 0.6", Closer.PERSON: "less than 0.4", Closer.BOTH: "0.4 to 0.6"}


def in_band(distance: Doubles, zone: str) -> Doubles:
    """1 where distances (T,) are in a zone, else 0; infinite ones are public."""
    low, high = BANDS[zone]
    inside: Doubles = ((distance >= low) & ((distance < high) | (high == math.inf))).astype(np.float64)
    return inside


def band_words(of: str, zone: str) -> str:
    """The formula of a share of time in a zone."""
    low, high = BANDS[zone]
    lower, upper = "" if low == -math.inf else f"{low:g} m <= ", "" if high == math.inf else f" < {high:g} m"
    return f"share of time with {lower}{of}{upper}" if upper else f"share of time with {of} >= {low:g} m"


def _share(zone: str) -> Metric:
    def share(recording: Recording) -> float:
        """The share of time; nobody about is public space, so that the four shares add up to 1."""
        return average(recording, in_band(closest_surface(recording), zone))

    made = metric(
        f"space_share_{zone}",
        unit="",
        direction=_DIRECTIONS[zone],
        formula=band_words("min d", zone),
        source="HuNavSim; Hall 1966",
        values="share",
        walls="ignored",
    )
    return made(share)


space_share_intimate = _share("intimate")
space_share_personal = _share("personal")
space_share_social = _share("social")
space_share_public = _share("public")


def _hunavsim_share(zone: str) -> Metric:
    def share(recording: Recording) -> float:
        """Without the pedestrian's radius; of samples in its code, of time here."""
        return average(recording, in_band(closest_centre(recording) - recording.radius, zone))

    made = metric(
        f"space_share_{zone}.hunavsim",
        unit="",
        direction=_DIRECTIONS[zone],
        formula=band_words("min D - r_robot", zone),
        source=f"HuNavSim's code, {zone}_space_intrusions",
        values="share",
        walls="ignored",
    )
    return made(share)


space_share_intimate_hunavsim = _hunavsim_share("intimate")
space_share_personal_hunavsim = _hunavsim_share("personal")
space_share_social_hunavsim = _hunavsim_share("social")


@metric(
    "near_misses",
    unit="",
    direction="lower",
    formula="number of times d to a pedestrian fell below 0.5 m and rose again without reaching 0",
    source="robot_sf, near_misses; events here, samples there",
    values="count",
    walls="ignored",
)
def near_misses(recording: Recording) -> float:
    """The events of each pedestrian; those under way at the beginning or the end count; 0 without pedestrians."""
    return _near_misses(recording)


def _near_misses(recording: Recording) -> float:
    gap = surface_distances(recording)
    found = stretches(gap < _NEAR)
    return float(np.count_nonzero(least(gap, found) > 0.0)) if len(found[0]) else 0.0


@metric(
    "near_misses_per_minute",
    unit="1/min",
    direction="lower",
    formula="``near_misses`` / duration",
    source="Agora (`agora.metrics.space`)",
    walls="ignored",
)
def near_misses_per_minute(recording: Recording) -> float | None:
    """A robot that takes its time meets more people; undefined for a single sample."""
    seconds = float(recording.time[-1] - recording.time[0])
    return 60.0 * _near_misses(recording) / seconds if seconds > 0.0 else None


@metric(
    "near_misses_per_metre",
    unit="1/m",
    direction="lower",
    formula="``near_misses`` / path length",
    source="Agora (`agora.metrics.space`)",
    walls="ignored",
)
def near_misses_per_metre(recording: Recording) -> float | None:
    """Undefined where the robot travelled less than 0.05 m."""
    length = path_metres(recording)
    return _near_misses(recording) / length if length >= SPACING else None


@metric(
    "near_misses.robot_sf",
    unit="",
    direction="lower",
    formula="number of samples with 0 <= min d < 0.5 m",
    source="robot_sf, near_misses (clearance of discs)",
    values="count",
    walls="ignored",
)
def near_misses_robot_sf(recording: Recording) -> float:
    """Grows with the rate of the samples, as in its code; 0 without pedestrians."""
    gap = closest_surface(recording)
    return float(np.count_nonzero((gap >= 0.0) & (gap < _NEAR)))


@functools.lru_cache(maxsize=4)
def closers(recording: Recording, limit: float) -> tuple[Closer, ...]:
    """Return who closed the gap each time that d to a pedestrian fell below ``limit``, in the first sample inside.

    A robot slower than `STANDING` closes none, and neither does who moves away.
    """
    begin, _, column = stretches(surface_distances(recording) < limit)
    x, y, distance = (part[begin, column] for part in offsets(recording))
    scale = 1.0 / np.maximum(distance, 1e-9)
    robot, person = velocities(recording)[begin], recording.pedestrian_velocity[begin, column]
    by_robot = (robot[:, 0] * x + robot[:, 1] * y) * scale
    by_person = -(person[:, 0] * x + person[:, 1] * y) * scale
    standing = robot[:, 0] * robot[:, 0] + robot[:, 1] * robot[:, 1] < STANDING * STANDING
    return tuple(Closing(float(a), float(b), bool(c)).closer for a, b, c in zip(by_robot, by_person, standing, strict=True))


def _violations(zone: str, closer: Closer) -> Metric:
    limit = BANDS[zone][1]

    def violations(recording: Recording) -> float:
        """With the other two closers' these make the violations of all; 0 without pedestrians."""
        return float(closers(recording, limit).count(closer))

    stood = " or the robot stood (0.05 m/s)" if closer == Closer.PERSON else ", not standing (0.05 m/s)"
    made = metric(
        f"{zone}_violations_by_{closer}",
        unit="",
        direction="lower",
        formula=f"number of times d to a pedestrian fell below {limit:g} m while the robot gave {_CLOSERS[closer]} of the closing "
        f"speed{stood}",
        source=_SEAN,
        values="count",
        walls="ignored",
    )
    return made(violations)


intimate_violations_by_robot = _violations("intimate", Closer.ROBOT)
intimate_violations_by_person = _violations("intimate", Closer.PERSON)
intimate_violations_by_both = _violations("intimate", Closer.BOTH)
personal_violations_by_robot = _violations("personal", Closer.ROBOT)
personal_violations_by_person = _violations("personal", Closer.PERSON)
personal_violations_by_both = _violations("personal", Closer.BOTH)


@metric(
    "discomfort.crowdnav",
    unit="",
    direction="higher",
    formula="sum over samples with 0 <= min d < 0.2 m of 0.5 (min d - 0.2) dt",
    source="Chen et al. 2019, CrowdNav, its reward",
    walls="ignored",
)
def discomfort_crowdnav(recording: Recording) -> float:
    """The reward's part, at most 0, without its discount; 0 without pedestrians."""
    return _discomfort(recording, 0.2, 0.5)


@metric(
    "discomfort.dsrnn",
    unit="",
    direction="higher",
    formula="sum over samples with 0 <= min d < 0.25 m of 10 (min d - 0.25) dt",
    source="Liu et al. 2021, DS-RNN, its reward",
    walls="ignored",
)
def discomfort_dsrnn(recording: Recording) -> float:
    """The reward's part, at most 0, without its discount; 0 without pedestrians."""
    return _discomfort(recording, 0.25, 10.0)


def _discomfort(recording: Recording, distance: float, factor: float) -> float:
    gap = closest_surface(recording)[:-1]
    near = (gap >= 0.0) & (gap < distance)
    return factor * float(((gap[near] - distance) * intervals(recording)[near]).sum())


@metric(
    "pedestrian_speed_average",
    unit="m/s",
    direction="neutral",
    formula="mean of the pedestrians' speed over the time that each was there",
    source="HuNavSim; Katyal et al. 2022",
)
def pedestrian_speed_average(recording: Recording) -> float | None:
    """Undefined where there never was a pedestrian, or for a single sample."""
    present = recording.pedestrian_present[:-1]
    speed, weight = _pedestrian_speeds(recording)[:-1][present], intervals(recording)[np.nonzero(present)[0]]
    return weighted_mean(speed, weight) if len(weight) else None


@metric(
    "closest_pedestrian_speed_average",
    unit="m/s",
    direction="neutral",
    formula="mean over the time with pedestrians of the speed of the one whose centre is closest",
    source="HuNavSim",
    walls="ignored",
)
def closest_pedestrian_speed_average(recording: Recording) -> float | None:
    """Undefined where there never was a pedestrian, or for a single sample."""
    about = somebody(recording)
    seconds = duration(recording, about)
    if not anyone(recording) or seconds == 0.0:
        return None
    nearest = offsets(recording)[2].argmin(1)
    speed = np.where(about, _pedestrian_speeds(recording)[np.arange(len(about)), nearest], 0.0)
    return float((speed[:-1] * intervals(recording)).sum()) / seconds


def _pedestrian_speeds(recording: Recording) -> Doubles:
    """(T, P) m/s, 0 for absent ones."""
    vx, vy = recording.pedestrian_velocity[..., 0], recording.pedestrian_velocity[..., 1]
    return np.where(recording.pedestrian_present, np.sqrt(vx * vx + vy * vy), 0.0)
