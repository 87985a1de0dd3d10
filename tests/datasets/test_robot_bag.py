"""Bags of a robot that knows nothing of Agora, written here without ROS."""

from __future__ import annotations

import numpy as np
import pytest

from agora.benchmark.external_results import write_played
from agora.core.recording import Outcome
from agora.datasets.recorded import Unsaid, read_all
from agora.errors import InputError
from agora.learning.demonstrations import read_demonstrations, write_demonstrations
from agora.metrics.registered import metrics

RADIUS, SPEED, SAMPLES = 2.0, 0.5, 101


def write_drive(
    path, *, robots=("",), goal=True, place=True, shift=True, unordered=False, stamps=None, poses=None, far=(0.0, 0.0), without=()
):
    """Half of a circle of 2 m at 0.5 m/s, seen from an odometry frame at (3, -1) turned by 90 degrees; ``far`` moves the map.

    ``without`` names topics of the robots that are left out.
    """
    from rosbags.rosbag1 import Writer
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC)
    store.register(get_types_from_msg("geometry_msgs/TransformStamped[] transforms", "tf2_msgs/msg/TFMessage"))
    of = {
        name.rpartition("/")[2]: kind for name, kind in store.types.items() if not name.startswith("std_msgs") or "Header" in name
    }

    def header(time, frame="odom"):
        return of["Header"](0, of["Time"](int(time), round(time % 1 * 1e9)), frame)

    def pose(x, y, heading):
        return of["Pose"](of["Point"](x, y, 0.0), of["Quaternion"](0.0, 0.0, np.sin(heading / 2), np.cos(heading / 2)))

    def twist(v, omega):
        return of["Twist"](of["Vector3"](v, 0.0, 0.0), of["Vector3"](0.0, 0.0, omega))

    with Writer(path) as writer:
        topics = {}

        def write(topic, message, time):
            if topic.rpartition("/")[2] in without:
                return
            if topic not in topics:
                topics[topic] = writer.add_connection(topic, message.__msgtype__, typestore=store)
            writer.write(topics[topic], round(time * 1e9), store.serialize_ros1(message, message.__msgtype__))

        if place:
            grid = np.zeros((60, 80), np.int8)
            grid[0], grid[:, 0], grid[5, 5] = 100, 100, -1
            info = of["MapMetaData"](of["Time"](0, 0), 0.25, 80, 60, pose(far[0] - 10.0, far[1] - 8.0, 0.0))
            write("/map", of["OccupancyGrid"](header(0, "map"), info, grid.ravel()), 5.0)
        if shift:
            move = of["Transform"](
                of["Vector3"](far[0] + 3.0, far[1] - 1.0, 0.0), of["Quaternion"](0.0, 0.0, np.sin(np.pi / 4), np.cos(np.pi / 4))
            )
            write("/tf", of["TFMessage"]([of["TransformStamped"](header(5, "map"), "odom", move)]), 5.0)
        if goal:
            write("/move_base_simple/goal", of["PoseStamped"](header(5, "map"), pose(far[0] - 1.0, far[1] - 1.0, 0.0)), 5.0)
        omega = SPEED / RADIUS
        for k, time in enumerate(np.linspace(0.0, np.pi / omega, SAMPLES)):
            turned = omega * time
            here = pose(RADIUS * np.sin(turned), RADIUS * (1 - np.cos(turned)), turned)
            covered, stamp = np.zeros(36), 5.0 - time if unordered and k == 7 else 5.0 + time
            stamp = (stamps or {}).get(k, stamp)
            here = (poses or {}).get(k, here)
            for name in robots:
                odometry = of["Odometry"](
                    header(stamp),
                    "base",
                    of["PoseWithCovariance"](here, covered),
                    of["TwistWithCovariance"](twist(SPEED, omega), covered),
                )
                write(f"{name}/odom", odometry, 5.0 + time)
                beams = np.full(4, 1.0 + k, np.float32)
                scan = of["LaserScan"](header(stamp), -0.5, 1.0, 0.25, 0.0, 0.1, 0.0, 9.0, beams, np.zeros(0, np.float32))
                write(f"{name}/scan", scan, 5.0 + time)
                write(f"{name}/cmd_vel", twist(float(k), omega), 5.0 + time)
    return path


def values(played):
    return {m.name: played.robots[0].measure(m) for m in metrics()}


def test_what_can_be_computed_of_half_a_circle_is_and_the_rest_is_missing(tmp_path):
    (played,) = read_all([write_drive(tmp_path / "drive.bag")], Unsaid.of("jackal", "", ""))
    recording, value = played.robots[0].recording, values(played)
    assert np.allclose(recording.pose[0], [3.0, -1.0, np.pi / 2]) and np.allclose(recording.pose[-1, :2], [-1.0, -1.0])
    assert np.allclose(recording.pose[-1, 2], -np.pi / 2) and recording.outcome is Outcome.REACHED
    assert value["path_length"] == pytest.approx(np.pi * RADIUS, rel=1e-3)
    assert value["velocity_average"] == pytest.approx(SPEED, rel=1e-3)
    assert value["curvature_average"] == pytest.approx(1 / RADIUS, rel=1e-3)
    assert value["time_to_goal"] == pytest.approx(np.pi * RADIUS / SPEED) and value["path_length_ratio"] is not None
    assert value["clearing_distance_min"] is not None
    assert value["collisions"] is value["closest_pedestrian_distance_min"] is value["planning_time"] is None
    assert any("pedestrians and contacts were not recorded" in note for note in played.notes)


def test_without_goal_and_map_the_outcome_is_unknown_and_results_are_written_all_the_same(tmp_path):
    path = write_drive(tmp_path / "drive.bag", goal=False, place=False, shift=False)
    (played,) = read_all([path], Unsaid())
    value = values(played)
    assert value["path_length"] == pytest.approx(np.pi * RADIUS, rel=1e-3)
    assert value["success"] is value["spl"] is value["clearing_distance_min"] is value["timeout"] is None
    (row,) = write_played(tmp_path / "run", [played])
    assert (row["outcome"], row["clipped"], row["success"]) == ("unknown", None, None)
    (given,) = read_all([path], Unsaid.of("", "0.1,4.0", "teb"))
    assert given.robots[0].recording.outcome is Outcome.REACHED and given.robots[0].planner == "teb"


def test_samples_whose_clock_goes_back_are_left_out(tmp_path):
    (played,) = read_all([write_drive(tmp_path / "drive.bag", unordered=True)], Unsaid())
    time = played.robots[0].recording.time
    assert len(time) == SAMPLES - 1 and (np.diff(time) > 0).all()


def test_a_demonstration_pairs_each_scan_with_the_command_that_answered_it(tmp_path):
    path = write_drive(tmp_path / "drive.bag", shift=False)
    (named,) = read_demonstrations(path).values()
    assert named["scan"].shape == (SAMPLES, 4) and (named["scan"][:, 0] == 1.0 + named["command"][:, 0]).all()
    assert np.allclose(named["angles"], [-0.5, -0.25, 0.0, 0.25]) and named["time"][0] == 0.0
    assert np.allclose(named["local_goal"][0], [-1.0, -1.0])
    assert np.allclose(np.hypot(*named["local_goal"].T), np.hypot(*(named["pose"][:, :2] - [-1.0, -1.0]).T), atol=1e-5)
    (written,), left_out = write_demonstrations([path], tmp_path / "learn")
    assert not left_out
    with np.load(written) as file:
        assert written.name == "drive.robot.npz" and file["command"].tobytes() == named["command"].tobytes()


def test_a_bag_in_which_nobody_drives_or_sees_is_left_out_with_the_reason_and_the_others_are_written(tmp_path):
    write_drive(tmp_path / "b.bag", shift=False)
    lacks = {"a": ("cmd_vel", "the robot is not driven"), "c": ("scan", "contains no scans"), "d": ("odom", "no odometry")}
    bags = [write_drive(tmp_path / f"{name}.bag", without=(topic,)) for name, (topic, _) in lacks.items()]
    written, left_out = write_demonstrations(sorted(tmp_path.glob("*.bag")), tmp_path / "learn")
    assert [path.name for path in written] == ["b.robot.npz"]
    for (name, (_, reason)), line in zip(lacks.items(), left_out, strict=True):
        assert line.startswith(f"{tmp_path / name}.bag: ") and reason in line
    with pytest.raises(InputError, match=r"a\.bag: the robot is not driven") as error:
        write_demonstrations(bags, tmp_path / "none")
    assert len(str(error.value).splitlines()) == len(bags) and not (tmp_path / "none").exists()


def test_a_jump_of_the_clock_leaves_the_longest_stretch(tmp_path):
    late = {k: 1.7e9 + 0.1 * k for k in range(70, SAMPLES)}
    (played,) = read_all([write_drive(tmp_path / "x.bag", stamps=late)], Unsaid())
    recording = played.robots[0].recording
    assert len(recording.time) == 70 and recording.time[-1] < 10.0
    assert "the clock or position of /odom jumps, so there are 2 drives" in "".join(played.notes)
    assert values(played)["failure_to_progress"] is not None


def test_odometry_that_is_no_number_is_left_out_and_said(tmp_path):
    from rosbags.typesys import Stores, get_typestore

    of = get_typestore(Stores.ROS1_NOETIC).types

    def pose(x):
        quaternion = of["geometry_msgs/msg/Quaternion"](0.0, 0.0, 0.0, 1.0)
        return of["geometry_msgs/msg/Pose"](of["geometry_msgs/msg/Point"](x, 0.0, 0.0), quaternion)

    (played,) = read_all([write_drive(tmp_path / "x.bag", poses={4: pose(np.nan), 9: pose(1e300)})], Unsaid())
    assert len(played.robots[0].recording.time) == SAMPLES - 2
    assert "2 of 101 messages of /odom contain NaN or infinite values" in "".join(played.notes)
    assert not any(value != value for value in values(played).values())


@pytest.mark.parametrize("place", [True, False])
def test_a_map_that_is_far_away_gives_the_recording_of_one_that_is_near(tmp_path, place):
    near, far = tmp_path / "near.bag", tmp_path / "far.bag"
    write_drive(near, place=place)
    write_drive(far, place=place, far=(500_000.0, 5_000_000.0))
    (one,), (other,) = read_all([near], Unsaid()), read_all([far], Unsaid())
    a, b = one.robots[0].recording, other.robots[0].recording
    np.testing.assert_allclose(b.pose, a.pose, atol=2e-9)
    np.testing.assert_allclose(b.goal, a.goal, atol=2e-9)
    assert (a.outcome, a.goal.tolist()) == (b.outcome, [-1.0, -1.0, 0.0])
    if place:
        assert (b.map.origin, b.map.offset, a.map.offset) == (a.map.origin, (500_000.0, 5_000_000.0), (0.0, 0.0))
