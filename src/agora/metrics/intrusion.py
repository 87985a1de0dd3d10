"""How far the robot went into the spaces of people: Gaussians about them, as in SRPB (Karwowski and Szynkiewicz 2023).

Personal space: Kirby's asymmetric Gaussian (`agora.costmap.personal_space`) about each pedestrian, along the heading. SRPB's code
takes the deviations for variances; the ``.srpb`` variants do so too. Formation space: a round Gaussian about the middle of a group,
whose double deviation reaches its farthest member. Heading disturbance: the robot heads for a pedestrian, or across in front. Of
people who are seen at once the largest value counts; covariances of tracked people are left out. A Gaussian is 1 in its middle.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.recording import Recording
from agora.core.state import Bools, Doubles
from agora.costmap.personal_space import BEHIND, SIDE, PersonalSpace
from agora.interfaces import metric
from agora.metrics.groups import members
from agora.metrics.quantities import (
    angle_between,
    exponential,
    facing,
    intervals,
    norm,
    offsets,
    once,
    pedestrians_facing,
    somebody,
    weighted_mean,
)
from agora.perception import spaces

_SRPB = "SRPB, Karwowski and Szynkiewicz 2023"
_KIRBY = PersonalSpace()
_INTRUDED, _DISTURBED = 0.5, 0.2
_BODY, _FIELD, _FADING = 0.4, math.radians(190.0), 0.8
"""Of the heading disturbance: radius of a person, m; the person's field of view, rad; decay with the distance, 1/m."""


def _mean_while(recording: Recording, values: Doubles | Bools, condition: Bools) -> float | None:
    """Mean of (T,) values over the time in which a condition held; None where there is no such time."""
    if len(values) == 1:
        return float(values[0]) if condition[0] else None
    weights = intervals(recording) * condition[:-1]
    return weighted_mean(values[:-1], weights) if weights.any() else None


@once
def _personal(recording: Recording) -> tuple[Doubles, Doubles]:
    """(T, P) Kirby's Gaussian about each pedestrian at the robot, with deviations and with variances; 0 for absent."""
    x, y, _ = offsets(recording)
    cosine, sine = pedestrians_facing(recording)
    along, beside = -(cosine * x + sine * y), sine * x - cosine * y
    ahead = np.maximum(_KIRBY.seconds * norm(recording.pedestrian_velocity), _KIRBY.least_deviation)
    along_width, side_width = np.where(along >= 0.0, ahead, BEHIND * ahead), SIDE * ahead
    along, beside, present = along * along, beside * beside, recording.pedestrian_present
    by_deviation = along / (along_width * along_width) + beside / (side_width * side_width)
    by_variance = along / along_width + beside / side_width
    both = [np.where(present, exponential(np.where(present, -0.5 * power, 0.0)), 0.0) for power in (by_deviation, by_variance)]
    return both[0], both[1]


def _largest(values: Doubles) -> Doubles:
    """(T,) largest of (T, P) values, 0 without any."""
    largest: Doubles = np.max(values, axis=1, initial=0.0)
    return largest


@metric(
    "personal_space_intrusion",
    unit="",
    direction="lower",
    formula="mean over the time with pedestrians of the largest exp(-(a/s)^2/2 - (b/w)^2/2), a ahead of, b beside the pedestrian, "
    "s = f = max(2 s |u|, 0.5 m) ahead and f/2 behind, w = 2 f/3",
    source=f"{_SRPB}; deviations of Kirby 2010, eqs. 4.5 to 4.7",
)
def personal_space_intrusion(recording: Recording) -> float | None:
    """1 on top of somebody all the time; undefined where there never was a pedestrian."""
    return _mean_while(recording, _largest(_personal(recording)[0]), somebody(recording))


@metric(
    "personal_space_intrusion_share",
    unit="",
    direction="lower",
    formula="share of the time with pedestrians in which the largest Gaussian of ``personal_space_intrusion`` is above 0.5",
    source=f"{_SRPB}; deviations of Kirby 2010",
)
def personal_space_intrusion_share(recording: Recording) -> float | None:
    """Undefined where there never was a pedestrian."""
    return _mean_while(recording, _largest(_personal(recording)[0]) > _INTRUDED, somebody(recording))


@metric(
    "personal_space_intrusion.srpb",
    unit="",
    direction="lower",
    formula="as ``personal_space_intrusion``, with s and w for variances, m2",
    source=f"{_SRPB}, its code",
)
def personal_space_intrusion_srpb(recording: Recording) -> float | None:
    """Its defect: Kirby's deviations are taken for variances. A share of 1, where its code says percent."""
    return _mean_while(recording, _largest(_personal(recording)[1]), somebody(recording))


@metric(
    "personal_space_intrusion_share.srpb",
    unit="",
    direction="lower",
    formula="share of pairs of sample and pedestrian whose Gaussian of ``personal_space_intrusion.srpb`` is above 0.5",
    source=f"{_SRPB}, its code",
)
def personal_space_intrusion_share_srpb(recording: Recording) -> float | None:
    """A share of pairs and not of time: people far away thin it out. Undefined where there never was a pedestrian."""
    pairs = int(np.count_nonzero(recording.pedestrian_present))
    return float(np.count_nonzero(_personal(recording)[1] > _INTRUDED)) / pairs if pairs else None


@once
def _formation(recording: Recording) -> tuple[Doubles, Bools]:
    """(T,) largest Gaussian of a group at the robot, and whether there is a group."""
    largest, grouped = np.zeros(len(recording.time)), np.zeros(len(recording.time), np.bool_)
    for position, present in members(recording):
        centre, radius = spaces.circle(position, present)
        there = present.any(1)
        away = recording.pose[:, :2] - centre
        square = away[:, 0] * away[:, 0] + away[:, 1] * away[:, 1]
        width = np.where(there, np.maximum(radius, 1e-9), 1.0)
        value = exponential(np.where(there, -2.0 * square / (width * width), 0.0))
        largest, grouped = np.maximum(largest, np.where(there, value, 0.0)), grouped | there
    return largest, grouped


@metric(
    "formation_space_intrusion",
    unit="",
    direction="lower",
    formula="mean over the time with groups of the largest exp(-2 D^2 / R^2), D from the robot to the members' mean place, R from "
    "there to the farthest member",
    source=f"{_SRPB}; its span, of an ellipse there, is a circle's here",
)
def formation_space_intrusion(recording: Recording) -> float | None:
    """1 in the middle of a group all the time; undefined without groups."""
    return _mean_while(recording, *_formation(recording))


@metric(
    "formation_space_intrusion_share",
    unit="",
    direction="lower",
    formula="share of the time with groups in which the largest Gaussian of ``formation_space_intrusion`` is above 0.5",
    source=f"{_SRPB}; its span, of an ellipse there, is a circle's here",
)
def formation_space_intrusion_share(recording: Recording) -> float | None:
    """Undefined without groups."""
    return _mean_while(recording, _formation(recording)[0] > _INTRUDED, _formation(recording)[1])


@once
def _disturbance(recording: Recording) -> Doubles:
    """(T,) largest heading disturbance of a pedestrian, m/s.

    Angles are between directions, so that nothing depends on the map's axes; the code's thresholds do (they hold the double of the
    pedestrian's yaw) and agree with these where that yaw is 0. Its Gaussians are 1 at their middle here, as its comment says.
    """
    x, y, distance = offsets(recording)
    present = recording.pedestrian_present
    where = np.nonzero(present)
    to_robot = np.stack((x, y), 2)[where] * -1.0
    ahead = np.stack([part[where] for part in pedestrians_facing(recording)], 1)
    heading = np.stack([part[where[0]] for part in facing(recording)], 1)
    away = np.maximum(distance[where], 1e-9)
    bearing = angle_between(ahead, to_robot)  # of the robot, seen by the pedestrian
    # Crossing in front: the middle between heading for the pedestrian and heading as the pedestrian does.
    between = ahead - to_robot / away[:, None]
    straight = norm(between) < 1e-9
    between[straight] = np.stack((ahead[straight, 1], -ahead[straight, 0]), 1)
    at_person = _bell(angle_between(heading, -to_robot), _half_width(away) / 3.0)
    in_front = _bell(angle_between(heading, between), np.maximum((math.pi - bearing) / 6.0, 1e-9))
    seen = _bell(bearing, np.full(len(bearing), _FIELD / 6.0))
    speed = norm(recording.twist[:, :2])[where[0]]
    value = np.zeros(present.shape)
    value[where] = np.maximum(at_person, in_front) * seen * speed * exponential(-_FADING * away)
    return _largest(value)


def _bell(angle: Doubles, deviation: Doubles) -> Doubles:
    ratio = angle / deviation
    return exponential(-0.5 * ratio * ratio)


def _half_width(distance: Doubles) -> Doubles:
    """Angle under which the radius of a person is seen, asin(min(1, r / D)), rad."""
    sine = np.minimum(_BODY / distance, 1.0)
    return angle_between(np.stack((np.sqrt(1.0 - sine * sine), sine), 1), np.array([[1.0, 0.0]]))


@metric(
    "heading_disturbance",
    unit="m/s",
    direction="lower",
    formula="mean over the time with pedestrians of the largest max(g(at), g(cross)) g(seen) |v| exp(-0.8 D / m), g Gaussians of "
    "angles: the heading off the pedestrian and off the middle of crossing in front, the robot in a field of view of 190 degrees",
    source=f"{_SRPB}, person disturbance (thresholds of its code depend on the map's axes; corrected)",
)
def heading_disturbance(recording: Recording) -> float | None:
    """Undefined where there never was a pedestrian, or for a single sample."""
    return _mean_while(recording, _disturbance(recording), somebody(recording)) if len(recording.time) > 1 else None


@metric(
    "heading_disturbance_share",
    unit="",
    direction="lower",
    formula="share of the time with pedestrians in which the largest ``heading_disturbance`` is above 0.2 m/s",
    source=f"{_SRPB}, person disturbance (thresholds of its code depend on the map's axes; corrected)",
)
def heading_disturbance_share(recording: Recording) -> float | None:
    """Undefined where there never was a pedestrian."""
    return _mean_while(recording, _disturbance(recording) > _DISTURBED, somebody(recording))
