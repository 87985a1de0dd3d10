"""The points on the robot that pixels show."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agora.errors import InputError
from agora.optics.camera import Camera

LENSES = {"fx": 310.0, "fy": 305.0, "cx": 157.3, "cy": 121.9}


def turned(axis, angle):
    c, s = math.cos(angle), math.sin(angle)
    return np.array(
        {"x": [[1, 0, 0], [0, c, -s], [0, s, c]], "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]], "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]]}[
            axis
        ]
    )


def test_the_principal_point_is_straight_ahead_and_columns_go_right_and_rows_down():
    camera = Camera(**LENSES, x=0.2, y=-0.1, z=0.9)
    assert camera.on_robot(157.3, 121.9, 3.0) == pytest.approx([3.2, -0.1, 0.9])
    assert camera.on_robot(157.3 + 31.0, 121.9, 3.0) == pytest.approx([3.2, -0.1 - 0.3, 0.9])
    assert camera.on_robot(157.3, 121.9 + 30.5, 3.0) == pytest.approx([3.2, -0.1, 0.9 - 0.3])


def test_a_camera_that_looks_down_sees_the_floor_where_its_axis_meets_it():
    camera = Camera(**LENSES, z=1.2, pitch=0.3)
    assert camera.on_robot(157.3, 121.9, 1.2 / math.sin(0.3)) == pytest.approx([1.2 / math.tan(0.3), 0.0, 0.0])


def test_roll_pitch_and_yaw_turn_about_the_axes_of_the_base_one_after_the_other():
    angles, pixel = (0.2, -0.4, 2.3), (40.0, 200.0, 2.5)
    camera = Camera(**LENSES, x=0.3, y=0.1, z=0.7, roll=angles[0], pitch=angles[1], yaw=angles[2])
    straight = Camera(**LENSES).on_robot(*pixel)
    turn = turned("z", angles[2]) @ turned("y", angles[1]) @ turned("x", angles[0])
    assert camera.on_robot(*pixel) == pytest.approx(turn @ straight + (0.3, 0.1, 0.7))


@pytest.mark.parametrize(
    "angles", [(0.3, -0.7, 2.1), (-3.0, 1.2, -1.4), (0.4, math.pi / 2, 0.9), (-2.0, -math.pi / 2, 0.3), (0.0, 0.0, 0.0)]
)
def test_a_camera_by_its_optical_frame_is_that_by_its_angles(angles):
    one = Camera(**LENSES, x=0.3, y=0.1, z=0.7, roll=angles[0], pitch=angles[1], yaw=angles[2])
    other = Camera.at(*LENSES.values(), one.rotation(), (0.3, 0.1, 0.7))
    assert other.rotation() == pytest.approx(one.rotation(), abs=1e-12)
    assert (other.x, other.y, other.z) == (0.3, 0.1, 0.7)


def test_many_pixels_are_turned_at_once():
    camera = Camera(**LENSES, yaw=0.5)
    u, v = np.array([3.0, 80.0, 200.0]), np.array([9.0, 4.0, 130.0])
    many = camera.on_robot(u, v, 2.0)
    assert many == pytest.approx(np.array([camera.on_robot(a, b, 2.0) for a, b in zip(u, v, strict=True)]))


def test_lenses_that_there_are_not_are_refused():
    with pytest.raises(InputError, match="fx and fy must be above 0"):
        Camera(0.0, 0.0, 0.0, 0.0)
    with pytest.raises(InputError, match="^cy: expected a finite number"):
        Camera(300.0, 300.0, 100.0, math.nan)
