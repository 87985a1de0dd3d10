"""Episodes of a training: the seeds of its rounds, the advantages of steps, and how its episodes end."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from agora.core.recording import Outcome
from agora.core.state import Bools, Floats
from agora.learning.rewards import COLLISIONS

WITHOUT_END = 10**9
"""Episodes, more than any training plays."""


def seed_of_round(seed: int, steps: int) -> int:
    """Return the seed of the round of a training that begins after so many steps."""
    return int(np.random.SeedSequence((seed, steps)).generate_state(1, np.uint64)[0] >> np.uint64(1))


def is_early(number: int) -> bool:
    """Return whether a round, from 1, is validated although it ends no lap: 1, 2, 4, 8 and so on.

    The first one tells soon how a training goes, and what is kept of one that is stopped is never much older than half of it.
    """
    return number & (number - 1) == 0


def shares_of(ends: Counter[str]) -> dict[str, float]:
    """Return the shares of successes, collisions, robots that left the map and time-outs among ends of episodes; NaN of none."""
    count = ends.total() or math.nan
    left = ends[Outcome.OUT_OF_MAP.label]
    hits = sum(ends[outcome.label] for outcome in COLLISIONS) - left
    shares = {"success": ends["reached"], "collisions": hits, "left_map": left, "timeouts": ends["timeout"]}
    return {name: number / count for name, number in shares.items()}


def advantages_of(rewards: Floats, values: Floats, after: Floats, ends: Bools, discount: float, trace: float) -> Floats:
    """Return the generalised advantages (T, N); `values` plus these are the returns.

    Args:
        rewards: (T, N), which include the discounted value of what came after a time-out.
        values: (T, N) of what was seen before each step.
        after: (N,) value of what is seen after the last step.
        ends: (T, N) whether the episode ended with the step.
        discount: of a step.
        trace: lambda.
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
        ends: number of episodes that ended with each outcome.
        gains: undiscounted sums of rewards of the episodes that ended.
        lengths: steps of the episodes that ended.
    """

    ends: Counter[str]
    gains: list[float]
    lengths: list[int]

    @property
    def shares(self) -> dict[str, float]:
        """Means over the episodes that ended, NaN if none did."""
        count = self.ends.total() or math.nan
        return shares_of(self.ends) | {"gain": sum(self.gains) / count, "length": sum(self.lengths) / count}


class Tally:
    """Sums of rewards and numbers of steps of the episodes under way.

    Args:
        count: N, the number of episodes under way.
    """

    def __init__(self, count: int) -> None:
        self._gains: Floats = np.zeros(count, np.float32)
        self._lengths = np.zeros(count, np.int64)

    def count(self, rewards: Floats, ends: Bools, infos: dict[str, Any], results: Results, counts: Bools | int = 1) -> None:
        """Take in a step, and write the episodes that ended with it into the results of a round.

        Args:
            rewards: (N,) of the step.
            ends: (N,) whether an episode ended with it.
            infos: of the environment.
            results: of the round.
            counts: (N,) whether the step counts, which it does not where a robot waits.
        """
        self._gains += rewards
        self._lengths += counts
        if ends.any():
            results.ends.update(infos["final_info"]["outcome"][ends].tolist())
            results.gains.extend(self._gains[ends].tolist())
            results.lengths.extend(self._lengths[ends].tolist())
            self._gains[ends], self._lengths[ends] = 0.0, 0
