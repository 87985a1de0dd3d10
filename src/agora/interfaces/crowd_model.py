"""Crowd models: how pedestrians move."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, get_args, runtime_checkable

import numpy as np

from agora.core.state import Bools, Floats, Ints, Maps, Pedestrians, Robots, RobotTraits, Traits, Waypoints
from agora.errors import InputError
from agora.interfaces.span import Span


@dataclass(frozen=True, eq=False)
class CrowdScene:
    """Generation t of the crowd, as a user-written model sees it.

    Attributes:
        position, velocity, waypoint: (W, P, 2) m and m/s.
        radius, preferred_speed: (W, P) m and m/s. The speed falls with the distance to a last waypoint at which to stay (1 m/s a
            metre), so that who keeps to it comes to rest there.
        active: (W, P) whether the slot is in use; rows of others mean nothing.
        group: (W, P) number of the walking group, -1 for none.
        id: (W, P) identity.
        heading: (W, P) direction of the last motion, rad.
        type, state: (W, P) numbers in `agora.core.state.TYPES` and ``SOCIAL_STATES``.
        wall_distance: (W, P) distance to the nearest wall, m.
        wall_direction: (W, P, 2) unit vector away from it.
        clearance: the same of any points (W, K, 2), m: a function that returns distances (W, K) and directions (W, K, 2).
        robot_position, robot_velocity: (W, R, 2) m and m/s.
        robot_radius: (W, R) m.
        robot_active: (W, R) False where robots are not seen.
        sees_pedestrians: whether the suite lets pedestrians see each other.
        dt: s until the model is called again: the crowd period, or less for a model with a ``max_step``.
    """

    position: Floats
    velocity: Floats
    waypoint: Floats
    radius: Floats
    preferred_speed: Floats
    active: Bools
    group: Ints
    id: Ints
    heading: Floats
    type: Ints
    state: Ints
    wall_distance: Floats
    wall_direction: Floats
    clearance: Callable[[Floats], tuple[Floats, Floats]]
    robot_position: Floats
    robot_velocity: Floats
    robot_radius: Floats
    robot_active: Bools
    sees_pedestrians: bool
    dt: float


Output = Literal["acceleration", "velocity"]
LastStep = Literal["all", "robots", "nothing"]


@dataclass(frozen=True)
class CrowdDeclaration:
    """What a crowd model says of itself, in its attribute ``declares``.

    Attributes:
        output: what it answers, m/s2 or m/s.
        max_speed_factor: cap of the speed, in preferred speeds.
        max_step: longest step that it may be called with, s. With a shorter one than the suite's crowd period it is called more
            often, and ``dt`` is that step (`agora.engine.crowd`).
        last_step: whom its pedestrians do not step into where the suite's crowd is not ``faithful`` (`agora.engine.careful`):
            "robots" where the model's own forces act between bodies that touch, "nothing" where it moves people who mind nobody.
        tunable: what `agora calibrate` may try for its fields, by their names.
    """

    output: Output
    max_speed_factor: float = 1.0
    max_step: float = math.inf
    last_step: LastStep = "all"
    tunable: Mapping[str, Span] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, known in {"output": get_args(Output), "last_step": get_args(LastStep)}.items():
            if (value := vars(self)[name]) not in known:
                raise InputError(f"{name} is {value!r}; expected one of {', '.join(map(repr, known))}")
        if not (isinstance(self.max_step, int | float) and self.max_step > 0):
            raise InputError(f"max_step is {self.max_step!r}; expected a number of seconds above 0")


class CrowdModel(Protocol):
    """Moves pedestrians: one function over arrays."""

    @property
    def declares(self) -> CrowdDeclaration:
        """What it says of itself."""

    def compute(self, scene: CrowdScene) -> Floats:
        """Return accelerations or velocities (W, P, 2), as it declares; rows that are not active are ignored."""


class CrowdRecord(NamedTuple):
    """What a kernel of a crowd model reads: records of W worlds (`agora.core.state`).

    Attributes:
        dt: step, s.
        sees: bit 1 where pedestrians see each other, bit 2 where they see robots.
        pedestrians, traits: generation t of them, and what does not change.
        waypoints: where they walk to now.
        robots, robot_traits: the same of robots.
        maps: surroundings.
    """

    dt: np.float32
    sees: np.int64
    pedestrians: Pedestrians
    traits: Traits
    waypoints: Waypoints
    robots: Robots
    robot_traits: RobotTraits
    maps: Maps


@runtime_checkable
class CompiledCrowdModel(Protocol):
    """A built-in crowd model: a kernel over worlds ``first <= w < last``.

    The kernel's arguments are ``(parameters, crowd, out_x, out_y, first, last)``: its own parameters, a `CrowdRecord`, and where it
    writes its answer (W, P), m/s2 or m/s.
    """

    @property
    def declares(self) -> CrowdDeclaration:
        """What it says of itself."""

    def kernel(self) -> Any:
        """Return the compiled function."""

    def parameters(self) -> tuple[Any, ...]:
        """Return what the kernel takes as its parameters: a `NamedTuple` of float32 numbers, and arrays of them."""


AnyCrowdModel = CrowdModel | CompiledCrowdModel
"""A crowd model of either form."""
