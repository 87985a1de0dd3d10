"""The image tracker on a real roscore: images with depth in, pedestrians in the map out, and a line for what is left out."""

from __future__ import annotations

import numpy as np
import pytest
import rospy
from agora_navigation.messages import from_depth, from_image
from geometry_msgs.msg import TransformStamped
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, Image
from tests.perception.models import write_model
from tests.perception.test_image_tracker import CAMERA, COLUMNS, ROWS, view
from tf2_msgs.msg import TFMessage

from agora.errors import InputError
from agora.perception.image_tracker import ImageTracker
from agora.perception.images import ImageDetector
from agora_msgs.msg import Pedestrians

FRAME = "eye_optical"
SENSE = {"confidence": 0.3}


def image_of(pixels, encoding, stamp=0.0, extra=0, big=False):
    """A message whose rows have ``extra`` bytes at their ends."""
    rows = np.ascontiguousarray(pixels).view(np.uint8).reshape(len(pixels), -1)
    padded = np.pad(rows, ((0, 0), (0, extra)), constant_values=77)
    height, width = pixels.shape[:2]
    message = Image(height=height, width=width, encoding=encoding, is_bigendian=big, step=padded.shape[1], data=padded.tobytes())
    message.header.stamp, message.header.frame_id = rospy.Time.from_sec(stamp), FRAME
    return message


def optical(camera, stamp):
    """The transform of a camera's optical frame, whose mount is on the map."""
    m = camera.rotation()
    w = np.sqrt(1.0 + np.trace(m)) / 2
    x, y, z = np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]) / (4 * w)
    made = TransformStamped(child_frame_id=FRAME)
    made.header.frame_id, made.header.stamp = "map", rospy.Time.from_sec(stamp)
    t, r = made.transform.translation, made.transform.rotation
    (t.x, t.y, t.z), (r.x, r.y, r.z, r.w) = (camera.x, camera.y, camera.z), (x, y, z, w)
    return made


class Eye:
    """Plays a camera: a clock, its frame, images of people at places in the map."""

    def __init__(self, graph, **parameters):
        self.node = graph.launch("agora_navigation", "image_tracker", "image_tracker", detector=SENSE, **parameters)
        self.people = graph.hear("pedsim_simulator/pedestrians", Pedestrians)
        self.clock, self.frames = graph.publisher("/clock", Clock), graph.publisher("/tf", TFMessage)
        self.images, self.depths = graph.publisher("image", Image), graph.publisher("depth", Image)
        lens = CameraInfo(height=ROWS, width=COLUMNS)
        lens.P = [CAMERA.fx, 0, CAMERA.cx, 0, 0, CAMERA.fy, CAMERA.cy, 0, 0, 0, 1, 0]
        graph.publisher("camera_info", CameraInfo, latch=True).publish(lens)
        graph.heard_from("image_tracker", self.people.topic)

    def see(self, places, time, unit="16UC1"):
        """Publish what is seen at a moment; the message that answers."""
        image, depth = view(places)
        self.clock.publish(Clock(rospy.Time.from_sec(time)))
        self.frames.publish(TFMessage([optical(CAMERA, time)]))
        before = len(self.people)
        pixels = np.round(depth * 1000).astype(np.uint16) if unit == "16UC1" else depth.astype(np.float32)
        self.depths.publish(image_of(pixels, unit, time + 0.004))
        self.images.publish(image_of(image[..., ::-1], "bgr8", time, extra=3))
        return self.people.wait(before + 1)[before]


@pytest.fixture
def model(tmp_path):
    return write_model(tmp_path / "people.onnx")


def test_people_in_front_of_the_camera_are_published_as_the_library_tracks_them(graph, model):
    eye, own = Eye(graph, file=str(model)), ImageTracker(ImageDetector(model, **SENSE), CAMERA)
    for step in range(8):
        places = [(2.9 - 0.03 * step, 0.1 + 0.02 * step), (3.4, -1.9)]
        message = eye.see(places, 10.0 + 0.1 * step, unit="32FC1")
        image, depth = view(places)
        tracks = own.see(image, depth.astype(np.float32), np.zeros(3), 0.1 if step else 0.0)
        who = tracks.present[0]
        assert list(message.id) == tracks.id[0, who].tolist()
        for name, expected in zip(
            ["x", "y", "vx", "vy"], np.hstack((tracks.position[0, who], tracks.velocity[0, who])).T, strict=True
        ):
            assert getattr(message, name) == pytest.approx(expected.tolist(), abs=2e-3)  # rows of a rotation, there and back
        assert message.header.frame_id == "map"
        assert message.header.stamp.to_sec() == pytest.approx(10.0 + 0.1 * step)
    assert len(message.id) == 2
    assert message.x[0] == pytest.approx(places[0][0], abs=0.08)
    assert message.vx[0] == pytest.approx(-0.3, abs=0.15)


def test_depth_in_millimetres_and_who_is_not_there_any_more(graph, model):
    eye = Eye(graph, file=str(model), tracker={"keep": 0.2})
    for step in range(3):
        message = eye.see([(3.0, -0.5)], 5.0 + 0.1 * step)
    assert (message.x[0], message.y[0]) == pytest.approx((3.0, -0.5), abs=0.08)
    assert bytes(message.present) == b"\x01"
    for step in range(3, 8):
        message = eye.see([], 5.0 + 0.1 * step)
    assert len(message.id) == 0


def test_what_keeps_images_from_being_used_is_said(graph, model, wait_until):
    eye = Eye(graph, file=str(model))
    eye.clock.publish(Clock(rospy.Time.from_sec(20.0)))
    eye.images.publish(image_of(np.zeros((ROWS, COLUMNS, 3), np.uint8), "rgb8", 20.0))
    wait_until(lambda: "no depth image within 0.03 s" in eye.node.log, "a line about the depth")
    eye.depths.publish(image_of(np.zeros((ROWS, COLUMNS), np.uint16), "16UC1", 20.0))
    wait_until(lambda: "an image is skipped" in eye.node.log, "a line about the transform")
    eye.frames.publish(TFMessage([optical(CAMERA, 20.0)]))
    eye.people.wait(1)
    eye.frames.publish(TFMessage([optical(CAMERA, 21.0)]))
    eye.depths.publish(image_of(np.zeros((ROWS, COLUMNS), np.uint16), "16UC1", 21.0))
    eye.images.publish(image_of(np.zeros((ROWS, COLUMNS), np.uint8), "bayer_rggb8", 21.0))
    wait_until(lambda: "expected the encoding rgb8, bgr8, rgba8, bgra8, mono8, got 'bayer_rggb8'" in eye.node.log, "a line")
    assert len(eye.see([(3.0, 0.0)], 22.0).id) == 0  # it goes on: somebody new is believed at the second look
    assert len(eye.see([(3.0, 0.0)], 22.1).id) == 1


def test_a_clock_that_jumps_back_makes_it_forget(graph, model, wait_until):
    eye = Eye(graph, file=str(model), tracker={"confirm": 1})
    first = eye.see([(3.0, 0.0)], 30.0)
    again = eye.see([(3.0, 0.0)], 2.0)
    eye.node.said("jumped back")
    assert list(first.id) == [1]
    assert list(again.id) == [1]
    assert again.vx == pytest.approx([0.0])


def test_a_wrong_model_or_parameter_is_said_and_waited_for(graph, model, tmp_path, wait_until):
    (tmp_path / "poem.onnx").write_text("not a model")
    node = graph.launch("agora_navigation", "image_tracker", "image_tracker", file=str(tmp_path / "poem.onnx"))
    wait_until(lambda: "poem.onnx: not a valid ONNX model" in node.log, "a line about the file")
    graph.param("image_tracker/file", str(model))
    graph.param("image_tracker/detector", {"confidance": 0.5})
    wait_until(lambda: "confidance: unknown key; did you mean 'confidence'?" in node.log, "a line about the parameter")
    graph.param("image_tracker/detector", {"confidence": 0.5})
    graph.publisher("image", Image)
    assert node.running


@pytest.mark.parametrize(
    ("encoding", "order"), [("rgb8", [0, 1, 2]), ("bgr8", [2, 1, 0]), ("rgba8", [0, 1, 2, 0]), ("bgra8", [2, 1, 0, 0])]
)
@pytest.mark.parametrize("extra", [0, 5])
def test_images_of_every_encoding_are_the_same_image(encoding, order, extra):
    pixels = np.random.default_rng(1).integers(0, 256, (7, 11, 3), np.uint8)
    assert (from_image(image_of(pixels[..., order], encoding, extra=extra)) == pixels).all()


def test_a_grey_image_has_three_equal_colours():
    pixels = np.random.default_rng(2).integers(0, 256, (7, 11), np.uint8)
    assert (from_image(image_of(pixels, "mono8")) == pixels[..., None]).all()


@pytest.mark.parametrize("big", [False, True])
def test_depths_are_metres_in_either_order_of_bytes(big):
    depth = np.random.default_rng(3).uniform(0.3, 9.0, (5, 9)).astype(np.float32)
    depth[2, 3] = np.nan
    order = ">" if big else "<"
    metres = from_depth(image_of(depth.astype(order + "f4"), "32FC1", extra=2, big=big))
    assert np.array_equal(metres, depth, equal_nan=True)
    millimetres = np.round(np.nan_to_num(depth) * 1000).astype(order + "u2")
    assert from_depth(image_of(millimetres, "16UC1", big=big)) == pytest.approx(np.nan_to_num(depth), abs=6e-4)


def test_images_that_are_not_whole_are_refused():
    message = image_of(np.zeros((4, 5, 3), np.uint8), "rgb8")
    message.data = message.data[:-1]
    with pytest.raises(InputError, match="image: expected 4 rows of 5 px of rgb8 in 15 bytes, got 59 bytes"):
        from_image(message)
    with pytest.raises(InputError, match="got 0 bytes"):
        from_image(Image(encoding="rgb8"))
    with pytest.raises(InputError, match="depth: expected the encoding 32FC1, 16UC1, mono16, got 'rgb8'"):
        from_depth(image_of(np.zeros((4, 5, 3), np.uint8), "rgb8"))
