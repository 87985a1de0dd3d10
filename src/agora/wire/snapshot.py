"""Snapshots: the state of all pedestrians and robots in one world at one instant. ROS publishes them, and viewers display them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agora.core.declared import axes, declared_arrays
from agora.core.state import Bools, Floats, Ints, Minds, Pedestrians, Robots, Traits

__all__ = ["PEDESTRIANS", "PedestriansNow", "ROBOTS", "RobotsNow"]

_F, _I = np.float32, np.int32


@dataclass(frozen=True, eq=False, kw_only=True)
class PedestriansNow:
    """The pedestrians of a world at one instant, in P slots; values in empty slots are undefined.

    Attributes:
        present: (P,) whether the slot holds a pedestrian.
        id: (P,) number of the pedestrian.
        x: (P,) position, x, m.
        y: (P,) position, y, m.
        vx: (P,) velocity in the map frame, x, m/s.
        vy: (P,) velocity in the map frame, y, m/s.
        heading: (P,) heading, rad.
        radius: (P,) body radius, m.
        speed: (P,) preferred speed, m/s.
        group: (P,) number of the walking group, -1 if none.
        type: (P,) number in `agora.core.state.TYPES`.
        state: (P,) number in `agora.core.state.SOCIAL_STATES`.
        stress: (P,) stress, in [0, 1].
        energy: (P,) energy, in [0, 1].
        social: (P,) social need, in [0, 1].
        partner: (P,) id of the conversation partner, -1 if none.
    """

    present: Bools = field(metadata=axes("P", np.bool_))
    id: Ints = field(metadata=axes("P", _I))
    x: Floats = field(metadata=axes("P", _F))
    y: Floats = field(metadata=axes("P", _F))
    vx: Floats = field(metadata=axes("P", _F))
    vy: Floats = field(metadata=axes("P", _F))
    heading: Floats = field(metadata=axes("P", _F))
    radius: Floats = field(metadata=axes("P", _F))
    speed: Floats = field(metadata=axes("P", _F))
    group: Ints = field(metadata=axes("P", _I))
    type: Ints = field(metadata=axes("P", _I))
    state: Ints = field(metadata=axes("P", _I))
    stress: Floats = field(metadata=axes("P", _F))
    energy: Floats = field(metadata=axes("P", _F))
    social: Floats = field(metadata=axes("P", _F))
    partner: Ints = field(metadata=axes("P", _I))

    @staticmethod
    def of(people: Pedestrians, traits: Traits, minds: Minds, world: int = 0) -> PedestriansNow:
        """Return the pedestrians of a world, in the slots up to the last slot in use."""
        count = int(traits.count[world])
        found = {name: array[world, :count].copy() for name, array in _sources(people, traits, minds).items()}
        return PedestriansNow(present=people.active[world, :count].copy(), **found)

    def put(self, people: Pedestrians, traits: Traits, minds: Minds, world: int = 0) -> None:
        """Write the pedestrians into one world of records that have enough slots."""
        count = len(self.present)
        traits.count[world] = count
        people.active[world] = False
        people.active[world, :count] = self.present
        for name, array in _sources(people, traits, minds).items():
            array[world, :count] = getattr(self, name)


PEDESTRIANS = tuple(name for name in declared_arrays(PedestriansNow) if name != "present")
"""Names of the values that a snapshot holds for each pedestrian."""


def _sources(people: Pedestrians, traits: Traits, minds: Minds) -> dict[str, Any]:
    """Return the array (W, P) of each value; a trait takes precedence over a field of the minds with the same name."""
    records = {**minds._asdict(), **traits._asdict(), **people._asdict()}
    return {name: records[name] for name in PEDESTRIANS}


@dataclass(frozen=True, eq=False, kw_only=True)
class RobotsNow:
    """The R robots of a world at one instant.

    Attributes:
        active: (R,) whether the robot is in the world; False once its episode has ended and the robot has left.
        x: (R,) position, x, m.
        y: (R,) position, y, m.
        heading: (R,) heading, rad.
        vx: (R,) velocity in the robot's frame, x, m/s.
        vy: (R,) velocity in the robot's frame, y, m/s.
        omega: (R,) turning rate, rad/s.
        world_vx: (R,) velocity in the map frame, x, m/s.
        world_vy: (R,) velocity in the map frame, y, m/s.
        steering: (R,) steering angle, rad.
    """

    active: Bools = field(metadata=axes("R", np.bool_))
    x: Floats = field(metadata=axes("R", _F))
    y: Floats = field(metadata=axes("R", _F))
    heading: Floats = field(metadata=axes("R", _F))
    vx: Floats = field(metadata=axes("R", _F))
    vy: Floats = field(metadata=axes("R", _F))
    omega: Floats = field(metadata=axes("R", _F))
    world_vx: Floats = field(metadata=axes("R", _F))
    world_vy: Floats = field(metadata=axes("R", _F))
    steering: Floats = field(metadata=axes("R", _F))

    @staticmethod
    def of(robots: Robots, world: int = 0) -> RobotsNow:
        """Return the robots of a world."""
        return RobotsNow(**{name: getattr(robots, name)[world].copy() for name in ("active", *ROBOTS)})

    def put(self, robots: Robots, world: int = 0) -> None:
        """Write the robots into one world of a record with the same number of robots."""
        for name in ("active", *ROBOTS):
            getattr(robots, name)[world] = getattr(self, name)


ROBOTS = tuple(name for name in declared_arrays(RobotsNow) if name != "active")
"""Names of the values that a snapshot holds for each robot."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Snapshot:
    """The state of one world at a given instant.

    Attributes:
        step: number of physics steps since the episode began.
        time: time since the episode began, s.
        pedestrians: the pedestrians.
        robots: the robots.
        names: names of the R robots.
    """

    step: int
    time: float
    pedestrians: PedestriansNow
    robots: RobotsNow
    names: tuple[str, ...]

    @staticmethod
    def of(
        people: Pedestrians,
        traits: Traits,
        minds: Minds,
        robots: Robots,
        names: Sequence[str],
        step: int,
        time: float,
        world: int = 0,
    ) -> Snapshot:
        """Return a snapshot of the state in a world's records."""
        now = PedestriansNow.of(people, traits, minds, world), RobotsNow.of(robots, world)
        return Snapshot(step=step, time=time, pedestrians=now[0], robots=now[1], names=tuple(names))
