"""Advances pedestrians from generation t to t + dt: simulated pedestrians according to the crowd model's output, replayed
pedestrians along their recordings.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden, inlined, lean_kernel
from agora.core.scalar import ONE, ZERO, atan2
from agora.core.state import LOOP, RANDOM
from agora.seeds import uniform_at
from agora.world.records import ADDED
from agora.world.replayed import place_replayed

_TINY = np.float32(1e-12)
LARGEST = np.float32(1e6)
"""Maximum absolute value of a component in a crowd model's output: m/s2 for accelerations, m/s for velocities."""

_WALKING = np.float32(0.05)  # below this speed, m/s, a pedestrian keeps its heading


@inlined
def _next_velocity(vx, vy, ox, oy, acceleration, cap, dt):
    """Convert a crowd model's output to a velocity, with the speed limited to ``cap``."""
    a = vx + ox * dt if acceleration else ox
    b = vy + oy * dt if acceleration else oy
    s = math.sqrt(a * a + b * b + _TINY)
    k = cap / s if s > cap else ONE
    return a * k, b * k


@hidden
def _integrate(now, after, traits, w, vx, vy, dt):
    """Integrate the chosen velocities with the semi-implicit Euler method; pedestrians that want to stand do not move."""
    x, y, speed, cx, cy = now.x[w], now.y[w], traits.speed[w], vx[w], vy[w]
    next_x, next_y, next_vx, next_vy = after.x[w], after.y[w], after.vx[w], after.vy[w]
    for i in range(x.size):
        after.active[w, i] = now.active[w, i]
    for i in range(x.size):
        k = ONE if speed[i] > ZERO else ZERO
        a, b = cx[i] * k, cy[i] * k
        next_vx[i] = a
        next_vy[i] = b
        next_x[i] = x[i] + a * dt
        next_y[i] = y[i] + b * dt


@lean_kernel
def choose_velocities(dt, substep, substeps, acceleration, factor, number, now, traits, answers, out_x, out_y, first, last):
    """Write each pedestrian's velocity at the end of a substep, according to its own crowd model.

    Args:
        dt: physics step, s.
        substep: number of the substep, from 1 to ``substeps``; all substeps are equally long.
        acceleration: (K,) whether each model outputs accelerations.
        factor: (K,) speed cap of each model, as a multiple of the preferred speed.
        number: (W, P) index of the model that moves each pedestrian.
        answers: (K, 2, W, P) outputs of the models.
    """
    h = dt / np.float32(substeps)
    for w in range(first, last):
        vx, vy, speed, mine, wx, wy = now.vx[w], now.vy[w], traits.speed[w], number[w], out_x[w], out_y[w]
        for k in range(answers.shape[0]):
            ox, oy = answers[k, 0, w], answers[k, 1, w]
            for i in range(vx.size):
                a, b = _next_velocity(vx[i], vy[i], ox[i], oy[i], acceleration[k], speed[i] * factor[k], h)
                wx[i] = a if mine[i] == k else wx[i]
                wy[i] = b if mine[i] == k else wy[i]


@lean_kernel
def find_unwalkable(now, number, answers, first, last):
    """Return ``w * P + i`` for the first pedestrian whose model's output is non-finite or exceeds `LARGEST`; -1 if there is none.

    Args:
        now: pedestrians at the beginning of the substep.
        number: (W, P) index of the model that moves each pedestrian.
        answers: (K, 2, W, P) outputs of the models.
    """
    slots = number.shape[1]
    for w in range(first, last):
        for i in range(slots):
            x, y = answers[number[w, i], 0, w, i], answers[number[w, i], 1, w, i]
            if now.active[w, i] and not (abs(x) <= LARGEST and abs(y) <= LARGEST):
                return w * slots + i
    return -1


@lean_kernel
def take_forces(dt, substeps, factor, number, now, traits, fed, out_x, out_y, first, last):
    """Add the effect of external forces to the velocities that crowd models chose (`agora.world.records.Fed`).

    Args:
        dt: physics step, s.
        substeps: number of substeps per step.
        factor: (K,) speed cap of each crowd model, as a multiple of the preferred speed.
        number: (W, P) index of the model whose speed cap applies.
    """
    h = dt / np.float32(substeps)
    for w in range(first, last):
        vx, vy, speed = now.vx[w], now.vy[w], traits.speed[w]
        for i in range(vx.size):
            fed.own_x[w, i] = (out_x[w, i] - vx[i]) / h
            fed.own_y[w, i] = (out_y[w, i] - vy[i]) / h
            if fed.how[w, i] == 0:
                continue
            added = fed.how[w, i] == ADDED
            bx, by = (out_x[w, i], out_y[w, i]) if added else (vx[i], vy[i])
            cap = speed[i] * factor[number[w, i]]
            out_x[w, i], out_y[w, i] = _next_velocity(bx, by, fed.x[w, i], fed.y[w, i], True, cap, h)


@hidden
def _copy_world(now, after, w):
    """Copy the state of a finished world unchanged."""
    for i in range(now.x.shape[1]):
        after.x[w, i], after.y[w, i] = now.x[w, i], now.y[w, i]
        after.vx[w, i], after.vy[w, i] = now.vx[w, i], now.vy[w, i]
        after.heading[w, i], after.active[w, i] = now.heading[w, i], now.active[w, i]


@hidden
def _turn_headings(now, after, w):
    """Set the headings of moving pedestrians."""
    heading, next_heading, vx, vy = now.heading[w], after.heading[w], after.vx[w], after.vy[w]
    for i in range(heading.size):
        moving = vx[i] * vx[i] + vy[i] * vy[i] > _WALKING * _WALKING
        angle = atan2(vy[i], vx[i])
        next_heading[i] = angle if moving else heading[i]


@hidden
def next_waypoint(traits, waypoints, clock, w, i, substep):
    """Make the next waypoint the current one, for a pedestrian with at least two waypoints."""
    k, n = waypoints.index[w, i], waypoints.count[w, i]
    if waypoints.mode[w, i] == RANDOM:
        k = (k + 1 + np.int32(uniform_at(clock.key[w], traits.id[w, i], clock.step[w], substep - 1) * (n - 1))) % n
    elif waypoints.mode[w, i] == LOOP:
        k = (k + 1) % n
    else:
        k = min(k + 1, n - 1)
    waypoints.index[w, i] = k
    waypoints.x[w, i], waypoints.y[w, i] = waypoints.list_x[w, i, k], waypoints.list_y[w, i, k]


@hidden
def _pass_reached(after, traits, waypoints, clock, w, substep):
    """Make the next waypoint the current one, for all pedestrians that have reached the current waypoint."""
    for i in range(traits.count[w]):
        if waypoints.count[w, i] < 2 or not after.active[w, i]:
            continue
        k = waypoints.index[w, i]
        dx, dy = waypoints.list_x[w, i, k] - after.x[w, i], waypoints.list_y[w, i, k] - after.y[w, i]
        if dx * dx + dy * dy <= waypoints.tolerance[w, i] * waypoints.tolerance[w, i]:
            next_waypoint(traits, waypoints, clock, w, i, substep)


@lean_kernel
def reset_wishes(traits, waypoints, minds, clock, first, last):
    """Before behaviours run, reset each pedestrian's goal to the current waypoint in its list, and its speed to its undisturbed
    speed.
    """
    for w in range(first, last):
        if clock.done[w]:
            continue
        for i in range(traits.count[w]):
            traits.speed[w, i] = minds.speed[w, i]
            if waypoints.count[w, i] > 0:
                k = waypoints.index[w, i]
                waypoints.x[w, i], waypoints.y[w, i] = waypoints.list_x[w, i, k], waypoints.list_y[w, i, k]


@lean_kernel
def advance_pedestrians(dt, substep, substeps, now, after, traits, waypoints, replay, clock, vx, vy, first, last):
    """Write the pedestrians of worlds ``first <= w < last`` at the end of a substep; finished worlds are left unchanged.

    Args:
        dt: physics step, s.
        substep: number of the substep, from 1 to ``substeps``; all substeps are equally long.
        now: pedestrians at the beginning of the substep.
        after: pedestrians at the end of the substep.
        vx: (W, P) velocities at the end of the substep, x, m/s.
        vy: (W, P) velocities at the end of the substep, y, m/s.
    """
    h, share = dt / np.float32(substeps), np.float64(substep) / np.float64(substeps)
    for w in range(first, last):
        if clock.done[w]:
            _copy_world(now, after, w)
            continue
        _integrate(now, after, traits, w, vx, vy, h)
        if replay.time.size > 1:
            place_replayed(replay, after, traits, w, (clock.step[w] + share) * np.float64(dt), share * np.float64(dt))
        _turn_headings(now, after, w)
        _pass_reached(after, traits, waypoints, clock, w, substep)
