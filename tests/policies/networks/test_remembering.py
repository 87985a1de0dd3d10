"""Files of policies with a memory: what is saved is read back, and wrong files are refused by name."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from safetensors.numpy import load, save

from agora.errors import InputError
from agora.interfaces import Shape
from agora.policies.encoding import Observe
from agora.policies.networks.ag_rl import AgRlNetwork
from agora.policies.networks.ds_rnn import DsRnnNetwork
from agora.policies.policy import Policy, load_policy
from agora.policies.robot_and_people import RobotAndPeople

SEE = RobotAndPeople(people=3, reach=9.5, preferred_speed=0.9)
ABOUT = {"label": "small", "training": "ds_rnn", "seed": "4", "steps": "20"}


@pytest.fixture
def actor():
    torch.manual_seed(4)
    return DsRnnNetwork(width=0.1).learner(Shape(SEE, 2, period=0.4)).policy(ABOUT)


@pytest.fixture
def file(tmp_path, actor):
    path = tmp_path / "own" / "one.safetensors"
    actor.save(path)
    return path


def changed(path, arrays=None, **metadata):
    content = load(path.read_bytes())
    header = json.loads(path.read_bytes()[8 : 8 + int.from_bytes(path.read_bytes()[:8], "little")])["__metadata__"]
    kept = {name: array for name, array in {**content, **(arrays or {})}.items() if array is not None}
    path.write_bytes(save(kept, metadata=header | metadata))
    return path


def said(path, **changes):
    header = json.loads(path.read_bytes()[8 : 8 + int.from_bytes(path.read_bytes()[:8], "little")])["__metadata__"]
    whole = json.loads(header["policy"])
    changes = {name: whole[name] | new if isinstance(new, dict) else new for name, new in changes.items()}
    return changed(path, policy=json.dumps(whole | changes))


def test_what_was_saved_is_read_back(rng, file, actor):
    seen, state = (rng.normal(size=(3, n)).astype(np.float32) for n in (SEE.length, actor.state_size))
    read = load_policy(file)
    assert (read.observe, read.period, dict(read.about), read.label) == (SEE, 0.4, ABOUT, "small")
    for one, other in zip(read.step(seen, state), actor.step(seen, state), strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (lambda p: p.write_bytes(p.read_bytes()[:200]), "not a safetensors file"),
        (lambda p: p.write_bytes(p.read_bytes()[:-9]), "not a safetensors file"),
        (lambda p: p.write_bytes(b"\x80\x04pickle"), "a pickle, which Agora does not open"),
        (lambda p: changed(p, version="7"), "expected a file of agora.policy 2, got agora.policy 7"),
        (lambda p: changed(p, format="agora.actor", version="1"), "got agora.actor 1; a file of an earlier Agora"),
        (lambda p: changed(p, {"key.bias": np.zeros(5, np.float32)}), r"key.bias: expected the shape \(6,\), got \(5,\)"),
        (lambda p: changed(p, {"spatial.state_weight": np.zeros((3, 9), np.float32)}), "expected the shape"),
        (lambda p: changed(p, {"spatial.state_weight": np.zeros(0, np.float32)}), "expected the shape"),
        (lambda p: changed(p, {"person.weight": np.zeros((3, 6), np.float32)}), r"person.weight: expected the shape \(2, 6\)"),
        (lambda p: changed(p, {"actor.2.weight": np.zeros((26, 3), np.float32)}), r"actor.2.weight: expected the shape \(26, 2\)"),
        (lambda p: changed(p, {"query.bias": np.full(6, np.nan, np.float32)}), "weight query.bias must be finite float32"),
        (lambda p: changed(p, {"query.bias": np.zeros(6)}), "weight query.bias must be finite float32, got float64"),
        (lambda p: changed(p, {"query.bias": None}), "weight query.bias is missing"),
        (lambda p: changed(p, {"critic.0.bias": np.zeros(6, np.float32)}), "weight critic.0.bias is not part of DsRnnNetwork"),
        (lambda p: said(p, network={"name": "ds_rn"}), "policy:1: network: no network called 'ds_rn'; did you mean 'ds_rnn'"),
        (lambda p: said(p, network={"widht": 1.0}), "network.widht: unknown key; did you mean 'width'"),
        (lambda p: said(p, network={"width": 0.2}), r"weight actor.0.bias: expected the shape \(51,\), got \(26,\)"),
        (lambda p: said(p, observe={"name": "observe"}), "network 'ds_rnn' sees with the encoding robot_and_people|observe.people"),
        (lambda p: said(p, period=-0.1), "period: expected a number of at least 0, got -0.1"),
        (lambda p: said(p, observe={"people": 0}), "people: expected an integer"),
        (lambda p: said(p, observe={"people": 10**12}), "people: expected an integer"),
        (lambda p: said(p, observe={"places_only": False}), r"person.weight: expected the shape \(5, 6\), got \(2, 6\)"),
        (lambda p: said(p, observe={"beams": 3}), "observe.*beams"),
        (lambda p: changed(p, policy="{"), "policy"),
        (lambda p: p.unlink(), "no such file|cannot be read"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_by_name(file, how, message):
    how(file)
    with pytest.raises(InputError, match=message) as error:
        load_policy(file)
    assert str(file) in str(error.value)


def test_a_policy_without_a_file_is_refused_alike(actor):
    with pytest.raises(InputError, match="network 'ds_rnn' sees with the encoding robot_and_people, got Observe"):
        Policy(Observe(beams=3), actor.network, actor.arrays)
    with pytest.raises(InputError, match="weight .* is missing"):
        Policy(SEE, AgRlNetwork(width=0.1), actor.arrays)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"asks.weight": np.zeros((40, 41), np.float32)}, r"asks.weight: expected the shape \(40, 40\), got \(40, 41\)"),
        ({"people.bias": None}, "weight people.bias is missing"),
        ({"person.weight": np.zeros((12, 10), np.float32)}, r"person.weight: expected the shape \(13, 10\)"),
        ({"node.state_weight": np.zeros((7, 30), np.float32)}, "expected the shape"),
        ({"people.weight": np.zeros((10, 41), np.float32)}, r"people.weight: expected the shape \(10, 40\), got \(10, 41\)"),
    ],
)
def test_wrong_weights_of_ag_rl_are_refused(tmp_path, changes, message):
    path = tmp_path / "one.safetensors"
    see = RobotAndPeople(people=3, places_only=False)
    AgRlNetwork(width=0.08).learner(Shape(see, 2, period=0.4)).policy({}).save(path)
    assert load_policy(path).state_size == 10
    changed(path, changes)
    with pytest.raises(InputError, match=message):
        load_policy(path)
