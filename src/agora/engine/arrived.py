"""Arrived is standing: whoever stays at a place and has come there stands, whatever the crowd model says, until somebody pushes.

Models that slow down on the way to a last waypoint come to rest there by themselves, and nothing changes for them. Some do not: they
run past the place and turn back for ever, creep about, or press against somebody who stands on it. Who has been moving about at the
place for a while, though nobody comes, is brought to rest and stays so. Whoever comes near, or overlaps such a one, lets the model
move it again.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden, lean_kernel
from agora.core.scalar import ONE, ZERO
from agora.core.state import STAY
from agora.engine.taken import STANDS, is_taken
from agora.pedestrians.neighbours import SEES_PEDESTRIANS, SEES_ROBOTS

_STILL = np.float32(0.05)  # m/s, up to which one counts as at rest
_PATIENCE = np.float32(4.0)  # s of moving about at the place; who slows down comes to rest within three
_CALM = np.float32(0.5)  # of that counts for who creeps about no faster than that
_BRAKE = np.float32(3.0)  # m/s2
_SOON = np.float32(5.0)  # s within which somebody who comes is somebody who pushes
_ROOM = np.float32(0.4)  # m, between the bodies, to which one comes
_FOR_GOOD = np.float32(np.inf)
_TINY = np.float32(1e-6)


@hidden
def _comes(px, py, vx, vy, bodies):
    """Whether a body at (px, py) m from one that stands, which goes at (vx, vy) m/s, soon comes near or overlaps it now."""
    if px * px + py * py < bodies * bodies:
        return True
    speed2 = vx * vx + vy * vy
    if speed2 < STANDS * STANDS:
        return False
    t = min(max(-(px * vx + py * vy) / speed2, ZERO), _SOON)
    nx, ny, near = px + t * vx, py + t * vy, bodies + _ROOM
    return nx * nx + ny * ny < near * near


@hidden
def _is_pushed(sees, people, traits, robots, robot_traits, w, i):
    """Whether somebody whom pedestrian i sees comes near, or overlaps it."""
    x, y, own = people.x[w, i], people.y[w, i], traits.radius[w, i]
    for j in range(traits.count[w] if sees & SEES_PEDESTRIANS else 0):
        if j != i and people.active[w, j]:
            place = people.x[w, j] - x, people.y[w, j] - y
            if _comes(*place, people.vx[w, j], people.vy[w, j], own + traits.radius[w, j]):
                return True
    for r in range(robots.x.shape[1] if sees & SEES_ROBOTS else 0):
        if robots.active[w, r]:
            place = robots.x[w, r] - x, robots.y[w, r] - y
            if _comes(*place, robots.world_vx[w, r], robots.world_vy[w, r], own + robot_traits.radius[w, r]):
                return True
    return False


@hidden
def _is_there(sees, people, traits, waypoints, robots, robot_traits, w, i):
    """Whether pedestrian i has come to the place where it stays, or as near to it as who stands there lets it come."""
    k = waypoints.index[w, i]
    x, y = waypoints.list_x[w, i, k], waypoints.list_y[w, i, k]
    led = waypoints.x[w, i] != x or waypoints.y[w, i] != y
    if waypoints.mode[w, i] != STAY or k < waypoints.count[w, i] - 1 or led:
        return False
    dx, dy, tolerance = x - people.x[w, i], y - people.y[w, i], waypoints.tolerance[w, i]
    if dx * dx + dy * dy <= tolerance * tolerance:
        return True
    return is_taken(sees, people, traits, waypoints, robots, robot_traits, w, i)


@lean_kernel
def stand(
    dt, substeps, sees, people, traits, waypoints, replay, robots, robot_traits, clock, forced, restless, out_x, out_y, first, last
):  # fmt: skip
    """Bring those to rest who have arrived and move about there: change the velocities (W, P) that were chosen for them.

    Args:
        dt: physics step, s; substeps: into which it is divided.
        sees: bits as for crowd models (`agora.interfaces.CompiledCrowdModel`).
        people: at the beginning of the substep. robots: at the beginning of the step.
        forced: (W, P) not 0 where a force from outside acts (`agora.world.records.Fed`).
        restless: (W, P) s for which one has moved about at the place where it stays; infinite for who was brought to rest.
    """
    h = dt / np.float32(substeps)
    for w in range(first, last):
        if clock.done[w]:
            continue
        for i in range(traits.count[w]):
            vx, vy = out_x[w, i], out_y[w, i]
            stands = restless[w, i] == _FOR_GOOD
            speed2 = vx * vx + vy * vy
            if not people.active[w, i] or not (stands or speed2 > ZERO):
                continue
            if replay.last[w, i] >= replay.first[w, i]:
                continue
            there = forced[w, i] == 0 and _is_there(sees, people, traits, waypoints, robots, robot_traits, w, i)
            if not there or _is_pushed(sees, people, traits, robots, robot_traits, w, i):
                restless[w, i] = ZERO
                continue
            restless[w, i] += h if speed2 > _STILL * _STILL else _CALM * h
            if restless[w, i] > _PATIENCE:
                restless[w, i] = _FOR_GOOD
                ux, uy = people.vx[w, i], people.vy[w, i]
                speed = math.sqrt(ux * ux + uy * uy + _TINY * _TINY)
                share = max(ONE - _BRAKE * h / speed, ZERO)
                out_x[w, i], out_y[w, i] = share * ux, share * uy
