"""A robot's camera in a real graph: its images, their projection, its frame and its points, against the scan of the same moment."""

from __future__ import annotations

import numpy as np
import pytest
from agora_ros.conversions import to_episode
from sensor_msgs.msg import CameraInfo, Image, LaserScan, PointCloud2
from std_srvs.srv import Trigger
from tests.starts import start
from tf2_msgs.msg import TFMessage

from agora.config import build
from agora.draft.stage import Stage
from agora.maps.grid import Map
from agora.robots.model import load_robot
from agora_msgs import msg, srv


def test_a_camera_sees_what_the_lidar_sees_at_the_same_moment(graph):
    model = load_robot("jackal_rgbd")
    lens = model.camera.pinhole
    hall = Map.from_shapes(segments=[[3.0, -4.0, 3.0, 4.0]], bounds=(-7.0, -5.0, 7.0, 6.0), name="hall")
    stage = build({"name": "s", "world": {"name": "open"}, "periods": {"physics": 1 / 30, "crowd": 1 / 30}}, Stage)
    begun = start(pose=(0.0, 0.0, 0.0), goal=(2.0, 3.0, 0.0), place=hall, model=model)
    node = graph.launch("agora_simulators", "simulator", "simulator_node", cmd_vel_timeout=10.0)
    fixed = graph.hear("/tf_static", TFMessage)
    answer = graph.call("simulator/begin", srv.BeginEpisode, to_episode(begun, stage, [msg.Robot(name="r 1")], 1))
    assert answer.success, answer.message
    topics = {"color/image_raw": Image, "depth/image_raw": Image, "color/camera_info": CameraInfo, "depth/points": PointCloud2}
    heard = {name: graph.hear(f"r_1/rgbd/{name}", kind) for name, kind in topics.items()} | {
        "scan": graph.hear("r_1/scan", LaserScan)
    }
    for one in heard.values():
        graph.heard_from("simulator_node", one.topic)
    assert graph.call("simulator/resume", Trigger).success
    depth = heard["depth/image_raw"].wait(2)[1]
    color, info, points, scan = (
        heard[name].wait_for(lambda m: m.header.stamp == depth.header.stamp, f"{name} of the same moment\n{node.log}")
        for name in ("color/image_raw", "color/camera_info", "depth/points", "scan")
    )
    assert (color.width, color.height, color.encoding, color.step) == (320, 240, "rgb8", 960)
    assert (depth.width, depth.height, depth.encoding, depth.step) == (320, 240, "32FC1", 1280)
    assert np.ptp(np.frombuffer(color.data, np.uint8)) > 20
    ahead = np.frombuffer(depth.data, np.float32).reshape(240, 320)[120, 160]
    ranged = scan.ranges[round(-scan.angle_min / scan.angle_increment)]
    assert ahead + model.camera.x == pytest.approx(ranged + model.lidar.x, abs=0.05)
    assert (info.width, info.height, info.K[0], info.P[2]) == (320, 240, lens.fx, lens.cx)
    point = np.frombuffer(points.data, np.float32).reshape(240, 320, 4)[20, 30, :3]
    frame = fixed.wait_for(
        lambda m: any(t.child_frame_id == depth.header.frame_id for t in m.transforms), "the frame of the camera"
    )
    turn = next(t for t in frame.transforms if t.child_frame_id == "r_1/camera_optical")
    q, at = turn.transform.rotation, turn.transform.translation
    assert turn.header.frame_id == "r_1/base_link"
    assert (q.x, q.y, q.z, q.w) == pytest.approx((-0.5, 0.5, -0.5, 0.5)) and (at.x, at.z) == pytest.approx((0.2, 0.4))
    assert lens.on_robot(30, 20, point[2]) == pytest.approx((point[2] + at.x, -point[0], at.z - point[1]), abs=1e-4)
