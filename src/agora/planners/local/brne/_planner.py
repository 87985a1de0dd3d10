r"""BRNE: the robot and the pedestrians around it choose their paths jointly, as in a game in which each agent responds to the
others.

M. Sun, F. Baldini, P. Trautman, T. Murphey, "Mixed-strategy Nash equilibrium for crowd navigation" (Bayesian recursive Nash
equilibrium), and its code, MurpheyLab/brne 633a5cd: ``brnelib/src/brne.cpp``, ``crowd_nav/src/brne_nav.cpp`` and
``crowd_nav/config/brne.yaml``, whose costs are the defaults, and ``brne_py``, whose costs are in the `brne_py` preset.

Every agent has the same number of path samples. The robot's samples are roll-outs of 28 speeds by 7 turning rates around the arc to
a point ahead. A pedestrian's samples are its predicted path plus a Gaussian process whose width grows with the pedestrian's speed.
A pair of samples costs a3 (2 - 2 / (1 + exp(-a1 d^(2 a2)))) at their minimum distance d. Weights start at 1. In each of ten rounds,
starting with the robot, each agent weights a sample by exp(-c), where c is its expected cost under the current weights of the other
agents, and divides by the mean. The robot then drops samples that leave the corridor or come near the nearest pedestrian's current
position, and drives the weighted mean of the rest. With no one nearby, it drives the sample that ends nearest to the goal; if all
samples come near someone, it stops.

Differences from the source:
- The arc to the point ahead has the radius d / (2 sin(bearing)); upstream constructs it from an axis that is suitable only for
  goals along x. If the point is behind the robot, the robot turns in place; a car-like robot drives its tightest curve.
- The point ahead is on the path (``lookahead``), as in `orca`. BRNE only plans arcs, so without a path the robot cannot get around
  a corner (``follow_path`` False is the upstream behaviour).
- Walls also exclude samples: those that come within 5 cm of a wall within ``wall_horizon`` or while braking or, if the robot is
  already closer than that, those that touch a wall. If no sample is left, all samples are repeated at half the speed, down to 0.
  The mean of samples to the left and right of an obstacle may hit the obstacle; the sample with the largest weight is driven in
  that case. If a robot can neither drive nor turn, it backs up, provided that no one is near and the space behind it is free.
  Upstream only considers the sides of a corridor (``wall_horizon`` 0).
- The corridor is around the line from the robot's position when it received the goal to the goal. If all samples leave it, the
  robot stops until one does not; upstream abandons the goal.
- Pedestrians are predicted by a predictor, at the same times as the robot's samples; upstream predicts at constant velocity, with a
  lag of one step of 0.1 s. Other robots are agents like pedestrians, at constant velocity.
- If two agents' radii add up to more than 0.6 m, the excess is subtracted from their distance, and the robot stops for a person
  within 0.1 m of contact. Upstream uses the distance between centres in both cases, for a robot dog of 0.3 m (``bodies``,
  ``close_stop``).
- The nominal speed is two thirds of the maximum speed, like the published 0.4 of 0.6 m/s. It is lower near the goal, and for sharp
  turns towards it; otherwise a robot would pass its goal and circle around it.
- The random numbers of a call depend on the number of the call, the agent, the sample and the time step (`agora.seeds`), in the
  robot's frame.

Limits: paths are arcs that last 2.5 s, so the robot does not pass between people that stand close together, and it stops while a
person stays within the stopping distance. The pedestrians' samples ignore walls.

Narrow places: with samples left and right of a door jamb, none may be left in between. `rto`, at 2.8 m/s, and `rlca`, which cannot
back up, get stuck there. A box-shaped robot with a corner at the end of a wall neither drives on nor turns (`jackal_barn` in the
hairpin).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from agora.core.jit import hidden, kernel
from agora.core.kernel_record import kernel_record
from agora.core.path import point_ahead
from agora.core.recording import Reason
from agora.core.scalar import HALF, HALF_PI, ONE, TWO, ZERO, atan2, sincos
from agora.core.state import Array, Floats, freeze
from agora.costmap.walls import window_of
from agora.costmap.window import Window
from agora.errors import InputError
from agora.interfaces import Answer, Declaration, Memory, Observation, Predictor, Span, Tracks
from agora.planners._expected import expected_ways
from agora.planners._limits import own
from agora.planners.local.brne._game import (
    Costs,
    Ways,
    deviations,
    respond_in_turn,
    roll_out,
    write_pair_costs,
    write_pedestrian_paths,
)
from agora.planners.local.brne._walls import backing_speed, is_free, is_in_corridor, touches
from agora.planners.steering import stopping_speed
from agora.ranges import Checked, Count, Distance, Duration, Length, Number, Period, Positive, TopSpeed, TurningRate, Within
from agora.registry import Plug, make
from agora.seeds import key_of
from agora.world.tracks import onward

_NOMINAL = np.float32(2.0 / 3.0)
_TURN = np.float32(1.0 / 0.6)  # rad/m: the published ratio of turning rate to speed
_MARGIN, _SPARE = np.float32(0.1), np.float32(0.05)  # m
_FAR, _TINY, _TINIEST = np.float32(3e38), np.float32(1e-6), np.float32(1e-30)
_NOBODY, _CENTRES = 1e6, 10.0  # m
_STILL = np.float32(1e-3)
_BLOCKED, _WAITING, _ESCAPING = np.int8(Reason.BLOCKED), np.int8(Reason.WAITING), np.int8(Reason.ESCAPING)
_TOUCHED = np.int8(Reason.START_IN_CONTACT)


_FROM_ROBOT = ("nominal_speed", "turn_rate", "close_stop", "corridor")
"""Fields that follow from the robot if they are None, which the kernel reads as 0."""


_TUNABLE: dict[str, Span] = {
    "cost_a1": Span(2.0, 40.0, log=True),
    "cost_a2": Span(0.5, 4.0),
    "cost_a3": Span(5.0, 150.0, log=True),
    "kernel_a1": Span(0.05, 1.0, log=True),
    "kernel_a2": Span(0.02, 1.0, log=True),
    "activation": Span(2.0, 10.0),
    "lookahead": Span(0.5, 3.0),
}


@dataclass(frozen=True)
class Brne(Checked):
    """Drives the mean of sampled arcs, weighted by how little they conflict with the nearest agents, which choose their paths in
    the same way.

    Attributes:
        cost_a1: rate at which the cost of a pair of paths falls with their distance (brne_py: 4).
        cost_a2: sharpness of that fall (brne_py: 1).
        cost_a3: cost of two paths that meet (brne_py: 80).
        kernel_a1: rate at which the correlation of a pedestrian's path falls with the time difference, 1/s2.
        kernel_a2: variance of a pedestrian's path in the far future, per m2/s2 of squared speed.
        samples: number of samples per agent; must be the square of an even number.
        steps: number of time steps of a path.
        step: time between two time steps, s.
        max_agents: maximum number of agents: the robot and the nearest others.
        activation: distance beyond which other agents are ignored, m.
        prediction: predictor of pedestrians.
        bodies: sum of two agents' radii above which the excess reduces their distance, m; 10 or more to use distances between
            centres.
        close_stop: samples that come closer than this to the nearest pedestrian's current position are dropped, m (upstream: 0.5);
            None for the sum of the radii plus 0.1.
        corridor: distance from the line to the goal beyond which samples are dropped, m (upstream: 0.6); None for no corridor.
        wall_horizon: time for which samples must avoid walls, s, or longer if braking takes longer; 0 leaves walls to the path.
        window: local costmap, for walls.
        follow_path: drive to a point on the path; False drives to the goal.
        lookahead: distance along the path of the point to drive to, m.
        speed: maximum speed, m/s (upstream: 0.6); None for the robot's.
        nominal_speed: speed around which samples are placed, m/s (upstream: 0.4); None for two thirds of the maximum speed.
        turn_rate: maximum turning rate, rad/s (upstream: 1); None for a rate proportional to the maximum speed, 1.67 at 1 m/s, but
            at most the robot's.
        stop: distance to the goal at which the robot stops, m (upstream: 0.5); None for half of the task's tolerance.
        seed: seed of the samples.
    """

    cost_a1: Positive = 15.0
    cost_a2: Positive = 3.0
    cost_a3: Positive = 20.0
    kernel_a1: Positive = 0.2
    kernel_a2: Positive = 0.2
    samples: Count = 196
    steps: Count = 25
    step: Period = 0.1
    max_agents: Annotated[int, Within(2, 32)] = 5
    activation: Distance = 6.0
    prediction: Annotated[Predictor, Plug("predictors")] = field(default_factory=lambda: make("predictors", "constant_velocity"))
    bodies: Distance = 0.6
    close_stop: Distance | None = None
    corridor: Length | None = None
    wall_horizon: Duration = 1.0
    window: Window = field(default_factory=lambda: Window(size=6.0, sources=("map",)))
    follow_path: bool = True
    lookahead: Length = 1.0
    speed: TopSpeed | None = None
    nominal_speed: TopSpeed | None = None
    turn_rate: TurningRate | None = None
    stop: Distance | None = None
    seed: Number = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.samples != math.isqrt(self.samples) ** 2 or self.samples % 2:
            raise InputError(f"samples: must be the square of an even number, such as 196, is {self.samples}")

    @cached_property
    def declares(self) -> Declaration:
        """The properties of the planner."""
        walls = (self.window,) if self.wall_horizon > 0.0 else ()
        bodies = {"bodies": Span(0.4, 1.2)} if self.bodies < _CENTRES else {}
        return Declaration(
            needs=("path", "robots", "pedestrians", *walls, *self.prediction.declares.needs),
            label="faithful",
            tunable=_TUNABLE | ({"wall_horizon": Span(0.3, 2.5)} if walls else {}) | bodies,
            notes=("reason",),
            concurrent=True,
            top_speed=float(own(self.speed)),
        )

    @cached_property
    def _factor(self) -> Floats:
        return deviations(self.steps, self.step, self.kernel_a1, self.kernel_a2).astype(np.float32)

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3), the reasons why robots stop, and the memory: the number of calls, the goal, and the robot's
        position when the goal was set.
        """
        o, rows, f = observation, len(observation.pose), np.float32
        assert o.path is not None and o.path_count is not None
        kept = {name: part if isinstance(part, dict) else part.copy() for name, part in memory.items()} or {
            "calls": np.zeros(rows, np.int32),
            "goal": np.zeros((rows, 2), f),
            "begin": np.zeros((rows, 2), f),
        }
        others, foretold = self._nearest_agents(o, kept.get("prediction", {}))
        path, count = (o.path, o.path_count) if self.follow_path else (o.goal[:, None, :2], np.minimum(o.path_count, 1))
        m, twists, reasons = o.limits, np.zeros((rows, 3), f), np.full(rows, Reason.NO_PATH, np.int8)
        tolerance = np.full(rows, 0.1) if o.goal_tolerance is None else o.goal_tolerance
        stop = 0.5 * tolerance if self.stop is None else np.full(rows, self.stop)
        robot = (o.pose, o.radius, stop.astype(f), m.min_vx, m.max_vx, m.max_ax, m.max_omega, m.max_alpha, m.turning_radius)
        outline = self.window.corners(o.footprint, o.radius).astype(f)
        walls = (*window_of(o.costmap, rows), freeze(outline), freeze(outline + _SPARE * np.sign(outline)))
        ways = (freeze(path.astype(f)), freeze(count))
        state = (kept["calls"], kept["goal"], kept["begin"])
        given = (self._parameters(f(o.dt)), tuple(map(freeze, robot)), ways, walls, others, freeze(self._factor), self._shape)
        _act(*given, state, twists, reasons, 0, rows)
        return Answer(twists, kept | ({"prediction": foretold} if foretold else {}), {"reason": reasons})

    def _parameters(self, dt: np.float32) -> Any:
        """Return the kernel's parameters for a control period, s."""
        f = np.float32
        costs = Costs(f(self.cost_a1), f(self.cost_a2), f(self.cost_a3), f(self.bodies))
        given = {name: getattr(self, name) or 0.0 for name in _FROM_ROBOT}
        return _Parameters.of(self, **given, costs=costs, key=key_of("brne", self.seed, "samples"), dt=dt)

    @property
    def _shape(self) -> tuple[int, int]:
        """Return the number of speeds and the number of turning rates in the robot's samples."""
        side = math.isqrt(self.samples)
        return 2 * side, side // 2

    def _nearest_agents(self, o: Observation, memory: Memory) -> tuple[tuple[Array, ...], Memory]:
        """Return the nearest agents of each robot, relative to it, and the memory of the predictor.

        The agents are returned as their number (N,), positions (N, A, 2), radii (N, A), speeds (N, A) and predicted paths (N, A, T,
        2), where A is ``max_agents`` - 1.
        """
        assert o.pedestrians is not None
        ways, foretold = expected_ways(self.prediction, o, self.steps, self.step, memory)
        seen: list[Tracks] = [o.pedestrians, *([] if o.robots is None else [o.robots])]
        expected = [ways, *(onward(t.position, t.velocity, self.steps, self.step) for t in seen[1:])]
        rows, most = len(o.pose), self.max_agents - 1
        place, velocity, radius, present = (
            np.concatenate([getattr(t, name) for t in seen], axis=1) for name in ("position", "velocity", "radius", "present")
        )
        way = np.concatenate(expected, axis=1) - o.pose[:, None, None, :2]
        place = place - o.pose[:, None, :2]
        away = np.where(present, np.hypot(place[..., 0], place[..., 1]), _NOBODY)
        order = np.argsort(away, axis=1, kind="stable")[:, :most]
        count = (np.take_along_axis(away, order, 1) <= self.activation).sum(axis=1).astype(np.int32)
        at = np.arange(rows)[:, None]
        speed = np.hypot(velocity[..., 0], velocity[..., 1])
        found = (place[at, order], radius[at, order], speed[at, order], way[at, order])
        return (freeze(count), *(freeze(array.astype(np.float32)) for array in found)), foretold


_Parameters = kernel_record("_Parameters", Brne, limits=("speed",), computed=("dt", *_FROM_ROBOT), others=("costs", "key"))


@hidden
def _grid(speed, turn, shape, nominal, bend, top, fastest, turning_radius):
    """Write the speeds and turning rates (S,) of the samples; return whether any sample moves.

    The samples are all combinations of speeds and turning rates around the nominal values, symmetric as far as both sides stay
    within the limits.
    """
    ahead, beside = min(nominal, top - nominal), min(fastest + bend, fastest - bend)
    lengths, turns = shape
    for j in range(turns):
        for i in range(lengths):
            s = j * lengths + i
            speed[s] = nominal - ahead + TWO * ahead * np.float32(i) / np.float32(lengths - 1)
            turn[s] = bend - beside + TWO * beside * np.float32(j) / np.float32(max(turns - 1, 1))
            if turning_radius > ZERO:
                tightest = speed[s] / turning_radius
                turn[s] = min(max(turn[s], -tightest), tightest)


@hidden
def _sample(p, ways, speed, turn, allowed, shape, around, horizon, corridor, limits):
    """Write the robot's samples, and which of them are allowed by the walls and the corridor; return whether any is allowed.

    If none is allowed, the samples are repeated at half the speed or less, including samples that do not move.
    """
    nominal, curve, top, fastest, turning_radius = limits
    offset, side_x, side_y = corridor
    left = False
    for _ in range(2):
        _grid(speed, turn, shape, nominal, nominal * curve, top, fastest, turning_radius)
        roll_out(ways.x[0], ways.y[0], speed, turn, p.step)
        for s in range(speed.size):
            allowed[s] = is_free(*around, speed[s], turn[s], horizon)
            if p.corridor > ZERO and allowed[s]:
                allowed[s] = is_in_corridor(ways.x[0], ways.y[0], s, offset, side_x, side_y, p.corridor)
            left = left or allowed[s]
        if left:
            break
        nominal = HALF * min(nominal, HALF * top)
    return left


@hidden
def _nearest_end(ways, allowed, x, y):
    """Return the robot's allowed sample that ends nearest to a position."""
    least, best, last = _FAR, 0, ways.x.shape[1] - 1
    for s in range(allowed.size):
        dx, dy = ways.x[0, last, s] - x, ways.y[0, last, s] - y
        if allowed[s] and dx * dx + dy * dy < least:
            least, best = dx * dx + dy * dy, s
    return best


@hidden
def _mean(ways, weights, speed, turn, allowed, x, y, keep):
    """Return the mean speed and turning rate of the allowed samples that stay away from a position, and the sample with the largest
    weight.

    The sample is -1 if no sample qualifies.
    """
    total, forward, bend, most, best = ZERO, ZERO, ZERO, -ONE, -1
    for s in range(speed.size):
        nearest = _FAR
        for t in range(ways.x.shape[1]):
            dx, dy = ways.x[0, t, s] - x, ways.y[0, t, s] - y
            nearest = min(nearest, dx * dx + dy * dy)
        if allowed[s] and nearest > keep * keep:
            total += weights[s]
            forward += weights[s] * speed[s]
            bend += weights[s] * turn[s]
            if weights[s] > most:
                most, best = weights[s], s
    total = max(total, _TINIEST)
    return forward / total, bend / total, best


@kernel
def _act(p, robot, route, walls, others, factor, shape, kept, twists, reasons, first, last):
    """Write the twists of the rows ``first <= n < last`` and the reasons why they stop; the memory ``kept`` is updated."""
    pose, radii, stops, min_vx, max_vx, max_ax, max_omega, max_alpha, turning_radius = robot
    path, path_count = route
    cost, origin, resolution, outlines, wide_outlines = walls
    counts, places, bodies, speeds, expected = others
    calls, goals, begins = kept
    steps, samples, most = factor.shape[0], shape[0] * shape[1], places.shape[1] + 1
    room = np.empty((2, most, steps, samples), np.float32)
    ways = Ways(room[0], room[1])
    table = np.empty((most, most, samples, samples), np.float32)
    weights, radius = np.empty((most, samples), np.float32), np.empty(most, np.float32)
    speed, turn, scratch = np.empty(samples, np.float32), np.empty(samples, np.float32), np.empty(samples, np.float32)
    draws, allowed = np.empty((steps, samples), np.float32), np.empty(samples, np.bool_)
    for n in range(first, last):
        if path_count[n] <= 0:
            continue
        reasons[n], call = np.int8(0), calls[n]
        calls[n] = call + 1
        x, y, heading = pose[n, 0], pose[n, 1], pose[n, 2]
        sine, cosine = sincos(heading)
        end_x, end_y = path[n, path_count[n] - 1, 0], path[n, path_count[n] - 1, 1]
        # The corridor starts at the robot's position when it received the goal.
        if call == 0 or goals[n, 0] != end_x or goals[n, 1] != end_y:
            goals[n, 0], goals[n, 1], begins[n, 0], begins[n, 1] = end_x, end_y, x, y
        _, tx, ty, way = point_ahead(path[n], path_count[n], x, y, p.lookahead)
        dx, dy = tx - x, ty - y
        tx, ty = cosine * dx + sine * dy, cosine * dy - sine * dx
        distance, left = math.sqrt(dx * dx + dy * dy), math.sqrt((end_x - x) * (end_x - x) + (end_y - y) * (end_y - y))
        left = max(left, way)
        if left <= stops[n]:
            continue
        bearing, top = atan2(ty, tx), min(p.speed, max_vx[n])
        fastest = min(p.turn_rate if p.turn_rate > ZERO else _TURN * top, max_omega[n])
        nominal = min(p.nominal_speed if p.nominal_speed > ZERO else _NOMINAL * top, top)
        # Slow down before the goal, and (below) for sharp turns; otherwise the robot would circle the goal.
        nominal = min(nominal, stopping_speed(left - HALF * stops[n], max_ax[n], p.dt))
        horizon = max(p.wall_horizon, nominal / max_ax[n] + p.dt)
        u, v = x - origin[n, 0], y - origin[n, 1]
        # If the robot is already within the margin of a wall, use the outline without the margin, so that the robot can leave.
        wide = is_free(cost[n], wide_outlines[n], u, v, resolution, heading, ZERO, ZERO, ZERO)
        around = (cost[n], wide_outlines[n] if wide else outlines[n], u, v, resolution, heading)
        count = min(counts[n], most - 1)
        begins_touching = call == 0 and touches(around, radii[n], places[n], bodies[n], count)
        aside = math.copysign(min(fastest, stopping_speed(abs(bearing), max_alpha[n], p.dt)), bearing)
        behind = abs(bearing) > HALF_PI
        # Arc to the target with radius d / (2 sin(bearing)); the tightest curve for a target behind.
        curve = math.copysign(_FAR, bearing) if behind else TWO * math.sin(bearing) / max(distance, _TINY)
        if turning_radius[n] > ZERO:
            curve = min(max(curve, -ONE / turning_radius[n]), ONE / turning_radius[n])
        nominal = min(nominal, fastest / max(abs(curve), _TINY))
        across_x, across_y = begins[n, 1] - end_y, end_x - begins[n, 0]
        length = max(math.sqrt(across_x * across_x + across_y * across_y), _TINY)
        across_x, across_y = across_x / length, across_y / length
        offset = (x - begins[n, 0]) * across_x + (y - begins[n, 1]) * across_y
        corridor = (offset, across_x * cosine + across_y * sine, across_y * cosine - across_x * sine)
        limits = (nominal, curve, top, fastest, turning_radius[n])
        turns = behind and turning_radius[n] <= ZERO
        # The target is behind, or no sample is allowed: turn towards the target, or back up.
        if turns or not _sample(p, ways, speed, turn, allowed, shape, around, horizon, corridor, limits):
            if turning_radius[n] <= ZERO and is_free(*around, ZERO, aside, horizon):
                twists[n, 2] = aside
                reasons[n] = np.int8(0) if turns else _BLOCKED
                continue
            retreat = backing_speed(around, top, min_vx[n], horizon, radii[n], places[n], bodies[n], count)
            twists[n, 0], reasons[n] = retreat, _TOUCHED if begins_touching else (_ESCAPING if retreat < ZERO else _BLOCKED)
            continue
        # With no one nearby, there is no game: take the sample that ends nearest to the target.
        if count == 0:
            reach = min(left, top * p.step * np.float32(steps)) / max(distance, _TINY)
            best = _nearest_end(ways, allowed, reach * tx, reach * ty)
            twists[n, 0], twists[n, 2] = speed[best], turn[best]
            if speed[best] < _STILL and abs(turn[best]) < _STILL:
                twists[n, 0] = backing_speed(around, top, min_vx[n], horizon, radii[n], places[n], bodies[n], count)
                reasons[n] = _ESCAPING if twists[n, 0] < ZERO else _BLOCKED
            continue
        # The game: sample the agents' paths, compute the costs of all pairs, and iterate the weights.
        radius[0] = radii[n]
        for a in range(count):
            radius[a + 1] = bodies[n, a]
            write_pedestrian_paths(
                ways.x[a + 1], ways.y[a + 1], expected[n, a], factor, speeds[n, a], p.key, a, call, sine, cosine, draws
            )
        write_pair_costs(table, ways, count + 1, radius, p.costs, scratch)
        respond_in_turn(weights, table, count + 1, scratch)
        px, py = cosine * places[n, 0, 0] + sine * places[n, 0, 1], cosine * places[n, 0, 1] - sine * places[n, 0, 0]
        keep = p.close_stop if p.close_stop > ZERO else radii[n] + bodies[n, 0] + _MARGIN
        forward, bend, best = _mean(ways, weights[0], speed, turn, allowed, px, py, keep)
        if best < 0:
            reasons[n] = _TOUCHED if begins_touching else _WAITING
            continue
        # The mean of allowed samples may touch a wall: in that case take the sample with the largest weight.
        if not is_free(*around, forward, bend, horizon):
            forward, bend = speed[best], turn[best]
        twists[n, 0], twists[n, 2] = forward, bend
