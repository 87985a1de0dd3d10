"""A training without a folder."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from agora.learning.trainers.ppo import Ppo
from agora.tasks.suite import Suite


class Interrupted(Exception):
    """Raised in the middle of a training, as a kill would end it."""


class Notes:
    """A `TrainingRun` that keeps everything in memory.

    Args:
        suite: to train on.
        stage: of the suite.
        seed: of everything random.
        success: share of successes that every validation finds.
        dies_at: steps at which `log` raises.
        resumed: numbers and arrays to go on from.

    Attributes:
        validated: points of the curve before each validation.
    """

    def __init__(
        self, suite: Suite, stage: str, *, seed: int = 1, success: float = 0.0, dies_at: int = 0, resumed: Any = None
    ) -> None:
        self.suite, self.stage, self.seed, self.resumed = suite, stage, seed, resumed
        self.curve: list[tuple[int, dict[str, float]]] = []
        self.policies: list[Any] = []
        self.validated: list[int] = []
        self.kept: Any = None
        self._success, self._dies_at = success, dies_at

    def about(self, steps: int) -> dict[str, str]:
        return {"steps": str(steps)}

    def log(self, steps: int, share: float, **values: float) -> None:
        if steps == self._dies_at:
            raise Interrupted
        self.curve.append((steps, {name: value for name, value in values.items() if value == value}))

    def save(self, steps: int, numbers: Mapping[str, float], arrays: Mapping[str, Any]) -> None:
        self.kept = {**numbers, "steps": steps}, dict(arrays)

    def validate(self, policy: Any, steps: int, share: float) -> Any:
        self.policies.append(policy)
        self.validated.append(len(self.curve))
        return SimpleNamespace(success=(self._success, 0.0, 1.0))


def trained(ppo: Ppo, suite: Suite, stage: str, **given: Any) -> Notes:
    """The notes of a whole training."""
    notes = Notes(suite, stage, **given)
    for _ in ppo.train(notes):
        pass
    return notes
