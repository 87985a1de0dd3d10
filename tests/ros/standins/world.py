"""A world of discs, boxes and unicycles in plain NumPy: what the stand-ins of foreign simulators hold."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Body:
    """Something that stands or drives: a disc or convex polygons about its pose (x, y, heading)."""

    pose: np.ndarray
    discs: list[tuple[float, float, float]] = field(default_factory=list)
    polygons: list[np.ndarray] = field(default_factory=list)
    twist: np.ndarray = field(default_factory=lambda: np.zeros(3))
    scanner: dict | None = None

    def shapes(self) -> tuple[np.ndarray, np.ndarray]:
        """Discs (D, 3) and edges (E, 4) in the map frame."""
        x, y, heading = self.pose
        turn = np.array([[math.cos(heading), -math.sin(heading)], [math.sin(heading), math.cos(heading)]])
        discs = np.array([[*(turn @ (cx, cy) + (x, y)), r] for cx, cy, r in self.discs]).reshape(-1, 3)
        edges = []
        for polygon in self.polygons:
            corners = np.asarray(polygon) @ turn.T + (x, y)
            edges.append(np.hstack([corners, np.roll(corners, -1, axis=0)]))
        return discs, np.vstack(edges) if edges else np.zeros((0, 4))


class World:
    """Bodies by name, advanced by their twists; no dynamics, no contact forces."""

    def __init__(self) -> None:
        self.bodies: dict[str, Body] = {}
        self.time = 0.0

    def step(self, dt: float) -> None:
        """Move everybody along an arc of constant twist."""
        for body in self.bodies.values():
            vx, vy, omega = body.twist
            middle = body.pose[2] + omega * dt / 2
            body.pose[0] += (vx * math.cos(middle) - vy * math.sin(middle)) * dt
            body.pose[1] += (vx * math.sin(middle) + vy * math.cos(middle)) * dt
            body.pose[2] = math.remainder(body.pose[2] + omega * dt, math.tau)
        self.time += dt

    def scan(self, name: str) -> np.ndarray:
        """The ranges of a body's scanner: a dictionary of x, y, heading in the body's frame, lowest, step, beams, range."""
        body = self.bodies[name]
        scanner = body.scanner
        assert scanner is not None
        heading = body.pose[2]
        c, s = math.cos(heading), math.sin(heading)
        origin = body.pose[:2] + (scanner["x"] * c - scanner["y"] * s, scanner["x"] * s + scanner["y"] * c)
        angles = heading + scanner["heading"] + scanner["lowest"] + scanner["step"] * np.arange(scanner["beams"])
        rays = np.stack([np.cos(angles), np.sin(angles)], -1)
        ranges = np.full(scanner["beams"], scanner["range"])
        for other, thing in self.bodies.items():
            if other != name:
                discs, edges = thing.shapes()
                ranges = np.minimum(ranges, np.minimum(_to_discs(origin, rays, discs), _to_edges(origin, rays, edges)))
        return ranges


def _to_discs(origin: np.ndarray, rays: np.ndarray, discs: np.ndarray) -> np.ndarray:
    nearest = np.full(len(rays), np.inf)
    for x, y, radius in discs:
        along = rays @ (np.array([x, y]) - origin)
        gap = (x - origin[0]) ** 2 + (y - origin[1]) ** 2 - along**2
        hit = (gap < radius**2) & (along > 0)
        distance = along - np.sqrt(np.where(hit, radius**2 - gap, 0.0))
        nearest = np.where(hit, np.minimum(nearest, np.maximum(distance, 0.0)), nearest)
    return nearest


def _to_edges(origin: np.ndarray, rays: np.ndarray, edges: np.ndarray) -> np.ndarray:
    if not len(edges):
        return np.full(len(rays), np.inf)
    start, along = edges[:, :2] - origin, edges[:, 2:] - edges[:, :2]
    cross = rays[:, None, 0] * along[None, :, 1] - rays[:, None, 1] * along[None, :, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (start[None, :, 0] * along[None, :, 1] - start[None, :, 1] * along[None, :, 0]) / cross
        u = (start[None, :, 0] * rays[:, None, 1] - start[None, :, 1] * rays[:, None, 0]) / cross
    hit = (np.abs(cross) > 1e-12) & (t >= 0) & (u >= 0) & (u <= 1)
    return np.where(hit, t, np.inf).min(axis=1)
