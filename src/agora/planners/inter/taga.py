"""TAGA, the tangent action for group avoidance.

S. Sarker Roy et al. 2025, "TAGA: A tangent-based reactive approach for socially compliant robot navigation around human groups".
The paper does not specify the switching distance, the margins or the choice of side; the rule and the default values are those of
the authors' code as published with the paper (UK-Roy/crowd_nav_with_group, 27 February 2025). In that code, the tangent is the
direction perpendicular to the direction of the group's centre, which is a tangent only for a point on the circle. Its "sub-goal" is
a velocity that replaces the local planner's command, so that no pedestrian is avoided in the meantime; this is why collisions with
individuals increase in the paper's table.

One error in that code is not copied: it treats a group that is out of sight as a circle of 15 m around (15, 15) m, which can hide
the other groups.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from agora.core.jit import lean_kernel
from agora.core.recording import Reason
from agora.core.scalar import ONE, ZERO
from agora.core.state import Bools, Floats
from agora.interfaces import Declaration, Guidance, Memory, Observation
from agora.planners.inter._rings import group_numbers, rings
from agora.planners.inter.surroundings import company, unchanged
from agora.planners.steering import velocity_to_twist
from agora.ranges import Chance, Checked, Distance, Length, Positive, TopSpeed


@dataclass(frozen=True)
class Taga(Checked):
    """Drives past a group that is close ahead: perpendicular to the direction of the group's centre, on the side nearer to the
    goal.

    The action starts when the robot is closer than ``margin`` to the group's circle and the group is on the goal's side of the
    robot. It ends when either condition no longer holds, or when the robot is closer to the goal than the group is. If the robot is
    within ``goal_threshold`` of the goal and closer to the goal than a group is, that group and all groups after it in the list are
    ignored.

    Attributes:
        detect: whether groups are detected from positions and velocities; with False they are taken from the tracks (in the
            authors' code, the ground truth).
        link_distance: maximum distance between two members of a group, m; only with ``detect``.
        link_speed: maximum difference between the velocities of two members of a group, m/s; only with ``detect``.
        sensing_range: maximum gap between robot and pedestrian at which a member is seen, m.
        buffer: distance from the farthest member to the group's circle, m.
        margin: distance outside the group's circle within which the action is active, m.
        goal_threshold: distance to the goal within which the robot ignores groups that are farther from the goal than the robot, m.
        direct: whether TAGA drives the robot itself, as in the authors' code; with False, the tangent is a path for the local
            planner, as in the paper.
        speed: speed when TAGA drives the robot itself, m/s.
        turn_gain: turning gain (`agora.planners.steering`) for robots that cannot move sideways, when TAGA drives the robot itself,
            1/s.
        subgoal_distance: length of the path past the group, m.
        danger_threshold: danger level above which the interplanner warns.
    """

    declares: ClassVar[Declaration] = Declaration(needs=("path", "pedestrians"), concurrent=True)

    detect: bool = False
    link_distance: Length = 1.5
    link_speed: TopSpeed = 0.5
    sensing_range: Length = 5.0
    buffer: Distance = 0.1
    margin: Distance = 0.25
    goal_threshold: Distance = 3.0
    direct: bool = True
    speed: TopSpeed = 1.0
    turn_gain: Positive = 2.0
    subgoal_distance: Length = 1.0
    danger_threshold: Chance = 0.6

    def guide(self, observation: Observation, memory: Memory) -> tuple[Guidance, Memory]:
        """Return the path or, near a group, either a twist that replaces the local planner's or the path past the group."""
        o = observation
        assert o.pedestrians is not None and o.path is not None and o.path_count is not None
        label = group_numbers(o.pedestrians, self.link_distance, self.link_speed) if self.detect else o.pedestrians.group
        groups, rows = rings(o, label, self.sensing_range), len(o.pose)
        way, at_work = np.zeros((rows, 2), np.float32), np.zeros(rows, np.bool_)
        sizes = tuple(np.float32(size) for size in (self.buffer, self.margin, self.goal_threshold))
        _tangents(o.pose, o.goal, groups.centre, groups.radius, groups.present, sizes, way, at_work, 0, rows)
        reason = np.where(at_work, np.int8(Reason.AVOIDING_GROUP), np.int8(Reason.NONE))
        plain = replace(unchanged(o), danger=company(o).danger, reason=reason)
        if not at_work.any():
            return plain, memory
        if self.direct:
            twist = velocity_to_twist(np.float32(self.speed) * way, o, self.turn_gain)
            return replace(plain, twist=twist, overrules=at_work), memory
        return self._straight_paths(o, plain, way, at_work), memory

    def _straight_paths(self, o: Observation, plain: Guidance, way: Floats, at_work: Bools) -> Guidance:
        """Return straight paths in the given direction."""
        path, goal = plain.path.copy(), plain.goal.copy()
        end = o.pose[at_work, :2] + np.float32(self.subgoal_distance) * way[at_work]
        if path.shape[1] < 2:
            path = np.repeat(path, 2, axis=1)
        path[at_work] = end[:, None]
        path[at_work, 0] = o.pose[at_work, :2]
        goal[at_work] = np.column_stack((end, np.arctan2(way[at_work, 1], way[at_work, 0])))
        return replace(plain, path=path, path_count=np.where(at_work, np.int32(2), plain.path_count), goal=goal)


@lean_kernel
def _tangents(pose, goal, centre, radius, present, sizes, way, at_work, first, last):
    buffer, margin, threshold = sizes
    for n in range(first, last):
        gx, gy = goal[n, 0] - pose[n, 0], goal[n, 1] - pose[n, 1]
        left = math.sqrt(gx * gx + gy * gy)
        for g in range(present.shape[1]):
            if not present[n, g]:
                break
            cx, cy = centre[n, g, 0] - pose[n, 0], centre[n, g, 1] - pose[n, 1]
            dx, dy = goal[n, 0] - centre[n, g, 0], goal[n, 1] - centre[n, g, 1]
            nearer = left < math.sqrt(dx * dx + dy * dy)
            if nearer and left < threshold:
                break
            away = math.sqrt(cx * cx + cy * cy)
            if gx * cx + gy * cy <= ZERO or away >= radius[n, g] + buffer + margin:
                continue
            if not nearer and away > ZERO:
                side = ONE if cx * gy - cy * gx > ZERO else -ONE
                way[n, 0], way[n, 1], at_work[n] = -side * cy / away, side * cx / away, True
            break
