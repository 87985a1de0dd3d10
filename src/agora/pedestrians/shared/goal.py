"""The desired direction and speed of a pedestrian, as used by all force models."""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import part, spliced
from agora.core.state import STAY

_TINY = np.float32(1e-12)


@part
def direction(x, y, goal_x, goal_y):
    """Return the unit vector to the goal, and the distance, m; within a few micrometres of the goal, the vector shrinks to 0."""
    dx, dy = goal_x - x, goal_y - y
    distance = math.sqrt(dx * dx + dy * dy + _TINY)
    return dx / distance, dy / distance, distance


@part
def arrival_speed(speed, distance, rate, mode, index, count):
    """Return the preferred speed, m/s, limited to ``rate`` times the distance when approaching a last waypoint at which the
    pedestrian stays.

    With ``rate`` = 1 / (2 tau), a pedestrian with relaxation time tau comes to rest at the waypoint (damping ratio 0.7); without
    this limit, the pedestrian would circle around the waypoint endlessly.
    """
    return min(speed, distance * rate) if mode == STAY and index >= count - 1 else speed


@spliced
def write_directions(crowd, w, top, rate, ex, ey, speed):
    """Write the desired directions (`direction`) and speeds (`arrival_speed`) of the first ``top`` pedestrians of world w."""
    people, traits, waypoints = crowd.pedestrians, crowd.traits, crowd.waypoints
    for i in range(top):
        ex[i], ey[i], distance = direction(people.x[w, i], people.y[w, i], waypoints.x[w, i], waypoints.y[w, i])
        last_one = (waypoints.mode[w, i], waypoints.index[w, i], waypoints.count[w, i])
        speed[i] = arrival_speed(traits.speed[w, i], distance, rate, *last_one)
