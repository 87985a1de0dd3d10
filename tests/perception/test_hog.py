"""People in images by OpenCV's detector, by the network for rendered people, and by ONNX models, against the true boxes."""

from __future__ import annotations

import sys
import types
from dataclasses import replace

import numpy as np
import pytest
from tests.perception.models import CELL, WIDTH, write_model
from tests.starts import DISC, people, start

from agora.channels.camera import Camera
from agora.engine.observe import Observer
from agora.engine.wiring import Wiring
from agora.errors import InputError
from agora.interfaces import Setting
from agora.maps.grid import Map
from agora.perception.hog import HogDetector
from agora.perception.image_tracker import ImageTracker, Locator
from agora.perception.images import ImageDetector
from agora.perception.scores import shares, true_boxes, whose
from agora.rendering.scene import CLASSES
from agora.share import named_file
from agora.world.world import World

CAMERA = Camera(what=("rgb", "depth", "segmentation"), width=320, height=240, view=1.1, x=0.1, z=0.9)
APART = ((3.7, 0.85), (4.4, -0.9))  # m ahead and to the left


def trained():
    return ImageDetector(named_file("perception", "rendered_people", ".onnx"))


DETECTORS = (HogDetector, trained)


def seen(places=APART, camera=CAMERA, pose=(0.3, -0.2, 0.4)):
    """What a robot at a crooked pose sees of people at places in its frame, and their places in the map."""
    cosine, sine = np.cos(pose[2]), np.sin(pose[2])
    there = np.reshape(places, (-1, 2)) @ [[cosine, sine], [-sine, cosine]] + pose[:2]
    crowd = people(there, there, speed=0.0) if len(there) else None
    walls = [[-6.0, 5.0, 6.0, 5.2], [6.0, -4.0, 6.1, 5.0]]
    place = Map.from_shapes(segments=walls, bounds=(-7.0, -5.0, 7.0, 6.0), name="hall")
    begun = start(pose=pose, crowd=crowd, place=place)
    world = World.of([begun], dt=0.1)
    observer = Observer(world, Wiring.of((camera,), Setting()), 0.1)
    world.reset(0, begun)
    observer.place(0, 0, DISC)
    observer.measure()
    return {name: array[0] for name, array in observer.observe().sensors["camera"].items()}, there


def truth(images):
    return true_boxes(images["instance"], images["segmentation"] == CLASSES.index("person"))


@pytest.fixture(scope="module")
def two():
    return seen()


def test_the_true_boxes_are_those_of_the_people_whom_the_image_shows(two):
    images, _ = two
    ids, corners, pixels = truth(images)
    assert ids.tolist() == [11, 12] and (pixels > 500).all()
    optics = CAMERA.pinhole
    for (ahead, left), box in zip(APART, corners, strict=True):
        away = ahead - CAMERA.x
        assert (box[0] + box[2]) / 2 - 0.5 == pytest.approx(optics.cx - optics.fx * left / away, abs=12.0)
        assert box[3] - 0.5 == pytest.approx(optics.cy + optics.fy * CAMERA.z / away, abs=8.0)  # feet are on the ground


@pytest.mark.parametrize("made", DETECTORS)
def test_people_who_are_whole_are_found_where_they_are(two, made):
    images, _ = two
    boxes = made().detect(images["rgb"])
    assert sorted(whose(boxes.corners, truth(images)[1]).tolist()) == [0, 1]
    assert (np.diff(boxes.confidence) <= 0.0).all() and (boxes.confidence <= 1.0).all()


@pytest.mark.parametrize("made", DETECTORS)
def test_who_is_found_is_placed_by_the_depth_where_they_stand(two, made):
    images, there = two
    pose = np.array([0.3, -0.2, 0.4])
    tracker = ImageTracker(made(), CAMERA.pinhole, Locator())
    for dt in (0.0, 0.1, 0.1):
        tracks = tracker.see(images["rgb"], images["depth"], pose, dt)
    places = tracks.position[tracks.present]
    assert len(places) == 2
    apart = np.hypot(*(places[:, None] - there[None]).transpose(2, 0, 1))
    assert (apart.min(0) < 0.25).all()


def test_what_a_model_of_onnx_finds_in_a_rendered_frame_is_placed_where_the_person_stands(two, tmp_path):
    images, _ = two
    ids, corners, _ = truth(images)
    left, top, right, bottom = corners[ids == 12][0].astype(int)
    rgb = images["rgb"] // 8
    rgb[top:bottom, left:right] = (255, 0, 0)  # the model of the tests knows red windows, here as wide as the true box
    shrink = WIDTH / (right - left)
    size = {"rows": CELL * round(CAMERA.height * shrink / CELL), "columns": CELL * round(CAMERA.width * shrink / CELL)}
    boxes = ImageDetector(write_model(tmp_path / "red.onnx", **size), confidence=0.3).detect(rgb)
    assert whose(boxes.corners, corners, 0.3).max() == 1
    (found,) = Locator().locate(boxes.at(np.arange(1)), images["depth"], CAMERA.pinhole)
    assert found[:2] == pytest.approx(APART[1], abs=0.25)


@pytest.mark.parametrize("made", DETECTORS)
def test_nobody_is_found_where_nobody_is_or_nothing_is_seen(made, rng):
    images, _ = seen(())
    blind = [np.full((240, 320, 3), level, np.uint8) for level in (0, 90, 255)]
    noise = [rng.normal(110.0, spread, (240, 320, 3)).clip(0.0, 255.0).astype(np.uint8) for spread in (15.0, 150.0)]
    for image in (images["rgb"], *blind, *noise):
        assert made().detect(image).corners.shape == (0, 4)


def test_the_network_says_what_it_was_trained_on_is_small_and_sees_people_whom_the_edge_cuts():
    file = trained().file
    assert file.stat().st_size < 2_000_000
    assert b"rendered people alone" in file.read_bytes()
    images, _ = seen(((1.3, 0.15),))
    ids, corners, _ = truth(images)
    assert ids.tolist() == [11] and corners[0, 3] == CAMERA.height
    assert whose(trained().detect(images["rgb"]).corners, corners).tolist() == [0]


def test_whose_depth_is_not_known_is_not_placed(two):
    tracker = ImageTracker(trained(), CAMERA.pinhole)
    image = two[0]["rgb"]
    for nothing in (np.nan, np.inf, 0.0):
        boxes = tracker.look(image, np.full(image.shape[:2], nothing), (0.0, 0.0, 0.0), 0.1)
        assert len(boxes.corners) > 0 and tracker.detections.count[0] == 0


def test_boxes_do_not_reach_beyond_the_image_and_small_images_show_nobody(two):
    image = two[0]["rgb"]
    cut = image[:, 120:]
    for box in HogDetector(confidence=0.4).detect(cut).corners:
        assert (box >= 0.0).all() and (box <= (cut.shape[1], cut.shape[0]) * 2).all()
    for small in (image[:127], image[:, :63]):
        assert len(HogDetector(confidence=0.0).detect(small).corners) == 0


def test_the_same_image_gives_the_same_boxes_for_any_number_of_threads_and_is_not_written_to(two):
    image = two[0]["rgb"]
    before = image.copy()
    first, second = (HogDetector(confidence=0.3, threads=n).detect(image) for n in (1, 3))
    assert all((a == b).all() for a, b in zip(first, second, strict=True))
    assert (image == before).all()
    assert len(HogDetector(confidence=0.3, most=1).detect(image).corners) == 1


def test_what_is_no_image_is_refused():
    for image in (np.zeros((200, 200)), np.zeros((200, 200, 3)), np.zeros((0, 4, 3), np.uint8)):
        with pytest.raises(InputError, match="image: expected"):
            HogDetector().detect(image)


def test_without_opencv_or_with_one_that_has_no_hog_it_is_said_what_to_do(monkeypatch):
    image = np.zeros((200, 200, 3), np.uint8)
    monkeypatch.setitem(sys.modules, "cv2", types.SimpleNamespace(__version__="5.0.0"))
    with pytest.raises(InputError, match=r"OpenCV 5\.0\.0 has no HOG detector; expected a version below 5"):
        HogDetector().detect(image)
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(InputError, match=r"need the package opencv-python-headless; install it: .*'opencv-python-headless<5,>="):
        HogDetector().detect(image)


@pytest.mark.parametrize(
    "wrong", [{"confidence": 1.2}, {"overlap": -0.1}, {"most": 0}, {"threads": 0}, {"stride": 5}, {"growth": 1.0}]
)
def test_parameters_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        replace(HogDetector(), **wrong)


def test_each_person_has_one_box_the_most_certain_one():
    truth = np.array([[0, 0, 10, 20], [40, 0, 50, 20]])
    found = np.array([[1, 0, 11, 20], [0, 0, 10, 20], [40, 5, 50, 30], [70, 0, 80, 20], [5, 5, 5, 5]])
    assert shares(found[:1], truth)[0] == pytest.approx([9 / 11, 0.0])
    assert whose(found, truth).tolist() == [0, -1, 1, -1, -1]
    assert whose(found, truth, 0.9).tolist() == [-1, 0, -1, -1, -1]
    assert whose(found, np.zeros((0, 4))).tolist() == [-1] * 5
