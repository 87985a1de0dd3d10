"""The topics of a robot's camera, named as in RGB-D drivers: images, their projection, and the point cloud computed from the depth
image.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import rospy
from agora_ros.conversions import quaternion
from agora_ros.parameters import queue_size
from geometry_msgs.msg import TransformStamped
from sensor_msgs.msg import CameraInfo, Image, PointCloud2, PointField

from agora.channels.camera import Camera
from agora.core.state import Array
from agora.errors import InputError
from agora.robots.urdf import OPTICAL

_IMAGES = {
    "rgb": ("color", "rgb8"),
    "depth": ("depth", "32FC1"),
    "segmentation": ("segmentation", "mono8"),
    "instance": ("instance", "32SC1"),
}
"""Topic and encoding for the images of each field."""
_QUIET = 30.0  # s between two log lines about a camera that cannot render


class CameraTopics:
    """Publishes the topics of one robot's camera, which takes images only if there are subscribers.

    Args:
        space: namespace of the robot.
        camera: camera of the robot.
    """

    def __init__(self, space: str, camera: Camera) -> None:
        self._space, self._camera, self._frame = space, camera, f"{space}/{OPTICAL}"
        depth, self._images, self._lenses = queue_size(10), dict[str, Any](), dict[str, Any]()
        for field in camera.fields:
            topic = f"{space}/rgbd/{_IMAGES[field][0]}"
            self._images[field] = rospy.Publisher(f"{topic}/image_raw", Image, queue_size=depth, tcp_nodelay=True)
            self._lenses[field] = rospy.Publisher(f"{topic}/camera_info", CameraInfo, queue_size=depth, tcp_nodelay=True)
        self._points = None
        if "depth" in camera.what:
            self._points = rospy.Publisher(f"{space}/rgbd/depth/points", PointCloud2, queue_size=depth, tcp_nodelay=True)

    def frame(self, base: str) -> TransformStamped:
        """Return the transform of the camera's optical frame relative to the robot's base or, for a fixed camera, to the map."""
        camera, frame = self._camera, TransformStamped(child_frame_id=self._frame)
        frame.header.frame_id = "map" if camera.fixed else base
        place = frame.transform.translation
        place.x, place.y, place.z = camera.x, camera.y, camera.z
        roll, pitch, yaw = camera.pinhole.optical_angles
        frame.transform.rotation = quaternion(yaw, pitch, roll)
        return frame

    def show(self, look: Callable[[Camera], Mapping[str, Array]], stamp: Any) -> None:
        """Publish the images that are due, if there are subscribers; ``look`` returns the camera's images."""
        if not any(topic.get_num_connections() for topic in self._topics()):
            return
        try:
            images = look(self._camera)
        except InputError as error:
            rospy.logerr_throttle(_QUIET, f"{self._space}: cannot publish images: {error}")
            return
        for field, image in images.items():
            if self._lenses[field].get_num_connections():
                self._lenses[field].publish(self._headed(self._lens(), stamp))
            if self._images[field].get_num_connections():
                sent = np.where(image > 0.0, image, np.float32("nan")) if field == "depth" else image
                message = Image(encoding=_IMAGES[field][1], step=image.strides[0], data=sent.tobytes())
                self._images[field].publish(self._headed(message, stamp))
        if self._points is not None and images and self._points.get_num_connections():
            self._points.publish(self._headed(self._cloud(images["depth"], images.get("rgb")), stamp))

    def _headed(self, message: Any, stamp: Any) -> Any:
        message.header.stamp, message.header.frame_id = stamp, self._frame
        message.width, message.height = self._camera.width, self._camera.height
        return message

    def _lens(self) -> CameraInfo:
        lens = self._camera.pinhole
        projection = [lens.fx, 0.0, lens.cx, 0.0, 0.0, lens.fy, lens.cy, 0.0, 0.0, 0.0, 1.0, 0.0]
        matrix = [value for k, value in enumerate(projection) if k % 4 < 3]
        return CameraInfo(
            distortion_model="plumb_bob", D=[0.0] * 5, K=matrix, R=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], P=projection
        )

    def _cloud(self, depth: Array, rgb: Array | None) -> PointCloud2:
        """Return a point cloud with the points of a depth image, row by row; points without a reading are NaN."""
        lens, names = self._camera.pinhole, ("x", "y", "z") if rgb is None else ("x", "y", "z", "rgb")
        rows, columns = np.indices(depth.shape, np.float32)
        z = np.where(depth > 0.0, depth, np.float32("nan"))
        cloud = np.empty((*depth.shape, len(names)), np.float32)
        cloud[..., 0], cloud[..., 1] = (columns - lens.cx) / lens.fx * z, (rows - lens.cy) / lens.fy * z
        cloud[..., 2] = z
        if rgb is not None:
            red, green, blue = np.moveaxis(rgb.astype(np.uint32), -1, 0)
            cloud.view(np.uint32)[..., 3] = red << 16 | green << 8 | blue
        fields = [PointField(name, 4 * k, PointField.FLOAT32, 1) for k, name in enumerate(names)]
        size = 4 * len(names)
        return PointCloud2(fields=fields, point_step=size, row_step=size * depth.shape[1], data=cloud.tobytes())

    def _topics(self) -> list[Any]:
        own = [*self._images.values(), *self._lenses.values()]
        return own if self._points is None else [*own, self._points]

    def close(self) -> None:
        """Unregister the topics."""
        for topic in self._topics():
            topic.unregister()
