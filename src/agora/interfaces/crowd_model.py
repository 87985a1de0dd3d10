"""Crowd models, which move pedestrians."""

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
    """The state of the crowd at the current step, as passed to a user-written model.

    Attributes:
        position: (W, P, 2) positions, m.
        velocity: (W, P, 2) velocities, m/s.
        waypoint: (W, P, 2) pedestrians' current waypoints, m.
        radius: (W, P) body radii, m.
        preferred_speed: (W, P) preferred speeds, m/s. Near a final waypoint at which the pedestrian should stay, the preferred
            speed decreases with the remaining distance (by 1 m/s per metre), so that a pedestrian that walks at this speed comes to
            rest at the waypoint.
        active: (W, P) whether the slot is in use; values in unused slots are undefined.
        group: (W, P) number of the walking group; -1 if the pedestrian is not in a group.
        id: (W, P) id of the pedestrian.
        heading: (W, P) direction of the last motion, rad.
        type: (W, P) type of the pedestrian, as an index into `agora.core.state.TYPES`.
        state: (W, P) social state, as an index into `agora.core.state.SOCIAL_STATES`.
        wall_distance: (W, P) distance to the nearest wall, m.
        wall_direction: (W, P, 2) unit vector pointing away from the nearest wall.
        clearance: function that returns, for any points (W, K, 2) in metres, the distance to the nearest wall (W, K), m, and the
            unit vector away from that wall (W, K, 2).
        robot_position: (W, R, 2) positions of the robots, m.
        robot_velocity: (W, R, 2) velocities of the robots, m/s.
        robot_radius: (W, R) radii of the robots, m.
        robot_active: (W, R) whether pedestrians see the robot.
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
"""Maximum value of ``max_speed_factor``, as a multiple of the preferred speed."""

Output = Literal["acceleration", "velocity"]
LastStep = Literal["all", "robots", "nothing"]


@dataclass(frozen=True)
class CrowdDeclaration:
    """The properties that a crowd model declares in its attribute ``declares``.

    Attributes:
        output: whether the model returns accelerations, m/s2, or velocities, m/s.
        max_speed_factor: speed limit as a multiple of the preferred speed, at most 100.
        max_step: longest time step with which the model may be called, s. If it is shorter than the suite's crowd period, the model
            is called more often, and ``dt`` is the shorter time step (`agora.engine.crowd`).
        last_step: obstacles that pedestrians are kept from stepping into if the suite's crowd is not ``faithful``
            (`agora.engine.collision_parts`): "robots" if the model itself computes contact forces between pedestrians, "nothing" if
            its pedestrians ignore others.
        tunable: span of values that `agora calibrate` may try for each field, keyed by field name.
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
    """Moves pedestrians with a single function on arrays."""

    @property
    def declares(self) -> CrowdDeclaration:
        """The properties of the model."""

    def compute(self, scene: CrowdScene) -> Floats:
        """Return accelerations or velocities (W, P, 2), as declared; values in inactive slots are ignored."""


class CrowdRecord(NamedTuple):
    """The records of W worlds that a crowd model's kernel reads (`agora.core.state`).

    Attributes:
        dt: time step, s.
        sees: bit field: 1 if pedestrians see each other, plus 2 if they see robots.
        pedestrians: state of the pedestrians at the current step (generation t).
        traits: constant properties of the pedestrians.
        waypoints: waypoints towards which the pedestrians are currently walking.
        robots: state of the robots at the current step (generation t).
        robot_traits: constant properties of the robots.
        maps: maps of the surroundings.
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
    """A built-in crowd model: a kernel that processes worlds ``first <= w < last``.

    The kernel's arguments are ``(parameters, crowd, out_x, out_y, first, last)``: the model's parameters, a `CrowdRecord`, and the
    two output arrays (W, P), m/s2 or m/s.
    """

    @property
    def declares(self) -> CrowdDeclaration:
        """The properties of the model."""

    def kernel(self) -> Any:
        """Return the compiled function."""

    def parameters(self) -> tuple[Any, ...]:
        """Return the kernel's parameters: a named tuple of float32 numbers and arrays (`agora.core.kernel_record`)."""


AnyCrowdModel = CrowdModel | CompiledCrowdModel
"""A crowd model, user-written or built-in."""
