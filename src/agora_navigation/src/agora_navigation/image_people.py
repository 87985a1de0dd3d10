"""The image tracker node, which receives colour and depth images and publishes pedestrians."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import rospy
import tf2_ros
from agora_ros.conversions import to_pedestrians
from sensor_msgs.msg import CameraInfo, Image

from agora.config import build
from agora.core import state
from agora.core.state import Doubles
from agora.errors import AgoraError, InputError
from agora.interfaces import Tracks
from agora.optics.camera import Camera
from agora.perception.image_tracker import ImageTracker, Locator
from agora.perception.images import ImageDetector
from agora.perception.tracker import Tracker
from agora_msgs.msg import Pedestrians
from agora_navigation.messages import from_depth, from_image

_KEPT = 8  # number of images of each kind kept while waiting for the matching image and the transform
_OLDEST = 1.0  # s, maximum time over which people are extrapolated since an image
_WAKE = 0.02  # s between two checks for new messages
_QUIET = 5.0  # s of ROS time between two identical log lines


class ImagePeople:
    """The image tracker node: callbacks only store messages, and `spin` processes them."""

    def __init__(self) -> None:
        get = rospy.get_param
        file = str(get("~file", ""))
        if not file:
            raise InputError("~file: expected a model of the YOLO family in an ONNX file, got nothing")
        detector = build({**get("~detector", {}), "file": file}, ImageDetector, "~detector")
        locator, tracker = build(get("~locator", {}), Locator, "~locator"), build(get("~tracker", {}), Tracker, "~tracker")
        self._apart = float(get("~apart", 0.03))
        detector.model  # noqa: B018 a wrong file is said before anything is waited for
        self._tracker = ImageTracker(detector, Camera(1.0, 1.0, 0.0, 0.0), locator, tracker)
        self._images: deque[Any] = deque(maxlen=_KEPT)
        self._depths: deque[Any] = deque(maxlen=_KEPT)
        self._lenses: deque[Any] = deque(maxlen=1)
        self._seen = -np.inf
        self._changed = threading.Condition()
        self._frames = tf2_ros.Buffer(rospy.Duration(10.0))
        self._listener = tf2_ros.TransformListener(self._frames, queue_size=10, tcp_nodelay=True)
        self._people = rospy.Publisher("pedsim_simulator/pedestrians", Pedestrians, queue_size=1, tcp_nodelay=True)
        for topic, kind, kept in (
            ("image", Image, self._images),
            ("depth", Image, self._depths),
            ("camera_info", CameraInfo, self._lenses),
        ):
            rospy.Subscriber(topic, kind, self._store(kept), queue_size=2, tcp_nodelay=True, buff_size=2**25)

    def _store(self, kept: deque[Any]) -> Callable[[Any], None]:
        def store(message: Any) -> None:
            with self._changed:
                kept.append(message)
                self._changed.notify_all()

        return store

    def spin(self) -> None:
        """Process messages until the node shuts down."""
        while not rospy.is_shutdown():
            with self._changed:
                self._changed.wait(_WAKE)
                chosen = self._choose()
            if chosen is None:
                continue
            try:
                self._take(*chosen)
            except AgoraError as error:
                rospy.logwarn_throttle(_QUIET, str(error))

    def _choose(self) -> tuple[Any, Any, Any] | None:
        """Return the newest image for which depth image and transform have arrived, together with these; drop older images."""
        if self._images and self._images[-1].header.stamp.to_sec() < self._seen:
            self._seen = -np.inf
            self._tracker.forget()
            rospy.logwarn("the timestamps of the images jumped back: all tracks are cleared")
        for image in reversed(self._images):
            if (stamp := image.header.stamp.to_sec()) <= self._seen:
                break
            depth = min(self._depths, key=lambda d, s=stamp: abs(d.header.stamp.to_sec() - s), default=None)
            if depth is None or abs(depth.header.stamp.to_sec() - stamp) > self._apart:
                rospy.logwarn_throttle(_QUIET, f"no depth image within {self._apart:g} s of an image: the image is skipped")
                continue
            if not self._lenses:
                rospy.logwarn_throttle(_QUIET, "no camera_info: images are skipped")
                return None
            try:
                return image, depth, self._frames.lookup_transform("map", image.header.frame_id.lstrip("/"), image.header.stamp)
            except tf2_ros.TransformException as error:
                rospy.logwarn_throttle(_QUIET, f"an image is skipped: {error}")
        return None

    def _take(self, image: Any, depth: Any, transform: Any) -> None:
        """Detect and track people, and publish their current positions."""
        stamp, before = image.header.stamp.to_sec(), self._seen
        self._seen = stamp
        self._tracker.camera = _camera(self._lenses[-1], image, transform.transform)
        self._tracker.see(from_image(image), from_depth(depth), np.zeros(3), stamp - before if np.isfinite(before) else 0.0)
        age = min(max(rospy.get_time() - stamp, 0.0), _OLDEST)
        message = _people(self._tracker.tell(age))
        message.header.frame_id, message.header.stamp = "map", rospy.Time.from_sec(stamp + age)
        self._people.publish(message)


def _camera(lens: Any, image: Any, optical: Any) -> Camera:
    """Return an image's camera in the map frame, using the rectified projection or, if there is none, the projection of the raw
    image.
    """
    if (lens.height, lens.width) not in ((0, 0), (image.height, image.width)):
        raise InputError(f"camera_info: has {lens.height} x {lens.width} px, but the image has {image.height} x {image.width}")
    fx, cx, fy, cy = (lens.P[0], lens.P[2], lens.P[5], lens.P[6]) if lens.P[0] else (lens.K[0], lens.K[2], lens.K[4], lens.K[5])
    at = optical.translation
    return Camera.at(fx, fy, cx, cy, _rotation(optical.rotation), (at.x, at.y, at.z))


def _rotation(q: Any) -> Doubles:
    """Return the rotation matrix (3, 3) of a quaternion."""
    x, y, z, w = np.array((q.x, q.y, q.z, q.w)) / np.sqrt(q.x**2 + q.y**2 + q.z**2 + q.w**2)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def _people(tracks: Tracks) -> Pedestrians:
    """Return the tracked pedestrians as a message."""
    who = np.flatnonzero(tracks.present[0])
    people, traits, minds = state.pedestrians(1, len(who)), state.traits(1, len(who)), state.minds(1, len(who))
    people.x[0], people.y[0] = tracks.position[0, who].T
    people.vx[0], people.vy[0] = tracks.velocity[0, who].T
    people.heading[0] = np.arctan2(people.vy[0], people.vx[0])
    people.active[0], traits.count[0] = True, len(who)
    traits.speed[0] = np.hypot(people.vx[0], people.vy[0])
    traits.radius[0], traits.id[0], traits.group[0] = (array[0, who] for array in (tracks.radius, tracks.id, tracks.group))
    return to_pedestrians(people, traits, minds, 0)
