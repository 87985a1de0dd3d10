"""A trainer that raises, or gives its run something impossible, fails by its name; what was kept stays whole."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from tests.learning.test_training import policy

from agora.errors import ComponentError, DivergedError
from agora.learning.checkpoint import read_curve, steps_of
from agora.learning.run import CHECKPOINT, CURVE, Run
from agora.learning.training import load_training, train
from agora.registry import Named

WEIGHT = np.ones(3, np.float32)


@dataclass(frozen=True)
class Wrong:
    """Makes one good round, and then does something wrong.

    Attributes:
        does: name of a method below.
    """

    does: str = ""

    def train(self, run):
        run.log(1, 0.5, loss=0.25)
        run.save(1, {"done": 1}, {"weight": WEIGHT})
        yield policy()
        yield getattr(self, self.does)(run)

    def raises(self, run):
        raise ZeroDivisionError("on purpose")

    def exits(self, run):
        raise SystemExit(0)

    def interrupts(self, run):
        raise KeyboardInterrupt

    def closes(self, run):
        raise GeneratorExit

    def stops(self, run):
        raise StopIteration

    def yields_a_text(self, run):
        return "a policy"

    def validates_nothing(self, run):
        run.validate(None, 2, 1.0)

    def logs_a_text(self, run):
        run.log(2, 1.0, loss="low")

    def logs_no_steps(self, run):
        run.log("two", 1.0)

    def logs_no_share(self, run):
        run.log(2, float("nan"))

    def saves_a_text(self, run):
        run.save(2, {"done": "all"}, {"weight": WEIGHT})

    def saves_nothing(self, run):
        run.save(2, None, None)

    def saves_a_list(self, run):
        run.save(2, {}, {"weight": [1.0]})

    def saves_objects(self, run):
        run.save(2, {}, {"weight": np.array([None])})

    def saves_nan(self, run):
        run.save(2, {"done": float("nan")}, {"weight": WEIGHT})


def training(does):
    return replace(load_training("sarl"), trainer=Named("wrong", Wrong(does)), planner="policy", published=())


@pytest.fixture(autouse=True)
def unregistered(monkeypatch):
    monkeypatch.setattr(Run, "_describe", lambda self, resume: "mark")  # which asks for the package of the trainer


@pytest.mark.parametrize("does", [name for name in vars(Wrong) if not name.startswith("_") and name not in ("does", "train")])
def test_a_trainer_that_goes_wrong_is_named_and_its_last_round_is_kept(tmp_path, does):
    error = DivergedError if does == "saves_nan" else ComponentError
    with pytest.raises(error, match=r"^trainer wrong[: ]") as caught:
        list(train(training(does), tmp_path, 1))
    if does in ("raises", "exits", "interrupts", "closes"):
        assert "(test_run.py, line " in str(caught.value)
    assert steps_of(tmp_path / CHECKPOINT) == 1
    assert [point["steps"] for point in read_curve(tmp_path / CURVE)] == [1]
