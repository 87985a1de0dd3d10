"""The ``agents.yaml`` of HuNavSim: agents, their goals and reactions, in the map that the file names."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from agora.cli.app import app
from agora.datasets.hunav_agents import read_hunav
from agora.draft.scenario import read_scenario
from agora.errors import InputError
from agora.maps.place import read_place

AGENTS = """\
hunav_loader:
  ros__parameters:
    map: hall
    publish_people: true
    agents:
      - anna
      - ben
    anna:
      id: 1
      skin: 2
      behavior: 5
      group_id: -1
      max_vel: 1.5
      radius: 0.4
      init_pose: {x: 1.5, y: 2.0, z: 1.25, h: 0.4}
      goal_radius: 0.6
      cyclic_goals: true
      goals: [g0, g1]
      g0: {x: 6.0, y: 2.0, h: 1.25}
      g1: {x: 6.0, y: 5.0, h: 1.25}
    ben:
      id: 2
      group_id: 3
      behavior:
        type: 4
        configuration: 1
        duration: 40.0
        once: true
        vel: 0.6
        dist: 0.0
        goal_force_factor: 2.0
        obstacle_force_factor: 10.0
        social_force_factor: 5.0
        other_force_factor: 20.0
      init_pose: {x: 4.0, y: 4.0, z: 0.0, h: 3.0}
      goal_radius: 0.3
      cyclic_goals: false
      goals: [1]
    carl:
      id: 3
      init_pose: {x: 2.0, y: 5.0, z: 0.0, h: 0.0}
    global_goals:
      1: {x: 2.0, y: 6.0, h: 0.0}
"""


@pytest.fixture
def file(tmp_path):
    """The file beside its map: 9 x 8 m from (-0.5, 0), with walls along its edge."""
    pixels = np.full((80, 90), 254, np.uint8)
    pixels[[0, -1]] = pixels[:, [0, -1]] = 0
    config, maps = tmp_path / "hunav_agent_manager" / "config", tmp_path / "hunav_rviz2_panel" / "maps"
    for folder in (config, maps):
        folder.mkdir(parents=True)
    Image.fromarray(pixels).save(maps / "hall.pgm")
    lines = [
        "image: hall.pgm",
        "resolution: 0.1",
        "origin: [-0.5, 0.0, 0.0]",
        "negate: 0",
        "occupied_thresh: 0.65",
        "free_thresh: 0.196",
    ]
    (maps / "hall.yaml").write_text("\n".join(lines))
    (config / "agents.yaml").write_text(AGENTS)
    return config / "agents.yaml"


def test_agents_are_people_with_their_goals_speeds_and_reactions(file, tmp_path):
    done = CliRunner().invoke(app, ["import", "hunav", str(file), "--output", str(tmp_path / "hall")])
    assert done.exit_code == 0 and "people 2, robots 0" in done.output
    anna, ben = read_scenario(tmp_path / "hall" / "scenarios" / "agents.json").obstacles.dynamic
    assert (anna.pos[:2], anna.heading, anna.vmax, anna.reaction) == ((1.5, 2.0), 0.4, 1.5, "curious")
    assert ([w[:2] for w in anna.waypoints], anna.waypoint_mode, anna.waypoint_radius) == ([(6.0, 2.0), (6.0, 5.0)], 0, 0.6)
    assert (ben.vmax, ben.reaction, ben.waypoint_mode, ben.waypoint_radius) == (1.0, "scared", 2, 0.3)
    assert [w[:2] for w in ben.waypoints] == [(2.0, 6.0)]
    assert read_place(tmp_path / "hall").map.occupied.shape == (80, 90)


def test_keys_without_a_counterpart_are_named_with_their_line(file):
    notes = [note.removeprefix(f"{file}:") for note in read_hunav(file).notes]
    named = {note.split(": ")[1] for note in notes}
    assert named == {
        "agent.skin", "agent.radius", "agent.group_id", "agent.init_pose.z", "agent.goal.h", "publish_people", "carl", "robot",
        *(f"agent.behavior.{key}" for key in ("configuration", "duration", "once", "vel", "dist", "goal_force_factor")),
        *(f"agent.behavior.{key}_force_factor" for key in ("obstacle", "social", "other")),
    }  # fmt: skip
    assert "10: agent.skin: not imported: the type of a person determines its appearance" in notes
    assert "23: agent.group_id: not imported: people in a scenario walk alone" in notes


def test_a_goal_on_a_wall_is_the_free_part_of_its_area_and_one_beyond_it_is_left_out(file):
    file.write_text(
        AGENTS.replace("g0: {x: 6.0, y: 2.0", "g0: {x: 6.0, y: 0.0").replace("g1: {x: 6.0, y: 5.0", "g1: {x: 60.0, y: 5.0")
    )
    read = read_hunav(file)
    ((x, y, _),) = read.scenario.obstacles.dynamic[0].waypoints
    assert read.map.gap(np.array([[x, y]]))[0] > 0.3 and np.hypot(x - 6.0, y) <= 0.6
    assert any("anna: no path leads to its goal (60, 5), which is left out" in note for note in read.notes)


@pytest.mark.parametrize(
    ("was", "now", "message"),
    [
        ("map: hall", "map: cafe", r"agents.yaml:3: map: no cafe.yaml near this file; name the map's file: --map"),
        ("- ben", "- benn", "agents.yaml:7: agents: no agent called 'benn'; did you mean 'ben'"),
        ("goals: [g0, g1]", "goals: [g0, g7]", "anna.goals: no goal called 'g7'"),
        ("behavior: 5", "behavior: 9", r"agents.yaml:11: anna.behavior: expected 1 to 6 \(regular, .*\), got 9"),
        ("max_vel: 1.5", "max_vel: fast", "agents.yaml:13: anna.max_vel: expected a number, got 'fast'"),
        ("ros__parameters:", "parameters:", "agents: expected a list of names"),
    ],
)
def test_a_wrong_file_is_refused_with_line_and_key(file, was, now, message):
    file.write_text(AGENTS.replace(was, now, 1))
    with pytest.raises(InputError, match=message):
        read_hunav(file)
