"""Bodies of robots, and their URDF and SDF, read by other people's parsers."""

from __future__ import annotations

import math
import shutil
import subprocess
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

from agora.optics.lidar import Lidar
from agora.robots.body import body, height_of
from agora.robots.model import RobotModel, load_robot, robot_names
from agora.robots.sdf import sdf
from agora.robots.urdf import urdf

ODD = RobotModel(
    "odd", "differential", 0.6, (-1.0, 1.0), 1.0, base_frame="base_footprint", sensor_frame="eye", height=0.31, mass=23.0,
    footprint=((0.5, 0.0), (0.1, 0.4), (-0.3, 0.2), (-0.35, -0.25), (0.2, -0.3)),
    lidar=Lidar(beams=37, angle_min=-1.1, angle_max=0.7, range_min=0.1, range_max=7.5, x=0.12, y=-0.03, heading=0.4, rate=12.5,
                noise=0.02),
)  # fmt: skip
KITE = RobotModel("kite", "holonomic", 0.7, (-1.0, 1.0), 1.0, vy=0.5, footprint=((0.6, 0.0), (0.0, 0.3), (-0.2, 0.0), (0.0, -0.3)))
MODELS = [*(load_robot(name) for name in robot_names()), ODD, KITE]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)


def compiled(model, *, from_geometry=False):
    text = urdf(model)
    compiler = '<mujoco><compiler discardvisual="true" fusestatic="false" balanceinertia="false" %s/></mujoco>'
    options = compiler % ('inertiafromgeom="true"' if from_geometry else "")
    return mujoco.MjSpec.from_string(text.replace("<link", f"{options}<link", 1)).compile()


def corners_of(part):
    """Corners of a part's bounding box in the robot's frame."""
    half = np.array(part.size) / 2 if part.shape == "box" else np.array([part.size[0], part.size[0], part.size[1] / 2])
    if part.roll:
        half = half[[0, 2, 1]]
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
    c, s = math.cos(part.heading), math.sin(part.heading)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return signs * half @ turn.T + (part.x, part.y, part.z)


def reach(part, direction):
    """Return the reach of a part in a direction of the plane (support function), m."""
    if part.shape == "cylinder" and not part.roll:
        return part.x * direction[0] + part.y * direction[1] + part.size[0]
    return float((corners_of(part)[:, :2] @ direction).max())


def outline_reach(model, direction):
    return float((np.array(model.footprint) @ direction).max()) if model.footprint else model.radius


@every_model
def test_what_touches_is_the_outline_of_the_model_and_reaches_it_in_every_direction(model):
    solid = [part for part in body(model).parts if part.solid]
    for angle in np.linspace(0, 2 * math.pi, 73):
        direction = np.array([math.cos(angle), math.sin(angle)])
        assert max(reach(part, direction) for part in solid) <= outline_reach(model, direction) + 1e-6
    normals = np.linspace(0, 2 * math.pi, 7)
    if model.footprint:
        edges = np.roll(np.array(model.footprint), -1, axis=0) - np.array(model.footprint)
        normals = np.arctan2(-edges[:, 0], edges[:, 1])
    for angle in normals:
        direction = np.array([math.cos(angle), math.sin(angle)])
        assert max(reach(part, direction) for part in solid) == pytest.approx(outline_reach(model, direction), abs=1e-6)


@every_model
def test_a_robot_stands_on_the_ground_and_its_lidar_looks_over_everything_solid(model):
    made = body(model)
    heights = [corners_of(part)[:, 2] for part in made.parts if part.solid]
    assert min(h.min() for h in heights) == pytest.approx(0.0, abs=1e-9)
    assert max(h.max() for h in heights) == pytest.approx(height_of(model))
    assert made.scan_height > height_of(model)


@every_model
def test_mass_centre_and_inertia_are_those_that_mujoco_finds_from_the_shapes(model):
    made, found = body(model), compiled(model, from_geometry=True)
    total = found.body_mass.sum()
    k = int(np.argmax(found.body_mass))
    assert found.body_ipos[k] == pytest.approx(made.centre, abs=1e-6)
    moments = found.body_inertia[k] * made.mass / total
    assert np.sort(moments) == pytest.approx(np.linalg.eigvalsh(made.inertia), rel=1e-5)


@every_model
def test_urdf_carries_mass_and_inertia_that_a_rigid_body_can_have(model):
    made, found = body(model), compiled(model)
    assert found.body_mass.sum() == pytest.approx(made.mass, rel=1e-6)
    a, b, c = np.linalg.eigvalsh(made.inertia)
    assert 0.0 < a <= b <= c < a + b


def test_a_disc_weighs_what_was_said_and_turns_as_a_cylinder_does():
    disc = RobotModel("disc", "legged", 0.4, (-1.0, 1.0), 1.0, height=0.5, mass=30.0)
    made = body(disc)
    assert made.mass == 30.0
    assert made.centre[:2] == pytest.approx([0.0, 0.0], abs=1e-12)
    lower, upper = 0.5 * 30.0 * 0.4**2, 0.5 * 30.0 * (0.85 * 0.4) ** 2
    assert upper * 0.9 < made.inertia[2, 2] < lower


@every_model
def test_urdf_has_the_frames_of_the_model_each_at_its_place(model):
    root = ElementTree.fromstring(urdf(model))
    joints = {j.find("child").get("link"): j for j in root.iter("joint")}
    assert {j.find("parent").get("link") for j in joints.values()} == {model.base_frame}
    assert {link.get("name") for link in root.iter("link")} == {model.base_frame, *joints}
    assert {"base_link", "body"} <= {model.base_frame, *joints}
    if model.lidar:
        origin = joints[model.sensor_frame].find("origin")
        x, y, z = map(float, origin.get("xyz").split())
        assert (x, y) == pytest.approx((model.lidar.x, model.lidar.y))
        assert z == pytest.approx(body(model).scan_height)
        assert float(origin.get("rpy").split()[2]) == pytest.approx(model.lidar.heading)


def test_sdf_names_topics_and_frames_as_the_graph_does_and_has_the_lidar_of_the_model():
    model = ElementTree.fromstring(sdf(ODD, "odd_2", "/sim_1")).find("model")
    assert model.get("name") == "odd_2"
    drive = {leaf.tag: leaf.text for leaf in model.find("plugin")}
    assert drive["robotNamespace"] == "/sim_1/odd_2"
    assert (drive["odometryFrame"], drive["robotBaseFrame"]) == ("sim_1/odd_2/odom", "sim_1/odd_2/base_link")
    sensor = model.find("link/sensor")
    plugin = {leaf.tag: leaf.text for leaf in sensor.find("plugin")}
    assert plugin == {"robotNamespace": "/sim_1/odd_2", "topicName": "scan", "frameName": "odd_2/eye"}
    assert [float(v) for v in sensor.find("pose").text.split()] == pytest.approx([0.12, -0.03, body(ODD).scan_height, 0, 0, 0.4])
    assert float(sensor.find("update_rate").text) == 12.5
    assert float(sensor.find("ray/noise/stddev").text) == 0.02
    beams = sensor.find("ray/scan/horizontal")
    assert (int(beams.find("samples").text), float(beams.find("max_angle").text)) == (37, pytest.approx(0.7))
    assert float(sensor.find("ray/range/max").text) == 7.5


def test_the_last_beam_of_a_full_turn_is_one_short_of_the_first():
    beams = ElementTree.fromstring(sdf(load_robot("burger"))).find(".//horizontal")
    assert float(beams.find("max_angle").text) == pytest.approx(math.pi - 2 * math.pi / 360, abs=1e-6)


def test_robots_without_a_lidar_have_no_sensor():
    assert "sensor" not in sdf(load_robot("crowdnav"))
    assert ElementTree.fromstring(urdf(load_robot("crowdnav"))).find("link[@name='laser']") is None


@pytest.mark.skipif(not shutil.which("check_urdf"), reason="check_urdf is in Debian's liburdfdom-tools")
@every_model
def test_urdfdom_accepts_the_urdf(model, tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(urdf(model))
    done = subprocess.run(["check_urdf", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"root Link: {model.base_frame}" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("ign"), reason="libsdformat's checker is in Debian's libsdformat-dev and ignition-tools")
@pytest.mark.parametrize("model", [load_robot("jackal"), load_robot("f1tenth"), load_robot("go1"), ODD, KITE], ids=lambda m: m.name)
def test_libsdformat_accepts_the_sdf(model, tmp_path):
    path = tmp_path / "robot.sdf"
    path.write_text(sdf(model))
    done = subprocess.run(["ign", "sdf", "--check", path], capture_output=True, text=True, check=False)
    assert "Valid." in done.stdout, done.stdout + done.stderr
