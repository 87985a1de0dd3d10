"""The head of a report: what the stages of a run say in common."""

from __future__ import annotations

import pytest

from agora.benchmark.results.run_record import RunRecord
from agora.reporting._facts import setting


def stage(**more):
    return {"name": "hall", "robot": "jackal", "obstacles": {"name": "random"}, "periods": {"control": 0.1}, **more}


@pytest.mark.parametrize("told", ["view", {"source": "view", "view": {"angle": 2.0}}])
def test_stages_say_robots_crowds_knowledge_and_periods_once_each(told):
    crowd = {"model": {"name": "orca"}, "models": []}
    mixed = {"models": [{"model": {"name": "anticipation"}}, {"model": {"name": "orca"}}]}
    record = RunRecord(
        {"name": "s", "stages": [stage(crowd=crowd, pedestrians=told), stage(crowd=mixed, pedestrians="truth", robot="tiago")]},
        {"orca": {"name": "orca"}},
    )
    assert setting(record) == {
        "robots": ["jackal", "tiago"],
        "crowds": ["orca", "anticipation"],
        "known": ["the true states of pedestrians in view", "the true states of pedestrians"],
        "control": ["0.1 s"],
    }


def test_replayed_people_are_moved_by_no_model_and_levels_of_the_run_count_before_the_stages():
    crowd = {"model": {"name": "anticipation"}}
    suite = {"name": "s", "stages": [stage(obstacles="replay", crowd=crowd, pedestrians="truth")]}
    said = setting(RunRecord(suite, {"orca": {}}, pedestrians={"orca@tracked": "tracked"}))
    assert said["crowds"] == ["replayed tracks"] and said["known"] == ["tracks from the robot's own scans"]


def test_a_run_that_was_played_elsewhere_says_nothing():
    assert setting(RunRecord({"name": "bags", "stages": [{"name": "hall"}]}, ["robot"])) == {}
