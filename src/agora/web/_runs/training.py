"""Executes training runs: calls `agora.learning.seeds.train_seeds` in the folder of a run, as `agora train` does in a terminal."""

from __future__ import annotations

import math
from contextlib import closing

from agora.errors import StoppedError
from agora.learning.card import SeedRecord
from agora.learning.checkpoint import steps_of
from agora.learning.events import Learned, Trained
from agora.learning.run import CHECKPOINT, RECORD
from agora.learning.seeds import seed_folder, train_seeds
from agora.learning.training import Training, load_training
from agora.web._runs.execution import Execution
from agora.web._tables import PARTS

_FEW = {"success": "success", "reached": "success", "validation_success": "success in validation", "gain": "reward", "loss": "loss"}
"""Values of a point that are shown next to a training run, with their labels."""


class TrainingExecution(Execution):
    """The execution of a training run by a worker, which continues from the checkpoints in the run's folder."""

    def work(self) -> None:
        """Train with each seed, test the policies, and write the card."""
        self.total, self.status = PARTS, "starting; the first round takes longest"
        training, minutes, records = load_training(self.folder / RECORD), self.fields.get("minutes"), list[SeedRecord]()
        seconds, seed = math.inf if minutes is None else 60.0 * minutes, training.seeds[0]
        try:
            events = train_seeds(training, self.folder, resume=True, token=self.token, seconds=seconds)
            with closing(events):  # type: ignore[type-var]
                for seed, event in events:
                    if isinstance(event, Learned):
                        self._hear(training, seed, event.share, _words(event))
                    elif isinstance(event, Trained):
                        self._hear(training, seed, 1.0 if event.whole else None, f"testing the policy on {training.test}")
                    elif isinstance(event, SeedRecord):
                        records.append(event)
        except StoppedError as error:
            raise StoppedError(self._kept(seed)) from error
        if short := [f"{one.steps:,} steps with seed {one.seed}" for one in records if one.stopped]:
            raise StoppedError(f"its time limit was reached after {', '.join(short)}; the policy was tested")

    def _hear(self, training: Training, seed: int, share: float | None, words: str) -> None:
        """Record the progress of training with a seed. The progress never decreases, even if seeds that were already trained are
        resumed later.
        """
        if share is not None:
            self.done = max(self.done, int(PARTS * (training.seeds.index(seed) + share) / len(training.seeds)))
        self.status = f"seed {seed}: {words}" if len(training.seeds) > 1 else words

    def _kept(self, seed: int) -> str:
        steps = steps_of(seed_folder(self.folder, seed) / CHECKPOINT)
        if steps is None:
            return "stopped before its first checkpoint; continuing would restart it"
        return f"stopped; it can continue from the checkpoint after {steps:,.0f} steps"


def _words(event: Learned) -> str:
    """Return a short description of a point of the curve."""
    few = [f"{words} {event.values[name]:.3g}" for name, words in _FEW.items() if name in event.values]
    return ", ".join([f"{event.steps:,} steps, {event.rate:,.0f} per second", *few])
