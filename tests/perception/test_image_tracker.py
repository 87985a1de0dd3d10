"""People placed by boxes and depth, and followed from image to image."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.perception.models import write_model

from agora.errors import InputError
from agora.optics.camera import Camera
from agora.perception.image_tracker import ImageTracker, Locator
from agora.perception.images import Boxes, ImageDetector
from agora.perception.tracker import Tracker

CAMERA = Camera(fx=100.0, fy=104.0, cx=82.3, cy=46.1, x=0.17, y=-0.06, z=0.8, roll=0.03, pitch=0.05, yaw=-0.2)
ROWS, COLUMNS = 96, 160
WALL = 7.0


def boxes(*corners):
    return Boxes(np.array(corners, np.float32).reshape(-1, 4), np.ones(len(corners), np.float32), np.zeros(len(corners), np.int32))


def seen_at(place, camera=CAMERA, half_body=0.12):
    """Pixel (u, v) and depth at which the front of somebody with the axis at (x, y) is seen, as high as the camera is."""
    x, y = place[0] - camera.x, place[1] - camera.y
    share = 1.0 - half_body / math.hypot(x, y)
    right, down, depth = camera.rotation().T @ (share * x, share * y, 0.0)
    return camera.cx + camera.fx * right / depth, camera.cy + camera.fy * down / depth, depth


def view(places, camera=CAMERA, size=(24, 48)):
    """Image and depth of people at places in the robot's frame, red, before a wall."""
    image, depth = np.zeros((ROWS, COLUMNS, 3), np.uint8), np.full((ROWS, COLUMNS), WALL)
    for place in sorted(places, key=lambda p: -math.hypot(*p)):
        u, v, away = seen_at(place, camera)
        left, top = round(u + 0.5 - size[0] / 2), round(v + 0.5 - size[1] / 2)
        rows, columns = slice(max(top, 0), top + size[1]), slice(max(left, 0), left + size[0])
        image[rows, columns], depth[rows, columns] = (255, 0, 0), away
    return image, depth


def test_somebody_is_as_far_as_the_middle_of_their_box_and_half_a_body_more():
    place = (3.1, -0.4)
    u, v, away = seen_at(place)
    box = (u + 0.5 - 9.0, v + 0.5 - 20.0, u + 0.5 + 9.0, v + 0.5 + 20.0)
    (found,) = Locator().locate(boxes(box), np.full((ROWS, COLUMNS), away), CAMERA)
    assert found[:2] == pytest.approx(place, abs=1e-6)
    assert found[2] == pytest.approx(0.1**2 + (0.0016 * away**2) ** 2)


def test_what_is_behind_somebody_or_in_front_of_a_part_of_them_does_not_count():
    u, v, away = seen_at((2.8, 0.1))
    depth = np.full((ROWS, COLUMNS), WALL)
    depth[round(v) - 20 : round(v) + 20, round(u) - 6 : round(u) + 7] = away
    depth[:, round(u) + 4 : round(u) + 6] = 1.0  # a post
    depth[round(v) - 3 : round(v), :] = np.nan
    depth[round(v) + 1, :] = 0.0
    box = (u + 0.5 - 9.0, v + 0.5 - 20.0, u + 0.5 + 9.0, v + 0.5 + 20.0)
    (found,) = Locator().locate(boxes(box), depth, CAMERA)
    assert found[:2] == pytest.approx((2.8, 0.1), abs=1e-6)


def test_who_fills_less_than_half_of_the_middle_of_a_loose_box_is_not_placed_at_the_wall():
    u, v, away = seen_at((2.8, 0.1))
    depth = np.full((ROWS, COLUMNS), WALL)
    depth[:, round(u) - 4 : round(u)] = away  # 4 of 10 columns
    box = (u + 0.5 - 9.0, v + 0.5 - 20.0, u + 0.5 + 9.0, v + 0.5 + 20.0)
    (found,) = Locator().locate(boxes(box), depth, CAMERA)
    assert found[:2] == pytest.approx((2.8, 0.1), abs=1e-6)
    (found,) = Locator(nearer=0.5).locate(boxes(box), depth, CAMERA)
    assert found[0] > 5.0


def test_of_whom_no_depth_is_seen_nothing_is_told():
    depth = np.full((ROWS, COLUMNS), 3.0)
    near, far = (10, 20, 30, 80), (100, 20, 120, 80)
    for unknown in (0.0, np.nan, np.inf, -1.0, 9.0):
        depth[:, 90:] = unknown
        assert len(Locator().locate(boxes(near, far), depth, CAMERA)) == 1
    depth[:, 90:] = np.nan
    depth[40:44, 105:107] = 3.0  # 8 of 10 x 30 px
    assert len(Locator().locate(boxes(far), depth, CAMERA)) == 0
    assert len(Locator(least=0.02).locate(boxes(far), depth, CAMERA)) == 1
    assert Locator().locate(boxes(), depth, CAMERA).shape == (0, 3)


def test_a_box_at_the_rim_of_the_image_or_of_no_size_is_looked_at_where_there_are_pixels():
    depth = np.full((ROWS, COLUMNS), 3.0)
    assert len(Locator().locate(boxes((0, 0, 0, 0), (159.4, 90, 160, 96), (160, 96, 160, 96)), depth, CAMERA)) == 2


def test_who_walks_through_the_view_is_followed_in_the_map_while_the_robot_turns_and_drives(tmp_path):
    tracker = ImageTracker(ImageDetector(write_model(tmp_path / "windows.onnx"), confidence=0.3), CAMERA)
    velocity, dt, identities = np.array([-0.3, 0.6]), 0.1, set()
    for step in range(18):
        pose = np.array([4.2 + 0.04 * step, -1.3 + 0.02 * step, 2.2 + 0.01 * step])
        place = np.array([2.6, 0.4]) + velocity * step * dt
        cosine, sine = math.cos(pose[2]), math.sin(pose[2])
        dx, dy = place - pose[:2]
        tracks = tracker.see(*view([(cosine * dx + sine * dy, cosine * dy - sine * dx)]), pose, dt if step else 0.0)
        assert len(tracker.boxes.corners) == 1
        if step >= 1:
            assert tracks.present.sum() == 1
            identities |= set(tracks.id[tracks.present].tolist())
    assert len(identities) == 1
    assert tracks.position[tracks.present][0] == pytest.approx(place, abs=0.1)
    assert tracks.velocity[tracks.present][0] == pytest.approx(velocity, abs=0.2)
    told = tracker.tell(0.5).position[tracks.present][0]
    assert told == pytest.approx(place + 0.5 * velocity, abs=0.2)


def test_two_who_stand_apart_are_two_and_one_who_goes_is_forgotten_after_a_while(tmp_path):
    tracker = ImageTracker(ImageDetector(write_model(tmp_path / "windows.onnx"), confidence=0.3), CAMERA, tracker=Tracker(keep=0.5))
    both = [(2.9, 0.1), (3.4, -1.9)]
    for step in range(3):
        tracks = tracker.see(*view(both), np.zeros(3), 0.1 if step else 0.0)
    places = tracks.position[tracks.present]
    assert places[np.argsort(-places[:, 1])] == pytest.approx(np.array(both), abs=0.08)
    kept = [tracker.see(*view(both[:1]), np.zeros(3), 0.1).present.sum() for _ in range(8)]
    assert kept[:4] == [2, 2, 2, 2]
    assert kept[-1] == 1
    tracker.forget()
    assert tracker.tell(0.0).present.sum() == 0


def test_more_people_than_there_are_tracks_are_not_written_beyond_them():
    class Many:
        def detect(self, image):
            return boxes(*((x, 10, x + 6, 80) for x in range(0, 150, 16)))

    tracker = ImageTracker(Many(), CAMERA, tracker=Tracker(most=5, confirm=1))
    tracks = tracker.see(np.zeros((ROWS, COLUMNS, 3), np.uint8), np.full((ROWS, COLUMNS), 3.0), np.zeros(3), 0.0)
    assert tracks.present.sum() == 5


def test_a_depth_image_of_another_size_is_refused(tmp_path):
    tracker = ImageTracker(ImageDetector(tmp_path / "never read"), CAMERA)
    with pytest.raises(InputError, match=r"depth: expected \(96, 160\), the size of the image, got \(48, 80\)"):
        tracker.see(np.zeros((96, 160, 3), np.uint8), np.zeros((48, 80)), np.zeros(3), 0.0)


def test_parameters_that_make_no_sense_are_refused():
    for name, value in {"core": 0.0, "least": 1.5, "reach": -1.0, "half_body": math.nan, "noise": -0.1, "deviation": 0.0}.items():
        with pytest.raises(ValueError, match=name):
            Locator(**{name: value})
