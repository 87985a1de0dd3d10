"""Planners that are told nothing of walls."""

from __future__ import annotations

from agora.benchmark.knowledge import blind
from agora.registry import Named


def test_planners_that_read_paths_and_people_alone_are_blind():
    planners = {name: Named.of("planners", name) for name in ("pure_pursuit", "go_to_goal", "social_force_simple", "dwa", "dragon")}
    assert blind(planners) == ["pure_pursuit", "go_to_goal", "social_force_simple"]
