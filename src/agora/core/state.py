"""The records that kernels and people share: arrays with named fields, never numbered columns.

W worlds, P pedestrian slots, R robots, K waypoints, M maps. float32, C-contiguous, world axis first, SI units, map frame.
A slot that is not in use is marked by ``active``; its other values are finite and mean nothing. The engine holds two generations of
`Pedestrians` and `Robots` and swaps them: everybody reads generation t while t + dt is written.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Array",
    "Bools",
    "Doubles",
    "Floats",
    "Minds",
    "Pedestrians",
    "Robots",
    "SOCIAL_STATES",
    "STAY",
    "TYPES",
    "Traits",
    "minds",
    "pedestrians",
    "robots",
    "traits",
]

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int32]
Bools = NDArray[np.bool_]
Array = NDArray[Any]

PADDING = 16
"""Pedestrian slots come in multiples of this, so that inner loops have no scalar tail."""

DIFFERENTIAL, HOLONOMIC, ACKERMANN, LEGGED = 0, 1, 2, 3
"""Codes of `RobotTraits.kinematics`."""


class Pedestrians(NamedTuple):
    """One generation of the pedestrians of W worlds.

    Attributes:
        x, y: (W, P) centre, m.
        vx, vy: (W, P) velocity, m/s.
        heading: (W, P) direction of the last motion, rad in (-pi, pi].
        active: (W, P) whether the slot is in use.
    """

    x: Floats
    y: Floats
    vx: Floats
    vy: Floats
    heading: Floats
    active: Bools


class Traits(NamedTuple):
    """What a pedestrian is like while it is in the world.

    Attributes:
        radius: (W, P) m.
        speed: (W, P) preferred speed, m/s; behaviours change it.
        group: (W, P) number of the walking group, -1 for none.
        id: (W, P) identity; never a slot.
        count: (W,) one more than the last slot in use; loops over neighbours stop there.
    """

    radius: Floats
    speed: Floats
    group: Ints
    id: Ints
    count: Ints  # type: ignore[assignment]


TYPES = ("adult", "elder", "child", "wheelchair")
"""What a pedestrian is; `Minds.type` is the number in this list."""

SOCIAL_STATES = (
    "idle",  # stands, and makes room when something comes near
    "walking",
    "running",
    "avoiding",  # slows down and keeps away from the robot
    "talking",  # in a group, to the others
    "listening",
    "telling",  # a story, to a group
    "texting",
    "phone",
    "interested",  # comes to the robot and plays with it
    "interacting",  # with an object: at a shelf, a counter, a machine
    "queueing",
    "sitting",
    "working",
    "panicking",
    "surprised",  # stands and looks at the robot
    "threatening",  # steps into the robot's way
)
"""What a pedestrian is doing; `Minds.state` is the number in this list."""

REACTIONS = ("regular", "impassive", "surprised", "curious", "scared", "threatening")
"""How a pedestrian takes the robot (HuNavSim, Perez-Higueras et al. 2023); `Minds.reaction` is the number in this list."""


class Minds(NamedTuple):
    """What behaviours decide of pedestrians, and what they decide it from.

    Attributes:
        type: (W, P) number in `TYPES`.
        reaction: (W, P) number in `REACTIONS`.
        state: (W, P) number in `SOCIAL_STATES`.
        stress, energy, social: (W, P) in [0, 1].
        partner: (W, P) id of the pedestrian whom one talks or listens to, -1 for none.
        speed: (W, P) preferred speed when walking undisturbed, m/s; `Traits.speed` is the present one.
        taken: (W, P) whether a behaviour has taken a pedestrian's mind over: until it gives it back, the others leave its state,
            partner, waypoint, speed and heading alone.
    """

    type: Ints
    reaction: Ints
    state: Ints
    stress: Floats
    energy: Floats
    social: Floats
    partner: Ints
    speed: Floats
    taken: Bools


LOOP, RANDOM, STAY = 0, 1, 2
"""How a list of waypoints is followed: round and round, at random, or once, to stay at the last (`Waypoints.mode`)."""


class Waypoints(NamedTuple):
    """Where pedestrians go.

    Attributes:
        x, y: (W, P) the current waypoint, m.
        list_x, list_y: (W, P, K) all of them, m.
        count: (W, P) how many of the K are in use.
        index: (W, P) number of the current one.
        mode: (W, P) `LOOP`, `RANDOM` or `STAY`.
        tolerance: (W, P) distance at which the next one becomes current, m.
    """

    x: Floats
    y: Floats
    list_x: Floats
    list_y: Floats
    count: Ints  # type: ignore[assignment]
    index: Ints  # type: ignore[assignment]
    mode: Ints
    tolerance: Floats


class Robots(NamedTuple):
    """One generation of the robots of W worlds.

    Attributes:
        x, y, heading: (W, R) pose of the base, m and rad.
        vx, vy, omega: (W, R) twist in the robot's frame, m/s and rad/s.
        world_vx, world_vy: (W, R) velocity in the map frame, m/s.
        steering: (W, R) steering angle of a car-like robot, rad; 0 for others.
        active: (W, R) False once a robot has ended and been removed.
    """

    x: Floats
    y: Floats
    heading: Floats
    vx: Floats
    vy: Floats
    omega: Floats
    world_vx: Floats
    world_vy: Floats
    steering: Floats
    active: Bools


class Maps(NamedTuple):
    """M maps of different size in flat arrays, and which world uses which.

    Cell [row, column] of map m is at ``start[m] + row * columns[m] + column``; its lower-left corner is
    ``origin + resolution * (column, row)``. Static discs and segments are exact; cells hold what came from an image.

    Attributes:
        index: (W,) map of each world.
        start: (M,) offset of the map's first cell in ``occupied`` and ``distance``.
        clearance_start: (M,) offset of its first cell in ``clearance``.
        rows, columns: (M,) size in cells.
        resolution: (M,) m per cell.
        origin_x, origin_y: (M,) lower-left corner, m.
        occupied: cells from the image, 1 where occupied, uint8.
        distance: from a cell's centre to the nearest occupied cell's centre, m (cells from the image only).
        clearance: the same with discs, segments and polygons drawn into the cells.
        segments: (S, 4) x0, y0, x1, y1, m.
        discs: (D, 3) x, y, radius, m.
        segment_start, disc_start: (M,) first segment, disc of each map. segment_end, disc_end: one more than its last.
    """

    index: Ints  # type: ignore[assignment]
    start: NDArray[np.int64]
    clearance_start: NDArray[np.int64]
    rows: Ints
    columns: Ints
    resolution: Floats
    origin_x: Floats
    origin_y: Floats
    occupied: NDArray[np.uint8]
    distance: Floats
    clearance: Floats
    segments: Floats
    discs: Floats
    segment_start: Ints
    segment_end: Ints
    disc_start: Ints
    disc_end: Ints


class RobotTraits(NamedTuple):
    """What does not change while a robot is in the world.

    Attributes:
        kinematics: (W, R) DIFFERENTIAL, HOLONOMIC, ACKERMANN or LEGGED.
        radius: (W, R) of the smallest disc about the base that holds the footprint, m.
        vertices: (W, R) corners of the polygon footprint, 0 for a disc.
        footprint_x, footprint_y: (W, R, V) corners in the robot's frame, counter-clockwise, m.
        min_vx, max_vx, max_vy, max_omega: (W, R) limits of the twist, m/s and rad/s (``vy`` and ``omega`` symmetric).
        max_ax, max_ay, max_alpha: (W, R) limits of its change, m/s2 and rad/s2.
        max_deceleration: (W, R) limit of braking along the heading, m/s2.
        wheelbase, max_steering, max_steering_rate: (W, R) of a car-like robot, m, rad, rad/s.
    """

    kinematics: Ints
    radius: Floats
    vertices: Ints
    footprint_x: Floats
    footprint_y: Floats
    min_vx: Floats
    max_vx: Floats
    max_vy: Floats
    max_omega: Floats
    max_ax: Floats
    max_ay: Floats
    max_alpha: Floats
    max_deceleration: Floats
    wheelbase: Floats
    max_steering: Floats
    max_steering_rate: Floats


def one_robot(traits: RobotTraits, w: int, r: int) -> RobotTraits:
    """A copy (1, 1) of the traits of robot ``r`` of world ``w``, with room for its own corners alone."""
    corners = max(int(traits.vertices[w, r]), 1)
    own = {name: field[w : w + 1, r : r + 1] for name, field in traits._asdict().items()}
    own |= {name: own[name][..., :corners] for name in ("footprint_x", "footprint_y")}
    return RobotTraits(**{name: field.copy() for name, field in own.items()})


def read_only(array: Array) -> Array:
    """A view that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def frozen(array: Array) -> Array:
    """Return a read-only, contiguous view: one type for the compiler, whoever calls."""
    return read_only(np.ascontiguousarray(array))


def padded(count: int) -> int:
    """The number of slots for ``count`` pedestrians: the next multiple of `PADDING`, at least one of them."""
    return max(PADDING, -(-count // PADDING) * PADDING)


def pedestrians(worlds: int, slots: int) -> Pedestrians:
    """An empty generation."""
    fields = [np.zeros((worlds, slots), np.float32) for _ in range(5)]
    return Pedestrians._make([*fields, np.zeros((worlds, slots), np.bool_)])


def traits(worlds: int, slots: int) -> Traits:
    """Traits of empty slots: radius 0.3 m, no group, id -1."""
    shape = (worlds, slots)
    return Traits(
        np.full(shape, 0.3, np.float32),
        np.ones(shape, np.float32),
        np.full(shape, -1, np.int32),
        np.full(shape, -1, np.int32),
        np.zeros(worlds, np.int32),
    )


def minds(worlds: int, slots: int) -> Minds:
    """Minds of adults who walk, neither stressed nor tired (Arena's start: energy and social 0.5)."""
    shape = (worlds, slots)

    def whole(value: int) -> Ints:
        return np.full(shape, value, np.int32)

    def real(value: float) -> Floats:
        return np.full(shape, value, np.float32)

    walking = SOCIAL_STATES.index("walking")
    return Minds(
        whole(0), whole(0), whole(walking), real(0.0), real(0.5), real(0.5), whole(-1), real(1.0), np.zeros(shape, np.bool_)
    )


def waypoints(worlds: int, slots: int, length: int) -> Waypoints:
    """Room for ``length`` waypoints a pedestrian, none in use."""
    shape = (worlds, slots)
    now = [np.zeros(shape, np.float32) for _ in range(2)]
    lists = [np.zeros((*shape, max(length, 1)), np.float32) for _ in range(2)]
    numbers = [np.zeros(shape, np.int32) for _ in range(3)]
    return Waypoints._make([*now, *lists, *numbers, np.full(shape, 0.5, np.float32)])


def robots(worlds: int, count: int) -> Robots:
    """An empty generation; ``count`` 0 gives arrays of width 0, which kernels accept."""
    fields = [np.zeros((worlds, count), np.float32) for _ in range(9)]
    return Robots._make([*fields, np.zeros((worlds, count), np.bool_)])


def robot_traits(worlds: int, count: int, corners: int = 0) -> RobotTraits:
    """Traits of disc robots of radius 0.3 m without limits on acceleration, to be filled in."""
    shape = (worlds, count)

    def full(value: float) -> Floats:
        return np.full(shape, value, np.float32)

    footprint = [np.zeros((*shape, max(corners, 1)), np.float32) for _ in range(2)]
    return RobotTraits(
        np.zeros(shape, np.int32),
        full(0.3),
        np.zeros(shape, np.int32),
        *footprint,
        *(full(v) for v in (0.0, 1.0, 0.0, 1.0)),
        *(full(1e6) for _ in range(4)),
        *(full(v) for v in (0.5, 0.6, 1e6)),
    )
