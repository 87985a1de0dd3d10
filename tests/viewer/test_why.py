"""What is said of a failure is what happened: times, places, speeds, sides and gaps of scenes that are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agora.core.recording import Closing, Contact, ContactKind, Outcome, Reason, Recording
from agora.maps.grid import Map
from agora.viewer.planned import corners, path_at, paths
from agora.viewer.why import why

GOAL = np.array([9.0, -1.0, 0.0])


def drive(speed, outcome, *, heading=0.0, contacts=(), people=(), dt=0.1, **more):
    """A robot that drives from (2, -1) along its heading at the speeds (T - 1,), among people given by last place and velocity."""
    speed = np.asarray(speed, float)
    along = np.concatenate(([0.0], np.cumsum(speed * dt)))
    time = np.arange(len(along)) * dt
    pose = np.column_stack((2.0 + along * np.cos(heading), -1.0 + along * np.sin(heading), np.full(len(along), heading)))
    twist = np.column_stack((np.append(speed, speed[-1]), np.zeros(len(along)), np.zeros(len(along))))
    place = np.array([p for p, _ in people], float).reshape(1, -1, 2)
    velocity = np.array([v for _, v in people], float).reshape(1, -1, 2)
    shape = (len(time), len(people))
    fields = {
        "time": time, "pose": pose, "twist": twist, "goal": GOAL, "goal_tolerance": 0.3, "radius": 0.25, "max_speed": 1.0,
        "pedestrian_position": place + velocity * (time - time[-1])[:, None, None], "contacts": tuple(contacts),
        "pedestrian_velocity": np.broadcast_to(velocity, (*shape, 2)), "pedestrian_heading": np.zeros(shape),
        "pedestrian_present": np.ones(shape, bool), "pedestrian_radius": np.full(len(people), 0.3),
        "pedestrian_id": np.arange(len(people), dtype=np.int32) + 7, "pedestrian_group": np.full(shape, -1, np.int32),
        "outcome": outcome, "timeout": 60.0, "shortest_path": 7.0,
    }  # fmt: skip
    return Recording(**(fields | more))


def wall(x):
    """A map with one wall across the robot's way."""
    return Map.from_shapes(segments=np.array([[x, -4.0, x, 3.0]]), bounds=(-1.0, -5.0, 12.0, 4.0))


def test_a_contact_with_a_person_says_when_where_who_how_both_moved_and_what_else_was_near():
    contact = Contact(2.0, ContactKind.PEDESTRIAN, 7, 4.0, -1.0, Closing(0.9, 0.4, standing=False))
    others = [((4.55, -1.0), (-0.4, 0.0)), ((4.0, 1.0), (0.0, 0.0))]
    recording = drive([1.0] * 20, Outcome.PEDESTRIAN_COLLISION, contacts=[contact], people=others, map=wall(7.0))
    noted = np.zeros(20, np.int32)
    noted[-1] = Reason.BLOCKED
    found = why(replace(recording, reason=noted))
    assert found.time == 2.0
    assert found.words.startswith(
        "2.0 s: touched pedestrian 7 ahead, who walked towards the robot at 0.4 m/s, at (3.9, -1.0), 5.1 m from the goal."
    )
    for words in (
        "The robot kept driving at 1.0 m/s.",
        "The robot closed the gap (robot 0.9, person 0.4 m/s).",
        "Nearest wall 2.8 m, nearest other person 1.5 m.",
        "The planner noted: blocked.",
    ):
        assert words in found.words


@pytest.mark.parametrize(
    ("place", "heading", "side"),
    [
        ((3.0, 0.0), 0.0, "on the left"),
        ((3.0, 0.0), np.pi, "on the right"),
        ((4.0, -2.0), 0.0, "ahead on the right"),
        ((2.2, -1.0), 0.0, "behind"),
        ((3.0, 1.0), np.pi / 2, "ahead"),
    ],
)
def test_the_side_is_that_of_the_robots_heading(place, heading, side):
    recording = drive([0.0] * 20, Outcome.PEDESTRIAN_COLLISION, heading=heading, people=[(place, (0.0, 0.0))])
    recording = replace(recording, pose=recording.pose + (1.0, 0.0, 0.0))
    contact = Contact(2.0, ContactKind.PEDESTRIAN, 7, 3.0, -1.0)
    assert f"pedestrian 7 {side}, who stood still, at" in why(replace(recording, contacts=(contact,))).words


@pytest.mark.parametrize(
    ("speeds", "words"),
    [
        ([0.8] * 30, "The robot kept driving at 0.8 m/s."),
        ([1.0] * 20 + list(np.linspace(1.0, 0.2, 10)), "The robot braked from 1.0 to 0.2 m/s in the last second."),
        ([0.1] * 20 + list(np.linspace(0.1, 1.0, 10)), "The robot sped up from 0.1 to 1.0 m/s in the last second."),
        ([1.0] * 10 + [0.0] * 20, "The robot had stood still for 2.0 s."),
        ([1.0] * 27 + [0.0] * 3, "The robot had braked from 1.0 m/s to a stop."),
        ([0.2] * 22 + [1.5] * 6 + [0.5] * 3, "The robot sped up from 0.2 to 1.5 m/s and braked to 0.5 m/s in the last second."),
        (
            [0.8] * 22 + [0.0] * 5 + [-0.6] * 4,
            "The robot braked from 0.8 to 0.0 m/s and sped up to 0.6 m/s backwards in the last second.",
        ),
        ([0.0] * 22 + [1.5] * 6 + [0.0] * 3, "The robot had braked from 1.5 m/s to a stop."),
    ],
)
def test_how_the_robot_drove_in_the_last_second(speeds, words):
    contact = Contact(3.0, ContactKind.PEDESTRIAN, 7, 0.0, 0.0)
    assert words in why(drive(speeds, Outcome.PEDESTRIAN_COLLISION, contacts=[contact])).words


@pytest.mark.parametrize(
    ("velocity", "words"),
    [((0.5, 0.2), "away from the robot at 0.5"), ((0.2, -0.6), "across at 0.6"), ((-1.0, 0.9), "towards the robot at 1.3")],
)
def test_a_person_walks_towards_the_robot_away_from_it_or_across(velocity, words):
    contact = Contact(2.0, ContactKind.PEDESTRIAN, 7, 4.0, -1.0)
    people = [((5.0, -1.0), velocity)]
    assert (
        f"who walked {words} m/s" in why(drive([1.0] * 20, Outcome.PEDESTRIAN_COLLISION, contacts=[contact], people=people)).words
    )


@pytest.mark.parametrize(("twist", "words"), [((-0.8, 0.1), "backwards"), ((0.3, -0.8), "sideways")])
def test_a_robot_that_drives_backwards_or_sideways_is_said_to(twist, words):
    contact = Contact(2.0, ContactKind.WALL, -1, 4.0, -1.0)
    recording = drive([1.0] * 20, Outcome.WALL_COLLISION, contacts=[contact])
    recording = replace(recording, twist=np.tile((*twist, 0.0), (21, 1)))
    assert f"The robot kept driving {words} at 0." in why(recording).words


def test_a_robot_that_had_waited_long_before_it_touched_somebody_is_said_to():
    contact = Contact(9.0, ContactKind.PEDESTRIAN, 7, 0.0, 0.0)
    waited = drive([0.5] * 10 + [0.0] * 60 + [0.4] * 20, Outcome.PEDESTRIAN_COLLISION, contacts=[contact])
    assert "Before that, it had stood still for a total of 6 s." in why(waited).words
    noted = np.where(np.arange(90) < 70, Reason.BLOCKED, Reason.NONE).astype(np.int32)
    assert "stood still for a total of 6 s (the planner noted: blocked)." in why(replace(waited, reason=noted)).words
    assert "Before that" not in why(drive([0.5] * 60 + [0.0] * 30, Outcome.PEDESTRIAN_COLLISION, contacts=[contact])).words


@pytest.mark.parametrize(("closing", "sets_off"), [(0.3, True), (0.0, False), (None, True)])
def test_a_robot_that_stood_and_set_off_into_somebody_is_not_said_to_stand(closing, sets_off):
    """The step of the contact is shorter than a control period: no sample shows the robot drive."""
    closed = None if closing is None else Closing(closing, 0.0, standing=closing == 0.0)
    contact = Contact(3.02, ContactKind.PEDESTRIAN, 7, 3.0, -1.0, closed)
    command = np.where(np.arange(31) < 30, 0.0, 0.6)[:, None] * (1.0, 0.0, 0.0)
    stood = drive(
        [1.0] * 10 + [0.0] * 21, Outcome.PEDESTRIAN_COLLISION, contacts=[contact], people=[((3.56, -1.0), (0.0, 0.0))],
        command=command,
    )  # fmt: skip
    words = "The robot had stood still for 2.0 s and then set off: the planner requested 0.6 m/s."
    assert (words in why(stood).words) is sets_off and ("The robot had stood still for 2.0 s." in why(stood).words) is not sets_off
    unknown = why(replace(stood, command=None)).words
    assert "The robot had stood still for 2.0 s." in unknown
    turning = replace(stood, twist=stood.twist + (0.0, 0.0, 0.4))
    assert "The robot had turned on the spot for 2.0 s and then set off" in why(turning).words or not sets_off


def test_a_robot_that_had_gone_too_near_is_said_to_have_been_near_for_long():
    """It creeps up to a person, and to a wall: 1 m/s for 2 s, then 0.04 m/s."""
    speeds = [1.0] * 20 + [0.04] * 40
    person = Contact(6.0, ContactKind.PEDESTRIAN, 7, 4.16, -1.0, Closing(0.04, 0.0, standing=True))
    near = drive(speeds, Outcome.PEDESTRIAN_COLLISION, contacts=[person], people=[((4.71, -1.0), (0.0, 0.0))])
    assert "It had been within 0.25 m of the person for 4.0 s." in why(near).words
    touched = Contact(6.0, ContactKind.WALL, -1, 4.16, -1.0)
    assert "of a wall for 4." in why(drive(speeds, Outcome.WALL_COLLISION, contacts=[touched], map=wall(4.45))).words
    fast = drive([1.0] * 60, Outcome.PEDESTRIAN_COLLISION, contacts=[person], people=[((8.5, -1.0), (0.0, 0.0))])
    assert "within" not in why(fast).words
    another = replace(near, contacts=(person._replace(party=99),))
    assert "within" not in why(another).words


def test_a_contact_with_a_wall_says_its_side_and_how_far_the_robot_was_off_its_path():
    contact = Contact(2.75, ContactKind.WALL, -1, 4.75, -1.0)
    path = np.array([[0.0, 2.0, -0.4], [0.0, 9.0, -0.4]])
    recording = drive([1.0] * 28, Outcome.WALL_COLLISION, contacts=[contact], map=wall(5.0), planned_path=path)
    words = why(recording).words
    assert words.startswith("2.8 s: touched a wall ahead at (4.7, -1.0), 4.3 m from the goal.") and "m off its" in words
    assert "It was 0.6 m off its planned path, which is too narrow for it there." in words
    beside = np.array([[0.0, 2.0, -0.4], [0.0, 3.1, -0.4]])
    assert "It was 1.8 m off its planned path." in why(replace(recording, planned_path=beside)).words
    none = np.array([[0.0, 2.0, -0.4], [0.0, 3.0, -0.4], [1.0, 3.0, -1.0]])
    assert "It had no path." in why(replace(recording, planned_path=none)).words


def test_touching_at_the_start_is_called_so():
    contact = Contact(0.0, ContactKind.WALL, -1, 2.0, -1.0)
    assert why(drive([0.0], Outcome.WALL_COLLISION, contacts=[contact])).words.endswith("They were in contact at the start.")


def test_a_time_out_of_a_robot_that_stood_says_since_when_where_beside_whom_and_what_was_asked_for():
    reason = np.where(np.arange(400) < 90, Reason.NONE, Reason.NO_PATH).astype(np.int32)
    recording = drive(
        [1.0] * 50 + [0.0] * 350, Outcome.TIMEOUT, people=[((7.95, -1.0), (0.0, 0.0))], map=wall(10.0), reason=reason,
        command=np.zeros((400, 3)),
    )  # fmt: skip
    found = why(recording)
    assert found.time == pytest.approx(5.0)
    assert found.words == (
        "40.0 s: time-out, 2.0 m from the goal. The robot stood still for the last 35 s at (7.0, -1.0). "
        "Nearest person 0.4 m ahead, who stood still; nearest wall 2.8 m. The planner requested zero speed. "
        "The planner noted: no path."
    )
    asked = why(replace(recording, command=np.full((400, 3), 0.5) * (1.0, 0.0, 0.0)))
    assert "The planner nevertheless requested 0.5 m/s." in asked.words


def test_a_time_out_says_whether_the_robot_turned_stayed_or_was_on_its_way_and_whether_there_is_a_way():
    still = drive([0.0] * 100, Outcome.TIMEOUT)
    turning = replace(still, twist=still.twist + (0.0, 0.0, 0.7))
    assert "turned on the spot for the last 10 s at (2.0, -1.0)" in why(turning).words
    fro = replace(still, twist=still.twist + np.where(np.arange(101) // 8 % 2, 0.7, -0.7)[:, None] * (0.0, 0.0, 1.0))
    assert "turned back and forth on the spot for the last 10 s at (2.0, -1.0)" in why(fro).words
    to_and_fro = drive(np.where(np.arange(300) // 10 % 2, 0.6, -0.6), Outcome.TIMEOUT)
    assert "stayed within 1 m of (2.0, -1.0) for the last 30 s" in why(to_and_fro).words
    slow = drive([0.2] * 200, Outcome.TIMEOUT)
    assert why(slow).words.endswith("The robot kept driving, at 0.2 m/s on average; the shortest path is 7.0 m long.")
    assert "There is no path to the goal for this robot." in why(replace(still, shortest_path=np.inf)).words


def test_a_time_out_of_a_robot_that_stood_for_most_of_its_way_says_so_though_it_drove_at_the_end():
    noted = np.where((np.arange(400) >= 20) & (np.arange(400) < 280), Reason.WAITING, Reason.NONE).astype(np.int32)
    noted[300:350] = Reason.BLOCKED
    recording = drive(
        [1.0] * 20 + [0.0] * 260 + [1.0] * 20 + [0.0] * 50 + [1.0] * 50, Outcome.TIMEOUT, people=[((4.95, -1.0), (0.0, 0.0))],
        reason=noted, command=np.zeros((400, 3)),
    )  # fmt: skip
    found = why(recording)
    assert found.time == pytest.approx(2.0)
    assert "The robot stood still for a total of 31 s, the longest time at (4.0, -1.0), from 2.0 to 28.0 s." in found.words
    assert found.words.endswith("0.4 m ahead, who stood still. The planner requested zero speed. The planner noted: waiting.")


def test_a_reason_that_was_noted_at_few_calls_is_said_with_their_share():
    reason = np.where(np.arange(400) % 50 == 0, Reason.BLOCKED, Reason.NONE).astype(np.int32)
    words = why(drive([0.0] * 400, Outcome.TIMEOUT, reason=reason)).words
    assert words.endswith("The planner noted: blocked, in 2 % of the calls.")


def test_other_ends_have_their_words_too():
    assert why(drive([1.0] * 8, Outcome.REACHED)).words == "0.8 s: reached the goal."
    failed = drive([1.0] * 8, Outcome.PLANNER_FAILED, failure="ValueError: 3 < x")
    assert why(failed).words == "0.8 s: the planner failed: ValueError: 3 < x"
    lost = drive([1.0] * 8, Outcome.SIMULATOR_FAILED, failure="mujoco: gone")
    assert why(lost).words == "0.8 s: the simulator failed: mujoco: gone"
    assert why(drive([1.0] * 8, Outcome.OUT_OF_MAP)).words.startswith("0.8 s: left the map at (2.8, -1.0), 6.2 m from the goal.")
    unknown = drive([1.0] * 8, Outcome.PEDESTRIAN_COLLISION)
    assert why(unknown).words == "0.8 s: pedestrian collision at (2.8, -1.0), 6.2 m from the goal."
    other = Contact(0.8, ContactKind.ROBOT, 3, 2.8, -1.0, Closing(-0.02, 1.0, standing=False))
    words = why(drive([1.0] * 8, Outcome.ROBOT_COLLISION, contacts=[other])).words
    assert "touched robot 3 at" in words and "The other robot closed the gap (robot 0.0, other robot 1.0 m/s)." in words


def test_a_path_is_followed_until_the_next_is_given():
    given = np.array([[0.0, 1.0, 2.0], [0.0, 3.0, 2.0], [1.5, 2.0, 2.0], [2.5, 5.0, 6.0], [2.5, 7.0, 6.0]])
    recording = drive([1.0] * 40, Outcome.TIMEOUT, planned_path=given)
    assert [since for since, _ in paths(recording)] == [0.0, 1.5, 2.5]
    np.testing.assert_array_equal(path_at(recording, 1.49), [[1.0, 2.0], [3.0, 2.0]])
    assert path_at(recording, 1.5).shape == (0, 2) and path_at(recording, 9.0).tolist() == [[5.0, 6.0], [7.0, 6.0]]
    assert path_at(replace(recording, planned_path=None), 1.0) is None


def test_corners_stay_within_the_tolerance_and_straight_lines_have_two():
    straight = np.linspace((1.0, 2.0), (4.0, -3.0), 50)
    np.testing.assert_array_equal(corners(straight, 0.01), straight[[0, -1]])
    angle = np.linspace(0.0, 3.0, 200)
    arc = 2.0 * np.column_stack((np.cos(angle), np.sin(angle)))
    kept = corners(arc, 0.02)
    assert 4 < len(kept) < 20
    along = np.interp(angle, angle[[int(np.flatnonzero((arc == point).all(1))[0]) for point in kept]], np.arange(len(kept)))
    low = np.minimum(along.astype(int), len(kept) - 2)
    line = kept[low] + (along - low)[:, None] * (kept[low + 1] - kept[low])
    assert np.hypot(*(line - arc).T).max() < 0.03
    assert corners(np.zeros((0, 2)), 0.1).shape == (0, 2)
