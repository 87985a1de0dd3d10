"""An Arena installation, made up here after its layout, is brought in: what can be used, and why not the rest."""

from __future__ import annotations

import json

import pytest
from tests.suites import write_world
from tests.tasks.test_arena_tools import FILE as OLD
from typer.testing import CliRunner

from agora.benchmark.contest import read_contest
from agora.benchmark.results.store import read_rows
from agora.cli.app import app
from agora.datasets.arena import import_arena
from agora.draft.scenario import read_scenario
from agora.errors import InputError
from agora.maps.furniture import Box, Cylinder, model_of
from agora.maps.place import read_place
from agora.robots.model import load_robot
from agora.seeds import Stream
from agora.tasks.worlds.folder import Folder, imported_names, world_folder

PARAMS = """\
robot_model: crate
robot_radius: 0.3
robot_base_frame: base
robot_sensor_frame: eye
is_holonomic: true
actions:
  discrete:
    - {name: forward, linear: 1.1, angular: 0.0}
  continuous:
    linear_range: {x: [-1.1, 1.1], y: [-0.5, 0.5]}
    angular_range: [-2.0, 2.0]
laser:
  angle: {min: -1.5, max: 1.5, increment: 0.01}
  num_beams: 301
  range: 12.0
  update_rate: 20
"""
SDF = """\
<sdf version="1.6"><model name="trolley"><link name="link"><pose>0.1 0 0 0 0 0</pose>
<collision name="a"><pose>0 0.2 0.5 0 0 1.5707963</pose><geometry><box><size>1.2 0.4 1.0</size></box></geometry></collision>
<collision name="b"><pose>-0.5 0 0.25 0 0 0</pose><geometry>
<cylinder><radius>0.2</radius><length>0.5</length></cylinder></geometry></collision>
</link></model></sdf>
"""
FLATLAND = """\
bodies:
  - name: base
    type: static
    footprints:
      - {type: polygon, points: [[0, 0], [0.6, 0], [0.6, 0.4], [0, 0.4]], density: 1}
      - {type: circle, radius: 0.3, center: [1.0, 0.5], layers: [all]}
plugins: []
"""
SCENARIO = {"robots": [{"start": [1, 5, 0], "goal": [7, 10, 0]}], "obstacles": {"static": [], "dynamic": []}}


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text))


@pytest.fixture
def arena(tmp_path):
    """A checkout two folders above the package."""
    top = tmp_path / "arena_ws" / "src"
    package = top / "simulation-setup"
    depot = write_world(package / "worlds" / "depot")
    write(depot / "map" / "zones.yaml", "- {label: a, category: [room], polygon: [[[0, 3], [2, 3], [2, 5]]]}\n")
    write(depot / "zones" / "default.yaml", "pedestrians: []\nrobots: []\n")
    write(depot / "scenarios" / "1.json", SCENARIO)
    write(depot / "scenarios" / "old.json", OLD)
    write(depot / "scenarios" / "wrong.json", SCENARIO | {"robbots": []})
    write(package / "worlds" / "broken" / "map" / "map.yaml", "image: none.png\nresolution: 0.1\norigin: [0, 0, 0]\n")
    sly = write_world(package / "worlds" / "sly")
    (sly / "map" / "map.png").rename(package / "secret.png")
    yaml = (sly / "map" / "map.yaml").read_text()
    write(sly / "map" / "map.yaml", yaml.replace("map.png", "../../../secret.png"))
    entities = package / "entities"
    write(entities / "robots" / "crate" / "model_params.yaml", PARAMS)
    write(entities / "robots" / "ghost" / "readme.txt", "nothing")
    write(entities / "robots" / "blind" / "model_params.yaml", PARAMS.replace("max: 1.5", "most: 1.5"))
    write(entities / "obstacles" / "static" / "trolley" / "sdf" / "trolley.sdf", SDF)
    write(entities / "obstacles" / "static" / "stand" / "yaml" / "stand.yaml", FLATLAND)
    mesh = SDF.replace("<cylinder><radius>0.2</radius><length>0.5</length></cylinder>", "<mesh><uri>m</uri></mesh>")
    write(entities / "obstacles" / "static" / "statue" / "sdf" / "statue.sdf", mesh)
    write(entities / "obstacles" / "dynamic" / "actor1" / "yaml" / "actor1.yaml", FLATLAND)
    return tmp_path / "arena_ws"


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_what_can_be_used_is_taken_and_the_rest_is_told_with_the_reason(arena, tmp_path, monkeypatch):
    home = tmp_path / "home"
    monkeypatch.setenv("AGORA_DATA", str(home))
    report = import_arena(arena, home)
    assert report.taken == {
        "worlds": ["depot"],
        "scenarios": ["depot/1", "depot/old"],
        "robots": ["crate"],
        "obstacles": ["stand", "trolley"],
        "suites": [],
        "contests": [],
    }
    reasons = "\n".join(report.skipped)
    for part in (
        "world broken: ", "image not found", "world sly: its image ../../../secret.png is outside its map folder",
        "old.json: converted from arena-tools' format", "wrong.json:1: robbots: unknown key; did you mean 'robots'?",
        "robot ghost: ", "robot blind: ", "laser.angle.max: the key is missing",
        "obstacle statue: ", "collision 'b' is neither a box nor a cylinder", "obstacles/dynamic/actor1: skipped: ",
    ):  # fmt: skip
        assert part in reasons, part
    assert set(contents(home)) == {
        "worlds/depot/map/map.yaml", "worlds/depot/map/map.png", "worlds/depot/map/zones.yaml", "worlds/depot/zones/default.yaml",
        "worlds/depot/scenarios/1.json", "worlds/depot/scenarios/old.json", "robots/crate.yaml",
        "obstacles/stand.yaml", "obstacles/trolley.yaml",
    }  # fmt: skip


def test_a_world_that_was_imported_is_known_by_its_name_with_zones_and_scenarios(arena, tmp_path, monkeypatch):
    monkeypatch.setenv("AGORA_DATA", str(tmp_path / "home"))
    with pytest.raises(ValueError, match="no world called 'depot'.* agora import arena"):
        Folder("depot")
    import_arena(arena, tmp_path / "home")
    assert imported_names() == ["depot"]
    world = Folder("depot", scenarios=("1", "old")).world("1", Stream("a", 1, "task"))
    assert (world.map.name, world.zones[0].label, world.scenario.robots[0].goal) == ("depot", "a", (7.0, 10.0, 0.0))
    assert read_scenario(tmp_path / "home" / "worlds" / "depot" / "scenarios" / "old.json").map == "map1"


def test_a_world_of_the_users_comes_before_one_of_that_name_that_comes_with_agora(arena, tmp_path, monkeypatch):
    monkeypatch.setenv("AGORA_DATA", str(tmp_path / "home"))
    ours = Folder("map_empty").world("map_empty", Stream("a", 1, "task")).map
    (arena / "src" / "simulation-setup" / "worlds" / "depot").rename(arena / "src" / "simulation-setup" / "worlds" / "map_empty")
    import_arena(arena, tmp_path / "home")
    world = Folder("map_empty", scenarios=("1",)).world("1", Stream("a", 1, "task"))
    assert world.folder == tmp_path / "home" / "worlds" / "map_empty" and world.map.occupied.shape != ours.occupied.shape
    assert read_place(world_folder("map_empty")).map.occupied.shape == world.map.occupied.shape


SUITE = {
    "stages": [
        {"name": name, "episodes": 2, "robot": robot, "map": "depot", "tm_robots": "scenario", "tm_obstacles": "scenario"}
        | {"config": {"SCENARIO": {"file": file}}}
        for name, robot, file in (
            ("one", "burger", "1.json"),
            ("five", "burger", "5.json"),
            ("ogre", "ogre", "1.json"),
            ("twins", "burger", "2.json"),
        )
    ]
}
CONTEST = [
    ("a", "teb", "bypass"),
    ("b", "telepathy", "polite"),
    ("c", "dwa", "polite"),
    ("d", "telepathy", "bypass"),
    ("f", "rosnav", "bypass"),
    ("e", "teb", "rude"),
]


@pytest.fixture
def benchmark(arena):
    """The package beside the one with the worlds."""
    twins = {"static": [], "dynamic": [{"name": name, "pos": [3, 8, 0]} for name in "ab"]}
    write(arena / "src" / "simulation-setup" / "worlds" / "depot" / "scenarios" / "2.json", SCENARIO | {"obstacles": twins})
    place = arena / "src" / "arena-rosnav" / "arena_bringup" / "configs" / "benchmark"
    write(place / "config.yaml", {"suite": {"config": "meta.yaml"}, "contest": {"config": "all.yaml"}})
    write(place / "suites" / "meta.yaml", SUITE)
    write(place / "suites" / "lost.yaml", {"stages": SUITE["stages"][1:]})
    write(place / "suites" / "wrong.yaml", {"stages": [{"name": "x"}]})
    contestants = [dict(zip(("name", "local_planner", "inter_planner"), one, strict=True)) for one in CONTEST]
    write(place / "contests" / "all.yaml", {"contestants": contestants})
    return arena


def test_suites_and_contests_keep_what_can_be_played_and_the_rest_is_told_with_the_reason(benchmark, tmp_path, monkeypatch):
    home = tmp_path / "home"
    monkeypatch.setenv("AGORA_DATA", str(home))
    report = import_arena(benchmark, home)
    assert (report.taken["suites"], report.taken["contests"]) == (["meta"], ["all"])
    for line in (
        "suite meta: five: scenarios: no scenario of depot called '5'",
        "suite meta: ogre: robot: no robot called 'ogre'",
        f"suite meta: twins: meta/twins/0: {home}/worlds/depot/scenarios/2.json:1: obstacles.dynamic[1].pos: pedestrian 'b' is at "
        "(3.00, 8.00), overlapping a pedestrian or robot at (3.00, 8.00)",
        "contest all: b, d: no planner called 'telepathy'",
        "contest all: e: no interplanner called 'rude'",
    ):
        assert line in report.skipped
    assert any(line.startswith("suite wrong: ") and "the key is missing" in line for line in report.skipped)
    suite, planners = read_contest(home / "benchmark")
    assert ([(s.name, s.count) for s in suite.stages], list(planners)) == ([("one", 2)], ["a", "c", "f"])


def test_a_benchmark_is_not_brought_where_its_worlds_are_not_known_by_name(benchmark, tmp_path, monkeypatch):
    monkeypatch.setenv("AGORA_DATA", str(tmp_path / "home"))
    report = import_arena(benchmark, tmp_path / "elsewhere")
    assert not (tmp_path / "elsewhere" / "benchmark").exists()
    assert any("works only for worlds in the data folder" in line for line in report.skipped)


def test_an_imported_benchmark_is_run_by_its_folder(benchmark, tmp_path, monkeypatch):
    monkeypatch.setenv("AGORA_DATA", str(tmp_path / "home"))
    stages = [stage | {"timeout": 1.0, "episodes": 1} for stage in SUITE["stages"][:1]]
    write(
        benchmark / "src" / "arena-rosnav" / "arena_bringup" / "configs" / "benchmark" / "suites" / "meta.yaml", {"stages": stages}
    )
    import_arena(benchmark, tmp_path / "home")
    command = ["bench", str(tmp_path / "home" / "benchmark"), "--workers", "0", "--output", str(tmp_path / "run")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert sorted(row["planner"] for row in read_rows(tmp_path / "run" / "episodes")) == ["a", "c", "f"]


def test_robots_and_obstacles_have_their_sizes_and_limits(arena, tmp_path, monkeypatch):
    home = tmp_path / "home"
    monkeypatch.setenv("AGORA_DATA", str(home))
    import_arena(arena / "src" / "simulation-setup", home)
    robot = load_robot(home / "robots" / "crate.yaml")
    assert (robot.name, robot.kinematics, robot.radius, robot.vx, robot.vy, robot.omega) == (
        "crate",
        "holonomic",
        0.3,
        (-1.1, 1.1),
        0.5,
        2.0,
    )
    assert (robot.lidar.beams, robot.lidar.range_max, robot.lidar.rate, robot.base_frame) == (301, 12.0, 20.0, "base")
    assert robot.ax is None and "no accelerations" in robot.source
    box, disc = model_of("trolley").parts
    assert [box.x, box.y, box.z, box.length, box.width, box.height] == pytest.approx([0.1, 0.2, 0.0, 0.4, 1.2, 1.0], abs=1e-6)
    assert disc == Cylinder(-0.4, 0.0, 0.0, 0.2, 0.5, disc.colour)
    assert model_of("stand").parts == (Box(0.3, 0.2, 0.0, 0.6, 0.4, 1.0), Cylinder(1.0, 0.5, 0.0, 0.3, 1.0))


def test_a_second_import_gives_the_same_files_and_follows_changes(arena, tmp_path):
    first = import_arena(arena, tmp_path / "home")
    before = contents(tmp_path / "home")
    assert import_arena(arena, tmp_path / "home") == first
    assert contents(tmp_path / "home") == before
    zones = arena / "src" / "simulation-setup" / "worlds" / "depot" / "map" / "zones.yaml"
    zones.write_text(zones.read_text().replace("room", "hall"))
    import_arena(arena, tmp_path / "home")
    assert {name for name, content in contents(tmp_path / "home").items() if content != before[name]} == {
        "worlds/depot/map/zones.yaml"
    }


@pytest.mark.parametrize("make", [lambda p: p / "nowhere", lambda p: p], ids=["no folder", "nothing in it"])
def test_what_is_no_arena_is_refused_and_nothing_is_written(tmp_path, make):
    with pytest.raises(InputError, match="expected .*Arena"):
        import_arena(make(tmp_path), tmp_path / "home")
    assert not (tmp_path / "home").exists()
