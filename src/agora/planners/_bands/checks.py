"""Checks for a timed elastic band: the feasibility of its first poses, and a preferred turning direction for robots that oscillate.

Based on teb_local_planner (optimal_planner.cpp, recovery_behaviors.cpp, teb_local_planner_ros.cpp).
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden
from agora.core.scalar import ONE, PI, ZERO, sincos, wrap
from agora.planners._bands.discs import position_at
from agora.planners._rollouts.grids import cell_of, footprint_cost

FREE, WALL, DISC, CONTACT, LOST = 0, 1, 2, 3, 4
_FAR = np.float32(1e6)
_INSCRIBED = 253


@hidden
def _oscillates(p, history, noted):
    """Return whether the robot, on average, neither moves forward nor turns, while its turning rate changes sign."""
    held = min(noted, history.shape[0])
    if held < history.shape[0] // 2 or held < 2:
        return False
    speed, omega, changes = ZERO, ZERO, 0
    oldest = noted % history.shape[0] if noted > history.shape[0] else 0
    before = ZERO
    for k in range(held):
        line = history[(oldest + k) % history.shape[0]]
        speed += line[0]
        omega += line[1]
        sign = math.copysign(ONE, line[1]) if line[1] != ZERO else ZERO
        changes += k > 0 and sign != before
        before = sign
    many = np.float32(held)
    return abs(speed / many) < p.oscillation_v_eps and abs(omega / many) < p.oscillation_omega_eps and changes > 1


@hidden
def choose_turn(p, history, turning, omega):
    """Choose the preferred turning direction for this period. Once the robot oscillates, this is the robot's current turning
    direction, which is then kept for a while.
    """
    if not p.oscillation_recovery:
        return
    if _oscillates(p, history, turning[0]):
        if turning[2] == 0:
            turning[1] = 1 if omega > ZERO else -1
        turning[2] = p.oscillation_periods
    elif turning[2] > 0:
        turning[2] -= 1
        if turning[2] == 0:
            turning[1] = 0


@hidden
def record_command(b, history, turning, twist):
    """Record a command in the history."""
    line = history[turning[0] % history.shape[0]]
    most = b.forward if twist[0] >= ZERO else b.backward
    omega = max(b.omega, most / b.turning_radius) if b.turning_radius > ZERO and most > ZERO else b.omega
    line[0] = twist[0] / most if most > ZERO else ZERO
    line[1] = twist[2] / omega if omega > ZERO else ZERO
    turning[0] += 1


@hidden
def is_blocked(scene, n, x, y, still, standing):
    """Return whether the robot would overlap a wall or a stationary disc at a position, whatever its heading."""
    column, row = cell_of(
        scene.pose[n, 0] - scene.origin[n, 0] + x, scene.pose[n, 1] - scene.origin[n, 1] + y, ONE / scene.resolution, scene.cost[n]
    )
    if column < 0 or scene.cost[n, row, column] >= _INSCRIBED:
        return True
    for q in range(standing):
        dx, dy, apart = still[q, 0] - x, still[q, 1] - y, still[q, 2] + scene.inscribed[n]
        if still[q, 2] > ZERO and dx * dx + dy * dy < apart * apart:
            return True
    return False


@hidden
def _is_on_wall(scene, n, x, y, sine, cosine):
    """Return whether the footprint would overlap an obstacle at a position, relative to the robot, m."""
    left, bottom = scene.pose[n, 0] - scene.origin[n, 0] + x, scene.pose[n, 1] - scene.origin[n, 1] + y
    corners_x, corners_y, inverse = scene.footprint_x[n], scene.footprint_y[n], ONE / scene.resolution
    return footprint_cost(scene.cost[n], corners_x, corners_y, ONE, left, bottom, sine, cosine, inverse) < 0


@hidden
def _clearance(moving, movers, x, y, time, radius):
    """Return the distance to the nearest moving disc at a position and time, clipped to at most 0."""
    least = ZERO
    for q in range(movers):
        px, py = position_at(moving[q], time)
        dx, dy = px - x, py - y
        least = min(least, math.sqrt(dx * dx + dy * dy) - moving[q, 4] - radius)
    return least


@hidden
def is_feasible(p, scene, n, band, count, moving, movers):
    """Check the first poses for collisions, including intermediate poses at most a robot's width or half a turn apart.

    Moving discs are considered for the stopping time after the first step; no disc may penetrate the robot more deeply than it does
    now.

    Returns:
        `FREE`, `WALL`, `DISC`, `CONTACT` if the robot is in a wall now, or `LOST` if a pose is non-finite.
    """
    time, radius = ZERO, scene.radius[n]
    allowed = _clearance(moving, movers, ZERO, ZERO, ZERO, radius)
    soon = scene.dt_ref[n] + abs(scene.twist[n, 0]) / min(p.acc_lim_x, scene.acc_x[n])
    last = count - 1 if scene.checked[n] < 0 else min(np.int64(scene.checked[n]), count - 1)
    checked = p.feasibility_check_lookahead_distance
    if checked > ZERO:
        for i in range(last, 0, -1):
            if band[i, 0] * band[i, 0] + band[i, 1] * band[i, 1] > checked * checked:
                last = i - 1
    for i in range(last + 1):
        pieces, dx, dy, turn = 1, ZERO, ZERO, ZERO
        if i < last:
            dx, dy, turn = band[i + 1, 0] - band[i, 0], band[i + 1, 1] - band[i, 1], wrap(band[i + 1, 2] - band[i, 2])
            pieces = max(int(np.ceil(max(math.sqrt(dx * dx + dy * dy) / scene.inscribed[n], abs(turn) / PI))), 1)
        for k in range(pieces):
            share = np.float32(k) / np.float32(pieces)
            sine, cosine = sincos(wrap(band[i, 2] + share * turn))
            x, y, then = band[i, 0] + share * dx, band[i, 1] + share * dy, time + share * band[i, 3]
            if not abs(x) + abs(y) + abs(sine) + band[i, 3] < _FAR:
                return LOST
            if _is_on_wall(scene, n, x, y, sine, cosine):
                return CONTACT if i == 0 and k == 0 else WALL
            if then <= soon and _clearance(moving, movers, x, y, then, radius) < allowed:
                return DISC
        time += band[i, 3]
    return FREE
