"""Pedestrians who do what their scenario says until its time is up."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from agora.core.state import SOCIAL_STATES
from agora.draft.stage import CrowdSettings, Stage
from agora.episode import Conditions, Episodes
from agora.maps.grid import Map
from agora.maps.place import Place, write_place
from agora.planners.local.go_to_goal import GoToGoal
from agora.registry import Named
from agora.tasks.suite import Suite, load_suite

MODELS = ("waypoint", "helbing", "orca", "anticipation")


def played(
    tmp_path, *people, model="waypoint", behaviours=(), timeout=9.0, robot=((-3.0, -1.0, 0.0), (-2.9, -1.0, 0.0)), speed=0.0
):
    """Recording of an episode of 13 x 9 m whose robot stays away, or drives from pose to pose."""
    empty = Map("plaza", 0.1, (-4.0, -2.0), np.zeros((90, 130), bool))
    folder = tmp_path / "w"
    if not folder.is_dir():
        (folder / "scenarios").mkdir(parents=True)
        write_place(Place(empty), folder)
    scenario = {"robots": [{"start": robot[0], "goal": robot[1]}], "obstacles": {"dynamic": list(people)}}
    (folder / "scenarios" / "a.json").write_text(json.dumps(scenario))
    modes = Named.of("robots_modes", "scenario"), Named.of("obstacles_modes", "scenario")
    world = Named.of("worlds", "folder", path=f"{folder}/", scenarios=("a",))
    crowd = CrowdSettings(Named.of("crowd_models", model), behaviours=tuple(Named.of("behaviours", b) for b in behaviours))
    stage = Stage("a", world, *modes, crowd=crowd, timeout=timeout, ends=(), goal_tolerance=0.05, robot="crowdnav")
    planner = GoToGoal(speed=speed) if speed else GoToGoal(speed=1e-3)
    return next(iter(Episodes([Suite("given", (stage,)).start("a", 0)], planner, Conditions.of(stage))))[1][0]


def states(recording, k):
    """States of pedestrian k, and the time at which each begins, s."""
    state = recording.pedestrian_state[:, k]
    begins = [0, *(np.flatnonzero(np.diff(state)) + 1)]
    return [(SOCIAL_STATES[state[b]], float(recording.time[b])) for b in begins]


def moved(recording, k):
    position = recording.pedestrian_position[:, k]
    return float(np.hypot(*(position - position[0]).T).max())


@pytest.mark.parametrize("model", MODELS)
def test_two_who_talk_stand_look_at_each_other_and_take_turns_to_the_end_while_one_who_waits_stays(tmp_path, model):
    seen = played(
        tmp_path,
        {"name": "a", "pos": [2.0, 3.0, 0.7], "with": "b"},
        {"name": "b", "pos": [2.9, 4.2]},
        {"name": "c", "pos": [6.0, 1.0, -2.5], "state": "idle", "waypoints": [[0.0, 1.0]]},
        model=model,
    )
    assert [name for name, _ in states(seen, 0)] == ["talking", "listening", "talking"]
    assert [name for name, _ in states(seen, 1)] == ["listening", "talking", "listening"]
    assert [time for _, time in states(seen, 0)][1:] == pytest.approx([3.0, 6.0], abs=0.3)
    assert states(seen, 2) == [("idle", 0.0)]
    assert max(moved(seen, k) for k in range(3)) < 0.05
    bearing = np.arctan2(1.2, 0.9)
    assert seen.pedestrian_heading[0, 0] == pytest.approx(0.7), "it turns from where the file says"
    assert seen.pedestrian_heading[-1, :2] == pytest.approx([bearing, bearing - np.pi], abs=0.02)
    assert seen.pedestrian_heading[:, 2] == pytest.approx(np.full(len(seen.time), -2.5))


def test_one_on_the_phone_walks_at_half_the_speed_until_the_time_is_up_and_one_without_a_way_stands(tmp_path):
    seen = played(
        tmp_path,
        {
            "name": "a",
            "pos": [-3.0, 3.0],
            "state": "phone",
            "state_time": 4.0,
            "vmax": 1.2,
            "waypoints": [[8.5, 4.0]],
            "waypoint_mode": 2,
        },
        {"name": "b", "pos": [3.0, 0.0, 2.0], "state": "phone"},
        {"name": "c", "pos": [-3.0, 6.0], "state": "running", "vmax": 1.2, "waypoints": [[8.5, 6.5], [-3.0, 6.0]]},
    )
    assert [name for name, _ in states(seen, 0)] == ["phone", "walking"] and states(seen, 0)[1][1] == pytest.approx(4.0, abs=0.3)
    speed = np.hypot(*seen.pedestrian_velocity[:, 0].T)
    assert np.median(speed[(seen.time > 1.0) & (seen.time < 3.5)]) == pytest.approx(0.6, abs=0.02)
    assert np.median(speed[(seen.time > 5.0) & (seen.time < 8.0)]) == pytest.approx(1.2, abs=0.02)
    assert states(seen, 1) == [("phone", 0.0)] and moved(seen, 1) == 0.0 and seen.pedestrian_heading[-1, 1] == pytest.approx(2.0)
    assert np.median(np.hypot(*seen.pedestrian_velocity[:, 2].T)[4:20]) == pytest.approx(2.4, abs=0.02)


def test_a_robot_that_comes_near_ends_the_wait_and_a_pair_that_one_leaves_is_over(tmp_path):
    near = {"start_up_mode": "trigger_zone", "trigger_zone_radius": 2.0, "waypoints": [[3.1, -1.4]], "waypoint_mode": 2}
    seen = played(
        tmp_path,
        {"name": "a", "pos": [3.0, 2.0, -1.0], "state": "idle", **near},
        {"name": "b", "pos": [-3.0, 5.0], "with": ["c"], "state_time": 3.0},
        {"name": "c", "pos": [-2.2, 4.5], "waypoints": [[0.0, 3.0]], "waypoint_mode": 2, "state": "listening"},
        robot=((-3.0, 1.0, 0.0), (8.0, 1.0, 0.0)),
        speed=1.0,
    )
    left = states(seen, 0)[1]
    robot = seen.pose[np.searchsorted(seen.time, left[1]) - 1, :2]
    assert left[0] == "walking" and np.hypot(*(robot - (3.0, 2.0))) == pytest.approx(2.0, abs=0.3)
    assert states(seen, 1) == [("talking", 0.0), ("idle", pytest.approx(3.0, abs=0.3))], "who has nowhere to go idles"
    assert [name for name, _ in states(seen, 2)][:2] == ["listening", "walking"] and moved(seen, 2) > 2.0


def test_three_stand_about_a_story_and_only_one_tells(tmp_path):
    seen = played(
        tmp_path,
        {"name": "teller", "pos": [1.0, 1.0], "state": "telling", "with": "class"},
        {"name": "class", "pos": [2.4, 1.3], "number_of_peds": 2, "state": "listening"},
        behaviours=("social_states",),
    )
    assert [states(seen, k) for k in range(3)] == [[("telling", 0.0)], [("listening", 0.0)], [("listening", 0.0)]]
    assert max(moved(seen, k) for k in range(3)) < 0.05


def test_social_states_leave_them_alone_until_the_time_is_up(tmp_path):
    talkative = {"chatting_probability": 1.0, "talking_base_time": 2.0, "max_talking_distance": 3.0}
    seen = played(
        tmp_path,
        {"name": "a", "pos": [2.0, 3.0], "state": "idle", "state_time": 4.0, "waypoints": [[2.1, 5.0], [2.0, 3.0]], **talkative},
        {"name": "b", "pos": [2.9, 4.2], "state": "sitting", "state_time": 4.0, "waypoints": [[2.2, 5.0], [2.9, 4.2]], **talkative},
        behaviours=("social_states",),
    )
    assert [name for name, _ in states(seen, 0)][0] == "idle" and states(seen, 0)[1][1] >= 4.0
    assert [name for name, _ in states(seen, 1)][0] == "sitting" and states(seen, 1)[1][1] >= 4.0
    assert {"talking", "listening"} & {name for name, _ in states(seen, 0)}, "afterwards they live"


def test_one_who_is_pushed_away_comes_back(tmp_path):
    crowd = [
        {"name": f"p{k}", "pos": [-3.0, 2.6 + 0.4 * k], "vmax": 1.5, "waypoints": [[8.0, 2.6 + 0.4 * k]], "waypoint_mode": 2}
        for k in range(3)
    ]
    seen = played(
        tmp_path, {"name": "a", "pos": [1.0, 3.0], "state": "queueing", "heading": 3.0}, *crowd, model="helbing", timeout=14.0
    )
    assert np.hypot(*(seen.pedestrian_position[-1, 0] - (1.0, 3.0))) < 0.4
    assert states(seen, 0) == [("queueing", 0.0)]


def test_an_episode_alone_in_a_batch_and_with_more_slots_is_the_same_to_the_bit(tmp_path):
    people = [
        {"name": "a", "pos": [2.0, 3.0], "with": "b", "state_time": 2.0, "waypoints": [[6.0, 3.0]]},
        {"name": "b", "pos": [2.9, 4.2], "waypoints": [[-2.0, 3.0]]},
        {"name": "c", "pos": [4.0, 1.0], "state": "texting", "waypoints": [[0.0, 1.5]]},
    ]
    alone = played(tmp_path, *people, model="anticipation", timeout=5.0)
    suite = load_suite(tmp_path / "w" / "scenarios" / "a.json")
    stage = replace(suite.stages[0], crowd=replace(suite.stages[0].crowd, model=Named.of("crowd_models", "anticipation")))
    stage = replace(stage, timeout=5.0, ends=(), goal_tolerance=0.05, robot="crowdnav")
    start = replace(suite, name="given", stages=(stage,)).start("a", 0)
    nobody = replace(start, pedestrians=start.pedestrians.none())
    batch = Episodes([nobody, start, start], GoToGoal(speed=1e-3), Conditions.of(stage), slots=48, threads=2)
    seen = {index: recordings[0] for index, recordings in batch}
    for k in (1, 2):
        for name in ("position", "heading", "state"):
            one, other = (getattr(recording, f"pedestrian_{name}") for recording in (alone, seen[k]))
            assert np.array_equal(one, other), f"{name} of episode {k}"
