"""Keeping somebody company: gaps along trails, paces, who is out of sight, and whole walks round corners and through a door."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from agora.core.recording import Outcome, Reason
from agora.episode import Conditions, Episodes
from agora.errors import InputError
from agora.interfaces import Tracks
from agora.optics.lidar import Lidar
from agora.pedestrians.behaviours.cues import Cues
from agora.pedestrians.models.anticipation import Anticipation
from agora.pedestrians.models.waypoint import Waypoint
from agora.planners.inter.escort import TRAIL, Escort
from agora.planners.presets import named_planner
from agora.tasks.cards.predicates import distance
from agora.tasks.cards.shapes import door, place
from agora.testing import observation
from agora.world.records import EVERY_CONTACT
from starts import DISC, people, start

LIDAR = Lidar(beams=360, range_max=8.0)
GOAL = (30.0, 4.0, 0.4)


def seen(robot, *persons, dt=0.1, top=1.25, scan=()):
    """One robot at (x, y) with heading 0.2, persons (id, x, y, vx, vy), and returns of its lidar (angle in the map, range)."""
    who = np.array(persons, np.float32).reshape(1, -1, 5)
    tracks = Tracks(
        position=who[..., 1:3], velocity=who[..., 3:], radius=np.full(who.shape[:2], 0.3, np.float32),
        present=np.ones(who.shape[:2], bool), id=who[..., 0].astype(np.int32), group=np.full(who.shape[:2], -1, np.int32),
    )  # fmt: skip
    plain, goal = observation(rows=1), np.array([GOAL], np.float32)
    path = np.linspace(robot, GOAL[:2], 50, dtype=np.float32)[None]
    pose = np.array([[*robot, 0.2]], np.float32)
    limits = replace(plain.limits, max_vx=np.array([top], np.float32))
    beams = {
        "scan": np.array([[reach for _, reach in scan]], np.float32),
        "scan_angles": np.array([a - 0.2 for a, _ in scan], np.float32),
    }
    return replace(
        plain, pose=pose, goal=goal, path=path, path_count=np.array([50], np.int32), pedestrians=tracks, limits=limits, dt=dt,
        radius=np.array([0.25], np.float32), scan_pose=np.zeros(3, np.float32), scan_range=9.0, **beams,
    )  # fmt: skip


def asked(escort, *moments):
    """Return its guidance at the last of the moments."""
    memory = {}
    for moment in moments:
        found, memory = escort.guide(moment, memory)
    return found, memory


def led(found):
    return found.path[0, : found.path_count[0]]


@pytest.mark.parametrize(("behind", "pace"), [(1.0, 0.5 + 0.8 * 0.6), (1.6, 0.5), (2.1, 0.5 - 0.8 * 0.5), (3.0, 0.0)])
def test_it_leads_at_the_persons_pace_faster_the_nearer_the_person_and_waits_for_whoever_falls_behind(behind, pace):
    x, y = -1.3 - behind * math.cos(0.6), 0.4 - behind * math.sin(0.6)
    asks = seen((-1.3, 0.4), (7, x, y, 0.5 * math.cos(0.6), 0.5 * math.sin(0.6)))
    found, _ = asked(Escort("lead", lead=1.6, gain=0.8), asks)
    assert found.speed[0] * 1.25 == pytest.approx(pace, abs=1e-5)
    assert found.reason[0] == (Reason.WAITING if pace == 0.0 else Reason.NONE)
    assert np.array_equal(led(found), asks.path[0]) and np.array_equal(found.goal, asks.goal)


@pytest.mark.parametrize(("gap", "pace"), [(0.9, 0.6 - 0.7), (1.6, 0.6), (1.9, 0.6 + 0.3), (4.0, 1.25)])
def test_it_follows_at_the_persons_pace_faster_the_farther_the_person(gap, pace):
    found, _ = asked(Escort("follow", distance=1.6), seen((-1.3, 0.4), (7, -1.3 + gap, 0.4, 0.6, 0.0)))
    assert found.speed[0] * 1.25 == pytest.approx(max(pace, 0.0), abs=1e-5)
    assert led(found)[0] == pytest.approx((-1.3, 0.4))
    assert led(found)[-1] == pytest.approx((-1.3 + max(gap - 0.6 * 1.6, 0.0), 0.4), abs=1e-5)


def test_the_gap_is_the_way_round_the_corner_and_the_path_is_the_persons_way():
    corner = [(0.1 * k, 0.0) for k in range(30)] + [(2.9, 0.1 * k) for k in range(1, 30)]
    found, memory = asked(Escort(distance=1.0), *(seen((-1.0, 0.0), (7, x, y, 1.0, 0.0)) for x, y in corner))
    assert found.speed[0] == 1.0
    way = led(found)
    assert np.abs(way[:, 1][way[:, 0] < 2.5]).max() == 0.0 and way[-1] == pytest.approx((2.9, 2.9 - 0.6), abs=1e-5)
    assert np.abs(way - (2.9, 0.0)).sum(axis=1).min() < 0.3
    near, _ = Escort(distance=1.0).guide(seen((2.9, 1.5), (7, 2.9, 2.9, 0.0, 0.0)), memory)
    assert near.speed[0] * 1.25 == pytest.approx(0.4, abs=0.01)
    short = led(near)
    assert short[0] == pytest.approx((2.9, 1.5)) and (np.diff(short[:, 1]) >= -0.13).all()


def test_a_leader_whose_person_is_still_round_the_corner_knows_how_far_that_is():
    corner = [(0.1 * k, 0.0) for k in range(20)] + [(1.9, 0.1 * k) for k in range(1, 20)]
    straight = math.hypot(1.9, 1.9)
    found, _ = asked(Escort("lead", lead=3.0), *(seen(at, (7, 0.0, 0.0, 0.0, 0.0)) for at in corner))
    assert straight < 3.0 and found.speed[0] == 0.0 and found.reason[0] == Reason.WAITING


def test_beside_the_path_is_abreast_on_the_side_where_the_robot_is():
    for side in (1.0, -1.0):
        found, _ = asked(Escort("accompany", distance=0.9), seen((2.0, side * 1.1), (7, 2.3, 0.0, 0.7, 0.0)))
        assert found.speed[0] * 1.25 == pytest.approx(0.7 + 0.3, abs=1e-5)
        assert led(found)[1:] == pytest.approx(np.array([(2.3 + 1.0 - 0.3 / 0.9, side * 0.9), (4.8, side * 0.9)]), abs=1e-5)
    ahead, _ = asked(Escort("accompany", distance=0.9), seen((2.9, 1.1), (7, 2.3, 0.0, 0.4, 0.0)))
    assert ahead.speed[0] == 0.0 and ahead.reason[0] == Reason.WAITING


def test_whoever_has_fallen_behind_takes_the_persons_trail_before_it_comes_abreast_again():
    walk = [(0.1 * k, 0.0) for k in range(25)]
    found, memory = asked(Escort("accompany", distance=1.0), *(seen((0.0, 1.0), (7, x, y, 1.0, 0.0)) for x, y in walk))
    assert np.abs(led(found)[2:, 1]).max() == 0.0 and found.speed[0] == 1.0 and memory["side"][0] == 0


def test_a_wall_on_its_way_beside_has_it_fall_in_behind_and_the_person_and_a_wall_elsewhere_do_not():
    def says(*scan):
        return asked(Escort("accompany", distance=1.0), seen((2.0, 1.0), (7, 2.0, 0.0, 0.7, 0.0), scan=scan))[0]

    assert led(says((0.0, 0.8)))[-1] == pytest.approx((2.0, 0.6), abs=1e-5) and says((0.0, 0.8)).speed[0] * 1.25 == pytest.approx(
        0.7
    )
    for elsewhere in ((0.0, 1.4), (math.pi / 2, 0.4), (-math.pi / 2, 0.71), (math.pi, 0.36), (0.0, 9.5), (0.0, math.nan)):
        assert led(says(elsewhere))[-1] == pytest.approx((4.5, 1.0), abs=1e-5), elsewhere


def test_from_the_persons_trail_it_comes_abreast_on_the_side_of_its_goal():
    for y, side in ((GOAL[1] - 1.0, 1.0), (GOAL[1] + 1.0, -1.0)):
        found, _ = asked(Escort("accompany", distance=1.0), seen((1.4, y), (7, 2.3, y, 0.7, 0.0)))
        assert led(found)[-1] == pytest.approx((2.3 + 2.5, y + side), abs=1e-5)


def test_the_person_is_the_one_named_or_the_nearest_at_first_and_stays_so():
    two = seen((0.0, 0.0), (4, 2.0, 0.5, 0.0, 0.0), (9, 3.0, -0.5, 0.0, 0.0))
    assert asked(Escort(), two)[1]["id"][0] == 4 and asked(Escort(person=9), two)[1]["id"][0] == 9
    nearer = seen((0.0, 0.0), (4, 2.0, 0.5, 0.0, 0.0), (9, 1.0, -0.5, 0.0, 0.0))
    assert asked(Escort(), two, nearer)[1]["id"][0] == 4
    plain, memory = asked(Escort(person=5), two)
    assert plain.speed[0] == 1.0 and np.array_equal(led(plain), two.path[0]) and not memory["known"][0]


def test_a_track_that_changes_its_number_is_the_same_person_and_somebody_elsewhere_is_not():
    before = seen((0.0, 0.0), (4, 2.0, 0.5, 0.3, 0.0))
    assert asked(Escort(), before, seen((0.0, 0.0), (8, 2.3, 0.5, 0.3, 0.0)))[1]["id"][0] == 8
    gone, memory = asked(Escort(), before, seen((0.0, 0.0), (8, 2.3, 1.6, 0.3, 0.0)))
    assert memory["id"][0] == 4 and led(gone)[-1] == pytest.approx((2.0, 0.5)) and gone.speed[0] == 1.0
    alone, _ = asked(Escort("lead", lead=1.0), before, seen((0.0, 0.0)))
    assert alone.speed[0] == 0.0 and alone.reason[0] == Reason.WAITING


def test_near_its_goal_it_goes_there():
    at = (GOAL[0] - 0.5, GOAL[1] - 0.3)
    for robot, walk in ((at, 1.0), ((GOAL[0] - 4.0, GOAL[1]), 0.0)):
        found, _ = asked(Escort(arrival=0.8), seen(robot, (7, GOAL[0], GOAL[1] + 2.0, walk, 0.0)))
        assert found.speed[0] == 1.0 and np.array_equal(found.goal[0], np.float32(GOAL))


def test_a_long_trail_forgets_its_beginning():
    walk = [(0.3 * k, 0.0) for k in range(3 * TRAIL)]
    found, memory = asked(Escort(), *(seen((-1.0, 0.0), (7, x, y, 1.0, 0.0)) for x, y in walk))
    assert memory["points"][0] == TRAIL and found.speed[0] == 1.0
    assert led(found)[1] == pytest.approx((0.3 * 2 * TRAIL, 0.0), abs=1e-4)


@pytest.mark.parametrize("role", ["lead", "follow", "accompany"])
def test_it_does_what_the_plain_one_says(role, rng):
    escort = Escort(role, distance=1.2, lead=1.5, gain=1.3, arrival=0.5)
    robot, person, speed = np.array([-2.0, 0.7]), np.array([-1.1, 0.1]), 0.8
    memory, plain = {}, Plain(escort)
    for step in range(150):
        turn = 0.9 * math.sin(0.07 * step)
        velocity = np.round(speed * (step % 40 < 30) * np.array([math.cos(turn), math.sin(turn)]), 3)
        person = person + 0.1 * velocity
        asks = seen(robot, (3, *person, *velocity))
        found, memory = escort.guide(asks, memory)
        way, pace = plain.guide(robot, person, velocity)
        assert found.speed[0] == pytest.approx(min(max(pace / 1.25, 0.0), 1.0), abs=2e-5), step
        if way is not None:
            assert led(found) == pytest.approx(np.array(way), abs=2e-4), step
        ahead = (led(found)[-1] if way is None else np.array(way[-1])) - robot
        robot = robot + 0.1 * max(min(pace, 1.25), 0.0) * ahead / max(float(np.hypot(*ahead)), 1e-9) + rng.normal(0.0, 0.003, 2)


class Plain:
    """The rules of an escort for one robot and one person who is always seen, in lists and floats."""

    def __init__(self, escort):
        self.escort, self.trail, self.motion, self.side = escort, [], None, 0

    def guide(self, robot, person, velocity):
        e, walk = self.escort, float(np.hypot(*velocity))
        if walk > 0.2:
            new = velocity / walk if self.motion is None else self.motion + 0.1 / 0.6 * (velocity / walk - self.motion)
            self.motion = new / np.hypot(*new)
        front, back = (robot, person) if e.role == "lead" else (person, robot)
        if not self.trail or math.dist(self.trail[-1], front) >= 0.25:
            self.trail.append(tuple(front))
        while len(self.trail) > 1 and math.dist(self.trail[1], back) <= math.dist(self.trail[0], back):
            self.trail.pop(0)
        points = [*self.trail, tuple(front)]
        begin, way = np.array(points[0]), np.subtract(points[1], points[0])
        done = float((back - begin) @ way) / float(np.hypot(*way)) if way.any() else 0.0
        gap = max(sum(math.dist(a, b) for a, b in zip(points, points[1:], strict=False)) - done, math.dist(front, back))
        if e.role == "lead":
            return None, max(float(velocity @ (robot - person)) / math.dist(robot, person), 0.0) + e.gain * (e.lead - gap)
        along = 0.0 if self.motion is None else float((person - robot) @ self.motion)
        if e.role == "accompany" and self.motion is not None and abs(along) <= e.distance and gap <= 2 * e.distance:
            left = np.array([-self.motion[1], self.motion[0]])
            self.side = self.side or (1 if (robot - person) @ left >= 0 else -1)
            beside = person + self.side * e.distance * left
            done = float((robot - beside) @ self.motion)
            ahead = max(done, 0.0) + 1.0 - min(max(-done, 0.0) / e.distance, 1.0)
            return [robot, beside + ahead * self.motion, beside + (max(done, 0.0) + 2.5) * self.motion], walk + e.gain * along
        self.side, short = 0, 0.6 * e.distance
        keeps = 0.0 if e.role == "accompany" else e.distance
        way = [tuple(robot), *(point for point in self.trail if math.dist(point, person) > short)]
        rest = math.dist(way[-1], person)
        share = max(rest - short, 0.0) / rest if rest else 0.0
        return [*way, tuple(np.array(way[-1]) + share * (person - way[-1]))], walk + e.gain * (gap - keeps)


WALKS = Waypoint()
ROOMS = place("two_rooms", (-1.0, -3.0, 13.0, 3.0), *door(6.0, -3.0, 3.0, 0.4, 1.0))


def walked(text, crowd, goal, model=WALKS, **more):
    begun = start(
        pose=(0.0, -0.6, 0.0),
        goal=goal,
        crowd=crowd,
        place=ROOMS,
        model=replace(DISC, ax=1.5, alpha=4.0, lidar=LIDAR),
        timeout=60.0,
    )
    ((_, (made,)),) = list(Episodes([begun], named_planner(text)[1].part, Conditions(crowd=model, ends=EVERY_CONTACT, **more)))
    return made


@pytest.mark.parametrize("planner", ["teb", "pure_pursuit"])
def test_it_accompanies_somebody_through_a_door_for_one(planner):
    crowd = people([(0.4, 0.4)], [[(6.0, 0.4), (11.0, 0.4)]], speed=0.7, first_id=1)
    made = walked(f"{planner}+escort:role=accompany,distance=1.0", crowd, (11.3, -0.7, 0.0))
    assert made.outcome == Outcome.REACHED
    along = (made.pedestrian_position[:, 0] - made.pose[:, :2]) @ (1.0, 0.0)
    beyond, before = made.pose[:, 0] > 8.0, made.pose[:, 0] < 4.0
    assert np.abs(along[before & (made.time > 3.0)]).max() < 0.5 and np.median(np.abs(along[beyond])) < 0.5
    assert distance(made, 1).max() < 2.5


def test_it_follows_somebody_who_goes_elsewhere_than_its_goal_and_a_planner_alone_does_not():
    crowd = people([(1.6, -0.6)], [[(6.0, 0.4), (9.0, 0.4), (9.0, -2.0), (11.0, -2.0), (11.0, 2.0)]], speed=0.7, first_id=1)
    made = walked("dwa_kinetic+escort", crowd, (11.0, 0.9, 0.0))
    assert made.outcome == Outcome.REACHED and made.pose[:, 1].min() < -1.3
    gap = distance(made, 1)
    assert gap.min() > 0.9 and gap.max() < 2.2
    assert walked("dwa_kinetic", crowd, (11.0, 0.9, 0.0)).pose[:, 1].min() > -1.0


def test_a_guide_waits_for_somebody_who_stops():
    waits = replace(people([(-0.6, -0.6)], [[(5.0, 0.4), (11.0, 0.4)]], speed=0.6, first_id=1), waits=np.array([[0.0, 6.0]]))
    made = walked("dwa_kinetic+escort:role=lead", waits, (11.5, -0.8, 0.0), Anticipation(), behaviours=())
    assert made.outcome == Outcome.REACHED and distance(made, 1).max() < 3.4


@pytest.mark.parametrize("keeps", [0.8, 1.4, 2.0])
def test_a_guide_gets_going_whatever_distance_the_person_keeps(keeps):
    follower = replace(people([(-0.6, -0.6)], [[(-0.6, -0.6)]], speed=0.8, first_id=1), company=np.array([[keeps, 0.0, 60.0]]))
    made = walked("dwa_kinetic+escort:role=lead", follower, (11.5, -0.8, 0.0), Anticipation(), behaviours=(Cues(),))
    assert made.outcome == Outcome.REACHED and distance(made, 1).max() < 2.6 and made.time[-1] < 40.0


def test_what_makes_no_sense_is_refused():
    for text, message in (
        ("role=leed", "did you mean 'lead'"),
        ("distance=0", "distance"),
        ("person=-1", "person"),
        ("gain=nan", "gain"),
    ):
        with pytest.raises(InputError, match=message):
            named_planner(f"dwa+escort:{text}")
