"""The social force model as a robot planner, in two published versions.

`SocialForce` is the baseline of SocNavBench (Biswas et al., THRI 2022): the forces of libpedsim with the factors from SocNavBench's
code. `SocialForceSimple` is the version used in the CrowdNav family (code of DS-RNN and AG-RL); TAGA is also compared with it. Both
planners follow the global path instead of driving straight to the goal. `SocialForceSimple` ignores walls and relies on the path to
avoid them.

Narrow places: walls repel the robot, but the repulsion may come too late. `jackal`, at 2 m/s, gets through an empty 0.9 m door
in 11 of 12 runs, and touches the jamb in one run; `rto`, at 2.8 m/s, gets through in one run of three. When driving around the end
of a wall with 1 m of space on both sides, `jackal`, `rto` and `tiago` usually touch the wall. A robot is represented by the disc
around its outline, so `f1tenth` does not fit through the door.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from agora.core.jit import device, inlined, kernel
from agora.core.kernel_record import kernel_record
from agora.core.scalar import HALF, ONE, ZERO, atan2, exp, sincos
from agora.core.state import Array, Floats, freeze
from agora.costmap.walls import key_count, nearest_walls, window_of
from agora.costmap.window import Window
from agora.interfaces import Answer, Declaration, Memory, Observation, Span
from agora.pedestrians.models.helbing_simple import exponential_force
from agora.pedestrians.shared.goal import direction
from agora.pedestrians.shared.moussaid import interaction
from agora.planners._limits import own
from agora.planners.steering import velocity_to_twist
from agora.ranges import Checked, Distance, Length, NotNegative, Positive, TopSpeed

_LENGTHS, _TINY = np.float32(4.0), np.float32(1e-6)
_OPPOSITE, _NARROW, _FAR2 = np.float32(2.5), np.float32(0.3), np.float32(400.0)


@device
def _target(path, count, goal, x, y, ahead):
    """Return the first path point after the one nearest to (x, y) that is at least ``ahead`` m away from (x, y); the goal if there
    is no such point.
    """
    nearest, least = 0, np.float32(3e38)
    for k in range(count):
        dx, dy = path[k, 0] - x, path[k, 1] - y
        d2 = dx * dx + dy * dy
        if d2 < least:
            nearest, least = k, d2
    for k in range(nearest, count):
        dx, dy = path[k, 0] - x, path[k, 1] - y
        if dx * dx + dy * dy >= ahead * ahead:
            return path[k, 0], path[k, 1]
    return goal[0], goal[1]


@inlined
def _start(i, pose, twist, goal, path, path_count, ahead):
    """Return the position, the velocity in the map frame, and the direction of travel of robot ``i``."""
    x, y = pose[i, 0], pose[i, 1]
    sine, cosine = sincos(pose[i, 2])
    vx, vy = cosine * twist[i, 0] - sine * twist[i, 1], sine * twist[i, 0] + cosine * twist[i, 1]
    target_x, target_y = _target(path[i], path_count[i], goal[i], x, y, ahead)
    ex, ey, _ = direction(x, y, target_x, target_y)
    return x, y, vx, vy, ex, ey


@inlined
def _cap_speed(vx, vy, speed):
    """Return the velocity, limited to ``speed``."""
    size = math.sqrt(vx * vx + vy * vy)
    scale = speed / size if size > speed else ONE
    return scale * vx, scale * vy


@device
def _wall_force(n, radius, window, x, y, factor, sigma, keys, nearest, point):
    """Return libpedsim's force from the nearest wall: ``factor * exp(-gap / sigma)``, pointing away from the wall."""
    cost, origin, resolution = window
    reach = radius + _LENGTHS * sigma
    if nearest_walls(cost[n], origin[n, 0], origin[n, 1], resolution, x, y, reach, keys, nearest, point) == 0:
        return ZERO, ZERO
    distance = max(math.sqrt(point[0, 0] * point[0, 0] + point[0, 1] * point[0, 1]), _TINY)
    push = factor * exp((radius + HALF * resolution - distance) / sigma) / distance
    return -push * point[0, 0], -push * point[0, 1]


@kernel
def _socnavbench(p, top, pose, twist, goal, radius, path, path_count, position, velocity, present, window, out, first, last):
    walls = p.obstacle_factor > ZERO and window[0].shape[1] > 0
    keys = np.empty(key_count(max(window[0].shape[1], window[0].shape[2])), np.int64)
    nearest, point = np.empty(1, np.int64), np.empty((1, 2), np.float32)
    law = (p.importance, p.gamma, p.n, p.n_prime, p.cutoff2)
    for i in range(first, last):
        x, y, vx, vy, ex, ey = _start(i, pose, twist, goal, path, path_count, p.path_ahead)
        speed = top[i]
        fx, fy, rights = ZERO, ZERO, 0
        if walls:
            fx, fy = _wall_force(i, radius[i], window, x, y, p.obstacle_factor, p.obstacle_sigma, keys, nearest, point)
        for j in range(present.shape[1]):
            if present[i, j]:
                dx, dy, ux, uy = position[i, j, 0] - x, position[i, j, 1] - y, velocity[i, j, 0], velocity[i, j, 1]
                gx, gy = interaction(dx, dy, vx - ux, vy - uy, law)
                fx += p.social_factor * gx
                fy += p.social_factor * gy
                facing = abs(atan2(ex * uy - ey * ux, ex * ux + ey * uy))
                bearing = atan2(ex * dy - ey * dx, ex * dx + ey * dy)
                if facing > _OPPOSITE and ZERO < abs(bearing) < _NARROW and dx * dx + dy * dy < _FAR2:
                    rights += 1 if bearing < ZERO else -1
        aside = p.look_ahead_factor * HALF * np.float32((rights > 0) - (rights < 0))
        gx, gy = goal[i, 0] - x, goal[i, 1] - y
        close = p.near_radii * radius[i]
        pull = speed * (p.near_factor if gx * gx + gy * gy <= close * close else p.desired_factor)
        across = aside - p.side_damping * (ex * vy - ey * vx)
        wx, wy = _cap_speed(vx + p.dt * (pull * ex + fx - across * ey), vy + p.dt * (pull * ey + fy + across * ex), speed)
        out[i, 0], out[i, 1] = HALF * (vx + wx), HALF * (vy + wy)


@kernel
def _crowdnav(p, top, pose, twist, goal, radius, path, path_count, position, sizes, present, out, first, last):
    for i in range(first, last):
        x, y, vx, vy, ex, ey = _start(i, pose, twist, goal, path, path_count, p.path_ahead)
        speed = top[i]
        ax, ay = p.relaxation * (speed * ex - vx), p.relaxation * (speed * ey - vy)
        for j in range(present.shape[1]):
            if present[i, j]:
                reach = radius[i] + sizes[i, j]
                gx, gy = exponential_force(x - position[i, j, 0], y - position[i, j, 1], reach, p.repulsion, p.inverse_length)
                ax += gx
                ay += gy
        out[i, 0], out[i, 1] = _cap_speed(vx + p.dt * ax, vy + p.dt * ay, speed)


def _concatenate_tracks(observation: Observation, name: str) -> Array:
    """Return one field of the pedestrians' and the robots' tracks, concatenated."""
    return freeze(np.concatenate([getattr(observation.pedestrians, name), getattr(observation.robots, name)], axis=1))


def _top_speeds(observation: Observation, speed: float | None) -> Floats:
    """Return the maximum desired speed (N,), m/s: the given speed, or each robot's own maximum."""
    most = observation.limits.max_vx
    return freeze(most if speed is None else np.full(len(most), speed, np.float32))


def _robot_arrays(observation: Observation, follow_path: bool = True) -> tuple[Array, ...]:
    """Return the arrays that describe the robots themselves, for the kernels; without paths if the robots do not follow them."""
    o = observation
    assert o.path is not None and o.path_count is not None
    count = o.path_count if follow_path else np.zeros_like(o.path_count)
    return tuple(freeze(array) for array in (o.pose, o.twist, o.goal, o.radius, o.path, count))


_TUNABLE: dict[str, Span] = {
    "max_speed": Span(0.3, 2.0),
    "desired_factor": Span(0.3, 5.0, log=True),
    "near_radii": Span(0.0, 6.0),
    "social_factor": Span(1.0, 50.0, log=True),
    "look_ahead_factor": Span(0.0, 4.0),
    "importance": Span(0.5, 4.0),
    "gamma": Span(0.1, 1.0, log=True),
    "path_ahead": Span(0.2, 2.0, log=True),
    "side_damping": Span(0.0, 6.0),
    "heading_gain": Span(0.5, 6.0, log=True),
}


@dataclass(frozen=True)
class SocialForce(Checked):
    """SocNavBench's social force: an acceleration along the path, Moussaid's interaction and libpedsim's "look ahead".

    The new velocity is v' = v + a dt, clipped; the commanded velocity is (v + v') / 2, because the original moves the robot at that
    velocity. Walls are the lethal cells of the local costmap, and only the nearest exerts a force, as in libpedsim. The original
    does not damp motion across the path, so the robot swings wide in curves and circles a goal that it has missed (with the radius
    v_max); ``side_damping`` prevents this, and has no effect on a straight path. The original corresponds to ``side_damping=0``
    and, because it has no path and drives straight to the goal, ``follow_path=False``.

    Attributes:
        max_speed: v_max, m/s; None for the robot's maximum speed (SocNavBench: 1.2).
        desired_factor: ratio of the acceleration along the path to ``max_speed``.
        near_factor: ratio of the acceleration along the path to ``max_speed`` near the goal, i.e. within ``near_radii`` robot radii
            of the goal.
        near_radii: distance to the goal within which ``near_factor`` applies, in robot radii.
        social_factor: weight of the interaction.
        obstacle_factor: weight of the force from the nearest wall; with 0, the planner ignores walls and relies on the path to
            avoid them.
        obstacle_sigma: distance over which the wall's force falls to 1/e, m.
        window: local costmap, used to avoid walls.
        look_ahead_factor: weight of the acceleration (0.5 m/s2) towards the side with fewer oncoming people.
        importance: parameter lambda of the interaction (`agora.pedestrians.shared.moussaid`).
        gamma: parameter gamma of the interaction.
        n: parameter n of the interaction.
        n_prime: parameter n' of the interaction.
        cutoff: distance beyond which people and robots exert no force, m.
        follow_path: whether the robot aims at a point on the path; False aims at the goal.
        path_ahead: distance to the path point that the robot aims at, m.
        side_damping: rate at which the velocity across the path decays, 1/s.
        heading_gain: heading gain for robots that cannot move sideways (`agora.planners.steering`), 1/s.
    """

    max_speed: TopSpeed | None = None
    desired_factor: NotNegative = 1.0
    near_factor: NotNegative = 1000.0
    near_radii: NotNegative = 4.0
    social_factor: NotNegative = 10.0
    obstacle_factor: NotNegative = 3.0
    obstacle_sigma: Positive = 0.8
    window: Window = field(default_factory=lambda: Window(size=4.0, sources=("map",)))
    look_ahead_factor: NotNegative = 1.0
    importance: NotNegative = 2.0
    gamma: Positive = 0.35
    n: NotNegative = 2.0
    n_prime: NotNegative = 3.0
    cutoff: Length = 8.0
    follow_path: bool = True
    path_ahead: Distance = 1.0
    side_damping: NotNegative = 1.0
    heading_gain: Positive = 3.0

    @cached_property
    def declares(self) -> Declaration:
        """The properties of the planner."""
        return Declaration(
            needs=("pedestrians", "robots", "path", *((self.window,) if self.obstacle_factor > 0.0 else ())),
            label="faithful",
            tunable=_TUNABLE,
            top_speed=float(own(self.max_speed)),
        )

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return twists (N, 3) in the robots' frames; the memory stays empty."""
        others = [_concatenate_tracks(observation, name) for name in ("position", "velocity", "present")]
        wanted = np.zeros((len(observation.pose), 2), np.float32)
        window = window_of(observation.costmap, len(wanted))
        _socnavbench(
            _Parameters.of(self, dt=observation.dt, cutoff2=self.cutoff**2),
            _top_speeds(observation, self.max_speed),
            *_robot_arrays(observation, self.follow_path),
            *others,
            window,
            wanted,
            0,
            len(wanted),
        )
        return Answer(velocity_to_twist(wanted, observation, self.heading_gain))


_Parameters = kernel_record("_Parameters", SocialForce, computed=("dt", "cutoff2"))


_SIMPLE_TUNABLE: dict[str, Span] = {
    "speed": Span(0.3, 2.0),
    "relaxation": Span(0.3, 5.0, log=True),
    "repulsion": Span(0.3, 20.0, log=True),
    "length": Span(0.1, 3.0, log=True),
    "path_ahead": Span(0.2, 2.0, log=True),
    "heading_gain": Span(0.5, 6.0, log=True),
}


@dataclass(frozen=True)
class SocialForceSimple(Checked):
    """CrowdNav's social force: v' = v + dt (K_i (v_des - v) + sum A exp((r_i + r_j - d) / B) n), capped at the preferred speed.

    Attributes:
        speed: preferred speed, m/s; None for the robot's maximum speed (CrowdNav: 1).
        relaxation: gain K_i of the acceleration towards the desired velocity, 1/s.
        repulsion: strength A of the repulsion, m/s2.
        length: decay length B of the repulsion, m.
        path_ahead: distance to the path point that the robot aims at, m.
        heading_gain: heading gain for robots that cannot move sideways (`agora.planners.steering`), 1/s.
    """

    speed: TopSpeed | None = None
    relaxation: Positive = 1.0
    repulsion: NotNegative = 2.0
    length: Length = 1.0
    path_ahead: Distance = 1.0
    heading_gain: Positive = 3.0

    @cached_property
    def declares(self) -> Declaration:
        """The properties of the planner."""
        return Declaration(
            needs=("path", "pedestrians", "robots"),
            label="faithful",
            tunable=_SIMPLE_TUNABLE,
            top_speed=float(own(self.speed)),
        )

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return twists (N, 3) in the robots' frames; the memory stays empty."""
        others = [_concatenate_tracks(observation, name) for name in ("position", "radius", "present")]
        wanted = np.zeros((len(observation.pose), 2), np.float32)
        _crowdnav(
            _SimpleParameters.of(self, dt=observation.dt, inverse_length=1.0 / self.length),
            _top_speeds(observation, self.speed),
            *_robot_arrays(observation),
            *others,
            wanted,
            0,
            len(wanted),
        )
        return Answer(velocity_to_twist(wanted, observation, self.heading_gain))


_SimpleParameters = kernel_record("_SimpleParameters", SocialForceSimple, computed=("dt", "inverse_length"))
