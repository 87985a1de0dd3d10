"""``agora policy``: what is shown of a policy, and the ONNX file that it is exported as."""

from __future__ import annotations

import json
import sys

import numpy as np
import onnxruntime
import pytest
import torch
from typer.testing import CliRunner

from agora.cli.app import app
from agora.errors import InputError, UnknownNameError
from agora.interfaces import Shape
from agora.policies.agents import Agents
from agora.policies.encoding import Observe
from agora.policies.networks.ds_rnn import DsRnnNetwork
from agora.policies.networks.ga3c import Ga3cNetwork
from agora.policies.policy import Layer, Policy, TrainedRobot, load_policy
from agora.policies.robot_and_people import RobotAndPeople
from agora.policies.weights import folder
from agora.testing.scenes import observation


def agora(*words):
    answer = CliRunner().invoke(app, ["policy", *map(str, words)], catch_exceptions=False)
    assert answer.exit_code == 0
    return answer.output


def shown(*words):
    """Lines of ``agora policy show`` by the name in front of them; the last of several."""
    return dict(line.split("  ", 1) for line in agora("show", *words).splitlines())


@pytest.mark.parametrize("name", ["hall", "sarl"])
def test_a_policy_that_comes_along_is_written_as_a_file_that_another_runtime_opens(tmp_path, name):
    path, policy = tmp_path / "sub" / f"{name}.onnx", load_policy(name)
    assert agora("export", name, "--output", path).strip() == str(path)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    [read] = session.get_inputs()
    seen = policy.see(observation(rows=2, pedestrians=8, beams=90))
    [answer, *_] = session.run(None, {read.name: seen})
    assert answer == pytest.approx(np.clip(policy(seen), -1.0, 1.0), abs=1e-5)
    assert json.loads(session.get_modelmeta().custom_metadata_map["observe"])["pedestrians" if name == "hall" else "people"] > 0


def test_a_policy_with_a_card_is_shown_with_what_it_reaches():
    said = {name: text.strip() for name, text in shown("sarl").items()}
    assert said["network"].startswith("sarl with 25,127 weights: width=0.5, ahead=(speeds=5, headings=16, step=0.25")
    assert said["does"] == "a velocity in preferred speeds, in the goal frame"
    assert said["sees"].startswith("37 values, encoded by joint_state: people=5, reach=12")
    assert said["trained on"] == "suite crowdnav_training, stage circle"
    assert said["test"].startswith("crowdnav/visible, seed 1: success 0.982")
    assert said["published"].startswith("crowdnav/invisible: success 0.990") and said["label"] == "small"


def test_files_without_a_card_are_shown_too(tmp_path):
    see = Observe(beams=3)
    layer = Layer(np.zeros((see.length, 3), np.float32), np.zeros(3, np.float32))
    Policy.of_layers(see, (layer,), {"steps": "12"}, TrainedRobot(-0.5, 1.0, 0.4, 2.0), 0.2).save(tmp_path / "policy.safetensors")
    said = {name: text.strip() for name, text in shown(tmp_path / "policy.safetensors").items()}
    assert said["network"] == "mlp with 30 weights: sizes=[], activation=['none']" and said["does"].endswith("; every 0.2 s")
    assert said["robot"].startswith("min_vx=-0.5, max_vx=1") and (said["steps"], said["card"]) == ("12", "none")
    torch.manual_seed(1)
    actor = DsRnnNetwork(width=0.05).learner(Shape(RobotAndPeople(people=2), 2, period=0.4)).policy({})
    actor.save(tmp_path / "actor.safetensors")
    said = {name: text.strip() for name, text in shown(tmp_path / "actor.safetensors").items()}
    assert said["network"].startswith("ds_rnn with ") and said["memory"] == f"{actor.state_size} values"
    assert said["does"] == "a velocity in preferred speeds, in the goal frame; every 0.4 s"
    Ga3cNetwork().learner(Shape(Agents(), 2, period=0.2)).policy({}).save(tmp_path / "ga3c.safetensors")
    said = {name: text.strip() for name, text in shown(tmp_path / "ga3c.safetensors").items()}
    assert said["network"] == "ga3c with 104,971 weights: width=1" and said["does"].startswith(
        "a speed in preferred speeds, and a change"
    )


def test_the_card_that_training_writes_beside_its_policy_is_found(tmp_path):
    for source, name in (("sarl.safetensors", "policy.safetensors"), ("sarl.yaml", "card.yaml")):
        (tmp_path / name).write_bytes((folder("configs") / "policies" / source).read_bytes())
    assert "crowdnav_training" in shown(tmp_path / "policy.safetensors")["trained on"]


def test_what_cannot_be_exported_is_refused_by_name(tmp_path, monkeypatch):
    with pytest.raises(UnknownNameError, match="no policy called 'sarll'; .*sarl"):
        agora("export", "sarll", "-o", tmp_path / "one.onnx")
    with pytest.raises(InputError, match=r"--output .*one.txt: expected a name that ends in .onnx"):
        agora("export", "sarl", "-o", tmp_path / "one.txt")
    (tmp_path / "no.safetensors").write_bytes(b"no weights")
    for command in (["show"], ["export", "-o", tmp_path / "one.onnx"]):
        with pytest.raises(InputError, match="no.safetensors: not a safetensors file"):
            agora(*command, tmp_path / "no.safetensors")
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(InputError, match="pip install"):
        agora("export", "sarl", "-o", tmp_path / "one.onnx")
    assert not (tmp_path / "one.onnx").exists()
