"""An episode in the form in which it is sent to a SocNavBench joystick. SocNavBench's collision cooldowns and causes of termination
apply in addition to Agora's rules.

Sources: CMU-TBD/SocNavBench 2724ea85, ``agents/agent_base.py`` (``check_collisions``), ``agents/humans/recorded_human.py``. In
SocNavBench's states, pedestrians are one step behind the robot; in this module, all positions refer to the same time. Radii are the
radii used for contacts.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from agora.benchmark.socnavbench._sight import JoystickSight, told_camera
from agora.core.state import Doubles, Floats, Ints
from agora.datasets.socnavbench import SocnavbenchEpisode
from agora.wire.joystick import NEVER, ROBOT, Agent, RenderMode, State, opening, seen

if TYPE_CHECKING:
    from agora.channels.camera import Camera
    from agora.world.start import Start
    from agora.world.trajectories import Trajectories
    from agora.world.world import World

COOLDOWN = 1.0
"""Minimum time between two collisions with the same pedestrian, s (``params/user_params.ini: collision_cooldown_amnt``)."""


class JoystickScene:
    """An episode in SocNavBench's frame, whose origin is the lower-left corner of the map; poses are float32.

    Args:
        start: start of the episode, in which all pedestrians must be replayed from a recording.
        read: the same episode in SocNavBench's format.
        period: control period, s.
        camera: camera on the robot whose images are part of the states; None for states without images.

    Attributes:
        corner: (2,) lower-left corner of the map, m.
        pose: (3,) pose of the robot in the map frame, m and rad, with an unwrapped heading.
        time: time since the start of the episode, s, summed step by step as in SocNavBench.
        cause: cause of termination reported if the episode times out: "Timeout", or "Pedestrian Collision" if the robot has just
            touched a pedestrian.
    """

    def __init__(self, start: Start, read: SocnavbenchEpisode, period: float, camera: Camera | None = None) -> None:
        assert start.replay is not None
        (robot,) = start.robots
        self._start, self._read, self._period, self._tracks = start, read, period, start.replay
        self._camera = camera
        self._sight: JoystickSight | None = None
        self._radius = robot.model.radius
        self._cooldown: Ints = np.zeros(self._tracks.count, np.int64)
        self._last: Doubles = np.full(self._tracks.count, NEVER)
        self._robot_last = NEVER
        self._present: dict[int, None] = {}
        self.corner: Floats = np.array(start.map.origin, np.float32)
        self.pose: Floats = robot.pose.astype(np.float32)
        first, final = ends_of(self._tracks)
        self._headings, self._ends = first[:, 2], list(zip(self._told(first), self._told(final), strict=True))
        self._begin, self._goal = self._told(np.stack([robot.pose, robot.goals[-1]]).astype(np.float32))
        self.time, self.cause = 0.0, "Timeout"

    def opening(self) -> str:
        """Return the message that begins the episode."""
        now = self._tracks.at(0.0)
        heading = np.where(now.velocity.any(1), np.arctan2(now.velocity[:, 1], now.velocity[:, 0]), self._headings)
        poses = np.column_stack((now.position, heading)).astype(np.float32)
        self._present = dict.fromkeys(map(int, np.flatnonzero(now.present)))
        mode: RenderMode = "full-render" if self._camera else "schematic"
        first = opening(self._start.map, self._read.map_name, self._read.name, mode)
        return self._state(poses).text(first, {"cameras": {ROBOT: told_camera(self._camera)}} if self._camera else None)

    def take(self, world: World) -> None:
        """Attach the scene's camera, if any, to the world of the episode."""
        if self._camera:
            self._sight = JoystickSight(world, self._camera)

    def see(self, world: World) -> None:
        """Update the scene from the current state of the world: people who have appeared or left, and the robot's pose if it was
        blocked.
        """
        here = world.pedestrians.active[0, : self._tracks.count]
        self._present = {slot: None for slot in self._present if here[slot]}
        self._present |= dict.fromkeys(map(int, np.flatnonzero(here)))
        x, y = world.robots.x[0, 0], world.robots.y[0, 0]
        if x != self.pose[0] or y != self.pose[1]:
            self.pose = np.array([x, y, world.robots.heading[0, 0]], np.float32)
        if self._sight:
            self._sight.walk()

    def state(self, world: World) -> str:
        """Return the reply to ``sense``."""
        people = world.pedestrians
        last = seen(self._sight.images()) if self._sight else None
        return self._state(np.stack([people.x[0], people.y[0], people.heading[0]], -1)).text(last=last)

    def _state(self, poses: Floats) -> State:
        """Return the current state; ``poses`` are the poses (n, 3) of the pedestrians in the map frame."""
        (own,) = self._told(self.pose[None])
        robot = Agent(ROBOT, own, self._begin, self._goal, self._radius, 0, self._robot_last)
        radius, told = self._start.replay_radius, self._told(poses)
        cooldown, last = self._cooldown.tolist(), self._last.tolist()
        people = [Agent(self._read.names[k], told[k], *self._ends[k], radius, cooldown[k], last[k]) for k in self._present]
        return State(people, robot, self._period, self._start.timeout, self.time)

    def _told(self, poses: Floats) -> list[list[float]]:
        """Convert poses (n, 3) from the map frame to SocNavBench's frame, as sent to the joystick."""
        told = poses.copy()
        told[:, :2] -= self.corner
        listed: list[list[float]] = told.tolist()
        return listed

    def pass_step(self, world: World) -> None:
        """Register the current collisions, and advance by one time step.

        A pedestrian collides at most once per `COOLDOWN`. The collision also counts for the robot, and it becomes the cause of
        termination reported if the episode times out.
        """
        slots = np.array(list(self._present), np.int64)
        people = world.pedestrians
        apart = np.hypot(people.x[0, slots] - self.pose[0], people.y[0, slots] - self.pose[1])
        hit = slots[(apart < self._radius + self._start.replay_radius) & (self._cooldown[slots] == 0)]
        self._cooldown[hit] = round(COOLDOWN / self._period)
        self._last[hit] = self.time
        self.cause = "Pedestrian Collision" if len(hit) else "Timeout"
        self._robot_last = self.time if len(hit) else self._robot_last
        self._cooldown[slots] = np.maximum(self._cooldown[slots] - 1, 0)
        self.time += self._period

    def turned(self) -> float:
        """The robot's heading, wrapped to (-pi, pi]."""
        heading = math.remainder(float(self.pose[2]), math.tau)
        return heading if heading > -math.pi else math.pi


def ends_of(tracks: Trajectories) -> tuple[Floats, Floats]:
    """Return the first and last poses (n, 3) of recorded pedestrians.

    A pedestrian with a single recorded position faces in the +x direction.
    """
    first, last = tracks.first[:-1], tracks.first[1:] - 1
    second, before = np.minimum(first + 1, last), np.maximum(last - 1, first)
    x, y = tracks.knot_x, tracks.knot_y
    begin = np.column_stack((x[first], y[first], np.arctan2(y[second] - y[first], x[second] - x[first])))
    end = np.column_stack((x[last], y[last], np.arctan2(y[last] - y[before], x[last] - x[before])))
    return begin.astype(np.float32), end.astype(np.float32)
