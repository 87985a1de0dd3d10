"""Compiles what a ROS graph computes with, so that its first start on a machine waits for nothing."""

from __future__ import annotations

import numpy as np

from agora.config import build
from agora.episode import Conditions
from agora.navigation.navigator import Navigator
from agora.planners.presets import named_planner
from agora.simulators.crowd import Crowd
from agora.simulators.native import Native
from agora.tasks.suite import Suite

_HALL = {"world": "open", "robots": "random", "obstacles": {"name": "random", "dynamic": [2, 2]}}
_CROWDS = {"plain": {}, "social": {"behaviours": ["groups", "social_states"]}}


def warm() -> None:
    """Play one control step of simulator, crowd and navigation; kernels are kept on disk, so that a second call takes a second."""
    suite = build(
        {"name": "kernels", "stages": [{"name": name, "crowd": crowd, **_HALL} for name, crowd in _CROWDS.items()]}, Suite
    )
    for name in _CROWDS:
        _play(suite, name)


def _play(suite: Suite, name: str) -> None:
    """Play one control step of a stage."""
    start, stage = suite.start(name, 0), suite.stage(name)
    simulator, crowd = Native(), Crowd(start, stage)
    simulator.begin(start, stage, ["robot"], 0.0)
    navigator = Navigator(start, Conditions.of(stage), named_planner("dwa", "bypass")[1].part)
    navigator.observed(0.0)
    navigator.see_scan(0, simulator.readings()[0].ranges, 0.0)
    simulator.command(navigator.decide(0.0, 0, np.ones(1, np.bool_)).twists, {})
    simulator.advance()
    crowd.step()
    simulator.close()
    crowd.engine.close()
