"""Policies as ONNX files: another runtime gives the same actions, and knows what the numbers of an observation are."""

import json
import sys

import numpy as np
import onnxruntime
import pytest

from agora.errors import InputError
from agora.policies.encoding import Observe
from agora.policies.onnx_file import export_onnx
from agora.policies.policy import Layer, Policy, load_policy

SEE = Observe(beams=7, pedestrians=2)


def random_policy(rng, *sizes_and_activations):
    layers, size = [], SEE.length
    for outputs, activation in sizes_and_activations:
        weight = rng.normal(0, 0.4, (size, outputs)).astype(np.float32)
        layers.append(Layer(weight, rng.normal(0, 0.2, outputs).astype(np.float32), activation))
        size = outputs
    return Policy(SEE, tuple(layers), {"steps": "12"})


def run(path, seen):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session, session.run(["action"], {"observation": seen})[0]


@pytest.mark.parametrize("shape", [
    [(3, "none")],
    [(2, "tanh")],
    [(13, "relu"), (5, "none"), (2, "sigmoid")],
    [(9, "sigmoid"), (11, "tanh"), (3, "none")],
])  # fmt: skip
def test_another_runtime_gives_the_same_actions(rng, tmp_path, shape):
    policy = random_policy(rng, *shape)
    export_onnx(policy, tmp_path / "sub" / "one.onnx")
    for rows in (1, 5):
        seen = rng.uniform(-1, 1, (rows, SEE.length)).astype(np.float32)
        assert run(tmp_path / "sub" / "one.onnx", seen)[1] == pytest.approx(policy(seen), abs=5e-6)


def test_the_file_says_what_is_where_in_an_observation(rng, tmp_path):
    export_onnx(random_policy(rng, (2, "tanh")), tmp_path / "one.onnx")
    said = run(tmp_path / "one.onnx", np.zeros((1, SEE.length), np.float32))[0].get_modelmeta().custom_metadata_map
    assert json.loads(said["observe"])["pedestrian_range"] == SEE.pedestrian_range
    assert json.loads(said["parts"]) == {"scan": [0, 7], "goal": [7, 10], "twist": [10, 13], "pedestrians": [13, 23]}
    assert said["steps"] == "12"


def test_the_policy_that_comes_along_is_exported(rng, tmp_path):
    policy = load_policy("hall")
    export_onnx(policy, tmp_path / "hall.onnx")
    seen = rng.uniform(-1, 1, (4, policy.observe.length)).astype(np.float32)
    assert run(tmp_path / "hall.onnx", seen)[1] == pytest.approx(policy(seen), abs=5e-5)


def test_a_missing_package_and_a_folder_that_cannot_be_written_are_said(rng, tmp_path, monkeypatch):
    policy = random_policy(rng, (2, "tanh"))
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        export_onnx(policy, tmp_path / "file" / "one.onnx")
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(InputError, match=r"pip install 'agora-nav\[onnx\]'"):
        export_onnx(policy, tmp_path / "one.onnx")
