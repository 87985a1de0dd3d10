"""A robot simulator based on MuJoCo: wheels with contact, motors with limits, and walls and people that push back.

E. Todorov, T. Erez, Y. Tassa, "MuJoCo: A physics engine for model-based control", IROS 2012; the package is mujoco on PyPI.
"""

from __future__ import annotations

import copy
import math
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np

from agora.core.contact import NEVER
from agora.core.state import Array, Floats, Pedestrians, Robots
from agora.interfaces import Ability
from agora.ranges import Checked, Duration, Positive, Within
from agora.simulators.mujoco.model import AWAY, WorldModel, world_model
from agora.simulators.mujoco.orders import set_points
from agora.world.threads import Work
from agora.world.world import World

if TYPE_CHECKING:
    from agora.interfaces.channel import Offer
    from agora.maps.grid import Map
    from agora.robots.model import RobotModel
    from agora.world.start import Start

__all__ = ["MuJoCo", "MuJoCoBodies"]

_MODELS = 32  # number of compiled models that are kept
_REACH = 1.0  # m: a pedestrian farther from a robot's outline cannot touch it in a physics step
_REMEDY = "a shorter timestep, or other masses or accelerations in the robot file may help"
_FASTEST, _HIGHEST = 50.0, 1.0  # m/s, and m above or below the floor: limits beyond which the solver has thrown the robot
_UNSTABLE = ("mjWARN_BADQPOS", "mjWARN_BADQVEL", "mjWARN_BADQACC", "mjWARN_BADCTRL")


@dataclass(frozen=True)
class MuJoCo(Checked):
    """Simulates robots with wheels, motors and mass in MuJoCo. Walls and pedestrians push back; the library moves the crowd.

    Attributes:
        timestep: maximum MuJoCo time step, s; a physics step of the world is divided into equal steps.
        friction: coefficient of friction of wheels or feet on the floor.
        load: ratio of the robots' mass to the mass in their files; the motors are unchanged.
        slip: fraction of the speed that is lost to slip between wheels or feet and the floor, from 0 to 0.99.
        latency: time until a setpoint reaches the motors, s, in addition to the command delay in the robot's file.
    """

    timestep: Annotated[float, Within(1e-4, 0.02)] = 0.005
    friction: Positive = 1.0
    load: Positive = 1.0
    slip: Annotated[float, Within(0.0, 0.99)] = 0.0
    latency: Duration = 0.0
    can: ClassVar[frozenset[Ability]] = frozenset({"step"})

    def bodies(self, world: World) -> MuJoCoBodies:
        """Return the robots of a batch.

        Raises:
            InputError: MuJoCo is not installed.
        """
        return MuJoCoBodies(world, self)


class MuJoCoBodies:
    """The robots of W worlds, each world with its own MuJoCo model and state.

    Args:
        world: worlds of the robots.
        simulator: parameters of the simulator.

    Attributes:
        walls: (W, R) time within the last step at which each robot began to touch a wall, as a fraction of the step; `NEVER` if it
            did not touch a wall.
    """

    def __init__(self, world: World, simulator: MuJoCo) -> None:
        self._world, self._simulator = world, simulator
        self._substeps = max(1, math.ceil(world.dt / simulator.timestep - 1e-9))
        self._models: OrderedDict[tuple[int, tuple[RobotModel, ...]], tuple[Map, WorldModel]] = OrderedDict()
        self._at_work: list[_AtWork | None] = [None] * world.layout.worlds
        shape = (world.layout.worlds, world.layout.robots)
        self.walls: Floats = np.full(shape, NEVER, np.float32)
        self._points: Floats = np.zeros((*shape, 4), np.float32)
        zeros = [np.zeros(shape, np.float32) for _ in range(4)]
        self._limits = world.robot_traits._replace(max_ax=zeros[0], max_ay=zeros[1], max_deceleration=zeros[2], max_alpha=zeros[3])

    def reset(self, world: int, start: Start) -> None:
        """Begin an episode in one world. Its robots are already at their start poses in `World.robots`."""
        compiled = self._compiled(start.map, tuple(robot.model for robot in start.robots))
        for r, one in enumerate(compiled.chassis):
            for name in ("max_ax", "max_ay", "max_deceleration"):
                getattr(self._limits, name)[world, r] = min(getattr(self._world.robot_traits, name)[world, r], one.acceleration)
            self._limits.max_alpha[world, r] = min(self._world.robot_traits.max_alpha[world, r], one.turning)
        self._at_work[world] = _AtWork(compiled, self._world, world, self._points[world], self.walls[world], self._simulator)

    def _compiled(self, place: Map, robots: tuple[RobotModel, ...]) -> WorldModel:
        key = (id(place), robots)
        if key not in self._models:
            s = self._simulator
            timestep = self._world.dt / self._substeps
            made = world_model(place, robots, self._world.slots, timestep=timestep, friction=s.friction, load=s.load)
            self._models[key] = (place, made)
            if len(self._models) > _MODELS:
                self._models.popitem(last=False)
        self._models.move_to_end(key)
        return self._models[key][1]

    def sensors(self) -> Mapping[str, Offer]:
        """Return no sensors: the library's own channels read the world directly."""
        return {}

    def close(self) -> None:
        """Discard all models."""
        self._models.clear()
        self._at_work = [None] * len(self._at_work)

    def move(self, now: int) -> Work:
        """Return the work item that advances the robots from generation ``now`` (0 or 1) to the next, in the other state buffer."""
        w = self._world
        (before, robots), (people, after) = w.generation(now), w.generation(1 - now)
        orders = set_points(w, self._limits, self._points)

        def move(first: int, last: int) -> None:
            working = [
                at_work
                for at_work, done in zip(self._at_work[first:last], w.status.clock.done[first:last], strict=True)
                if at_work is not None and not done
            ]
            for at_work in working:
                at_work.place(robots)
            orders(first, last)
            for old, new in zip(robots, after, strict=True):
                new[first:last] = old[first:last]
            for at_work in working:
                at_work.step(self._substeps, robots, after, before, people)

        return move


class _AtWork:
    """The simulation of one world.

    Args:
        compiled: compiled model of the world.
        world: worlds of the batch.
        number: index of this world.
        points: (R, 4) setpoints of the world's robots: twist, m/s and rad/s, and steering angle, rad.
        walls: (R,) times at which robots begin to touch a wall, as fractions of the step.
        simulator: parameters of the simulator.
    """

    def __init__(self, compiled: WorldModel, world: World, number: int, points: Floats, walls: Floats, simulator: MuJoCo) -> None:
        import mujoco

        self._step, self._fatal = mujoco.mj_step, mujoco.FatalError
        self._compiled, self._world, self._w = compiled, world, number
        self._points, self._walls = points, walls
        self._model = copy.copy(compiled.model)
        self._data = mujoco.MjData(self._model)
        self._unstable = [int(getattr(mujoco.mjtWarning, name)) for name in _UNSTABLE]
        robots = len(compiled.chassis)
        late = round(simulator.latency / world.dt)
        self._on_the_way = deque([np.zeros_like(points)] * late, maxlen=late + 1)
        self._kept = np.array([1.0 - simulator.slip] * 3 + [1.0], np.float32)
        self._touched = np.zeros(robots, np.bool_)
        self._written: Floats = np.full((robots, 3), np.nan, np.float32)

    def place(self, robots: Robots) -> None:
        """Move robots to their poses in the world, if these differ from the poses at the end of this simulator's last step.

        The setpoints of moved robots start at the robots' current speeds; the commands of the step are applied afterwards.
        """
        w, data, compiled = self._w, self._data, self._compiled
        for r, (q, v) in enumerate(zip(compiled.base.tolist(), compiled.motion.tolist(), strict=True)):
            pose = (robots.x[w, r], robots.y[w, r], robots.heading[w, r])
            if not robots.active[w, r]:
                data.qpos[q : q + 3], data.qvel[v : v + 6] = (0.0, 10.0 * r, AWAY), 0.0
                self._written[r] = np.nan
            elif tuple(self._written[r]) != pose:
                half = 0.5 * float(pose[2])
                data.qpos[q : q + 7] = (pose[0], pose[1], 0.0, math.cos(half), 0.0, 0.0, math.sin(half))
                c, s = math.cos(pose[2]), math.sin(pose[2])
                vx, vy = float(robots.vx[w, r]), float(robots.vy[w, r])
                data.qvel[v : v + 6] = (c * vx - s * vy, s * vx + c * vy, 0.0, 0.0, 0.0, robots.omega[w, r])
                self._points[r] = (robots.vx[w, r], robots.vy[w, r], robots.omega[w, r], robots.steering[w, r])

    def step(self, substeps: int, robots: Robots, after: Robots, before: Pedestrians, people: Pedestrians) -> None:
        """Advance the world by one physics step, from ``robots`` and ``before`` to ``after`` and ``people``.

        If MuJoCo loses a robot, all robots in the world are lost, because they are part of the same system of equations.
        """
        w, data, model = self._w, self._data, self._model
        self._set_motors()
        near = self._near(robots, before, people)
        x, y = before.x[w, near].astype(float), before.y[w, near].astype(float)
        dx, dy = people.x[w, near] - x, people.y[w, near] - y
        data.mocap_pos[:, 2] = AWAY
        data.mocap_pos[: len(near), 2] = 0.0
        self._walls[:], self._touched[:] = NEVER, False
        try:
            for k in range(substeps):
                share = (k + 1) / substeps
                data.mocap_pos[: len(near), 0], data.mocap_pos[: len(near), 1] = x + share * dx, y + share * dy
                self._step(model, data)
                self._note_contacts(k / substeps)
            problem = self._problem(after)
        except self._fatal as error:
            problem = str(error)
        if problem:
            self._lose(after, problem)
        else:
            self._read(after)

    def _near(self, robots: Robots, before: Pedestrians, people: Pedestrians) -> Array:
        """Return the slots of the pedestrians nearest to the robots, one per available body, and set the bodies' radii."""
        w, model, bodies = self._w, self._model, self._compiled.people
        traits = self._world.traits
        count = int(traits.count[w])
        if not len(bodies) or not count:
            return np.zeros(0, np.int64)
        gap = np.full(count, np.inf, np.float32)
        for r in range(len(self._points)):
            away = np.hypot(people.x[w, :count] - robots.x[w, r], people.y[w, :count] - robots.y[w, r])
            np.minimum(gap, away - traits.radius[w, :count] - self._world.robot_traits.radius[w, r], out=gap)
        gap[~(people.active[w, :count] & before.active[w, :count])] = np.inf
        near = np.flatnonzero(gap < _REACH)
        if len(near) > len(bodies):
            near = np.sort(near[np.argsort(gap[near], kind="stable")[: len(bodies)]])
        for geom, radius in zip(bodies.tolist(), traits.radius[w, near].tolist(), strict=False):
            half = float(model.geom_size[geom, 1])
            model.geom_size[geom, 0], model.geom_rbound[geom] = radius, radius + half
            model.geom_aabb[geom, 3:] = (radius, radius, radius + half)
        return near

    def _set_motors(self) -> None:
        ctrl = self._data.ctrl
        self._on_the_way.append(self._points * self._kept)
        points = self._on_the_way[0].tolist()
        for one, motors, point in zip(self._compiled.chassis, self._compiled.motors, points, strict=True):
            ctrl[motors] = one.speeds((point[0], point[1], point[2]), point[3])

    def _note_contacts(self, share: float) -> None:
        """Record which robots touch a wall, a pedestrian or another robot; contact with the floor does not count."""
        data = self._data
        if not data.ncon:
            return
        owner = self._compiled.owner
        geoms = data.contact.geom
        first, second = owner[geoms[:, 0]], owner[geoms[:, 1]]
        floor = (geoms == 0).any(axis=1)
        for a, b in zip(first[~floor].tolist(), second[~floor].tolist(), strict=True):
            for one, other in ((a, b), (b, a)):
                if one >= 0:
                    self._touched[one] = True
                    if other == -1:
                        self._walls[one] = min(self._walls[one], share)

    def _problem(self, after: Robots) -> str:
        """Return the reason why the state after a step is impossible; empty if the state is valid."""
        data, compiled = self._data, self._compiled
        warned = [number for number in self._unstable if data.warning[number].number]
        if warned or not np.isfinite(data.qpos).all():
            return "the state is not finite"
        active = np.flatnonzero(after.active[self._w])
        speeds = np.linalg.norm(data.qvel[compiled.motion[active, None] + np.arange(3)], axis=1)
        heights = np.abs(data.qpos[compiled.base[active] + 2])
        if (speeds > _FASTEST).any():
            return f"a robot is at {speeds.max():.0f} m/s"
        return f"a robot is {heights.max():.1f} m off the floor" if (heights > _HIGHEST).any() else ""

    def _lose(self, after: Robots, problem: str) -> None:
        """Mark all robots of the world as lost, and record the reason."""
        w = self._w
        time = float(self._world.status.clock.step[w] + 1) * self._world.dt
        self._world.lost[w] = f"mujoco: {problem} at {time:.3f} s; {_REMEDY}"
        for field in (after.x, after.y, after.heading):
            field[w, after.active[w]] = np.nan

    def _read(self, after: Robots) -> None:
        """Write the current state of the robots. A robot in contact restarts from its current speed."""
        w, data, traits = self._w, self._data, self._world.robot_traits
        for r, (q, v) in enumerate(zip(self._compiled.base.tolist(), self._compiled.motion.tolist(), strict=True)):
            if not after.active[w, r]:
                continue
            x, y, _, qw, qx, qy, qz = data.qpos[q : q + 7].tolist()
            heading = math.atan2(2.0 * (qw * qz + qx * qy), 1.0 - 2.0 * (qy * qy + qz * qz))
            ux, uy, _, _, _, omega = data.qvel[v : v + 6].tolist()
            c, s = math.cos(heading), math.sin(heading)
            vx, vy = c * ux + s * uy, c * uy - s * ux
            if self._touched[r]:
                self._points[r, :3] = (vx, vy, omega)
            after.x[w, r], after.y[w, r], after.heading[w, r] = x, y, heading
            after.vx[w, r] = min(max(vx, float(traits.min_vx[w, r])), float(traits.max_vx[w, r]))
            after.vy[w, r] = min(max(vy, -float(traits.max_vy[w, r])), float(traits.max_vy[w, r]))
            after.omega[w, r] = min(max(omega, -float(traits.max_omega[w, r])), float(traits.max_omega[w, r]))
            after.world_vx[w, r], after.world_vy[w, r] = ux, uy
            after.steering[w, r] = self._points[r, 3]
            self._written[r] = after.x[w, r], after.y[w, r], after.heading[w, r]
