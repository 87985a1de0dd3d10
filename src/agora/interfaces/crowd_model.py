"""Crowd models: how pedestrians move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from agora.core.state import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class CrowdScene:
    """Generation t of the crowd, as a user-written model sees it.

    Attributes:
        position, velocity, waypoint: (W, P, 2) m and m/s.
        radius, preferred_speed: (W, P) m and m/s.
        active: (W, P) whether the slot is in use; rows of others mean nothing.
        group: (W, P) number of the walking group, -1 for none. id: (W, P) identity.
        heading: (W, P) direction of the last motion, rad.
        type, state: (W, P) numbers in `agora.core.state.TYPES` and ``SOCIAL_STATES``.
        wall_distance: (W, P) distance to the nearest wall, m. wall_direction: (W, P, 2) unit vector away from it.
        clearance: the same of any points (W, K, 2), m: a function that returns distances (W, K) and directions (W, K, 2).
        robot_position, robot_velocity: (W, R, 2) m and m/s. robot_radius: (W, R) m.
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


class CrowdModel(Protocol):
    """Moves pedestrians: one function over arrays."""

    output: ClassVar[Literal["acceleration", "velocity"]]

    def compute(self, scene: CrowdScene) -> Floats:
        """Return accelerations or velocities (W, P, 2), as ``output`` says; rows that are not active are ignored."""


@runtime_checkable
class CompiledCrowdModel(Protocol):
    """A built-in crowd model: a kernel over worlds ``first <= w < last``.

    The kernel's arguments are ``(parameters, dt, sees, pedestrians, traits, waypoints, robots, robot_traits, maps, out_x, out_y,
    first, last)``: ``sees`` has bit 1 set where pedestrians see each other, bit 2 where they see robots; it writes (W, P).
    """

    output: ClassVar[Literal["acceleration", "velocity"]]

    def kernel(self) -> Any:
        """Return the compiled function."""

    def parameters(self) -> Floats:
        """Return the model's parameters in the kernel's order."""


AnyCrowdModel = CrowdModel | CompiledCrowdModel
"""A crowd model of either form.

Three attributes more, fields or of the class, are read where a model has them: ``max_speed_factor``, the cap of the speed in
preferred speeds (1 where it has none), and ``max_step``, the longest step in s that it may be called with: with a shorter one
than the suite's crowd period it is called more often, and ``dt`` is that step (`agora.engine.crowd`); ``last_step``, whom its
pedestrians do not step into where the suite's crowd is not ``faithful`` (`agora.engine.careful`): "all", as where it has none,
"robots" where the model's own forces act between bodies that touch, or "nothing" where it moves people who mind nobody.
"""
