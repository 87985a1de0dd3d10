"""``agora train``: what stands in the folder when the training is whole, when its time is up, and when it was stopped."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest
from typer.testing import CliRunner

from agora.cli.app import app
from agora.config import load
from agora.errors import StoppedError
from agora.learning.card import PolicyCard
from agora.learning.run import CHECKPOINT, LATEST, POLICY
from agora.learning.training import load_training
from agora.policies.encoding import Observe
from agora.policies.policy import Layer, Policy, load_policy
from agora.registry import Named

SEE = Observe(beams=0)
SIGNALS: list[int] = []
"""Signals that come in the second round of a training."""


@dataclass(frozen=True)
class Straight:
    """Drives straight on, faster after every round; the first validation comes after ``validate`` rounds."""

    rounds: int = 3
    validate: int = 3

    def train(self, run) -> Iterator[Policy]:
        done = int(run.resumed[0]["rounds"]) if run.resumed else 0
        while done < self.rounds:
            if done == 1 and SIGNALS:
                os.kill(os.getpid(), SIGNALS.pop())
            done += 1
            layer = Layer(np.zeros((SEE.length, 3), np.float32), np.float32([0.1 * done, 0.0, 0.0]))
            policy = Policy.of_layers(SEE, [layer], run.about(10 * done))
            run.log(10 * done, done / self.rounds, size=1.0)
            yield policy
            if done >= self.validate:
                run.validate(policy, 10 * done, done / self.rounds)
                run.save(10 * done, {"rounds": done}, {})


@pytest.fixture
def agora(monkeypatch, tmp_path):
    SIGNALS.clear()

    def called(*options, validate=3, resume=False):
        said = load_training("sarl")
        said = replace(said, name="straight", trainer=Named("straight", Straight(validate=validate)), planner="policy")
        said = replace(
            said, suite="crowdnav_training", validation="circle", test="demo", stages=("crossing",), elsewhere="demo", published=()
        )
        monkeypatch.setattr("agora.learning.training.load_training", lambda name: replace(said, seeds=(4,)))
        words = ["train", "straight", "--output", str(tmp_path / "run"), *options, *(["--resume"] if resume else [])]
        return CliRunner().invoke(app, words)

    return called


def bias(path):
    return float(next(array for name, array in load_policy(str(path)).arrays.items() if name.endswith("bias"))[0])


@pytest.mark.parametrize(("number", "words"), [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM")])
def test_a_signal_lets_the_round_end_and_leaves_the_policy_so_far_with_a_card_that_says_so(agora, tmp_path, number, words):
    SIGNALS.append(number)
    before = signal.getsignal(number)
    answer = agora()
    assert isinstance(answer.exception, StoppedError) and answer.exception.code == 128 + number
    kept = "there is no checkpoint yet, so a resumed training run would start from scratch"
    assert str(answer.exception) == f"stopped by {words}: {kept}; run the same command with --resume to continue"
    assert "stopping after this round; press Ctrl-C again to stop immediately" in answer.stderr
    assert f"policy  {tmp_path / 'run' / POLICY}" in answer.stdout and f"card    {tmp_path / 'run' / 'card.md'}" in answer.stdout
    assert bias(tmp_path / "run" / POLICY) == pytest.approx(0.2)  # of the second round, in which the signal came
    card = load(tmp_path / "run" / "card.yaml", PolicyCard)
    assert (card.seeds[0].stopped, card.seeds[0].steps, card.seeds[0].results) == (True, 20, ())
    page = (tmp_path / "run" / "card.md").read_text()
    assert "The policy was not tested." in page
    assert "seed 4 was stopped after 20 steps; its policy is that of the last round, as no policy was validated" in page
    assert signal.getsignal(number) is before


def test_what_was_stopped_goes_on_to_the_same_end_as_if_it_had_not_been(agora, tmp_path):
    SIGNALS.append(signal.SIGINT)
    agora(validate=1)
    assert bias(tmp_path / "run" / POLICY) == pytest.approx(0.1)  # the best in validation, not the latest
    assert (tmp_path / "run" / "seed_4" / CHECKPOINT).exists() and bias(tmp_path / "run" / "seed_4" / LATEST) == pytest.approx(0.2)
    assert "its policy is the best in validation up to then" in (tmp_path / "run" / "card.md").read_text()
    answer = agora(validate=1, resume=True)
    assert answer.exit_code == 0 and "seed 4, demo/crossing: success" in answer.stdout
    [record] = load(tmp_path / "run" / "card.yaml", PolicyCard).seeds
    assert (record.stopped, record.steps, [steps for steps, _ in record.curve]) == (False, 30, [10, 20, 30])
    assert record.results[0].stage == "crossing" and "stopped" not in (tmp_path / "run" / "card.md").read_text()


def test_a_training_whose_time_is_up_after_a_round_is_tested_and_not_taken_for_a_whole_one(agora, tmp_path):
    answer = agora("--minutes", "0")
    assert answer.exit_code == 0
    assert "seed 4: its time limit was reached after 10 steps; run the same command with --resume to continue" in answer.stderr
    [record] = load(tmp_path / "run" / "card.yaml", PolicyCard).seeds
    assert record.stopped and record.steps == 10 and record.results[0].episodes == 6
    assert "seed 4 was stopped after 10 steps" in (tmp_path / "run" / "card.md").read_text()
    agora(resume=True)
    [record] = load(tmp_path / "run" / "card.yaml", PolicyCard).seeds
    assert not record.stopped and record.steps == 30


def test_a_time_below_zero_is_refused(agora):
    assert "--minutes" in agora("--minutes", "-1").stderr
