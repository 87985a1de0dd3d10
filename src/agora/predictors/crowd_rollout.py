"""Prediction by a crowd model: the observed people are simulated and react to each other and to the robot.

Every pedestrian is assumed to continue in its recent mean direction at its recent mean speed (`agora.predictors.intent`). Robots
keep their velocity. Velocities are chosen as in the engine (`agora.engine.pedestrian_kernels.choose_velocities`); routes,
behaviours and the engine's last step are left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

import numpy as np

from agora.core import jit, state
from agora.core.scalar import ONE
from agora.core.state import STAY, Array, Floats, Maps, Robots, RobotTraits, padded_slots
from agora.costmap.window import Window
from agora.engine.pedestrian_kernels import choose_velocities
from agora.errors import InputError
from agora.interfaces import CompiledCrowdModel, Costmap, CrowdRecord, Memory, Observation, Prediction, PredictorDeclaration, Span
from agora.maps.distance import FAR, cell_distance
from agora.pedestrians.shared.neighbours import SEES_PEDESTRIANS, SEES_ROBOTS
from agora.predictors.intent import intents
from agora.ranges import Checked, Duration, Period
from agora.registry import Named, Plug

_LETHAL = 254
_AHEAD = np.float32(100.0)  # distance to the waypoint, m
_TOLERANCE = np.float32(0.3)  # m


@dataclass(frozen=True)
class CrowdRollout(Checked):
    """Pedestrians walk as a crowd model predicts.

    Attributes:
        model: the crowd model, one of the library's compiled models.
        averaging: time over which direction and speed are averaged, s.
        step: maximum time step of the simulation, s.
        sees_robots: whether pedestrians react to the robots.
        walls: whether pedestrians see the walls in the robot's costmap.
    """

    model: Annotated[Named, Plug("crowd_models")] = field(default_factory=lambda: Named.of("crowd_models", "orca"))
    averaging: Duration = 0.4
    step: Period = 0.2
    sees_robots: bool = True
    walls: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.model.part, CompiledCrowdModel):
            raise InputError(f"model: {self.model.name} has no kernel; a prediction needs a compiled crowd model")

    @cached_property
    def declares(self) -> PredictorDeclaration:
        """Return the declared inputs: the costmap, if ``walls`` is set."""
        needs = (Window(sources=("map",)),) if self.walls else ()
        return PredictorDeclaration(needs, tunable={"averaging": Span(0.2, 5.0, log=True)})

    def predict(self, observation: Observation, steps: int, dt: float, memory: Memory) -> Prediction:
        """Return the simulated positions; the memory keeps mean velocities and speeds."""
        o, people, model = observation, observation.pedestrians, self.model.part
        assert people is not None and isinstance(model, CompiledCrowdModel)
        rows, slots = people.present.shape
        velocity, speed, kept = intents(people, memory, o.dt, self.averaging)
        position = np.zeros((rows, slots, steps, 2), np.float32)
        if slots:
            self._simulate(_Scene(o, velocity, speed), model, dt, position)
        return Prediction(position, kept)

    def _simulate(self, scene: _Scene, model: CompiledCrowdModel, dt: float, out: Floats) -> None:
        """Write the positions (N, Q, T, 2) of the pedestrians in a scene at times ``dt`` apart."""
        rows = len(out)
        parts = max(math.ceil(dt / min(self.step, model.declares.max_step) - 1e-6), 1)
        h = np.float32(dt / parts)
        maps = _maps(scene.costmap, rows) if self.walls else _maps(None, rows)
        now, kernel, parameters = scene.people, model.kernel(), model.parameters()
        bits = np.int64(SEES_PEDESTRIANS + SEES_ROBOTS * self.sees_robots)
        answers, chosen = np.zeros((1, 2, *now.x.shape), np.float32), np.zeros((2, *now.x.shape), np.float32)
        accelerates = np.array([model.declares.output == "acceleration"])
        factor, number = np.array([model.declares.max_speed_factor], np.float32), np.zeros(now.x.shape, np.int32)
        robots = scene.robots
        for moment in range(out.shape[2]):
            for _ in range(parts):
                record = CrowdRecord(h, bits, now, scene.traits, scene.waypoints, robots, scene.robot_traits, maps)
                jit.bind(kernel, parameters, record, *answers[0])(0, rows)  # same types as in the engine: compiled only once
                law = (h, np.int64(1), np.int64(1), accelerates, factor, number)
                jit.bind(choose_velocities, *law, now, scene.traits, answers, *chosen)(0, rows)
                chosen[:, ~now.active] = 0.0
                moving = np.hypot(*chosen) > 1e-6
                heading = np.where(moving, np.arctan2(chosen[1], chosen[0]), now.heading)
                now = now._replace(x=now.x + h * chosen[0], y=now.y + h * chosen[1], vx=chosen[0].copy(), vy=chosen[1].copy())
                now = now._replace(heading=heading.astype(np.float32))
                robots = robots._replace(x=robots.x + h * robots.world_vx, y=robots.y + h * robots.world_vy)
            out[:, :, moment, 0], out[:, :, moment, 1] = now.x[:, : out.shape[1]], now.y[:, : out.shape[1]]


class _Scene:
    """An observation as records of N worlds; each world contains one robot, and the pedestrians and robots that it knows of.

    Args:
        o: observation of N rows, with pedestrians.
        velocity: (N, Q, 2) mean velocities that the pedestrians keep, m/s.
        speed: (N, Q) mean speeds that the pedestrians keep, m/s.
    """

    def __init__(self, o: Observation, velocity: Floats, speed: Floats) -> None:
        people = o.pedestrians
        assert people is not None
        rows, slots = people.present.shape
        room = padded_slots(slots)
        self.costmap = o.costmap
        length = np.hypot(velocity[..., 0], velocity[..., 1])
        direction = np.divide(velocity, length[..., None], out=np.zeros_like(velocity), where=length[..., None] > 0)
        self.people, self.traits = state.pedestrians(rows, room), state.traits(rows, room)
        self.waypoints = state.waypoints(rows, room, 1)
        p, t, w = self.people, self.traits, self.waypoints
        known: tuple[tuple[Array, Array], ...] = (
            (p.x, people.position[..., 0]),
            (p.y, people.position[..., 1]),
            (p.vx, people.velocity[..., 0]),
            (p.vy, people.velocity[..., 1]),
            (p.heading, np.arctan2(velocity[..., 1], velocity[..., 0])),
            (p.active, people.present),
            (t.radius, people.radius),
            (t.speed, speed),
            (t.group, people.group),
            (t.id, people.id),
            (w.x, people.position[..., 0] + _AHEAD * direction[..., 0]),
            (w.y, people.position[..., 1] + _AHEAD * direction[..., 1]),
        )
        for written, values in known:
            written[:, :slots] = values
        t.count[:] = slots
        w.list_x[..., 0], w.list_y[..., 0], w.count[:], w.mode[:], w.tolerance[:] = w.x, w.y, 1, STAY, _TOLERANCE
        self.robots, self.robot_traits = _robots(o)


def _robots(o: Observation) -> tuple[Robots, RobotTraits]:
    """Return the robot of each row, followed by the other robots it knows of."""
    rows, others = len(o.pose), o.robots
    count = 1 + (0 if others is None else others.present.shape[1])
    robots, traits = state.robots(rows, count), state.robot_traits(rows, count)
    cosine, sine = np.cos(o.pose[:, 2]), np.sin(o.pose[:, 2])
    robots.x[:, 0], robots.y[:, 0], robots.heading[:, 0], robots.active[:, 0] = *o.pose.T, True
    robots.world_vx[:, 0] = o.twist[:, 0] * cosine - o.twist[:, 1] * sine
    robots.world_vy[:, 0] = o.twist[:, 0] * sine + o.twist[:, 1] * cosine
    traits.radius[:, 0] = o.radius
    if others is not None:
        robots.x[:, 1:], robots.y[:, 1:] = others.position[..., 0], others.position[..., 1]
        robots.world_vx[:, 1:], robots.world_vy[:, 1:] = others.velocity[..., 0], others.velocity[..., 1]
        robots.active[:, 1:], traits.radius[:, 1:] = others.present, others.radius
    return robots, traits


def _maps(costmap: Costmap | None, rows: int) -> Maps:
    """Return the walls around each robot as one map per row; a single empty map for all rows if there is no costmap."""
    count, cells = (1, (2, 2)) if costmap is None or not costmap.cost.size else (rows, costmap.cost.shape[1:])
    size = cells[0] * cells[1]
    occupied, distance = np.zeros((count, *cells), np.uint8), np.full((count, *cells), FAR, np.float32)
    origin, resolution = np.zeros((count, 2), np.float32), ONE
    if count == rows and costmap is not None and costmap.cost.size:
        origin, resolution = costmap.origin, np.float32(costmap.resolution)
        occupied[:] = costmap.cost == _LETHAL
        for n in np.flatnonzero(occupied.any((1, 2))):
            distance[n] = cell_distance(occupied[n].astype(np.bool_), float(resolution))
    start, none = np.arange(count, dtype=np.int64) * size, np.zeros(count, np.int32)
    return Maps(
        index=np.arange(rows, dtype=np.int32) if count == rows else np.zeros(rows, np.int32),
        start=start,
        clearance_start=start,
        rows=np.full(count, cells[0], np.int32),
        columns=np.full(count, cells[1], np.int32),
        resolution=np.full(count, resolution, np.float32),
        origin_x=np.array(origin[:, 0], np.float32),
        origin_y=np.array(origin[:, 1], np.float32),
        occupied=occupied.ravel(),
        distance=distance.ravel(),
        clearance=distance.ravel(),
        segments=np.zeros((0, 4), np.float32),
        discs=np.zeros((0, 3), np.float32),
        segment_start=none,
        disc_start=none,
        segment_end=none,
        disc_end=none,
    )
