"""Compiles what a ROS graph computes with, so that its first start on a machine waits for nothing."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from agora.config import build
from agora.episode import Conditions
from agora.navigation.navigator import Navigator
from agora.planners.presets import named_planner
from agora.simulators.crowd import Crowd
from agora.simulators.one_world import OneWorld
from agora.tasks.suite import Suite

_HALL = {"world": "open", "robots": "random", "obstacles": {"name": "random", "dynamic": [2, 2]}}
_CROWDS = {"plain": {}, "social": {"behaviours": ["groups", "social_states"]}}


def warm() -> None:
    """Play one control step of every part of the graph, two at a time; kernels are kept on disk, so that again it takes 2 s."""
    parts: list[Callable[[], None]] = [_social_crowd, _crowd, _simulator_and_navigation]
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        for future in [pool.submit(part) for part in parts]:
            future.result()


def _suite() -> Suite:
    return build({"name": "kernels", "stages": [{"name": name, "crowd": crowd, **_HALL} for name, crowd in _CROWDS.items()]}, Suite)


def _social_crowd() -> None:
    _play_crowd("social")


def _crowd() -> None:
    _play_crowd("plain")


def _play_crowd(name: str) -> None:
    suite = _suite()
    Crowd(suite.start(name, 0), suite.stage(name)).step()


def _simulator_and_navigation() -> None:
    suite = _suite()
    start, stage = suite.start("plain", 0), suite.stage("plain")
    simulator = OneWorld()
    simulator.begin(start, stage, ["robot"], 0.0)
    navigator = Navigator(start, Conditions.of(stage), named_planner("dwa", "bypass")[1].part)
    navigator.observed(0.0)
    navigator.see_scan(0, simulator.readings()[0].ranges, 0.0)
    simulator.command(navigator.decide(0.0, 0, np.ones(1, np.bool_)).twists, {})
    simulator.advance()
    simulator.close()
