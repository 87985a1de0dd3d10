"""Safe interval path planning among people with predicted motion: finds the path with the earliest arrival, including waits.

M. Phillips and M. Likhachev, "SIPP: safe interval path planning for dynamic environments", ICRA 2011: the search
(`agora.planners.local.sipp._search`). Differences from the source:

- The paper plans the whole path once, for obstacles with known motion. This planner replans at every call on a lattice around the
  robot, up to the point where the path reaches the lattice's edge, for discs that move as predicted. With a perfect predictor, the
  arrival is the earliest possible on the lattice, and is therefore a bound for other planners at the same speed. With
  `constant_velocity`, the planner does not know more than other planners, and the arrival is not a bound.
- A disc that occupies a cell at the end of the horizon is assumed to stay there forever.
- The lattice ignores heading and acceleration limits. The velocity that follows the path is kept constant for as long as that is
  safe, and a robot that cannot move sideways turns to it (`agora.planners.steering.velocity_to_twist`).
- If a robot is closer to a person than the margin, the robot's disc is shrunk by the difference and then grows again with time, so
  that the robot moves away.
- Of several paths with the same arrival time, the first one found is taken. In a mirrored scene, this may be a different path.
- If no path leads to the target, the robot drives to the position that stays safe for longest (with the reason ``escaping``).

A robot is represented by the disc around its outline. Between cell centres, it may violate the margin by half a cell.

Among 25 tracked people per 100 m2, all 100 robots arrive, as with `teb`, but they stay farther away from people: the mean closest
approach is 0.02 m [0.00, 0.04] larger than with `teb`, and 0.08 m larger than with `dwa`. A larger margin keeps more distance but
takes longer: with a margin of 0.35 m, the difference from `teb` was 0.08 m, and two of 100 robots touched a wall.

Narrow places: a robot with little room around its disc, such as `f1tenth`, does not get through, and a car turns too late. A robot
that needs more than a metre to stop, such as `rto`, clips the end of a wall.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

import numpy as np

from agora.core.kernel_record import kernel_record
from agora.core.recording import Reason
from agora.core.state import Bools, freeze
from agora.costmap.walls import window_of
from agora.costmap.window import Window
from agora.errors import InputError
from agora.interfaces import Answer, Declaration, Memory, Observation, Span
from agora.planners._expected import Discs, discs, needs_of
from agora.planners._limits import own
from agora.planners.local.sipp._plan import Scratch, plan, scratch
from agora.planners.local.sipp._search import STEPS
from agora.planners.steering import velocity_to_twist
from agora.ranges import Checked, Distance, Length, NotNegative, Period, TopSpeed
from agora.registry import Named, Plug

_LOCAL = threading.local()
_MOST = 301

_TUNABLE: dict[str, Span] = {
    "horizon": Span(2.0, 10.0, log=True),
    "margin": Span(0.0, 0.6),
    "padding": Span(0.0, 0.15),
    "regain": Span(0.0, 1.0),
    "lookahead": Span(0.2, 2.0, log=True),
}


@dataclass(frozen=True)
class Sipp(Checked):
    """Drives the path with the earliest arrival among people whose motion is predicted.

    Attributes:
        window: local costmap, used to avoid walls; the lattice covers the same area.
        prediction: predictor of the pedestrians' paths; other robots are assumed to keep their velocity.
        cell: side length of a lattice cell, m.
        horizon: time for which people are predicted, s, in 64 steps.
        margin: distance to keep from people and robots, m.
        padding: distance to keep from walls, m.
        regain: speed at which a lost margin is restored, m/s.
        lookahead: maximum duration of the part of the plan that is driven at one constant velocity, s.
        speed: speed of the moves on the lattice, m/s; None for the robot's maximum speed.
    """

    window: Window = field(default_factory=lambda: Window(size=8.0, sources=("map",)))
    prediction: Annotated[Named, Plug("predictors")] = field(default_factory=lambda: Named.of("predictors", "constant_velocity"))
    cell: Length = 0.15
    horizon: Period = 4.8
    margin: Distance = 0.25
    padding: Distance = 0.02
    regain: NotNegative = 0.3
    lookahead: Period = 1.0
    speed: TopSpeed | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 5 <= self._columns <= _MOST:
            raise InputError(f"cell: the window must be 5 to {_MOST} cells long, is {self._columns} cells of {self.cell} m")

    @property
    def _columns(self) -> int:
        """Number of cells per side of the lattice, which is odd."""
        return 2 * int(0.5 * self.window.size / self.cell) + 1

    @cached_property
    def declares(self) -> Declaration:
        """The properties of the planner."""
        return Declaration(
            needs=needs_of(self.prediction.part, ("path", "pedestrians", "robots", self.window)),
            label="faithful",
            tunable=_TUNABLE,
            notes=("reason",),
            concurrent=True,
            top_speed=float(own(self.speed)),
            requires=self.prediction.part.declares.requires,
        )

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3), the reasons why robots stop or leave their path, and the predictor's memory."""
        o, rows, step = observation, len(observation.pose), self.horizon / STEPS
        assert o.path is not None and o.path_count is not None
        seen, foreseen = discs(self.prediction.part, o, STEPS - 1, step, memory.get("prediction", {}))
        speed = freeze(np.minimum(o.limits.max_vx, own(self.speed)))
        parameters = Parameters.of(self, columns=self._columns, step=step, speed=speed)
        wanted, reasons = np.zeros((rows, 2), np.float32), np.zeros(rows, np.int8)
        about = tuple(freeze(array) for array in (seen.position, seen.radius, seen.present, seen.expected))
        robot, route = (freeze(o.pose), freeze(o.radius)), (freeze(o.path), freeze(o.path_count))
        window, dt = window_of(o.costmap, rows), np.float32(o.dt)
        plan(parameters, self._scratch(), robot, route, about, window, dt, wanted, reasons, 0, rows)
        twists = velocity_to_twist(wanted, o, None)
        held = _faces(o, seen) & ~o.limits.holonomic
        twists[held, 0] = 0.0
        twists[held & (o.limits.turning_radius > 0.0)] = 0.0
        reasons[held] = Reason.START_IN_CONTACT
        return Answer(twists, {"prediction": foreseen}, {"reason": reasons})

    def _scratch(self) -> Scratch:
        """Return the working memory of this thread, kept for the next call."""
        if getattr(_LOCAL, "columns", None) != self._columns:
            _LOCAL.columns, _LOCAL.scratch = self._columns, scratch(self._columns)
        kept: Scratch = _LOCAL.scratch
        return kept


Parameters = kernel_record("Parameters", Sipp, computed=("step",), others=("columns", "speed"))
"""The lattice has an odd number of columns; steps of time are in s; speeds are an array (N,), m/s."""


def _faces(o: Observation, seen: Discs) -> Bools:
    """Return which robots (N,) would drive towards a person that they touch. A robot that has to turn first must not keep driving
    in the meantime.
    """
    dx, dy = (seen.position[..., axis] - o.pose[:, None, axis] for axis in (0, 1))
    reach, heading = seen.radius + o.radius[:, None], o.pose[:, None, 2]
    before = dx * np.cos(heading) + dy * np.sin(heading) > 0.0
    return np.asarray((seen.present & before & (dx * dx + dy * dy < reach * reach)).any(axis=1))
