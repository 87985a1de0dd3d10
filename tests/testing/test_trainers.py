"""Trainers that can be had by name keep their contract, and bad ones do not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from agora.learning.trainers.imitation import Lessons
from agora.policies.encoding import Observe
from agora.policies.networks.mlp import Mlp
from agora.policies.networks.sarl import SarlNetwork
from agora.registry import available, make
from agora.tasks.suite import load_suite
from agora.testing import ContractError, check_trainer

SMALL = {
    "cloning": {
        "network": Mlp((8,)),
        "observe": Observe(0, pedestrians=5),
        "lessons": Lessons("go_to_goal", rounds=4, mixing=2, worlds=4, horizon=8, updates=4, batch=2),
        "lap": 2,
    },
    "ppo": {
        "observe": Observe(0, pedestrians=5),
        "network": Mlp((8,)),
        "steps": 256,
        "worlds": 4,
        "horizon": 16,
        "epochs": 1,
        "batches": 2,
        "lap": 2,
        "validate": 1,
    },
    "td3": {
        "sizes": (8,),
        "observe": Observe(0, pedestrians=5),
        "steps": 256,
        "worlds": 4,
        "horizon": 16,
        "updates": 4,
        "memory": 100,
        "warm_up": 64,
        "lap": 2,
        "validate": 1,
    },
    "value_learning": {
        "network": SarlNetwork(0.1),
        "demonstrations": 8,
        "epochs": 1,
        "episodes": 12,
        "round": 6,
        "updates": 4,
        "batch": 50,
        "worlds": 4,
        "threads": 1,
        "validate": 2,
    },
}


@pytest.mark.parametrize("name", sorted(set(available("trainers")) - {"hallucination", "imperative"}))  # their own files ask them
def test_a_registered_trainer_keeps_the_contract(name):
    check_trainer(make("trainers", name, **SMALL[name]), load_suite("crowdnav_training"), "circle")


@dataclass
class Nothing:
    """A policy that keeps nothing."""

    def save(self, path):
        path.write_bytes(b"")


@dataclass(frozen=True)
class Counts:
    """Makes a point and a checkpoint a round, from the last one on; ``forgets`` begins anew, ``lumps`` yields at the end alone."""

    forgets: bool = False
    lumps: bool = False
    share: float = 1.0
    checkpoints: int = 3

    def train(self, run):
        numbers = run.resumed[0] if run.resumed and not self.forgets else {"steps": 0}
        for k in range(int(numbers["steps"]), self.checkpoints):
            run.log(k + 1, self.share * (k + 1) / self.checkpoints, value=float(k))
            run.validate(Nothing(), k + 1, 1.0)
            run.save(k + 1, {"steps": k + 1}, {"weights": np.float32([k])})
            if not self.lumps:
                yield


@dataclass(frozen=True)
class Silent:
    """Trains, and lets nobody know."""

    def train(self, run):
        list(Counts().train(run))


def test_a_trainer_that_goes_on_from_its_checkpoint_keeps_the_contract():
    check_trainer(Counts(), None, "")


@pytest.mark.parametrize(
    ("trainer", "message"),
    [
        (Counts(forgets=True), "resumed from its first checkpoint it reaches"),
        (Counts(share=0.5), "must increase, and shares must end at 1"),
        (Counts(lumps=True), "it logs 3 points before it yields"),
        (Silent(), "it must yield after every log entry"),
        (Counts(checkpoints=1), "got 1 points, 1 validations and 1 checkpoints"),
    ],
)
def test_a_trainer_that_breaks_a_clause_is_told_which(trainer, message):
    with pytest.raises(ContractError, match=message):
        check_trainer(trainer, None, "")
