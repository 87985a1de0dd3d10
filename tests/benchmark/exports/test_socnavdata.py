"""A run's episodes as trajectories of SocNavData2026: the form that its schema asks for, and places and walls by hand."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest
from tests.suites import planners, write_world
from tests.suites import suite as small_suite

from agora.benchmark.bench import run_all
from agora.benchmark.exports.socnavdata import trajectory, walls_of, write_socnavdata_files
from agora.benchmark.request import Options, Request
from agora.benchmark.results.recordings import recordings
from agora.core.recording import Outcome
from agora.core.state import robot_traits
from agora.errors import InputError, ResultsError, UnknownNameError
from agora.maps.grid import Map
from recordings import among, drive

NUMBER = (int, float)
SHAPE = {"type": {"circle", "rectangle"}, "width": NUMBER, "length": NUMBER}
POSE = {"x": NUMBER, "y": NUMBER, "angle": NUMBER}
GOAL = {"type": {"go-to", "guide-to", "follow"}, "human": None, **POSE, "pos_threshold": NUMBER, "angle_threshold": NUMBER}
SPEEDS = {"speed_x": NUMBER, "speed_y": NUMBER, "speed_a": NUMBER}
FORM = {  # what dataset/check_trajectory_format/schema.json of SocNav3 4bb85eb asks for
    "grid": {
        **{key: NUMBER for key in ("width", "height", "cell_size", "x_orig", "y_orig", "angle_orig")},
        "data": [[{-1, 0, 1}]],
    },
    "walls": [(NUMBER, NUMBER, NUMBER, NUMBER)],
    "sequence": [
        {
            "timestamp": NUMBER,
            "robot": {"shape": SHAPE, **POSE, **SPEEDS},
            "goal": GOAL,
            "people": [{"id": NUMBER, **POSE}],
            "objects": [],
        }
    ],
}


def check(value, form, where="file"):
    """A value has the form: a set of values, types, a list of one form, a tuple of forms, or a dictionary with exactly its keys."""
    if isinstance(form, dict):
        assert isinstance(value, dict) and set(value) == set(form), where
        for key, one in form.items():
            check(value[key], one, f"{where}.{key}")
    elif isinstance(form, list) or (isinstance(form, tuple) and form is not NUMBER):
        forms = form if isinstance(form, tuple) else [form[0] if form else ()] * len(value)
        assert isinstance(value, list) and len(value) == len(forms) and (form or not value), where
        for number, (one, its) in enumerate(zip(value, forms, strict=True)):
            check(one, its, f"{where}[{number}]")
    elif isinstance(form, set):
        assert value in form and type(value) is type(next(iter(form))), where
    elif form is None:
        assert value is None, where
    else:
        assert isinstance(value, form) and not isinstance(value, bool) and math.isfinite(value), where


def checked(recording, **more):
    """The contents of the file of a recording, through JSON, which have the form and whose grid and times agree with themselves."""
    told = json.loads(json.dumps(trajectory(recording, **more), allow_nan=False))
    check({key: value for key, value in told.items() if key != "context_description"}, FORM)
    grid = told["grid"]
    assert np.shape(grid["data"]) == (grid["height"], grid["width"])
    assert (np.diff([sample["timestamp"] for sample in told["sequence"]]) > 0.0).all()
    return told


def late():
    """A robot at uneven times, and two people of whom one comes late."""
    time = np.array([0.0, 0.1, 0.25])
    twist = [[0.5, 0.0, 0.2], [0.6, 0.1, -0.2], [0.0, 0.0, 0.0]]
    present = [[True, False], [True, False], [True, True]]
    crowd = among(time, (4.0, -2.0), ([9.0, 9.0, 2.5], -1.5), heading=[[0.3, 5.0]] * 3, present=present)
    return drive(time, [1.0, 1.05, 1.1], [-3.0, -2.9, -2.9], [0.1, 0.2, -3.1], twist, goal=np.array([7.0, 2.0, 1.5]), **crowd)


def test_a_sample_has_the_robot_the_goal_and_whoever_is_there():
    told = checked(late())
    first, _, last = told["sequence"]
    assert list(told) == ["grid", "walls", "sequence"] and [s["timestamp"] for s in told["sequence"]] == [0.0, 0.1, 0.25]
    assert first["robot"] == {
        "shape": {"type": "circle", "width": 0.6, "length": 0.6},
        **{"x": 1.0, "y": -3.0, "angle": 0.1, "speed_x": 0.5, "speed_y": 0.0, "speed_a": 0.2},
    }
    assert last["goal"] == {
        **{"type": "go-to", "human": None, "x": 7.0, "y": 2.0, "angle": 1.5},
        **{"pos_threshold": 0.3, "angle_threshold": math.pi},
    }
    assert first["people"] == [{"id": 7, "x": 4.0, "y": -2.0, "angle": 0.3}]
    assert last["people"] == [{"id": 7, "x": 4.0, "y": -2.0, "angle": 0.3}, {"id": 8, "x": 2.5, "y": -1.5, "angle": 5.0}]


def test_the_context_is_there_where_it_is_given():
    text = "A museum robot is looking for a fire extinguisher."
    assert checked(late(), context=text)["context_description"] == text


def test_a_plane_without_a_map_is_free_and_holds_everybody():
    told = checked(late())
    grid = told["grid"]
    assert told["walls"] == [] and not np.any(grid["data"])
    # x from 1 to 7, y from -3 to 2, and 1 m about them; absent people do not count
    assert (grid["x_orig"], grid["y_orig"], grid["width"], grid["height"], grid["cell_size"]) == (0.0, -4.0, 8, 7, 1.0)


def test_nobody_about_is_an_empty_list():
    told = checked(drive(np.arange(3) * 0.2, [0.0, 0.1, 0.2], [5.0] * 3, outcome=Outcome.TIMEOUT))
    assert [sample["people"] for sample in told["sequence"]] == [[], [], []]


def test_a_polygon_becomes_a_rectangle_about_the_base():
    traits = robot_traits(1, 1, 3)
    corners = np.array([[0.5, -0.2], [0.1, 0.3], [-0.25, -0.2]], np.float32)
    traits = traits._replace(vertices=np.full((1, 1), 3, np.int32), footprint_x=corners[None, None, :, 0])
    traits = traits._replace(footprint_y=corners[None, None, :, 1])
    shape = checked(dataclasses.replace(late(), robot=traits))["sequence"][0]["robot"]["shape"]
    assert shape == {"type": "rectangle", "width": pytest.approx(0.6), "length": pytest.approx(1.0)}


def crooked():
    """4 x 5 cells of 0.5 m from (-2, 3): an L of three occupied cells, and an unknown cell."""
    occupied = np.zeros((4, 5), bool)
    occupied[1, 1], occupied[1, 2], occupied[2, 1] = True, True, True
    unknown = np.zeros((4, 5), bool)
    unknown[3, 4] = True
    return Map("crooked", 0.5, (-2.0, 3.0), occupied, unknown)


def test_the_grid_grows_with_y_and_knows_what_is_unknown():
    grid = checked(dataclasses.replace(late(), map=crooked()))["grid"]
    assert (grid["x_orig"], grid["y_orig"], grid["angle_orig"], grid["cell_size"]) == (-2.0, 3.0, 0.0, 0.5)
    assert grid["data"] == [[0, 0, 0, 0, 0], [0, 1, 1, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 0, -1]]


def test_walls_are_the_straight_borders_of_the_cells():
    found = {tuple(wall) for wall in walls_of(crooked()).tolist()}
    assert found == {
        (-1.5, 3.5, -0.5, 3.5),  # below both
        (-1.0, 4.0, -0.5, 4.0),  # the step
        (-1.5, 4.5, -1.0, 4.5),  # above
        (-1.5, 3.5, -1.5, 4.5),  # left of both
        (-1.0, 4.0, -1.0, 4.5),
        (-0.5, 3.5, -0.5, 4.0),
    }


def test_walls_are_the_shapes_of_a_map_too():
    segment, triangle = [0.5, 1.0, 2.0, -1.5], [[3.0, 0.0], [4.0, 0.0], [3.0, 2.0]]
    place = Map.from_shapes(segments=[segment], polygons=[triangle], discs=[[-3.0, 1.0, 0.4]])
    walls = walls_of(place)
    assert len(walls) == 1 + 3 + 16
    assert walls[0].tolist() == segment and walls[1:4].tolist() == [
        [3.0, 0.0, 4.0, 0.0],
        [4.0, 0.0, 3.0, 2.0],
        [3.0, 2.0, 3.0, 0.0],
    ]
    ring = walls[4:]
    assert np.hypot(ring[:, 0] + 3.0, ring[:, 1] - 1.0) == pytest.approx(0.4)
    assert ring[:, 2:] == pytest.approx(np.roll(ring[:, :2], -1, axis=0)), "each edge begins where the one before ends"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of two episodes of one robot."""
    home = tmp_path_factory.mktemp("socnavdata")
    alone = {"robots": {"name": "random", "distance": 3.0}, "robot": "jackal"}
    suite = small_suite(write_world(home / "room"), episodes=2, timeout=2.0, crowds=["orca"], **alone)
    rows = run_all(Request(suite, planners("go_to_goal"), home / "run", Options(workers=0)))
    return home / "run", rows


def test_a_run_is_a_file_an_episode(run, tmp_path):
    folder, rows = run
    paths = write_socnavdata_files(tmp_path / "out", folder, context="A robot in a room.")
    assert [path.name for path in paths] == ["small.orca.0.go_to_goal.json", "small.orca.1.go_to_goal.json"]
    kept = recordings(folder, [row["key"] for row in rows])
    for path, row in zip(paths, rows, strict=True):
        told = json.loads(path.read_text())
        recording = kept[row["key"]]
        assert told == json.loads(json.dumps(trajectory(recording, "A robot in a room.")))
        check({key: value for key, value in told.items() if key != "context_description"}, FORM)
        assert len(told["walls"]) >= 12, "the room's four sides and eight of the blocks"
        assert told["sequence"][-1]["timestamp"] == pytest.approx(row["duration"])


def test_what_cannot_be_written_is_said(run, tmp_path):
    folder, _ = run
    write_socnavdata_files(tmp_path / "out", folder, ["small/orca/1/go_to_goal"])
    with pytest.raises(ResultsError, match=r"small\.orca\.1\.go_to_goal\.json: already exists; choose another folder"):
        write_socnavdata_files(tmp_path / "out", folder, ["small/orca/1/go_to_goal"])
    with pytest.raises(UnknownNameError, match="did you mean"):
        write_socnavdata_files(tmp_path / "out", folder, ["small/orca/7/go_to_goal"])
    both = small_suite(write_world(tmp_path / "room"), episodes=1, timeout=1.0, crowds=["orca"])
    run_all(Request(both, planners("go_to_goal"), tmp_path / "both", Options(workers=0)))
    with pytest.raises(InputError, match="small/orca/0 has 2 robots, but a SocNavData2026 trajectory has one"):
        write_socnavdata_files(tmp_path / "out", tmp_path / "both")
