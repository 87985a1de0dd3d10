"""A forged entry is refused: a cheating planner by its commands, an edited value by its file, row and column."""

from __future__ import annotations

import dataclasses
import functools
import math
import re
import socket
import sys
from pathlib import Path

import numpy as np
import pytest
import tests.cheats
from tests.installed import installed
from tests.leaderboard.entries import HERE, change, drive, rewrite, sign

from agora.benchmark.bench import run_all
from agora.benchmark.request import Request
from agora.benchmark.results import recording_shards, store
from agora.config import dump
from agora.errors import InputError
from agora.leaderboard import _rules, verification
from agora.leaderboard.entry import DRIVES, ENTRY, REPLAYS, ROWS, TIMING, EntryResults
from agora.leaderboard.entry_folder import PostedEntry, read_claims, read_entry
from agora.leaderboard.submission import submit
from agora.leaderboard.verification import Sample, check
from agora.metrics.planning_time import TIMING as TIMES
from agora.planners.contained.confine import lack
from agora.planners.presets import named_planner

ALL = Sample(4, seed=1)


@pytest.fixture(scope="module")
def cheats(tmp_path_factory):
    """An installed package with the planner `tests.cheats.Cheat`."""
    with installed(tmp_path_factory.mktemp("site"), "cheats", Path(tests.cheats.__file__), planners__cheat="Cheat"):
        yield


def entered(cut, folder: Path, text: str) -> Path:
    """The entry of a planner's run in this process."""
    run_all(Request(cut, dict([named_planner(text)]), folder / "run", HERE))
    (place,) = submit(folder / "run", folder / "board")
    return place


def said(place: Path, sample: Sample = ALL) -> str:
    """What a check finds, in one text."""
    result = check(place, sample, HERE)
    return "\n".join(map(str, (*result.problems, *result.differences)))


@pytest.mark.skipif(bool(lack()), reason=lack())
def test_a_planner_that_moves_people_is_refused_and_its_package_is_not_imported_by_the_check(cut, tmp_path, cheats):
    place = entered(cut, tmp_path, "cheat:trick=moves_people")
    assert sys.modules.pop("cheats")
    result = check(place, ALL, HERE)
    assert (result.problems, result.episodes) == ((), 0), "the planner is not asked if its commands say it all"
    assert str(result.differences[0]).startswith("rows.parquet: single_pedestrian/frontal_approach/0/cheat:trick=moves_people/0: ")
    assert "cheats" not in sys.modules


@pytest.mark.skipif(bool(lack()), reason=lack())
def test_a_planner_of_another_package_drives_the_same_over_the_wire(cut, tmp_path, cheats):
    place = entered(cut, tmp_path, "cheat")
    assert read_entry(place).entry.pins.packages["cheats"].startswith("1.0, code ")
    assert said(place, Sample(1, seed=1)) == ""


@pytest.mark.skipif(bool(lack()), reason=lack())
def test_a_planner_that_chose_its_commands_by_the_world_is_refused(cut, tmp_path, cheats):
    place = entered(cut, tmp_path, "cheat:trick=looks")
    assert "commands.parquet: single_pedestrian/" in said(place, Sample(1, seed=1))


FORGED = {
    "11 m in a nanosecond": {"path_length": 11.0, "duration": 1e-9, "velocity_average": 11e9, "path_traversal_time": 1e-9},
    "a path of 1 % of the straight line": {"path_length": 0.05, "velocity_average": None},
    "a million metres a second": {"velocity_max": 1e6},
    "5 m away from the pedestrian that it hit": {
        "collisions_pedestrian": 1.0,
        "collisions": 1.0,
        "closest_pedestrian_distance_min": 5.0,
    },
    "no jerk at all": {"jerk_average": 0.0, "jerk_max": 0.0},
}


@pytest.fixture(scope="module")
def refused(made):
    """Returns what a check says of other rows: the rules first, then the recorded commands, which are driven once for all."""
    posted = read_entry(made[0])
    suite = verification._suite_of(posted.entry, made[0])
    again = functools.cache(lambda job: list(redrive(verification._plan_of(posted, suite, HERE), job, posted.drives)))
    redrive, start, measures = verification.redrive, functools.cache(suite.start), functools.cache(_rules.metrics)

    def say(rows: list) -> str:
        changed = PostedEntry(posted.folder, dataclasses.replace(posted.entry, results=EntryResults.of(rows)), rows)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_rules, "metrics", measures)
            problems = changed.problems() or list(_rules.of_starts(rows, start))
        if problems:
            return "\n".join(problems)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(verification, "redrive", lambda plan, job, drives: again(job))
            patch.setattr(verification, "read_replays", lambda posted: {})
            return "\n".join(str(one) for _, some in verification._driven(changed, suite, HERE) for one in some)

    return say


def with_(posted: PostedEntry, number: int, **columns: object) -> list:
    """The rows of an entry with other values in one."""
    return [{**row, **columns} if k == number else row for k, row in enumerate(posted.rows)]


@pytest.mark.parametrize("columns", FORGED.values(), ids=FORGED)
def test_values_that_no_robot_can_have_are_refused(made, refused, columns):
    posted = read_entry(made[0])
    for number, row in enumerate(posted.rows):
        words = refused(with_(posted, number, **columns))
        assert row["key"] in words
        assert any(column in words for column in columns)


def test_every_column_of_a_row_is_compared_and_named(made, refused):
    posted = read_entry(made[0])
    number, row = next((k, row) for k, row in enumerate(posted.rows) if row["outcome"] == "reached")
    assert refused(list(posted.rows)) == ""
    missed = []
    for column, true in row.items():
        if column in store.IDENTITY or column in ("failure", "reason"):
            continue
        for value in forgeries(true):
            words = refused(with_(posted, number, **{column: value}))
            missed += [] if column in words and row["key"] in words else [(column, value, words)]
    assert not missed


def forgeries(true: object) -> list:
    """Other values than the true one: next to it, far away, and none."""
    if isinstance(true, str):
        return [other for other in ("wall_collision", "tracked", "jackal") if other != true]
    if true is None:
        return [0.5]
    return [value for value in (math.nextafter(true, math.inf), 1e6, None) if value != true]


def test_planning_times_that_cannot_be_are_refused(entry):
    key = read_entry(entry).rows[0]["key"]
    for column in sorted(TIMES):
        change(entry, key, TIMING, **{column: -1e-3})
        assert said(entry).startswith(f"{TIMING}: {column} of {key!r} is -0.001, but ")
        change(entry, key, TIMING, **{column: None})
    rewrite(entry, TIMING, read_entry(entry).timing[1:])
    assert said(entry) == f"{TIMING}: its rows do not match the rows of the entry"


def test_rows_that_are_missing_doubled_or_of_another_stage_are_refused(made, refused):
    rows = list(read_entry(made[0]).rows)
    assert "episodes of the suite have no row" in refused(rows[1:])
    assert "occurs twice" in refused([*rows, rows[0]])
    swapped = {name: value for name, value in rows[1].items() if name not in store.IDENTITY}
    assert rows[0]["key"] in refused([{**rows[0], **swapped}, *rows[1:]])


@pytest.mark.parametrize(
    ("forge", "words"),
    [
        (lambda one, two: one.commands[:-1], r"rows\.parquet: \S+: outcome is .* file, but 'planner_failed' when recomputed"),
        (lambda one, two: np.vstack([one.commands, one.commands[:1]]), r"commands\.parquet: \S+: command is given for \d+ calls"),
        (lambda one, two: one.commands + np.float32(1e-3), r"rows\.parquet"),
        (lambda one, two: two.commands, r"rows\.parquet"),
    ],
    ids=["one less", "one more", "a millimetre a second", "of another row"],
)
def test_other_commands_than_those_of_the_row_are_refused(entry, forge, words):
    drives = read_entry(entry).drives
    first, *_, last = drives
    commands = forge(drives[first], drives[last])
    notes = {name: np.resize(note, len(commands)) for name, note in drives[first].notes.items()}
    drive(entry, drives | {first: dataclasses.replace(drives[first], commands=commands, notes=notes)})
    result = check(entry, ALL, HERE)
    assert not result.episodes
    assert {one.key for one in result.differences} == {first}
    assert re.search(words, str(result.differences[0]))


def test_commands_that_are_missing_or_of_no_row_or_no_numbers_are_refused_with_the_file(entry):
    drives = read_entry(entry).drives
    first = next(iter(drives))
    for some, words in (
        ({key: one for key, one in drives.items() if key != first}, f"no commands for '{first}'"),
        ({f"{key[:-1]}7" if key == first else key: one for key, one in drives.items()}, f"no commands for '{first}'"),
        (drives | {f"{first[:-1]}7": drives[first]}, "has 5 rows, expected at most 4"),
        (drives | {first: dataclasses.replace(drives[first], commands=drives[first].commands * np.nan)}, "not one finite number"),
        (drives | {first: dataclasses.replace(drives[first], notes={"reason": np.zeros(2, np.int8)})}, "not one finite number"),
    ):
        drive(entry, some)
        with pytest.raises(InputError, match=rf"{DRIVES}.*{words}"):
            check(entry, ALL, HERE)


@pytest.mark.parametrize("name", [ROWS, DRIVES, TIMING, REPLAYS])
def test_a_file_that_was_cut_or_is_another_is_refused_by_its_name(entry, made, name):
    data = (entry / name).read_bytes()
    for wrong in (data[:-9], data[:90] + bytes([data[90] ^ 1]) + data[91:], b"", b"PAR1", (made[0] / ENTRY).read_bytes()):
        (entry / name).write_bytes(wrong)
        with pytest.raises(InputError, match=f"{name}: was changed since"):
            check(entry, ALL, HERE)
        sign(entry, name)
        with pytest.raises(InputError, match=name):
            check(entry, ALL, HERE)
    (entry / name).unlink()
    with pytest.raises(InputError, match=rf"files\.{name}: the entry has no such file"):
        check(entry, ALL, HERE)


def test_a_recording_that_was_changed_is_refused(entry):
    kept = recording_shards.read_recordings(entry / REPLAYS)
    key, one = next(iter(kept.items()))
    recording_shards.write_recordings(entry / REPLAYS, kept | {key: dataclasses.replace(one, pose=one.pose + 0.01)})
    sign(entry, REPLAYS)
    assert said(entry).startswith(f"{REPLAYS}: {key}: the recording is the stored one")


def test_no_address_of_an_entry_is_connected_to_unless_it_is_asked_for(entry):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        address = "{}:{}".format(*server.getsockname())
        claims = read_claims(entry)
        planner = dataclasses.replace(claims.planner, configuration={"name": "remote", "address": address})
        (entry / ENTRY).write_text(dump(dataclasses.replace(claims, planner=planner)))
        with pytest.raises(InputError, match=f"entry.yaml: planner: this planner is a program at {address}; if you trust it"):
            check(entry, ALL, HERE)
        with pytest.raises(BlockingIOError):
            server.accept()
    with pytest.raises(InputError, match="nothing is listening"):
        check(entry, ALL, HERE, connect=True)
