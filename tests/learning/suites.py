"""Small suites to train on."""

from __future__ import annotations

from typing import Any

from agora.draft.stage import CrowdSettings, Stage
from agora.registry import Named
from agora.tasks.suite import Suite


def suite(
    *, seed: int = 3, dynamic: int = 6, world: Named | None = None, distance: float = 4.0, goals: int = 1, **stage: Any
) -> Suite:
    """A suite of one stage, ``walk``: the hall, one robot, pedestrians of the Helbing model."""
    given = {
        "world": world or Named.of("worlds", "folder", path="hall"),
        "robots": Named.of("robots_modes", "random", distance=distance, goals=goals),
        "obstacles": Named.of("obstacles_modes", "random", dynamic=(dynamic // 2, dynamic)),
        "crowd": CrowdSettings(Named.of("crowd_models", "helbing")),
        "robot": "burger",
        "episodes": 6,
        "timeout": 12.0,
    }
    return Suite("small", (Stage("walk", **(given | stage)),), seed=seed)
