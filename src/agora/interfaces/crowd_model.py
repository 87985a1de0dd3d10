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
        position: (W, P, 2) positions, m.
        velocity: (W, P, 2) velocities, m/s.
        waypoint: (W, P, 2) current waypoints, m.
        radius: (W, P) body radii, m.
        preferred_speed: (W, P) preferred speeds, m/s. The speed falls with the distance to a last waypoint at which to stay (1 m/s
            a metre), so that a pedestrian who follows it comes to rest there.
        active: (W, P) whether the slot is in use; other rows have no meaning.
        group: (W, P) number of the walking group, -1 for none.
        id: (W, P) identity.
        heading: (W, P) direction of the last motion, rad.
        type: (W, P) number in `agora.core.state.TYPES`.
        state: (W, P) number in `agora.core.state.SOCIAL_STATES`.
        wall_distance: (W, P) distance to the nearest wall, m.
        wall_direction: (W, P, 2) unit vector away from it.
        clearance: function that returns the distance (W, K), m, and the direction (W, K, 2) from the nearest wall at any points (W,
            K, 2), m.
        robot_position: (W, R, 2) positions of the robots, m.
        robot_velocity: (W, R, 2) velocities of the robots, m/s.
        robot_radius: (W, R) m.
        robot_active: (W, R) False where robots are not seen.
        sees_pedestrians: whether the suite lets pedestrians see each other.
        dt: time until the model is called again, s: the crowd period, or less for a model with a ``max_step``.
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


FASTEST = 100.0
"""Largest ``max_speed_factor``, in preferred speeds."""

Output = Literal["acceleration", "velocity"]
LastStep = Literal["all", "robots", "nothing"]


@dataclass(frozen=True)
class CrowdDeclaration:
    """The properties that a crowd model declares in its attribute ``declares``.

    Attributes:
        output: kind of its output: accelerations, m/s2, or velocities, m/s.
        max_speed_factor: limit of the speed, in preferred speeds, at most 100.
        max_step: longest step that it may be called with, s. If this is shorter than the suite's crowd period, it is called more
            often, and ``dt`` is the shorter step (`agora.engine.crowd`).
        last_step: parties that its pedestrians do not step into if the suite's crowd is not ``faithful``
            (`agora.engine.collision_parts`): "robots" if the model's own forces act between bodies that touch, "nothing" if its
            people ignore others.
        tunable: span of each field that `agora calibrate` may try, by its name.
    """

    output: Output
    max_speed_factor: float = 1.0
    max_step: float = math.inf
    last_step: LastStep = "all"
    tunable: Mapping[str, Span] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, known in {"output": get_args(Output), "last_step": get_args(LastStep)}.items():
            if (value := vars(self)[name]) not in known:
                raise InputError(f"{name}: expected one of {', '.join(known)}, got {value!r}")
        if not (isinstance(self.max_speed_factor, int | float) and 0 < self.max_speed_factor <= FASTEST):
            raise InputError(f"max_speed_factor: expected a number in (0, {FASTEST:g}], got {self.max_speed_factor!r}")
        if not (isinstance(self.max_step, int | float) and self.max_step > 0):
            raise InputError(f"max_step: expected a number above 0, got {self.max_step!r}")


class CrowdModel(Protocol):
    """Moves pedestrians: one function over arrays."""

    @property
    def declares(self) -> CrowdDeclaration:
        """The properties of the model."""

    def compute(self, scene: CrowdScene) -> Floats:
        """Return accelerations or velocities (W, P, 2), as it declares; rows that are not active are ignored."""


class CrowdRecord(NamedTuple):
    """The records that a kernel of a crowd model reads, of W worlds (`agora.core.state`).

    Attributes:
        dt: step, s.
        sees: bit 1 where pedestrians see each other, bit 2 where they see robots.
        pedestrians: pedestrians in generation t.
        traits: unchanging traits of the pedestrians.
        waypoints: waypoints to which they walk now.
        robots: robots in generation t.
        robot_traits: unchanging traits of the robots.
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

    The kernel's arguments are ``(parameters, crowd, out_x, out_y, first, last)``: its own parameters, a `CrowdRecord`, and the
    output arrays (W, P), m/s2 or m/s.
    """

    @property
    def declares(self) -> CrowdDeclaration:
        """The properties of the model."""

    def kernel(self) -> Any:
        """Return the compiled function."""

    def parameters(self) -> tuple[Any, ...]:
        """Return the parameters of the kernel: a named tuple of numbers and arrays in float32 (`agora.core.kernel_record`)."""


AnyCrowdModel = CrowdModel | CompiledCrowdModel
"""A crowd model of either form."""
