"""Rows of an entry that cannot be are found by rules, whatever the author recomputed around them, and before anything is run."""

from __future__ import annotations

import dataclasses
import re
import shutil

import pyarrow as pa
import pytest

from agora.benchmark.bench import run_all
from agora.benchmark.request import Options, Request
from agora.benchmark.results import recording_shards, shard, store
from agora.config import dump
from agora.errors import InputError
from agora.leaderboard import _rules, verification
from agora.leaderboard.entry import DRIVES, ENTRY, REPLAYS, ROWS, TIMING, EntryResults, EntrySuite, digest_of
from agora.leaderboard.entry_folder import read_entry
from agora.leaderboard.page import render
from agora.leaderboard.submission import submit
from agora.leaderboard.verification import Sample, check
from agora.planners.presets import named_planner
from agora.tasks.suite import load_suite

HERE = Options(workers=0)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An entry of a suite that comes with Agora, cut to two stages of three episodes, in which the robot reaches some goals."""
    patch = pytest.MonkeyPatch()
    whole = load_suite("demo")
    cut = dataclasses.replace(
        whole, stages=tuple(dataclasses.replace(whole.stage(name), episodes=3) for name in ("hall", "crossing"))
    )
    for module in ("submission", "verification", "page"):
        patch.setattr(f"agora.leaderboard.{module}.load_suite", lambda name: cut if name == cut.name else load_suite(name))
    folder = tmp_path_factory.mktemp("rules") / "run"
    run_all(Request(cut, dict([named_planner("go_to_goal")]), folder, HERE))
    yield submit(folder, folder.parent / "board")[0]
    patch.undo()


@pytest.fixture
def entry(made, tmp_path):
    return shutil.copytree(made, tmp_path / "entry")


@pytest.fixture
def never_run(monkeypatch):
    """Nothing may be driven again."""
    for name in ("redrive", "conduct"):
        monkeypatch.setattr(verification, name, lambda *given: pytest.fail("episodes were driven"))


def forge(folder, rows):
    """Write rows, and all that says what the rows are, as somebody would who knows how entries are made."""
    posted = read_entry(folder)
    store.write_rows(folder / ROWS, rows)
    store.write_rows(folder / TIMING, [{name: row[name] for name in store.IDENTITY} | {"planning_time": 0.001} for row in rows])
    (folder / REPLAYS).unlink(missing_ok=True)
    here = {name: digest_of(folder / name) for name in (ROWS, DRIVES, TIMING)}
    present = {column for row in rows for column in row}
    metrics = {name: version for name, version in posted.entry.pins.metrics.items() if name in present}
    pins = dataclasses.replace(posted.entry.pins, metrics=metrics)
    entry = dataclasses.replace(posted.entry, files=here, pins=pins, results=EntryResults.of(rows))
    (folder / ENTRY).write_text(dump(entry))
    return folder


def reached(folder):
    """A row that reached its goal without touching anything, and one that did not."""
    rows = read_entry(folder).rows
    return next(row for row in rows if row["success"]), next(row for row in rows if not row["reached"])


def test_an_honest_entry_keeps_all_rules_and_is_run(made):
    posted = read_entry(made)
    assert posted.problems() == []
    assert {row["outcome"] for row in posted.rows} > {"reached"}
    assert list(_rules.of_starts(posted.rows, verification.load_suite("demo").start)) == []


@pytest.mark.parametrize(
    ("name", "planner"),
    [("rlca", "orca"), ("rlca", "go_to_goal"), ("taga", "orca"), ("ga3c", "go_to_goal"), ("francis2023", "orca")],
)
def test_rows_of_many_robots_and_other_suites_keep_all_rules(tmp_path, name, planner):
    suite = load_suite(name)
    suite = dataclasses.replace(suite, stages=tuple(dataclasses.replace(stage, episodes=1) for stage in suite.stages[:2]))
    label, built = named_planner(planner)
    rows = run_all(Request(suite, {label: built}, tmp_path / "run", HERE))
    assert [*_rules.of_plan(rows, EntrySuite.of(suite), label), *_rules.of_columns(rows), *_rules.of_values(rows)] == []
    assert list(_rules.of_starts(rows, suite.start)) == []


def test_columns_that_were_deleted_are_missed(entry, never_run):
    keep = {*store.IDENTITY, "outcome", "pedestrians", "model", "duration", "clipped", "failure", "success", "time_to_goal"}
    forge(entry, [{name: value for name, value in row.items() if name in keep} for row in read_entry(entry).rows])
    problems = check(entry, Sample(6), HERE).problems
    assert any("columns are missing: acceleration_average" in problem for problem in problems)
    assert 'class="board"' not in render([read_entry(entry)])


def test_a_column_of_nobody_is_refused(entry, never_run):
    forge(entry, [{**row, "brilliance": 1.0} for row in read_entry(entry).rows])
    assert check(entry, Sample(1), HERE).problems == ("column 'brilliance' is not an Agora metric",)


def copied(rows, row, robots):
    keys = [{**row, "robot": robot, "key": store.episode_key({**row, "robot": robot})} for robot in robots]
    return [*rows, *keys]


def test_a_row_copied_as_other_robots_is_found_in_one_episode_and_in_all(entry, never_run):
    rows, (good, _) = read_entry(entry).rows, reached(entry)
    forge(entry, copied(rows, good, range(1, 80)))
    [problem] = check(entry, Sample(1), HERE).problems
    words = f"episode {good['episode']} of stage {good['stage']!r} has rows for robots 0 to 79 (80); the number of robots in other"
    assert words in problem
    everywhere = [one for row in rows for one in copied([], {**good, **{k: row[k] for k in ("stage", "episode")}}, range(3))]
    forge(entry, everywhere)
    assert any(
        "rows for robots 0, 1, 2; its number of robots is 1" in problem for problem in check(entry, Sample(1), HERE).problems
    )


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"time_to_goal": -100.0}, "time_to_goal of .* is -100.0, but cannot be below 0"),
        ({"time_to_goal": 0.5}, "time_to_goal must be the duration"),
        ({"time_to_goal": 0.5, "duration": 0.5, "path_traversal_time": 0.5}, "velocity_average must be path_length divided by "
            "duration"),
        ({"success": 0.0}, "success must be 1 if the goal was reached without contact, else 0"),
        ({"clean_arrival": 1.0, "spoilt_by_time": 1.0}, "clean_arrival must be 1 if the goal was reached and no cause "
            "spoilt the arrival, else 0"),
        ({"outcome": "timeout"}, "reached must be 1 if the outcome is reached, else 0"),
        ({"outcome": "triumph"}, "outcome is not one of reached, pedestrian_collision"),
        ({"reached": 0.5}, "reached of .* is 0.5, but must be 0 or 1"),
        ({"collisions": 1.0}, "collisions must be the sum of collisions_pedestrian, collisions_wall"),
        ({"collisions": 0.5}, "collisions of .* is 0.5, but must be a non-negative integer"),
        ({"spl": 1.0, "path_efficiency": 0.9}, "spl must equal path_efficiency after a success"),
        ({"personal_space_compliance.robosense": 1.5}, "must be from 0 to 1"),
        ({"success": None}, "success of .* is empty, but it is defined for every episode"),
        ({"path_length": "short"}, "column 'path_length' does not contain numbers"),
        ({"velocity_max": 0.0}, "velocity_average is greater than velocity_max"),
        ({"failure": "on purpose"}, "failure must be given if, and only if, the planner or the simulator failed"),
        ({"reason": "boredom"}, "reason is not a known reason"),
        ({"robot": -1}, "does not belong to this suite, seed and planner"),
        ({"seed": 99}, "does not belong to this suite, seed and planner"),
        ({"stalled_time": 1e4}, "stalled_time is greater than duration"),
        ({"model": "tank"}, "model is 'tank', but the robot is a jackal"),
        ({"velocity_max": 1e6}, "velocity_max is 1000000.0 m/s, but a jackal drives at most 2 m/s"),
        ({"path_length": 99.0, "velocity_average": None}, "path_length is 99.0 m in .* s, but a jackal drives at most 2 m/s"),
        ({"path_length": 0.1, "path_length.taga": 0.1, "velocity_average": None}, "reached, but path_length is 0.1 m and the goal"),
        ({"final_goal_distance": 3.0}, "outcome is reached, but final_goal_distance is 3.0 m and the tolerance"),
    ],
)  # fmt: skip
def test_values_that_cannot_be_are_named(entry, never_run, columns, words):
    good, _ = reached(entry)
    rows = [{**row, **columns} if row["key"] == good["key"] else row for row in read_entry(entry).rows]
    if "path_length" in columns:
        rows = [{**row, **columns} for row in rows]
    forge(entry, [{**row, "key": store.episode_key(row)} for row in rows])
    problems = "\n".join(check(entry, Sample(1), HERE).problems)
    assert re.search(words, problems), problems


def test_a_failed_episode_that_is_made_a_success_is_named(entry, never_run):
    _, bad = reached(entry)
    better = {"outcome": "reached", "reached": 1.0, "success": 1.0}
    forge(entry, [{**row, **better} if row["key"] == bad["key"] else row for row in read_entry(entry).rows])
    assert len(check(entry, Sample(1), HERE).problems) > 3


def test_rows_that_were_swapped_between_episodes_are_not_of_their_starts(entry, never_run):
    first, second, *rest = read_entry(entry).rows
    identity = {*store.IDENTITY}

    def swapped(one, other):
        return {name: one[name] if name in identity else other[name] for name in one}

    forge(entry, [swapped(first, second), swapped(second, first), *rest])
    problems = check(entry, Sample(1), HERE).problems
    assert len(problems) == 2
    assert all("m from the start" in problem for problem in problems)


def test_the_order_of_rows_says_nothing(entry):
    rows = read_entry(entry).rows
    forge(entry, rows[::-1])
    assert read_entry(entry).rows == rows
    assert check(entry, Sample(1, seed=2), HERE).agrees


def test_a_million_rows_are_refused_before_they_are_read(entry, monkeypatch):
    posted = read_entry(entry)
    count = 1_000_000
    table = pa.table({"key": pa.array(["a"] * count), "episode": pa.array(range(count), pa.int64())})
    shard.write(entry / ROWS, shard.encode(table))
    many = dataclasses.replace(posted.entry, files=posted.entry.files | {ROWS: digest_of(entry / ROWS)})
    (entry / ENTRY).write_text(dump(many))
    monkeypatch.setattr(shard, "read", lambda *given: pytest.fail("the rows were read"))
    with pytest.raises(InputError, match=r"rows\.parquet: has 1000000 rows, expected at most 6"):
        check(entry, Sample(1), HERE)
    results = dataclasses.replace(posted.entry.results, rows=count)
    (entry / ENTRY).write_text(dump(dataclasses.replace(many, results=results)))
    with pytest.raises(InputError, match=r"results\.rows is 1000000, too many for 6 episodes"):
        check(entry, Sample(1), HERE)
    stages = {name: dataclasses.replace(part, episodes=count) for name, part in posted.entry.suite.stages.items()}
    larger = dataclasses.replace(posted.entry.suite, stages=stages)
    (entry / ENTRY).write_text(dump(dataclasses.replace(many, results=results, suite=larger)))
    with pytest.raises(InputError, match=r"suite\.stages\.hall\.episodes was 1000000, but is now 3"):
        check(entry, Sample(1), HERE)
    with pytest.raises(InputError, match="too many for 2000000 episodes"):
        read_entry(entry)


def test_more_recordings_than_an_entry_may_keep_are_refused(entry):
    posted = read_entry(entry)
    kept = list(recording_shards.read_recordings(entry / REPLAYS).values())
    recording_shards.write_recordings(entry / REPLAYS, {f"recording {k}": kept[0] for k in range(9)})
    files = posted.entry.files | {REPLAYS: digest_of(entry / REPLAYS)}
    (entry / ENTRY).write_text(dump(dataclasses.replace(posted.entry, files=files)))
    with pytest.raises(InputError, match=r"replays\.parquet: has 9 rows, expected at most 8"):
        read_entry(entry)


def test_a_value_that_keeps_all_rules_is_found_by_driving_again(entry):
    good, _ = reached(entry)
    rows = [{**row, "jerk_max": row["jerk_max"] * 2.0} if row["key"] == good["key"] else row for row in read_entry(entry).rows]
    forge(entry, rows)
    result = check(entry, Sample(6), HERE)
    assert result.problems == ()
    assert [(one.key, one.column) for one in result.differences] == [(good["key"], "jerk_max")]


def test_learned_planners_pin_their_weights(tmp_path, made):
    suite = verification.load_suite("demo")
    run_all(Request(suite, dict([named_planner("td3")]), tmp_path / "run", HERE))
    [place] = submit(tmp_path / "run", tmp_path / "board")
    weights = read_entry(place).entry.pins.weights
    assert list(weights) == ["configs/policies/td3.safetensors"]
    (place / ENTRY).write_text((place / ENTRY).read_text().replace(*weights.values(), "0a" * 16))
    with pytest.raises(InputError, match=r"pins\.weights\.configs/policies/td3\.safetensors was '(0a)+'"):
        check(place, Sample(1), HERE)
