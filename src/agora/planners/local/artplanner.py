"""ArtPlanner on the local costmap: every second, the planner builds a lazy roadmap of poses up to a point on the global path, and a
follower drives along the resulting plan.

Wellhausen and Hutter, "ArtPlanner: Robust Legged Robot Navigation in the Field", Field Robotics 3, 2023 (its code
leggedrobotics/art_planner: the planner of `agora.planners._roadmaps.plan`, and ``path_follower.py``). At every pose of a plan, the
torso is clear of obstacles and every foot finds ground to stand on. Moving sideways costs five times as much as moving forward, so
the robot goes through narrow places lengthwise.

Differences from the source:
- The plan ends at the last point of the global path that is well inside the window, with any heading, or at the goal if the goal is
  nearer. Upstream plans to the goal, and moves a goal outside its map to the border of the map.
- Obstacles are the lethal cells of the costmap, including people at their positions at the time of the plan. Feet cannot stand on
  unknown cells. The costmap does not contain gaps and edges that the robot can step over, because each foot finds ground within its
  reach (`agora.maps.ground`).
- The cost uses the robot's own speeds; the sideways speed is a fifth of the forward speed, as in upstream. The published speeds are
  in the `artplanner_anymal` preset.
- The poses of the plan are 0.25 m and 0.25 rad apart, and the follower drives straight to the last pose that is collinear with the
  poses before it. Upstream drives from corner to corner of the plan, and turns to face a corner that is more than 1 m away,
  regardless of the planned heading. If a command exceeds the robot's limits, all its components are scaled down by the same factor.
- The published box for the ANYmal extends about 0.06 m beyond the robot on each side. Other robots get the same margin.
- Plans for wheeled robots may also contain sideways motions. A wheeled robot turns to face the next pose, or turns its back to the
  pose if that takes a smaller turn, and drives to it, regardless of the headings planned in between. A car-like robot drives as
  tight a curve as it can, but the plan does not take into account that the robot cannot turn in place; if the robot would touch
  something, it stops.

Limits: the planner treats people as static obstacles, which it sees with a delay of up to a second. The robot runs into people that
cross its path, and repeatedly stops and starts in a crowd. It gets through all narrow places that were tested, except that a car
may touch the wall of a corridor while turning into the corridor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

import numpy as np

from agora.core.jit import hidden, lean_kernel
from agora.core.recording import Reason
from agora.core.scalar import HALF, HALF_PI, ONE, PI, ZERO, atan2, sincos, wrap
from agora.core.state import Array, Floats, freeze
from agora.costmap.inflation import LETHAL, NO_INFORMATION
from agora.costmap.window import Window
from agora.interfaces import Answer, Declaration, Memory, Observation, Span
from agora.planners._roadmaps.plan import Drawing, plan
from agora.planners._roadmaps.stance import bodies
from agora.ranges import Chance, Checked, Distance, Length, Number, Period, Positive, TopSpeed, Within
from agora.seeds import key_of

_POSES = 128  # maximum number of poses stored per plan
_CORNERS = 64  # maximum number of corner poses of a computed plan
_APART = np.float32(0.25)  # m and rad
_ASIDE = np.float32(0.2)  # fraction of the forward speed
_TURNED = np.float32(0.2)  # rad: heading error below which a pose counts as reached
_BEND = np.float32(0.6)  # rad: above this bearing, a robot that cannot move sideways turns before it drives
_CRAWL, _TINY, _FAR = np.float32(0.3), np.float32(1e-6), np.float32(3e38)

_TUNABLE: dict[str, Span] = {
    "density": Span(30.0, 300.0, log=True),
    "replan": Span(0.2, 2.0),
    "position_gain": Span(0.5, 5.0),
    "heading_gain": Span(1.0, 10.0),
    "near": Span(0.05, 0.5),
    "padding": Span(0.0, 0.15),
}


@dataclass(frozen=True)
class ArtPlanner(Checked):
    """Finds, every ``replan`` seconds, the fastest path through poses at which the torso is clear of obstacles and every foot finds
    ground to stand on, and follows this path.

    Attributes:
        window: local costmap.
        lon: forward speed assumed by the cost, m/s; None for the robot's maximum forward speed.
        lat: sideways speed assumed by the cost, m/s; None for a fifth of ``lon``.
        yaw: turning rate assumed by the cost, rad/s; None for the robot's maximum turning rate.
        foot_x: longitudinal distance of the feet from the robot's centre, as a fraction of half the robot's length.
        foot_y: lateral distance of the feet from the robot's centre, as a fraction of half the robot's width.
        foot_reach: side length of the box within which a foot must find ground, as a fraction of the robot's length; 0 for a robot
            without feet.
        density: number of roadmap poses per m2.
        vertices: maximum number of poses in the roadmap.
        attempts: maximum number of samples drawn for each pose.
        edge: maximum length of a roadmap edge, m.
        start_radius: radius around an invalid start within which the planner searches for a valid pose, m (published: 0.2).
        goal_radius: radius around an invalid goal within which a valid pose is accepted instead, m.
        replan: time between two plans, s.
        position_gain: speed per metre of distance to the next pose, 1/s.
        heading_gain: turning rate per radian of heading error, 1/s.
        near: distance to a pose below which the pose counts as reached, m (published: 0.2).
        padding: margin around the robot's outline, m; the default is the margin of upstream's box around its robot.
        seed: seed of the random samples.
    """

    window: Window = field(default_factory=lambda: Window(size=8.0, inflation_radius=0.1))
    lon: TopSpeed | None = None
    lat: TopSpeed | None = None
    yaw: Positive | None = None
    foot_x: Chance = 0.51 / 0.655
    foot_y: Chance = 0.2 / 0.325
    foot_reach: Chance = 0.2 / 1.31
    density: Annotated[float, Within(1.0, 10_000.0)] = 100.0
    vertices: Annotated[int, Within(10, 500_000)] = 10_000
    attempts: Annotated[int, Within(1, 1000)] = 50
    edge: Length = 0.5
    start_radius: Distance = 0.5
    goal_radius: Distance = 0.5
    replan: Period = 1.0
    position_gain: Positive = 2.0
    heading_gain: Positive = 5.0
    near: Length = 0.1
    padding: Distance = 0.06
    seed: Number = 0

    @cached_property
    def declares(self) -> Declaration:
        """The properties of the planner."""
        return Declaration(
            needs=("path", self.window),
            label="reconstruction",
            tunable=_TUNABLE,
            notes=("reason",),
            concurrent=True,
            turns_at_goal=True,
        )

    @cached_property
    def drawing(self) -> Drawing:
        """Return the settings for sampling the roadmap."""
        f, key = np.float32, key_of("artplanner", self.seed, "roadmap")
        radii = (f(self.start_radius), f(self.goal_radius))
        return Drawing(key, f(self.density), self.vertices, self.attempts, f(self.edge), *radii)

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3), the memory with the plans, and the reasons why robots stop."""
        o, rows = observation, len(observation.pose)
        assert o.path is not None and o.path_count is not None and o.costmap is not None
        now = {name: part.copy() for name, part in memory.items()} or _empty_memory(rows)
        some = o.path_count > 0
        now["count"][~some] = 0
        moved = np.abs(now["goal"] - o.goal).max(axis=1) > 0.0
        due = np.flatnonzero(some & (moved | (now["left"] < 0.25 * o.dt)))
        if len(due):
            self._plan(o, due, now)
        now["left"] -= np.float32(o.dt)
        now["goal"] = o.goal.copy()
        m, twists = o.limits, np.zeros((rows, 3), np.float32)
        bounds = (m.holonomic, m.min_vx, m.max_vx, m.max_vy, m.max_omega, m.turning_radius)
        gains = (np.float32(self.position_gain), np.float32(self.heading_gain), np.float32(self.near))
        plans = (now["poses"], now["count"], now["at"])
        _follow(gains, freeze(o.pose), tuple(freeze(bound) for bound in bounds), plans, twists, 0, rows)
        blocked = np.where(now["touching"], np.int8(Reason.START_IN_CONTACT), np.int8(Reason.BLOCKED))
        on_way = np.where(now["touching"], np.int8(Reason.ESCAPING), np.int8(Reason.NONE))
        reason = np.where(now["count"] > 0, on_way, np.where(some, blocked, np.int8(Reason.NO_PATH)))
        return Answer(twists, now, {"reason": reason})

    def _plan(self, o: Observation, due: Array, now: Memory) -> None:
        """Compute new plans for the rows ``due`` (R,)."""
        assert o.path is not None and o.path_count is not None and o.costmap is not None
        c, f, count = o.costmap, np.float32, len(due)
        feet = (self.foot_x, self.foot_y, self.foot_reach)
        body = bodies(o.footprint[due], o.radius[due], *feet, self.padding)
        reach = np.maximum(f(0.5 * c.resolution * (c.cost.shape[1] - 4)) - body[1][:, 4], f(c.resolution))
        corner = np.concatenate((c.origin[due], np.zeros((count, 1), f)), axis=1)
        target = np.empty((count, 3), f)
        _aim(freeze(o.path), freeze(o.path_count), freeze(o.pose), freeze(o.goal), due, reach, target, 0, count)
        if o.heading_tolerance is None:
            target[:, 2] = np.nan
        else:
            target[o.heading_tolerance[due] >= math.pi, 2] = np.nan
        blocked, foothold = (cells.view(np.uint8) for cells in (c.cost[due] == LETHAL, c.cost[due] != NO_INFORMATION))
        out, counts, touching = np.zeros((count, _CORNERS, 3), f), np.zeros(count, np.int64), np.zeros(count, np.bool_)
        start = (o.pose[due] - corner).astype(f)
        where = (start, (target - corner).astype(f), now["plans"][due], reach)
        plan(
            self.drawing,
            f(c.resolution),
            blocked,
            foothold,
            body,
            self._cost_speeds(o)[due],
            *where,
            out,
            counts,
            touching,
            0,
            count,
        )
        poses, kept = np.zeros((count, _POSES, 3), f), np.zeros(count, np.int32)
        _spread(out, counts, start, touching, corner, poses, kept, 0, count)
        kept[touching & (o.limits.turning_radius[due] > 0)] = 0
        now["poses"][due], now["count"][due], now["at"][due], now["touching"][due] = poses, kept, 0, touching
        now["plans"][due] += 1
        now["left"][due] = self.replan

    def _cost_speeds(self, o: Observation) -> Floats:
        """Return the forward, sideways and turning speeds (N, 3) assumed by the cost, m/s and rad/s."""
        rows, m = len(o.pose), o.limits
        lon = m.max_vx if self.lon is None else np.full(rows, self.lon)
        lat = _ASIDE * lon if self.lat is None else np.full(rows, self.lat)
        yaw = m.max_omega if self.yaw is None else np.full(rows, self.yaw)
        return np.maximum(np.stack((lon, lat, yaw), axis=1), _TINY).astype(np.float32)


def _empty_memory(rows: int) -> Memory:
    """Return the memory at the start of an episode: zeros."""
    return {
        "poses": np.zeros((rows, _POSES, 3), np.float32),
        "count": np.zeros(rows, np.int32),
        "at": np.zeros(rows, np.int32),
        "plans": np.zeros(rows, np.int64),
        "left": np.zeros(rows, np.float32),
        "goal": np.zeros((rows, 3), np.float32),
        "touching": np.zeros(rows, np.bool_),
    }


@lean_kernel
def _aim(path, path_count, pose, goal, rows, reach, target, first, last):
    """Write the targets of the ``rows`` from ``first`` to ``last``: the goal, or the point where the path leaves the usable part of
    the window before reaching the goal.
    """
    for i in range(first, last):
        n = rows[i]
        x, y, count = pose[n, 0], pose[n, 1], np.int64(path_count[n])
        best, leg = _FAR, 0
        for k in range(count):
            dx, dy = path[n, k, 0] - x, path[n, k, 1] - y
            if dx * dx + dy * dy < best:
                best, leg = dx * dx + dy * dy, k
        target[i, 0], target[i, 1], target[i, 2] = goal[n, 0], goal[n, 1], goal[n, 2]
        for k in range(leg, count):
            dx, dy = path[n, k, 0] - x, path[n, k, 1] - y
            if dx * dx + dy * dy <= reach[i] * reach[i]:
                continue
            if k > leg:
                ax, ay = path[n, k - 1, 0] - x, path[n, k - 1, 1] - y
                ex, ey = dx - ax, dy - ay
                a, b, c = ex * ex + ey * ey, ax * ex + ay * ey, ax * ax + ay * ay - reach[i] * reach[i]
                share = (math.sqrt(max(b * b - a * c, ZERO)) - b) / max(a, _TINY)
                dx, dy = ax + share * ex, ay + share * ey
            else:
                share = reach[i] / math.sqrt(dx * dx + dy * dy)
                dx, dy = share * dx, share * dy
            target[i, 0], target[i, 1], target[i, 2] = x + dx, y + dy, np.float32(np.nan)
            break


@lean_kernel
def _spread(out, counts, start, touching, corner, poses, kept, first, last):
    """Write each plan as poses in the map frame, 0.25 m and 0.25 rad apart, without the start pose; poses that do not fit into
    ``poses`` are dropped.
    """
    for n in range(first, last):
        x, y, heading, count = start[n, 0], start[n, 1], start[n, 2], 0
        for k in range(0 if touching[n] else 1, counts[n]):
            dx, dy, turn = out[n, k, 0] - x, out[n, k, 1] - y, wrap(out[n, k, 2] - heading)
            pieces = max(np.int64(np.ceil(max(math.sqrt(dx * dx + dy * dy), abs(turn)) / _APART)), 1)
            for piece in range(1, pieces + 1):
                share = np.float32(piece) / np.float32(pieces)
                if count < poses.shape[1]:
                    poses[n, count, 0] = corner[n, 0] + x + share * dx
                    poses[n, count, 1] = corner[n, 1] + y + share * dy
                    poses[n, count, 2] = wrap(heading + share * turn)
                    count += 1
            x, y, heading = out[n, k, 0], out[n, k, 1], out[n, k, 2]
        kept[n] = count


@hidden
def _turn_and_drive(along, across, error, gains, min_vx, max_vx, turning_radius):
    """Return the speed and turning rate, within the limits, that move a robot that cannot move sideways to a pose; ``error`` is the
    difference between the pose's heading and the robot's.
    """
    gain, turning, near = gains
    distance, ahead = math.sqrt(along * along + across * across), ONE
    if distance > near:
        error = atan2(across, along)
        if abs(error) > HALF_PI and min_vx < ZERO:
            error, ahead = wrap(error + PI), -ONE
    speed = min(max(gain * along, min_vx), max_vx)
    if distance > near and abs(error) > _BEND:
        speed = ZERO
    rate = turning * error
    if turning_radius > ZERO:
        least = _CRAWL * (max_vx if ahead > ZERO else -min_vx)
        speed = ahead * max(abs(speed), least) if abs(error) > near else speed
        rate = math.copysign(min(abs(rate), abs(speed) / turning_radius), rate)
    return speed, rate


@hidden
def _is_straight_ahead(poses, first, last, x, y, near, turned):
    """Return whether the straight line to a pose of a plan passes near all poses before it, and all these poses have almost the
    same heading as that pose.
    """
    dx, dy = poses[last, 0] - x, poses[last, 1] - y
    length = max(math.sqrt(dx * dx + dy * dy), _TINY)
    for k in range(first, last):
        px, py = poses[k, 0] - x, poses[k, 1] - y
        if abs(dx * py - dy * px) > HALF * near * length or abs(wrap(poses[last, 2] - poses[k, 2])) > turned:
            return False
    return True


@lean_kernel
def _follow(gains, pose, bounds, plans, twists, first, last):
    """Write the twists that drive the rows ``first <= n < last`` along the poses of their plans; poses already reached are
    skipped.
    """
    gain, turning, near = gains
    holonomic, min_vx, max_vx, max_vy, max_omega, turning_radius = bounds
    poses, count, at = plans
    for n in range(first, last):
        if count[n] == 0:
            continue
        x, y, heading = pose[n, 0], pose[n, 1], pose[n, 2]
        k, full, turned = np.int64(at[n]), max_vx[n] / gain, _TURNED if holonomic[n] else HALF_PI
        for _ in range(k, count[n] - 1):
            dx, dy, error = poses[n, k, 0] - x, poses[n, k, 1] - y, wrap(poses[n, k, 2] - heading)
            if dx * dx + dy * dy >= near * near or (abs(error) >= _TURNED and (holonomic[n] or turning_radius[n] <= ZERO)):
                break
            k += 1
        at[n] = k
        error = wrap(poses[n, k, 2] - heading)
        to = k
        dx, dy = poses[n, k, 0] - x, poses[n, k, 1] - y
        while to < count[n] - 1 and dx * dx + dy * dy < full * full and _is_straight_ahead(poses[n], k, to + 1, x, y, near, turned):
            to += 1
            dx, dy = poses[n, to, 0] - x, poses[n, to, 1] - y
        sine, cosine = sincos(heading)
        along, across = cosine * dx + sine * dy, cosine * dy - sine * dx
        if holonomic[n]:
            vx, vy, rate = gain * along, gain * across, turning * error
            scale = min(ONE, max_vx[n] / max(math.sqrt(vx * vx + vy * vy), _TINY))
            scale = min(scale, max_vy[n] / max(abs(vy), _TINY))
            scale = min(scale, (max_vx[n] if vx > ZERO else -min_vx[n]) / max(abs(vx), _TINY))
            twists[n, 0], twists[n, 1] = scale * vx, scale * vy
        else:
            twists[n, 0], rate = _turn_and_drive(along, across, error, gains, min_vx[n], max_vx[n], turning_radius[n])
        twists[n, 2] = min(max(rate, -max_omega[n]), max_omega[n])
