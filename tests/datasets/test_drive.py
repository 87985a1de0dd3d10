"""Bags as real robots write them: several frames, clocks, odometries, goals, files and robots."""

from __future__ import annotations

import numpy as np
import pytest
from tests.robot_bags import bag_at, of, turn
from typer.testing import CliRunner

from agora.benchmark.exports.mcap import write_mcap_files
from agora.benchmark.external_results import write_played
from agora.benchmark.results.rows import EndedEpisode
from agora.cli.app import app
from agora.core.recording import Outcome
from agora.datasets.recorded import Unsaid, read_all
from agora.errors import InputError
from agora.metrics.registered import metrics

START, STEP = 1_700_000_000.0, 0.05


def values(played):
    return {m.name: played.robots[0].measure(m) for m in metrics()}


def straight(bag, begin, length, *, start=(0.0, 0.0), heading=0.0, speed=1.0, seconds=0.0, **more):
    """Drive straight on for ``length`` m from a time on, then stand for ``seconds``; return the time and place at the end."""
    steps = round(length / speed / STEP)
    for k in range(steps + 1 + round(seconds / STEP)):
        gone = min(k, steps) * STEP * speed
        place = (start[0] + np.cos(heading) * gone, start[1] + np.sin(heading) * gone)
        bag.odometry(begin + k * STEP, *place, heading, speed if k <= steps and length else 0.0, **more)
    return begin + (steps + round(seconds / STEP)) * STEP, place


def said(played):
    return "\n".join(played.notes)


@pytest.fixture
def written(tmp_path):
    """``with written() as bag``: a bag of this test; ``read(**options)`` reads it."""
    path = tmp_path / "x.bag"

    def read(**options):
        return read_all([path], Unsaid(**options))

    return (lambda **more: bag_at(path, **more)), read


def test_a_clock_that_goes_back_makes_two_drives_of_which_the_longer_is_read(written):
    write, read = written
    with write() as bag:
        for k in range(401):
            bag.odometry(STEP * k, STEP * k, 0.0, 0.0, 1.0, recorded=STEP * k)
        for k in range(601):
            bag.odometry(STEP * k, 0.0, STEP * k, np.pi / 2, 1.0, recorded=20.05 + STEP * k)
    (played,) = read()
    assert values(played)["path_length"] == pytest.approx(30.0) and values(played)["velocity_max"] == pytest.approx(1.0)
    assert "there are 2 drives (20.0 s, 30.0 s); only the longest is read" in said(played)


@pytest.mark.parametrize("back", [0.4, 7.0, 900.0])
def test_a_clock_that_is_set_back_while_driving_splices_nothing(written, back):
    write, read = written
    with write() as bag:
        for k in range(400):
            late = back if k >= 150 else 0.0
            bag.odometry(START + STEP * k - late, STEP * k, 0.0, 0.0, 1.0, recorded=START + STEP * k)
    (played,) = read()
    assert values(played)["path_length"] == pytest.approx(249 * STEP, abs=1e-6)
    assert np.abs(np.diff(played.robots[0].recording.pose[:, 0]) / np.diff(played.robots[0].recording.time)).max() < 1.001


def test_a_robot_that_is_put_back_while_the_clock_goes_on_makes_two_drives(written):
    write, read = written
    with write() as bag:
        straight(bag, START, 10.0)
        straight(bag, START + 10.05, 5.0, start=(0.0, 3.0))
    (played,) = read()
    assert values(played)["path_length"] == pytest.approx(10.0) and "there are 2 drives" in said(played)


def test_each_stretch_with_a_goal_is_read_with_its_own_goals_transforms_and_map(written):
    write, read = written
    with write() as bag:
        bag.grid(0.0, np.zeros((40, 60)), 0.5, (-8.0, -9.0))
        for run, (x, goal) in enumerate([(1.0, 6.0), (2.0, 7.0)]):
            record = 100.0 * run
            for k in range(101):
                if k == 0:
                    bag.transform(0.0, "map", "odom", x, 0.0, recorded=record)
                    bag.goal(0.0, goal, 0.0, recorded=record)
                bag.odometry(STEP * k, STEP * k, 0.0, 0.0, 1.0, recorded=record + STEP * k + 0.001)
    one, two = read()
    assert [p.entry for p in (one, two)] == ["recorded/x/0", "recorded/x/1"]
    for played, end in ((one, 6.0), (two, 7.0)):
        recording = played.robots[0].recording
        assert recording.outcome is Outcome.REACHED and recording.map.shape == (40, 60)
        assert recording.pose[-1, 0] == pytest.approx(end) and recording.time[-1] == pytest.approx(5.0)


def test_positions_follow_the_corrections_of_a_localisation(written):
    write, read = written
    with write() as bag:
        bag.fixed("map", "dock", 7.0, 3.0, 1.0)
        for k in range(401):  # wheels that see 5 % too much; map -> odom takes it back, ten times a second
            time, seen = START + STEP * k, 1.05 * STEP * k
            if k % 2 == 0:
                bag.transform(time, "/map", "/odom", 3.0 - 0.05 * STEP * k, -2.0)
            bag.odometry(time, seen, 0.0, 0.0, 1.05, frame="/odom", child="/base_link")
            if k == 0:
                bag.goal(time, 23.0, -2.0)
    (played,) = read()
    recording = played.robots[0].recording
    assert recording.pose[[0, 200, 400], :2].tolist() == pytest.approx(np.array([[3, -2], [13, -2], [23, -2]]), abs=1e-9)
    assert values(played)["path_length"] == pytest.approx(20.0) and values(played)["final_goal_distance"] < 1e-9


def test_positions_are_those_of_the_robots_own_transform_whichever_odometry_is_read(written):
    write, read = written
    with write() as bag:
        bag.fixed("base_footprint", "base_link", 0.0, 0.0, z=0.2)
        bag.transform(START - 1.0, "map", "odom", 5.0, 5.0, np.pi / 2)
        for k in range(201):
            time = START + STEP * k
            bag.odometry(time, 1.2 * STEP * k, 0.3, 0.0, 1.2, topic="/wheel/odom")
            bag.odometry(time, STEP * k, 0.0, 0.0, 1.0, topic="/odometry/filtered")
            if k % 4 == 0:
                bag.transform(time, "odom", "base_footprint", STEP * k, 0.0)
    for topic in ("/wheel/odom", "odometry/filtered", ""):
        (played,) = read(odometry=topic)
        pose = played.robots[0].recording.pose
        assert pose[0] == pytest.approx([5.0, 5.0, np.pi / 2]) and pose[-1] == pytest.approx([5.0, 15.0, np.pi / 2])
        assert played.robots[0].recording.twist[7, 0] == (1.2 if "wheel" in topic else 1.0)
    note = "odometry is read from /odometry/filtered, which has a name that suggests a filter; other topics: /wheel/odom"
    assert note in said(played)
    with pytest.raises(InputError, match="--odometry /weel/odom: .* did you mean '/wheel/odom'"):
        read(odometry="/weel/odom")


def test_the_odometry_whose_frame_leads_to_the_map_is_read(written):
    write, read = written
    with write() as bag:
        bag.transform(START - 1.0, "map", "odom", 1.0, 0.0)
        straight(bag, START, 4.0, topic="/ekf", frame="nowhere")
        straight(bag, START, 8.0, topic="/zz/odom")
    (played,) = read()
    assert values(played)["path_length"] == pytest.approx(8.0)
    assert ("/zz/odom, which has a frame that is connected to the map; other topics: /ekf; choose one with --odometry") in said(
        played
    )


@pytest.mark.parametrize("there", [("odom", 10.0, 0.0), ("map", 5.0, 12.0), ("base_link", 10.0, 0.0), ("", 5.0, 12.0)])
def test_a_goal_in_any_frame_is_where_it_was_at_its_own_stamp(written, there):
    (write, read), (frame, *place) = written, there
    with write() as bag:
        bag.transform(START - 1.0, "map", "odom", 5.0, 2.0, np.pi / 2)
        bag.transform(START + 3.0, "map", "odom", 5.0, 2.0, np.pi / 2)
        bag.odometry(START - STEP, 0.0, 0.0)
        bag.goal(START, *place, frame=frame)
        straight(bag, START, 10.0)
    (played,) = read()
    recording = played.robots[0].recording
    assert recording.goal[:2] == pytest.approx([5.0, 12.0]) and recording.outcome is Outcome.REACHED
    assert values(played)["final_goal_distance"] < 1e-9


def test_a_goal_from_before_the_first_transform_is_placed_by_that_one_and_it_is_said(written):
    write, read = written
    with write() as bag:
        bag.goal(START - 4.0, 10.0, 0.0, frame="odom")
        bag.transform(START, "map", "odom", 5.0, 2.0)
        straight(bag, START, 10.0)
    (played,) = read()
    assert played.robots[0].recording.outcome is Outcome.REACHED and (
        "its position comes from the first transform, 4.0 s later"
    ) in said(played)
    assert "the last correction of base_link in map is 10.0 s before the end; it is used until the end" in said(played)


def test_a_goal_in_the_robots_frame_is_ahead_of_where_it_was_then_not_of_where_it_is_later(written):
    write, read = written
    with write() as bag:
        straight(bag, START, 2.0, seconds=1.0)
        bag.goal(START + 3.0, 1.5, 0.0, frame="base_link")
        straight(bag, START + 3.05, 1.5, start=(2.0, 0.0))
    (played,) = read()
    assert played.robots[0].recording.goal[0] == pytest.approx(3.5) and played.robots[0].recording.outcome is Outcome.REACHED


def test_a_pose_estimate_in_mid_drive_is_followed_and_the_leap_is_said(written):
    write, read = written
    with write() as bag:
        for k in range(201):
            time = START + STEP * k
            bag.transform(time, "map", "odom", *((0.0, 0.0) if k < 100 else (5.0, 5.0)))
            bag.odometry(time, STEP * k, 0.0, 0.0, 1.0)
            if k == 120:
                bag.goal(time, 15.0, 5.0)
    (played,) = read()
    assert values(played)["path_length"] == pytest.approx(4.0) and values(played)["final_goal_distance"] < 1e-9
    assert "jumps 1 times (first 7.1 m after 5.0 s), as after a new pose estimate" in said(played)


def test_samples_before_the_localisation_began_are_left_out_and_said(written):
    write, read = written
    with write() as bag:
        for k in range(201):
            if k >= 40:
                bag.transform(START + STEP * k, "map", "odom", 2.0, 0.0)
            bag.odometry(START + STEP * k, STEP * k, 0.0, 0.0, 1.0)
    (played,) = read()
    recording = played.robots[0].recording
    assert len(recording.time) == 161 and recording.pose[0, 0] == pytest.approx(4.0)
    assert "40 of 201 samples have no transform from base_link to map at their time; they are left out" in said(played)


def test_where_no_transform_leads_to_the_map_estimates_of_the_pose_do(written):
    write, read = written
    with write() as bag:
        for k in range(201):
            time, gone = START + STEP * k, STEP * k
            bag.odometry(time, 1.1 * gone, 0.0, 0.0, 1.0)
            if k % 20 == 0 and k:
                bag.estimate(time, 4.0, 1.0 + gone, np.pi / 2)
    (played,) = read()
    pose = played.robots[0].recording.pose
    assert pose[[20, 110, 200]] == pytest.approx(np.array([[4, 2, np.pi / 2], [4, 6.5, np.pi / 2], [4, 11, np.pi / 2]]))
    assert "no transform from odom to map; /amcl_pose is used instead" in said(played) and len(pose) == 201


def test_a_robot_without_a_map_is_read_in_the_frame_of_its_odometry(written):
    write, read = written
    with write() as bag:
        bag.goal(START, 4.0, 0.0)
        straight(bag, START, 4.0, frame="world", child="")
    (played,) = read()
    assert values(played)["final_goal_distance"] < 1e-9 and ("no transform from world to map; both are treated as one") in said(
        played
    )


def test_idle_time_does_not_count(written):
    write, read = written
    with write() as bag:
        straight(bag, START, 0.0, seconds=20.0)
        bag.goal(START + 20.02, 10.0, 0.0)
        straight(bag, START + 20.05, 10.0, seconds=15.0)
    (played,) = read()
    value = values(played)
    assert value["time_to_goal"] == pytest.approx(10.03) and value["stalled_time"] < 0.1
    assert (value["success"], value["reached"], value["success_k2"], value["success.socnavbench"]) == (1.0, 1.0, 1.0, 1.0)
    assert value["collisions"] is None and value["timeout"] == 0.0
    assert value["time_norm"] is None  # nobody said a time limit
    (row,) = write_played_rows(played)
    assert (row["outcome"], row["success"]) == ("reached", 1.0)


def write_played_rows(played):
    return [EndedEpisode.of(played).row(number, metrics()) for number in range(len(played.robots))]


def test_a_robot_that_does_not_arrive_has_no_success(written):
    write, read = written
    with write() as bag:
        bag.goal(START, 10.0, 0.0)
        straight(bag, START, 9.0, seconds=3.0)
    (played,) = read()
    value = values(played)
    assert (value["success"], value["reached"], value["timeout"], value["time_to_goal"]) == (0.0, 0.0, 1.0, None)
    assert played.robots[0].recording.time[-1] == pytest.approx(12.0)


def test_each_goal_is_an_episode_and_one_that_comes_again_is_none(written, tmp_path):
    write, read = written
    with write() as bag:
        bag.goal(START, 5.0, 0.0)  # RViz; move_base tells it again as an action and as its current goal
        bag.action(START + 0.01, 5.0, 0.0)
        bag.goal(START + 0.02, 5.0, 0.0, topic="/move_base/current_goal")
        end, _ = straight(bag, START, 5.0, seconds=4.0)
        bag.goal(end, 5.0, 0.0, topic="/move_base/current_goal")  # sent again to a robot that stands there
        bag.action(end, 5.0, 8.0)  # replaced half way
        end, place = straight(bag, end + STEP, 4.0, start=(5.0, 0.0), heading=np.pi / 2)
        bag.goal(end, 0.0, 4.0)
        end, _ = straight(bag, end + STEP, 5.0, start=place, heading=np.pi, seconds=2.0)
        bag.goal(end, 5.0, 0.0)  # the first one again, from elsewhere
        straight(bag, end + STEP, 1.0, start=(0.0, 4.0))
    episodes = read()
    assert [p.episode for p in episodes] == [0, 1, 2, 3]
    outcomes = [(p.robots[0].recording.outcome.label, round(float(p.robots[0].recording.time[-1]), 2)) for p in episodes]
    assert outcomes == [("reached", 5.0), ("timeout", 4.05), ("reached", 5.05), ("timeout", 1.05)]
    rows = write_played(tmp_path / "run", episodes)
    assert [row["key"] for row in rows] == [f"recorded/x/{k}/unknown/0" for k in range(4)]


ABORTED, PREEMPTED, SUCCEEDED = 4, 2, 3


@pytest.mark.parametrize("known", [True, False])
def test_an_action_that_ends_ends_its_episode_and_no_other_and_the_same_goal_again_is_another(written, known):
    write, read = written
    with write() as bag:

        def send(time, x, y, name):
            bag.goal(time, x, y)
            if known:  # else the bag has no topic that tells the name
                bag.action(time + 0.01, x, y, name=name)

        send(START, 8.0, 0.0, "a")
        end, _ = straight(bag, START, 3.0)
        bag.result(end, ABORTED, "a", START + 0.01)  # gives up after 3 s, and stands for 6 s
        end, _ = straight(bag, end + STEP, 0.0, start=(3.0, 0.0), seconds=6.0)
        again = end + STEP
        send(again, 8.0, 0.0, "b")
        end, _ = straight(bag, again, 2.0, start=(3.0, 0.0))
        send(end, 5.0, 6.0, "c")  # in the place of the second, whose result comes after that
        bag.result(end + 0.03, PREEMPTED, "b", again + 0.01)
        end, place = straight(bag, end + STEP, 4.0, start=(5.0, 0.0), heading=np.pi / 2)
        bag.cancel(end)
        bag.result(end + 0.3, PREEMPTED, "c", again + 2.01)
        straight(bag, end + STEP, 0.0, start=place, seconds=9.0)
    episodes = read()
    ends = [(p.robots[0].recording.outcome.label, round(float(p.robots[0].recording.time[-1]), 2)) for p in episodes]
    assert ends == [("timeout", 3.0), ("timeout", 2.0), ("timeout", 4.05)]
    words = ["episode 0 ends after 3.0 s: its goal was aborted", "episode 2 ends after 4.0 s: its goal was cancelled"]
    assert [note.partition(": ")[2] for p in episodes for note in p.notes if "its goal was" in note] == words


def test_a_robot_that_has_arrived_has_reached_its_goal_whatever_is_said_later(written):
    write, read = written
    with write() as bag:
        bag.action(START, 4.0, 0.0, name="a")
        end, _ = straight(bag, START, 4.0, seconds=1.0)
        bag.result(end, SUCCEEDED, "a", START)
        bag.cancel(end + STEP)
        straight(bag, end + STEP, 2.0, start=(4.0, 0.0))
    (played,) = read()
    assert values(played)["success"] == 1.0 and values(played)["time_to_goal"] == pytest.approx(4.0)
    assert "its goal was" not in said(played)


def test_a_cancel_concerns_the_robot_whose_action_it_is(written):
    write, read = written
    with write() as bag:
        for k in range(101):
            for robot, y in (("a", 0.0), ("b", 3.0)):
                bag.odometry(
                    START + k * STEP, k * STEP, y, 0.0, 1.0, topic=f"/{robot}/odom", frame=f"{robot}/odom", child=f"{robot}/base"
                )
            if k == 0:
                bag.action(START, 9.0, 0.0, topic="/a/move_base/goal", frame="a/odom", name="a")
                bag.action(START, 9.0, 3.0, topic="/b/move_base/goal", frame="b/odom", name="b")
            if k == 60:
                bag.cancel(START + k * STEP, topic="/b/move_base/cancel")
                bag.cancel(START + k * STEP, topic="/a/exe_path/cancel")
    assert [round(float(p.robots[0].recording.time[-1]), 2) for p in read()] == [5.0, 3.0]


def test_a_goal_by_hand_is_that_of_the_whole_bag(written):
    write, read = written
    with write() as bag:
        bag.goal(START + 1.0, 3.0, 0.0)
        straight(bag, START, 10.0, seconds=5.0)
    (played,) = read(goal=np.array([10.0, 0.0]))
    assert played.robots[0].recording.time[-1] == pytest.approx(10.0) and values(played)["success"] == 1.0


def test_a_lap_that_ends_where_it_began_is_driven_to_its_end(written):
    write, read = written
    with write() as bag:
        bag.goal(START, 0.0, 0.0)
        for k in range(401):
            turned = 2 * np.pi * k / 400
            bag.odometry(START + STEP * k, 3.0 * np.sin(turned), 3.0 - 3.0 * np.cos(turned), turned, 0.94)
    (played,) = read()
    assert played.robots[0].recording.time[-1] == pytest.approx(20.0) and values(played)["path_length"] == pytest.approx(
        18.85, abs=0.01
    )


def test_stamps_of_0_are_replaced_by_the_time_of_the_record(written):
    write, read = written
    with write() as bag:
        bag.transform(0.0, "map", "odom", 1.0, 1.0, recorded=START)
        bag.goal(0.0, 6.0, 1.0, recorded=START + 2.0)
        for k in range(201):
            bag.odometry(0.0, max(STEP * k - 2.0, 0.0), 0.0, 0.0, 1.0, recorded=START + STEP * k)
    (played,) = read()
    assert values(played)["time_to_goal"] == pytest.approx(5.0) and "the stamps of /odom are 0; the recording time" in said(played)


def test_a_goal_by_another_computers_clock_begins_when_it_was_recorded(written):
    write, read = written
    with write() as bag:
        straight(bag, START, 0.0, seconds=6.0)
        bag.goal(START - 400.0, 4.0, 0.0, recorded=START + 6.05)
        straight(bag, START + 6.05, 4.0)
    assert values(read()[0])["time_to_goal"] == pytest.approx(4.0)


@pytest.mark.parametrize("named", ["frames", "spaces"])
def test_each_robot_of_a_bag_has_rows_of_its_own(written, named):
    write, read = written
    with write() as bag:
        for n, length in ((0, 4.0), (1, 6.0)):
            child = f"r{n}/base_link" if named == "frames" else "base_link"
            frame = f"r{n}/odom" if named == "frames" else "odom"
            bag.transform(START, "map", frame, 1.0, 3.0 * n, topic="/tf" if named == "frames" else f"/r{n}/tf")
            bag.goal(START, 1.0 + length, 3.0 * n, topic=f"/r{n}/move_base_simple/goal")
            straight(bag, START, length, topic=f"/r{n}/odom", frame=frame, child=child, seconds=3.0)
    one, two = read()
    assert [p.entry for p in (one, two)] == ["recorded/x.r0/0", "recorded/x.r1/0"]
    assert [values(p)["time_to_goal"] for p in (one, two)] == pytest.approx([4.0, 6.0])
    assert two.robots[0].recording.pose[-1] == pytest.approx([7.0, 3.0, 0.0])
    (alone,) = read(odometry="/r1/odom")
    assert alone.entry == "recorded/x.r1/0"


def test_the_parts_of_a_split_bag_are_one_drive_and_other_bags_with_numbers_are_not(tmp_path):
    for number, name in enumerate(["run_2026-11-20-19-00-00_0", "run_2026-11-20-19-00-05_1", "run_2026-11-20-19-00-10_2"]):
        with bag_at(tmp_path / f"{name}.bag") as bag:
            if number == 0:
                bag.fixed("map", "odom", 2.0, 0.0)
                bag.goal(START, 17.0, 0.0)
            for k in range(100):
                bag.odometry(START + 5.0 * number + STEP * k, 5.0 * number + STEP * k, 0.0, 0.0, 1.0)
    whole = sorted(tmp_path.glob("*.bag"))
    for paths in ([tmp_path], whole, whole[::-1]):
        (played,) = read_all(paths, Unsaid())
        assert played.entry == "recorded/run_2026-11-20-19-00-00/0" and values(played)["path_length"] == pytest.approx(14.95)
        assert played.robots[0].recording.pose[0, 0] == pytest.approx(2.0)
    (packed,) = write_mcap_files(tmp_path / "out", whole)
    assert values(read_all([packed], Unsaid())[0])["path_length"] == pytest.approx(14.95)
    (tmp_path / "trials").mkdir()
    for number in range(2):
        with bag_at(tmp_path / "trials" / f"trial_{number}.bag") as bag:
            straight(bag, START + 100.0 * number, 3.0 + number)
    lengths = [values(p)["path_length"] for p in read_all([tmp_path / "trials"], Unsaid())]
    assert lengths == pytest.approx([3.0, 4.0])


@pytest.mark.parametrize("compression", ["bz2", "lz4"])
def test_packed_bags_with_odd_messages_are_read(written, compression):
    write, read = written
    with write(compression=compression) as bag:
        bag.write("/tf", of().TFMessage([]), START)
        bag.transform(START, "map", "odom", np.nan, 0.0)
        bag.transform(START, "map", "odom", 9.0, 9.0, rotation=of().Quaternion(0.0, 0.0, 0.0, 0.0))
        bag.transform(START, "map", "odom", 1.0, 0.0, rotation=of().Quaternion(0.0, 0.0, 0.0, 2.0))
        straight(bag, START, 5.0, covariance=1e9, rotation=of().Quaternion(0.0, 0.0, 0.0, 0.0))
    (played,) = read()
    pose = played.robots[0].recording.pose
    assert pose[-1] == pytest.approx([6.0, 0.0, 0.0]) and "101 rotations of /odom are zero" in said(played)


def test_velocities_that_nobody_told_are_those_of_the_poses(written):
    write, read = written
    with write() as bag:
        for k in range(201):
            turned = STEP * k / 4.0
            bag.odometry(START + STEP * k, 2.0 * np.sin(turned), 2.0 - 2.0 * np.cos(turned), turned)
    (played,) = read()
    twist = played.robots[0].recording.twist[10]
    assert twist == pytest.approx([0.5, 0.0, 0.25], abs=1e-4) and "the twists are zero although the robot moves" in said(played)


def test_the_map_is_in_its_own_frame(written):
    write, read = written
    with write() as bag:
        bag.grid(START, np.zeros((30, 50)), 0.5, (-6.0, -7.0), frame="floor")
        bag.fixed("floor", "map", 2.0, 1.0)
        bag.transform(START, "map", "odom", 1.0, 0.0)
        bag.goal(START, 6.0, 0.0)
        straight(bag, START, 5.0)
    (played,) = read()
    assert played.robots[0].recording.pose[-1, :2] == pytest.approx([8.0, 1.0]) and values(played)["success"] == 1.0


def test_a_base_on_a_tilted_mount_is_seen_from_above(written):
    write, read = written
    with write() as bag:
        bag.fixed("map", "odom", 0.0, 0.0, z=3.0, rotation=turn(np.pi / 2, pitch=0.2))
        straight(bag, START, 5.0)
    pose = read()[0].robots[0].recording.pose
    assert pose[-1] == pytest.approx([0.0, 5.0 * np.cos(0.2), np.pi / 2])


def test_the_command_line_says_each_episode_and_each_note_once(written, tmp_path):
    write, _ = written
    with write() as bag:
        bag.fixed("map", "odom", 0.0, 0.0)
        for n, begin in enumerate((START, START + 10.0)):
            bag.goal(begin, 3.0 * (n + 1), 0.0)
            straight(bag, begin, 3.0, start=(3.0 * n, 0.0), seconds=5.0)
    answer = CliRunner().invoke(app, ["bag", str(tmp_path / "x.bag"), "--odometry", "/odom"], catch_exceptions=False)
    assert "recorded/x/0/unknown/0: reached, 3.0 s" in answer.output and "recorded/x/1/unknown/0: reached, 3.0 s" in answer.output
    assert answer.output.count("pedestrians and contacts were not recorded") == 1
    assert answer.output.count("no robot model (set it with --robot)") == 1 and "path_length" not in answer.output
    one = CliRunner().invoke(app, ["bag", str(tmp_path / "x.bag"), "--metric", "path_length"], catch_exceptions=False)
    assert one.output.count("path_length") == 2 and "--all" not in one.output
