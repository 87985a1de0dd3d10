"""A world is the same wherever its files say that it is: rows and recordings to the bit, and every file is written where it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from agora.benchmark.bench import run_all
from agora.benchmark.request import Options, Request
from agora.benchmark.results.copies import PLACE, START
from agora.config import build
from agora.draft.scenario import Obstacle, Obstacles, Pedestrian, Robot, Scenario, write_scenario
from agora.draft.stage import Stage
from agora.errors import InputError, PlacementError
from agora.maps.exact import read_exact, write_exact
from agora.maps.frame import moved, offset_of
from agora.maps.grid import Map
from agora.maps.io import ShapesFile
from agora.maps.place import read_place, write_place
from agora.tasks.faults import task_of_file
from agora.tasks.suite import ResetPlan, Suite, put_together
from agora.tasks.world_check import check_world
from agora.viewer.situation import situation_figure
from tests.places import furnished
from tests.suites import planners, results

FAR = [(0.0, 0.0), (1e5, 1e5), (500_000.0, 5_000_000.0)]
SCENARIO = Scenario(
    robots=(Robot((-2.3, 4.2, 0.3), (8.6, 9.6, 1.0)),),
    obstacles=Obstacles(
        static=(Obstacle("box", "shelf", (8.5, 3.4, 0.4)),),
        dynamic=(Pedestrian("ann", (2.0, 8.0, 0.0), ((-2.0, 9.9), (2.1, 4.9))), Pedestrian("bob", (5.0, 9.0, 0.0), ((4.0, 2.5),))),
    ),
)


def world(folder: Path, far: tuple[float, float], exact: bool) -> Path:
    """A furnished place of cells, or of shapes, with a scenario; all of its files are moved."""
    folder.mkdir(parents=True)
    place = furnished(exact=exact)
    if exact:
        place = replace(place, map=replace(place.map, occupied=np.zeros((90, 130), bool), segments=[[3.0, 1.7, 3.0, 5.7]]))
    write_place(replace(place, map=replace(place.map, offset=far)), folder)
    (folder / "scenarios").mkdir()
    write_scenario(SCENARIO.moved(far), folder / "scenarios" / "one.json")
    return folder


def suite(place: Path, far: tuple[float, float]) -> Suite:
    """Stages of all robots modes that read places from files, and of random ones."""
    folder = {"name": "folder", "path": f"{place}/"}
    round_trip = [moved(pose, far).tolist() for pose in ([5.0, 7.0, 0.5], [-1.2, 8.5, 0.0])]
    stages = [
        {"name": "scenario", "world": {**folder, "scenarios": ["one"]}, "robots": "scenario", "obstacles": "scenario"},
        {"name": "random", "world": folder, "robots": "random", "obstacles": {"name": "random", "dynamic": [4, 4]}},
        {"name": "forbidden", "world": folder, "robots": "random", "forbidden": ["waiting"]},
        {"name": "guided", "world": folder, "robots": {"name": "guided", "waypoints": round_trip, "start": round_trip[0]}},
    ]
    return build({"name": "far", "seed": 4, "stages": [{"episodes": 1, "timeout": 8.0} | stage for stage in stages]}, Suite)


@pytest.mark.parametrize("exact", [False, True])
def test_rows_and_recordings_are_the_same_at_any_place_on_earth(tmp_path, exact):
    found, kept = [], []
    for far in FAR:
        home = tmp_path / f"{far[0]:g}"
        run = home / "run"
        run_all(
            Request(
                suite(world(home / "den", far, exact), far),
                planners("dwa_kinetic:sim_time=0.8,vth_samples=5"),
                run,
                Options(workers=0),
            )
        )
        found.append(results(run, home, without=(START, PLACE)))
        kept = parquet.read_table(run / "trajectories").to_pylist()
    assert found[0] == found[1] == found[2]
    assert [row["map_offset"] for row in kept] == [[500_000.0, 5_000_000.0]] * 4
    assert min(np.ptp(np.reshape(row["pose"], (3, -1))[:2], axis=1).max() for row in kept) > 1.0


@pytest.mark.parametrize("exact", [False, True])
def test_files_are_written_where_they_were(tmp_path, exact):
    """Read in the map frame, near zero, and written back to the byte."""
    first = world(tmp_path / "a" / "den", FAR[2], exact)
    place = read_place(first)
    assert place.map.offset == FAR[2] and place.map.origin == (-3.2, 1.7)
    assert [(piece.x, piece.y) for piece in place.furniture] == [(piece.x, piece.y) for piece in furnished().furniture]
    np.testing.assert_array_equal(place.zones[0].polygons[0], furnished().zones[0].polygons[0])
    again = tmp_path / "b" / "den"
    again.mkdir(parents=True)
    write_place(place, again)
    names = sorted(path.name for path in (first / "map").iterdir())
    assert names == sorted(path.name for path in (again / "map").iterdir()) and ("shapes.yaml" in names) == exact
    for name in names:
        assert (again / "map" / name).read_bytes() == (first / "map" / name).read_bytes()
    assert "500003.2" not in (first / "map" / "map.yaml").read_text() and "499996.8" in (first / "map" / "map.yaml").read_text()
    write_exact(place.map, tmp_path / "map.npz")
    assert read_exact(tmp_path / "map.npz").offset == FAR[2]


def test_messages_and_pictures_have_the_numbers_of_the_files(tmp_path):
    place = world(tmp_path / "den", FAR[2], exact=False)
    write_scenario(replace(SCENARIO, robots=(Robot((-2.3, 4.2), (99.0, 5.0)),)).moved(FAR[2]), place / "scenarios" / "two.json")
    faulty = check_world(place, 0.2)
    assert [problem.rpartition("two.json")[2] for problem in faulty.problems] == [":9: robots[0].goal: is outside the map"]
    stage = {"name": "x", "world": {"name": "folder", "path": f"{place}/", "scenarios": ["two"]}, "robots": "scenario"}
    with pytest.raises(PlacementError, match=r"it is at \(500099\.00, 5000005\.00\), outside map 'den'"):
        put_together(ResetPlan("far", build(stage, Stage), 0, 1))
    figure = situation_figure(task_of_file(place / "scenarios" / "one.json", 0.2))
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == ("x - 500000 (m)", "y - 5000000 (m)")


def test_places_near_zero_stay_where_they_are_and_a_kilometre_more_changes_nothing():
    assert offset_of((499.9, -500.0)) == (0.0, 0.0)
    assert offset_of((500_123.4, -4_999_600.0)) == (500_000.0, -5_000_000.0)
    for corner in (-3.2, 12.6, 700.1):
        local = [float(moved((corner + far, 0.0), (-offset_of((corner + far, 0.0))[0], 0.0))[0]) for far in (1e5, 5e6, -7e6)]
        assert local[0] == local[1] == local[2] and abs(local[0]) <= 500.0


def test_a_map_that_is_far_away_all_the_same_is_refused():
    """Of the Python API and of messages, whose other places nobody moves."""
    with pytest.raises(InputError, match=r"origin of map 'utm': must be within 10000 m of zero, got \(0\.0, 5000000\.0\) m"):
        Map("utm", 0.1, (0.0, 5e6), np.zeros((9, 9), bool))
    assert ShapesFile(discs=((5e6, 7.0, 0.5),)).map().offset == (5e6, 0.0)
