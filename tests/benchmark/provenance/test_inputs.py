"""A run is of one set of files: one that was changed in between is named, and nothing is mixed."""

from __future__ import annotations

import json
import shutil

import pytest
from tests.learned import learned
from tests.naughty import Naughty
from tests.suites import plane, suite, write_world

from agora.benchmark.bench import bench, run_all
from agora.benchmark.provenance.inputs import inputs, unread
from agora.benchmark.request import Options, Request
from agora.config import load
from agora.errors import ResultsError
from agora.planners.guided import GuidedPlanner
from agora.planners.presets import named_interplanner, named_planner
from agora.registry import Named
from agora.share import folder
from agora.tasks.suite import load_suite

CIRCLE = {"circle": Named("naughty", Naughty())}
ONE_EACH = Options(workers=0, batch=1)


@pytest.fixture
def own(tmp_path):
    """A suite with a robot, a world and a scenario of one's own, and these files."""
    robot = tmp_path / "mine.yaml"
    robot.write_text((folder("configs") / "robots" / "jackal.yaml").read_text())
    place = write_world(tmp_path / "room")
    scenario = tmp_path / "there.json"
    person = {"name": "a", "pos": [4.0, 4.0, 0.0], "waypoints": [[4.0, 4.0, 0.0]]}
    robot_and_person = {"robots": [{"start": [-1.0, 4.0, 0.3], "goal": [6.0, 9.5, 0.0]}], "obstacles": {"dynamic": [person]}}
    scenario.write_text(json.dumps({"map": "room", **robot_and_person}))
    small = plane(
        episodes=3,
        world={"name": "folder", "path": str(place), "scenarios": [str(scenario)]},
        robots="scenario",
        obstacles="scenario",
        robot=str(robot),
        crowd={"model": "deep_social_force"},
    )
    return small, {"robot": robot, "map": place / "map" / "map.png", "scenario": scenario}


def test_every_file_that_enters_is_in_the_record_with_its_digest(own, tmp_path):
    small, files = own
    run_all(Request(small, CIRCLE, tmp_path / "run", ONE_EACH))
    recorded = load(tmp_path / "run" / "run.yaml", dict)["inputs"]
    shipped = {"configs/pedestrians/types.yaml", "configs/pedestrians/deep_social_force.safetensors"}
    assert set(recorded) == {*map(str, files.values()), str(files["map"].with_suffix(".yaml")), *shipped}
    assert all(len(digest) == 32 for digest in recorded.values())


@pytest.mark.parametrize("which", ["robot", "map", "scenario"])
def test_a_run_is_not_resumed_with_other_files_and_the_one_that_was_changed_is_named(own, tmp_path, which):
    small, files = own
    run_all(Request(small, CIRCLE, tmp_path / "run", ONE_EACH))
    file, before = files[which], files[which].read_bytes()
    file.write_bytes(before + b"\n")
    with pytest.raises(ResultsError, match=rf"{file} was changed since the run started; put the file back"):
        run_all(Request(small, CIRCLE, tmp_path / "run", ONE_EACH, resume=True))
    file.write_bytes(before)
    assert len(run_all(Request(small, CIRCLE, tmp_path / "run", ONE_EACH, resume=True))) == 3


def test_a_file_that_is_new_or_gone_in_a_world_is_named(own, tmp_path):
    small, files = own
    run_all(Request(small, CIRCLE, tmp_path / "run", ONE_EACH))
    furniture = files["map"].with_name("furniture.json")
    furniture.write_text("[]")
    with pytest.raises(ResultsError, match=r"furniture\.json was added since"):
        run_all(Request(small, CIRCLE, tmp_path / "run", ONE_EACH, resume=True))


def test_results_may_lie_in_the_folder_of_the_world(own, tmp_path):
    small, files = own
    place = files["map"].parents[1]
    assert len(run_all(Request(small, CIRCLE, place / "results", ONE_EACH))) == 3
    assert len(run_all(Request(small, CIRCLE, place / "results", ONE_EACH, resume=True))) == 3


def test_a_file_that_is_changed_while_a_run_is_on_ends_it_with_an_error_and_the_run_is_not_resumed(own, tmp_path):
    small, files = own
    before = files["robot"].read_text()

    with pytest.raises(ResultsError, match=r"mine\.yaml was changed during the run, so its rows may mix both versions"):
        for _ in bench(Request(small, CIRCLE, tmp_path / "run", ONE_EACH)):
            files["robot"].write_text(before + "\n# another robot\n")
    for text in (files["robot"].read_text(), before):
        files["robot"].write_text(text)
        with pytest.raises(ResultsError, match=r"mine\.yaml was changed since the run started"):
            run_all(Request(small, CIRCLE, tmp_path / "run", ONE_EACH, resume=True))


def test_a_preset_is_in_the_record_by_its_values_and_a_model_by_its_file(tmp_path):
    (tmp_path / "people.onnx").write_bytes(b"weights")
    label, planner = named_planner("dwa_ros")
    assert inputs(planner) == {}
    assert list(inputs({label: Named("mine", Naughty(mischief=str(tmp_path / "people.onnx")))})) == [str(tmp_path / "people.onnx")]


@pytest.mark.parametrize("name", sorted(learned()))
def test_every_learned_planner_tells_the_file_of_its_policy(name):
    found = inputs(Named.of("planners", name))
    assert len(found) > 0
    for file, digest in found.items():
        assert file.startswith("configs/policies/")
        assert file.endswith(".safetensors")
        assert len(digest) == 32
    assert inputs(Named("guided", GuidedPlanner(Named.of("planners", name), named_interplanner("polite")))) == found


def test_a_run_of_a_policy_is_not_resumed_with_other_weights_and_both_digests_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    weights = folder("configs") / "policies"
    shutil.copyfile(weights / "td3.safetensors", "mine.safetensors")
    planners, small = dict([named_planner("policy:file=mine.safetensors")]), plane(episodes=1)
    run_all(Request(small, planners, tmp_path / "run", ONE_EACH))
    was = load(tmp_path / "run" / "run.yaml", dict)["inputs"][str(tmp_path / "mine.safetensors")]
    shutil.copyfile(weights / "hall.safetensors", "mine.safetensors")
    [now] = inputs(planners).values()
    with pytest.raises(ResultsError, match=rf"mine\.safetensors was changed since .*its digest was {was} and is now {now}"):
        run_all(Request(small, planners, tmp_path / "run", ONE_EACH, resume=True))


def test_a_planner_that_was_built_before_its_file_was_changed_drives_with_the_file_as_it_is(tmp_path):
    weights, mine = folder("configs") / "policies", tmp_path / "mine.safetensors"
    shutil.copyfile(weights / "td3.safetensors", mine)
    label, planner = named_planner(f"policy:file={mine}+polite")
    before = planner.part.planner.part.policy
    shutil.copyfile(weights / "hall.safetensors", mine)
    assert planner.part.planner.part.policy is before
    assert unread(planner) == planner
    assert unread(planner).part.planner.part.policy is not before


def test_a_file_beside_is_a_file_whether_its_name_has_a_slash_or_an_ending(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("mine.npz", "demo"):
        (tmp_path / name).write_bytes(b"weights")
    assert list(inputs(Named("mine", Naughty(mischief="mine.npz")))) == [str(tmp_path / "mine.npz")]
    assert list(inputs(Named("mine", Naughty(mischief="./demo")))) == [str(tmp_path / "demo")]
    assert inputs(Named("mine", Naughty(mischief="demo"))) == {}, "a word is no path, whatever lies about"


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("barn_smoke", "data/barn/grids.txt"),
        ("dynabarn_smoke", "data/dynabarn/worlds.json"),
        ("socnavbench_smoke", "data/socnavbench/episodes.json"),
        ("eth_ucy_replay", "data/eth_ucy/zara01/obsmat.txt"),
    ],
)
def test_data_sets_are_in_the_record(name, file):
    assert file in inputs(load_suite(name))


def test_every_shipped_suite_s_robots_are_in_the_record():
    for path in (folder("configs") / "benchmark").glob("*.yaml"):
        if not any(word in path.stem for word in ("barn", "eth_ucy", "socnav")):
            assert any(name.startswith("configs/robots/") for name in inputs(load_suite(path.stem))), path


def test_names_of_files_that_are_not_the_machine_s_own_do_not_depend_on_where_they_lie(tmp_path, monkeypatch):
    monkeypatch.setenv("AGORA_DATA", str(tmp_path))
    write_world(tmp_path / "worlds" / "other")
    small = plane(world={"name": "folder", "path": "other"})
    assert "data/worlds/other/map/map.yaml" in inputs(small)


def test_text_that_is_no_path_is_no_file(tmp_path):
    long = suite(write_world(tmp_path / "room"), episodes=1, crowds=["orca"])
    assert inputs({"a": "x/" * 5000, "b": "nul/\0", "c": "no/such/file"}) == {}
    assert inputs(long)
