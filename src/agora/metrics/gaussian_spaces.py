"""Gaussian spaces around people and groups, and the robot's intrusions into them, as in SRPB (Karwowski and Szynkiewicz 2023).

Personal space is Kirby's asymmetric Gaussian (`agora.costmap.personal_space`) around each pedestrian, aligned with the pedestrian's
heading. SRPB's code uses the standard deviations as variances, and so do the ``.srpb`` variants. Formation space is a circular
Gaussian around the centre of a group; the farthest member is two standard deviations from the centre. Heading disturbance occurs if
the robot heads for a pedestrian, or is about to cross in front of a pedestrian. If several people are present, the maximum counts.
Covariances of tracked people are ignored. The maximum of a Gaussian is 1.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.recording import Recording
from agora.core.state import Bools, Doubles
from agora.costmap.personal_space import BEHIND, SIDE, PersonalSpace
from agora.interfaces import metric
from agora.metrics.quantities.arithmetic import angle_between, exponential, norm
from agora.metrics.quantities.groups import circles
from agora.metrics.quantities.samples import (
    any_present,
    compute_once,
    facing,
    intervals,
    is_lowest,
    offsets,
    pedestrians_facing,
    weighted_mean,
)

GROUP = "intrusion"

_SRPB = "SRPB, Karwowski and Szynkiewicz 2023"
_KIRBY = PersonalSpace()
_INTRUDED, _DISTURBED = 0.5, 0.2
_BODY, _FIELD, _FADING = 0.4, math.radians(190.0), 0.8
"""Parameters of the heading disturbance: radius of a person, m; field of view of a person, rad; rate of decay with distance,
1/m.
"""


def _mean_while(recording: Recording, values: Doubles | Bools, condition: Bools) -> float | None:
    """Return the mean of values (T,) over the time in which a condition (T,) held; None if the condition never held."""
    if len(values) == 1:
        return float(values[0]) if condition[0] else None
    weights = intervals(recording) * condition[:-1]
    return weighted_mean(values[:-1], weights) if weights.any() else None


@compute_once
def _personal_exponents(recording: Recording) -> tuple[Doubles, Doubles]:
    """Return the exponents (T, P) of Kirby's Gaussian around each pedestrian at the robot's position, first with the parameters
    used as standard deviations, then with them used as variances; -inf for absent pedestrians.
    """
    present = recording.pedestrian_present
    x, y, _ = (part[present] for part in offsets(recording))
    cosine, sine = (part[present] for part in pedestrians_facing(recording))
    along, beside = -(cosine * x + sine * y), sine * x - cosine * y
    ahead = np.maximum(_KIRBY.seconds * norm(recording.pedestrian_velocity[present]), _KIRBY.least_deviation)
    along_width, side_width = np.where(along >= 0.0, ahead, BEHIND * ahead), SIDE * ahead
    along, beside = along * along, beside * beside
    by_deviation, by_variance = np.full(present.shape, -np.inf), np.full(present.shape, -np.inf)
    by_deviation[present] = -0.5 * (along / (along_width * along_width) + beside / (side_width * side_width))
    by_variance[present] = -0.5 * (along / along_width + beside / side_width)
    return by_deviation, by_variance


def _largest(exponents: Doubles) -> Doubles:
    """(T,) maximum over pedestrians of the exponentials of exponents (T, P); 0 if there are no pedestrians."""
    return exponential(np.max(exponents, axis=1, initial=-np.inf))


@metric(
    "personal_space_intrusion",
    unit="",
    direction="lower",
    formula="mean over the time with pedestrians of the largest exp(-(a/s)^2/2 - (b/w)^2/2), a ahead of, b to the side of the "
    "pedestrian, "
    "s = f = max(2 s |u|, 0.5 m) ahead and f/2 behind, w = 2 f/3",
    source=f"{_SRPB}; deviations of Kirby 2010, eqs. 4.5 to 4.7",
    values="amount",
    walls="ignored",
)
def personal_space_intrusion(recording: Recording) -> float | None:
    """The value is 1 if the robot is at the position of a pedestrian all the time. Undefined if no pedestrian was ever present."""
    return _mean_while(recording, _largest(_personal_exponents(recording)[0]), any_present(recording))


@metric(
    "personal_space_intrusion_share",
    unit="",
    direction="lower",
    formula="share of the time with pedestrians in which the largest Gaussian of ``personal_space_intrusion`` is above 0.5",
    source=f"{_SRPB}; deviations of Kirby 2010",
    values="share",
    walls="ignored",
)
def personal_space_intrusion_share(recording: Recording) -> float | None:
    """Undefined if no pedestrian was ever present."""
    return _mean_while(recording, _largest(_personal_exponents(recording)[0]) > _INTRUDED, any_present(recording))


@metric(
    "personal_space_intrusion.srpb",
    unit="",
    direction="lower",
    formula="as ``personal_space_intrusion``, with s and w as variances, m2",
    source=f"{_SRPB}, its code",
    values="amount",
    walls="ignored",
)
def personal_space_intrusion_srpb(recording: Recording) -> float | None:
    """Defect of the original: it uses Kirby's standard deviations as variances. The value is a fraction of at most 1, although the
    original code calls it a percentage.
    """
    return _mean_while(recording, _largest(_personal_exponents(recording)[1]), any_present(recording))


@metric(
    "personal_space_intrusion_share.srpb",
    unit="",
    direction="lower",
    formula="share of (sample, pedestrian) pairs whose Gaussian of ``personal_space_intrusion.srpb`` is above 0.5",
    source=f"{_SRPB}, its code",
    values="share",
    walls="ignored",
)
def personal_space_intrusion_share_srpb(recording: Recording) -> float | None:
    """The value is a fraction of all pairs of a sample and a pedestrian, not of time, so people far away reduce it. Undefined if no
    pedestrian was ever present.
    """
    pairs = int(np.count_nonzero(recording.pedestrian_present))
    return float(np.count_nonzero(_personal_exponents(recording)[1] > -math.log(2.0))) / pairs if pairs else None


@compute_once
def _formation_gaussian(recording: Recording) -> tuple[Doubles, Bools]:
    """Return the maximum over groups (T,) of the groups' Gaussians at the robot's position, and whether any group is present
    (T,).
    """
    largest = np.full(len(recording.time), -np.inf)
    for centre, radius, present in circles(recording):
        away = recording.pose[:, :2] - centre
        square = away[:, 0] * away[:, 0] + away[:, 1] * away[:, 1]
        exponent = -2.0 * square / np.maximum(radius * radius, 1e-18)
        largest = np.where(present.any(1), np.maximum(largest, exponent), largest)
    return exponential(largest), largest > -np.inf


@metric(
    "formation_space_intrusion",
    unit="",
    direction="lower",
    formula="mean over the time with groups of the largest exp(-2 D^2 / R^2), D from the robot to the members' mean position, R "
    "from that position to the farthest member",
    source=f"{_SRPB}; SRPB uses an ellipse, here it is a circle",
    values="amount",
)
def formation_space_intrusion(recording: Recording) -> float | None:
    """The value is 1 if the robot is at the centre of a group all the time. Undefined if there are no groups."""
    return _mean_while(recording, *_formation_gaussian(recording))


@metric(
    "formation_space_intrusion_share",
    unit="",
    direction="lower",
    formula="share of the time with groups in which the largest Gaussian of ``formation_space_intrusion`` is above 0.5",
    source=f"{_SRPB}; SRPB uses an ellipse, here it is a circle",
    values="share",
)
def formation_space_intrusion_share(recording: Recording) -> float | None:
    """Undefined if there are no groups."""
    return _mean_while(recording, _formation_gaussian(recording)[0] > _INTRUDED, _formation_gaussian(recording)[1])


@compute_once
def _disturbance(recording: Recording) -> Doubles:
    """(T,) maximum over pedestrians of the heading disturbance, m/s.

    Angles are measured between directions, so the result does not depend on the map's axes. The original thresholds depend on the
    axes, because they contain twice the pedestrian's yaw; they agree with the thresholds of this function if the yaw is 0. The
    maximum of the Gaussians is 1, as the original comment says. Angles are computed only for pedestrians that can still have the
    maximum disturbance, given that b^2 >= 2 (1 - cos b) for a bearing b.
    """
    x, y, distance = offsets(recording)
    cosine, sine = pedestrians_facing(recording)
    away = np.where(recording.pedestrian_present, np.maximum(distance, 1e-9), 1.0)
    facing_it = -(cosine * x + sine * y) / away
    bound = (36.0 / (_FIELD * _FIELD)) * (facing_it - 1.0) - _FADING * away + 1e-9
    bound = np.where(recording.pedestrian_present, bound, -np.inf)
    heading = np.stack(facing(recording), 1)
    largest, first = np.full(len(x), -np.inf), is_lowest(-bound)
    for chosen in (first, ~first):
        sample, column = np.nonzero(chosen & (bound > largest[:, None]))
        pairs = sample, column
        ahead, to_robot = np.stack((cosine[pairs], sine[pairs]), 1), -np.stack((x[pairs], y[pairs]), 1)
        bearing = angle_between(ahead, to_robot)  # bearing of the robot, relative to the pedestrian's heading
        seen, aim = 6.0 * bearing / _FIELD, _aim(heading[sample], ahead, to_robot, bearing)
        values = np.full(x.shape, -np.inf)
        values[pairs] = -0.5 * (seen * seen + aim * aim) - _FADING * distance[pairs]
        largest = np.maximum(largest, np.max(values, axis=1, initial=-np.inf))
    return norm(recording.twist[:, :2]) * exponential(largest)


def _aim(heading: Doubles, ahead: Doubles, to_robot: Doubles, bearing: Doubles) -> Doubles:
    """(N,) deviation of the robot's heading, in standard deviations, from the direction towards the pedestrian or from the middle
    of the directions that cross in front of the pedestrian, whichever is smaller.

    The middle is halfway between the direction towards the pedestrian and the pedestrian's own heading.
    """
    away = np.maximum(norm(to_robot), 1e-9)
    between = ahead - to_robot / away[:, None]
    straight = norm(between) < 1e-9
    between[straight] = np.stack((ahead[straight, 1], -ahead[straight, 0]), 1)
    at_person = 3.0 * angle_between(heading, -to_robot) / _half_width(away)
    in_front = 6.0 * angle_between(heading, between) / np.maximum(math.pi - bearing, 1e-9)
    return np.minimum(at_person, in_front)


def _half_width(distance: Doubles) -> Doubles:
    """Return the angle that the radius of a person subtends, asin(min(1, r / D)), rad."""
    sine = np.minimum(_BODY / distance, 1.0)
    return angle_between(np.stack((np.sqrt(1.0 - sine * sine), sine), 1), np.array([[1.0, 0.0]]))


@metric(
    "heading_disturbance",
    unit="m/s",
    direction="lower",
    formula="mean over the time with pedestrians of the largest max(g(at), g(cross)) g(seen) |v| exp(-0.8 D / m), g Gaussians of "
    "angles: the heading relative to the pedestrian and to the middle of crossing in front, the robot in a field of view "
    "of 190 degrees",
    source=f"{_SRPB}, person disturbance (thresholds in its code depend on the map's axes; corrected)",
    walls="ignored",
)
def heading_disturbance(recording: Recording) -> float | None:
    """Undefined if no pedestrian was ever present, or if there is only one sample."""
    return _mean_while(recording, _disturbance(recording), any_present(recording)) if len(recording.time) > 1 else None


@metric(
    "heading_disturbance_share",
    unit="",
    direction="lower",
    formula="share of the time with pedestrians in which the largest ``heading_disturbance`` is above 0.2 m/s",
    source=f"{_SRPB}, person disturbance (thresholds in its code depend on the map's axes; corrected)",
    values="share",
    walls="ignored",
)
def heading_disturbance_share(recording: Recording) -> float | None:
    """Undefined if no pedestrian was ever present."""
    return _mean_while(recording, _disturbance(recording) > _DISTURBED, any_present(recording))
