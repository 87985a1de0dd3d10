"""Bags of Agora's recorder, read without ROS; ``python -m tests.ros.bags`` writes the one that is read here anew."""

from __future__ import annotations

import bz2
import os
import random
import shutil
import struct
import sys
import tracemalloc
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tests.played import recordings, small_suite
from tests.suites import fingerprint, heard, planners
from typer.testing import CliRunner

from agora.benchmark.external_results import write_played
from agora.benchmark.job import Job, RunPlan
from agora.benchmark.results import store
from agora.benchmark.results.copies import PLACE, START
from agora.benchmark.results.recordings import recordings as kept_recordings
from agora.benchmark.results.run_folder import RunFolder
from agora.cli.app import app
from agora.core.recording import Outcome
from agora.datasets import rosbag
from agora.datasets.bagfile import MAGIC, Bag, _decoder
from agora.datasets.messages import from_episode
from agora.datasets.recorded import Unsaid, read_all
from agora.datasets.rosbag import read_episode
from agora.errors import InputError, ResultsError
from agora.reporting.report import report

BAG = Path(__file__).parent / "bags" / "two_robots.bag"
EARLIER = Path(__file__).parent / "bags" / "earlier.bag"
"""Of an earlier version, whose messages had no commands and did not say which goals were set by hand."""


@pytest.fixture(scope="module")
def cut(tmp_path_factory):
    """A bag whose recorder was killed after half of its bytes."""
    path = tmp_path_factory.mktemp("cut") / "two_robots.bag.active"
    path.write_bytes(BAG.read_bytes()[: BAG.stat().st_size // 2])
    return path


def test_a_bag_gives_the_recording_of_the_same_episode_in_this_process_to_the_bit(tmp_path):
    ours = recordings(small_suite(tmp_path / "room"), "helbing", 1, "go_to_goal")
    played = read_episode(BAG)
    assert [r.outcome for r in ours] == [Outcome.WALL_COLLISION, Outcome.TIMEOUT] and ours[0].contacts
    assert [fingerprint(robot.recording) for robot in played.robots] == [fingerprint(heard(recording)) for recording in ours]
    assert played.robots[0].recording.pedestrian_state is not None


def test_rows_and_recordings_of_a_bag_are_those_of_a_benchmark_to_the_byte(tmp_path):
    suite = small_suite(tmp_path / "room")
    plan, job = RunPlan(suite, planners("go_to_goal")), Job("helbing", "go_to_goal", (1,))
    here, ours = plan.shard(), [heard(r) for r in recordings(suite, "helbing", 1, "go_to_goal")]
    here.add(plan.ended(job, 1, suite.start("helbing", 1), ours))
    store.keep(tmp_path / "here", "shard", here.files())
    write_played(tmp_path / "bag", [read_episode(BAG)])
    (mine,), (theirs,) = (list((tmp_path / folder / "trajectories").iterdir()) for folder in ("here", "bag"))
    assert mine.read_bytes() == theirs.read_bytes()
    rows, read = (store.read_rows(tmp_path / folder / "episodes") for folder in ("here", "bag"))
    assert [row | {START: None, PLACE: None} for row in rows] == [row | {START: None, PLACE: None} for row in read]


def test_a_bag_of_an_earlier_version_has_no_commands_and_is_read():
    played = read_episode(EARLIER)
    assert [robot.recording.outcome for robot in played.robots] == [Outcome.WALL_COLLISION, Outcome.TIMEOUT]
    assert all(robot.recording.command is None for robot in played.robots)


def test_results_of_a_bag_have_a_report_and_the_exact_map(tmp_path):
    write_played(tmp_path / "run", read_all([BAG], Unsaid()))
    key = "small/helbing/1/go_to_goal/0"
    kept = kept_recordings(tmp_path / "run", [key])[key]
    original = read_episode(BAG).robots[0].recording.map
    assert kept.map is not None and original is not None
    assert kept.map.occupied.tobytes() == original.occupied.tobytes() and kept.map.origin == (-4.3, 2.1)
    assert "wall collision" in report(tmp_path / "run").read_text()
    with pytest.raises(ResultsError, match="already contains a run"):
        write_played(tmp_path / "run", read_all([BAG], Unsaid()))


def test_a_bag_that_was_cut_off_gives_what_is_in_it_and_no_row(cut, tmp_path):
    whole, played = read_episode(BAG).robots[1].recording, read_episode(cut)
    known = played.robots[1].recording
    assert any("truncated" in note for note in played.notes) and "the bag ends before" in played.interrupted
    assert 5 < len(known.time) < len(whole.time)
    last = len(known.time) - 1  # the last one may lie between two control steps
    assert known.pose[:last].tobytes() == whole.pose[:last].tobytes()
    assert write_played(tmp_path / "run", [played]) == []
    assert "the bag ends before" in RunFolder.read(tmp_path / "run").interrupted()["small/helbing/1/go_to_goal/1"]


def test_what_is_wrong_with_a_bag_is_said_once(cut):
    said = CliRunner().invoke(app, ["bag", str(cut)], catch_exceptions=False)
    assert said.output.count("only the part before that is used") == 1 and said.output.count("small/helbing/1/go_to_goal/") == 2


def test_of_two_bags_of_an_episode_the_one_that_ended_counts(cut, tmp_path):
    folder = tmp_path / "bags"
    folder.mkdir()
    shutil.copy(cut, folder / "a.bag.active")
    shutil.copy(BAG, folder / "b.bag")
    episodes = read_all([folder], Unsaid(planner="mine"))
    rows = write_played(tmp_path / "run", episodes)
    assert [(row["planner"], row["outcome"]) for row in rows] == [("mine", "wall_collision"), ("mine", "timeout")]
    assert RunFolder.read(tmp_path / "run").interrupted() == {} and len(store.read_rows(tmp_path / "run" / "timing")) == 2


def test_every_cut_leaves_the_messages_before_it(tmp_path):
    data, path = BAG.read_bytes(), tmp_path / "x.bag"
    whole = [message.data for message in Bag(BAG).messages()]
    for end in (13, 14, 4117, 4200, 5000, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:end])
        bag = Bag(path)
        left = [message.data for message in bag.messages()]
        assert left == whole[: len(left)] and (bag.cut or len(left) in (0, len(whole)))


def test_damaged_bags_give_errors_of_agora_and_no_others(tmp_path):
    data, path, rng = BAG.read_bytes(), tmp_path / "x.bag", random.Random(5)
    ends: Counter[str] = Counter()
    for _ in range(40):
        wrong = bytearray(data)
        for _ in range(rng.randint(1, 20)):
            wrong[rng.randrange(13, len(wrong))] = rng.randrange(256)
        path.write_bytes(bytes(wrong))
        try:
            ends["interrupted" if read_episode(path).interrupted else "whole"] += 1
        except InputError:
            ends["error"] += 1
    assert ends["error"] + ends["interrupted"] > 10


def test_what_is_no_bag_is_refused_by_name(tmp_path):
    (tmp_path / "x.bag").write_bytes(b"#ROSBAG V1.2\nold")
    with pytest.raises(InputError, match=r"x\.bag: not a ROS 1 bag; expected a file that begins with '#ROSBAG V2.0'"):
        read_all([tmp_path / "x.bag"], Unsaid())
    with pytest.raises(InputError, match=r"y\.bag: there is no such file; did you mean .x\.bag"):
        read_all([tmp_path / "y.bag"], Unsaid())
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="contains no bag"):
        read_all([tmp_path / "empty"], Unsaid())


def test_without_rosbags_the_error_says_what_to_install(monkeypatch):
    _decoder.cache_clear()
    monkeypatch.setitem(sys.modules, "rosbags.typesys", None)
    with pytest.raises(InputError, match=r"-m pip install .*mcap\S* 'rosbags>="):
        read_episode(BAG)
    _decoder.cache_clear()


def test_a_chunk_unpacks_to_what_it_says_and_no_more(tmp_path):
    def header(**fields):
        packed = b"".join(struct.pack("<I", len(k) + 1 + len(v)) + k.encode() + b"=" + v for k, v in fields.items())
        return struct.pack("<I", len(packed)) + packed

    bomb = bz2.compress(bytes(1 << 28))
    for size in (768, (1 << 32) - 1):
        chunk = header(op=b"\x05", compression=b"bz2", size=struct.pack("<I", size)) + struct.pack("<I", len(bomb)) + bomb
        (tmp_path / "bomb.bag").write_bytes(MAGIC + chunk)
        bag = Bag(tmp_path / "bomb.bag")
        tracemalloc.start()
        assert list(bag.messages()) == []
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
        tracemalloc.stop()
        assert "whose size differs" in bag.cut or "a record of 4294967295 bytes" in bag.cut


def test_a_length_that_the_file_does_not_have_takes_no_room(tmp_path):
    (tmp_path / "long.bag").write_bytes(MAGIC + struct.pack("<I", (1 << 28) - 1) + b"x" * 100)
    bag = Bag(tmp_path / "long.bag")
    tracemalloc.start()
    assert list(bag.messages()) == [] and "incomplete" in bag.cut
    assert tracemalloc.get_traced_memory()[1] < 16_000_000
    tracemalloc.stop()


def test_a_step_beyond_the_time_limit_is_left_out(monkeypatch):
    def late(bag):
        (said,), notes = collect(bag)
        said.robots[2**31 - 1] = said.robots[max(said.robots)]
        return [said], notes

    collect = rosbag.collect_episodes
    monkeypatch.setattr(rosbag, "collect_episodes", late)
    played = read_episode(BAG)
    assert played.notes == ("two_robots.bag: 1 samples are after the time limit; they are left out",)
    monkeypatch.undo()
    whole = read_episode(BAG)
    assert [fingerprint(r.recording) for r in played.robots] == [fingerprint(r.recording) for r in whole.robots]


@pytest.mark.parametrize("share", [0.2, 1.0])
def test_messages_of_people_who_have_yet_to_arrive_may_be_shorter(monkeypatch, share):
    """The graph publishes the slots of people who have arrived so far, at the beginning or, with ``share`` 1, to the end."""

    def shortened(message):
        fields = {name: getattr(message, name) for name in message.__dataclass_fields__}
        return SimpleNamespace(**{name: value[:-1] if isinstance(value, np.ndarray) else value for name, value in fields.items()})

    def later(bag):
        (said,), notes = collect(bag)
        few = sorted(said.pedestrians)[: round(share * len(said.pedestrians))]
        for step in few:
            said.pedestrians[step] = shortened(said.pedestrians[step])
        return [said], notes

    whole = read_episode(BAG).robots[0].recording
    collect = rosbag.collect_episodes
    monkeypatch.setattr(rosbag, "collect_episodes", later)
    found = read_episode(BAG).robots[0].recording
    there = found.pedestrian_present[:, -1]
    assert whole.pedestrian_present.all() and not there[:2].any() and there[-1] == (share < 1.0)
    assert np.array_equal(found.pedestrian_position[:, :-1], whole.pedestrian_position[:, :-1])
    assert np.array_equal(found.pedestrian_id, whole.pedestrian_id)
    assert np.array_equal(found.pedestrian_radius, whole.pedestrian_radius)


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_never_ends_is_no_bag(tmp_path, kind):
    path = tmp_path / "x.bag"
    os.mkfifo(path)
    with pytest.raises(InputError, match="expected a file, got a device or a pipe"):
        read_all([path if kind == "pipe" else Path("/dev/zero")], Unsaid())


def test_an_episode_that_an_older_agora_recorded_is_refused_by_name_and_so_is_one_that_is_damaged():
    with pytest.raises(InputError, match="small/helbing/1: recorded by an older version of Agora"):
        from_episode(SimpleNamespace(entry="small/helbing/1", stage="", timeout=3.0))
    with pytest.raises(InputError, match="episode small/helbing/1: expected an Agora message"):
        from_episode(SimpleNamespace(entry="small/helbing/1", resolved=b"12345678{}"))
