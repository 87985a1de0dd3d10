"""Intrusions of the robot into groups of people (`agora.metrics.quantities.groups`)."""

from __future__ import annotations

import numpy as np

from agora.core.recording import Recording
from agora.core.state import Array, Bools, Doubles
from agora.interfaces import Metric, metric
from agora.metrics.quantities.arithmetic import norm
from agora.metrics.quantities.groups import circles, inside_groups, members, slots_of_groups
from agora.metrics.quantities.samples import average, compute_once, pedestrians_facing
from agora.metrics.quantities.zones import is_in_zone, zone_formula
from agora.perception import spaces

_TAGA = "Sarker Roy et al. 2025, TAGA"
_AHEAD, _BESIDE = 1.5, 0.6


@metric(
    "group_collision_rate",
    unit="",
    direction="lower",
    formula="share of time in the circle of a group: distance from the centre to the members' mean position < that of the "
    "farthest member + 0.15 m",
    source=f"{_TAGA}, Eq. 7; margins of its code",
    values="share",
)
def group_collision_rate(recording: Recording) -> float:
    """The value is 0 if there are no groups."""
    return average(recording, inside_groups(recording))


@metric(
    "group_intrusion",
    unit="0/1",
    direction="lower",
    formula="1 if the robot is ever in the circle of a group; the mean is the rate (GCR) of TAGA's Table I",
    source=f"{_TAGA}, Table I",
)
def group_intrusion(recording: Recording) -> float:
    """The value is 0 if there are no groups; an intrusion does not end the episode, unlike in the paper's runs."""
    return float(inside_groups(recording).any())


@metric(
    "group_distance_min",
    unit="m",
    direction="higher",
    formula="min over t and groups of the distance from the robot's centre to the members' convex hull, less its radius",
    source="Katyal et al. 2022, IROS (hulls); robot_sf (distance)",
)
def group_distance_min(recording: Recording) -> float | None:
    """Undefined if there are no groups."""
    nearest = [spaces.hull_distance(p, present, recording.pose[:, :2]).min() for p, present in members(recording)]
    return float(min(nearest)) - recording.radius if nearest else None


@metric(
    "group_boundary_min",
    unit="m",
    direction="higher",
    formula="min over t and groups of D - R - r_robot, D to the members' mean position, R from that position to the farthest "
    "member",
    source="robot_sf (signed distance to the boundary of the group's space); the circle is TAGA's, without margins",
)
def group_boundary_min(recording: Recording) -> float | None:
    """The value is negative if the robot is inside a group, unlike ``group_distance_min``. Undefined if there are no groups."""
    place = recording.pose[:, :2]
    nearest = [(norm(place - centre) - radius)[present.any(1)].min() for centre, radius, present in circles(recording)]
    return float(min(nearest)) - recording.radius if nearest else None


@compute_once
def _ahead_of_groups(recording: Recording) -> Doubles:
    """(T,) distance from the robot to the centre of the nearest group, m. The centre of a group is the mean of the points 1.5 m
    ahead of its members.
    """
    nearest = np.full(len(recording.time), np.inf)
    cosine, sine = pedestrians_facing(recording)
    for ever, present in slots_of_groups(recording):
        ahead = np.stack((cosine[:, ever], sine[:, ever]), 2) * _AHEAD + recording.pedestrian_position[:, ever]
        centre, _ = spaces.circle(ahead, present)
        nearest = np.where(present.any(1), np.minimum(nearest, norm(recording.pose[:, :2] - centre)), nearest)
    return nearest


def _share(zone: str) -> Metric:
    def share(recording: Recording) -> float:
        """The value is 0 if there are no groups. Groups that form after the start count, too; the original code ignores them."""
        return average(recording, is_in_zone(_ahead_of_groups(recording) - recording.radius, zone))

    made = metric(
        f"group_space_share_{zone}",
        unit="",
        direction="neutral" if zone == "social" else "lower",
        formula=f"{zone_formula('min D_group - r_robot', zone)}, D_group to the mean of the points 1.5 m ahead of the members",
        source=f"HuNavSim's code, group_{zone}_space_intrusions",
        values="share",
        walls="ignored",
    )
    return made(share)


group_space_share_intimate = _share("intimate")
group_space_share_personal = _share("personal")
group_space_share_social = _share("social")


@compute_once
def _relations(recording: Recording) -> tuple[Doubles, Doubles, Doubles, Bools]:
    """Return four arrays (T, C) for C pairs of group members: the side of the line between the two members on which the robot is;
    the robot's position along the line, from 0 to 1; the robot's distance from the line, m; and whether both members are in the
    group.
    """
    found = [(np.zeros((len(recording.time), 0)),) * 3 + (np.zeros((len(recording.time), 0), np.bool_),)]
    for position, present in members(recording):
        one, other = np.triu_indices(position.shape[1], 1)
        way = position[:, other] - position[:, one]
        to_x, to_y = (position[:, one, k] - recording.pose[:, k, None] for k in (0, 1))
        side = to_x * way[..., 1] - to_y * way[..., 0]
        square = np.maximum(way[..., 0] * way[..., 0] + way[..., 1] * way[..., 1], 1e-300)
        along = -(to_x * way[..., 0] + to_y * way[..., 1]) / square
        found.append((side, along, np.abs(side) / np.sqrt(square), present[:, one] & present[:, other]))
    side, along, beside, both = (np.concatenate(parts, axis=1) for parts in zip(*found, strict=True))
    return side, along, beside, both


@compute_once
def crossings(recording: Recording) -> tuple[Array, Array, Array, Doubles]:
    """Return the E events in which the robot's centre crosses the line segment between two members of a group.

    The arrays (E,) are the sample before each crossing, the slots of the two members (two arrays), and the position of the crossing
    along the line, from 0 to 1.
    """
    side, along, _, both = _relations(recording)
    changed = ((side[1:] >= 0.0) != (side[:-1] >= 0.0)) & both[1:] & both[:-1]
    scale = np.where(changed, side[1:] - side[:-1], 1.0)
    at = along[:-1] - (along[1:] - along[:-1]) * (side[:-1] / scale)
    step, pair = np.nonzero(changed & (at >= 0.0) & (at <= 1.0))
    slots = [np.flatnonzero(ever)[np.stack(np.triu_indices(ever.sum(), 1))] for ever, _ in slots_of_groups(recording)]
    one, other = np.concatenate([np.zeros((2, 0), np.int64), *slots], axis=1)
    return step, one[pair], other[pair], at[step, pair]


@metric(
    "relation_disturbance",
    unit="",
    direction="lower",
    formula="number of times the robot's centre crossed the line between two members of a group, between them",
    source="srl-freiburg/navmet, relation_disturbance; crossings here, samples next to the line in navmet",
    values="count",
)
def relation_disturbance(recording: Recording) -> float:
    """Events are counted for each pair of members, even if the members are moving. The value is 0 if there are no groups."""
    return float(len(crossings(recording)[0]))


@metric(
    "relation_disturbance.navmet",
    unit="",
    direction="lower",
    formula="number of samples with the robot's centre between two members of a group, less than 0.6 m from their line",
    source="srl-freiburg/navmet, relation_disturbance",
    values="count",
)
def relation_disturbance_navmet(recording: Recording) -> float:
    """Disturbances are summed over pairs of members. The value grows with the sampling rate, as in the original code; it is 0 if
    there are no groups.
    """
    _, along, beside, both = _relations(recording)
    return float(np.count_nonzero(both & (along >= 0.0) & (along <= 1.0) & (beside < _BESIDE)))
