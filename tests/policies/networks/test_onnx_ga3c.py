"""GA3C-CADRL's policies as ONNX files: another runtime gives the same answers."""

from __future__ import annotations

import json
import math

import numpy as np
import onnxruntime
import pytest
import torch

from agora.interfaces import Shape
from agora.policies.agents import CHOICES, Agents
from agora.policies.joint_state import PERSON, ROBOT
from agora.policies.networks.ga3c import Ga3cNetwork
from agora.policies.onnx_file import export_onnx
from agora.testing.scenes import observation

SEE = Agents(people=3)


@pytest.fixture
def policy():
    torch.manual_seed(4)
    network = Ga3cNetwork(width=0.2).learner(Shape(SEE, 2, period=0.2))
    torch.nn.init.normal_(network.choice.weight, 0.0, 0.5)
    return network.policy({"seed": "5"})


@pytest.mark.parametrize("people", [0, 1, 3])
def test_another_runtime_chooses_the_same(tmp_path, policy, people):
    export_onnx(policy, tmp_path / "one.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "one.onnx"), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    for rows in (1, 12):
        seen = SEE(observation(rows=rows, pedestrians=5))
        seen[:, ROBOT + PERSON * people :] = 0.0
        turns = np.linspace(-math.pi, math.pi, rows)
        seen[:, 5], seen[:, 6] = np.cos(turns), np.sin(turns)
        found = dict(zip(names, session.run(names, {"observation": seen}), strict=True))
        scores = policy.network.scores(policy.arrays, seen)
        assert found["scores"] == pytest.approx(scores, abs=1e-5)
        best = np.sort(scores, 1)
        told_apart = best[:, -1] - best[:, -2] > 1e-4
        assert np.array_equal(found["action"][told_apart], policy(seen)[told_apart])
        assert found["command"] == pytest.approx(found["action"] * [1.0, math.pi / 6.0], abs=1e-6)
    notes = session.get_modelmeta().custom_metadata_map
    assert (notes["network"], json.loads(notes["period"]), notes["seed"]) == ("ga3c", 0.2, "5")
    assert np.float32(json.loads(notes["actions"])).tolist() == CHOICES.tolist()
    assert json.loads(notes["observe"])["people"] == 3
