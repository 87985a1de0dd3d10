"""A training tells what happens, is stopped from another thread, and goes on to the same curve."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import pytest
from tests.learning.test_training import TINY
from tests.stopping import stopped

from agora.benchmark.stop_token import StopToken
from agora.errors import InputError, StoppedError
from agora.learning.events import Learned, Saved, Trained
from agora.learning.run import CHECKPOINT, CURVE, POLICY
from agora.learning.training import load_training, train
from agora.registry import Named


@pytest.fixture(scope="module")
def training():
    trainer = Named.of("trainers", "value_learning", **TINY | {"episodes": 8})
    changed = {"trainer": trainer, "validation": "circle", "suite": "crowdnav_training", "published": ()}
    return replace(load_training("sarl"), **changed)


@pytest.fixture(scope="module")
def whole(training, tmp_path_factory):
    """The folder of a training that nobody stopped, and what it told."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, list(train(training, folder, 3))


def points(folder):
    """The curve without times."""
    curve = [json.loads(line) for line in (folder / CURVE).read_text().splitlines()]
    return [{name: value for name, value in point.items() if name != "seconds"} for point in curve]


def test_a_training_tells_of_every_point_of_its_curve_and_every_checkpoint(whole):
    folder, told = whole
    learned = [event for event in told if isinstance(event, Learned)]
    assert [{"steps": event.steps, **event.values} for event in learned] == points(folder)
    assert [event.share for event in learned] == sorted(event.share for event in learned) and learned[-1].share == 1.0
    assert (
        str(learned[0]).startswith(f"{learned[0].steps} steps, ")
        and "reached" in str(learned[0])
        and any(", loss " in str(event) for event in learned)
    )
    assert len([event for event in told if isinstance(event, Saved)]) == 3
    assert isinstance(told[-1], Trained) and told[-1].run.folder == folder


@pytest.mark.parametrize("checkpoints", [0, 1, 2])
def test_a_training_is_stopped_from_another_thread_and_resumed_to_the_same_curve(training, whole, tmp_path, checkpoints):
    def is_time(told):
        return len(told) > checkpoints and sum(isinstance(event, Saved) for event in told) == checkpoints

    said, told = stopped(lambda token: train(training, tmp_path, 3, token=token), is_time)
    kept = "there is no checkpoint yet" if checkpoints == 0 else "the checkpoint after "
    assert said.startswith(f"stopped: {kept}") and said.endswith("repeat the training with resume to continue")
    assert not any(isinstance(event, Trained) for event in told)
    *_, trained = train(training, tmp_path, 3, resume=True)
    assert points(tmp_path) == points(whole[0])
    assert trained.run.best == whole[1][-1].run.best
    assert (tmp_path / POLICY).read_bytes() == (whole[0] / POLICY).read_bytes()


def test_a_training_whose_iterator_is_closed_lets_the_folder_go(training, whole, tmp_path):
    events = train(training, tmp_path, 3)
    next(events)
    events.close()
    assert [*train(training, tmp_path, 3, resume=True)][-1].run.best == whole[1][-1].run.best


def test_a_token_that_was_asked_before_stops_a_training_before_it_makes_a_folder(training, tmp_path):
    token = StopToken()
    token.stop()
    with pytest.raises(StoppedError, match="there is no checkpoint yet"):
        next(train(training, tmp_path / "own", 3, token=token))
    assert not (tmp_path / "own").exists()


@dataclass(frozen=True)
class Plain:
    """Trains without a word."""

    def train(self, run):
        raise AssertionError("it is not begun")


def test_a_trainer_that_yields_nothing_is_refused_before_it_trains(training, tmp_path):
    own = replace(training, trainer=Named("plain", Plain()))
    with pytest.raises(InputError, match=r"trainer 'plain': its train\(\) method must be a generator that yields"):
        next(train(own, tmp_path, 3))
    assert not (tmp_path / CHECKPOINT).exists()


def test_a_point_of_the_curve_is_told_with_whole_numbers_as_such():
    told = Learned(141360, 0.5, 1481.4, {"episode": 3000.0, "loss": 0.016823, "timeout": 0.0})
    assert str(told) == "141360 steps, 1481 per second, episode 3000, loss 0.0168, timeout 0"
