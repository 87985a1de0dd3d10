"""Scans of people at given places, for tests of perception: rows that differ, crooked walls, moved and rotated scenes."""

from __future__ import annotations

import numpy as np

from agora.core import state
from agora.maps.grid import Map
from agora.maps.store import build_store
from agora.optics.lidar import Lidar

LIDAR = Lidar(beams=360, range_max=10.0, x=0.11, y=-0.04, heading=0.3)
HALL = Map.open((-8.3, -6.1), (9.4, 7.7), resolution=0.1)


def scans(places, pose, lidar=LIDAR, velocities=None, place=HALL, keys=None, step=0, radius=0.3):
    """Ranges (N, B) of robots at poses (N, 3), each in a world of its own with people at places (N, P, 2)."""
    places, pose = np.asarray(places, np.float32), np.asarray(pose, np.float32)
    rows, people = places.shape[:2]
    slots = state.padded_slots(people)
    crowd, traits = state.pedestrians(rows, slots), state.traits(rows, slots)
    robots, robot_traits = state.robots(rows, 1), state.robot_traits(rows, 1)
    crowd.x[:, :people], crowd.y[:, :people] = places[..., 0], places[..., 1]
    if velocities is not None:
        speeds = np.asarray(velocities, np.float32)
        crowd.vx[:, :people], crowd.vy[:, :people] = speeds[..., 0], speeds[..., 1]
        crowd.heading[:, :people] = np.arctan2(speeds[..., 1], speeds[..., 0])
    crowd.active[:, :people], traits.count[:], traits.radius[:] = True, people, radius
    robots.x[:, 0], robots.y[:, 0], robots.heading[:, 0] = pose.T
    robots.active[:] = True
    out = np.zeros((rows, 1, lidar.beams), np.float32)
    lidar.bind(crowd, traits, robots, robot_traits, build_store([place], np.zeros(rows, np.int32)), out)(0, rows)
    lidar.perturb(np.arange(rows, dtype=np.uint64) if keys is None else keys, np.full(rows, step, np.int32), out)
    return out[:, 0]


def apart(rng, count, pose, nearest=0.66, around=6.0):
    """Places (count, 2) within ``around`` m of a robot, nobody nearer than ``nearest`` to another."""
    places = []
    while len(places) < count:
        bearing, distance = rng.uniform(-np.pi, np.pi), rng.uniform(0.9, around)
        new = pose[:2] + distance * np.array([np.cos(bearing), np.sin(bearing)])
        if all(np.hypot(*(new - other)) > nearest for other in places):
            places.append(new)
    return np.array(places)
