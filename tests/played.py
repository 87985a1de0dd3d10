"""The episodes that bags of the tests hold, and how they ended in this process."""

from __future__ import annotations

from pathlib import Path

from agora.config import build
from agora.core.recording import Recording
from agora.episode import Conditions, Episodes
from agora.planners.presets import named_planner
from agora.tasks.suite import Suite
from tests.suites import stage, write_world


def small_suite(world: Path, episodes: int = 3) -> Suite:
    """Two robots with two goals each, among pedestrians with social states, in a crooked room."""
    crowd = {"model": "helbing", "behaviours": ["social_states"]}
    one = stage(write_world(world), "helbing", episodes=episodes, timeout=5.0) | {"crowd": crowd}
    return build({"name": "small", "seed": 3, "stages": [one]}, Suite)


def recordings(chosen: Suite, name: str, episode: int, planner: str) -> list[Recording]:
    """Return the recordings of an episode by `agora.episode.Episodes`."""
    start = chosen.start(name, episode)
    episodes = Episodes([start], named_planner(planner)[1].part, Conditions.of(chosen.stage(name)))
    return next(iter(episodes))[1]
