"""The geometry of going round groups: TAGA's rule, and the way round that the local planner drives."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from agora.core.recording import Reason
from agora.interfaces import Prediction, PredictorDeclaration, Tracks
from agora.perception.spaces import circle
from agora.planners.guided import GuidedPlanner
from agora.planners.inter.around_groups import ARC, AroundGroups
from agora.planners.inter.taga import Taga
from agora.planners.presets import named_planner
from agora.registry import Named
from agora.testing import Move, observation

PLACE, TURN = np.array([1.7, -2.3]), 0.6


def scene(*groups, goal=(8.0, 0.0), rows=1, mirror=1.0, velocity=(0.0, 0.0)):
    """A robot at the origin of a crooked frame, groups as lists of places in it, the goal, and the straight path to it."""
    turn = np.array([[math.cos(TURN), -math.sin(TURN)], [math.sin(TURN), math.cos(TURN)]])

    def put(points):
        return (PLACE + (np.asarray(points, float) * (1.0, mirror)) @ turn.T).astype(np.float32)

    people = np.array([member for group in groups for member in group], float).reshape(-1, 2)
    number = np.array([k for k, group in enumerate(groups) for _ in group], np.int32)
    count = len(people)
    walk = (np.array(velocity) * (1.0, mirror) @ turn.T).astype(np.float32)
    tracks = Tracks(
        position=np.repeat(put(people)[None], rows, 0), velocity=np.broadcast_to(walk, (rows, count, 2)).copy(),
        radius=np.full((rows, count), 0.3, np.float32), present=np.ones((rows, count), bool),
        id=np.tile(np.arange(count, dtype=np.int32), (rows, 1)), group=np.tile(number, (rows, 1)),
    )  # fmt: skip
    path = put(np.linspace((0.0, 0.0), goal, 41))
    end = np.array([[*put([goal])[0], TURN]], np.float32)
    pose = np.array([[*PLACE, TURN]], np.float32)
    return replace(
        observation(rows=rows, max_vy=1.0), pose=np.repeat(pose, rows, 0), goal=np.repeat(end, rows, 0),
        path=np.repeat(path[None], rows, 0), path_count=np.full(rows, 41, np.int32), pedestrians=tracks,
        radius=np.full(rows, 0.3, np.float32),
    )  # fmt: skip


def ring(x, y, radius=1.0, size=4):
    angle = 0.3 + 2 * np.pi * np.arange(size) / size
    return [(x + radius * math.cos(a), y + radius * math.sin(a)) for a in angle]


def own(points):
    """Points in the frame of the scene."""
    turn = np.array([[math.cos(TURN), math.sin(TURN)], [-math.sin(TURN), math.cos(TURN)]])
    return (np.asarray(points, float) - PLACE) @ turn.T


@pytest.mark.parametrize(("distance", "works"), [(1.0 + 0.1 + 0.25 - 0.01, True), (1.0 + 0.1 + 0.25 + 0.01, False)])
def test_taga_is_at_work_within_its_margin_of_the_circle(distance, works):
    found, _ = Taga().guide(scene(ring(distance, 0.2 * distance / 5)), {})
    assert found.reason.tolist() == [Reason.AVOIDING_GROUP if works else Reason.NONE]
    assert (found.overrules is not None) == works


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_taga_drives_at_a_right_angle_to_the_middle_on_the_goals_side_and_mirrored_in_a_mirrored_scene(side):
    middle = np.array([1.2, 0.3])
    found, _ = Taga().guide(scene(ring(*middle), mirror=side), {})
    assert found.overrules.tolist() == [True]
    vx, vy, omega = found.twist[0].astype(float)
    along = np.array([vx, side * vy])
    assert along @ middle == pytest.approx(0.0, abs=1e-5) and omega == 0.0
    assert along[0] > 0.0 and along[1] < 0.0, "the goal is to the right of the middle"
    assert math.hypot(vx, vy) <= 1.0 + 1e-6 and math.hypot(vx, vy) > 0.5


def test_taga_lets_go_of_a_group_behind_or_where_the_goal_is_nearer():
    for group, goal in ((ring(-1.2, 0.3), (8.0, 0.0)), (ring(1.2, 0.3), (0.5, -0.6)), (ring(1.2, 0.3), (0.55, 0.1))):
        assert Taga().guide(scene(group, goal=goal), {})[0].overrules is None
    beside_goal = scene(ring(-1.5, 0.3), ring(1.2, -0.3), goal=(2.5, 0.0))
    assert Taga().guide(beside_goal, {})[0].overrules is None, "the first group of the list ends the search near the goal"
    assert Taga(goal_threshold=1.0).guide(beside_goal, {})[0].overrules is not None


def test_with_truth_or_found_groups_taga_does_the_same_where_they_agree():
    o = scene(ring(1.2, 0.3))
    lost = replace(o, pedestrians=replace(o.pedestrians, group=np.full((1, 4), -1, np.int32)))
    assert Taga().guide(lost, {})[0].overrules is None
    found = Taga(detect=True).guide(lost, {})[0]
    assert (found.twist == Taga().guide(o, {})[0].twist).all()


def test_as_a_path_taga_leads_the_local_planner_which_still_avoids_people():
    o = scene(ring(1.2, 0.3), [(0.35, -0.75)])
    found, _ = Taga(direct=False, subgoal_distance=1.5).guide(o, {})
    way = own(found.path[0, :2])
    assert way[0] == pytest.approx([0.0, 0.0], abs=1e-5) and found.twist is None
    assert np.hypot(*way[1]) == pytest.approx(1.5, rel=1e-4) and way[1] @ [1.2, 0.3] == pytest.approx(0.0, abs=1e-4)
    direct, led = (
        GuidedPlanner(named_planner("orca")[1], Named("taga", Taga(direct=d))).act(o, {}).twists[0] for d in (True, False)
    )
    towards = np.array([0.35, -0.75]) / math.hypot(0.35, 0.75)
    assert direct[:2] @ towards > led[:2] @ towards + 0.2


def length(points):
    return float(np.hypot(*np.diff(points, axis=0).T).sum())


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("offset", [0.05, 0.5, 1.2])
def test_the_way_round_is_the_shorter_one_of_tangents_and_an_arc(offset, side):
    o = scene(ring(3.0, offset), mirror=side)
    found, memory = AroundGroups().guide(o, {})
    centre, farthest = circle(own(o.pedestrians.position[0]) * (1.0, side), np.ones(4, bool))
    keep, count = farthest + 0.4, found.path_count[0]
    way = own(found.path[0, :count]) * (1.0, side)
    assert memory["side"].tolist() == [-side] and found.reason.tolist() == [Reason.AVOIDING_GROUP]
    assert way[0] == pytest.approx([0, 0], abs=1e-4) and way[-1] == pytest.approx([8, 0], abs=1e-4)
    fine = np.concatenate([np.linspace(a, b, 50) for a, b in zip(way, way[1:], strict=False)])
    assert np.hypot(*(fine - centre).T).min() > keep * math.cos(math.pi / ARC) - 1e-3
    tangent = way[1] - way[0]
    assert tangent @ (way[1] - centre) == pytest.approx(0.0, abs=1e-3), "the tangent is at a right angle to the radius"
    assert (way[:, 1].min() < offset - 1.0) and way[:, 1].max() < offset
    exit_ = way[ARC + 1]

    def shortest(sign):
        def part(p):
            d = np.hypot(*(p - centre))
            return math.sqrt(d * d - keep * keep), math.acos(keep / d), math.atan2(*(p - centre)[::-1])

        (t1, a1, f1), (t2, a2, f2) = part(np.zeros(2)), part(exit_)
        return t1 + t2 + keep * ((sign * (f1 - f2)) % math.tau - a1 - a2)

    assert length(way[: ARC + 2]) == pytest.approx(min(shortest(1), shortest(-1)), rel=5e-3)


def test_a_side_is_kept_until_the_other_is_shorter_by_the_hold():
    left_is_shorter = scene(ring(3.0, -0.05))
    assert AroundGroups().guide(left_is_shorter, {})[1]["side"].tolist() == [1]
    kept = {"side": np.array([-1], np.int8)}
    assert AroundGroups().guide(left_is_shorter, kept)[1]["side"].tolist() == [-1]
    assert AroundGroups(hold=0.01).guide(left_is_shorter, kept)[1]["side"].tolist() == [1]
    assert AroundGroups().guide(scene(ring(3.0, -1.0)), kept)[1]["side"].tolist() == [1]


def test_a_free_way_and_a_goal_within_the_circle_are_left_alone():
    for group, goal in ((ring(3.0, 1.5), (8.0, 0.0)), (ring(-3.0, 0.1), (8.0, 0.0)), (ring(4.0, 0.0), (4.2, 0.3))):
        o = scene(group, goal=goal)
        found, memory = AroundGroups().guide(o, {"side": np.array([1], np.int8)})
        count = found.path_count[0]
        assert memory["side"].tolist() == [0] and count == 41 and (found.path[0, :count] == o.path[0]).all()
    assert AroundGroups(reach=1.0).guide(scene(ring(3.0, 0.1)), {})[1]["side"].tolist() == [0], "too far away as yet"


def test_groups_are_shown_as_discs_that_leave_room_for_the_robot_and_its_goal():
    o = scene(ring(3.0, 0.1), ring(0.5, 1.6), ring(8.0, 1.0))
    shown = AroundGroups(sensing_range=20.0).guide(o, {})[0].pedestrians
    assert shown.present[:, :12].all() and shown.radius.shape == (1, 12 + 6)
    far, near, goal = shown.radius[0, 12:15]
    assert far == pytest.approx(1.0 + 0.4 - 0.3, abs=1e-4)
    assert near == pytest.approx(math.hypot(0.5, 1.6) - 0.35 - 0.3, abs=1e-4)
    assert goal == pytest.approx(1.0 - 0.3, abs=1e-4)
    assert AroundGroups(discs=False).guide(o, {})[0].pedestrians is None


def test_a_group_that_walks_is_passed_where_it_will_be():
    crossing = scene(ring(3.0, -1.2), velocity=(0.0, 0.8))
    standing = scene(ring(3.0, -1.2))
    assert AroundGroups(horizon=0.0).guide(crossing, {})[1]["side"].tolist() == [1]
    assert AroundGroups(horizon=2.0).guide(crossing, {})[1]["side"].tolist() == [-1], "it passes behind"
    assert AroundGroups(horizon=2.0).guide(standing, {})[1]["side"].tolist() == [1]


def test_a_group_is_passed_where_its_predictor_expects_the_middle_of_its_members():
    def foretold(*shift):
        """Expects members to have gone so far in the frame of the scene, each a little farther or less far, from 0.8 s on."""

        @dataclass(frozen=True)
        class Shifts:
            declares = PredictorDeclaration()

            def predict(self, observation, steps, dt, memory):
                share = np.minimum(dt * np.arange(1, steps + 1) / 0.8, 1.0)
                each = np.array([[0.9], [1.1], [0.7], [1.3]]) * (turned @ np.array(shift))
                place = observation.pedestrians.position[:, :, None] + share[:, None] * each[None, :, None]
                return Prediction(place.astype(np.float32), {"calls": memory.get("calls", np.zeros(1)) + 1.0})

        return AroundGroups(prediction=Named("shifts", Shifts()))

    turned = np.array([[math.cos(TURN), -math.sin(TURN)], [math.sin(TURN), math.cos(TURN)]])
    crossing, moved = scene(ring(3.0, -1.2), velocity=(0.0, 0.8)), scene(ring(3.3, 0.1))
    found, memory = foretold(0.3, 1.3).guide(crossing, {})
    expected, _ = AroundGroups(horizon=0.0).guide(moved, {})
    assert found.path[0] == pytest.approx(expected.path[0], abs=1e-4)
    assert foretold(0.3, 1.3).guide(crossing, memory)[1]["prediction"]["calls"].tolist() == [2.0]
    assert foretold(-9.0, 0.0).guide(crossing, {})[0].path_count.tolist() == [41], "it will be gone"


def test_straight_leads_from_the_robot_to_the_goal_whatever_the_path():
    o = observation(rows=3)
    found, _ = AroundGroups(straight=True).guide(replace(o, path_count=np.array([40, 0, 30], np.int32)), {})
    assert found.path_count[1] == 0
    for row in (0, 2):
        if found.reason[row] == Reason.NONE:
            assert length(found.path[row, : found.path_count[row]]) == pytest.approx(
                np.hypot(*(o.goal - o.pose)[row, :2]), rel=1e-4
            )


def test_moved_scenes_give_moved_ways_for_either():
    for inter in (Taga(margin=3.0), AroundGroups(), AroundGroups(detect=True)):
        for move in (Move(3.0, -8.0, 0.7), Move(mirror=True)):
            here, there = (inter.guide(observation(rows=30, seed=4, move=m), {})[0] for m in (Move(), move))
            assert (here.reason == there.reason).mean() > 0.95
            same = (here.reason == there.reason) & (here.path_count == there.path_count)
            for row in np.flatnonzero(same):
                count = here.path_count[row]
                assert there.path[row, :count] == pytest.approx(move.points(here.path[row, :count].astype(float)), abs=2e-3)
