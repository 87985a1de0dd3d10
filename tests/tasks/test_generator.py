"""The task generator: episodes that depend on setup, seed and number alone, modes switched while it runs, Arena's settings."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.suites import write_world

from agora.config import load, parse, plain
from agora.core.recording import Outcome
from agora.episode import Conditions, Episodes
from agora.errors import InputError, UnknownNameError
from agora.planners.local.go_to_goal import GoToGoal
from agora.registry import Named, make
from agora.share import folder
from agora.tasks.generator import TaskGenerator
from agora.tasks.obstacles.random import Random
from agora.tasks.settings import Settings
from agora.tasks.suite import Suite
from agora.testing.guard import identical

ARENA = """
episodes: 50
autoreset: true
SCENARIO: {file: default.json}
PARAMETRIZED:
  file: default.xml 
STAGED: {curriculum: "default.yaml", index: 0}
DYNAMICMAP: {}
RANDOM:
  seed: 7
  static: {min: 0, max: 0, models: ["shelf"]}
  interactive: {min: 0, max: 0, models: ["shelf"]}
  dynamic: {min: 1, max: 5, models: ["actor1"]}
"""  # noqa: W291


def quick(**more):
    return TaskGenerator(Settings(timeout=6.0, goal_radius=0.5, goal_tolerance_angle=180), **more)


def test_an_episode_depends_on_setup_seed_and_number_alone():
    one, other = quick(seed=4), quick(seed=4)
    forwards = [one.reset() for _ in range(4)]
    other.switch(obstacles="none", robots="explore")
    other.reset()
    other.switch(obstacles="random", robots="random")
    assert all(identical(other.start(k), forwards[k]) for k in (3, 1, 0, 2))
    assert not identical(quick(seed=5).start(0), forwards[0])
    assert len({start.robots[0].pose.tobytes() for start in forwards}) == 4


def test_a_generator_and_a_suite_make_the_same_episode():
    made = TaskGenerator(seed=9, name="same")
    suite = Suite("same", (made.stage,), seed=9)
    assert identical(made.reset(), suite.start("task", 0))


def test_modes_are_switched_from_the_next_reset_on_and_run_in_one_batch():
    made = quick(seed=2, tm_obstacles="none")
    starts = [made.reset() for _ in range(3)]
    made.switch(robots="explore", obstacles="parametrized")
    starts += [made.reset() for _ in range(3)]
    assert [len(s.pedestrians.id) > 0 for s in starts] == [False] * 3 + [True] * 3
    assert [len(s.robots[0].goals) > 1 for s in starts] == [False] * 3 + [True] * 3
    assert len({s.entry for s in starts}) == 6
    outcomes = dict(Episodes(starts, GoToGoal(), Conditions.of(made.stage), worlds=2))
    assert len(outcomes) == 6
    assert all(recordings[0].outcome != Outcome.REACHED for k, recordings in outcomes.items() if k >= 3)


def test_a_switch_that_fails_changes_nothing():
    made = quick()
    before, setup = made.start(0), made.setup
    for wrong in ({"robots": "gided"}, {"obstacles": "randon"}, {"modules": "stagde"}, {"world": "hal"}, {"robot": "jackel"}):
        with pytest.raises(InputError, match="did you mean"):
            made.switch(**wrong, settings=Settings(timeout=3.0))
    assert identical(made.start(0), before)
    assert made.stage.timeout == 6.0
    assert made.setup is setup


def test_components_are_taken_as_they_are():
    made = TaskGenerator(
        tm_robots=make("robots_modes", "random", count=2, distance=1.0),
        tm_obstacles=Random(dynamic=(4, 4)),
        world=make("worlds", "open", width=9.0, x=-3.0),
        tm_modules=["clear_forbidden_zones"],
        robot=("jackal", "burger"),
    )
    start = made.reset()
    assert [r.model.name for r in start.robots] == ["jackal", "burger"]
    assert len(start.pedestrians.id) == 4


def test_arenas_settings_are_read_unchanged_and_followed(tmp_path):
    (tmp_path / "task_generator.yaml").write_text(ARENA)
    made = TaskGenerator(tmp_path / "task_generator.yaml")
    assert made.seed == 7
    with pytest.raises(InputError, match="seed 3: the settings have a seed, RANDOM.seed: 7; leave one of them out"):
        TaskGenerator(tmp_path / "task_generator.yaml", seed=3)
    assert made.stage.timeout == "auto"
    assert made.stage.goal_tolerance == 1.0
    assert made.stage.heading_tolerance == pytest.approx(math.radians(30.0))
    counts = {len(made.start(k).pedestrians.id) for k in range(25)}
    assert counts == {1, 2, 3, 4, 5}
    made.episode = 49
    assert not made.finished
    made.reset()
    assert made.finished


def test_the_shipped_settings_are_the_defaults_that_are_documented():
    shipped = plain(load(folder("configs") / "task_generator.yaml", Settings))
    assert shipped | {"RANDOM": 0} == plain(Settings()) | {"RANDOM": 0}
    assert shipped["RANDOM"]["dynamic"] == plain(Settings())["RANDOM"]["dynamic"]


def test_no_time_out_is_the_longest_there_is():
    assert TaskGenerator(Settings(timeout=-1)).stage.timeout == 36_000.0


def test_parameters_have_the_names_of_ros():
    made = quick()
    made.configure(RANDOM_dynamic_min=2, RANDOM_dynamic_max=2, RANDOM_static_models="table;chair", timeout=11)
    assert made.setup.settings.random.static.models == ("table", "chair")
    assert made.stage.timeout == 11.0
    assert {len(made.start(k).pedestrians.id) for k in range(5)} == {2}
    with pytest.raises(UnknownNameError, match="did you mean 'RANDOM_dynamic_max'"):
        made.configure(RANDOM_dynamic_mx=2)
    with pytest.raises(InputError, match="min and max: expected 0 <= min <= max"):
        made.configure(RANDOM_dynamic_max=1)
    assert made.setup.settings.random.dynamic.max == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("episodes: 50", "episodess: 50", "t.yaml:2: episodess: unknown key; did you mean 'episodes'?"),
        ("episodes: 50", "episodes: many", "t.yaml:2: episodes: expected an integer"),
        ("episodes: 50", "timeout: .nan", "t.yaml:2: timeout: expected a number or one of auto, got nan"),
        ("episodes: 50", "timeout: 0", "timeout must be in (0, 36000] s"),
        ("episodes: 50", "goal_radius: 15", "goal_radius: expected a number in (0, 5], got 15"),
        ("episodes: 50", "goal_tolerance_angle: 200", "goal_tolerance_angle: expected a number in (0, 180], got 200"),
        ("min: 1, max: 5", "min: 6, max: 5", "t.yaml:13: RANDOM.dynamic: min and max: expected 0 <= min <= max"),
        ('max: 0, models: ["shelf"]', 'max: 0, modles: ["shelf"]', "t.yaml:11: RANDOM.static.modles: unknown key"),
        ("seed: 7", "seed: -2", "seed: expected an integer of at least -1, got -2"),
        ("RANDOM:", "RANDOMM:", "did you mean 'RANDOM'?"),
    ],
)
def test_wrong_settings_are_refused_with_file_line_and_key(tmp_path, old, new, message):
    (tmp_path / "t.yaml").write_text(ARENA.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        TaskGenerator(tmp_path / "t.yaml")
    assert message in str(caught.value), str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"RANDOM_static_max": 2, "RANDOM_static_models": "shelff"}, "did you mean 'shelf'"),
        ({"PARAMETRIZED_file": "defalt.xml"}, "did you mean 'default'"),
        ({"STAGED_curriculum": "defalt.yaml"}, "did you mean 'default'"),
    ],
)
def test_a_name_in_the_settings_that_nothing_has_is_refused(parameters, message):
    made = quick(tm_modules="staged")
    with pytest.raises(InputError, match=message):
        made.configure(**parameters)
        made.switch(obstacles="parametrized", modules=())


def test_the_stage_of_a_curriculum_is_changed_by_calls():
    made = quick(tm_modules="staged, dynamic_map")
    assert len(made.start(0).pedestrians.id) == 12
    assert [made.next_stage(), made.next_stage(), made.previous_stage()] == [1, 2, 1]
    assert len(made.start(0).pedestrians.id) == 15
    assert made.next_stage(99) == 6
    assert len(made.start(0).pedestrians.id) == 40
    assert made.setup.settings.staged.index == 6
    own = quick(tm_modules=[make("modules", "staged", index=3)])
    assert own.previous_stage() == 2
    assert own.start(0).goal_tolerance == 0.5
    with pytest.raises(InputError, match="only the module 'staged' has curriculum stages, and it is not in use"):
        quick().next_stage()


CANTEEN = Named.of("map_generators", "canteen", width=20.0, obstacle_num=6)


@pytest.mark.parametrize("modules", ["dynamic_map", "clear_forbidden_zones,dynamic_map", "dynamic_map(episode_per_map=1)"])
def test_a_map_that_is_requested_is_that_of_the_next_episode_and_every_module_stays_where_it_was(modules):
    made = quick(tm_modules=modules, world="dynamic_map", tm_obstacles="none")
    before = [module.name for module in made.stage.modules]
    made.new_map()
    assert made.start(0).map.name == "barn-1"
    made.new_map(CANTEEN)
    assert made.start(0).map.name == "canteen-2"
    assert [module.name for module in made.stage.modules] == before


def test_a_map_that_another_module_would_override_is_refused_and_nothing_changes():
    made = quick(tm_modules="staged,dynamic_map", world="dynamic_map")
    with pytest.raises(InputError, match="uses a map of 'barn' regardless of the requested map, because of 'staged' in tm_modules"):
        made.new_map(CANTEEN)
    assert made.start(0).map.name == "barn-0"
    made.new_map()
    assert (made.start(0).map.name, made.start(0).crowd_size, made.next_stage()) == ("barn-1", 12, 1)
    other = quick(tm_modules="dynamic_map,staged", world="dynamic_map")
    other.new_map()
    other.new_map(CANTEEN)
    assert other.start(0).map.name == "canteen-2", "a curriculum chooses the maps of modules after it"


def test_waypoints_are_added_and_forgotten_by_calls():
    made = quick(tm_robots="guided", world="open", tm_obstacles="none")
    for pose in ((2.0, 3.0), (8.0, 4.0, 1.0), (5.0, 9.0)):
        made.append_waypoint(pose)
    assert made.waypoints == ((2.0, 3.0, 0.0), (8.0, 4.0, 1.0), (5.0, 9.0, 0.0))
    goals = made.reset().robots[0].goals
    assert goals[:4] == pytest.approx(np.array([(2, 3, 0), (8, 4, 1), (5, 9, 0), (2, 3, 0)]))
    made.estimate_pose((6.0, 7.5, -2.0))
    assert made.waypoints == ()
    assert made.reset().robots[0].pose == pytest.approx([6.0, 7.5, -2.0])
    with pytest.raises(InputError, match="need the robots mode 'guided'"):
        quick().append_waypoint((1.0, 1.0))


def test_a_teleport_leaves_obstacles_alone_and_keeps_clear_of_whoever_is_there():
    made = quick(tm_robots="explore", tm_obstacles="parametrized", seed=3)
    start = made.reset()
    taken = np.column_stack([start.pedestrians.position, start.pedestrians.radius])
    poses = []
    for _ in range(20):
        (robot,) = made.teleport(start, taken)
        poses.append(robot.pose)
        assert start.map.gap(robot.pose[None, :2])[0] >= robot.model.radius
        assert (np.hypot(*(taken[:, :2] - robot.pose[:2]).T) >= taken[:, 2] + robot.model.radius).all()
        assert len(robot.goals) == len(start.robots[0].goals)
    assert len({pose.tobytes() for pose in poses}) == 20
    again = quick(tm_robots="explore", tm_obstacles="parametrized", seed=3)
    assert again.teleport(again.reset(), taken)[0].pose.tolist() == poses[0].tolist()


@pytest.fixture
def zoned(tmp_path):
    """A world folder as Arena lays one out."""
    place = write_world(tmp_path / "clinic")
    west, east = [[-4.0, 2.4], [1.5, 2.4], [1.5, 11.0], [-4.0, 11.0]], [[2.5, 2.4], [9.0, 2.4], [9.0, 11.0]]
    zones = [{"label": "w", "category": ["public"], "polygon": [west]}, {"label": "e", "category": ["staff"], "polygon": [east]}]
    (place / "map" / "zones.yaml").write_text(json.dumps(zones))
    (place / "zones").mkdir()
    people = {"name": "visitor", "waypoints in": ["public"], "number of waypoints": [2, 3], "amount": 4}
    (place / "zones" / "default.yaml").write_text(
        json.dumps({"pedestrians": [people], "robots": [{"name": "nurse", "waypoints in": ["staff"]}]})
    )
    (place / "scenarios").mkdir()
    scenario = {"robots": [{"start": [-3, 4, 0], "goal": [7, 9, 1]}], "obstacles": {"static": [], "dynamic": [], "interactive": []}}
    (place / "scenarios" / "default.json").write_text(json.dumps(scenario))
    return place


def test_a_folder_of_arenas_gives_zones_and_scenarios(zoned):
    made = quick(world=str(zoned), tm_robots="zones", tm_obstacles="zones")
    start = made.reset()
    assert len(start.pedestrians.id) == 4
    assert (start.pedestrians.position[:, 0] < 1.5).all()
    assert (start.robots[0].goals[:, 0] > 2.5).all()
    made.switch(robots="scenario")
    assert made.reset().robots[0].pose == pytest.approx([-3.0, 4.0, 0.0])


def test_a_scenario_that_is_not_there_is_refused(zoned):
    made = quick(world=str(zoned), tm_robots="scenario")
    with pytest.raises(InputError, match="no scenario of clinic called 'defalt'; did you mean 'default'"):
        made.configure(SCENARIO_file="defalt.json")


PIECES = ["", "0", "-", "9", "1e999", ".nan", " ", "\n", ":", "]", "{", '"', "min", "~", "&a ", "*a", "!!set ", "\t", "[[[["]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(place=st.floats(0, 1), length=st.integers(0, 8), new=st.lists(st.sampled_from(PIECES), max_size=3))
def test_damaged_settings_are_read_or_refused(place, length, new):
    at = int(place * len(ARENA))
    try:
        parse(ARENA[:at] + "".join(new) + ARENA[at + length :], Settings, "t.yaml")
    except InputError as error:
        assert str(error).startswith("t.yaml")
