"""The rules of an episode on a world that is only observed: contacts, arrival and time limits of foreign simulators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from agora.core.state import HOLONOMIC, Array, Doubles, Floats
from agora.simulators.base import People
from agora.simulators.native import Native

if TYPE_CHECKING:
    from agora.robots.model import RobotModel
    from agora.tasks.start import Start
    from agora.tasks.suite import Stage

_UNLIMITED = np.float32(1e6)


class Referee(Native):
    """The library's engine whose robots are led along what was observed of them.

    Between two observations everybody is taken to have moved evenly. A robot that physics holds at a wall is a little off it, so
    the outlines are wider by a skin.

    Args:
        skin: by which the radius of robots is wider where contacts are judged, m.
    """

    def __init__(self, skin: float = 0.01) -> None:
        super().__init__()
        self._skin = skin
        self._told: tuple[RobotModel, ...] = ()

    @property
    def models(self) -> tuple[RobotModel, ...]:
        """What the robots are."""
        return self._told

    @property
    def people(self) -> People:
        """The pedestrians of now."""
        engine = self._batch.engine
        return People(self.step, engine.pedestrians, engine.traits, engine.minds)

    @property
    def coming(self) -> People:
        """The pedestrians of the next step."""
        self._move_pedestrians()
        engine = self._batch.engine
        return People(self.step + 1, engine.next_pedestrians, engine.traits, engine.minds)

    def begin(self, start: Start, stage: Stage, names: Sequence[str], since: float) -> None:
        """Adopt an episode."""
        self._told = tuple(robot.model for robot in start.robots)
        wider = tuple(replace(robot, model=self._led(robot.model)) for robot in start.robots)
        super().begin(replace(start, robots=wider), stage, names, since)
        self._batch.engine.robot_traits.kinematics[...] = HOLONOMIC
        for name in ("max_vx", "max_vy", "max_omega"):
            getattr(self._batch.engine.robot_traits, name)[...] = _UNLIMITED
        self._batch.engine.robot_traits.min_vx[...] = -_UNLIMITED

    def _led(self, model: RobotModel) -> RobotModel:
        """A robot with the skin, which follows every twist at once."""
        corners = np.reshape(model.footprint, (-1, 2))
        reach = np.hypot(*corners.T)[:, None]
        footprint = tuple(map(tuple, (corners * (1 + self._skin / reach)).tolist()))
        wider = replace(model, radius=model.radius + self._skin, footprint=footprint, lidar=None, command_delay=0.0)
        return replace(wider, ax=None, ay=None, alpha=None, deceleration=None)

    def observe(self, reached: int, poses: Doubles, twists: Floats) -> None:
        """Go on to a physics step at which the robots were seen.

        Args:
            reached: physics steps since the episode began.
            poses: (R, 3) x, y, heading.
            twists: (R, 3) in the robots' frames.
        """
        engine = self._batch.engine
        while self.step < reached and not self.done:
            share = 1.0 / (reached - self.step)
            there = self._between(poses, share)
            self.command(self._towards(there), {})
            clipped = engine.status.clipped.copy()
            self.advance()
            engine.status.clipped[...] = clipped
            robots = engine.robots
            robots.x[0], robots.y[0], robots.heading[0] = there.T
            robots.vx[0], robots.vy[0], robots.omega[0] = twists.T
            c, s = np.cos(there[:, 2]), np.sin(there[:, 2])
            robots.world_vx[0], robots.world_vy[0] = c * twists[:, 0] - s * twists[:, 1], s * twists[:, 0] + c * twists[:, 1]

    def _between(self, poses: Doubles, share: float) -> Doubles:
        """Poses a share of the way from the robots' to others."""
        robots = self.robots
        here = np.stack([robots.x[0], robots.y[0], robots.heading[0]], -1).astype(float)
        way = poses - here
        way[:, 2] = np.arctan2(np.sin(way[:, 2]), np.cos(way[:, 2]))
        there = here + share * way
        there[:, 2] = np.arctan2(np.sin(there[:, 2]), np.cos(there[:, 2]))
        return np.asarray(there)

    def _towards(self, there: Doubles) -> Floats:
        """The twists that lead the robots to poses in one physics step."""
        robots = self.robots
        dx, dy = there[:, 0] - robots.x[0], there[:, 1] - robots.y[0]
        c, s = np.cos(robots.heading[0]), np.sin(robots.heading[0])
        turn = np.arctan2(np.sin(there[:, 2] - robots.heading[0]), np.cos(there[:, 2] - robots.heading[0]))
        twists: Floats = (np.stack([c * dx + s * dy, c * dy - s * dx, turn], -1) / self.dt).astype(np.float32)
        return twists

    def allowed(self, number: int, twist: Floats) -> Floats:
        """A twist within a robot's limits; what was beyond them is counted."""
        limits = self._told[number].limits(1)
        low = np.array([limits.min_vx[0], -limits.max_vy[0], -limits.max_omega[0]], np.float32)
        high = np.array([limits.max_vx[0], limits.max_vy[0], limits.max_omega[0]], np.float32)
        within: Array = np.clip(twist, low, high)
        self._batch.engine.status.clipped[0, number] += int((within != twist).any())
        return within

    def fail(self, number: int, reason: str) -> None:
        """End a robot whose planner failed."""
        self.command(np.zeros((len(self._told), 3), np.float32), {number: reason})

    def _see(self) -> None:
        """Scans are the foreign simulator's."""
        self._readings = []
