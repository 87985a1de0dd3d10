"""The distances of the robot to pedestrians and walls.

Centre distance D is between the centres. Surface distance d is between the robot's outline and the pedestrian's disc, and negative
where they overlap; it is D - r_robot - r_pedestrian for a robot that is a disc. Zones are Hall's (1966): intimate to 0.45 m,
personal to 1.2 m, social to 3.6 m.
"""

from __future__ import annotations

import numpy as np

from agora.core.recording import Recording
from agora.core.state import Doubles
from agora.interfaces import metric
from agora.metrics.outline import closest_surface, surface_distances, wall_gaps
from agora.metrics.quantities import anyone, average, closest, closest_centre, duration, offsets, somebody, succeeded

_SOCNAVBENCH = "Biswas et al. 2022, SocNavBench, Table 1"
_ARENA = "Kästner et al. 2024, Arena 3.0, Table V"
_HUNAVSIM = "HuNavSim's code"
_FAR = 10.0
_PRIVATE = 0.5
_SAFE = 0.3
INTIMATE, PERSONAL, SOCIAL = 0.45, 1.2, 3.6
"""Where Hall's zones end, m."""


@metric(
    "closest_pedestrian_distance_min",
    unit="m",
    direction="higher",
    formula="min over t of min(10, min over pedestrians of d)",
    source=f"{_SOCNAVBENCH} (radii and saturation as in its text)",
    version=2,
    walls="ignored",
)
def closest_pedestrian_distance_min(recording: Recording) -> float | None:
    """Undefined where there never was a pedestrian."""
    return min(_FAR, float(closest_surface(recording).min())) if anyone(recording) else None


@metric(
    "closest_pedestrian_distance_average",
    unit="m",
    direction="higher",
    formula="mean over time of min(10, min over pedestrians of d)",
    source=f"{_SOCNAVBENCH} (radii and saturation as in its text)",
    version=2,
    walls="ignored",
)
def closest_pedestrian_distance_average(recording: Recording) -> float | None:
    """Moments without pedestrians count 10 m; undefined where there never was one."""
    return average(recording, np.minimum(closest_surface(recording), _FAR)) if anyone(recording) else None


@metric(
    "closest_pedestrian_distance_max",
    unit="m",
    direction="neutral",
    formula="max over t of min(10, min over pedestrians of d)",
    source=f"HuNavSim; radii and saturation of {_SOCNAVBENCH}",
    walls="ignored",
)
def closest_pedestrian_distance_max(recording: Recording) -> float | None:
    """The largest distance to the closest pedestrian; undefined where there never was a pedestrian."""
    return float(np.minimum(closest_surface(recording), _FAR).max()) if anyone(recording) else None


def _from_outline(recording: Recording) -> Doubles:
    """D - r_robot of each pedestrian at each moment of its presence, m, in one row."""
    away: Doubles = offsets(recording)[2][recording.pedestrian_present] - recording.radius
    return away


@metric(
    "closest_pedestrian_distance_min.hunavsim",
    unit="m",
    direction="higher",
    formula="min over t and pedestrians of D - r_robot",
    source=f"{_HUNAVSIM}, minimum_distance_to_people",
    walls="ignored",
)
def closest_pedestrian_distance_min_hunavsim(recording: Recording) -> float | None:
    """Without the pedestrian's radius and without saturation; undefined where there never was a pedestrian."""
    return float(_from_outline(recording).min()) if anyone(recording) else None


@metric(
    "closest_pedestrian_distance_max.hunavsim",
    unit="m",
    direction="neutral",
    formula="max over t and pedestrians of D - r_robot",
    source=f"{_HUNAVSIM}, maximum_distance_to_people",
    walls="ignored",
)
def closest_pedestrian_distance_max_hunavsim(recording: Recording) -> float | None:
    """The distance of the farthest pedestrian and not of the closest; undefined where there never was a pedestrian."""
    return float(_from_outline(recording).max()) if anyone(recording) else None


@metric(
    "closest_pedestrian_distance_average.hunavsim",
    unit="m",
    direction="higher",
    formula="sum over samples with pedestrians of min (D - r_robot - r_pedestrian), over the number of all samples",
    source=f"{_HUNAVSIM}, avg_distance_to_closest_person",
    walls="ignored",
)
def closest_pedestrian_distance_average_hunavsim(recording: Recording) -> float | None:
    """Its defect: samples without pedestrians count 0 m. Undefined where there never was a pedestrian."""
    if not anyone(recording):
        return None
    gap = closest(offsets(recording)[2] - recording.pedestrian_radius) - recording.radius
    return float(gap[somebody(recording)].sum()) / len(gap)


@metric("time_in_private_zone", unit="s", direction="lower", formula="time with min D < 0.5 m", source=_ARENA, walls="ignored")
def time_in_private_zone(recording: Recording) -> float:
    """Several pedestrians at once count once; 0 without pedestrians. Between discs of 0.25 m it begins at the contact."""
    return duration(recording, closest_centre(recording) < _PRIVATE)


@metric(
    "time_in_private_zone.outline",
    unit="s",
    direction="lower",
    formula="time with min d < 0.5 m",
    source=f"{_ARENA}, with the outlines for the centres",
    walls="ignored",
)
def time_in_private_zone_outline(recording: Recording) -> float:
    """Several pedestrians at once count once; 0 without pedestrians."""
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
    """1 without pedestrians."""
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
    """1 without pedestrians."""
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
    """1 without pedestrians."""
    return average(recording, closest_centre(recording) >= 1.0)


@metric(
    "personal_space_compliance.social_jym",
    unit="",
    direction="higher",
    formula="share of time with min d > 0.5 m, only for a success (reached without contact)",
    source="social-jym (TommasoVandermeer/social-jym a880b9ac), space_compliance; of samples in its code, of time here",
    values="share",
    walls="ignored",
)
def personal_space_compliance_social_jym(recording: Recording) -> float | None:
    """1 without pedestrians; undefined without success, so read it beside ``success``."""
    return average(recording, closest_surface(recording) > _PRIVATE) if succeeded(recording) else None


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
    """Against its name the share of violations: less is better. Undefined where there never was a pedestrian."""
    return average(recording, closest_centre(recording) < 0.5) if anyone(recording) else None


def _entries(recording: Recording, distance: float) -> float:
    """Count the times that the surface distance to a pedestrian fell below ``distance``; beginning inside counts."""
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
    """Events of each pedestrian; 0 without pedestrians."""
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
    """Events of each pedestrian, on the way to an intimate violation too; 0 without pedestrians."""
    return _entries(recording, PERSONAL)


@metric(
    "clearing_distance_min",
    unit="m",
    direction="higher",
    formula="min over t of the gap between the robot's outline and the nearest wall",
    source="Francis et al. 2023, arXiv:2306.16740, Table 1",
    version=2,
)
def clearing_distance_min(recording: Recording) -> float | None:
    """Undefined without a map, or without an obstacle in it."""
    gap = wall_gaps(recording)
    return None if gap is None else float(gap.min())


@metric(
    "clearing_distance_average",
    unit="m",
    direction="higher",
    formula="mean over time of the gap between the robot's outline and the nearest wall",
    source="Francis et al. 2023, arXiv:2306.16740, Table 1",
    version=2,
)
def clearing_distance_average(recording: Recording) -> float | None:
    """Undefined without a map, or without an obstacle in it."""
    gap = wall_gaps(recording)
    return None if gap is None else average(recording, gap)


@metric(
    "obstacle_safety",
    unit="",
    direction="lower",
    formula="share of time with less than 0.3 m between the robot's outline and the nearest wall",
    source="SRPB, Karwowski and Szynkiewicz 2023, after MRPB; the distance, a parameter there, is ours",
    values="share",
)
def obstacle_safety(recording: Recording) -> float | None:
    """Undefined without a map, or without an obstacle in it."""
    gap = wall_gaps(recording)
    return None if gap is None else average(recording, gap < _SAFE)
