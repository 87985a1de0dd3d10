r"""BRNE: the robot and the pedestrians around it choose their paths jointly, as in a game in which each agent responds to the
others.

M. Sun, F. Baldini, P. Trautman, T. Murphey, "Mixed-strategy Nash equilibrium for crowd navigation" (Bayesian recursive Nash
equilibrium), and its code, MurpheyLab/brne 633a5cd: ``brnelib/src/brne.cpp``, ``crowd_nav/src/brne_nav.cpp`` and
``crowd_nav/config/brne.yaml``, whose costs are the defaults, and ``brne_py``, whose costs are in the `brne_py` preset.

Every agent has the same number of path samples. The robot's samples are roll-outs of 28 speeds by 7 turning rates around the arc to
a point ahead. A pedestrian's samples are its predicted path plus a Gaussian process whose width grows with the pedestrian's speed.
The cost of a pair of samples is a3 (2 - 2 / (1 + exp(-a1 d^(2 a2)))), where d is the minimum distance between them. Weights start
at 1. In each of ten rounds, starting with the robot, each agent gives each of its samples the weight exp(-c), where c is the
sample's expected cost under the current weights of the other agents, and divides its weights by their mean. The robot then drops
samples that leave the corridor or come near the nearest pedestrian's current position, and drives the weighted mean of the rest. If
no one is nearby, the robot drives the sample that ends nearest to the goal. If all samples come near that pedestrian, the robot
stops.

Differences from the source:
- The arc to the point ahead has the radius d / (2 sin(bearing)), where d is the distance to the point; upstream constructs the arc
  from an axis that is suitable only for goals along x. If the point is behind the robot, the robot turns in place; a car-like robot
  drives its tightest curve.
- The point ahead is on the path (``lookahead``), as in `orca`. BRNE only plans arcs, so without a path the robot cannot get around
  a corner (``follow_path=False`` is the upstream behaviour).
- Samples are also dropped because of walls: if they come within 5 cm of a wall within ``wall_horizon`` or while braking or, if the
  robot is already closer than 5 cm to a wall, if they touch a wall. If no sample is left, the robot is sampled once more at half
  the speed, including standing still. The mean of samples to the left and right of an obstacle may hit the obstacle; in that case,
  the robot drives the sample with the largest weight. If a robot can neither drive nor turn, it backs up, provided that no one is
  near and the space behind it is free. Upstream only considers the sides of a corridor (``wall_horizon=0``).
- The corridor surrounds the line to the goal from the position at which the robot received the goal. If all samples leave the
  corridor, the robot stops until a sample stays inside; upstream abandons the goal.
- Pedestrians are predicted by a predictor, at the same times as the robot's samples; upstream predicts at constant velocity, with a
  lag of one step of 0.1 s. Other robots are treated like pedestrians, but predicted at constant velocity.
- If two agents' radii add up to more than 0.6 m, the excess is subtracted from their distance (``bodies``). The robot stops for a
  person within 0.1 m of contact (``close_stop``). In both cases upstream uses the distance between centres, for a robot dog of 0.3
  m.
- The nominal speed is two thirds of the maximum speed, which is the ratio of the published values, 0.4 and 0.6 m/s. It is reduced
  near the goal and for sharp turns towards the goal; otherwise a robot would overshoot its goal and circle around it.
- The random numbers depend on the number of the call, the agent, the sample and the time step (`agora.seeds`), and apply in the
  robot's frame.

Limits: paths are arcs that last 2.5 s, so the robot does not pass between people that stand close together. The robot stops for as
long as a person stays within the stopping distance. The pedestrians' samples ignore walls.

Narrow places: if there are samples to the left and right of a door jamb, it can happen that no sample is allowed. `rto`, at 2.8
m/s, and `rlca`, which cannot back up, get stuck at door jambs. A box-shaped robot with a corner at the end of a wall can neither
drive on nor turn (`jackal_barn` in the hairpin).
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
    """Drives the weighted mean of sampled arcs; an arc has a large weight if it conflicts little with the paths of the nearest
    agents, which choose their paths in the same way.

    Attributes:
        cost_a1: rate at which the cost of a pair of paths decays with the distance between them (brne_py: 4).
        cost_a2: sharpness of this decay (brne_py: 1).
        cost_a3: cost of a pair of paths that meet (brne_py: 80).
        kernel_a1: rate at which the correlation between two points of a pedestrian's path decays with the squared time difference,
            1/s2.
        kernel_a2: variance of a pedestrian's position in the far future, m2 per m2/s2 of squared speed.
        samples: number of samples per agent; must be the square of an even number.
        steps: number of time steps of a path.
        step: time between two time steps, s.
        max_agents: maximum number of agents, including the robot; the agents nearest to the robot are used.
        activation: distance beyond which other agents are ignored, m.
        prediction: predictor of the pedestrians' paths.
        bodies: limit for the sum of two agents' radii, m; the amount by which the sum exceeds this limit is subtracted from their
            distance. With a limit of 10 or more, distances are measured between centres.
        close_stop: distance to the nearest pedestrian's current position below which samples are dropped, m (upstream: 0.5); None
            for the sum of the radii plus 0.1.
        corridor: distance from the line to the goal beyond which samples are dropped, m (upstream: 0.6); None for no corridor.
        wall_horizon: time for which samples must avoid walls, s, extended if braking takes longer; with 0, samples ignore walls,
            and only the path avoids them.
        window: local costmap, used to avoid walls.
        follow_path: whether to drive to a point on the path; False drives straight to the goal.
        lookahead: distance along the path to the point to drive to, m.
        speed: maximum speed, m/s (upstream: 0.6); None for the robot's maximum speed.
        nominal_speed: speed around which samples are placed, m/s (upstream: 0.4); None for two thirds of the maximum speed.
        turn_rate: maximum turning rate, rad/s (upstream: 1); None for a rate proportional to the maximum speed, 1.67 at 1 m/s, but
            at most the robot's maximum.
        stop: distance to the goal at which the robot stops, m (upstream: 0.5); None for half of the task's tolerance.
        seed: seed of the random samples.
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
        """Return the kernel's parameters; ``dt`` is the control period, s."""
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
        """Return the agents nearest to each robot, with positions relative to the robot, and the predictor's memory.

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
    """Write the speeds and turning rates (S,) of the samples.

    The samples are all combinations of speeds and turning rates around the nominal values. Their ranges are symmetric about the
    nominal values, and narrow enough to stay within the limits.
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
    """Write the robot's samples, and which samples avoid walls and stay in the corridor, i.e. are allowed; return whether any
    sample is allowed.

    If no sample is allowed, the robot is sampled once more around at most half the nominal speed, including standing still.
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
    """Return the weighted mean speed and turning rate of the allowed samples that stay more than ``keep`` m away from a position,
    and the sample with the largest weight.

    The index of that sample is -1 if no sample qualifies.
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
        # An arc to the target with radius d / (2 sin(bearing)), or the tightest curve if the target is behind.
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
        # If the target is behind or no sample is allowed, turn towards the target, or back up.
        if turns or not _sample(p, ways, speed, turn, allowed, shape, around, horizon, corridor, limits):
            if turning_radius[n] <= ZERO and is_free(*around, ZERO, aside, horizon):
                twists[n, 2] = aside
                reasons[n] = np.int8(0) if turns else _BLOCKED
                continue
            retreat = backing_speed(around, top, min_vx[n], horizon, radii[n], places[n], bodies[n], count)
            twists[n, 0], reasons[n] = retreat, _TOUCHED if begins_touching else (_ESCAPING if retreat < ZERO else _BLOCKED)
            continue
        # If no one is nearby, there is no game; take the sample that ends nearest to the target.
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
        # The mean of allowed samples may touch a wall; if it does, take the sample with the largest weight.
        if not is_free(*around, forward, bend, horizon):
            forward, bend = speed[best], turn[best]
        twists[n, 0], twists[n, 2] = forward, bend
