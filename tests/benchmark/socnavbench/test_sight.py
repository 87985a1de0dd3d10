"""SocNavBench's mode full-render: a joystick hears what the renderer draws, and it is what stands there."""

from __future__ import annotations

import base64
import math
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from tests.joystick import StandIn
from tests.small_sets import played_socnavbench

from agora.benchmark.results import store
from agora.benchmark.socnavbench._sight import JoystickSight, sight_camera
from agora.benchmark.socnavbench.joystick import Meeting
from agora.benchmark.socnavbench.player import bench_by_joystick
from agora.cli.serve import with_episodes
from agora.config import build
from agora.errors import InputError
from agora.rendering import context
from agora.rendering.scene import CLASSES
from agora.robots.model import load_robot
from agora.tasks.suite import load_suite

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
WALL, PERSON = CLASSES.index("wall"), CLASSES.index("person")
SMALL = "what=[rgb, depth, segmentation],width=48,height=48"
EAST = 4.75 + 3.0  # m, inner face of the wall of the map, from the map's corner


def decoded(state):
    images = state["images"]["robot_agent"]
    return {
        name: np.frombuffer(base64.b64decode(told["data"]), told["dtype"]).reshape(told["shape"]) for name, told in images.items()
    }


class Run:
    """An episode under a joystick in the mode full-render: what was drawn, and what was heard."""

    def __init__(self, folder):
        meeting = Meeting(address=str(folder / "j"), patience=20.0, render_mode="full-render", camera=SMALL)
        self.joystick = StandIn(str(meeting.receives), str(meeting.sends), velocity=True)
        thread = threading.Thread(target=self.joystick.play, daemon=True)
        thread.start()
        suite = with_episodes(load_suite("socnavbench"), ["t_one"])
        for _ in bench_by_joystick(suite, folder / "run", meeting):
            pass
        thread.join(20)
        self.rows = store.read_rows(folder / "run" / "episodes")
        self.states = self.joystick.states[0]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seen")
    drawn, images = [], JoystickSight.images

    def kept(sight):
        found = images(sight)
        drawn.append({name: array.copy() for name, array in found.items()})
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGORA_DATA", str(played_socnavbench(folder / "data")))
        patch.setattr(JoystickSight, "images", kept)
        played = Run(folder)
    played.drawn = drawn[1:]  # the first one was nobody's
    return played


def test_the_joystick_hears_every_image_as_it_was_drawn(run):
    assert len(run.states) == len(run.drawn) > 20
    for state, drawn in zip(run.states, run.drawn, strict=True):
        assert list(state)[-2:] == ["sim_t", "images"]
        heard = decoded(state)
        assert {name: array.dtype.name for name, array in heard.items()} == {
            "rgb": "uint8",
            "depth": "float32",
            "segmentation": "uint8",
            "instance": "int32",
        }
        assert all(np.array_equal(heard[name], drawn[name]) for name in drawn)
    assert [row["render_mode"] for row in run.rows] == ["full-render"]


def test_the_first_message_tells_of_the_published_camera_and_of_free_cells(run):
    told = run.joystick.metadata[0]
    assert list(told["environment"]) == ["map_scale", "map_name", "room_center", "human_traversible", "map_traversible"]
    assert np.array_equal(told["environment"]["human_traversible"], np.ones((24, 32)))
    camera = told["cameras"]["robot_agent"]
    assert camera["fx"] == camera["fy"] == pytest.approx(24.0 / math.tan(math.radians(37.5)))
    assert (camera["x"], camera["z"], camera["cx"], camera["depth_max"]) == (0.0, 0.8, 23.5, 20.0)
    assert math.degrees(camera["pitch"]) == pytest.approx(10.0, abs=1e-4)


def points(run, state):
    """Where each pixel of a state is, from the map's corner, m."""
    told = run.joystick.metadata[0]["cameras"]["robot_agent"]
    v, u = np.mgrid[0 : told["height"], 0 : told["width"]]
    depth = decoded(state)["depth"].astype(float)
    right, down = (u - told["cx"]) / told["fx"] * depth, (v - told["cy"]) / told["fy"] * depth
    s, c = math.sin(told["pitch"]), math.cos(told["pitch"])
    ahead, up = c * depth - s * down, told["z"] - s * depth - c * down
    x, y, heading = state["robots"]["robot_agent"]["current_config"]
    return x + math.cos(heading) * ahead + math.sin(heading) * right, y + math.sin(heading) * ahead - math.cos(heading) * right, up


def test_depths_put_the_wall_where_the_map_has_it(run):
    found = 0
    for state in run.states[::10]:
        x, y, z = points(run, state)
        east = (decoded(state)["segmentation"] == WALL) & (y > 1.0) & (y < 5.0) & (x > 6.0)
        found += east.sum()
        assert np.abs(x[east] - EAST).max() < 0.002 and z[east].max() < 2.51
    assert found > 500


def test_a_pedestrian_is_seen_where_its_bearing_says_on_the_ground(run):
    state = run.states[0]
    x, y, z = points(run, state)
    told = state["pedestrians"]["prerec_0002"]["current_config"]
    mine = decoded(state)["instance"] == 7
    assert mine.sum() > 40 and (decoded(state)["segmentation"][mine] == PERSON).all()
    assert math.dist((x[mine].mean(), y[mine].mean()), told[:2]) < 0.25
    robot = state["robots"]["robot_agent"]["current_config"]
    bearing = math.atan2(told[1] - robot[1], told[0] - robot[0]) - robot[2]
    camera = run.joystick.metadata[0]["cameras"]["robot_agent"]
    assert abs(np.nonzero(mine)[1].mean() - (camera["cx"] - camera["fx"] * math.tan(bearing))) < 1.5
    assert -0.01 < z[mine].min() < 0.1 and 1.3 < z[mine].max() < 2.0


def test_a_program_of_its_own_drives_by_depth_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("AGORA_DATA", str(played_socnavbench(tmp_path / "data")))
    monkeypatch.setattr("agora.benchmark.socnavbench.player._warm", lambda *given: None)
    meeting = Meeting(address=str(tmp_path / "j"), patience=60.0, render_mode="full-render", camera="width=32,height=32")
    program = [sys.executable, str(EXAMPLES / "depth_joystick.py"), str(meeting.receives), str(meeting.sends)]
    events = bench_by_joystick(with_episodes(load_suite("socnavbench"), ["t_two"]), tmp_path / "run", meeting)
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as joystick:
        list(events)
        assert joystick.stdout.read().startswith("t_two Success")
    assert [row["planner"] for row in store.read_rows(tmp_path / "run" / "episodes")] == ["depth"]


def test_the_camera_is_the_robots_own_where_it_has_one():
    assert sight_camera(load_robot("pioneer3dx"), "") == load_robot("pioneer3dx_rgbd").camera
    jackal = sight_camera(load_robot("jackal_rgbd"), "width=64")
    assert (jackal.width, jackal.height, jackal.x, jackal.rate) == (64, 240, 0.2, 0.0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"render_mode": "full"}, "full-render"),
        ({"camera": "width=64"}, "unless render_mode is full-render"),
    ],
)
def test_a_mode_that_cannot_be_is_refused(given, said):
    with pytest.raises(InputError, match=said):
        build(given, Meeting, "--planner")


@pytest.mark.parametrize(
    ("text", "said"),
    [("pioneer3dx", "has no camera"), ("widht=3", "did you mean 'width'"), ("fixed=true", "fixed must be false")],
)
def test_a_camera_that_cannot_be_is_refused(text, said):
    with pytest.raises(InputError, match=said):
        sight_camera(load_robot("pioneer3dx"), text)


def test_where_nothing_can_draw_no_joystick_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setenv("AGORA_DATA", str(played_socnavbench(tmp_path / "data")))
    monkeypatch.setattr(context, "_used", [])
    monkeypatch.setattr(context, "_find", lambda: (_ for _ in ()).throw(InputError("cameras need off-screen OpenGL")))
    meeting = Meeting(address=str(tmp_path / "j"), render_mode="full-render")
    with pytest.raises(InputError, match="cameras need off-screen OpenGL"):
        list(bench_by_joystick(load_suite("socnavbench"), tmp_path / "run", meeting))
    assert not list(tmp_path.glob("j_*"))
