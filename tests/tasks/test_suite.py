"""Suites: what a file may say, what is wrong with one that says something else, and starts that depend on their entry alone."""

from __future__ import annotations

import json
import math
import tempfile
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.suites import planners, write_world

from agora.benchmark.bench import check, describe
from agora.benchmark.request import Request
from agora.config import dump
from agora.draft.people import Person
from agora.episode import Conditions, Episodes
from agora.errors import InputError, PlacementError, UnknownNameError
from agora.perception.detector import Detector
from agora.perception.groups import GroupDetector
from agora.perception.perception import Perception
from agora.perception.tracker import Tracker
from agora.planners.local.go_to_goal import GoToGoal
from agora.seeds import Stream
from agora.tasks.suite import Suite, load_suite, suite_names
from agora.testing.guard import identical

TEXT = """\
name: small
seed: 3
stages:
  - name: first
    episodes: 2
    world: {name: folder, path: WORLD}
    robots:
      name: random
      distance: 3.0
    obstacles: {name: random, dynamic: [2, 4]}
    crowd: {model: helbing, people: {speed: 1.2}}
    timeout: 5.0
    robot: burger
    periods: {physics: 0.05, control: 0.1}
  - name: second
    world: {name: open, width: 9}
    crowd:
      model: {name: orca}
    obstacles: {name: random, dynamic: [1, 1]}
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_world(tmp_path_factory.mktemp("places") / "room")


@pytest.fixture
def written(world, tmp_path):
    def write(old: str = "", new: str = "") -> Path:
        path = tmp_path / "s.yaml"
        assert old in TEXT
        path.write_text(TEXT.replace(old, new, 1).replace("WORLD", str(world)) if old else TEXT.replace("WORLD", str(world)))
        return path

    return write


def test_a_file_is_read_with_its_defaults_and_survives_the_way_through_a_file(written, tmp_path):
    suite = load_suite(written())
    first, second = suite.stages
    assert (first.count, second.count, suite.entries()) == (2, 1, [("first", 0), ("first", 1), ("second", 0)])
    assert first.robots.part.distance == 3.0
    assert (first.crowd.people.speed, first.crowd.people.radius, second.timeout, second.robot) == (1.2, 0.3, "auto", "jackal")
    (tmp_path / "again.yaml").write_text(dump(suite))
    assert load_suite(tmp_path / "again.yaml") == suite


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed: 3", "sed: 3", ":2: sed: unknown key; did you mean 'seed'?"),
        ("timeout: 5.0", "timeout: soon", ":12: stages[0].timeout: expected a number in (0, 36000] or one of auto, got 'soon'"),
        ("timeout: 5.0", "timeout: .nan", ":12: stages[0].timeout: expected a number in (0, 36000] or one of auto, got nan"),
        ("timeout: 5.0", "timeout: 0.0", ":12: stages[0].timeout: expected a number in (0, 36000] or one of auto, got 0.0"),
        ("timeout: 5.0", "goal_tolerance: 15", ":12: stages[0].goal_tolerance: expected a number in (0, 5], got 15"),
        ("timeout: 5.0", "heading_tolerance: 30", ":12: stages[0]: heading_tolerance: expected an angle in (0, pi] rad"),
        (
            "timeout: 5.0",
            "heading_tolerance: 15",
            ":12: stages[0]: heading_tolerance: expected an angle in (0, pi] rad, or null for any heading, got 15; angles are",
        ),
        (
            "timeout: 5.0",
            "heading_tolerance: 0.0",
            ":12: stages[0]: heading_tolerance: expected an angle in (0, pi] rad, or null for any heading, got 0",
        ),
        ("helbing", "helbling", ":11: stages[0].crowd.model: no crowd model called 'helbling'; did you mean 'helbing'?"),
        ("{name: orca}", "{name: orka}", ":18: stages[1].crowd.model: no crowd model called 'orka'; did you mean 'orca'?"),
        ("{name: orca}", "{name: orca, horizn: 2}", ":18: stages[1].crowd.model.horizn: unknown key; did you mean 'horizon'?"),
        (
            "model: {name: orca}",
            "models: [{model: orka}]",
            ":18: stages[1].crowd.models[0].model: no crowd model called 'orka'; did you mean 'orca'?",
        ),
        (
            "model: {name: orca}",
            "models: [{model: orca, share: 0}]",
            ":18: stages[1].crowd.models[0].share: expected a number above 0, got 0",
        ),
        (
            "model: {name: orca}",
            "{model: orca, models: [{model: helbing}]}",
            ":18: stages[1].crowd: models cannot be combined with model, which sets the model of all pedestrians",
        ),
        ("burger", "burgr", ":13: stages[0]: robot: no robot called 'burgr'; did you mean 'burger'?"),
        ("path: WORLD", "path: hal", ":6: stages[0].world: path: no world called 'hal'; did you mean 'hall'?"),
        ("path: WORLD", "path: ./nowhere", ":6: stages[0].world: path: there is no folder ./nowhere"),
        (
            "path: WORLD",
            "path: corridor, scenarios: [counterflw]",
            ":6: stages[0].world: scenarios: no scenario of corridor called 'counterflw'; did you mean 'counterflow'?",
        ),
        ("name: folder", "name: foldr", ":6: stages[0].world: no world source called 'foldr'; did you mean 'folder'?"),
        ("name: random\n", "name: randm\n", ":8: stages[0].robots: no robots mode called 'randm'; did you mean 'random'?"),
        ("distance: 3.0", "distance: true", ":9: stages[0].robots.distance: expected a number, got true"),
        ("dynamic: [2, 4]", "dynamc: [2, 4]", ":10: stages[0].obstacles.dynamc: unknown key; did you mean 'dynamic'?"),
        ("dynamic: [2, 4]", "dynamic: [4, 2]", ":10: stages[0].obstacles: dynamic must be [min, max]"),
        (
            "control: 0.1",
            "control: 0.12",
            ":14: stages[0].periods: control must be an integer multiple of physics = 0.05 s, got",
        ),
        ("width: 9", "width: -9", ":16: stages[1].world.width: expected a number in (0, 1000], got -9"),
        ("speed: 1.2", "speed: fast", ":11: stages[0].crowd.people.speed: expected a number, got 'fast'"),
        ("name: second", "name: first", ":4: stages must have different names, got ['first', 'first']"),
        ("name: second", "name: sec/ond", ":15: stages[1]: name must be a printable string that has no '/'"),
        ("name: small", "name: ../small", ":1: name must be a printable string that has no '/'"),
        ("episodes: 2", "episodes: 2000000000", ":5: stages[0].episodes: expected an integer in [0, 1000000]"),
        ("episodes: 2", "drawn_as: demo", ":5: stages[0]: drawn_as must be suite/stage, got 'demo'"),
        ("episodes: 2", "drawn_as: demo/hall/3", ":5: stages[0]: drawn_as must be suite/stage, got 'demo/hall/3'"),
    ],
)
def test_a_wrong_file_is_refused_with_line_key_and_the_nearest_name(written, old, new, message):
    path = written(old, new)
    with pytest.raises(InputError) as caught:
        load_suite(path)
    assert str(caught.value).startswith(f"{path}{message}")


def test_every_problem_of_a_file_is_said_at_once(written):
    path = written("seed: 3", "sed: 3\nversion: one")
    with pytest.raises(InputError) as caught:
        load_suite(path)
    assert [line.split(": ")[1] for line in str(caught.value).splitlines()] == ["sed", "version"]


def test_a_suite_that_is_not_there_is_refused_with_the_nearest_name(tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean 'demo'"):
        load_suite("dmo")
    (tmp_path / "good.yaml").write_text("")
    with pytest.raises(InputError, match=r"there is no such file; did you mean 'good.yaml'"):
        load_suite(tmp_path / "god.yaml")


def test_a_map_without_its_image_is_refused_by_the_names_of_both_files(world, tmp_path):
    place = write_world(tmp_path / "room")
    (place / "map" / "map.png").rename(place / "map" / "maps.png")
    suite = with_world(place)
    with pytest.raises(InputError, match=r"small/one/0: .*map\.yaml:1: image: .*map\.png: .*did you mean 'maps\.png'"):
        check(suite)


def with_world(place: Path, scenario: dict | None = None) -> Suite:
    """A suite of one stage that plays a scenario in a folder."""
    named, modes = "", ""
    if scenario is not None:
        (place / "scenarios").mkdir(exist_ok=True)
        (place / "scenarios" / "walk.json").write_text(json.dumps(scenario, indent=1))
        named, modes = ", scenarios: [walk]", "\n    robots: scenario\n    obstacles: scenario"
    text = f"name: small\nstages:\n  - name: one\n    world: {{name: folder, path: {place}{named}}}{modes}\n"
    path = place / "suite.yaml"
    path.write_text(text)
    return load_suite(path)


def walk(start=(-2.0, 4.0, 0.5), static=(), dynamic=(), **robot) -> dict:
    obstacles = {"static": list(static), "interactive": [], "dynamic": list(dynamic)}
    return {"robots": [{"start": list(start), "goal": [7.0, 9.0, 0.0]} | robot], "obstacles": obstacles}


PERSON = {"name": "ada", "pos": [3.0, 4.0, 0.0], "waypoints": [[5.0, 4.0, 0.0]], "waypoint_mode": 2}
SHELF = {"name": "s", "model": "shelf", "pos": [3.0, 9.0, 0.5236]}


def test_a_scenario_puts_robots_and_pedestrians_where_it_says(tmp_path):
    tree = {"name": "t", "model": "tree", "pos": [-3.0, 9.5]}
    suite = with_world(write_world(tmp_path / "room"), walk(static=[SHELF, tree], dynamic=[PERSON]))
    start = suite.start("one", 0)
    assert start.robots[0].pose.tolist() == [-2.0, 4.0, 0.5]
    assert start.robots[0].goals.tolist() == [[7.0, 9.0, 0.0]]
    assert start.pedestrians.position.tolist() == [[3.0, 4.0]]
    # a shelf is 1.8 m long and 0.5 m deep, turned by 30 degrees; a tree has a radius of 0.25 m
    assert start.map.discs.tolist() == [[-3.0, 9.5, 0.25]]
    *_, shelf = start.map.polygons
    along, across = np.array([math.cos(0.5236), math.sin(0.5236)]), np.array([-math.sin(0.5236), math.cos(0.5236)])
    expected = [(3.0, 9.0) + a * 0.9 * along + b * 0.25 * across for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    assert shelf == pytest.approx(np.array(expected))
    ends = (3.0, 9.0) + np.outer([0.95, 1.2], along)
    assert start.map.gap(ends) == pytest.approx([0.05, 0.3])


@pytest.mark.parametrize(
    ("scenario", "line", "message"),
    [
        (walk(start=(1.0, 7.5)), 4, r"robots\[0\].start: it is at \(1.00, 7.50\), inside an obstacle of map 'room'"),
        (walk(start=(99.0, 5.5)), 4, r"robots\[0\].start: it is at \(99.00, 5.50\), outside map 'room'"),
        (walk(dynamic=[PERSON | {"pos": [1.1, 7.6]}]), 22, r"obstacles.dynamic\[0\].pos: it is at \(1.10, 7.60\), inside an"),
        (walk(start=(3.1, 9.1), static=[SHELF]), 15, r"obstacles: robot 0 is at \(3.10, 9.10\), inside an obstacle"),
        (
            walk(static=[SHELF | {"model": "shlf"}]),
            20,
            r"obstacles.static\[0\].model: no furniture model called 'shlf'; did you mean 'shelf'",
        ),
        (walk(goall=[1, 2]), 14, r"robots\[0\].goall: unknown key; did you mean 'goal'"),
        (
            walk(dynamic=[PERSON | {"vmax": 1e3}]),
            None,
            r"obstacles.dynamic\[0\].vmax: expected a number in \[0, 15\] or nothing, got 1000",
        ),
        (walk(goal=(1.0, 7.5, 0.0)), 9, r"robots\[0\].goal: it is at \(1.00, 7.50\), inside an obstacle of map 'room'"),
        (walk(goal=(1.0, -99.0, 0.0)), 9, r"robots\[0\].goal: it is at \(1.00, -99.00\), outside map 'room'"),
        (
            walk(dynamic=[PERSON | {"waypoints": [[3.0, 4.5], [490.0, 6.0]]}]),
            None,
            r"obstacles.dynamic\[0\].waypoints\[1\]: it is at \(490.00",
        ),
        (
            walk(dynamic=[PERSON, PERSON | {"name": "twin"}]),
            None,
            r"obstacles.dynamic\[1\].pos: pedestrian 'twin' is at .*, overlapping a pedestrian or robot",
        ),
        (
            walk(dynamic=[PERSON | {"pos": [-1.9, 4.1]}]),
            None,
            r"obstacles.dynamic\[0\].pos: pedestrian '.*' is at \(-1.90, 4.10\), overlapping a pedestrian or robot",
        ),
        (
            walk(goal=(3.1, 9.1, 0.0), static=[SHELF]),
            None,
            r"obstacles: the goal of robot 0 is at \(3.10, 9.10\), inside an obstacle",
        ),
        (
            walk() | {"robots": walk()["robots"] * 2},
            None,
            r"robots\[1\].start: robot 1 is at .*, overlapping a pedestrian or "
            r"robot at",
        ),
    ],
)
def test_a_scenario_that_cannot_be_is_refused_with_file_line_and_key(tmp_path, scenario, line, message):
    suite = with_world(write_world(tmp_path / "room"), scenario)
    with pytest.raises(InputError, match=rf"walk\.json:{line or '[0-9]+'}: {message}"):
        check(suite)


def test_a_stage_that_is_drawn_as_another_has_its_places_and_an_entry_of_its_own(written):
    suite = load_suite(written())
    twin = replace(suite.stage("first"), name="twin", drawn_as="small/first")
    other = Suite("other", (twin, replace(twin, name="own", drawn_as="")), seed=suite.seed)
    for episode in (0, 1):
        drawn, found, own = suite.start("first", episode), other.start("twin", episode), other.start("own", episode)
        assert found.entry == f"other/twin/{episode}"
        assert np.array_equal(found.robots[0].pose, drawn.robots[0].pose)
        assert np.array_equal(found.pedestrians.position, drawn.pedestrians.position)
        assert not np.array_equal(own.robots[0].pose, drawn.robots[0].pose)


def test_a_start_depends_on_suite_seed_stage_and_episode_alone(written):
    suite = load_suite(written())

    def drawn(made: Suite, stage="first", episode=1):
        start = made.start(stage, episode)
        return np.concatenate([start.robots[0].pose, start.pedestrians.position.ravel()]).tolist()

    once = drawn(suite)
    suite.start("first", 0)
    assert drawn(suite) == once
    assert drawn(replace(suite, stages=suite.stages[:1])) == once
    for other in (replace(suite, seed=4), replace(suite, name="other")):
        assert drawn(other) != once
    assert drawn(suite, episode=0) != once


@pytest.mark.parametrize("name", ["social", "demo", "density", "planners", "dynabarn_generated", "francis2023", "legged"])
def test_the_map_of_an_episode_is_that_of_its_start(name):
    suite = load_suite(name)
    for stage in suite.stages[:6]:
        for episode in (0, stage.count - 1):
            assert identical(suite.map(stage.name, episode), suite.start(stage.name, episode).map)


def test_robots_and_pedestrians_begin_clear_of_walls_and_of_each_other(written):
    suite = load_suite(written("dynamic: [2, 4]", "dynamic: [6, 9], group_size: [1, 3]"))
    for episode in range(2):
        start = suite.start("first", episode)
        radius = start.robots[0].model.radius
        places = np.array([robot.pose[:2] for robot in start.robots] + [goal[:2] for r in start.robots for goal in r.goals])
        assert (start.map.gap(places) >= radius + 0.25 - 1e-9).all()
        crowd = start.pedestrians.position
        assert (start.map.gap(crowd) >= start.pedestrians.radius).all()
        assert np.hypot(*(crowd - places[0]).T).min() >= 1.5
        apart = np.hypot(*(crowd[:, None] - crowd[None]).transpose(2, 0, 1)) + 9.0 * np.eye(len(crowd))
        assert apart.min() > 0.6


def test_what_does_not_fit_is_a_placement_error_that_names_the_episode(written):
    with pytest.raises(PlacementError, match=r"small/first/0: no room for"):
        check(load_suite(written("dynamic: [2, 4]", "dynamic: [4000, 4000]")))


@pytest.mark.parametrize("name", suite_names())
def test_a_suite_that_comes_with_agora_is_read(name):
    suite = load_suite(name)
    assert suite.name == name
    assert suite.description


WORDS = [
    "",
    "0",
    "-1",
    "1e9",
    ".nan",
    ".inf",
    "true",
    "~",
    "[]",
    "{}",
    "[1, 2]",
    "name",
    "orca",
    "\n",
    "  ",
    ":",
    "- ",
    "'",
    "&a",
    "*a",
    "!x",
]


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(place=st.floats(0, 1), length=st.integers(0, 12), new=st.lists(st.sampled_from(WORDS), max_size=3).map("".join))
def test_a_damaged_suite_is_read_or_refused_but_never_breaks(world, place, length, new):
    text = TEXT.replace("WORLD", str(world))
    at = int(place * len(text))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.yaml"
        path.write_text(text[:at] + new + text[at + length :])
        try:
            suite = load_suite(path)
            if all(stage.count <= 1000 for stage in suite.stages):
                check(suite)
        except InputError as error:
            assert str(error)


SHARES = "models: [{model: helbing, share: 3}, {model: {name: orca, horizon: 2.5}, share: 1}]"


def test_shares_of_a_crowd_among_models_are_drawn_by_walking_group_and_change_nothing_else(written):
    groups = "dynamic: [14, 14], group_size: [1, 2]"
    path = written("dynamic: [2, 4]", groups)
    plain = load_suite(path)
    path.write_text(path.read_text().replace("model: helbing", SHARES))
    mixed = load_suite(path)
    assert [named.name for named in mixed.stages[0].crowd.parts] == ["helbing", "orca"]
    for k in range(2):
        one, other = plain.start("first", k).pedestrians, mixed.start("first", k).pedestrians
        for part in fields(one):
            if part.name != "model":
                assert np.array_equal(getattr(one, part.name), getattr(other, part.name)), part.name
        assert not one.model.any()
        for group in range(other.group.max() + 1):
            assert len(set(other.model[other.group == group])) == 1
        assert np.array_equal(other.model, mixed.start("first", k).pedestrians.model)
    walker = Person(np.zeros(2), np.ones((1, 2)), 1.2, 0.3)
    shared = mixed.stages[0].crowd.share_out([walker] * 2000 + [replace(walker, model=0)] * 50, Stream("e", 1, "crowd_models"))
    assert np.mean([person.model for person in shared[:2000]]) == pytest.approx(0.25, abs=0.03)
    assert {person.model for person in shared[2000:]} == {0}


def test_a_suite_with_several_models_runs_and_survives_the_way_through_a_file(written, tmp_path):
    suite = load_suite(written("model: helbing", SHARES))
    (tmp_path / "again.yaml").write_text(dump(suite))
    assert load_suite(tmp_path / "again.yaml") == suite
    starts = [suite.start("first", k) for k in range(2)]
    results = dict(Episodes(starts, GoToGoal(), Conditions.of(suite.stages[0])))
    assert len(results) == 2
    assert all(np.isfinite(r.pedestrian_position[r.pedestrian_present]).all() for [r] in results.values())


def test_what_planners_are_told_is_a_word_or_a_mapping_with_parameters_of_detector_and_tracker(written):
    follow = "{keep: 2.5, groups: {distance: 1.4}}"
    said = {
        "pedestrians: visible": Perception("visible"),
        "pedestrians: {source: tracked}": Perception("tracked"),
        f"pedestrians: {{source: tracked, detector: {{reach: 7, legs: true}}, tracker: {follow}}}": Perception(
            "tracked", Detector(reach=7.0, legs=True), Tracker(keep=2.5, groups=GroupDetector(distance=1.4))
        ),
    }
    for text, perception in said.items():
        suite = load_suite(str(written("    timeout: 5.0\n", f"    timeout: 5.0\n    {text}\n")))
        assert Conditions.of(suite.stage("first")).perception == perception
        assert Conditions.of(suite.stage("second")).perception == Perception("truth")


def test_a_mapping_of_perception_is_kept_whole_where_a_run_is_described(written, tmp_path):
    text = "    pedestrians: {source: tracked, tracker: {confirm: 3}}\n"
    suite = load_suite(str(written("    timeout: 5.0\n", f"    timeout: 5.0\n{text}")))
    kept = describe(Request(suite, planners("orca"), tmp_path)).suite["stages"]
    assert kept[0]["pedestrians"]["tracker"]["confirm"] == 3
    assert set(kept[0]["pedestrians"]["detector"]) == {field.name for field in fields(Detector)}
    assert kept[1]["pedestrians"] == "truth"
    (tmp_path / "again.yaml").write_text(dump(suite))
    assert load_suite(str(tmp_path / "again.yaml")) == suite


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "pedestrians: traked",
            "pedestrians: expected one of truth, view, visible, tracked, camera, got 'traked'; did you mean 'tracked'?",
        ),
        ("pedestrians: 3", "pedestrians: expected one of truth, view, visible, tracked, camera, got 3"),
        (
            "pedestrians: [tracked]",
            "pedestrians: expected one of truth, view, visible, tracked, camera or a mapping, got a list of 1",
        ),
        (
            "pedestrians: {detector: {reach: 5}}",
            "pedestrians.source: expected one of truth, view, visible, tracked, camera, got nothing",
        ),
        ("pedestrians: {source: seen}", "pedestrians.source: expected one of truth, view, visible, tracked, camera, got 'seen'"),
        ("pedestrians: {source: tracked, detecter: {}}", "pedestrians.detecter: unknown key; did you mean 'detector'?"),
        ("pedestrians: {source: tracked, detector: {rich: 5}}", "pedestrians.detector.rich: unknown key; did you mean 'reach'?"),
        (
            "pedestrians: {source: tracked, tracker: {keep: -1}}",
            "pedestrians.tracker.keep: expected a number of at least 0, got -1",
        ),
        (
            "pedestrians: {source: tracked, tracker: {window: 3}}",
            "pedestrians.tracker: window: must be at least groups.overlap",
        ),
    ],
)
def test_what_is_wrong_about_perception_is_said_with_line_and_key(written, text, message):
    with pytest.raises(InputError) as error:
        load_suite(str(written("    timeout: 5.0\n", f"    timeout: 5.0\n    {text}\n")))
    assert f"s.yaml:13: stages[0].{message}" in str(error.value)
