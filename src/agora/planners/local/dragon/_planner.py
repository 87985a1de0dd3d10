r"""Dragon: finds gaps in the laser scan, and uses a cone to drive through them, without a map.

University of Virginia, Autonomous Mobile Robots Lab, BARN challenge 2022 (nocholasrift/UVA-AMR-BARN--ICRA2022; read in
Arena-Rosnav/dragon 17248cc: ``src/followgap.cpp``, ``include/utils.h``, ``scripts/cone_bench.py``). It uses the scan, the goal and
odometry (in Agora, the robot's pose). It sees pedestrians only in the scan, and does not plan a path beyond the scan.

Differences from the source:
- The gaps are stored in a list of fixed length instead of a quadtree; if it is full, the gap farthest from the robot is deleted.
- The gap is chosen at every call, with the same preference for the current gap as in upstream. Upstream chooses a new gap when the
  current one is reached, deleted or no longer admissible, which scan noise often causes.
- A gap is considered to be on the way to the chosen gap if it is nearer to the robot, is ahead of the robot, and overlaps the
  chosen gap as seen from the robot. In upstream, it must also lie in the axis-aligned box between the two, and the first gap found
  replaces the chosen gap during the search.
- The free-path test covers the line between the robot and the gap. Upstream also considers points behind the robot.
- A beam without a return can bound a gap, like a point at ``range_cap`` in upstream, but is not an obstacle. A NaN beam is invalid,
  and without valid beams the robot stops. Scans that cover a full turn are cut behind the robot.
- Until the next scan arrives, the points of a scan stay where they were measured while the robot moves on; identical ranges count
  as the same scan.
- Upstream uses the smallest *range* as the index of a beam, which rotates the cone by one beam. Near the goal, upstream's speed
  should rise from 0.55 to 0.75 m/s, but the value is reset before it is used. Upstream's goal is always 10 m from the start. None
  of this is reproduced.
- The sensor may be anywhere on the robot; the cone starts at the sensor, while the turning rate and the speed are those of the
  robot.
- The robot brakes in time for the goal and for obstacles straight ahead, and does not turn a corner of its outline into an obstacle
  (``brake``). Upstream does neither, and touches obstacles that the gaps do not take into account.
- Widths depend on the robot. The published values, for a Jackal that is 0.43 m wide, are the robot's width plus a margin. The
  margins allow for laser and odometry errors, which do not grow with the robot, so all robots have the same margins: 0.05, 0.22,
  0.14 and 0.37 m.
- Robots drive as fast as they can, along the same arcs: turning rates grow with the speed. The published speeds and all other
  published values are in the `dragon_barn` preset. If the robot cannot turn as fast as ``turn_rate``, it stops driving forward at
  its own maximum turning rate. A car-like robot cannot turn in place; it continues at 0.3 times the speed, along as tight a curve
  as it can.

Limits: the planner treats the goal as a direction, not as the end of a path. In a building, the robot drives into the room next to
the goal and stays there. If a wall without a gap blocks the way, the robot drives up to the wall and stops. People are only seen as
part of the scan. The robot gets through doors, corridors and lanes, but does not find a path around the end of a wall that hides
its goal (hairpin).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from agora.core.jit import hidden, kernel
from agora.core.kernel_record import kernel_record
from agora.core.recording import Reason
from agora.core.scalar import HALF, ONE, TWO, ZERO, atan2, sincos, wrap
from agora.core.state import Floats, freeze
from agora.errors import InputError
from agora.interfaces import Answer, Declaration, Memory, Observation, Span
from agora.planners._limits import own
from agora.planners.local.dragon._gaps import GOAL, Gaps, Points, Sizes, choose, find, read_beams, remember
from agora.planners.steering import stopping_speed
from agora.ranges import Checked, Count, Distance, Length, Positive, TopSpeed

_MARGINS = {"body_width": 0.05, "gap_width": 0.22, "passage_width": 0.14, "cone_width": 0.37}
_TRIES = 10
_FOUND = 64  # maximum number of gaps in one scan
_GAP, _NEAR = np.float32(0.02), np.float32(0.01)  # m, clearance ahead of a braking robot, and around a turning robot
# 1/m and rad/m: the published values divided by the published speed
_GAIN, _RATE = np.float32(1.1 / 0.55), np.float32(0.5 * math.pi / 0.55)
_CRAWL, _STILL, _COVERED = np.float32(0.3), np.float32(1e-3), np.float32(1e-3)
_BLOCKED, _TOUCHED = np.int8(Reason.BLOCKED), np.int8(Reason.START_IN_CONTACT)
_FAR = np.float32(3e38)


_TUNABLE: dict[str, Span] = {
    "look_distance": Span(0.5, 3.0),
    "range_cap": Span(2.0, 30.0, log=True),
    "visited": Span(0.1, 1.0, log=True),
    "turn_gain": Span(0.5, 4.0, log=True),
    "speed": Span(0.2, 2.0),
    "gap_width": Span(0.4, 1.2),
    "passage_width": Span(0.4, 1.0),
    "cone_width": Span(0.4, 1.5),
}


@dataclass(frozen=True)
class Dragon(Checked):
    """Drives to the gap nearest to the goal, among the gaps in the scan and the remembered gaps, and turns away from obstacles in
    the cone ahead.

    Attributes:
        gap_width: minimum distance between the end points of two neighbouring beams at the side of a gap, and minimum width of a
            gap, m (published: 0.65); None for the robot's width plus 0.22.
        body_width: twice the minimum distance between gaps or free paths and obstacles in the scan, m (published: 0.48); None for
            the robot's width plus 0.05.
        passage_width: minimum distance between the obstacles to the left and to the right of the path, m (published: 0.57); None
            for the robot's width plus 0.14.
        cone_width: width of the cone at its end, and distance to the target up to which obstacles do not turn the robot away, m
            (published: 0.8); None for the robot's width plus 0.37.
        look_distance: length of the cone, m.
        range_cap: range to which longer beams are clipped, m.
        visited: distance to a gap at which it counts as visited, m.
        gaps: maximum number of remembered gaps.
        turn_gain: turning rate per radian of heading error, 1/s (published: 1.1); None for a gain proportional to ``speed``, 2 per
            second at 1 m/s.
        turn_rate: maximum turning rate, at which the robot stops driving forward, rad/s (published: pi/2); None for a rate
            proportional to ``speed``, 2.86 at 1 m/s.
        speed: speed straight ahead, m/s (published: 0.55); None for the robot's maximum speed.
        stop: distance to the goal at which the robot stops, m (published: 0.5); None for half of the task's tolerance.
        brake: whether the robot brakes for the goal and for obstacles ahead, and avoids turning into obstacles; False is the
            upstream behaviour.
    """

    gap_width: Length | None = None
    body_width: Length | None = None
    passage_width: Length | None = None
    cone_width: Length | None = None
    look_distance: Length = 1.0
    range_cap: Length = 10.0
    visited: Distance = 0.3
    gaps: Count = 64
    turn_gain: Positive | None = None
    turn_rate: Positive | None = None
    speed: TopSpeed | None = None
    stop: Distance | None = None
    brake: bool = True

    @cached_property
    def declares(self) -> Declaration:
        """The properties of the planner."""
        return Declaration(
            needs=("scan",),
            label="faithful",
            tunable=_TUNABLE,
            notes=("reason",),
            concurrent=True,
            top_speed=float(own(self.speed)),
        )

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3), the memory with the remembered gaps, and the reasons why robots stop.

        Raises:
            InputError: the robots have no lidar.
        """
        o, rows = observation, len(observation.pose)
        if o.scan is None or o.scan_angles is None or o.scan_pose is None:
            raise InputError("dragon drives by the scan alone, and the robot has no lidar")
        m, f = o.limits, np.float32
        kept = {name: array.copy() for name, array in memory.items()} or self._empty_memory(*o.scan.shape)
        parameters = _Parameters.of(self, turn_gain=self.turn_gain or 0.0, turn_rate=self.turn_rate or 0.0, dt=o.dt)
        scan = (freeze(o.scan), freeze(o.scan_angles), freeze(o.scan_pose), f(min(self.range_cap, o.scan_range or math.inf)))
        sizes, body, stop = self.sizes(o)
        robot = (o.pose, o.goal, m.max_vx, m.max_ax, m.max_omega, m.max_alpha, m.turning_radius, sizes, body, stop)
        twists, reasons = np.zeros((rows, 3), f), np.zeros(rows, np.int8)
        place = (kept["gaps"], kept["state"], kept["current"], kept["goal"], kept["scan"], kept["pose"])
        _act(parameters, scan, tuple(freeze(array) for array in robot), place, twists, reasons, 0, rows)
        return Answer(twists, kept, {"reason": reasons})

    def sizes(self, o: Observation) -> tuple[Floats, Floats, Floats]:
        """Return the sizes (N, 5) of the robots, as in `Sizes`; their extents to the front, back and side (N, 3); and the distances
        to the goal at which they stop (N,).

        All values are in m. The extent to the back is 0 for disc-shaped robots, which can turn without touching anything.
        """
        rows = len(o.pose)
        body = np.stack([o.radius, 0.0 * o.radius, o.radius], axis=1)
        if o.footprint.shape[1]:
            long, wide = np.moveaxis(o.footprint, -1, 0)
            outline = np.stack([long.max(axis=1), -long.min(axis=1), np.abs(wide).max(axis=1)], axis=1)
            body = np.where(np.abs(o.footprint).max(axis=(1, 2), keepdims=True)[:, 0] > 0.0, outline, body)
        given = {name: getattr(self, name) for name in _MARGINS}
        widths = [2.0 * body[:, 2] + _MARGINS[name] if value is None else np.full(rows, value) for name, value in given.items()]
        tolerance = np.full(rows, 0.1) if o.goal_tolerance is None else o.goal_tolerance
        stop = HALF * tolerance if self.stop is None else np.full(rows, self.stop)
        sizes = np.stack([*widths, np.full(rows, self.visited)], axis=1)
        return sizes.astype(np.float32), body.astype(np.float32), stop.astype(np.float32)

    def _empty_memory(self, rows: int, beams: int) -> Memory:
        """Return the memory at the start of an episode: zeros."""
        return {
            "gaps": np.zeros((rows, self.gaps, 6), np.float32),
            "state": np.zeros((rows, self.gaps), np.int8),
            "current": np.zeros(rows, np.int32),
            "goal": np.zeros((rows, 2), np.float32),
            "scan": np.zeros((rows, beams), np.float32),
            "pose": np.zeros((rows, 3), np.float32),
        }


_Parameters = kernel_record("_Parameters", Dragon, limits=("speed",), computed=("turn_gain", "turn_rate", "dt"))
"""A gain or rate of 0 follows from the speed."""


@hidden
def steering_place(points, count, sensor_x, sensor_y, tx, ty, heading, cone, look_distance):
    """Return the point to steer to: the target (tx, ty), or a point next to it if the cone ahead is not free.

    Each beam in the cone that is shorter than the cone shifts the ray to the target by one beam, away from the side of that beam;
    this is repeated up to ten times. The new target is as far away as the nearest obstacle in the cone.
    """
    x, y = tx - sensor_x, ty - sensor_y
    distance = math.sqrt(x * x + y * y)
    if distance <= cone or count < 2:
        return tx, ty
    bearing = wrap(atan2(y, x) - heading)
    ray, least = np.int64(0), _FAR
    for k in range(count):
        error = abs(wrap(points.angle[k] - bearing))
        if error < least:
            ray, least = k, error
    step, reach = (points.angle[count - 1] - points.angle[0]) / np.float32(count - 1), distance
    for _ in range(_TRIES):
        length = min(reach, look_distance)
        cosine = (TWO * length * length - cone * cone) / max(TWO * length * distance, _STILL)  # upstream; not 2 length^2
        cosine = min(max(cosine, -ONE), ONE)
        wide = np.int64(np.ceil(HALF * atan2(math.sqrt(ONE - cosine * cosine), cosine) / step))
        votes, nearest = np.int64(0), _FAR
        for k in range(max(ray - wide, 0), min(ray + wide, count - 1)):
            if points.reach[k] < length:
                votes += 1 if k < ray else -1
                nearest = min(nearest, points.reach[k])
        if votes == 0 or not 0 <= ray + votes < count:
            break
        ray, reach = ray + votes, nearest
        sine, along = sincos(heading + points.angle[ray])
        tx, ty = sensor_x + reach * along, sensor_y + reach * sine
    return tx, ty


@hidden
def _touches(points, count, sine, cosine, body, turn):
    """Return whether a turn moves a corner of the robot's outline onto an obstacle."""
    up, along = sincos(turn)
    for k in range(count):
        if points.solid[k]:
            x, y = points.x[k] * cosine + points.y[k] * sine, points.y[k] * cosine - points.x[k] * sine
            x, y = x * along + y * up, y * along - x * up
            if -body[1] - _NEAR < x < body[0] + _NEAR and abs(y) < body[2] + _NEAR:
                return True
    return False


@hidden
def _free_distance(points, count, sine, cosine, half, front):
    """Return how far the robot can drive straight before it touches something, m.

    The distance is negative if something is inside the outline, and at most 0 if the sensor is covered, i.e. if a beam has a range
    of almost 0.
    """
    room = _FAR
    for k in range(count):
        if points.solid[k]:
            forward, left = points.x[k] * cosine + points.y[k] * sine, points.y[k] * cosine - points.x[k] * sine
            if points.reach[k] < _COVERED:
                room = min(room, ZERO)
            elif forward >= ZERO and abs(left) <= half:
                room = min(room, forward - front)
    return room


@kernel
def _act(p, seen, robot, kept, twists, reasons, first, last):
    """Write the twists of the rows ``first <= n < last``, and the reasons why they stop; the memory ``kept`` is updated."""
    scan, angles, mount, farthest = seen
    pose, goal, max_vx, max_ax, max_omega, max_alpha, turning_radius, sizes, bodies, stops = robot
    place, states, currents, goals, scans, poses = kept
    beams, most = scan.shape[1], states.shape[1]
    numbers, solid = np.empty((4, beams), np.float32), np.empty(beams, np.bool_)
    points = Points(numbers[0], numbers[1], numbers[2], numbers[3], solid)
    found, scratch, tried = np.empty((_FOUND, 4), np.float32), np.empty((beams, 2), np.float32), np.empty(most, np.bool_)
    for n in range(first, last):
        x, y, gx, gy = pose[n, 0], pose[n, 1], goal[n, 0], goal[n, 1]
        size = Sizes(sizes[n, 0], sizes[n, 1], sizes[n, 2], sizes[n, 3], sizes[n, 4])
        gaps, current = Gaps(place[n], states[n]), np.int64(currents[n]) - 1
        # A new goal clears the remembered gaps.
        if goals[n, 0] != gx or goals[n, 1] != gy:
            states[n, :], current = 0, GOAL
            goals[n, 0], goals[n, 1] = gx, gy
        fresh, begins = False, True
        for k in range(beams):
            fresh |= scan[n, k] != scans[n, k]  # a NaN never equals itself
            begins &= scans[n, k] == ZERO
        # A new scan is stored with the robot's pose; its points stay in place while the robot drives on.
        if fresh:
            scans[n], poses[n] = scan[n], pose[n]
        heading = poses[n, 2]
        sine, cosine = sincos(heading)
        count = read_beams(points, scan[n], angles, mount, farthest, poses[n, 0] - x, poses[n, 1] - y, sine, cosine)
        if count == 0:
            currents[n], reasons[n] = 0, _BLOCKED
            continue
        made = find(points, count, size.gap, found)
        current = remember(gaps, current, points, count, found, made, x, y, size)
        current, _ = choose(gaps, current, points, count, x, y, gx, gy, size, scratch, tried)
        currents[n] = current + 1
        left = math.sqrt((gx - x) * (gx - x) + (gy - y) * (gy - y))
        if left < stops[n]:
            continue
        tx, ty = (gx - x, gy - y) if current == GOAL else (place[n, current, 0] - x, place[n, current, 1] - y)
        sensor_x = poses[n, 0] - x + cosine * mount[0] - sine * mount[1]
        sensor_y = poses[n, 1] - y + sine * mount[0] + cosine * mount[1]
        # Steer aside from obstacles in the cone, then slow down in proportion to the turn.
        tx, ty = steering_place(points, count, sensor_x, sensor_y, tx, ty, heading, size.cone, p.look_distance)
        sine, cosine = sincos(pose[n, 2])
        error, top = atan2(cosine * ty - sine * tx, cosine * tx + sine * ty), min(p.speed, max_vx[n])
        gain = p.turn_gain if p.turn_gain > ZERO else _GAIN * top
        fastest = min(p.turn_rate if p.turn_rate > ZERO else _RATE * top, max_omega[n])
        turn = math.copysign(min(gain * abs(error), fastest), error)
        speed = top * (ONE - abs(turn) / max(fastest, _STILL))
        speed = max(speed, _CRAWL * top) if turning_radius[n] > ZERO else speed
        # Brake for the goal and for obstacles straight ahead, and do not turn a corner of the outline into an obstacle.
        if p.brake:
            speed = min(speed, stopping_speed(left - stops[n] + _GAP, max_ax[n], p.dt))
            room = _free_distance(points, count, sine, cosine, HALF * size.body, bodies[n, 0])
            touched, room = room < ZERO, max(room - _GAP, ZERO)
            speed = min(speed, TWO * room / (p.dt + math.sqrt(p.dt * p.dt + TWO * room / max_ax[n])))  # one period, then it brakes
            onto = turn * p.dt + HALF * turn * abs(turn) / max_alpha[n]
            if bodies[n, 1] > ZERO and _touches(points, count, sine, cosine, bodies[n], onto):
                turn = ZERO
            if speed < _STILL and (room == ZERO or turn == ZERO):
                reasons[n] = _TOUCHED if begins and touched else _BLOCKED
        if turning_radius[n] > ZERO:
            turn = math.copysign(min(abs(turn), speed / turning_radius[n]), turn)
        twists[n, 0], twists[n, 2] = speed, turn
