"""Applies the rules of an episode to a world that is only observed: contacts, arrival and time limits for external simulators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from agora.core.state import Array, Doubles, Floats
from agora.node_logic.driver import PeopleAtStep
from agora.node_logic.one_world import OneWorld
from agora.simulators.native import LedBodies

if TYPE_CHECKING:
    from agora.draft.stage import Stage
    from agora.engine.conditions import Conditions
    from agora.interfaces import Backend
    from agora.robots.model import RobotModel
    from agora.world.start import Start

__all__ = ["Referee"]


class Referee(OneWorld):
    """The library's engine with robots that follow their observed trajectories.

    Motion between two observations is assumed to be uniform. Physics engines keep robots slightly away from walls, so the referee
    widens outlines by a skin.

    Args:
        skin: length added to the robots' radius when detecting contacts, m.
    """

    def __init__(self, skin: float = 0.01) -> None:
        super().__init__()
        self._skin = skin
        self._told: tuple[RobotModel, ...] = ()

    @property
    def models(self) -> tuple[RobotModel, ...]:
        """The models of the robots."""
        return self._told

    @property
    def people(self) -> PeopleAtStep:
        """The current generation of pedestrians."""
        world = self._world
        return PeopleAtStep(self.step, world.pedestrians, world.traits, world.minds)

    @property
    def coming(self) -> PeopleAtStep:
        """The next generation of pedestrians."""
        self._move_pedestrians()
        world = self._world
        return PeopleAtStep(self.step + 1, world.next_pedestrians, world.traits, world.minds)

    def begin(self, start: Start, stage: Stage, names: Sequence[str], since: float) -> None:
        """Load an episode."""
        self._told = tuple(robot.model for robot in start.robots)
        wider = tuple(replace(robot, model=self._wider(robot.model)) for robot in start.robots)
        super().begin(replace(start, robots=wider), stage, names, since)

    def _backend(self, conditions: Conditions) -> Backend:
        """Return the library's engine with robots that follow given poses."""
        self._led = LedBodies(self._world)
        return self._led_engine(self._led, conditions)

    def _wider(self, model: RobotModel) -> RobotModel:
        """Return a robot widened by the skin."""
        corners = np.reshape(model.footprint, (-1, 2))
        reach = np.hypot(*corners.T)[:, None]
        footprint = tuple(map(tuple, (corners * (1 + self._skin / reach)).tolist()))
        return replace(model, radius=model.radius + self._skin, footprint=footprint, lidar=None)

    def observe(self, reached: int, poses: Doubles, twists: Floats) -> None:
        """Advance to a physics step at which the robots were observed.

        Args:
            reached: number of physics steps since the episode began.
            poses: (R, 3) x, y and heading, m and rad.
            twists: (R, 3) twists in the robots' frames, m/s and rad/s.
        """
        while self.step < reached and not self.done:
            there = self._between(poses, 1.0 / (reached - self.step))
            self._led.there[0, :, :3], self._led.there[0, :, 3:] = there, twists
            self.advance()
            robots = self.robots  # walls stop the swept motion, but the observed poses take precedence
            seen = np.isfinite(there).all(1) & np.isfinite(twists).all(1)  # the simulator has lost all other robots
            where, how = there[seen], twists[seen]
            robots.x[0, seen], robots.y[0, seen], robots.heading[0, seen] = where.T
            robots.vx[0, seen], robots.vy[0, seen], robots.omega[0, seen] = how.T
            c, s = np.cos(where[:, 2]), np.sin(where[:, 2])
            robots.world_vx[0, seen], robots.world_vy[0, seen] = c * how[:, 0] - s * how[:, 1], s * how[:, 0] + c * how[:, 1]

    def _between(self, poses: Doubles, share: float) -> Doubles:
        """Interpolate between the robots' current poses and the given poses, at the fraction ``share``."""
        robots = self.robots
        here = np.stack([robots.x[0], robots.y[0], robots.heading[0]], -1).astype(float)
        way = poses - here
        way[:, 2] = np.arctan2(np.sin(way[:, 2]), np.cos(way[:, 2]))
        there = here + share * way
        there[:, 2] = np.arctan2(np.sin(there[:, 2]), np.cos(there[:, 2]))
        return np.asarray(there)

    def allowed(self, number: int, twist: Floats) -> Floats:
        """Return a twist clipped to a robot's limits, and count violations."""
        limits = self._told[number].limits(1)
        low = np.array([limits.min_vx[0], -limits.max_vy[0], -limits.max_omega[0]], np.float32)
        high = np.array([limits.max_vx[0], limits.max_vy[0], limits.max_omega[0]], np.float32)
        within: Array = np.clip(twist, low, high)
        self._world.status.orders.clipped[0, number] += int((within != twist).any())
        return within

    def fail(self, number: int, reason: str) -> None:
        """End the episode of a robot whose planner failed."""
        self.command(np.zeros((len(self._told), 3), np.float32), {number: reason})

    def _see(self) -> None:
        """Do nothing: scans come from the external simulator."""
        self._readings = []
