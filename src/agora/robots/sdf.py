"""Robots as SDFormat 1.6 models, for Gazebo 11 with gazebo_ros.

A robot is one rigid link that slides over the ground. As in the other simulators, it moves with exactly the commanded twist,
whatever its wheels are; in Gazebo, the planar_move plugin moves it. Topics and frames are those of the ROS graph
(``src/README.md``): ``<robot>/cmd_vel``, ``<robot>/odom``, ``<robot>/scan``; ``<robot>/odom`` -> ``<robot>/base_link``.
"""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from agora.optics.lidar import Lidar
from agora.robots.body import Body, Part, body
from agora.robots.model import RobotModel

__all__ = ["sdf"]


def sdf(
    model: RobotModel, name: str = "", namespace: str = "", *, topics: str = "", odometry_rate: float = 30.0, timeout: float = 0.5
) -> str:
    """Return the SDF model of a robot, as text.

    Args:
        model: model of the robot.
        name: name of the robot, which must be a valid ROS name: the namespace of its topics and the prefix of its frames; if empty,
            the model's name.
        namespace: namespace of the robot's graph; empty for the root namespace.
        topics: namespace of the robot's topics and odometry frame; if empty, ``<namespace>/<name>``.
        odometry_rate: rate of odometry messages, Hz.
        timeout: time after which a command expires if it is not repeated, s.
    """
    name = name or model.name
    inside = topics.rstrip("/") or f"{namespace.rstrip('/')}/{name}"
    built = body(model)
    root = Xml.Element("sdf", version="1.6")
    robot = Xml.SubElement(root, "model", name=name)
    link = Xml.SubElement(robot, "link", name="base_link")
    _inertial(link, built)
    for k, part in enumerate(built.parts):
        _part(link, k, part)
    if model.lidar:
        _lidar(link, model.lidar, built.scan_height, inside, f"{name}/{model.sensor_frame}")
    plugin = Xml.SubElement(robot, "plugin", name="drive", filename="libgazebo_ros_planar_move.so")
    _leaves(
        plugin, robotNamespace=inside, commandTopic="cmd_vel", odometryTopic="odom", odometryFrame=f"{inside.strip('/')}/odom",
        robotBaseFrame=f"{inside.strip('/')}/base_link", odometryRate=odometry_rate, cmdTimeout=timeout,
    )  # fmt: skip
    Xml.indent(root)
    return '<?xml version="1.0"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _leaves(parent: Xml.Element, **leaves: float | str | tuple[float, ...]) -> None:
    for tag, value in leaves.items():
        values = value if isinstance(value, tuple) else (value,)
        Xml.SubElement(parent, tag).text = " ".join(v if isinstance(v, str) else f"{v:.9g}" for v in values)


def _inertial(link: Xml.Element, built: Body) -> None:
    holder = Xml.SubElement(link, "inertial")
    x, y, z = built.centre.tolist()
    _leaves(holder, pose=(x, y, z, 0.0, 0.0, 0.0), mass=built.mass)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = built.inertia.tolist()
    _leaves(Xml.SubElement(holder, "inertia"), ixx=xx, ixy=xy, ixz=xz, iyy=yy, iyz=yz, izz=zz)


def _part(link: Xml.Element, k: int, part: Part) -> None:
    for tag in ("visual", "collision") if part.solid else ("visual",):
        holder = Xml.SubElement(link, tag, name=f"part_{k}_{tag}")
        _leaves(holder, pose=(part.x, part.y, part.z, part.roll, 0.0, part.heading))
        shape = Xml.SubElement(Xml.SubElement(holder, "geometry"), part.shape)
        if part.shape == "box":
            _leaves(shape, size=part.size)
        else:
            _leaves(shape, radius=part.size[0], length=part.size[1])
        if tag == "visual":
            _leaves(Xml.SubElement(holder, "material"), ambient=(*part.colour, 1.0), diffuse=(*part.colour, 1.0))
        else:  # the robot slides; the plugin moves it
            friction = Xml.SubElement(Xml.SubElement(Xml.SubElement(holder, "surface"), "friction"), "ode")
            _leaves(friction, mu=0.0, mu2=0.0)


def _lidar(link: Xml.Element, lidar: Lidar, z: float, namespace: str, frame: str) -> None:
    sensor = Xml.SubElement(link, "sensor", name="lidar", type="ray")
    _leaves(sensor, pose=(lidar.x, lidar.y, z, 0.0, 0.0, lidar.heading), update_rate=lidar.rate, visualize="false")
    ray = Xml.SubElement(sensor, "ray")
    horizontal = Xml.SubElement(Xml.SubElement(ray, "scan"), "horizontal")
    last = lidar.angle_min + lidar.increment * (lidar.beams - 1)
    _leaves(horizontal, samples=str(lidar.beams), resolution=1.0, min_angle=lidar.angle_min, max_angle=last)
    _leaves(Xml.SubElement(ray, "range"), min=lidar.range_min, max=lidar.range_max, resolution=0.001)
    if lidar.noise:
        _leaves(Xml.SubElement(ray, "noise"), type="gaussian", mean=0.0, stddev=lidar.noise)
    plugin = Xml.SubElement(sensor, "plugin", name="lidar_ros", filename="libgazebo_ros_laser.so")
    _leaves(plugin, robotNamespace=namespace, topicName="scan", frameName=frame)
