"""Episodes without robots: the same pedestrians, to the bit where no robot has influenced anybody."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.starts import people, start
from tests.suites import planners, suite, write_world

from agora.benchmark.bench import run_all
from agora.benchmark.request import Options, Request
from agora.draft.periods import Periods
from agora.engine.undisturbed import walk_undisturbed
from agora.episode import Conditions, Episodes
from agora.pedestrians.models.helbing import Helbing
from agora.planners.local.go_to_goal import GoToGoal

CROWD = people([[-2.0, 0.1], [1.5, 2.0], [3.0, -1.0]], [[[3.0, 0.0]], [[-2.0, -1.5]], [[-3.0, 1.0]]])
PERIODS = Periods(0.05, 0.2, 0.1, 0.2)


def played(starts, **conditions):
    """Recordings of a robot that drives east, beside the same episodes without it."""
    made = Conditions(PERIODS, crowd=Helbing(), ends=0, **conditions)
    found = {index: recordings[0] for index, recordings in Episodes(starts, GoToGoal(), made)}
    some = [found[k] for k in range(len(starts))]
    return some, walk_undisturbed(starts, made, [one.time[-1] for one in some]), made


@pytest.mark.parametrize(("where", "sees"), [(20.0, True), (0.0, False)])
def test_people_whom_no_robot_influences_walk_the_same_to_the_bit(where, sees):
    (one,), (alone,), _ = played([start(pose=(0, where, 0), goal=(4, where, 0), crowd=CROWD, timeout=3.05)], sees_robots=sees)
    assert np.array_equal(one.pedestrian_position, alone) and len(alone) > 10


def test_a_robot_in_the_way_moves_people_and_the_batch_changes_nothing():
    starts = [
        start(pose=(0.3 * k, 0.0, 0.4), goal=(4, -1, 0), crowd=CROWD, timeout=2.0 + 0.3 * k, entry=f"t/s/{k}") for k in range(5)
    ]
    recordings, together, made = played(starts)
    assert np.abs(recordings[0].pedestrian_position - together[0]).max() > 0.05
    assert np.array_equal(recordings[0].pedestrian_position[0], together[0][0])
    for k in (3, 1):
        (single,) = walk_undisturbed([starts[k]], made, [recordings[k].time[-1]], slots=32)
        assert np.array_equal(single, together[k])


def test_a_benchmark_measures_it_where_it_is_asked_and_changes_no_other_number(tmp_path):
    small = suite(write_world(tmp_path / "room"), episodes=3, timeout=4.0, crowds=["helbing"])
    asked = run_all(Request(small.compared(), planners("go_to_goal"), tmp_path / "asked", Options(workers=0)))
    plain = run_all(Request(small, planners("go_to_goal"), tmp_path / "plain", Options(workers=0)))
    name = "pedestrian_displacement_max"
    assert all(row[name] is None for row in plain) and all(row[name] >= 0.0 for row in asked)
    others = [k for k in plain[0] if not k.startswith(("pedestrian_", "pedestrians_affected"))]
    assert [{k: row[k] for k in others} for row in asked] == [{k: row[k] for k in others} for row in plain]


def test_people_who_see_no_robots_are_not_displaced_in_any_sample_of_either_robot(tmp_path):
    periods = {"physics": 0.05, "control": 0.2, "crowd": 0.1, "sensor": 0.2}
    small = suite(write_world(tmp_path / "room"), episodes=4, timeout=4.15, crowds=["helbing"], periods=periods)
    blind = replace(small.stages[0], crowd=replace(small.stages[0].crowd, sees_robots=False))
    rows = run_all(
        Request(replace(small, stages=(blind,)).compared(), planners("go_to_goal"), tmp_path / "run", Options(workers=0))
    )
    assert len({row["duration"] for row in rows}) > 2 and any(round(row["duration"] / 0.05) % 4 for row in rows)
    assert all(row["pedestrian_displacement_max"] == row["pedestrian_delay_max"] == 0.0 for row in rows)
