"""Bags of ROS 1 from a run: `agora bag` reads the same episodes out of them, and others find what they know."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from rosbags.rosbag1 import Reader
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from tests.played import small_suite
from tests.suites import fingerprint, heard, planners

from agora.benchmark.bench import run_all
from agora.benchmark.exports.rosbag import write_bags
from agora.benchmark.request import Options, Request
from agora.benchmark.results.recordings import recordings
from agora.core.recording import Outcome
from agora.datasets import bag_messages
from agora.datasets.recorded import Unsaid, read_all
from agora.datasets.rosbag import read_episode
from agora.errors import ResultsError, UnknownNameError
from agora.maps.grid import Map
from agora.metrics.registered import metrics
from agora.share import folder
from agora.wire.joystick import opening


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two robots in a crooked room, among people with social states; with scans, under a planner and an interplanner."""
    place = tmp_path_factory.mktemp("bags")
    request = Request(
        small_suite(place / "room", episodes=2), planners("go_to_goal", "pure_pursuit+polite"), place / "run",
        Options(workers=0, record=("scan",)),
    )  # fmt: skip
    return place / "run", run_all(request)


@pytest.fixture(scope="module")
def bags(run, tmp_path_factory):
    return write_bags(tmp_path_factory.mktemp("out") / "new", run[0])


def contents(bag, *topics):
    """Times and messages of topics of a bag, decoded by the package rosbags alone."""
    store = get_typestore(Stores.ROS1_NOETIC)
    store.register(get_types_from_msg("geometry_msgs/TransformStamped[] transforms", "tf2_msgs/msg/TFMessage"))
    with Reader(bag) as reader:
        wanted = [one for one in reader.connections if one.topic in topics]
        return [(time, store.deserialize_ros1(data, one.msgtype)) for one, time, data in reader.messages(wanted)]


def test_the_episodes_of_the_bags_are_those_of_the_run_to_the_bit(run, bags):
    kept = recordings(run[0])
    assert [bag.name for bag in bags] == sorted(
        f"small.helbing.{k}.{p}.bag" for p in ("go_to_goal", "pure_pursuit+polite") for k in (0, 1)
    )
    assert {row["outcome"] for row in run[1]} >= {"wall_collision", "timeout"}
    for bag in bags:
        played = read_episode(bag)
        for number, robot in enumerate(played.robots):
            ours = dataclasses.replace(heard(kept[f"{played.entry}/{robot.planner}/{number}"]), sensors={}, planned_path=None)
            theirs = robot.recording
            assert [c[:5] for c in theirs.contacts] == [c[:5] for c in ours.contacts]
            same = {"contacts": (), "planning_time": np.zeros(0)}
            assert fingerprint(dataclasses.replace(theirs, **same)) == fingerprint(dataclasses.replace(ours, **same))


def test_metrics_of_a_bag_are_those_of_the_row_but_for_the_measured_time(run, bags):
    rows = {row["key"]: row for row in run[1]}
    compared = [metric for metric in metrics() if metric.group not in ("blame",)]
    for played in read_all(bags[:2], Unsaid()):
        for number, robot in enumerate(played.robots):
            row = rows[f"{played.entry}/{robot.planner}/{number}"]
            found = {metric.name: robot.measure(metric) for metric in compared if metric.name in row}
            assert found == {name: row[name] for name in found} and len(found) > 100


def test_who_knows_nothing_of_agora_finds_odometry_frames_commands_scans_people_and_the_map(run, bags):
    kept = recordings(run[0])["small/helbing/0/go_to_goal/1"]
    odometry = contents(bags[0], "/robot_1/odom")
    assert [time for time, _ in odometry] == [round((1.0 + t) * 1e9) for t in kept.time]
    places = [(m.pose.pose.position.x, m.pose.pose.position.y, m.twist.twist.linear.x) for _, m in odometry]
    assert np.allclose(places, np.column_stack([kept.pose[:, :2], kept.twist[:, 0]]))
    commands = [(m.linear.x, m.angular.z) for _, m in contents(bags[0], "/robot_1/cmd_vel")]
    assert np.allclose(commands, kept.command[:, [0, 2]])
    scans = [m for _, m in contents(bags[0], "/robot_1/scan")]
    assert np.array_equal([m.ranges for m in scans], kept.sensors["scan"]["ranges"])
    frames = {one.child_frame_id for _, m in contents(bags[0], "/tf", "/tf_static") for one in m.transforms}
    assert {"robot_0/odom", "robot_1/odom"} < frames and len(frames) >= 5
    follower = recordings(run[0])["small/helbing/0/pure_pursuit+polite/0"].planned_path
    paths = contents(bags[1], "/robot_0/global_plan")
    assert [time for time, _ in paths] == [round((1.0 + float(t)) * 1e9) for t in np.unique(follower[:, 0])]
    first = follower[follower[:, 0] == follower[0, 0], 1:]
    assert np.allclose([(one.pose.position.x, one.pose.position.y) for one in paths[0][1].poses], first)
    ((_, grid),) = contents(bags[0], "/map")
    assert (grid.info.height, grid.info.width) == kept.map.shape and grid.info.resolution == np.float32(0.1)
    assert np.array_equal(grid.data.reshape(kept.map.shape) == 100, kept.map.occupied)
    first = contents(bags[0], "/pedestrians")[0][1].markers
    there = kept.pedestrian_present[0]
    assert [one.id for one in first] == kept.pedestrian_id.tolist() and [one.action == 0 for one in first] == there.tolist()
    assert np.allclose([(one.pose.position.x, one.scale.x) for one in first],
                       np.column_stack([kept.pedestrian_position[0, :, 0], 2 * kept.pedestrian_radius]))  # fmt: skip


def test_walls_that_are_shapes_stand_in_the_grid_of_a_bag_and_of_the_joystick():
    place = Map.from_shapes(
        segments=np.array([[1.0, -2.0, 1.0, 0.5]]), discs=np.array([[3.0, 1.0, 0.4]]), bounds=(-1.0, -3.0, 5.0, 2.0)
    )
    cells = bag_messages._grid(place).data.reshape(place.shape) == 100
    row, column = place.cell_of(np.array([[1.0, -1.0], [3.0, 1.0], [2.0, -1.0]]))
    assert cells[row, column].tolist() == [True, True, False]
    assert np.array_equal(opening(place, "m", "e")["environment"]["map_traversible"], 1.0 * ~cells)


def test_a_bag_is_written_for_the_episodes_that_are_asked_for_and_over_nothing(run, tmp_path):
    (one,) = write_bags(tmp_path, run[0], ["small/helbing/1/go_to_goal"])
    assert read_episode(one).robots[0].recording.outcome in tuple(Outcome)
    before = one.read_bytes()
    with pytest.raises(ResultsError, match="already exists"):
        write_bags(tmp_path, run[0], ["small/helbing/1/go_to_goal"])
    with pytest.raises(UnknownNameError, match="small/helbing/1/go_to_goal"):
        write_bags(tmp_path, run[0], ["small/helbing/7/go_to_goal"])
    assert [path.name for path in tmp_path.iterdir()] == [one.name] and one.read_bytes() == before


def test_the_definitions_of_the_messages_travel_with_the_library():
    assert (folder("agora_msgs") / "Episode.msg").is_file()
