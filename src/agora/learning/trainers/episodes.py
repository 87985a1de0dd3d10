"""Episodes of a training run: seeds of rounds, advantages of steps, and results of episodes."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from agora.core.recording import Outcome
from agora.core.state import Bools, Floats
from agora.learning.rewards import COLLISIONS

WITHOUT_END = 10**9
"""A number of episodes that no training run exceeds."""


def seed_of_round(seed: int, steps: int) -> int:
    """Return the seed of the round that begins after the given number of steps of a training run."""
    return int(np.random.SeedSequence((seed, steps)).generate_state(1, np.uint64)[0] >> np.uint64(1))


def is_early(number: int) -> bool:
    """Return whether a round, counted from 1, is followed by a validation even if it does not end a lap: rounds 1, 2, 4, 8 and so
    on.

    The first validations show early how a training run is going. If a training run is stopped, its latest validation took place no
    earlier than about half-way through.
    """
    return number & (number - 1) == 0


def shares_of(ends: Counter[str]) -> dict[str, float]:
    """Return the fractions of episodes that ended with a success, a collision, a robot outside the map or a time-out; NaN if no
    episode ended.
    """
    count = ends.total() or math.nan
    left = ends[Outcome.OUT_OF_MAP.label]
    hits = sum(ends[outcome.label] for outcome in COLLISIONS) - left
    shares = {"success": ends["reached"], "collisions": hits, "left_map": left, "timeouts": ends["timeout"]}
    return {name: number / count for name, number in shares.items()}


def advantages_of(rewards: Floats, values: Floats, after: Floats, ends: Bools, discount: float, trace: float) -> Floats:
    """Return the generalised advantages (T, N); `values` plus the advantages are the returns.

    Args:
        rewards: (T, N) rewards, including the discounted value of the final observation after a time-out.
        values: (T, N) values of the observations before each step.
        after: (N,) values of the observations after the last step.
        ends: (T, N) whether the episode ended with the step.
        discount: discount factor per step.
        trace: lambda of generalised advantage estimation.
    """
    out = np.zeros_like(rewards)
    follows, value = np.zeros_like(after), after
    for t in range(len(rewards) - 1, -1, -1):
        goes_on = np.float32(discount) * ~ends[t]
        error = rewards[t] + goes_on * value - values[t]
        follows = out[t] = error + goes_on * np.float32(trace) * follows
        value = values[t]
    return out


class Results(NamedTuple):
    """The results of a round.

    Attributes:
        ends: number of episodes that ended, by outcome.
        gains: undiscounted sum of rewards of each episode that ended.
        lengths: number of steps of each episode that ended.
    """

    ends: Counter[str]
    gains: list[float]
    lengths: list[int]

    @property
    def shares(self) -> dict[str, float]:
        """Means over the episodes that ended, by name; NaN if no episode ended."""
        count = self.ends.total() or math.nan
        return shares_of(self.ends) | {"gain": sum(self.gains) / count, "length": sum(self.lengths) / count}


class Tally:
    """Sums the rewards and counts the steps of the running episodes.

    Args:
        count: number of running episodes, N.
    """

    def __init__(self, count: int) -> None:
        self._gains: Floats = np.zeros(count, np.float32)
        self._lengths = np.zeros(count, np.int64)

    def count(self, rewards: Floats, ends: Bools, infos: dict[str, Any], results: Results, counts: Bools | int = 1) -> None:
        """Add a step, and record the episodes that ended with this step in the results of a round.

        Args:
            rewards: (N,) rewards of the step.
            ends: (N,) whether an episode ended with the step.
            infos: infos of the environment.
            results: results of the round.
            counts: (N,) whether the step counts; False for robots that are waiting.
        """
        self._gains += rewards
        self._lengths += counts
        if ends.any():
            results.ends.update(infos["final_info"]["outcome"][ends].tolist())
            results.gains.extend(self._gains[ends].tolist())
            results.lengths.extend(self._lengths[ends].tolist())
            self._gains[ends], self._lengths[ends] = 0.0, 0
