"""Cameras: the contract, what pixels show, depth against the lidar, noise, rate and latency, and what goes wrong."""

from __future__ import annotations

import json
import math
import threading
from dataclasses import replace

import numpy as np
import pytest
from tests.starts import DISC, people, start

from agora.channels.camera import Camera
from agora.config import parse
from agora.core.state import SOCIAL_STATES
from agora.engine.observe import Observer
from agora.engine.wiring import Wiring
from agora.errors import InputError
from agora.interfaces import Setting
from agora.maps.doors import Door, with_door
from agora.maps.furniture import Furniture
from agora.maps.grid import Map
from agora.rendering import context, view
from agora.rendering.noise import StructuredLight, TimeOfFlight
from agora.rendering.scene import CLASSES
from agora.robots.model import RobotModel
from agora.testing import check_channel
from agora.world.start import RobotStart
from agora.world.world import World

SMALL = Camera(width=64, height=48, what=("rgb", "depth", "segmentation"))
NOTHING, FLOOR, WALL, FURNITURE, PERSON, ROBOT = range(len(CLASSES))
AHEAD = ((3.0, 0.0),)


def hall() -> Map:
    return Map.from_shapes(segments=[[5.0, -4.0, 5.0, 4.0]], bounds=(-7.0, -5.0, 7.0, 6.0), name="hall")


def seen(camera=SMALL, crowd=AHEAD, poses=((0.0, 0.0, 0.0),), worlds=1, dt=0.1, **more):
    """An observer that has measured once, and its world."""
    crowd = people(crowd, np.zeros((len(crowd), 2)), speed=0.0) if len(crowd) else None
    begun = start(crowd=crowd, place=more.pop("place", hall()), **more)
    begun = replace(begun, robots=tuple(RobotStart(DISC, np.array(pose), np.array([[4.0, 3.0, 0.0]])) for pose in poses))
    world = World.of([begun] * worlds, dt=dt)
    observer = Observer(world, Wiring.of((camera,), Setting()), dt)
    for w in range(worlds):
        world.reset(w, begun)
        for r in range(len(poses)):
            observer.place(w, r, DISC)
    observer.measure()
    return observer, world


def images(observer):
    return observer.observe().sensors["camera"]


def test_it_keeps_the_contract_of_channels():
    check_channel(replace(SMALL, what=("depth", "segmentation")))
    check_channel(replace(SMALL, what=("rgb",)), tolerance=2.5)
    check_channel(replace(SMALL, what=("depth",), rate=4.0))


def test_a_person_in_front_is_where_the_pinhole_says():
    found = {name: array[0] for name, array in images(seen()[0]).items()}
    rows, columns = np.nonzero(found["segmentation"] == PERSON)
    pinhole = SMALL.pinhole
    assert abs(columns.mean() - pinhole.cx) < 2.0
    top = pinhole.cy - (1.7 - SMALL.z) / (3.0 - SMALL.x) * pinhole.fy
    assert abs(rows.min() - top) < 4.0
    assert np.abs(found["depth"][rows, columns] - (3.0 - SMALL.x)).max() < 0.5
    assert (found["instance"][rows, columns] == 11).all() and (found["instance"][found["segmentation"] != PERSON] == -1).all()
    assert len(np.unique(found["rgb"][rows, columns], axis=0)) > 4


def test_depths_are_those_of_floor_and_wall():
    found = {name: array[0] for name, array in images(seen(replace(SMALL, pitch=0.2), crowd=())[0]).items()}
    assert set(np.unique(found["segmentation"])) <= {NOTHING, FLOOR, WALL}
    v, u = np.mgrid[:48, :64]
    points = replace(SMALL, pitch=0.2).pinhole.on_robot(u, v, found["depth"])
    floor, wall = (found["segmentation"] == kind for kind in (FLOOR, WALL))
    assert floor.sum() > 500 and np.abs(points[floor][:, 2]).max() < 0.01
    assert wall.sum() > 200 and np.median(np.abs(points[wall][:, 0] - 4.975)) < 0.01
    assert (found["depth"][found["segmentation"] == NOTHING] == 0.0).all()


def test_what_is_too_near_or_too_far_has_no_reading():
    found = images(seen(replace(SMALL, depth_max=3.5))[0])["depth"][0]
    assert found.max() <= 3.5 and (found == 0.0).any()


def test_another_robot_is_seen_and_its_own_body_is_not():
    camera = replace(SMALL, z=0.1, x=0.0)
    found = images(seen(camera, crowd=(), poses=((0.0, 0.0, 0.0), (2.0, 0.0, 1.0)))[0])
    first = found["segmentation"][0] == ROBOT
    assert first.sum() > 20 and (found["instance"][0][first] == 1).all()
    assert not (images(seen(camera, crowd=())[0])["segmentation"] == ROBOT).any()


def test_furniture_is_its_own_class():
    found = images(seen(crowd=(), furniture=(Furniture("table", 3.0, 0.0, 0.3),))[0])
    assert (found["segmentation"] == FURNITURE).sum() > 50


def test_a_camera_in_the_world_sees_the_robot():
    camera = replace(SMALL, fixed=True, x=-3.0, y=0.0, z=2.0, pitch=0.5)
    found = images(seen(camera, crowd=())[0])
    assert (found["instance"][0][found["segmentation"][0] == ROBOT] == 0).sum() > 5


def test_a_camera_inside_a_wall_sees_nothing():
    found = images(seen(crowd=(), poses=((4.9, 0.0, 0.0),))[0])
    assert all((array[0] == (-1 if name == "instance" else 0)).all() for name, array in found.items())


def test_images_do_not_depend_on_the_batch_or_on_threads():
    alone, many = images(seen()[0]), images(seen(worlds=5)[0])
    observer, _ = seen()
    kept = {}
    thread = threading.Thread(target=lambda: (observer.measure(), kept.update(images(observer))))
    thread.start()
    thread.join()
    for name, array in alone.items():
        assert all(np.array_equal(array[0], other) for other in many[name])
        assert np.array_equal(array, kept[name])


def test_images_of_maps_that_are_looked_at_in_turn_are_those_of_each_alone():
    near = Map.from_shapes(segments=[[3.2, -4.0, 3.2, 4.0]], bounds=(-7.0, -5.0, 7.0, 6.0), name="near")
    both = [seen(replace(SMALL, what=("depth",)), crowd=(), place=place) for place in (hall(), near)]
    for x in (0.7, -0.4):
        for (observer, world), wall in zip(both, (4.975, 3.175), strict=True):
            world.robots.x[:] = x
            observer.measure()
            assert np.median(images(observer)["depth"][0, 20]) == pytest.approx(wall - x - SMALL.x, abs=0.05)


def test_people_walk_on_from_image_to_image():
    observer, world = seen(replace(SMALL, what=("segmentation",)))
    before = images(observer)["segmentation"].copy()
    world.pedestrians.y[...] += 0.3
    world.pedestrians.vy[...], world.pedestrians.heading[...] = 1.0, math.pi / 2
    observer.measure()
    assert not np.array_equal(before, images(observer)["segmentation"])


def test_everybody_looks_as_they_do():
    pictures = []
    for state in ("idle", "phone", "sitting", "talking"):
        observer, world = seen(replace(SMALL, what=("segmentation",)))
        world.minds.state[...] = SOCIAL_STATES.index(state)
        observer.measure()
        pictures.append(images(observer)["segmentation"].copy())
    assert all(not np.array_equal(one, other) for k, one in enumerate(pictures) for other in pictures[:k])


def test_noise_is_that_of_its_model_and_of_the_episode():
    truth = np.full((48, 64), 4.0, np.float32)
    for noise, deviation in ((StructuredLight(), 1.425e-3 * 16.0), (TimeOfFlight(), 1e-3 * (1.5 - 2.0 + 4.8))):
        first, again, other = (truth.copy() for _ in range(3))
        noise.disturb(np.uint64(5), 0, 3, first)
        noise.disturb(np.uint64(5), 0, 3, again)
        noise.disturb(np.uint64(5), 0, 4, other)
        assert np.array_equal(first, again) and not np.array_equal(first, other)
        assert first.mean() == pytest.approx(4.0, abs=0.02) and first.std() == pytest.approx(deviation, rel=0.3)
    lost = truth.copy()
    TimeOfFlight(lost=0.25).disturb(np.uint64(5), 0, 3, lost)
    assert (lost == 0.0).mean() == pytest.approx(0.25, abs=0.05)


def test_readings_of_structured_light_come_in_steps():
    depth = np.full((48, 64), 4.0, np.float32)
    StructuredLight().disturb(np.uint64(5), 0, 3, depth)
    values = np.unique(depth)
    assert np.diff(values).min() == pytest.approx(2.85e-3 * 16.0, rel=0.1)


def test_images_come_at_their_rate_and_late():
    observer, world = seen(replace(SMALL, what=("depth",), rate=5.0, latency=0.1))
    assert not images(observer)["depth"].any()
    first = {}
    for step in range(1, 5):
        world.status.clock.step[...] = step
        world.pedestrians.x[...] = 3.0 - 0.2 * step
        observer.measure()
        first[step] = images(observer)["depth"].copy()
    assert first[1].any() and np.array_equal(first[1], first[2])
    assert not np.array_equal(first[2], first[3]) and np.array_equal(first[3], first[4])


def test_smooth_images_differ_at_edges_alone():
    plain, smooth = (
        images(seen(replace(SMALL, what=("rgb",), smooth=smooth))[0])["rgb"][0].astype(int) for smooth in (False, True)
    )
    far = np.abs(plain - smooth).max(axis=-1) > 12
    assert 0.0 < far.mean() < 0.3


@pytest.mark.parametrize(
    "given",
    [
        {"what": ()},
        {"what": ("colour",)},
        {"width": 0},
        {"depth_min": 3.0, "depth_max": 2.0},
        {"depth_max": 1000.0},
        {"noise": "loud"},
        {"lost": 1.5},
        {"fx": 0.0},
    ],
)
def test_a_camera_that_cannot_be_is_refused(given):
    robot = {"name": "r", "kinematics": "differential", "radius": 0.2, "vx": [0, 1], "omega": 1}
    with pytest.raises(InputError):
        parse(json.dumps(robot | {"sensors": [{"name": "camera"} | given]}), RobotModel, "robot.json", is_json=True)


def test_without_a_way_to_draw_the_error_says_how_to_get_one(monkeypatch):
    monkeypatch.setattr(context, "_used", [])
    monkeypatch.setenv("MUJOCO_GL", "")
    monkeypatch.setattr(context.importlib, "import_module", lambda name: (_ for _ in ()).throw(ImportError("no library")))
    with pytest.raises(InputError, match=r"(?s)egl: no library.*osmesa: no library.*apt install libosmesa6.*agora doctor"):
        context.backend()


def test_who_is_behind_a_wall_is_not_seen_and_who_looks_round_its_end_is():
    wall = Map.from_shapes(segments=[[2.0, -1.0, 2.0, 0.6]], bounds=(-7.0, -5.0, 7.0, 6.0), name="wall")
    hidden, round_the_end = (images(seen(place=wall, crowd=(at,))[0])["segmentation"] for at in ((4.0, -0.2), (4.0, 1.2)))
    assert not (hidden == PERSON).any() and (round_the_end == PERSON).any()


def test_nobody_is_left_out_who_can_be_seen(monkeypatch):
    rng = np.random.default_rng(4)
    ends = rng.uniform(-4.0, 4.0, (5, 2))
    walls = np.concatenate([ends, ends + rng.uniform(-1.6, 1.6, (5, 2))], axis=1)
    place = Map.from_shapes(segments=walls, bounds=(-7.0, -5.0, 7.0, 6.0), name="walls")
    crowd, poses = rng.uniform(-4.0, 4.0, (20, 2)), [(*rng.uniform(-3.0, 3.0, 2), heading) for heading in (0.0, 2.0, 4.0)]
    camera = replace(SMALL, what=("segmentation",))
    with_walls = images(seen(camera, crowd=crowd, poses=poses, place=place)[0])["instance"].copy()
    monkeypatch.setattr(view, "_hide", lambda *given: None)
    assert np.array_equal(with_walls, images(seen(camera, crowd=crowd, poses=poses, place=place)[0])["instance"])
    assert len(np.unique(with_walls)) > 5


def test_a_door_is_seen_closed_and_open():
    closed = hall_with_door()
    observer, world = seen(replace(SMALL, what=("depth",)), crowd=(), place=closed)
    middle = SMALL.height // 2, SMALL.width // 2
    assert images(observer)["depth"][0][middle] == pytest.approx(3.0 - 0.03 - SMALL.x, abs=0.02)
    world.doors.share[...] = 1.0
    observer.measure()
    assert images(observer)["depth"][0][middle] == pytest.approx(4.975 - SMALL.x, abs=0.02)


def hall_with_door() -> Map:
    walls = [[3.0, -4.0, 3.0, -1.0], [3.0, 1.0, 3.0, 4.0], [5.0, -4.0, 5.0, 4.0]]
    door = Door(np.array([[3.0, -1.0], [3.0, 1.0]]))
    return with_door(Map.from_shapes(segments=walls, bounds=(-7.0, -5.0, 7.0, 6.0), name="door"), door)
