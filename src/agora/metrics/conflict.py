"""Times to collision between the robot and pedestrians, assuming that both keep their current velocities."""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import lean_kernel
from agora.core.recording import Recording
from agora.core.state import Doubles, freeze
from agora.interfaces import metric
from agora.metrics.quantities.arithmetic import norm
from agora.metrics.quantities.outline import times_to_touch
from agora.metrics.quantities.samples import MOVING, average, closest, compute_once, ever_present, offsets, velocities

_SOCNAVBENCH = "Biswas et al. 2022, SocNavBench, Table 1"
_LATE = 10.0


@compute_once
def _relative_velocity(recording: Recording) -> tuple[Doubles, Doubles]:
    """(T, P) velocity of the pedestrians relative to the robot, x and y, m/s."""
    velocity = velocities(recording)
    vx = recording.pedestrian_velocity[:, :, 0] - velocity[:, 0, None]
    vy = recording.pedestrian_velocity[:, :, 1] - velocity[:, 1, None]
    return vx, vy


@compute_once
def touch_time(recording: Recording) -> Doubles:
    """(T,) time until the robot's outline touches the outline of any pedestrian at constant velocities, s; at most 10; 0 if they
    overlap.
    """
    return np.minimum(closest(times_to_touch(recording, *_relative_velocity(recording))), _LATE)


@compute_once
def sight_time(recording: Recording) -> Doubles:
    """(T,) time to collision as in SocNavBench's code, s; at most 10.

    The time is the centre distance minus the robot's radius, divided by the closing speed along the line between the centres. The
    lateral offset is ignored.
    """
    (x, y, distance), (vx, vy) = offsets(recording), _relative_velocity(recording)
    product = x * vx + y * vy
    closing = recording.pedestrian_present & (product < 0.0)
    soon = np.full(distance.shape, _LATE)
    gap = np.maximum(np.where(closing, distance, 0.0) - recording.radius, 0.0)
    np.divide(gap * np.where(closing, distance, 0.0), -product, out=soon, where=closing)
    return np.minimum(closest(soon), _LATE)


@metric(
    "time_to_collision_min",
    unit="s",
    direction="higher",
    formula="min over t and pedestrians of min(10, smallest tau >= 0 at which their outlines touch)",
    source=f"{_SOCNAVBENCH} (as in its text); SocNavGym",
    version=2,
    walls="ignored",
)
def time_to_collision_min(recording: Recording) -> float | None:
    """Undefined if no pedestrian was ever present."""
    return float(touch_time(recording).min()) if ever_present(recording) else None


@metric(
    "time_to_collision_average",
    unit="s",
    direction="higher",
    formula="mean over time of min(10, smallest tau >= 0 at which its outline touches any pedestrian's)",
    source=f"{_SOCNAVBENCH} (as in its text)",
    version=2,
    walls="ignored",
)
def time_to_collision_average(recording: Recording) -> float | None:
    """Undefined if no pedestrian was ever present."""
    return average(recording, touch_time(recording)) if ever_present(recording) else None


@metric(
    "time_to_collision_min.socnavbench",
    unit="s",
    direction="higher",
    formula="min over t and approaching pedestrians of min(10, (D - r_robot) / closing speed along the line of sight)",
    source=f"{_SOCNAVBENCH} (as in its code, but with simultaneous velocities)",
    values="any",
    walls="ignored",
)
def time_to_collision_min_socnavbench(recording: Recording) -> float | None:
    """Undefined if no pedestrian was ever present."""
    return float(sight_time(recording).min()) if ever_present(recording) else None


@metric(
    "time_to_collision_average.socnavbench",
    unit="s",
    direction="higher",
    formula="mean over time of min(10, (D - r_robot) / closing speed along the line of sight for any approaching pedestrian)",
    source=f"{_SOCNAVBENCH} (as in its code, but with simultaneous velocities)",
    values="any",
    walls="ignored",
)
def time_to_collision_average_socnavbench(recording: Recording) -> float | None:
    """Undefined if no pedestrian was ever present."""
    return average(recording, sight_time(recording)) if ever_present(recording) else None


@metric(
    "time_to_collision_min.robot_sf",
    unit="s",
    direction="higher",
    formula="min over t and approaching pedestrians of D / |dv|, dv the relative velocity",
    source="robot_sf, time_to_collision_min",
    walls="ignored",
)
def time_to_collision_min_robot_sf(recording: Recording) -> float | None:
    """Defects of the original: it ignores the radii, and it treats pedestrians who will pass by like pedestrians who will collide.
    Undefined if no pedestrian ever approached.
    """
    (x, y, distance), (vx, vy) = offsets(recording), _relative_velocity(recording)
    closing = recording.pedestrian_present & (x * vx + y * vy < 0.0)
    times = distance[closing] / np.sqrt(vx * vx + vy * vy)[closing]
    return float(times.min()) if len(times) else None


@metric(
    "time_headway_min",
    unit="s",
    direction="higher",
    formula="min over t of (distance to contact with a pedestrian ahead that moves in the same direction within 45 deg) / "
    "robot's speed, at most 10",
    source="Vogel 2003, Accident Analysis and Prevention 35: time between leader and follower at one place; discs are ours",
    values="any",
    walls="ignored",
)
def time_headway_min(recording: Recording) -> float | None:
    """Only pedestrians ahead of the robot count: the distance to the robot's line of motion must be less than the sum of both
    radii. Undefined if the robot never followed anyone.
    """
    velocity, (x, y, _) = velocities(recording), offsets(recording)
    speed = norm(velocity)
    scale = 1.0 / np.maximum(speed, MOVING)
    ux, uy = (velocity[:, 0] * scale)[:, None], (velocity[:, 1] * scale)[:, None]
    ahead, aside = ux * x + uy * y, ux * y - uy * x
    reach = recording.radius + recording.pedestrian_radius
    walking = recording.pedestrian_velocity
    along, total = ux * walking[:, :, 0] + uy * walking[:, :, 1], norm(walking)
    leads = (ahead > 0.0) & (aside * aside < reach * reach) & (total >= MOVING) & (along > math.sqrt(0.5) * total)
    leads &= recording.pedestrian_present & (speed >= MOVING)[:, None]
    chord = np.sqrt(np.where(leads, reach * reach - aside * aside, 0.0))
    times = (np.maximum(ahead - chord, 0.0) * scale[:, None])[leads]
    return min(float(times.min()), _LATE) if len(times) else None


@lean_kernel
def _reduce_encroachment(time, place, people, present, reach, best, first, last):
    """Reduce ``best`` (1,) to the minimum time between the moments at which the robot and a pedestrian occupy positions where their
    discs would overlap.

    ``place`` (T, 2) contains the robot's positions; ``people`` (T, P, 2) and ``present`` (T, P) the pedestrians' positions and
    presence; ``reach`` (P,) is the sum of both radii. The samples ``first <= k < last`` of the robot are used.
    """
    for k in range(first, last):
        for p in range(reach.shape[0]):
            for way in (-1, 1):
                j = k
                while 0 <= j < time.shape[0] and abs(time[j] - time[k]) < best[0]:
                    dx, dy = people[j, p, 0] - place[k, 0], people[j, p, 1] - place[k, 1]
                    if present[j, p] and dx * dx + dy * dy < reach[p] * reach[p]:
                        best[0] = abs(time[j] - time[k])
                    j += way


@metric(
    "post_encroachment_time_min",
    unit="s",
    direction="higher",
    formula="min over pedestrians, and over points of both paths where their discs would overlap, of the time between the two "
    "passages",
    source="Allen, Shin and Cooper 1978, Transportation Research Record 667; here for discs",
    walls="ignored",
)
def post_encroachment_time_min(recording: Recording) -> float | None:
    """Either party may come first. The value is 0 if robot and pedestrian touched; it is undefined if no two passages were less
    than 10 s apart.
    """
    best, reach = np.array([_LATE]), recording.radius + recording.pedestrian_radius
    given = (recording.time, recording.pose[:, :2], recording.pedestrian_position, recording.pedestrian_present, reach)
    _reduce_encroachment(*(freeze(one) for one in given), best, 0, len(recording.time))
    return float(best[0]) if best[0] < _LATE else None
