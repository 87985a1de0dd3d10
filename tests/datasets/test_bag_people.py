"""People in bags of real robots and simulators: where they are in the map, when they are there, and topics that cannot be read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rosbags.typesys import get_types_from_msg
from tests.robot_bags import bag_at, header, of, pose, store

from agora.benchmark.exports.mcap import write_mcap_files
from agora.datasets.recorded import Unsaid, read_all
from agora.errors import InputError
from agora.metrics.registered import metrics
from agora.share import folder

STEP, START = 0.1, 10.0
TRACKED = {
    "TrackedPerson": "uint64 track_id\nbool is_occluded\nduration age\n"
    "geometry_msgs/PoseWithCovariance pose\ngeometry_msgs/TwistWithCovariance twist",
    "TrackedPersons": "Header header\nTrackedPerson[] tracks",
}
DEFINITIONS = {
    "people_msgs/msg/Person": "string name\ngeometry_msgs/Point position\ngeometry_msgs/Point velocity\nfloat64 reliability\n"
    "string[] tagnames\nstring[] tags",
    "people_msgs/msg/People": "Header header\npeople_msgs/Person[] people",
    "people_msgs/msg/PositionMeasurement": "Header header\nstring name\nstring object_id\ngeometry_msgs/Point pos",
    "people_msgs/msg/PositionMeasurementArray": "Header header\npeople_msgs/PositionMeasurement[] people",
    **{f"spencer_tracking_msgs/msg/{name}": text for name, text in TRACKED.items()},
    "leg_tracker/msg/Person": "geometry_msgs/Pose pose\nuint32 id",
    "leg_tracker/msg/PersonArray": "Header header\nPerson[] people",
    "pedsim_msgs/msg/AgentState": "Header header\nuint64 id\nuint16 type\nstring social_state\ngeometry_msgs/Pose pose\n"
    "geometry_msgs/Twist twist",
    "pedsim_msgs/msg/AgentStates": "Header header\nAgentState[] agent_states",
    "hunav_msgs/msg/Agent": "int32 id\nuint8 type\ngeometry_msgs/Pose position\ngeometry_msgs/Twist velocity\nfloat32 radius",
    "hunav_msgs/msg/Agents": "Header header\nAgent[] agents",
    "agora_msgs/msg/Pedestrians": (folder("agora_msgs") / "Pedestrians.msg").read_text(encoding="utf-8"),
    "odd_msgs/msg/TrackedPersons": "Header header\nfloat64[] everybody",
}
for name, definition in DEFINITIONS.items():
    if name not in store().fielddefs:
        store().register(get_types_from_msg(definition, name))


def made(name: str, *fields: Any) -> Any:
    return store().types[name](*fields)


def seconds(time: float) -> Any:
    return of().Duration(int(time), 0)


def people(time, frame, seen):
    """``people_msgs/People``; ``seen`` are names, x, y, vx, vy."""
    each = [
        made("people_msgs/msg/Person", str(n), of().Point(x, y, 0.0), of().Point(vx, vy, 0.0), 1.0, [], [])
        for n, x, y, vx, vy in seen
    ]
    return made("people_msgs/msg/People", header(time, frame), each)


def measured(time, frame, seen):
    each = [
        made("people_msgs/msg/PositionMeasurement", header(time, frame), "", f"leg {n}", of().Point(x, y, 0.0))
        for n, x, y, _, _ in seen
    ]
    return made("people_msgs/msg/PositionMeasurementArray", header(time, frame), each)


def tracked(time, frame, seen):
    spread = np.zeros(36)
    each = [
        made("spencer_tracking_msgs/msg/TrackedPerson", n, False, seconds(1.0), of().PoseWithCovariance(pose(x, y), spread),
             of().TwistWithCovariance(of().Twist(of().Vector3(vx, vy, 0.0), of().Vector3(0.0, 0.0, 0.0)), spread))
        for n, x, y, vx, vy in seen
    ]  # fmt: skip
    return made("spencer_tracking_msgs/msg/TrackedPersons", header(time, frame), each)


def legs(time, frame, seen):
    each = [made("leg_tracker/msg/Person", pose(x, y), n) for n, x, y, _, _ in seen]
    return made("leg_tracker/msg/PersonArray", header(time, frame), each)


def agents(time, frame, seen):
    """pedsim_ros's; the robot is among them, as type 2."""
    each = [
        made("pedsim_msgs/msg/AgentState", header(time, frame), n, kind, "", pose(x, y),
             of().Twist(of().Vector3(vx, vy, 0.0), of().Vector3(0.0, 0.0, 0.0)))
        for n, kind, x, y, vx, vy in [(n, 0, *rest) for n, *rest in seen] + [(77, 2, time - START, 0.0, 1.0, 0.0)]
    ]  # fmt: skip
    return made("pedsim_msgs/msg/AgentStates", header(time, frame), each)


def hunav(time, frame, seen):
    """HuNavSim's, as rosbags-convert writes it; it says radii."""
    still = of().Vector3(0.0, 0.0, 0.0)
    each = [
        made("hunav_msgs/msg/Agent", n, 1, pose(x, y), of().Twist(of().Vector3(vx, vy, 0.0), still), 0.3)
        for n, x, y, vx, vy in seen
    ]
    return made("hunav_msgs/msg/Agents", header(time, frame), each)


def agora(time, frame, seen):
    """Agora's own: slots, of which the last is empty and nearer to the robot."""
    slots = [*seen, (99, time - START, 0.0, 0.0, 0.0)]
    columns = [np.array(column, np.float32) for column in list(zip(*slots, strict=True))[1:]]
    whole, plain = np.zeros(len(slots), np.int32), np.zeros(len(slots), np.float32)
    present = np.array([1] * len(seen) + [0], np.uint8)
    return made(
        "agora_msgs/msg/Pedestrians", header(time, frame), 0, present, np.array([one[0] for one in slots], np.int32), *columns,
        plain, plain + np.float32(0.3), plain, whole, whole, whole, plain, plain, plain, whole,
    )  # fmt: skip


def drive(path, *said, every=1, at=lambda t: [(1, 5.0, 0.8, 0.0, 0.0)], frame="map", until=10.0):
    """10 m along x at 1 m/s in a map in which the odometry begins at (0, 0); ``said`` are topics and makers of messages."""
    with bag_at(path) as bag:
        bag.fixed("map", "odom", 0.0, 0.0)
        bag.fixed("map", "camera", 2.0, 3.0, np.pi / 2)
        bag.goal(START, 10.0, 0.0)
        for k in range(101):
            time = START + STEP * k
            bag.odometry(time, STEP * k, 0.0, v=1.0)
            for topic, make in said:
                if k % every == 0 and time - START <= until:
                    bag.write(topic, make(time, frame, at(time - START)), time)
    return path


def read(path, **options):
    (played,) = read_all([path], Unsaid.of("jackal", "", "", **options))
    return played, {m.name: played.robots[0].measure(m) for m in metrics()}


@pytest.mark.parametrize("make", [people, measured, tracked, legs, agents, hunav, agora])
def test_people_of_every_tracker_count(tmp_path, make):
    path = drive(tmp_path / "x.bag", ("/tracker", make))
    (mcap,) = write_mcap_files(tmp_path / "mcap", [path])
    for file in (path, mcap):
        played, values = read(file)
        recording = played.robots[0].recording
        assert values["closest_pedestrian_distance_min"] == pytest.approx(0.8 - recording.radius - 0.3, abs=1e-6)
        assert recording.pedestrian_position.shape == (101, 1, 2) and recording.pedestrian_present.all()
        assert any("people are read from /tracker" in note for note in played.notes)
        assert not any("pedestrians and contacts were not recorded" in note for note in played.notes)


def test_people_in_a_sensors_frame_walk_in_the_map_between_their_messages(tmp_path):
    """The camera sees them at 2 Hz; it stands at (2, 3) and looks along y."""
    path = drive(
        tmp_path / "x.bag", ("/tracker", tracked), every=5, frame="camera", at=lambda t: [(7, -2.0, 0.5 * t - 3.0, 0.0, 0.5)]
    )
    recording = read(path)[0].robots[0].recording
    moments = recording.time[:, None]
    assert recording.pedestrian_id.tolist() == [7]
    np.testing.assert_allclose(
        recording.pedestrian_position[:, 0], np.hstack([5.0 - 0.5 * moments, np.ones_like(moments)]), atol=1e-9
    )
    np.testing.assert_allclose(recording.pedestrian_velocity[:, 0], np.tile([-0.5, 0.0], (101, 1)), atol=1e-9)
    assert np.abs(recording.pedestrian_heading).max() == pytest.approx(np.pi)


def test_velocities_that_a_tracker_does_not_say_are_those_of_the_places(tmp_path):
    path = drive(tmp_path / "x.bag", ("/tracker", legs), every=5, at=lambda t: [(3, 4.0, 2.0 - 0.4 * t, 0.0, 0.0)])
    recording = read(path)[0].robots[0].recording
    np.testing.assert_allclose(recording.pedestrian_velocity[:99, 0], np.tile([0.0, -0.4], (99, 1)), atol=1e-9)


def test_a_person_is_there_while_messages_name_it(tmp_path):
    def seen(t):
        first = [(1, 5.0, 2.0, 0.0, 0.0)] if t < 3.0 else []
        return first + ([(2, 6.0, -2.0, 0.0, 0.0)] if 2.0 <= t < 4.0 or t >= 8.0 else [])

    recording = read(drive(tmp_path / "x.bag", ("/people", people), at=seen))[0].robots[0].recording
    there = {round(t, 6): row.tolist() for t, row in zip(recording.time.tolist(), recording.pedestrian_present, strict=True)}
    assert [there[t] for t in (1.0, 2.5, 3.5, 5.0, 9.0)] == [
        [True, False],
        [True, True],
        [False, True],
        [False, False],
        [False, True],
    ]
    silent = drive(tmp_path / "y.bag", ("/people", people), until=4.0)  # the tracker itself stops
    present = read(silent)[0].robots[0].recording.pedestrian_present[:, 0]
    assert present[:49].all() and not present[52:].any()


def test_of_several_topics_one_is_read_and_another_can_be_asked_for(tmp_path):
    path = drive(tmp_path / "x.bag", ("/people", people), ("/simulated_agents", agents))
    played, _ = read(path)
    assert any(
        "people are read from /simulated_agents; other topics: /people; choose one with --people" in note for note in played.notes
    )
    asked, _ = read(path, people="people")
    assert any("people are read from /people" in note for note in asked.notes)
    with pytest.raises(InputError, match="--people /poeple: .* did you mean '/people'"):
        read(path, people="/poeple")


def test_topics_that_may_hold_people_and_are_not_read_are_named(tmp_path):
    def cloud(time, frame, seen):
        return of().PoseArray(header(time, frame), [pose(x, y) for _, x, y, _, _ in seen])

    def strange(time, frame, seen):
        return made("odd_msgs/msg/TrackedPersons", header(time, frame), np.zeros(2))

    path = drive(tmp_path / "x.bag", ("/people_poses", cloud), ("/particlecloud", cloud), ("/tracks", strange))
    played, values = read(path)
    line = "x.bag: /people_poses (geometry_msgs/PoseArray), /tracks (odd_msgs/TrackedPersons) may contain people but cannot be read"
    assert line in played.notes and values["closest_pedestrian_distance_min"] is None
