"""The disc about a robot's outline."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agora.planners.local.orca._disc import with_outline_discs
from planners.local.observations import observe

CAR = [(0.455, 0.155), (-0.125, 0.155), (-0.125, -0.155), (0.455, -0.155)]
CROOKED = [(0.4, 0.3), (-0.1, 0.2), (-0.1, -0.1), (0.4, -0.1)]
CENTRED = [(0.25, 0.2), (-0.25, 0.2), (-0.25, -0.2), (0.25, -0.2)]


def seen(outlines, poses, twists):
    o = observe(poses, np.zeros((len(poses), 2)), twist=twists, radius=0.6)
    return replace(o, footprint=np.array(outlines, np.float32))


def corners(o):
    c, s = np.cos(o.pose[:, 2, None]), np.sin(o.pose[:, 2, None])
    x, y = o.footprint[..., 0], o.footprint[..., 1]
    return np.stack((c * x - s * y, s * x + c * y), -1) + o.pose[:, None, :2]


def test_the_disc_is_the_smallest_about_the_middle_and_has_the_corners_on_it(rng):
    o = seen([CAR, CROOKED], rng.uniform(-3, 3, (2, 3)), np.zeros((2, 3)))
    made = with_outline_discs(o)
    away = np.linalg.norm(corners(o) - made.pose[:, None, :2], axis=-1)
    assert (away <= made.radius[:, None] + 1e-6).all()
    assert made.radius == pytest.approx([np.hypot(0.29, 0.155), np.hypot(0.25, 0.2)], rel=1e-5)


def test_its_velocity_is_that_of_the_middle(rng):
    poses, twists, dt = rng.uniform(-3, 3, (2, 3)), np.array([[0.8, 0.0, 1.3], [-0.4, 0.2, -0.7]]), 1e-3
    made = with_outline_discs(seen([CAR, CROOKED], poses, twists))
    c, s = np.cos(poses[:, 2]), np.sin(poses[:, 2])
    moved = poses + dt * np.column_stack((c * twists[:, 0] - s * twists[:, 1], s * twists[:, 0] + c * twists[:, 1], twists[:, 2]))
    later = with_outline_discs(seen([CAR, CROOKED], moved, twists))
    velocity = np.column_stack((c * made.twist[:, 0] - s * made.twist[:, 1], s * made.twist[:, 0] + c * made.twist[:, 1]))
    assert (later.pose - made.pose)[:, :2] / dt == pytest.approx(velocity, abs=5e-3)


def test_robots_whose_middle_is_their_base_keep_their_disc():
    o = seen([CENTRED, np.zeros((4, 2))], [(1.0, 2.0, 0.3)] * 2, np.zeros((2, 3)))
    assert with_outline_discs(o) is o
    mixed = with_outline_discs(seen([CENTRED, CAR], [(1.0, 2.0, 0.3)] * 2, np.zeros((2, 3))))
    assert mixed.pose[0].tolist() == o.pose[0].tolist() and mixed.radius[0] == o.radius[0] and mixed.radius[1] < o.radius[1]
