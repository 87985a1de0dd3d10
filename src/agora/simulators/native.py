"""The library's own robot simulator, which turns commands into motion that walls stop."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from agora.core.contact import NEVER, PART, polygon_in_walls, substeps, swept_disc_walls
from agora.core.jit import bind, hidden, lean_kernel
from agora.core.kinematics import exceeds, move, next_twist
from agora.core.scalar import HALF, ONE, ZERO, sincos, wrap
from agora.core.state import Floats
from agora.interfaces import Ability
from agora.ranges import Checked
from agora.world.records import RUNNING
from agora.world.threads import Work
from agora.world.world import World

if TYPE_CHECKING:
    from agora.interfaces.channel import Offer
    from agora.world.start import Start

__all__ = ["Native", "NativeBodies"]

_CENTRE = np.float32(0.01)  # m: walls stop a centre at this distance; sweeping requires a disc with a radius


@hidden
def due_command(traits, status, commands, w, r):
    """Return the command that robot r follows in this step, after any delay, and queue the command that it is given now."""
    slot = status.clock.step[w] % (status.orders.delay[w, r] + 1)
    for k in range(3):
        status.orders.queue[w, r, slot, k] = commands[w, r, k]
    due = (status.clock.step[w] + 1) % (status.orders.delay[w, r] + 1)
    command = (status.orders.queue[w, r, due, 0], status.orders.queue[w, r, due, 1], status.orders.queue[w, r, due, 2])
    if status.ends.outcome[w, r] != RUNNING:
        command = (ZERO, ZERO, ZERO)
    elif exceeds(traits, w, r, commands[w, r, 0], commands[w, r, 1], commands[w, r, 2]):
        status.orders.clipped[w, r] += 1
    return command


@hidden
def _drive(dt, now, after, traits, status, commands, w, r):
    """Move robot r according to its command, ignoring its surroundings."""
    command = due_command(traits, status, commands, w, r)
    twist = (now.vx[w, r], now.vy[w, r], now.omega[w, r])
    if status.ends.outcome[w, r] == RUNNING:
        twist, steering = next_twist(traits, w, r, twist, command, now.steering[w, r], dt)
    else:
        twist, steering = command, now.steering[w, r]
    x, y, heading = move(now.x[w, r], now.y[w, r], now.heading[w, r], twist, dt)
    after.x[w, r], after.y[w, r], after.heading[w, r] = x, y, heading
    after.vx[w, r], after.vy[w, r], after.omega[w, r] = twist[0], twist[1], twist[2]
    after.steering[w, r] = steering
    after.active[w, r] = now.active[w, r]


@hidden
def _block_centre(now, after, maps, w, r):
    """Stop robot r if its centre comes within `_CENTRE` of a wall; return the time of contact as a fraction of the step."""
    x, y = now.x[w, r], now.y[w, r]
    dx, dy = after.x[w, r] - x, after.y[w, r] - y
    parts = substeps(math.sqrt(dx * dx + dy * dy), ZERO, ZERO, _CENTRE)
    part = ONE / np.float32(parts)
    for k in range(parts):
        share = part * np.float32(k)
        t = swept_disc_walls(maps, maps.index[w], x + share * dx, y + share * dy, part * dx, part * dy, _CENTRE)
        if t <= ONE:
            t = share + part * t
            after.x[w, r], after.y[w, r] = x + t * dx, y + t * dy
            after.vx[w, r], after.vy[w, r] = ZERO, ZERO
            return t
    return NEVER


@hidden
def _block(now, after, traits, maps, w, r):
    """Stop robot r if it touches a wall; return the time of contact as a fraction of the step."""
    m = maps.index[w]
    x, y, heading = now.x[w, r], now.y[w, r], now.heading[w, r]
    dx, dy = after.x[w, r] - x, after.y[w, r] - y
    turn = wrap(after.heading[w, r] - heading)
    t = swept_disc_walls(maps, m, x, y, dx, dy, traits.radius[w, r])
    if t > ONE:
        return NEVER
    if traits.vertices[w, r] == 0:
        after.x[w, r], after.y[w, r] = x + t * dx, y + t * dy
    else:
        if polygon_in_walls(maps, m, traits, w, r, x, y, heading) and not polygon_in_walls(
            maps, m, traits, w, r, after.x[w, r], after.y[w, r], after.heading[w, r]
        ):
            return NEVER  # touching, but moving away
        spacing = min(HALF * maps.resolution[m], traits.radius[w, r] * PART)
        parts = substeps(math.sqrt(dx * dx + dy * dy), turn, traits.radius[w, r], spacing)
        t = NEVER
        for k in range(1, parts + 1):
            share = np.float32(k) / np.float32(parts)
            if polygon_in_walls(maps, m, traits, w, r, x + share * dx, y + share * dy, wrap(heading + share * turn)):
                t = np.float32(k - 1) / np.float32(parts)
                break
        if t > ONE:
            return NEVER
        after.x[w, r], after.y[w, r], after.heading[w, r] = x + t * dx, y + t * dy, wrap(heading + t * turn)
        after.omega[w, r] = ZERO
    after.vx[w, r], after.vy[w, r] = ZERO, ZERO
    return t


@hidden
def keep_robot(now, after, w, r):
    """Leave robot r unchanged."""
    after.x[w, r], after.y[w, r], after.heading[w, r] = now.x[w, r], now.y[w, r], now.heading[w, r]
    after.vx[w, r], after.vy[w, r], after.omega[w, r] = now.vx[w, r], now.vy[w, r], now.omega[w, r]
    after.world_vx[w, r], after.world_vy[w, r] = now.world_vx[w, r], now.world_vy[w, r]
    after.steering[w, r], after.active[w, r] = now.steering[w, r], now.active[w, r]


@hidden
def _keep(now, after, w):
    """Leave a finished world unchanged."""
    for r in range(now.x.shape[1]):
        keep_robot(now, after, w, r)


@hidden
def _finish(now, after, traits, maps, status, walls, centre, w, r):
    """Let walls stop robot r, and write its velocity in the map frame."""
    walls[w, r] = NEVER
    if now.active[w, r] and status.ends.outcome[w, r] == RUNNING:
        walls[w, r] = _block_centre(now, after, maps, w, r) if centre else _block(now, after, traits, maps, w, r)
    s, c = sincos(after.heading[w, r])
    after.world_vx[w, r] = c * after.vx[w, r] - s * after.vy[w, r]
    after.world_vy[w, r] = s * after.vx[w, r] + c * after.vy[w, r]


@lean_kernel
def drive_robots(dt, now, after, traits, maps, status, commands, walls, centre, first, last):
    """Write generation t + dt of the robots in worlds ``first <= w < last``, which follow ``commands`` (W, R, 3) within their
    limits.

    Walls stop the robots' outlines, or only their centres if ``centre`` is set.
    """
    for w in range(first, last):
        if status.clock.done[w]:
            _keep(now, after, w)
            continue
        for r in range(now.x.shape[1]):
            _drive(dt, now, after, traits, status, commands, w, r)
            _finish(now, after, traits, maps, status, walls, centre, w, r)


@lean_kernel
def lead_robots(now, after, traits, maps, status, there, walls, centre, first, last):
    """Write generation t + dt of the robots in worlds ``first <= w < last`` from given poses and twists, ``there`` (W, R, 6)."""
    for w in range(first, last):
        if status.clock.done[w]:
            _keep(now, after, w)
            continue
        for r in range(now.x.shape[1]):
            after.x[w, r], after.y[w, r], after.heading[w, r] = there[w, r, 0], there[w, r, 1], there[w, r, 2]
            after.vx[w, r], after.vy[w, r], after.omega[w, r] = there[w, r, 3], there[w, r, 4], there[w, r, 5]
            after.steering[w, r], after.active[w, r] = now.steering[w, r], now.active[w, r]
            walls[w, r] = NEVER
            if not math.isfinite(there[w, r].sum()):  # its position is unknown, so walls are not checked
                continue
            _finish(now, after, traits, maps, status, walls, centre, w, r)


@dataclass(frozen=True)
class Native(Checked):
    """Simulates robots that follow their commands exactly, within their limits, and stop at walls.

    Attributes:
        walls: the part of a robot that walls stop: its outline, or only its centre, as in SocNavBench's code, in which robots
            overlap walls.
    """

    walls: Literal["outline", "centre"] = "outline"
    can: ClassVar[frozenset[Ability]] = frozenset({"step", "exact_contacts"})

    def bodies(self, world: World) -> NativeBodies:
        """Return the robots of a batch."""
        return NativeBodies(world, self.walls == "centre")


class NativeBodies:
    """The simulated robots of a batch, which follow their commands within their limits.

    Args:
        world: worlds of the robots.
        centre: whether walls stop only the robots' centres.

    Attributes:
        walls: (W, R) time within the last step at which a wall stopped each robot, as a fraction of the step; `NEVER` if no wall
            stopped it.
    """

    def __init__(self, world: World, centre: bool = False) -> None:
        self._world = world
        self._centre = centre
        self.walls: Floats = np.zeros((world.layout.worlds, world.layout.robots), np.float32)

    def reset(self, world: int, start: Start) -> None:
        """Begin an episode in one world; there is no state to reset."""

    def sensors(self) -> Mapping[str, Offer]:
        """Return no sensors: the library's own channels read the world directly."""
        return {}

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def move(self, now: int) -> Work:
        """Return the work item that advances the robots from generation ``now`` (0 or 1) to the next, in the other state buffer."""
        w = self._world
        robots, after = w.generation(now)[1], w.generation(1 - now)[1]
        return bind(
            drive_robots, np.float32(w.dt), robots, after, w.robot_traits, w.maps, w.status, w.commands, self.walls, self._centre
        )


class LedBodies(NativeBodies):
    """Robots that are moved to given poses, from a recording or an external source.

    Attributes:
        there: (W, R, 6) pose in the map frame, m and rad, and twist, m/s and rad/s, at the end of the next step.
    """

    def __init__(self, world: World, centre: bool = False) -> None:
        super().__init__(world, centre)
        self.there: Floats = np.zeros((*self.walls.shape, 6), np.float32)

    def move(self, now: int) -> Work:
        """Return the work item that advances the robots from generation ``now`` (0 or 1) to the next, in the other state buffer."""
        w = self._world
        robots, after = w.generation(now)[1], w.generation(1 - now)[1]
        return bind(lead_robots, robots, after, w.robot_traits, w.maps, w.status, self.there, self.walls, self._centre)
