"""YAML worlds of ir-sim: robots, people and obstacles are where ir-sim itself puts them, and other keys are named."""

from __future__ import annotations

import irsim
import matplotlib as mpl
import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from agora.cli.app import app
from agora.datasets.irsim_world import import_irsim, read_irsim
from agora.draft.scenario import read_scenario
from agora.errors import InputError
from agora.maps.place import read_place

WORLD = """\
world: {height: 9, width: 14, offset: [-3, 1.5], step_time: 0.1, sample_time: 0.1, collision_mode: stop}
robot:
  - kinematics: {name: diff}
    shape: {name: circle, radius: 0.2}
    state: [-2, 3, 1.2]
    goal: [9.5, 8.5, 0]
    vel_max: [1.2, 1]
    sensors: [{name: lidar2d, range_max: 8, number: 90}]
  - number: 3
    distribution: {name: circle, radius: 2.5, center: [4, 6]}
    kinematics: {name: omni}
    shape: [{name: circle, radius: 0.2}]
    behavior: {name: dash}
obstacle:
  - number: 3
    state: [[1, 2.5, 0.4], [8, 4, -0.3], [2, 8, 1]]
    shape:
      - {name: circle, radius: 0.4, center: [0.3, 0.1]}
      - {name: rectangle, length: 1.5, width: 0.6}
      - {name: polygon, vertices: [[0, 0], [1, 0.2], [0.6, 1.1]]}
  - shape: {name: linestring, vertices: [[5, 2], [6, 3], [6, 5]]}
    state: [0, 0, 0]
  - shape: {name: compound, parts: [{name: rectangle, length: 1, width: 0.2}, {name: circle, radius: 0.15, pose: [0.5, 0, 0]}]}
    state: [0, 5, 0.7]
  - kinematics: {name: omni}
    behavior: {name: rvo, vxmax: 0.8, loop: true, factor: 2.0}
    shape: {name: circle, radius: 0.25}
    state: [3, 2, 0.5]
    goal: [3, 9, 0]
    goal_threshold: 0.3
    color: red
  - kinematics: {name: diff}
    behavior: {name: dash}
    state: [7, 7, 0]
    goal: [[[9, 7, 0], [9, 9, 0]]]
    vel_max: [0.9, 2]
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "yard.yaml").write_text(WORLD)
    return tmp_path / "yard.yaml"


def test_robots_people_and_obstacles_are_where_ir_sim_puts_them(file):
    mpl.use("Agg")
    env, read = irsim.make(str(file), display=False, log_level="ERROR"), read_irsim(file)
    try:
        for robot, there in zip(read.scenario.robots, env.robot_list, strict=True):
            assert robot.start[:2] == pytest.approx(there.state[:2, 0]) and robot.goal[:2] == pytest.approx(there.goal[:2, 0])
            assert np.cos(robot.start[2] - there.state[2, 0]) == pytest.approx(1.0)
        *still, one, two = env.obstacle_list
        for person, there in zip(read.scenario.obstacles.dynamic, (one, two), strict=True):
            assert person.pos[:2] == pytest.approx(there.state[:2, 0])
        points = np.random.default_rng(4).uniform([-3, 1.5], [11, 10.5], (400, 2))
        gaps = read.map.gap(points)
        import shapely

        for point, gap in zip(points, gaps, strict=True):
            away = min(shapely.Point(point).distance(there.geometry) for there in still)
            assert (gap if gap > 0 else 0.0) == pytest.approx(away, abs=0.03)  # circles of ir-sim have corners
        assert read.map.origin == (-3.0, 1.5) and read.map.size == pytest.approx((14.0, 9.0))
    finally:
        env.end()


def test_an_obstacle_with_a_behaviour_walks_as_its_behaviour_says(file):
    looping, once = read_irsim(file).scenario.obstacles.dynamic
    assert [w[:2] for w in looping.waypoints] == [(3.0, 9.0), (3.0, 2.0)] and (looping.waypoint_mode, looping.vmax) == (0, 0.8)
    assert (looping.waypoint_radius, looping.heading) == (0.3, 0.5)
    assert [w[:2] for w in once.waypoints] == [(9.0, 7.0), (9.0, 9.0)] and (once.waypoint_mode, once.vmax) == (2, 0.9)
    file.write_text(WORLD.replace("loop: true", "wander: true, range_low: [2, 2, 0], range_high: [5, 6, 0]"))
    wanders, _ = read_irsim(file).scenario.obstacles.dynamic
    points = np.array([w[:2] for w in wanders.waypoints])
    assert wanders.waypoint_mode == 1 and len(points) > 4 and ((points >= [2, 2]) & (points <= [5, 6])).all()


def test_keys_without_a_counterpart_are_named_once_with_their_line(file):
    notes = [note.removeprefix(f"{file}:") for note in read_irsim(file).notes]
    named = {note.split(": ")[1] for note in notes}
    assert named >= {
        "world.step_time", "world.collision_mode", "robot.sensors", "robot.kinematics", "robot.shape", "robot.behavior",
        "obstacle.behavior.name", "obstacle.behavior.factor", "obstacle.color", "obstacle.shape",
    }  # fmt: skip
    assert "3: robot.kinematics: not imported: the stage sets the robot model: robot: NAME (2 occurrences)" in notes
    assert len(notes) == len(set(notes))


def test_random_places_are_drawn_once_by_the_seed_in_their_range(file):
    random = "{number: 9, distribution: {name: random, range_low: [0, 3, 0], range_high: [6, 9, 0]}, shape: {name: circle}}"
    file.write_text(f"{WORLD.partition('obstacle:')[0]}obstacle:\n  - {random}\n")
    discs = read_irsim(file).map.discs
    assert ((discs[:, :2] >= [0, 3]) & (discs[:, :2] <= [6, 9])).all() and discs[:, 2] == pytest.approx(0.2)
    apart = np.hypot(*(discs[:, None, :2] - discs[None, :, :2]).transpose(2, 0, 1)) + 9 * np.eye(9)
    assert apart.min() >= 1.0
    assert np.array_equal(discs, read_irsim(file).map.discs) and not np.array_equal(discs, read_irsim(file, seed=1).map.discs)


def test_the_obstacle_map_is_the_image_of_ir_sim(file):
    pixels = np.full((18, 28), 255, np.uint8)
    pixels[0, 0] = pixels[17, 27] = pixels[5:9, 10] = 0
    Image.fromarray(pixels).save(file.parent / "cave.png")
    file.write_text("world: {height: 9, width: 14, offset: [-3, 1.5], obstacle_map: cave.png}\n")
    map = read_irsim(file).map
    assert map.occupied.shape == (18, 28) and map.resolution == pytest.approx(0.5)
    assert map.occupied[17, 0] and map.occupied[0, 27] and map.occupied[9:13, 10].all() and map.occupied.sum() == 6


def test_the_command_line_writes_a_world_that_is_read_again(file, tmp_path):
    done = CliRunner().invoke(app, ["import", "irsim", str(file), "--output", str(tmp_path / "yard")])
    assert done.exit_code == 0 and "people 2, robots 4, obstacles 7" in done.output
    assert read_scenario(tmp_path / "yard" / "scenarios" / "yard.json") == read_irsim(file).scenario
    assert len(read_place(tmp_path / "yard").map.polygons) == 3


@pytest.mark.parametrize(
    ("was", "now", "message"),
    [
        ("name: linestring", "name: linestrin", "shape.name: no shape called 'linestrin'; did you mean 'linestring'"),
        ("radius: 0.4,", "radius: -1,", "shape.radius: expected a number above 0, got -1"),
        ("name: circle, radius: 2.5,", "name: ring,", "robot.distribution.name: no distribution called 'ring'"),
        ("[-2, 3, 1.2]", "[-2, far]", r"yard.yaml:5: robot.state: expected \[x, y, heading\]"),
        ("number: 3", "number: many", "robot.number: expected an integer up to 10000, got 'many'"),
        ("world: {", "word: {", "expected the key world"),
    ],
)
def test_a_wrong_world_is_refused_with_line_and_key(file, tmp_path, was, now, message):
    file.write_text(WORLD.replace(was, now, 1))
    with pytest.raises(InputError, match=message):
        import_irsim(file, tmp_path / "out")
    assert not (tmp_path / "out").exists()
