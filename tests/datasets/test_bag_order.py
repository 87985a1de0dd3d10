"""Bags whose file order is not that of time, bags beside unreadable ones, results without a goal, and corrections."""

from __future__ import annotations

import numpy as np
import pytest
from rosbags.rosbag1 import Writer
from tests.datasets.test_robot_bag import write_drive
from tests.datasets.test_rosbag import BAG
from tests.robot_bags import bag_at
from tests.suites import fingerprint
from typer.testing import CliRunner

from agora.benchmark.exports.mcap import write_mcap_files
from agora.cli.app import app
from agora.core.recording import Outcome
from agora.datasets.bagfile import Bag
from agora.datasets.mcap_recording import entries_of
from agora.datasets.mcapfile import encode_mcap
from agora.datasets.recorded import Unsaid, read_all
from agora.datasets.rosbag import read_episode
from agora.errors import InputError
from agora.learning.demonstrations import read_demonstrations

STEP = 0.1


def rewritten(source, path, order):
    """Write the messages of a bag to another one, in the order that ``order`` makes of their list."""
    with Writer(path) as writer:
        topics = {}
        for message in order(list(Bag(source).messages())):
            topic, kind, definition = message.connection
            if topic not in topics:
                name = kind.replace("/", "/msg/")
                topics[topic] = writer.add_connection(topic, name, msgdef=definition, md5sum="*")
            writer.write(topics[topic], message.nanoseconds, message.data)
    return path


def halves(messages):
    """The second half first, as of two bags that were merged in the wrong order."""
    middle = len(messages) // 2
    return messages[middle:] + messages[:middle]


def topics(messages):
    """One topic after the other, as scripts write bags from tables."""
    return sorted(messages, key=lambda message: message.connection.topic)


def shuffled(messages):
    """Each topic in its order, the topics mixed at random."""
    rng, left = np.random.default_rng(3), {}
    for message in messages:
        left.setdefault(message.connection.topic, []).append(message)
    mixed = []
    while left:
        name = sorted(left)[int(rng.integers(len(left)))]
        mixed.append(left[name].pop(0))
        if not left[name]:
            del left[name]
    return mixed


def last_topic_first(messages):
    """As `topics`, from the last topic to the first."""
    return sorted(messages, key=lambda message: message.connection.topic, reverse=True)


ORDERS = {"halves": halves, "topics": topics, "last topic first": last_topic_first, "mixed": shuffled}


def one_drive(path):
    """20 m along x at 1 m/s, with a localisation that moves, a goal and its result."""
    with bag_at(path) as bag:
        bag.goal(10.0, 22.0, 1.0)
        for k in range(201):
            time = 10.0 + STEP * k
            bag.transform(time, "map", "odom", 2.0 * k / 200, 1.0)
            bag.odometry(time, STEP * k, 0.0, v=1.0)
    return path


def two_drives(path):
    """10 m, then 20 m after the simulation was started anew, so that its clock goes back; a goal each."""
    with bag_at(path) as bag:
        for began, length in ((100.0, 10.0), (300.0, 20.0)):
            bag.goal(1.0, length, 0.0, frame="odom", recorded=began)
            for k in range(round(length / STEP) + 1):
                bag.odometry(1.0 + STEP * k, STEP * k, 0.0, v=1.0, recorded=began + STEP * k)
    return path


def summary(episodes):
    recordings = [played.robots[0].recording for played in episodes]
    return [
        (r.outcome, round(float(r.time[-1]), 6), round(float(np.hypot(*np.diff(r.pose[:, :2], axis=0).T).sum()), 6))
        for r in recordings
    ]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("drives", [one_drive, two_drives])
def test_the_order_in_a_file_does_not_count_in_a_bag_nor_in_its_mcap(tmp_path, drives, order):
    reached = Outcome.REACHED
    right = [(reached, 20.0, 22.0)] if drives is one_drive else [(reached, 10.0, 10.0), (reached, 20.0, 20.0)]
    straight = drives(tmp_path / "straight.bag")
    mixed = rewritten(straight, tmp_path / "mixed.bag", ORDERS[order])
    assert [m.nanoseconds for m in Bag(mixed).messages()] != [m.nanoseconds for m in Bag(straight).messages()]
    (mcap,) = write_mcap_files(tmp_path / "mcap", [mixed])
    for path in (straight, mixed, mcap):
        assert summary(read_all([path], Unsaid())) == right


@pytest.mark.parametrize("order", ["halves", "topics", "mixed"])
def test_a_bag_of_agoras_recorder_gives_the_same_episode_in_any_order(tmp_path, order):
    episode = read_episode(rewritten(BAG, tmp_path / "mixed.bag", ORDERS[order]))
    assert [fingerprint(r.recording) for r in episode.robots] == [fingerprint(r.recording) for r in read_episode(BAG).robots]


def test_an_mcap_of_a_recording_gives_the_same_in_any_order(tmp_path):
    played = read_episode(BAG)
    entries = list(entries_of(played))
    (tmp_path / "x.mcap").write_bytes(encode_mcap(entries[::-1], {}))
    (back,) = read_all([tmp_path / "x.mcap"], Unsaid())
    for one, other in zip(back.robots, played.robots, strict=True):
        np.testing.assert_array_equal(one.recording.pose, other.recording.pose)


def test_record_times_that_go_back_with_a_simulation_that_is_reset_are_not_mixed(tmp_path):
    with bag_at(tmp_path / "x.bag") as bag:  # rosbag records by the simulation's clock, which begins again
        for k in range(201):
            bag.odometry(STEP * k, STEP * k, 0.0, v=1.0)
        for k in range(301):
            bag.odometry(STEP * k, 0.0, STEP * k, np.pi / 2, v=1.0)
    assert summary(read_all([tmp_path / "x.bag"], Unsaid())) == [(Outcome.TIMEOUT, 30.0, 30.0)]


def test_a_demonstration_is_the_same_in_any_order(tmp_path):
    source = write_drive(tmp_path / "drive.bag", shift=False)
    (whole,) = read_demonstrations(source).values()
    (again,) = read_demonstrations(rewritten(source, tmp_path / "mixed.bag", halves)).values()
    for key, values in whole.items():
        np.testing.assert_array_equal(again[key], values)


def test_an_unreadable_bag_costs_its_own_rows_alone(tmp_path):
    (tmp_path / "bags").mkdir()
    one_drive(tmp_path / "bags" / "a.bag")
    (tmp_path / "bags" / "b.bag").write_text("no bag at all")
    two_drives(tmp_path / "bags" / "c.bag")
    (tmp_path / "bags" / "d.mcap").write_bytes(b"\x89MCAP0\r\ncut off")
    left_out = []
    assert len(read_all([tmp_path / "bags"], Unsaid(), left_out)) == 3 and len(left_out) == 2
    result = CliRunner().invoke(app, ["bag", str(tmp_path / "bags"), "--metric", "path_length"])
    assert result.stdout.count("path_length") == 3 and isinstance(result.exception, InputError)
    assert "b.bag: not a ROS 1 bag" in str(result.exception) and "d.mcap: its end is missing" in str(result.exception)
    exported = CliRunner().invoke(app, ["export", "mcap", str(tmp_path / "bags"), "--output", str(tmp_path / "mcap")])
    assert sorted(path.name for path in (tmp_path / "mcap").iterdir()) == ["a.mcap", "c.mcap"]
    assert "left out 2 recordings" in str(exported.exception)
    with pytest.raises(InputError, match=r"b\.bag: not a ROS 1 bag"):
        read_all([tmp_path / "bags" / "b.bag"], Unsaid(), [])


ABORTED = 4


@pytest.mark.parametrize("known", [True, False])
def test_a_result_whose_goal_is_not_in_the_bag_is_said_and_ends_no_other_goal(tmp_path, known):
    with bag_at(tmp_path / "x.bag") as bag:  # the first goal was sent before the recorder began
        for k in range(101):
            time = 100.0 + STEP * k
            bag.odometry(time, STEP * k, 0.0, v=1.0)
            if k == 20 and known:
                bag.goal(time, 10.0, 0.0)
        bag.result(102.3, ABORTED, "before", 91.0)
    (played,) = read_all([tmp_path / "x.bag"], Unsaid())
    assert "x.bag: a goal result (aborted) 2.3 s after the first sample has no goal in the bag; it is left out" in played.notes
    assert (played.robots[0].recording.outcome is Outcome.REACHED) == known


def test_a_correction_is_interpolated_between_its_stamps_and_holds_before_a_leap_and_after_its_last_stamp(tmp_path):
    with bag_at(tmp_path / "x.bag") as bag:
        for time, x in ((0.0, 0.0), (2.0, 0.4), (4.0, 3.4)):
            bag.transform(10.0 + time, "map", "odom", x, 0.0)
        for k in range(61):
            bag.odometry(10.0 + STEP * k, 0.0, STEP * k, np.pi / 2, 1.0)
    (played,) = read_all([tmp_path / "x.bag"], Unsaid())
    recording = played.robots[0].recording
    at = dict(zip(np.round(recording.time, 6).tolist(), recording.pose[:, 0].tolist(), strict=True))
    assert [at[t] for t in (1.0, 2.0, 3.9, 4.0, 6.0)] == pytest.approx([0.2, 0.4, 0.4, 3.4, 3.4])
    assert any("jumps 1 times (first 3.0 m after 3.9 s)" in note for note in played.notes)
