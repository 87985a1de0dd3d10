"""The recorder node, killed and starved for real; what a graph says comes from this process."""

from __future__ import annotations

import resource
import signal
import stat

import numpy as np
import pytest
import rosbag
import rospy
from agora_evaluation.bag import EpisodeBag
from agora_evaluation.recorder import data_folder
from nav_msgs.msg import Odometry
from sensor_msgs.msg import LaserScan
from std_msgs.msg import String
from tests.played import recordings, small_suite
from tests.ros.bags import said_by_the_graph
from tests.suites import fingerprint, heard

from agora.benchmark.external_results import write_played
from agora.benchmark.results.run_folder import RunFolder
from agora.datasets.bagfile import Bag
from agora.datasets.recorded import Unsaid, read_all
from agora.datasets.rosbag import read_episode
from agora_msgs.msg import EpisodeStatus
from agora_msgs.srv import BeginEpisode

EPISODE, STATUS, NOTES = "task_generator_server/episode", "simulator/status", "navigation/notes"


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    return small_suite(tmp_path_factory.mktemp("world") / "room")


@pytest.fixture(scope="module")
def said(suite):
    """The messages of a graph about an episode: topic and message, in order."""
    return [(topic, message) for topic, message, _ in said_by_the_graph(suite, "helbing", 1, "go_to_goal")]


@pytest.fixture
def folder(graph, tmp_path):
    graph.param("record_data_dir", str(tmp_path / "bags"))
    return tmp_path / "bags"


class Parts:
    """The parts of a graph that publish, in this process."""

    def __init__(self, graph, said):
        self.graph, self.said = graph, [(topic, m) for topic, m in said if topic not in (EPISODE, "recorder/parameters")]
        self.episode = next(m for topic, m in said if topic == EPISODE)
        kinds = {topic: type(m) for topic, m in self.said}
        self.publishers = {topic: graph.publisher(topic, kind, latch=topic == STATUS) for topic, kind in kinds.items()}

    def begin(self, number):
        self.episode.number = number
        self.said[-1][1].number = number
        return self.graph.call("recorder/begin", BeginEpisode, self.episode)

    def say(self, messages):
        for topic, message in messages:
            self.publishers[topic].publish(message)


def test_a_recorded_episode_is_the_one_of_this_process_to_the_bit_and_the_next_is_not_mixed_with_it(
    graph, wait_until, folder, said, suite
):
    graph.launch("agora_evaluation", "recorder", record_scans=True)
    closed = graph.hear("recorder/bag", String)
    parts = Parts(graph, said)
    scan = rospy.Publisher(graph.name("jackal_0/scan"), LaserScan, queue_size=10)
    odom = rospy.Publisher(graph.name("jackal_0/odom"), Odometry, queue_size=10)
    for number in (1, 2):
        first = [(t, m) for t, m in parts.said if getattr(m, "step", None) == 0 and t != STATUS]
        rest = [pair for pair in parts.said if pair not in first]
        parts.say(first)  # the parts may speak before the recorder has begun
        assert parts.begin(number).success
        wait_until(lambda: scan.get_num_connections() and odom.get_num_connections(), "the recorder to listen")
        scan.publish(LaserScan(ranges=[float(number)]))
        odom.publish(Odometry())
        parts.say([*rest[-1:], *rest[:-1]])  # the status comes on a connection of its own, and may come first
        closed.wait(number)
    graph.ends += [scan, odom]
    ours = [fingerprint(heard(r)) for r in recordings(suite, "helbing", 1, "go_to_goal")]
    for number, name in ((1, "small_helbing_1_1.bag"), (2, "small_helbing_1_2.bag")):
        assert closed[number - 1].data == str(folder / name)
        assert [fingerprint(robot.recording) for robot in read_episode(folder / name).robots] == ours
        inside = [m.decode() for m in Bag(folder / name).messages([graph.name("jackal_0/scan")])]
        assert [list(m.ranges) for m in inside] == [[float(number)]]
        assert len(list(Bag(folder / name).messages([graph.name("jackal_0/odom"), graph.name("recorder/parameters")]))) == 2


def test_what_a_killed_recorder_has_written_is_read_and_the_episode_is_repeated(graph, folder, said, tmp_path, wait_until):
    node = graph.launch("agora_evaluation", "recorder")
    parts = Parts(graph, said)
    assert parts.begin(4).success
    half = len(parts.said) // 2
    parts.say(parts.said[:half])
    active = folder / "small_helbing_1_4.bag.active"
    wait_until(lambda: len(list(Bag(active).messages())) >= half + 2, "the first half of the episode on disk")
    parts.say(parts.said[half : half + 30])
    node.kill(signal.SIGKILL)
    cut = read_episode(active)
    assert "the bag ends before the episode" in cut.interrupted and len(cut.robots[1].recording.time) > 20

    again = graph.launch("agora_evaluation", "recorder")
    wait_until(lambda: "small_helbing_1_4.bag.active was not closed" in again.log, "a word about what was left over")
    wait_until(lambda: all(p.get_num_connections() for p in parts.publishers.values()), "the new recorder to listen")
    closed = graph.hear("recorder/bag", String)
    assert parts.begin(4).success
    parts.say(parts.said)
    closed.wait(1)
    assert closed[0].data == str(folder / "small_helbing_1_4_2.bag") and active.exists()
    rows = write_played(tmp_path / "run", read_all([folder], Unsaid()))
    assert [row["outcome"] for row in rows] == ["wall_collision", "timeout"] and RunFolder.read(
        tmp_path / "run"
    ).interrupted() == {}


def test_an_episode_that_is_left_or_interrupted_has_a_closed_bag_without_an_end(graph, folder, said, wait_until):
    graph.launch("agora_evaluation", "recorder")
    parts = Parts(graph, said)
    assert parts.begin(1).success
    parts.say(parts.said[:60])
    wait_until(lambda: len(list(Bag(folder / "small_helbing_1_1.bag.active").messages())) >= 60, "the messages on disk")
    assert parts.begin(2).success  # somebody called reset_task
    parts.say(parts.said[:40])
    parts.publishers[STATUS].publish(EpisodeStatus(number=2, interrupted=True, reason="the simulator is gone"))
    wait_until(lambda: (folder / "small_helbing_1_2.bag").exists(), "the bag to be closed")
    left, interrupted_ = read_all([folder], Unsaid())
    assert "the bag ends before" in left.interrupted and "cut off" not in left.interrupted
    assert interrupted_.interrupted == "interrupted: the simulator is gone"


def test_samples_that_nobody_recorded_are_counted_and_notes_hold_until_the_next(tmp_path, suite):
    said, seen = said_by_the_graph(suite, "helbing", 1, "dwa+polite"), 0
    with rosbag.Bag(str(tmp_path / "some.bag"), "w") as bag:
        for topic, message, now in said:
            seen += topic == NOTES
            lost = (topic == "simulator/robots" and message.step in (4, 6, 7, 20)) or (topic == NOTES and seen in (9, 10))
            if not lost:
                bag.write(f"/{topic}", message, now)
    (ours, _), played = recordings(suite, "helbing", 1, "dwa+polite"), read_episode(tmp_path / "some.bag")
    control = suite.stage("helbing").periods.steps("control")
    kept = [k for k in range(len(ours.time)) if k * control not in (4, 6, 20)]
    recording = played.robots[0].recording
    (note,) = played.notes
    lost = len(ours.time) - len(kept)
    assert lost == sum(step % control == 0 for step in (4, 6, 20)) > 0 and f"some.bag: {lost} of " in note
    assert np.array_equal(recording.pose, ours.pose[kept])
    calls = np.array([7 if k in (8, 9) else k for k in kept[:-1]])
    assert np.array_equal(recording.danger, ours.danger[calls]) and len(set(ours.danger)) > 20


def test_a_folder_that_cannot_be_written_refuses_the_episode_in_one_line(graph, said, tmp_path):
    (tmp_path / "file").write_text("in the way")
    graph.param("record_data_dir", str(tmp_path / "file" / "bags"))
    node = graph.launch("agora_evaluation", "recorder")
    answer = Parts(graph, said).begin(1)
    assert not answer.success and "choose another record_data_dir" in answer.message
    log = node.said("cannot be written")
    assert log.count("cannot be written") == 1 and "Traceback" not in log


def test_a_full_disk_stops_the_bag_and_keeps_what_was_written(graph, tmp_path, said, caplog):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    bag = EpisodeBag(tmp_path / "x.bag")
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, hard))
    try:
        for topic, message in said * 2:
            bag.write(f"/{topic}", message)
        bag.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "File too large" in bag.problem
    left = tmp_path / "x.bag.active"
    assert stat.S_ISREG(left.stat().st_mode) and 0 < left.stat().st_size <= 60_000
    assert len(list(Bag(left).messages())) > 20 and caplog.text.count("recording stops, and everything") == 1


def test_auto_is_a_folder_of_the_run_as_in_arena(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert data_folder("auto:/mine", "26-11-20_19-00-00") == tmp_path / "data" / "26-11-20_19-00-00" / "mine"
    assert data_folder("auto:", "t") == tmp_path / "data" / "t" and data_folder("there", "t") == tmp_path / "there"
    assert data_folder(str(tmp_path / "a"), "t") == tmp_path / "a"
