"""The blame for a contact, and whether the robot could have kept clear; scenes are shifted and turned by 0.7 rad."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from tests.starts import DISC, plane, start

from agora.core.recording import Closer, Closing, Contact, ContactKind, Outcome
from agora.episode import Conditions, Episodes
from agora.interfaces import Declaration
from agora.maps.grid import Map
from agora.metrics import blame
from agora.metrics.blame import is_avoidable
from agora.metrics.outcome import collisions_pedestrian
from agora.world.start import RobotStart
from agora.world.trajectories import Trajectories
from recordings import among, drive

BOX = replace(DISC, name="box", radius=0.55, footprint=((-0.5, -0.2), (0.5, -0.2), (0.5, 0.2), (-0.5, 0.2)))
HEAVY = replace(DISC, name="heavy", vx=(0.0, 1.5), omega=0.4, ax=1.0, deceleration=0.8, alpha=0.5)
BODY = 0.3


@dataclass(frozen=True)
class Steady:
    """Asks for one twist for ever."""

    twist: tuple[float, float, float]
    declares: ClassVar[Declaration] = Declaration()

    def plan(self, observation, memory):
        return self.twist, None


@dataclass(frozen=True)
class Frame:
    """The place of the scene on the map."""

    x: float = 1.3
    y: float = -0.6
    turn: float = 0.7

    def points(self, points):
        c, s = np.cos(self.turn), np.sin(self.turn)
        return np.asarray(points, float) @ np.array([[c, s], [-s, c]]) + (self.x, self.y)

    def pose(self, x, y, heading):
        return np.array([*self.points((x, y)), heading + self.turn])


HERE = Frame()


def played(twist, *walks, model=DISC, walls=(), frame=HERE, robots=(), **conditions):
    """Recordings of robots that hold a twist, the first from the origin along x; each walk is rows of time, x, y."""
    knots = np.array([knot for walk in walks for knot in walk], float).reshape(-1, 3)
    first = np.cumsum([0, *map(len, walks)])
    places = frame.points(knots[:, 1:])
    crowd = Trajectories(knots[:, 0], *places.T.copy(), first, np.arange(len(walks)) + 4) if walks else None
    place = plane()
    if len(walls):
        ends = frame.points(np.reshape(walls, (-1, 2))).reshape(-1, 4)
        place = Map.from_shapes(segments=ends, bounds=(-7.3, -4.1, 12.7, 9.9))
    made = start(
        frame.pose(0, 0, 0), frame.pose(6.0, 0, 0), place=place, model=model, replay=crowd, replay_radius=BODY, timeout=4.0
    )
    others = [RobotStart(other, frame.pose(*pose), frame.pose(-6.0, 0, 0)[None]) for other, pose in robots]
    made = replace(made, robots=(*made.robots, *others))
    return next(iter(Episodes([made], Steady(twist), Conditions(**conditions))))[1]


def met(*arguments, **options):
    """The first robot's recording, which ends with its one contact with a pedestrian, and that contact."""
    recording = played(*arguments, **options)[0]
    assert recording.outcome == Outcome.PEDESTRIAN_COLLISION
    (contact,) = recording.contacts
    return recording, contact


def stands(x, y):
    return (0.0, x, y), (30.0, x, y)


def walks(x, y, vx, vy):
    return (0.0, x, y), (5.0, x + 5 * vx, y + 5 * vy)


METRICS = (blame.collisions_by_robot, blame.collisions_by_person, blame.collisions_by_both, blame.collisions_avoidable)


def test_a_robot_that_stands_is_walked_into():
    recording, contact = met((0.0, 0.0, 0.0), walks(3.0, 0.1, -1.3, 0.0))
    assert contact.closing.standing and contact.closing.closer == Closer.PERSON and contact.closing.share == 0.0
    assert is_avoidable(recording, contact) is False
    assert [m(recording) for m in METRICS] == [0.0, 1.0, 0.0, 0.0]


def test_a_robot_that_turns_on_the_spot_under_a_round_outline_stands():
    _, contact = met((0.0, 0.0, 1.5), walks(3.0, 0.1, -1.3, 0.0))
    assert contact.closing.standing and contact.closing.robot == pytest.approx(0.0, abs=1e-4)


def test_a_robot_drives_into_a_person_who_stands():
    recording, contact = met((0.8, 0.0, 0.0), stands(2.5, 0.05))
    assert contact.closing.share == 1.0 and contact.closing.closer == Closer.ROBOT
    assert is_avoidable(recording, contact) is True
    assert [m(recording) for m in METRICS] == [1.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize(("robot", "person"), [(1.0, 0.5), (0.5, 1.0), (0.9, 1.1)])
def test_head_on_each_has_the_share_of_its_speed(robot, person):
    _, contact = met((robot, 0.0, 0.0), walks(3.1, 0.0, -person, 0.0))
    assert (contact.closing.robot, contact.closing.party) == pytest.approx((robot, person), abs=1e-3)
    assert contact.closing.share == pytest.approx(robot / (robot + person), abs=1e-3)
    assert contact.closing.closer == {1.0: Closer.ROBOT, 0.5: Closer.PERSON, 0.9: Closer.BOTH}[robot]


def test_who_crosses_gives_the_part_of_the_speed_along_the_line_between_the_centres():
    _, contact = met((1.0, 0.0, 0.0), walks(2.2, -2.3, 0.0, 1.3))
    time = contact.time
    normal = np.array([2.2, -2.3 + 1.3 * time]) - (time, 0.0)
    assert np.hypot(*normal) == pytest.approx(DISC.radius + BODY, abs=1e-3)
    normal /= np.hypot(*normal)
    assert contact.closing.robot == pytest.approx(normal[0], abs=2e-3)
    assert contact.closing.party == pytest.approx(-1.3 * normal[1], abs=2e-3)


def test_a_robot_that_is_overtaken_from_behind_gave_nothing():
    _, contact = met((0.4, 0.0, 0.0), walks(-2.5, 0.1, 1.4, 0.0))
    assert contact.closing.robot < -0.35 and contact.closing.party > 1.3
    assert contact.closing.share == 0.0 and contact.closing.closer == Closer.PERSON and not contact.closing.standing


STEPS_OUT = (0.0, 2.9, 0.75), (1.9, 2.9, 0.75), (3.9, 2.9, -0.85)


def test_nobody_could_have_kept_a_heavy_robot_from_a_person_who_steps_out_in_front_of_it():
    recording, contact = met((1.5, 0.0, 0.0), STEPS_OUT, model=HEAVY)
    assert contact.closing.closer == Closer.ROBOT and is_avoidable(recording, contact) is False


def test_a_robot_that_brakes_better_could_have_stopped_for_a_person_who_steps_out():
    recording, contact = met((1.5, 0.0, 0.0), STEPS_OUT, model=replace(HEAVY, deceleration=5.0))
    assert contact.closing.closer == Closer.ROBOT and is_avoidable(recording, contact) is True


CORRIDOR = (-2.0, 0.4, 6.0, 0.4), (-2.0, -0.45, 6.0, -0.45)


def test_walls_that_leave_no_way_round_make_a_contact_unavoidable():
    forward = replace(DISC, vx=(0.0, 1.0))
    meeting = (0.6, 0.0, 0.0), walks(3.0, 0.0, -1.2, 0.0)
    recording, contact = met(*meeting, model=forward)
    assert is_avoidable(recording, contact) is True
    recording, contact = met(*meeting, model=forward, walls=CORRIDOR)
    assert is_avoidable(recording, contact) is False
    recording, contact = met(*meeting, model=replace(forward, vx=(-1.5, 1.0)), walls=CORRIDOR)
    assert is_avoidable(recording, contact) is True


def test_people_beside_leave_no_way_round_either():
    forward = replace(DISC, vx=(0.0, 1.0))
    beside = [stands(x, y) for x in (0.6, 1.1, 1.6, 2.1) for y in (-0.75, 0.75)]
    recording, contact = met((0.6, 0.0, 0.0), walks(3.0, 0.0, -1.2, 0.0), *beside, model=forward)
    assert is_avoidable(recording, contact) is False


@pytest.mark.parametrize(("delay", "could"), [(0.3, True), (1.2, False)])
def test_a_command_that_comes_too_late_avoids_nothing(delay, could):
    recording, contact = met((0.8, 0.0, 0.0), stands(2.5, 0.05), model=replace(DISC, command_delay=delay))
    assert is_avoidable(recording, contact) is could


def test_a_robot_that_turns_towards_a_person_knew_its_own_way():
    recording, contact = met((0.8, 0.0, 0.7), stands(0.9, 0.9))
    assert contact.closing.closer == Closer.ROBOT and is_avoidable(recording, contact) is True


@pytest.mark.parametrize("side", [1, -1])
def test_a_box_that_turns_into_a_person_closes_the_gap_with_the_point_that_touches(side):
    distance, angle = 0.62, 1.4 * side
    person = stands(distance * np.cos(angle), distance * np.sin(angle))
    recording, contact = met((0.0, 0.0, 0.6 * side), person, model=BOX)
    arm = distance * np.cos(angle - 0.6 * side * contact.time)
    assert 0.1 < arm < 0.5
    assert contact.closing.robot == pytest.approx(0.6 * arm, rel=0.03) and contact.closing.party == 0.0
    assert contact.closing.closer == Closer.ROBOT and not contact.closing.standing
    assert is_avoidable(recording, contact) is True


def test_a_person_who_appears_at_a_moving_robot_was_not_run_into():
    _, contact = met((0.8, 0.0, 0.0), ((1.0, 1.2, 0.0), (20.0, 1.2, 0.0)))
    assert contact.closing.closer == Closer.PERSON


@pytest.mark.parametrize("frame", [Frame(0.0, 0.0, 0.0), Frame(-3.1, 2.2, 2.9), Frame(4.0, 3.3, -1.1)])
@pytest.mark.parametrize("model", [replace(DISC, radius=0.55), BOX])
def test_where_the_scene_lies_changes_nothing(frame, model):
    crossing = (0.7, 0.0, 0.2), walks(1.9, -2.1, -0.1, 1.1)
    (_, here), (recording, there) = met(*crossing, model=model), met(*crossing, model=model, frame=frame)
    assert there.closing == pytest.approx(here.closing, abs=2e-3)
    assert is_avoidable(recording, there) is True


def test_of_two_robots_each_has_its_own_share():
    slow = replace(DISC, vx=(-0.5, 0.5))
    robots = played((1.0, 0.0, 0.0), robots=[(slow, (3.0, 0.0, np.pi))])
    contacts = [robot.contacts[0] for robot in robots]
    assert all(contact.kind == ContactKind.ROBOT for contact in contacts)
    assert [contact.closing.share for contact in contacts] == pytest.approx([2 / 3, 1 / 3], abs=1e-3)
    assert [is_avoidable(*pair) for pair in zip(robots, contacts, strict=True)] == [None, None]


def test_what_was_closed_by_somebody_adds_up_to_all_contacts_with_pedestrians():
    people = walks(2.0, 0.0, -0.5, 0.0), stands(1.8, 0.45), walks(-1.5, -0.2, 1.6, 0.0), walks(4.2, 0.1, -0.45, 0.0)
    recording = played((0.5, 0.0, 0.0), *people, ends=0)[0]
    by_robot, by_person, by_both, could = (m(recording) for m in METRICS)
    assert by_robot and by_person and by_both
    assert by_robot + by_person + by_both == collisions_pedestrian(recording) == len(recording.contacts)
    assert 0 < could <= len(recording.contacts)


def test_without_pedestrians_nobody_is_to_blame():
    recording = played((0.8, 0.0, 0.0), walls=((1.5, -1.0, 1.5, 1.0),))[0]
    assert [c.kind for c in recording.contacts] == [ContactKind.WALL] and recording.contacts[0].closing is None
    assert [m(recording) for m in METRICS] == [0.0] * 4


def test_what_nobody_recorded_is_not_made_up():
    recording, contact = met((0.8, 0.0, 0.0), stands(2.5, 0.05))
    assert blame.collisions_avoidable(replace(recording, robot=None)) is None
    assert blame.collisions_by_robot(replace(recording, robot=None)) == 1.0
    unsaid = replace(recording, contacts=(contact, contact._replace(closing=None)))
    assert [m(unsaid) for m in METRICS] == [None] * 4


@pytest.mark.parametrize(
    ("closing", "share", "closer"),
    [
        (Closing(0.59, 0.41, False), 0.59, Closer.BOTH),
        (Closing(0.61, 0.39, False), 0.61, Closer.ROBOT),
        (Closing(0.41, 0.59, False), 0.41, Closer.BOTH),
        (Closing(0.39, 0.61, False), 0.39, Closer.PERSON),
        (Closing(0.3, -0.2, False), 1.0, Closer.ROBOT),
        (Closing(-0.3, -0.2, False), 0.0, Closer.PERSON),
        (Closing(0.04, 0.0, True), 1.0, Closer.PERSON),
    ],
)
def test_the_larger_part_of_the_closing_speed_decides_unless_the_robot_stood(closing, share, closer):
    assert closing.share == pytest.approx(share) and closing.closer == closer


def test_a_contact_knows_nothing_of_who_closed_the_gap_unless_told():
    assert Contact(1.0, ContactKind.PEDESTRIAN, 3, 0.2, 0.1).closing is None


def touched(*closings):
    """A recording with a contact with a pedestrian for each closing, and one with a wall."""
    contacts = [Contact(1.0 + k, ContactKind.PEDESTRIAN, k, 0.2, 0.1, closing) for k, closing in enumerate(closings)]
    wall = Contact(9.0, ContactKind.WALL, -1, 0.2, 0.1)
    return drive([0.0, 9.0], [1.0, 2.0], [3.0, 3.0], contacts=(*contacts, wall))


def test_the_share_of_blame_is_the_mean_of_the_robots_shares():
    shares = touched(Closing(0.6, 0.2, False), Closing(0.3, -0.2, False), Closing(0.04, 0.0, True))
    assert blame.collision_blame(shares) == pytest.approx((0.75 + 1.0 + 0.0) / 3)
    assert blame.collision_blame(touched()) is None
    assert blame.collision_blame(touched(Closing(0.6, 0.2, False), None)) is None


def pressed(pedestrian_heading, walking, gap=0.01, bearing=0.0):
    """For three samples a pedestrian touches a robot that drives at 0.5 m/s along 0.7 rad; angles relative to that."""
    time, c, s = np.array([0.0, 0.1, 0.7]), np.cos(0.7 + bearing), np.sin(0.7 + bearing)
    heading = 0.7 + pedestrian_heading
    crowd = among(time, (3.0 + c * (0.55 + gap), -1.0 + s * (0.55 + gap)), heading=heading)
    crowd["pedestrian_velocity"][:, 0] = walking * np.cos(heading), walking * np.sin(heading)
    return drive(time, [3.0] * 3, [-1.0] * 3, 0.7, [[0.5, 0.0, 0.0]] * 3, **crowd)


@pytest.mark.parametrize(
    ("pedestrian_heading", "walking", "bearing", "robot", "person"),
    [
        (np.pi, 1.0, 0.0, 3, 0),  # walks into the robot's front, and the robot is charged, for its bearing reads 90 degrees
        (0.0, 0.2, 0.0, 0, 3),  # is run over from behind, and is charged
        (-np.pi / 2 + 0.1, 1.0, np.pi / 2 + 0.2, 3, 0),  # 0.1 rad off the pedestrian, and 0.2 off the left for the robot
        (np.pi, 0.5, 0.0, 0, 0),  # at equal speeds nobody is
    ],
)
def test_hunavsim_charges_by_exchanged_bearings(pedestrian_heading, walking, bearing, robot, person):
    recording = pressed(pedestrian_heading, walking, bearing=bearing)
    assert blame.collisions_by_robot_hunavsim(recording) == robot
    assert blame.collisions_by_person_hunavsim(recording) == person
    apart = pressed(pedestrian_heading, walking, gap=0.03, bearing=bearing)
    assert blame.collisions_by_robot_hunavsim(apart) == blame.collisions_by_person_hunavsim(apart) == 0.0
