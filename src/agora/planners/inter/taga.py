"""TAGA, the tangent action for group avoidance.

S. Sarker Roy et al. 2025, "TAGA: A tangent-based reactive approach for socially compliant robot navigation around human groups".
The paper does not specify the switching distance, the margins and the choice of the side; the rule and the defaults here are those
of the authors' code as published with the paper (UK-Roy/crowd_nav_with_group, 27 February 2025). Its tangent is the direction
perpendicular to that of the group's centre, a tangent only for a point on the circle, and its "sub-goal" is a velocity that
replaces the local planner's, so that no pedestrian is avoided meanwhile: this is why collisions with individuals increase in the
paper's table.

One error of that code is not copied: there a group out of sight counts as a circle of 15 m around (15, 15) m and can hide the
others.
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
    """Drives past a group that is close ahead, perpendicular to the direction of its centre, on the side nearer to the goal.

    The action starts when the robot is nearer than ``margin`` to the group's circle and the group is on the goal's side of the
    robot. It ends when either condition ends, or the robot is nearer to the goal than the group. If the robot is within
    ``goal_threshold`` of the goal and nearer to it than a group, that group and the following ones in the list do not count.

    Attributes:
        detect: whether groups are detected from positions and velocities; False takes them from the tracks (the code's ground
            truth).
        link_distance: maximum distance between two members of a group, m; only with ``detect``.
        link_speed: maximum difference of their velocities, m/s; only with ``detect``.
        sensing_range: gap up to which members are seen, m.
        buffer: distance from the farthest member to the group's circle, m.
        margin: distance from that circle outwards, within which the action is active, m.
        goal_threshold: distance to the goal within which groups farther from it do not count, m.
        direct: whether TAGA itself drives, as in the code; False makes the tangent a path for the local planner, as in the paper.
        speed: speed of driving itself, m/s.
        turn_gain: turning gain of robots that cannot move sideways, when driving itself (`agora.planners.steering`), 1/s.
        subgoal_distance: length of the path, m.
        danger_threshold: level of danger above which it warns.
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
        """Return the path, and near a group the twist to drive instead, or the path past the group."""
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
        """Return paths that are straight in the given direction."""
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
