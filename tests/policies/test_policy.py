"""Policies: what they answer, the files that keep them, and driving with them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
import torch
from safetensors.numpy import load, save
from tests.learned import learned

from agora.episode import Conditions, Episodes
from agora.errors import InputError, UnknownNameError
from agora.interfaces.channel import Field
from agora.planners.learned.policy import PolicyPlanner
from agora.policies.encoding import Observe
from agora.policies.policy import Layer, Policy, load_policy
from agora.policies.weights import policy_names
from agora.registry import make
from agora.tasks.suite import load_suite

SEE = Observe(beams=12, pedestrians=2)


@pytest.fixture
def modules():
    torch.manual_seed(4)
    return torch.nn.Sequential(torch.nn.Linear(SEE.length, 17), torch.nn.Tanh(), torch.nn.Linear(17, 2))


@pytest.fixture
def file(tmp_path, modules):
    path = tmp_path / "own" / "one.safetensors"
    Policy.of_torch(SEE, [modules], {"steps": "0"}).save(path)
    return path


def test_a_policy_of_torch_answers_as_torch_does(rng, modules):
    seen = rng.uniform(-1, 1, (9, SEE.length)).astype(np.float32)
    theirs = modules(torch.from_numpy(seen)).detach().numpy()
    assert Policy.of_torch(SEE, modules)(seen) == pytest.approx(theirs, abs=2e-6)
    with pytest.raises(InputError, match="Linear, ReLU, Tanh and Sigmoid, got Dropout"):
        Policy.of_torch(SEE, [modules, torch.nn.Dropout()])


def test_what_was_saved_is_read_back(rng, file, modules):
    seen = rng.uniform(-1, 1, (3, SEE.length)).astype(np.float32)
    read = load_policy(file)
    assert (read.observe, dict(read.about)) == (SEE, {"steps": "0"})
    assert read(seen).tobytes() == Policy.of_torch(SEE, modules)(seen).tobytes()
    assert read(seen[1:2]).tobytes() == read(seen)[1:2].tobytes()


def test_the_same_policy_is_the_same_file_to_the_byte(file, modules):
    """The digest of a file must not depend on the order in which a library writes metadata."""
    written = set()
    for _ in range(6):
        Policy.of_torch(SEE, [modules], {"steps": "0"}).save(file)
        written.add(file.read_bytes())
    (whole,) = written
    assert load(whole).keys() == {"0.weight", "0.bias", "1.weight", "1.bias"}


def changed(path, arrays=None, **metadata):
    content = load(path.read_bytes())
    header = json.loads(path.read_bytes()[8 : 8 + int.from_bytes(path.read_bytes()[:8], "little")])["__metadata__"]
    path.write_bytes(save({**content, **(arrays or {})}, metadata=header | metadata))
    return path


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (lambda p: p.write_bytes(p.read_bytes()[:200]), "not a safetensors file"),
        (lambda p: p.write_bytes(b"\x80\x04pickle"), "a pickle, which Agora does not open"),
        (lambda p: changed(p, version="3"), "expected a file of agora.policy 2, got agora.policy 3"),
        (lambda p: changed(p, {"0.weight": np.zeros((5, 17), np.float32)}), r"0.weight: expected the shape \(28, 17\), got"),
        (lambda p: changed(p, {"0.bias": np.full(17, np.nan, np.float32)}), "weight 0.bias must be finite float32"),
        (lambda p: changed(p, {"2.bias": np.zeros(2, np.float32)}), "weight 2.bias is not part of Mlp"),
        (lambda p: changed(p, policy='{"observe": {"beams": 3}, "network": "mlp"}'), "observe.name: expected a valid encoding"),
        (lambda p: changed(p, policy='{"observe": "observe"}'), "network: expected a value, got nothing: the key is missing"),
        (lambda p: changed(p, policy='{"observe": "obsrve", "network": "mlp"}'), "called 'obsrve'; did you mean 'observe'"),
        (lambda p: changed(p, policy='{"observe": "observe", "network": {"name": "mlp", "sizes": [0]}}'), r"sizes\[0\]: expected"),
        (lambda p: changed(p, policy="{"), "policy"),
        (lambda p: changed(p, {"1.weight": np.zeros((17, 4), np.float32), "1.bias": np.zeros(4, np.float32)}), "gives 4 values"),
        (lambda p: p.unlink(), "no such file|cannot be read"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_by_name(file, how, message):
    how(file)
    with pytest.raises(InputError, match=message) as error:
        load_policy(file)
    assert str(file) in str(error.value)


@dataclass(frozen=True)
class Row:
    """A channel that nobody registered."""

    channel: ClassVar[str] = "row"
    fields: ClassVar[dict[str, Field]] = {"depth": Field((2,), "m", "", 0.0, 1.0)}


def test_what_makes_no_policy_is_refused(tmp_path):
    with pytest.raises(InputError, match="at least one layer"):
        Policy.of_layers(SEE, ())
    with pytest.raises(UnknownNameError, match="'tanh'"):
        Policy.of_layers(SEE, (Layer(np.zeros((SEE.length, 2), np.float32), np.zeros(2, np.float32), "than"),))
    with pytest.raises(InputError, match=r"layer 0: expected a weight \(I, O\) and a bias \(O,\), got weight \(3, 2\)"):
        Policy.of_layers(SEE, (Layer(np.zeros((3, 2), np.float32), np.zeros(3, np.float32)),))
    with pytest.raises(UnknownNameError, match="no policy called 'hal'.*hall"):
        load_policy("hal")
    seeing = replace(SEE, sensors=(Row(),))
    layer = Layer(np.zeros((seeing.length, 2), np.float32), np.zeros(2, np.float32))
    with pytest.raises(
        InputError, match="x.safetensors: channel Row is not registered; register it in the pyproject.toml of its package"
    ):
        Policy.of_layers(seeing, (layer,)).save(tmp_path / "x.safetensors")


def test_episodes_do_not_depend_on_their_batch(file):
    suite = load_suite("demo")
    starts = [replace(suite.start("hall", k), timeout=3.0) for k in range(5)]
    planner, conditions = PolicyPlanner(str(file)), Conditions.of(suite.stage("hall"))
    one, five = (dict(Episodes(starts, planner, conditions, worlds=n)) for n in (1, 5))
    for k in range(5):
        assert one[k][0].pose.tobytes() == five[k][0].pose.tobytes()
        assert np.ptp(one[k][0].pose[:, :2], axis=0).max() > 0.0


def test_driving_needs_neither_torch_nor_gymnasium():
    script = (
        "import sys; from agora.planners.learned.policy import PolicyPlanner; PolicyPlanner().policy; "
        "assert not {'torch', 'gymnasium'} & set(sys.modules), set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_every_policy_that_comes_along_drives_a_planner_and_says_how_it_was_trained():
    files = {make("planners", name).file: name for name in sorted(learned())}
    assert set(files) == set(policy_names())
    for name in files.values():
        assert {"steps", "seed"} <= make("planners", name).policy.about.keys(), name


@pytest.mark.parametrize(
    ("name", "head", "found"),
    [
        ("ppo.zip", b"PK\x03\x04" + bytes(60), "a zip archive, as Stable-Baselines3 and PyTorch save models"),
        ("net.pt", b"PK\x03\x04" + bytes(60), "a zip archive, as Stable-Baselines3 and PyTorch save models"),
        ("net.onnx", b"\x08\x07\x12\x07pytorch" + bytes(60), "an ONNX file"),
        ("net.pkl", b"\x80\x04\x95" + bytes(60), "a pickle, which Agora does not open"),
        ("net.h5", b"\x89HDF\r\n\x1a\n" + bytes(60), "an HDF5 file, as Keras saves models"),
    ],
)
def test_a_network_of_another_program_says_how_it_is_brought_in(tmp_path, monkeypatch, name, head, found):
    (tmp_path / name).write_bytes(head)
    monkeypatch.chdir(tmp_path)
    for file in (name, f"./{name}"):  # with and without a folder
        with pytest.raises(
            InputError, match=rf"{name}: {found}; expected a safetensors file: .*Policy.of_torch\(observe, layers\)"
        ):
            make("planners", "policy", file=file).policy  # noqa: B018
