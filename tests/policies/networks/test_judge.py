"""The judge of commands: what PyTorch trains is what drives, impossible commands are never chosen, and ONNX gives the same."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
import torch

from agora.errors import InputError
from agora.interfaces import Shape
from agora.policies.command_rollouts import CONTEXT, FEATURES
from agora.policies.commands import COMMANDS, MIRROR, PARTNER, Commands
from agora.policies.encoding import Observe
from agora.policies.networks.judge import Judge
from agora.policies.onnx_file import export_onnx
from agora.testing.scenes import observation

SEE, ROWS, COUNT = Commands(people=4), 7, len(COMMANDS)


@pytest.fixture
def network():
    torch.manual_seed(5)
    made = Judge((12, 9), (10, 6)).learner(Shape(SEE, 1))
    torch.nn.init.normal_(made.score.weight, 0.0, 0.5)
    return made


@pytest.fixture
def seen():
    return SEE(observation(rows=ROWS, pedestrians=5, seed=6, max_vy=0.4))


def asked(network, seen):
    with torch.no_grad():
        scores, values, _ = network(torch.from_numpy(seen)[None], torch.zeros(len(seen), 0), torch.zeros(1, len(seen)).bool())
    return scores[0].numpy(), values[0].numpy()


def test_pytorch_and_the_kernels_answer_the_same(network, seen):
    policy, (scores, values) = network.policy({}), asked(network, seen)
    assert scores.shape == (ROWS, COUNT) and values.shape == (ROWS,) and np.isfinite(values).all()
    assert policy.network.scores(policy.arrays, seen) == pytest.approx(scores, abs=1e-5)
    assert np.array_equal(policy(seen)[:, 0], scores.argmax(1)) and len(set(policy(seen)[:, 0])) > 1


def test_a_command_that_is_impossible_is_never_chosen_and_counts_for_nothing(network, seen):
    best = int(network.policy({})(seen)[0, 0])
    without = seen.copy()
    without[0, CONTEXT + best * FEATURES] = 0.0
    other = without.copy()
    other[0, CONTEXT + best * FEATURES + 1 : CONTEXT + (best + 1) * FEATURES] += 3.0
    scores, values = asked(network, without)
    assert scores[0, best] == -1e9 and int(network.policy({})(without)[0, 0]) != best
    assert asked(network, other)[1] == pytest.approx(values, abs=1e-6)
    drawn = network.distribution.draw(torch.from_numpy(scores[:1]).repeat(500, 1), torch.linspace(0.0, 0.999, 500))
    assert best not in drawn[:, 0].int().tolist()


def test_the_same_command_has_the_same_score_wherever_it_stands(network, seen):
    swapped = seen.copy()
    first, last = (slice(CONTEXT + k * FEATURES, CONTEXT + (k + 1) * FEATURES) for k in (3, 39))
    swapped[:, first], swapped[:, last] = seen[:, last], seen[:, first]
    one, other = (asked(network, rows)[0] for rows in (seen, swapped))
    assert other[:, 3] == pytest.approx(one[:, 39], rel=1e-5) and other[:, 39] == pytest.approx(one[:, 3], rel=1e-5)


def test_in_the_mirrored_scene_the_partner_of_a_command_has_its_score(network, seen):
    order, sign = MIRROR
    (one, first), (other, second) = asked(network, seen), asked(network, seen[:, order] * sign)
    assert COMMANDS[PARTNER].tolist() == (COMMANDS * (1.0, -1.0, -1.0)).tolist()
    assert other[:, PARTNER] == pytest.approx(one, rel=1e-5) and second == pytest.approx(first, rel=1e-5)
    assert np.abs(one - one[:, PARTNER]).max() > 0.1


def test_another_runtime_chooses_the_same(tmp_path, network, seen):
    policy = network.policy({"seed": "2"})
    export_onnx(policy, tmp_path / "judge.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "judge.onnx"), providers=["CPUExecutionProvider"])
    action, scores = session.run(["action", "scores"], {"observation": seen})
    assert scores == pytest.approx(policy.network.scores(policy.arrays, seen), rel=1e-4, abs=1e-4)
    assert np.array_equal(action, policy(seen))


def test_another_encoding_or_an_empty_layer_is_refused():
    with pytest.raises(InputError, match="judges what the encoding commands shows, got Observe"):
        Judge().learner(Shape(Observe(8), 1))
    with pytest.raises(InputError, match=r"command\[1\]: expected an integer of at least 1, got 0"):
        Judge(command=(8, 0))
