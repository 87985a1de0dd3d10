"""Robots begin and end where there is room for them, as far apart as asked for, and clear of whoever was recorded there."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from agora.config import build
from agora.core.recording import Outcome
from agora.draft.people import People
from agora.draft.scenario import Robot, Scenario
from agora.draft.stage import Stage
from agora.draft.surroundings import Surroundings
from agora.draft.task import Task
from agora.episode import Conditions, Episodes
from agora.errors import InputError, PlacementError
from agora.interfaces import PathRequest
from agora.maps.grid import Map
from agora.planners.global_.astar import AStar
from agora.planners.local.brne import Brne
from agora.planners.local.dwa import Dwa
from agora.planners.local.mpc import Mpc
from agora.planners.local.teb import Teb
from agora.planners.local.trajectory_rollout import TrajectoryRollout
from agora.seeds import Stream
from agora.tasks.faults import faults, task_of_file
from agora.tasks.robots.explore import more_goals
from agora.tasks.robots.guided import Guided
from agora.tasks.robots.random import Random
from agora.tasks.robots.scenario import Scenario as InScenario
from agora.tasks.suite import ResetPlan, put_together
from agora.world.trajectories import Trajectories

ROOM = Map.from_shapes(
    segments=[(2.0, -1.0, 2.0, 4.0)], discs=[(-2.0, 3.0, 0.8)], bounds=(-5.0, -1.5, 6.0, 6.5), resolution=0.1, name="crooked"
)
RADIUS, SAFETY = 0.35, 0.2


def task(entry="test/stage/0", place=ROOM, **world) -> Task:
    return Task(Surroundings(place, **world), place, RADIUS, SAFETY, Stream(entry, 3, "task"), People())


@pytest.mark.parametrize("episode", range(5))
def test_random_robots_have_room_are_apart_and_can_reach_goals_that_are_far_enough(episode):
    placed = Random(count=3, distance=4.0, goals=3).place(task(f"test/stage/{episode}"))
    starts = np.array([start for start, _ in placed])
    assert len(placed) == 3
    apart = np.hypot(*(starts[:, None, :2] - starts[None, :, :2]).transpose(2, 0, 1)) + 9 * np.eye(3)
    assert apart.min() >= 2 * (RADIUS + SAFETY)
    for start, goals in placed:
        legs = np.vstack([start, goals])
        assert (ROOM.gap(legs[:, :2]) >= RADIUS + SAFETY - 1e-9).all()
        assert (np.hypot(*np.diff(legs[:, :2], axis=0).T) >= 4.0).all()
        assert (np.abs(legs[:, 2]) <= math.pi).all() and len(set(legs[:, 2])) == 4
        for here, there in zip(legs[:-1], legs[1:], strict=True):
            assert AStar().path(PathRequest(ROOM, here, there, RADIUS)) is not None


def test_random_robots_keep_clear_of_recorded_pedestrians_who_are_there_at_the_start():
    spots = np.array([[x, y] for x in np.arange(-4.5, 6, 1.6) for y in np.arange(-1, 6.5, 1.6)])
    count = len(spots)
    times, knots = np.tile([0.0, 9.0], count), np.repeat(spots, 2, axis=0)
    recorded = Trajectories(times, knots[:, 0], knots[:, 1], np.arange(0, 2 * count + 1, 2), np.arange(count))
    later = Trajectories(times + 1.0, knots[:, 0], knots[:, 1], np.arange(0, 2 * count + 1, 2), np.arange(count))
    nearest = {}
    for name, replay in {"now": recorded, "later": later}.items():
        starts = [Random().place(task(f"test/stage/{k}", replay=replay, replay_radius=0.25))[0][0] for k in range(20)]
        nearest[name] = min(np.hypot(*(spots - start[:2]).T).min() for start in starts)
    assert nearest["now"] >= 0.25 + RADIUS + SAFETY > nearest["later"]


@pytest.mark.parametrize("episode", range(12))
def test_who_is_put_where_nothing_is_far_enough_is_put_elsewhere(episode):
    blocks = [[(-6.0, 1.0), (-1.0, 1.0), (-1.0, 6.0), (-6.0, 6.0)], [(1.0, 1.0), (7.0, 1.0), (7.0, 6.0), (1.0, 6.0)]]
    polygons = tuple(np.array(block) for block in blocks)
    cross = Map.from_shapes(polygons=polygons, bounds=(-6.0, -1.0, 7.0, 6.0), resolution=0.1, name="three arms")
    made = task(f"test/stage/{episode}", cross)
    for start, goals in Random(count=2, distance=7.0, goals=5).place(made):
        legs = np.vstack([start, goals])[:, :2]
        assert len(goals) == 5 and (np.hypot(*np.diff(legs, axis=0).T) >= 7.0).all()
    first = np.array([[-5.0, 0.0, 0.0], [6.0, 0.3, 0.0]])
    goals = more_goals(made, first, 60, 7.0)
    assert len(goals) == 60 and (np.hypot(*np.diff(goals[:, :2], axis=0).T) >= 7.0).all()


def test_goals_too_far_apart_for_the_place_are_an_error_with_its_name():
    with pytest.raises(PlacementError, match=r"map 'crooked': no goal 40.0 m or more from"):
        Random(distance=40.0).place(task())


def test_robots_of_a_scenario_are_where_it_says_and_not_in_walls():
    scenario = Scenario(robots=(Robot((-4.0, 0.0, 0.7), (5.0, 5.0)), Robot((4.0, 0.5), (0.0, 0.0, -2.0))))
    placed = InScenario().place(task(scenario=scenario))
    assert [start.tolist() for start, _ in placed] == [[-4.0, 0.0, 0.7], [4.0, 0.5, 0.0]]
    assert [goals.tolist() for _, goals in placed] == [[[5.0, 5.0, 0.0]], [[0.0, 0.0, -2.0]]]
    walled = Scenario(robots=(Robot((-2.0, 3.2), (5.0, 5.0)),))
    with pytest.raises(PlacementError, match=r"scenario of 'crooked': robots\.0\.start: it is at \(-2\.00, 3\.20\), inside"):
        InScenario().place(task(scenario=walled))
    with pytest.raises(InputError, match="has no scenario"):
        InScenario().place(task())


@pytest.mark.parametrize("wrong", [{"count": 0}, {"count": 10**9}, {"goals": 0}, {"distance": -1.0}])
def test_parameters_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=f"^{next(iter(wrong))}: expected"):
        Random(**wrong)


YARD = {"name": "yard", "bounds": [0, 0, 10, 6], "resolution": 0.05}


def in_yard(folder, start, goal, **more):
    """The start of an episode in a yard without walls, from a scenario file, and the conditions."""
    scenario = {"robots": [{"start": start, "goal": goal}]}
    for name, content in (("map/shapes.yaml", YARD), ("scenarios/one.json", scenario)):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content))
    world = {"name": "folder", "path": f"{folder}/", "scenarios": ["one"]}
    stage = build({"name": "x", "world": world, "robots": "scenario", "robot": "jackal", "timeout": 20.0} | more, Stage)
    return put_together(ResetPlan("yard", stage, 0, 1)), Conditions.of(stage)


@pytest.mark.parametrize(
    ("start", "goal", "key"),
    [
        ([0.02, 3], [5, 2], "start"),
        ([0.25, 3], [5, 2], "start"),
        ([5, 5.9], [5, 2], "start"),
        ([5, 3], [0.02, 2], "goal"),
        ([5, 3], [9.8, 2], "goal"),
        ([5, 3], [5, 0.2], "goal"),
    ],
)
def test_a_start_or_goal_within_the_robots_radius_of_the_border_is_refused_with_file_line_and_key(tmp_path, start, goal, key):
    wanted = rf"one\.json:1: robots\[0\]\.{key}: it is at .*, 0\..* m from the border of map .*, expected 0.2[67]7 m"
    with pytest.raises(PlacementError, match=wanted):
        in_yard(tmp_path, start, goal)
    task = task_of_file(tmp_path / "scenarios" / "one.json", 0.267)
    assert [(fault.of, fault.key) for fault in faults(task)] == [(("robot", 0), key)]


@pytest.mark.parametrize("planner", [Dwa(), Teb(), Mpc(), TrajectoryRollout(), Brne()], ids=lambda planner: type(planner).__name__)
@pytest.mark.parametrize(("start", "goal"), [([0.28, 3, 0.0], [5, 2]), ([3, 0.282, 0.8], [0.27, 3])])
def test_planners_drive_from_and_to_the_nearest_places_to_the_border_that_are_accepted(tmp_path, planner, start, goal):
    there, conditions = in_yard(tmp_path, start, [5, 3] if isinstance(planner, Teb) else goal)  # teb keeps 0.5 m from the unknown
    [(_, [recording])] = Episodes([there], planner, conditions)
    assert recording.outcome is Outcome.REACHED


def test_a_waypoint_within_the_robots_radius_of_the_border_is_refused():
    with pytest.raises(PlacementError, match=r"waypoint 0: in map '.*', \(-4.80, 3.00\) has no room for a robot of radius 0.35 m"):
        Guided(((-4.8, 3.0),)).place(task())
