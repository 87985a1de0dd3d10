"""Compiles the longest kernels of planners before the tests, whose workers would compile some of them twice.

``python -m tests.kernels`` does so in two processes; ``make kernels`` calls it where tests are to follow.
"""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

from agora.registry import make
from agora.testing import observation
from agora.testing.planners import needed
from agora.testing.scenes import sensors_of

PLANNERS = ("cohan", "artplanner", "mppi", "trajectory_rollout", "social_force_window", "sipp", "brne", "orca", "dragon", "teb")
"""The longest first; teb's kernel shares much with cohan's, and finds it compiled."""


def ask(name: str) -> None:
    """Ask a planner once, in a scene of the contract."""
    planner = make("planners", name)
    channels = planner.declares.channels
    seen = observation(window=channels.get("costmap"), semantics=channels.get("semantics"), sensors=sensors_of(channels))
    planner.act(needed(seen, channels), {})


if __name__ == "__main__":
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        list(pool.map(ask, PLANNERS))
