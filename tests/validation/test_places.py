"""Episodes without a planner are measured once, in turn, and an interrupted run continues."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tests.starts import DISC, people, start

from agora.config import build
from agora.engine.conditions import Conditions
from agora.tasks.suite import Suite
from agora.validation import places
from agora.validation.movement import PERIOD


def small(count: int = 2) -> Suite:
    """A suite of two open squares with people who pass."""
    purposes = {"passing": 1, "visiting": 0, "working": 0, "waiting": 0}
    stages = [
        {
            "name": f"square_{k}",
            "episodes": count,
            "world": {"name": "open", "width": 9.0, "height": 8.0},
            "robots": {"name": "random", "distance": 4.0},
            "obstacles": {"name": "itineraries", "people": [3, 3], "purposes": purposes},
        }
        for k in (1, 2)
    ]
    return build({"name": "small", "seed": 3, "stages": stages}, Suite)


def test_an_interrupted_run_continues_and_gives_the_same_rows(tmp_path):
    whole = list(places.measure_places([small()], tmp_path / "whole.jsonl", duration=6.0))
    assert [row.entry for row in whole] == [f"small/square_{k}/{n}" for n in (0, 1) for k in (1, 2)]
    assert [row.robot for row in whole] == ["none", "none", "stands", "stands"]
    part = tmp_path / "part.jsonl"
    lines = (tmp_path / "whole.jsonl").read_text().splitlines()
    part.write_text("\n".join([*lines[:2], lines[2][:40]]) + "\n")
    assert list(places.measure_places([small()], part, duration=6.0)) == whole
    table = places.markdown(whole)
    assert "| `small/square` | 4 |" in table and "| all | 4 |" in table and "| `small` |" not in table
    others = [replace(row, entry=row.entry.replace("small", "other")) for row in whole[:2]]
    table = places.markdown([*whole, *others])
    assert "| `small` | 4 |" in table and "| `other` | 2 |" in table and "| all | 6 |" in table


def test_a_robot_creeps_along_its_path_and_stops_before_people():
    here = people([(3.0, 0.0)], [(3.0, 0.0)])
    made = start(pose=(0.0, 0.0, 0.0), goal=(8.0, 0.0, 0.0), crowd=here)
    terms = Conditions(sees_robots=False)
    seen = places.tracks(made, terms, 20.0, creeps=True)
    assert len(seen.position) == round(20.0 / PERIOD) and not seen.wants.any()
    assert np.hypot(*(seen.position[-1, 0] - (3.0, 0.0))) < DISC.radius


def test_the_suite_of_generators_has_a_separate_place_for_every_episode():
    suite = places.generators(4, 5)
    assert sum(stage.count for stage in suite.stages) % 4 == 0
    assert {stage.count for stage in suite.stages} == {1, 2}
