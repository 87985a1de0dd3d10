"""Files for simulators: MuJoCo's rays end where the lidar's do, SDF and Unity hold what stands in the place."""

from __future__ import annotations

import json
import math
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.places import CONCAVE, FURNITURE, furnished, rooms, shaped, turned

from agora.core import state
from agora.errors import UnknownNameError
from agora.maps.furniture import Box, Furniture
from agora.maps.store import build_store
from agora.maps.world3d.export import KINDS, export
from agora.maps.world3d.mjcf import mjcf
from agora.maps.world3d.sdf import sdf
from agora.maps.world3d.solids import SolidGroup, Solids, solids
from agora.maps.world3d.unity import unity
from agora.optics.lidar import Lidar

PLACES = [(-0.7, 4.63, 0.31), (1.23, 8.9, -2.2), (4.44, 7.21, 1.9), (8.9, 2.6, 3.0)]


def lidar_ranges(m, lidar):
    """Ranges (K, B) of the lidar on robots of no radius at `PLACES`."""
    people, traits = state.pedestrians(1, 16), state.traits(1, 16)
    robots, robot_traits = state.robots(1, len(PLACES)), state.robot_traits(1, len(PLACES), 0)
    robots.x[:], robots.y[:], robots.heading[:] = np.array(PLACES, np.float32).T
    robots.active[:] = True
    robot_traits.radius[:] = 1e-3
    out = np.full((1, len(PLACES), lidar.beams), np.nan, np.float32)
    lidar.bind(people, traits, robots, robot_traits, build_store([m], [0]), out)(0, 1)
    return out[0].astype(float)


def mujoco_ranges(text, lidar, height):
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data)
    assert data.time > 0
    rows = []
    for x, y, heading in PLACES:
        angles = heading + lidar.angle_min + lidar.increment * np.arange(lidar.beams)
        hits = [
            mujoco.mj_ray(model, data, np.array([x, y, height]), np.array([math.cos(a), math.sin(a), 0.0]), None, 1, -1, None)
            for a in angles
        ]
        rows.append(np.where(np.array(hits) < 0, lidar.range_max, np.minimum(hits, lidar.range_max)))
    return np.array(rows)


LIDAR = Lidar(beams=181, angle_min=-math.pi, angle_max=3.1, range_max=20.0)


@pytest.mark.parametrize(("place", "slack"), [(furnished(exact=True), 2e-3), (shaped(), 2e-3)], ids=["furniture", "shapes"])
def test_rays_in_mujoco_end_where_the_lidar_sees_walls_and_furniture(place, slack):
    ours, theirs = lidar_ranges(place.map, LIDAR), mujoco_ranges(mjcf(solids(place, thickness=1e-3)), LIDAR, 0.3)
    off = np.abs(ours - theirs) > slack
    assert off.mean() < 0.005  # rays that graze a corner may pass it on the one side or the other
    assert ours.min() < 1.0 and ours.max() > 5.0


def test_rays_in_mujoco_meet_furniture_within_the_cells_that_it_occupies():
    place = furnished()
    ours, theirs = lidar_ranges(place.map, LIDAR), mujoco_ranges(mjcf(solids(place)), LIDAR, 0.3)
    assert (theirs > ours - 2e-3).all()  # a cell is occupied where furniture covers any of it
    angles = np.array(PLACES)[:, 2:] + LIDAR.angle_min + LIDAR.increment * np.arange(LIDAR.beams)
    ends = np.array(PLACES)[:, None, :2] + theirs[..., None] * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    assert place.map.gap(ends.reshape(-1, 2)).max() < 1e-6
    assert np.median(np.abs(theirs - ours)) < 1e-3 and np.quantile(theirs - ours, 0.95) < 0.15


def test_above_a_table_there_is_no_table():
    text = mjcf(solids(furnished()))
    low, high = (mujoco_ranges(text, Lidar(beams=720, angle_min=-math.pi, angle_max=3.13), z) for z in (0.3, 1.2))
    assert (high[0] > low[0] + 0.5).sum() > 20


def test_sdf_has_ground_sun_walls_and_each_piece_of_furniture_as_a_static_model():
    place = furnished()
    root = ElementTree.fromstring(sdf(solids(place, height=2.2)))
    assert (root.tag, root.get("version")) == ("sdf", "1.6")
    (world,) = root
    models = {model.get("name"): model for model in world.findall("model")}
    assert list(models) == ["ground_plane", "walls", "chair_0", "table_0", "shelf_0", "tree_0", "chair_1"]
    assert all(model.findtext("static") == "true" for model in models.values())
    assert world.find("light").get("type") == "directional"
    assert not root.findall(".//uri")
    for model in models.values():
        names = [part.get("name") for part in model.find("link") if part.tag in ("collision", "visual")]
        assert len(names) == len(set(names)) and len(model.findall("link/collision")) == len(model.findall("link/visual"))
    sizes = [list(map(float, e.text.split())) for e in models["walls"].findall("link/collision/geometry/box/size")]
    assert sum(x * y for x, y, _ in sizes) == pytest.approx(0.01 * rooms().occupied.sum())
    assert {z for _, _, z in sizes} == {2.2}
    assert {e.text.split()[2] for e in models["walls"].findall("link/collision/pose")} == {"1.1"}
    pose = list(map(float, models["shelf_0"].findtext("pose").split()))
    assert pose == pytest.approx([-1.5, 6.0, 0.0, 0.0, 0.0, 2.0])
    assert models["table_0"].findtext("link/collision/geometry/cylinder/radius") == "0.5"


def test_sdf_has_segments_at_their_heading_and_concave_polygons_as_polylines():
    root = ElementTree.fromstring(sdf(solids(shaped())))
    poses = {
        c.get("name"): list(map(float, c.findtext("pose").split())) for c in root.iter("collision") if c.find("pose") is not None
    }
    assert poses["segment_0_0_collision"] == pytest.approx([-1.0, 8.7, 1.25, 0.0, 0.0, math.atan2(1.4, 2.0)])
    points = [list(map(float, e.text.split())) for e in root.find(".//collision/geometry/polyline").findall("point")]
    np.testing.assert_allclose(np.array(points) + poses["polygon_0_0_collision"][:2], CONCAVE, atol=1e-6)
    assert poses["polygon_0_0_collision"][2] == 0.0


def test_a_part_beside_the_middle_of_a_turned_wall_is_turned_with_it_in_sdf():
    wall = SolidGroup("w", 1.0, 2.0, 0.5, (Box(0.3, -0.4, 0.0, 1.0, 0.2, 2.0),))
    root = ElementTree.fromstring(sdf(Solids("one", (0.0, 0.0, 4.0, 3.0), (wall,), (), 0, 0)))
    pose = list(map(float, root.findtext(".//link/collision[@name='w_0_collision']/pose").split()))
    x, y = turned(Furniture("chair", 1.0, 2.0, 0.5), 0.3, -0.4)
    assert pose == pytest.approx([x, y, 1.0, 0.0, 0.0, 0.5])


def test_unity_has_x_to_the_right_y_up_and_yaw_clockwise():
    scene = json.loads(unity(solids(furnished())))
    assert [thing["name"] for thing in scene["furniture"]] == ["chair_0", "table_0", "shelf_0", "tree_0", "chair_1"]
    shelf, piece = scene["furniture"][2], FURNITURE[2]
    assert (shelf["model"], shelf["position"], shelf["yaw"]) == ("shelf", [-6.0, 0.0, -1.5], pytest.approx(-math.degrees(2.0)))
    (part,) = shelf["parts"]
    assert (part["size"], part["position"]) == ([0.5, 2.0, 1.8], [0.0, 1.0, 0.0])
    # a corner of the box, turned clockwise seen from above, as Unity turns: x' = x cos + z sin, z' = z cos - x sin
    yaw, (right, _, forward) = math.radians(shelf["yaw"]), (-0.25, 0.0, 0.9)
    x = shelf["position"][0] + right * math.cos(yaw) + forward * math.sin(yaw)
    z = shelf["position"][2] + forward * math.cos(yaw) - right * math.sin(yaw)
    assert (z, -x) == pytest.approx(turned(piece, 0.9, 0.25))
    prism = json.loads(unity(solids(shaped())))["walls"][-1]
    there = [(-x + -prism["position"][0], z + prism["position"][2]) for x, z in prism["parts"][0]["outline"]]
    np.testing.assert_allclose([(x, y) for y, x in there], CONCAVE, atol=1e-9)


def test_files_of_every_kind_are_written_the_same_each_time_and_unknown_kinds_are_refused(tmp_path):
    made = solids(furnished())
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    paths = export(made, tmp_path / "a", KINDS)
    assert [path.name for path in paths] == ["den.world", "den.xml", "den.glb", "den.obj", "den.mtl", "den.unity.json"]
    again = export(solids(furnished()), tmp_path / "b", KINDS)
    assert [path.read_bytes() for path in paths] == [path.read_bytes() for path in again]
    with pytest.raises(UnknownNameError, match="did you mean 'mjcf'"):
        export(made, tmp_path, ["glb", "mjfc"])
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b"}
