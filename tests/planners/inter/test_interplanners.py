"""The rules of Arena's interplanners, and what they do to a robot among people."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from agora.core.recording import Reason
from agora.core.state import TYPES
from agora.costmap.inflation import LETHAL, NO_INFORMATION
from agora.episode import Conditions, Episodes
from agora.errors import InputError
from agora.interfaces import Costmap, Prediction, PredictorDeclaration, Tracks
from agora.maps.grid import Map
from agora.optics.lidar import Lidar
from agora.pedestrians.models.waypoint import Waypoint
from agora.planners.guided import GuidedPlanner, guided_observation
from agora.planners.inter.aggressive import Aggressive
from agora.planners.inter.meta import Meta
from agora.planners.inter.polite import Polite
from agora.planners.inter.shortsighted import Shortsighted
from agora.planners.inter.sideways import Sideways
from agora.planners.local.dwa import Dwa
from agora.planners.local.pure_pursuit import PurePursuit
from agora.planners.presets import named_planner
from agora.registry import Named
from agora.testing import observation
from starts import DISC, people, start
from suites import fingerprint

LIDAR = Lidar(beams=180, range_max=8.0)
POSE = np.array([[1.3, -0.7, 0.9]], np.float32)


def scene(*places, scan=(), radius=0.3, elders=(), walk=0.5):
    """One robot at POSE without a costmap, pedestrians at (distance, bearing) who walk towards it, walls at (bearing, range)."""
    there = np.array(places, float).reshape(-1, 2)
    heading = POSE[0, 2] + there[:, 1]
    towards = -np.stack((np.cos(heading), np.sin(heading)), -1)
    position = POSE[0, :2] - there[:, :1] * towards
    count = len(there)
    tracks = Tracks(
        position=position[None].astype(np.float32), velocity=(walk * towards)[None].astype(np.float32),
        radius=np.full((1, count), 0.3, np.float32), present=np.ones((1, count), bool),
        id=np.arange(count, dtype=np.int32)[None], group=np.full((1, count), -1, np.int32),
        type=np.array([[TYPES.index("elder" if k in elders else "adult") for k in range(count)]], np.int32),
    )  # fmt: skip
    angles = np.array([bearing for bearing, _ in scan] or [0.0], np.float32)
    ranges = np.array([[reach for _, reach in scan] or [9.0]], np.float32)
    path = POSE[:, None, :2] + np.linspace(0, 4, 61)[None, :, None] * [math.cos(1.1), math.sin(1.1)]
    goal = np.column_stack((path[:, -1], [0.2]))
    return replace(
        observation(rows=1), costmap=None, pose=POSE, goal=goal.astype(np.float32), path=path.astype(np.float32),
        path_count=np.array([61], np.int32), pedestrians=tracks, scan=ranges, scan_angles=angles,
        scan_pose=np.zeros(3, np.float32), scan_range=9.0, radius=np.array([radius], np.float32),
    )  # fmt: skip


@pytest.mark.parametrize(("distance", "share"), [(1.0, 0.5), (2.0, 0.8), (4.999, 0.96152), (5.01, 1.0)])
def test_the_aggressive_one_slows_down_to_d2_over_1_plus_d2(distance, share):
    found, _ = Aggressive().guide(scene((distance, 2.5), (distance + 1.0, 0.0)), {})
    assert found.speed[0] == pytest.approx(share, abs=1e-4)
    assert (found.path == scene().path).all()


def test_danger_is_the_exponential_of_the_inverse_sum_of_squares():
    found, _ = Aggressive().guide(scene((1.5, 0.3), (3.0, -2.0)), {})
    assert found.danger[0] == pytest.approx(math.exp(-1.0 / (4.0 + 1.0)), rel=1e-5)
    assert Aggressive().guide(scene(), {})[0].danger[0] == 0.0


@pytest.mark.parametrize(("inter", "caution", "share"), [(Polite(), 4.0, 0.5), (Sideways(), 5.0, 0.4)])
def test_the_careful_ones_slow_down_to_a_share_from_a_distance_on(inter, caution, share):
    assert inter.guide(scene((caution - 0.01, 3.0)), {})[0].speed[0] == pytest.approx(share)
    assert inter.guide(scene((caution + 0.01, 3.0)), {})[0].speed[0] == 1.0


@pytest.mark.parametrize("side", [-1, 1])
def test_only_a_person_in_the_field_of_view_who_comes_nearer_is_backed_away_from(side):
    ahead, _ = Polite().guide(scene((1.9, side * math.radians(89))), {})
    beside, _ = Polite().guide(scene((1.9, side * math.radians(91))), {})
    far, _ = Polite().guide(scene((2.1, 0.0)), {})
    assert (beside.path == scene().path).all() and (far.path == scene().path).all()
    for walk in (0.15, 0.0, -1.2):
        stays, _ = Polite().guide(scene((1.9, side * math.radians(89)), walk=walk), {})
        assert (stays.path == scene().path).all() and stays.speed[0] == 0.5
    assert ahead.path[0, 0].tolist() == POSE[0, :2].tolist()
    back = POSE[0, :2] - 2.0 * np.array([math.cos(0.9), math.sin(0.9)])
    assert ahead.goal[0] == pytest.approx([*back, 0.9], abs=1e-5)
    assert ahead.path[0, ahead.path_count[0] - 1] == pytest.approx(back, abs=1e-5)


@pytest.mark.parametrize(("inter", "far"), [(Polite, 2.0), (Sideways, 2.0), (Meta, 2.0)])
def test_with_foresight_a_retreat_begins_before_whoever_will_come_near_where_he_is_expected_to(inter, far):
    @dataclass(frozen=True)
    class Stops:
        """Everybody stands from now on."""

        declares = PredictorDeclaration()

        def predict(self, observation, steps, dt, memory):
            asked.append((steps, steps * dt))
            return Prediction(np.repeat(observation.pedestrians.position[:, :, None], steps, axis=2))

    def retreats(distance, **given):
        """Whether one retreats before a person who comes at 1.2 m/s, from so far ahead, 0.2 m beside its line."""
        seen = scene((distance, 0.0), elders=[0])
        ahead, left = np.array([math.cos(0.9), math.sin(0.9)]), np.array([-math.sin(0.9), math.cos(0.9)])
        place = (POSE[0, :2] + distance * ahead + 0.2 * left).astype(np.float32)
        people = replace(seen.pedestrians, position=place[None, None], velocity=(-1.2 * ahead).astype(np.float32)[None, None])
        found, _ = inter(**given).guide(replace(seen, pedestrians=people), {})
        return found.reason[0] == Reason.RETREATING

    asked = []
    nearest = math.sqrt(far**2 - 0.2**2)
    assert retreats(nearest - 0.01) and not retreats(nearest + 0.01)
    assert retreats(nearest + 1.2 * 1.6 - 0.01, foresight=1.6) and not retreats(nearest + 1.2 * 1.6 + 0.01, foresight=1.6)
    assert not retreats(nearest + 0.01, foresight=1.6, prediction=Named("stops", Stops()))
    assert asked == [(7, pytest.approx(1.6))]


def test_the_sideways_one_goes_back_and_to_the_right():
    found, _ = Sideways().guide(scene((1.5, 0.2)), {})
    x, y = found.goal[0, :2] - POSE[0, :2]
    along, left = math.cos(0.9) * x + math.sin(0.9) * y, math.cos(0.9) * y - math.sin(0.9) * x
    assert (along, left) == pytest.approx((-3 / math.sqrt(2), -3 / math.sqrt(2)), abs=1e-5)


def test_a_wall_close_behind_calls_the_retreat_off_and_a_pedestrian_behind_does_not():
    threat, reach = (1.5, 0.2), 2 * 0.3 + 0.075
    for bearing, distance, goes in ((2.8, reach - 0.01, False), (2.8, reach + 0.01, True), (1.4, reach - 0.1, True)):
        found, _ = Polite().guide(scene(threat, scan=[(bearing, distance), (0.0, 9.0)]), {})
        assert (found.path_count[0] != 61) == goes, (bearing, distance)
    found, _ = Polite().guide(scene(threat, (0.8, 2.8), scan=[(2.8, 0.5)]), {})
    assert found.path_count[0] != 61, "what the beam hits is the pedestrian"
    assert Sideways().guide(scene(threat, scan=[(2.8, reach + 0.05)]), {})[0].path_count[0] == 61
    _, memory = Polite().guide(scene(threat), {})
    called_off, _ = Polite().guide(scene(threat, scan=[(2.8, 0.5)]), memory)
    assert called_off.path_count[0] == 61


def test_what_the_lidar_does_not_see_behind_and_the_end_of_the_map_call_the_retreat_off():
    away = np.array([math.cos(0.9 + math.pi / 4), math.sin(0.9 + math.pi / 4)])
    for cost in (LETHAL, NO_INFORMATION):
        for inter, back, reach in (
            (Polite(), np.array([math.cos(0.9), math.sin(0.9)]), 0.675),
            (Sideways(), away, 0.735),
        ):
            for gap, goes in ((reach - 0.1, False), (reach + 0.15, True)):
                cells = np.zeros((1, 80, 70), np.uint8)
                corner = POSE[0, :2].astype(float) - (1.83, 2.11)
                column, row = ((POSE[0, :2] - gap * back - corner) / 0.05).astype(int)
                cells[0, row, column] = cost
                seen = replace(scene((1.5, 0.2)), costmap=Costmap(cells, corner[None].astype(np.float32), 0.05))
                assert (inter.guide(seen, {})[0].path_count[0] != 61) == goes, (cost, inter, gap)


def test_the_temporary_goal_lies_before_what_the_map_has_behind_the_robot():
    back, corner = np.array([math.cos(0.9), math.sin(0.9)]), POSE[0, :2].astype(float) - (1.83, 2.11)
    for gap, far in ((1.4, 1.03), (2.6, 2.0)):
        cells = np.zeros((1, 80, 70), np.uint8)
        column, row = ((POSE[0, :2] - gap * back - corner) / 0.05).astype(int)
        if row >= 0 and column >= 0:
            cells[0, row, column] = LETHAL
        seen = replace(scene((1.5, 0.2)), costmap=Costmap(cells, corner[None].astype(np.float32), 0.05))
        goal = Polite().guide(seen, {})[0].goal[0]
        assert np.hypot(*(goal[:2] - POSE[0, :2])) == pytest.approx(far, abs=0.06) and goal[2] == POSE[0, 2]


def test_a_retreat_goes_on_until_its_goal_is_reached_or_nobody_near_comes_nearer_any_more():
    begun, memory = Polite().guide(scene((1.5, 0.2)), {})
    for place in ((1.5, 0.2), (3.9, 0.2), (2.0, 3.0)):
        going, memory = Polite().guide(scene(place), memory)
        assert (going.path == begun.path).all()
    for gone in (scene((1.5, 0.2), walk=-1.0), scene((1.5, 0.2), walk=0.0), scene((4.1, 0.2)), scene()):
        assert Polite().guide(gone, memory)[0].path_count[0] == 61
    near = begun.goal[:, :] + np.array([[0.2, 0.1, 0.0]], np.float32)
    arrived, _ = Polite().guide(replace(scene((3.5, 0.2)), pose=near), memory)
    assert arrived.path_count[0] == 61


@pytest.mark.parametrize(
    "walk", [(6.0, 4.0, 6.0, 4.0), (6.0, 1.0, 6.0, 7.0), (3.5, 4.0, 11.0, 4.0)], ids=["stands", "crosses", "leads"]
)
def test_a_person_who_does_not_come_nearer_costs_a_polite_robot_little_more_time_than_its_caution(walk):
    """In a hall, with a person who stands in the robot's way, crosses it before the robot is there, or walks ahead of it."""
    crowd = people([walk[:2]], [walk[2:]], speed=1.2)
    robot = replace(DISC, ax=2.0, alpha=6.0, lidar=LIDAR)
    hall = Map.from_shapes(bounds=(0.0, 0.0, 12.0, 8.0), segments=[(0.5, 0.5, 11.5, 0.5), (0.5, 7.5, 11.5, 7.5)])
    begun = start(pose=(2.0, 4.0, 0.0), goal=(9.0, 4.0, 0.0), crowd=crowd, model=robot, place=hall, timeout=40.0)

    def seconds(name):
        ((_, (made,)),) = Episodes([begun], named_planner(name)[1].part, Conditions(crowd=Waypoint(), ends=0))
        assert made.outcome.label == "reached"
        return made.time[-1]

    alone = seconds("dwa")
    for inter in (Polite(), Sideways(), Meta()):
        name = type(inter).__name__.lower()
        assert seconds(f"dwa+{name}") < alone / min(inter.cautious_speed, 0.5) + 2.0, name


def test_the_sideways_one_stands_for_two_and_a_half_seconds_where_it_has_arrived():
    begun, memory = Sideways().guide(scene((1.5, 0.2)), {})
    speeds = []
    for _ in range(30):
        found, memory = Sideways().guide(replace(scene(), pose=begun.goal), memory)
        speeds.append(float(found.speed[0]))
    assert speeds == [0.0] * 25 + [1.0] * 5


def test_the_shortsighted_one_keeps_a_fifth_of_what_is_left_and_twenty_points_at_least():
    o = scene()
    found, _ = Shortsighted().guide(o, {})
    assert found.path_count[0] == 20 and (found.path[0, 20:] == found.path[0, 19]).all()
    assert found.goal[0] == pytest.approx([*o.path[0, 19], 1.1], abs=1e-4)
    halfway = replace(o, pose=np.array([[*o.path[0, 30], 0.0]], np.float32))
    assert Shortsighted(vision_limit=0.5, min_poses=2).guide(halfway, {})[0].path_count[0] == 30 + 15
    at_end = replace(o, pose=np.array([[*o.path[0, 55], 0.0]], np.float32))
    found, _ = Shortsighted().guide(at_end, {})
    assert found.path_count[0] == 61 and (found.goal == o.goal).all()


@pytest.mark.parametrize("side", [-1, 1])
def test_meta_is_aggressive_by_default_polite_near_elders_and_sideways_near_walls(side):
    near, wall = (1.8, 0.3 * side), [(1.1 * side, 3.1)]
    keen, _ = Meta().guide(scene(near), {})
    assert (keen.path == scene().path).all() and keen.speed[0] == pytest.approx(1.8**2 / (1 + 1.8**2))
    assert Meta().guide(scene((9.0, 2.0)), {})[0].speed[0] == pytest.approx(81 / 82), "at any distance"
    polite, _ = Meta().guide(scene(near, (4.9, 2.9), elders=[1]), {})
    assert (polite.goal == Polite().guide(scene(near), {})[0].goal).all() and polite.speed[0] == 0.5
    assert (Meta().guide(scene(near, (5.1, 2.9), elders=[1]), {})[0].path == scene().path).all(), "the elder is too far away"
    sideways, _ = Meta().guide(scene(near, scan=wall), {})
    assert (sideways.goal == Sideways().guide(scene(near), {})[0].goal).all() and sideways.speed[0] == 0.5
    assert (Meta().guide(scene(near, scan=[(1.1 * side, 3.14)]), {})[0].path == scene().path).all(), "the wall is too far away"
    both, _ = Meta().guide(scene(near, scan=wall, elders=[0]), {})
    assert (both.goal == polite.goal).all()
    hidden, _ = Meta().guide(scene((3.3, 1.1), scan=[(1.1, 3.05)]), {})
    assert (hidden.path == scene().path).all(), "what the beam hits is the pedestrian"


def test_a_retreat_that_meta_began_is_finished_when_there_is_no_reason_for_it_any_more():
    begun, memory = Meta().guide(scene((1.8, 0.3), elders=[0]), {})
    going, memory = Meta().guide(scene((1.8, 0.3)), memory)
    assert (going.goal == begun.goal).all() and going.speed[0] == pytest.approx(1.8**2 / (1 + 1.8**2))
    arrived, _ = Meta().guide(replace(scene((1.8, 0.3)), pose=begun.goal), memory)
    assert arrived.path_count[0] == 61


def test_limits_are_shares_of_the_local_planners_top_speed():
    o = scene((1.0, 2.5))
    found, _ = Aggressive().guide(o, {})
    assert guided_observation(o, found, Dwa(max_vel_x=0.55).declares.top_speed).limits.max_vx[0] == pytest.approx(0.5 * 0.55)
    assert guided_observation(o, found, PurePursuit().declares.top_speed).limits.max_vx[0] == pytest.approx(
        0.5 * o.limits.max_vx[0]
    )


def test_with_bypass_a_planner_is_itself_and_plays_the_same_episode():
    assert named_planner("pure_pursuit", "bypass") == named_planner("pure_pursuit")
    assert named_planner("pure_pursuit+bypass")[1] == named_planner("pure_pursuit")[1]
    bypassed = GuidedPlanner(named_planner("pure_pursuit")[1], Named.of("interplanners", "bypass"))
    one, other = (recording(p) for p in (named_planner("pure_pursuit")[1].part, bypassed))
    assert not other.reason.any() and (other.speed_limit == 1.0).all() and not other.danger.any()
    assert fingerprint(one) == fingerprint(replace(other, speed_limit=None, danger=None))


def test_names_take_parameters_in_both_spellings_and_a_wrong_one_names_the_nearest():
    label, made = named_planner("dwa(vx_samples=5)+polite:temp_goal_distance=1e+0")
    assert label == "dwa(vx_samples=5)+polite:temp_goal_distance=1e+0"
    assert made.part.planner.part == Dwa(vx_samples=5)
    assert made.part.interplanner.part == Polite(temp_goal_distance=1.0)
    for text, message in (
        ("dwa+polit", "did you mean 'polite'"),
        ("dwa+polite:fow=1", "did you mean 'fov'"),
        ("dwa+polite:fov=0", "fov"),
        ("dwa+polite:foresight=-1", "foresight"),
        ("dwa+polite:prediction=constant", "did you mean 'constant_velocity'"),
    ):
        with pytest.raises(InputError, match=message):
            named_planner(text)


def recording(planner, crowd=None):
    crowd = crowd or people([(7.0, 0.35)], [(-5.0, 0.35)], speed=0.7)
    begun = start(pose=(-1.0, 0.0, 0.0), goal=(9.0, 0.0, 0.0), crowd=crowd, model=replace(DISC, ax=2.0, alpha=6.0, lidar=LIDAR))
    ((_, (made,)),) = list(Episodes([begun], planner, Conditions(crowd=Waypoint(), ends=0)))
    return made


def clearance(inter, crowd):
    made = recording(named_planner("pure_pursuit", inter)[1].part, crowd)
    centres = np.hypot(*(made.pose[:, None, :2] - made.pedestrian_position).transpose(2, 0, 1))
    return float(np.nanmin(np.where(made.pedestrian_present, centres, np.nan)) - 0.55)


@pytest.mark.parametrize("x", [3.0, 4.0, 5.0])
def test_before_one_whom_the_robot_would_just_pass_ahead_of_polite_keeps_off_most_and_aggressive_least(x):
    crowd = people([(x, -x - 1.0 if x == 3.0 else -x)], [(x, 9.0)], speed=0.6)
    polite, none, aggressive = (clearance(inter, crowd) for inter in ("polite", "bypass", "aggressive"))
    assert polite > none + 0.25 and none > aggressive + 0.25


def test_polite_keeps_off_those_whom_the_robot_would_run_into():
    crowd = people([(4.0, -3.0)], [(4.0, 9.0)], speed=0.6)
    assert clearance("bypass", crowd) < 0.0
    assert clearance("polite", crowd) > 0.85 and clearance("sideways", crowd) > 0.85
