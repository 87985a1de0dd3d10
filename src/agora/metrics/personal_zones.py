"""Metrics of pedestrians within a fixed distance of the robot: time in a zone, compliance, violations and near misses.

The centre distance D and the surface distance d are defined in `agora.metrics.pedestrian_distance`. The zones are Hall's
(`agora.metrics.quantities.zones`) and apply to the surface distance to the nearest pedestrian, unless a formula says otherwise.
Like a contact, a violation is attributed to the party that closed the gap (`agora.core.recording.Closing`), based on the velocity
components along the line between the centres.
"""

from __future__ import annotations

import functools

import numpy as np

from agora.core.recording import STANDING, Closer, Closing, Recording
from agora.interfaces import Direction, Metric, metric
from agora.metrics.quantities.outline import closest_surface, surface_distances
from agora.metrics.quantities.samples import (
    SPACING,
    average,
    closest_centre,
    duration,
    ever_present,
    intervals,
    is_success,
    least,
    offsets,
    path_metres,
    stretches,
    velocities,
)
from agora.metrics.quantities.zones import BANDS, INTIMATE, PERSONAL, is_in_zone, zone_formula

GROUP = "proxemics"

_ARENA = "Kästner et al. 2024, Arena 3.0, Table V"
_PRIVATE = 0.5


@metric("time_in_private_zone", unit="s", direction="lower", formula="time with min D < 0.5 m", source=_ARENA, walls="ignored")
def time_in_private_zone(recording: Recording) -> float:
    """Time with several pedestrians in the zone is counted once. The value is 0 if there are no pedestrians. For discs with a
    radius of 0.25 m, the zone begins at contact.
    """
    return duration(recording, closest_centre(recording) < _PRIVATE)


@metric(
    "time_in_private_zone.outline",
    unit="s",
    direction="lower",
    formula="time with min d < 0.5 m",
    source=f"{_ARENA}, with outlines instead of centres",
    walls="ignored",
)
def time_in_private_zone_outline(recording: Recording) -> float:
    """Time with several pedestrians in the zone is counted once. The value is 0 if there are no pedestrians."""
    return duration(recording, closest_surface(recording) < _PRIVATE)


@metric(
    "personal_space_compliance.igibson",
    unit="",
    direction="higher",
    formula="share of time with min D >= 0.5 m",
    source="iGibson Social Navigation Challenge 2021",
    values="share",
    walls="ignored",
)
def personal_space_compliance_igibson(recording: Recording) -> float:
    """The value is 1 if there are no pedestrians."""
    return average(recording, closest_centre(recording) >= 0.5)


@metric(
    "personal_space_compliance.socnavgym",
    unit="",
    direction="higher",
    formula="share of time with min D - r_robot >= 0.45 m",
    source="Kapoor et al. 2023, SocNavGym, arXiv:2304.14102",
    values="share",
    walls="ignored",
)
def personal_space_compliance_socnavgym(recording: Recording) -> float:
    """The value is 1 if there are no pedestrians."""
    return average(recording, closest_centre(recording) - recording.radius >= INTIMATE)


@metric(
    "personal_space_compliance.robosense",
    unit="",
    direction="higher",
    formula="share of time with min D >= 1.0 m",
    source="RoboSense Challenge, track 2",
    values="share",
    walls="ignored",
)
def personal_space_compliance_robosense(recording: Recording) -> float:
    """The value is 1 if there are no pedestrians."""
    return average(recording, closest_centre(recording) >= 1.0)


@metric(
    "personal_space_compliance.social_jym",
    unit="",
    direction="higher",
    formula="share of time with min d > 0.5 m, only for a success (reached without contact)",
    source="social-jym (TommasoVandermeer/social-jym a880b9ac), space_compliance; over samples in its code, over time here",
    values="share",
    walls="ignored",
)
def personal_space_compliance_social_jym(recording: Recording) -> float | None:
    """The value is 1 if there are no pedestrians. Undefined if the episode was not a success, so read this metric together with
    ``success``.
    """
    return average(recording, closest_surface(recording) > _PRIVATE) if is_success(recording) else None


@metric(
    "personal_space_compliance.robot_sf",
    unit="",
    direction="lower",
    formula="share of time with min D < 0.5 m",
    source="robot_sf, space_compliance, after Francis et al. 2023, Table 1",
    values="share",
    walls="ignored",
)
def personal_space_compliance_robot_sf(recording: Recording) -> float | None:
    """Despite the name, this metric is the fraction of violations, so lower is better. Undefined if no pedestrian was ever
    present.
    """
    return average(recording, closest_centre(recording) < 0.5) if ever_present(recording) else None


def _entries(recording: Recording, distance: float) -> float:
    """Count how often the surface distance to a pedestrian fell below ``distance``; an episode that begins below it also counts."""
    inside = surface_distances(recording) < distance
    return float(np.count_nonzero(inside[0]) + np.count_nonzero(inside[1:] & ~inside[:-1]))


@metric(
    "intimate_violations",
    unit="",
    direction="lower",
    formula="number of times d to a pedestrian fell below 0.45 m",
    source="SEAN 2.0; Hall 1966",
    version=2,
    values="count",
    walls="ignored",
)
def intimate_violations(recording: Recording) -> float:
    """Events are counted separately for each pedestrian. The value is 0 if there are no pedestrians."""
    return _entries(recording, INTIMATE)


@metric(
    "personal_violations",
    unit="",
    direction="lower",
    formula="number of times d to a pedestrian fell below 1.2 m",
    source="SEAN 2.0; Hall 1966",
    version=2,
    values="count",
    walls="ignored",
)
def personal_violations(recording: Recording) -> float:
    """Events are counted separately for each pedestrian, including events that lead to an intimate violation. The value is 0 if
    there are no pedestrians.
    """
    return _entries(recording, PERSONAL)


_DIRECTIONS: dict[str, Direction] = {"intimate": "lower", "personal": "lower", "social": "neutral", "public": "higher"}
_NEAR = 0.5
_SEAN = "Tsoi et al. 2022, SEAN 2.0; Hall 1966"
_CLOSERS = {Closer.ROBOT: "more than 0.6", Closer.PERSON: "less than 0.4", Closer.BOTH: "0.4 to 0.6"}


def _share(zone: str) -> Metric:
    def share(recording: Recording) -> float:
        """The value is a fraction of time. Time without pedestrians counts as public space, so the four fractions add up to 1."""
        return average(recording, is_in_zone(closest_surface(recording), zone))

    made = metric(
        f"space_share_{zone}",
        unit="",
        direction=_DIRECTIONS[zone],
        formula=zone_formula("min d", zone),
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
        """The distance ignores the pedestrian's radius. The value is a fraction of time; the original code computes a fraction of
        samples.
        """
        return average(recording, is_in_zone(closest_centre(recording) - recording.radius, zone))

    made = metric(
        f"space_share_{zone}.hunavsim",
        unit="",
        direction=_DIRECTIONS[zone],
        formula=zone_formula("min D - r_robot", zone),
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
    source="robot_sf, near_misses; events here, samples in robot_sf",
    values="count",
    walls="ignored",
)
def near_misses(recording: Recording) -> float:
    """Events are counted separately for each pedestrian, including events in progress at the beginning or the end. The value is 0
    if there are no pedestrians.
    """
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
    source="Agora (`agora.metrics.personal_zones`)",
    walls="ignored",
)
def near_misses_per_minute(recording: Recording) -> float | None:
    """The rate accounts for the fact that a slow robot meets more people on its way. Undefined if there is only one sample."""
    seconds = float(recording.time[-1] - recording.time[0])
    return 60.0 * _near_misses(recording) / seconds if seconds > 0.0 else None


@metric(
    "near_misses_per_metre",
    unit="1/m",
    direction="lower",
    formula="``near_misses`` / path length",
    source="Agora (`agora.metrics.personal_zones`)",
    walls="ignored",
)
def near_misses_per_metre(recording: Recording) -> float | None:
    """Undefined if the robot travelled less than 0.05 m."""
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
    """The value grows with the sampling rate, as in the original code. It is 0 if there are no pedestrians."""
    gap = closest_surface(recording)
    return float(np.count_nonzero((gap >= 0.0) & (gap < _NEAR)))


@functools.lru_cache(maxsize=4)
def closers(recording: Recording, limit: float) -> tuple[Closer, ...]:
    """Return which party closed the gap, for each time that d to a pedestrian fell below ``limit``; evaluated at the first sample
    below the limit.

    A party that is slower than `STANDING` or moves away does not count as closing the gap.
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
        """The violations by the robot, by the person and by both add up to the total number of violations. The value is 0 if there
        are no pedestrians.
        """
        return float(closers(recording, limit).count(closer))

    stood = " or the robot stood still (0.05 m/s)" if closer == Closer.PERSON else ", not standing still (0.05 m/s)"
    made = metric(
        f"{zone}_violations_by_{closer}",
        unit="",
        direction="lower",
        formula=f"number of times d to a pedestrian fell below {limit:g} m while the robot contributed {_CLOSERS[closer]} of the "
        f"closing speed{stood}",
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
    """The undiscounted sum of the reward's discomfort term, at most 0. The value is 0 if there are no pedestrians."""
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
    """The undiscounted sum of the reward's discomfort term, at most 0. The value is 0 if there are no pedestrians."""
    return _discomfort(recording, 0.25, 10.0)


def _discomfort(recording: Recording, distance: float, factor: float) -> float:
    gap = closest_surface(recording)[:-1]
    near = (gap >= 0.0) & (gap < distance)
    return factor * float(((gap[near] - distance) * intervals(recording)[near]).sum())
