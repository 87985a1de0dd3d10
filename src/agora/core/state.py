"""The records that kernels use: named fields that are arrays, never numbered columns.

There are W worlds, P pedestrian slots, R robots, K waypoints and M maps. Arrays are float32 and C-contiguous, with the world axis
first, in SI units and the map frame. In an unused slot ``active`` is False; its other values are finite but meaningless. The engine
holds two buffers of `Pedestrians` and `Robots` and swaps them after each step: the state at time t is read while the state at t +
dt is written.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Array",
    "Bools",
    "Doubles",
    "Floats",
    "LEAVE",
    "Minds",
    "Pedestrians",
    "Robots",
    "SOCIAL_STATES",
    "STAY",
    "TYPES",
    "Traits",
    "minds",
    "pedestrians",
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


class Each(NamedTuple):
    """The declaration of a record's array field, from which allocation, reset and copying are derived.

    Attributes:
        axes: letters or numbers of the axes, separated by spaces.
        default: value in empty slots.
    """

    axes: str
    default: float = 0.0


WP, WR = Each("W P"), Each("W R")

Record = TypeVar("Record", bound=tuple[Any, ...])


@functools.cache
def _fields(record: type) -> Mapping[str, tuple[Any, tuple[str, ...], float]]:
    """Type, axes and default of each field of a record."""
    hints = {name: get_args(hint) for name, hint in get_type_hints(record, include_extras=True).items()}
    last = {name: get_args(array)[-1] for name, (array, _) in hints.items()}
    kinds = {name: (get_args(kind) or (kind,))[0] for name, kind in last.items()}  # dtype[float32]; from NumPy 2.5 on float32
    return {name: (kinds[name], tuple(each.axes.split()), each.default) for name, (_, each) in hints.items()}


def allocate(record: type[Record], **lengths: int) -> Record:
    """Return a record whose arrays hold their default values.

    Args:
        record: a `NamedTuple` class whose fields are ``Annotated`` with `Each`.
        **lengths: lengths of the axes, by letter.
    """

    def shape(axes: Sequence[str]) -> tuple[int, ...]:
        return tuple(int(axis) if axis.isdigit() else lengths[axis] for axis in axes)

    return record(*[np.full(shape(axes), default, kind) for kind, axes, default in _fields(record).values()])


def of_worlds(records: Iterable[tuple[Any, ...]]) -> list[tuple[Array, float]]:
    """Return the records' arrays whose first axis is the world axis, each with its default value."""
    pairs = ((array, *field) for record in records for array, field in zip(record, _fields(type(record)).values(), strict=True))
    return [(array, default) for array, _, axes, default in pairs if axes[0] == "W"]


def carry(source: Record, target: Record, robots: Sequence[int] = (), pedestrians: Sequence[int] | None = None) -> None:
    """Copy a record into a record whose axes have different lengths, as far as the lengths allow.

    Args:
        source: record to copy from.
        target: record to write; slots that the source does not have are left unchanged.
        robots: numbers of the robots in the source that become the first robots in the target.
        pedestrians: slots whose pedestrians are copied, into slots with the same numbers; all slots if None.
    """
    for old, new, (_, axes, _) in zip(source, target, _fields(type(source)).values(), strict=True):
        taken = old
        for number, axis in enumerate(axes):
            taken = np.take(taken, robots, number) if axis == "R" else taken
        room: list[Any] = [slice(min(lengths)) for lengths in zip(taken.shape, new.shape, strict=True)]
        if pedestrians is not None and "P" in axes:
            room[axes.index("P")] = np.asarray(pedestrians, np.intp)
        new[tuple(room)] = taken[tuple(room)]


class Pedestrians(NamedTuple):
    """The state of the pedestrians of W worlds at one time.

    Attributes:
        x: (W, P) centre, x, m.
        y: (W, P) centre, y, m.
        vx: (W, P) velocity, x, m/s.
        vy: (W, P) velocity, y, m/s.
        heading: (W, P) direction of the last motion, rad in (-pi, pi].
        active: (W, P) whether the slot is in use.
    """

    x: Annotated[Floats, WP]
    y: Annotated[Floats, WP]
    vx: Annotated[Floats, WP]
    vy: Annotated[Floats, WP]
    heading: Annotated[Floats, WP]
    active: Annotated[Bools, WP]


class Traits(NamedTuple):
    """The traits of pedestrians while they are in the world.

    Attributes:
        radius: (W, P) body radius, m.
        speed: (W, P) preferred speed, m/s; behaviours may change it.
        group: (W, P) number of the walking group; -1 if none.
        id: (W, P) identity, which is never a slot number.
        body: (W, P) number of the rigid body to which this disc belongs; -1 for a separate disc. The discs of a body are in
            consecutive slots.
        count: (W,) one more than the number of the last slot in use, at which loops over neighbours stop.
    """

    radius: Annotated[Floats, Each("W P", 0.3)]
    speed: Annotated[Floats, Each("W P", 1)]
    group: Annotated[Ints, Each("W P", -1)]
    id: Annotated[Ints, Each("W P", -1)]
    body: Annotated[Ints, Each("W P", -1)]
    count: Annotated[Ints, Each("W")]  # type: ignore[assignment]


TYPES = ("adult", "elder", "child", "wheelchair")
"""Types of pedestrians; `Minds.type` is an index into this list."""

SOCIAL_STATES = (
    "idle",  # stands still, and makes way when something comes near
    "walking",
    "running",
    "avoiding",  # slows down, and keeps away from the robot
    "talking",  # talks to the others in a group
    "listening",
    "telling",  # tells a story to a group
    "texting",
    "phone",
    "interested",  # approaches the robot and plays with it
    "interacting",  # uses an object, such as a shelf, a counter or a machine
    "queueing",
    "sitting",
    "working",
    "panicking",
    "surprised",  # stands and looks at the robot
    "threatening",  # steps into the robot's way
)
"""Activities of pedestrians; `Minds.state` is an index into this list."""

REACTIONS = ("regular", "impassive", "surprised", "curious", "scared", "threatening")
"""How a pedestrian reacts to the robot (HuNavSim, Perez-Higueras et al. 2023); `Minds.reaction` is an index into this list."""


class Minds(NamedTuple):
    """The decisions that behaviours make about pedestrians, and the data behind them.

    Attributes:
        type: (W, P) index into `TYPES`.
        reaction: (W, P) index into `REACTIONS`.
        state: (W, P) index into `SOCIAL_STATES`.
        stress: (W, P) stress, in [0, 1].
        energy: (W, P) energy, in [0, 1].
        social: (W, P) need for company, in [0, 1].
        partner: (W, P) id of the conversation partner; -1 if none.
        speed: (W, P) preferred speed when walking undisturbed, m/s; `Traits.speed` is the current preferred speed.
        taken: (W, P) whether one behaviour controls the pedestrian. Until this behaviour releases the pedestrian, other behaviours
            do not change the pedestrian's state, partner, waypoint, speed or heading.
        led: (W, P) whether the pedestrian keeps its place in a group whose leader sets the pace and direction.
    """

    type: Annotated[Ints, WP]
    reaction: Annotated[Ints, WP]
    state: Annotated[Ints, Each("W P", SOCIAL_STATES.index("walking"))]
    stress: Annotated[Floats, WP]
    energy: Annotated[Floats, Each("W P", 0.5)]
    social: Annotated[Floats, Each("W P", 0.5)]
    partner: Annotated[Ints, Each("W P", -1)]
    speed: Annotated[Floats, Each("W P", 1)]
    taken: Annotated[Bools, WP]
    led: Annotated[Bools, WP]


LOOP, RANDOM, STAY, LEAVE = 0, 1, 2, 3
"""Modes of a waypoint list: in a loop, in random order, once and then stay at the last waypoint, or once and then leave the world
there.
"""


class Waypoints(NamedTuple):
    """The waypoints of pedestrians.

    Attributes:
        x: (W, P) current waypoint, x, m.
        y: (W, P) current waypoint, y, m.
        list_x: (W, P, K) all waypoints, x, m.
        list_y: (W, P, K) all waypoints, y, m.
        count: (W, P) number of waypoints in use, at most K.
        index: (W, P) number of the current waypoint.
        mode: (W, P) `LOOP`, `RANDOM`, `STAY` or `LEAVE`.
        tolerance: (W, P) distance from the current waypoint at which the next waypoint becomes current, m.
        enters: (W, P) time at which an absent pedestrian enters the world, s; 0 for everyone else.
    """

    x: Annotated[Floats, WP]
    y: Annotated[Floats, WP]
    list_x: Annotated[Floats, Each("W P K")]
    list_y: Annotated[Floats, Each("W P K")]
    count: Annotated[Ints, WP]  # type: ignore[assignment]
    index: Annotated[Ints, WP]  # type: ignore[assignment]
    mode: Annotated[Ints, WP]
    tolerance: Annotated[Floats, Each("W P", 0.5)]
    enters: Annotated[Floats, WP]


class Robots(NamedTuple):
    """The state of the robots of W worlds at one time.

    Attributes:
        x: (W, R) pose of the base, x, m.
        y: (W, R) pose of the base, y, m.
        heading: (W, R) pose of the base, heading, rad.
        vx: (W, R) twist in the robot's frame, ahead, m/s.
        vy: (W, R) twist in the robot's frame, to the left, m/s.
        omega: (W, R) twist, turning rate, rad/s.
        world_vx: (W, R) velocity in the map frame, x, m/s.
        world_vy: (W, R) velocity in the map frame, y, m/s.
        steering: (W, R) steering angle of a car-like robot, rad; 0 for other robots.
        active: (W, R) False once a robot's episode has ended and the robot has been removed.
    """

    x: Annotated[Floats, WR]
    y: Annotated[Floats, WR]
    heading: Annotated[Floats, WR]
    vx: Annotated[Floats, WR]
    vy: Annotated[Floats, WR]
    omega: Annotated[Floats, WR]
    world_vx: Annotated[Floats, WR]
    world_vy: Annotated[Floats, WR]
    steering: Annotated[Floats, WR]
    active: Annotated[Bools, WR]


class Maps(NamedTuple):
    """The maps of W worlds: M maps of different sizes in flat arrays, and the number of each world's map.

    Cell [row, column] of map m is at ``start[m] + row * columns[m] + column``; its lower-left corner is ``origin + resolution *
    (column, row)``. Static discs and segments are exact shapes; cells come from an image.

    Attributes:
        index: (W,) number of each world's map.
        start: (M,) offset of the map's first cell in ``occupied`` and ``distance``.
        clearance_start: (M,) offset of the map's first cell in ``clearance``.
        rows: (M,) number of rows.
        columns: (M,) number of columns.
        resolution: (M,) length of a cell, m.
        origin_x: (M,) lower-left corner, x, m.
        origin_y: (M,) lower-left corner, y, m.
        occupied: cells from the image, uint8; 1 if occupied.
        distance: distance from each cell's centre to the centre of the nearest occupied cell, m (only cells from the image count).
        clearance: like ``distance``, but with discs, segments and polygons rasterised into the cells.
        segments: (S, 4) ends x0, y0, x1, y1 of each segment, m.
        discs: (D, 3) centre x, y and radius of each disc, m.
        segment_start: (M,) index of the first segment of each map.
        disc_start: (M,) index of the first disc of each map.
        segment_end: (M,) one more than the index of the last segment of each map.
        disc_end: (M,) one more than the index of the last disc of each map.
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
    """The traits of robots, which do not change while they are in the world.

    Attributes:
        kinematics: (W, R) DIFFERENTIAL, HOLONOMIC, ACKERMANN or LEGGED.
        radius: (W, R) radius of the smallest disc around the base that contains the footprint, m.
        vertices: (W, R) number of corners of the polygon footprint; 0 for a disc.
        footprint_x: (W, R, V) corners in the robot's frame, counter-clockwise, x, m.
        footprint_y: (W, R, V) corners in the robot's frame, counter-clockwise, y, m.
        min_vx: (W, R) minimum speed along the heading, m/s.
        max_vx: (W, R) maximum speed along the heading, m/s.
        max_vy: (W, R) maximum sideways speed in either direction, m/s.
        max_omega: (W, R) maximum turning rate in either direction, rad/s.
        max_ax: (W, R) maximum acceleration along the heading, m/s2.
        max_ay: (W, R) maximum sideways acceleration, m/s2.
        max_alpha: (W, R) maximum angular acceleration, rad/s2.
        max_deceleration: (W, R) maximum deceleration along the heading, m/s2.
        wheelbase: (W, R) wheelbase of a car-like robot, m.
        max_steering: (W, R) maximum steering angle of a car-like robot, rad.
        max_steering_rate: (W, R) maximum rate of change of the steering angle, rad/s.
    """

    kinematics: Annotated[Ints, WR]
    radius: Annotated[Floats, Each("W R", 0.3)]
    vertices: Annotated[Ints, WR]
    footprint_x: Annotated[Floats, Each("W R V")]
    footprint_y: Annotated[Floats, Each("W R V")]
    min_vx: Annotated[Floats, WR]
    max_vx: Annotated[Floats, Each("W R", 1)]
    max_vy: Annotated[Floats, WR]
    max_omega: Annotated[Floats, Each("W R", 1)]
    max_ax: Annotated[Floats, Each("W R", 1e6)]
    max_ay: Annotated[Floats, Each("W R", 1e6)]
    max_alpha: Annotated[Floats, Each("W R", 1e6)]
    max_deceleration: Annotated[Floats, Each("W R", 1e6)]
    wheelbase: Annotated[Floats, Each("W R", 0.5)]
    max_steering: Annotated[Floats, Each("W R", 0.6)]
    max_steering_rate: Annotated[Floats, Each("W R", 1e6)]


def one_robot(traits: RobotTraits, w: int, r: int) -> RobotTraits:
    """Return a copy (1, 1) of the traits of robot ``r`` of world ``w``, with room for this robot's corners only."""
    corners = max(int(traits.vertices[w, r]), 1)
    own = {name: field[w : w + 1, r : r + 1] for name, field in traits._asdict().items()}
    own |= {name: own[name][..., :corners] for name in ("footprint_x", "footprint_y")}
    return RobotTraits(**{name: field.copy() for name, field in own.items()})


def read_only(array: Array) -> Array:
    """Return a read-only view."""
    view = array.view()
    view.flags.writeable = False
    return view


def freeze(array: Array) -> Array:
    """Return a read-only, contiguous view, so that the compiler sees the same type from every caller."""
    return read_only(np.ascontiguousarray(array))


def protected_copy(record: Any) -> Any:
    """Return a copy of a record of arrays for a component from another package; the copy's memory cannot be written.

    A read-only view would expose the engine's memory through its ``base``, and could be made writable again.
    """
    if isinstance(record, np.ndarray):
        memory = record.tobytes() or bytes(record.itemsize)
        return np.frombuffer(memory, record.dtype)[: record.size].reshape(record.shape)
    if dataclasses.is_dataclass(record):
        kind: Any = type(record)
        return kind(**{each.name: protected_copy(getattr(record, each.name)) for each in dataclasses.fields(record)})
    if isinstance(record, dict):
        return {name: protected_copy(value) for name, value in record.items()}
    return record


def padded_slots(count: int) -> int:
    """Return the number of slots for ``count`` pedestrians: the next multiple of `PADDING`, at least `PADDING`."""
    return max(PADDING, -(-count // PADDING) * PADDING)


def pedestrians(worlds: int, slots: int) -> Pedestrians:
    """Return a record with all slots empty."""
    return allocate(Pedestrians, W=worlds, P=slots)


def traits(worlds: int, slots: int) -> Traits:
    """Return the traits of empty slots: radius 0.3 m, no group, id -1."""
    return allocate(Traits, W=worlds, P=slots)


def minds(worlds: int, slots: int) -> Minds:
    """Return the minds of walking adults who are neither stressed nor tired (Arena's initial values: energy and social 0.5)."""
    return allocate(Minds, W=worlds, P=slots)


def waypoints(worlds: int, slots: int, length: int) -> Waypoints:
    """Return a record with room for ``length`` waypoints per pedestrian, none of them in use."""
    return allocate(Waypoints, W=worlds, P=slots, K=max(length, 1))


def robots(worlds: int, count: int) -> Robots:
    """Return a record with all slots empty; a ``count`` of 0 gives arrays of width 0, which kernels accept."""
    return allocate(Robots, W=worlds, R=count)


def robot_traits(worlds: int, count: int, corners: int = 0) -> RobotTraits:
    """Return the traits of disc robots with a radius of 0.3 m and no acceleration limits, to be filled in by the caller."""
    return allocate(RobotTraits, W=worlds, R=count, V=max(corners, 1))
