"""Irregular scenes for contract tests, and rigid motions of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agora.core.angles import wrap_below_pi
from agora.core.state import TYPES, Array, Floats
from agora.costmap.inflation import cost_of
from agora.costmap.window import Window
from agora.interfaces import Costmap, Limits, Observation, SemanticMaps, SemanticWindow, Tracks
from agora.interfaces.channel import Channel, Field, Provider
from agora.interfaces.observation import VIEWS
from agora.registry import make
from agora.testing.guard import freeze


@dataclass(frozen=True)
class Move:
    """A rigid motion of the whole plane: an optional reflection across the x axis, then a rotation about the origin, then a shift.

    Attributes:
        dx: shift along x, m.
        dy: shift along y, m.
        turn: rotation about the origin, rad.
        mirror: whether left and right are swapped.
    """

    dx: float = 0.0
    dy: float = 0.0
    turn: float = 0.0
    mirror: bool = False

    @property
    def side(self) -> float:
        """Factor for angles and turning rates: -1 if left and right are swapped, otherwise 1."""
        return -1.0 if self.mirror else 1.0

    def points(self, points: Array) -> Array:
        """Return the transformed points (..., 2)."""
        return self.vectors(points) + (self.dx, self.dy)

    def vectors(self, vectors: Array) -> Array:
        """Return the transformed directions (..., 2)."""
        cosine, sine = math.cos(self.turn), math.sin(self.turn)
        x, y = vectors[..., 0], self.side * vectors[..., 1]
        return np.stack((cosine * x - sine * y, sine * x + cosine * y), -1)

    def headings(self, headings: Array) -> Array:
        """Return the transformed headings, in (-pi, pi]."""
        return np.pi - np.mod(np.pi - self.side * headings - self.turn, 2.0 * np.pi)

    def twists(self, twists: Array) -> Array:
        """Return twists, or poses in the robot's frame, (..., 3): mirrored if left and right are swapped, otherwise unchanged."""
        return twists * (1.0, self.side, self.side)

    def poses(self, poses: Array) -> Array:
        """Return the transformed poses (..., 3)."""
        return np.concatenate((self.points(poses[..., :2]), self.headings(poses[..., 2:])), axis=-1)


def observation(
    rows: int = 4,
    pedestrians: int = 5,
    *,
    seed: int = 1,
    move: Move | None = None,
    window: Window | None = None,
    semantics: SemanticWindow | None = None,
    beams: int = 90,
    max_vy: float = 0.0,
    turning_radius: float = 0.0,
    corners: int = 0,
    dt: float = 0.1,
    sensors: Sequence[Provider] = (),
) -> Observation:
    """Return an irregular scene with all channels that a planner may need.

    Robots are at random positions and are moving. Paths are bent and differ in length; walls are discs next to the paths. Some
    pedestrian slots are empty and contain meaningless numbers.

    Args:
        rows: number of robots.
        pedestrians: number of pedestrian slots per row, of which at least one in three is empty; 0 for no pedestrians.
        seed: seed of the scene.
        move: rigid motion applied to the whole scene; mirroring also mirrors values in the robot's frame, except ``sensors``.
        window: window of the costmap.
        semantics: window of the semantic maps; their evidence is 1 for every pedestrian.
        beams: number of beams of the scan.
        max_vy: maximum sideways speed of the robots, m/s; robots are holonomic if it is above 0.
        turning_radius: minimum turning radius of the robots, m.
        corners: number of corners of the robots' footprints, 0 for discs.
        dt: control period, s.
        sensors: additional channels, whose readings are random numbers within the bounds of their fields.
    """
    move, window = move or Move(), window or Window(size=6.0, resolution=0.05)
    scene = _Scene(np.random.default_rng(seed), rows)
    pose, goal, path, count = scene.robots()
    tracks = [scene.tracks(pose, slots, move) for slots in (pedestrians, 2 if pedestrians else 0)]
    scan = scene.rng.uniform(0.6, 8.0, (rows, beams))[:, :: round(move.side)]
    obstacles = scene.rng.uniform(-1.0, 1.0, (rows, 3, 2)) * 2.5
    obstacles = pose[:, None, :2] + obstacles + np.sign(obstacles) * 0.7
    radius = np.full(rows, 0.3)
    footprint = np.array([[0.25, 0.2], [-0.25, 0.2], [-0.25, -0.2], [0.25, -0.2]])[:corners]
    moved = move.poses(pose)
    made = Observation(
        pose=_f32(moved),
        twist=_f32(move.twists(scene.rng.uniform((0.1, -0.2, -0.3), (0.5, 0.2, 0.3), (rows, 3)) * (1.0, max_vy > 0, 1.0))),
        goal=_f32(move.poses(goal)),
        radius=_f32(radius),
        footprint=_f32(np.broadcast_to(footprint, (rows, *footprint.shape))),
        limits=_limits(rows, max_vy, turning_radius),
        dt=dt,
        path=_f32(move.points(path)),
        path_count=count,
        pedestrians=tracks[0],
        robots=tracks[1],
        scan=_f32(scan),
        scan_angles=_f32(move.side * np.linspace(-2.3, 2.1, beams)[:: round(move.side)]),
        scan_pose=_f32(move.twists(np.array((0.12, -0.03, 0.1)))),
        scan_range=10.0,
        costmap=costmap_of(window, moved, move.points(obstacles), tracks[0], radius),
        semantics=_semantics(semantics or SemanticWindow(), moved, tracks[0]),
        sensors={
            one.channel: {name: _drawn(scene, field, pedestrians, move) for name, field in one.fields.items()} for one in sensors
        },
    )
    freeze(made)
    return made


@dataclass(frozen=True)
class _Scene:
    """The positions of all objects before the scene is moved."""

    rng: np.random.Generator
    rows: int

    def robots(self) -> tuple[Array, Array, Array, Array]:
        """Return the robots' poses and goals, and paths of different lengths that end at the goals."""
        rng, rows = self.rng, self.rows
        pose = np.column_stack((rng.uniform(-7.0, 9.0, rows), rng.uniform(-3.0, 14.0, rows), rng.uniform(-3.0, 3.0, rows)))
        bearing = pose[:, 2] + rng.uniform(-1.2, 1.2, rows)
        length = rng.uniform(3.0, 7.0, rows)
        goal = pose + np.column_stack((length * np.cos(bearing), length * np.sin(bearing), rng.uniform(-3.0, 3.0, rows)))
        goal[:, 2] = wrap_below_pi(goal[:, 2])
        longest = 60
        count = rng.integers(longest // 2, longest + 1, rows).astype(np.int32)
        share = np.minimum(np.arange(longest) / (count[:, None] - 1.0), 1.0)
        side = np.stack((-np.sin(bearing), np.cos(bearing)), -1)
        bend = rng.uniform(-0.8, 0.8, rows)[:, None] * np.sin(np.pi * share)
        path = pose[:, None, :2] + share[..., None] * (goal - pose)[:, None, :2] + bend[..., None] * side[:, None, :]
        return pose, goal, path, count

    def tracks(self, pose: Array, slots: int, move: Move) -> Tracks:
        """Return tracks of discs at some distance from the robots; every third slot, starting with the second, is empty."""
        rng, shape = self.rng, (self.rows, slots)
        bearing, distance = rng.uniform(-np.pi, np.pi, shape), rng.uniform(1.2, 4.0, shape)
        position = pose[:, None, :2] + distance[..., None] * np.stack((np.cos(bearing), np.sin(bearing)), -1)
        present = np.broadcast_to(np.arange(slots) % 3 != 1, shape)
        return Tracks(
            position=_f32(move.points(position)),
            velocity=_f32(move.vectors(rng.uniform(-1.0, 1.0, (*shape, 2)))),
            radius=_f32(rng.uniform(0.2, 0.4, shape)),
            present=np.array(present),
            id=rng.permutation(self.rows * slots).reshape(shape).astype(np.int32),
            group=rng.integers(-1, 3, shape).astype(np.int32),
            type=rng.integers(0, len(TYPES), shape).astype(np.int32),
        )


def sensors_of(channels: Mapping[str, Channel | None]) -> tuple[Provider, ...]:
    """Return the channels whose readings an observation holds in ``sensors``."""
    found: list[Any] = [one or make("channels", name) for name, one in channels.items() if name not in VIEWS.values()]
    return tuple(found)


def sized(field: Field, slots: int) -> tuple[int, ...]:
    """Return the shape of a field whose named axes all have length ``slots``."""
    return field.sized({axis: slots for axis in field.shape if isinstance(axis, str)})


def moved_field(field: Field, values: Array, move: Move) -> Array:
    """Return the readings (..., *shape) of a field as they would be after moving the whole scene."""
    if field.frame != "map":
        return values
    there = move.points if field.unit == "m" else move.vectors
    return np.concatenate((there(values[..., :2]), values[..., 2:]), axis=-1)


def _drawn(scene: _Scene, field: Field, slots: int, move: Move) -> Array:
    """Return random readings (N, *shape) of a field."""
    low, high = (bound if math.isfinite(bound) else math.copysign(10.0, bound) for bound in (field.low, field.high))
    drawn: Array = scene.rng.uniform(low, high, (scene.rows, *sized(field, slots)))
    if field.kind is np.bool_:
        drawn = drawn > 0.5 * (low + high)
    return np.ascontiguousarray(moved_field(field, drawn, move), field.kind)


def _f32(values: Array) -> Floats:
    return np.ascontiguousarray(values, np.float32)


def _limits(rows: int, max_vy: float, turning_radius: float) -> Limits:
    def full(value: float) -> Floats:
        return np.full(rows, value, np.float32)

    values = (full(v) for v in (-0.1, 0.8, max_vy, 1.2, 2.0, 2.0, 3.0, turning_radius))
    return Limits(np.full(rows, max_vy > 0), *values)


def costmap_of(window: Window, pose: Array, obstacles: Array, tracks: Tracks, radius: Array) -> Costmap:
    """Return the inflated costmap window around each robot, which contains the pedestrians and, at ``obstacles`` (N, K, 2),
    disc-shaped walls with a radius of 0.25 m.
    """
    cells, resolution = window.cells, window.resolution
    origin = _f32(np.floor(pose[:, :2] / resolution) * resolution - 0.5 * cells * resolution)
    centre = (np.arange(cells) + 0.5) * resolution
    cost = np.empty((len(pose), cells, cells), np.uint8)
    for n in range(len(pose)):
        discs = [(*place, 0.25) for place in obstacles[n]]
        if "people" in window.sources:
            here = tracks.present[n]
            discs += [(*place, r) for place, r in zip(tracks.position[n, here], tracks.radius[n, here], strict=True)]
        gap = np.full((cells, cells), np.inf)
        for x, y, r in discs:
            wide = r + max(window.inflation_radius, float(radius[n])) + resolution
            column, row = (slice(*np.searchsorted(centre, (at - wide, at + wide))) for at in (x - origin[n, 0], y - origin[n, 1]))
            away = np.hypot(centre[None, column] + origin[n, 0] - x, centre[row, None] + origin[n, 1] - y) - r
            gap[row, column] = np.minimum(gap[row, column], away)
        cost[n] = cost_of(gap, radius[n], window.inflation_radius, window.cost_scaling, touch=0.5 * resolution)
    return Costmap(cost, origin, resolution)


def _semantics(window: SemanticWindow, pose: Array, tracks: Tracks) -> SemanticMaps:
    """Return semantic maps of the pedestrians, with evidence 1."""
    side = window.cells
    origin = (np.floor(pose[:, :2] / window.resolution) - side // 2) * window.resolution
    evidence = np.zeros((len(pose), len(window.attributes), side, side), np.float32)
    cell = np.floor((tracks.position - origin[:, None]) / window.resolution).astype(int)
    for row, slot in np.argwhere(tracks.present & ((cell >= 0) & (cell < side)).all(-1)):
        evidence[row, :, cell[row, slot, 1], cell[row, slot, 0]] = 1.0
    return SemanticMaps(evidence, window.attributes, _f32(origin), window.resolution)
