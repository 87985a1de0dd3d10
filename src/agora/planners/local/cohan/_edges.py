"""The costs between a robot's band and the bands of people: quantities and their derivatives.

Singamaneni, Favier and Alami, "Human-aware navigation planner for diverse human-robot interaction contexts", IROS 2021; based on
the hateb_local_planner package of CoHAN 2 for ROS 1 (edge_agent_robot_safety.h, edge_agent_robot_rel_velocity.h,
edge_agent_robot_visibility.h, edge_agent_agent_safety.h, edge_invisible_human.h, penalties.h). The derivatives are our own.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden
from agora.core.scalar import ONE, TWO, ZERO
from agora.planners._bands import edges

_FIVE, _LN2 = np.float32(5.0), np.float32(math.log(2.0))
_SLOW, _LEAST = np.float32(0.1), np.float32(0.01)
_EMERGES, _BRAKES, _REACTS = np.float32(1.5), np.float32(0.68), np.float32(0.5)  # m/s, m/s2, s


@hidden
def safety(far, least):
    """Return v + v^2, where v is the amount by which a distance is below its minimum, and the derivative with respect to the
    distance.
    """
    missing, slope = edges.shortfall(far, least)
    return missing * missing + missing, slope * (TWO * missing + ONE)


@hidden
def excess(value, most):
    """Return the excess of a value above ``most``, and its derivative."""
    if value > most:
        return value - most, ONE
    return ZERO * value, ZERO


@hidden
def closing_cost(robot, after, dt, person, person_after, person_dt, row):
    """Return the cost of the robot's speed and of the speed at which the robot and a person approach each other: (max(c, 0) + |v| +
    1) / distance.

    v is the robot's velocity, and c is the dot product of the relative velocity and the vector from the robot to the person. The
    poses are those at the start and at the end of a step of the robot and of the person. The derivatives are written into ``row``:
    with respect to x and y of the robot's first pose, the duration of its step, and x and y of its next pose, followed by the same
    for the person.
    """
    dx, dy = person[0] - robot[0], person[1] - robot[1]
    far, _, _ = edges.length(dx, dy)
    ux, uy = (after[0] - robot[0]) / dt, (after[1] - robot[1]) / dt
    wx, wy = (person_after[0] - person[0]) / person_dt, (person_after[1] - person[1]) / person_dt
    fast, fast_x, fast_y = edges.length(ux, uy)
    together = (ux - wx) * dx + (uy - wy) * dy
    on = ONE if together > ZERO else ZERO
    value = (on * together + fast + ONE) / far
    by_ux, by_uy = (on * dx + fast_x) / far, (on * dy + fast_y) / far
    by_wx, by_wy = -on * dx / far, -on * dy / far
    by_dx, by_dy = on * (ux - wx) / far - value * dx / (far * far), on * (uy - wy) / far - value * dy / (far * far)
    row[0], row[1] = -by_ux / dt - by_dx, -by_uy / dt - by_dy
    row[2] = -(by_ux * ux + by_uy * uy) / dt
    row[3], row[4] = by_ux / dt, by_uy / dt
    row[5], row[6] = by_dx - by_wx / person_dt, by_dy - by_wy / person_dt
    row[7] = -(by_wx * wx + by_wy * wy) / person_dt
    row[8], row[9] = by_wx / person_dt, by_wy / person_dt
    return value


@hidden
def unseen_cost(robot, person, cosine):
    """Return the cost 5 2^-(distance^2) of a robot that a person cannot see and that faces in a similar direction to the person,
    and the derivatives of the cost with respect to x and y.

    The person sees the robot if the cosine of the angle between the person's heading and the direction to the robot is greater than
    ``cosine``. Upstream treats radians as degrees, so that the person sees the robot only within 0.05 rad.
    """
    dx, dy = robot[0] - person[0], robot[1] - person[1]
    far, _, _ = edges.length(dx, dy)
    look_x, look_y = math.cos(person[2]), math.sin(person[2])
    seen = look_x * dx + look_y * dy > cosine * far
    if seen or look_x * math.cos(robot[2]) + look_y * math.sin(robot[2]) < ZERO:
        return ZERO * dx, ZERO * dx, ZERO * dx
    value = _FIVE * math.exp(-_LN2 * (dx * dx + dy * dy))
    return value, -TWO * _LN2 * dx * value, -TWO * _LN2 * dy * value


@hidden
def meeting_time(far, speed, time):
    """Return the time until a robot meets a person that steps out, and the derivatives of this time with respect to the distance
    between them and the robot's speed.

    The person walks at 1.5 m/s, and brakes after a reaction time of 0.5 s.
    """
    together = _EMERGES + speed - _SLOW
    on = ONE
    if time > _REACTS:
        together -= _BRAKES * time
        if together < _LEAST:
            together, on = _LEAST, ZERO
    value = far / together
    return value, ONE / together, -on * value / together
