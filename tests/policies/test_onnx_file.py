"""Policies as ONNX files: another runtime gives the same answers, and knows what the numbers of an observation are."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from safetensors.numpy import load, save

from agora.errors import InputError
from agora.interfaces import Shape
from agora.policies.encoding import Observe, to_twists
from agora.policies.joint_state import GOAL, PERSON, RADIUS, ROBOT, JointState
from agora.policies.look_ahead import LookAhead
from agora.policies.networks.ag_rl import AgRlNetwork
from agora.policies.networks.ds_rnn import DsRnnNetwork
from agora.policies.networks.sarl import SarlNetwork
from agora.policies.onnx_file import export_onnx
from agora.policies.policy import Layer, Policy, TrainedRobot, load_policy
from agora.policies.robot_and_people import RobotAndPeople
from agora.policies.weights import read_weights
from agora.registry import make
from agora.testing.scenes import observation

SEE = Observe(beams=7, pedestrians=2)


def random_policy(rng, *sizes_and_activations):
    layers, size = [], SEE.length
    for outputs, activation in sizes_and_activations:
        weight = rng.normal(0, 0.4, (size, outputs)).astype(np.float32)
        layers.append(Layer(weight, rng.normal(0, 0.2, outputs).astype(np.float32), activation))
        size = outputs
    return Policy.of_layers(SEE, tuple(layers), {"steps": "12"})


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
        assert run(tmp_path / "sub" / "one.onnx", seen)[1] == pytest.approx(np.clip(policy(seen), -1, 1), abs=5e-6)


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
    assert run(tmp_path / "hall.onnx", seen)[1] == pytest.approx(np.clip(policy(seen), -1, 1), abs=1e-5)


def test_a_missing_package_and_a_folder_that_cannot_be_written_are_said(rng, tmp_path, monkeypatch):
    policy = random_policy(rng, (2, "tanh"))
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        export_onnx(policy, tmp_path / "file" / "one.onnx")
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(InputError, match=r"-m pip install .*'onnx>="):
        export_onnx(policy, tmp_path / "one.onnx")


def answers(path, **inputs):
    """All outputs of a file by name."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True))


def notes(path):
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).get_modelmeta().custom_metadata_map


def emptied(states, people):
    """Joint states of at most ``people`` people in the first row, one fewer in the next and so on, down to 0 and again."""
    out, slots = states.copy(), (states.shape[1] - ROBOT) // PERSON
    for n, row in enumerate(out):
        left = max(people - n % (people + 1), 0)
        row[ROBOT + PERSON * left : ROBOT + PERSON * slots] = 0.0
    return out


@pytest.mark.parametrize(("outputs", "max_vy"), [(2, 0.0), (3, 0.4)])
def test_a_policy_that_knows_its_robot_answers_twists_too(rng, tmp_path, outputs, max_vy):
    limits = observation(rows=5, max_vy=max_vy).limits
    fastest = [float(one[0]) for one in (limits.min_vx, limits.max_vx, limits.max_vy, limits.max_omega)]
    policy = replace(random_policy(rng, (9, "relu"), (outputs, "none")), body=TrainedRobot(*fastest), period=0.2)
    export_onnx(policy, tmp_path / "one.onnx")
    seen = rng.uniform(-2, 2, (5, SEE.length)).astype(np.float32)
    found = answers(tmp_path / "one.onnx", observation=seen)
    assert np.abs(policy(seen)).max() > 1.0  # some are cut
    assert found["twist"] == pytest.approx(to_twists(policy(seen), limits), abs=1e-5)
    assert json.loads(notes(tmp_path / "one.onnx")["body"])["max_vx"] == fastest[1]
    assert "rad/s" in json.loads(notes(tmp_path / "one.onnx")["outputs"])["twist"]


VALUES = ("cadrl", "lstm_rl", "sa_cadrl", "sarl")


def value_policy(network, see=JointState(), about=None):  # noqa: B008
    return network.learner(Shape(see, 2)).policy(about or {})


@pytest.fixture(scope="module", params=VALUES)
def value(request, tmp_path_factory):
    """A random value policy and its file."""
    torch.manual_seed(5)
    policy = value_policy(make("networks", request.param, width=0.2), about={"seed": "5"})
    path = tmp_path_factory.mktemp("value") / "one.onnx"
    export_onnx(policy, path)
    return policy, path


@pytest.mark.parametrize("rows", [1, 7])
@pytest.mark.parametrize("people", [0, 1, 5])
def test_a_value_policy_promises_and_chooses_the_same(value, rows, people):
    policy, path = value
    for seed in range(4):
        crooked = policy.observe(observation(rows=rows, pedestrians=8, max_vy=0.4, seed=seed))
        states = emptied(crooked, people)
        found, promised = answers(path, state=states), policy.network.returns(policy.arrays, states)
        assert found["promised"] == pytest.approx(promised, abs=1e-5)
        best, second = np.sort(promised, 1)[:, -1], np.sort(promised, 1)[:, -2]
        told_apart = best - second > 1e-5
        assert told_apart.mean() > 0.5 or people == 0
        if people == 0:
            told_apart[:] = True  # straight to the goal, whatever is promised
        assert found["velocity"][told_apart] == pytest.approx(policy(states)[told_apart], abs=1e-6)


def test_a_value_policy_does_not_stop_short_of_the_goal_and_feels_contacts(value):
    policy, path = value
    states = policy.observe(observation(rows=7, pedestrians=8, max_vy=0.4, seed=2))
    states[:4, GOAL] = (0.0, 0.1, 0.29, 0.4)
    states[:4, RADIUS] = 0.3
    states[4, ROBOT : ROBOT + 5] = (0.4, 0.0, 0.0, 0.0, 0.3)  # touches the robot
    states[5, ROBOT : ROBOT + 5] = (0.7, 0.0, -1.0, 0.0, 0.3)  # will
    found = answers(path, state=states)
    rates = policy.network.returns(policy.arrays, states)
    assert found["promised"] == pytest.approx(rates, abs=1e-5)
    assert found["velocity"][:3] == pytest.approx(np.float32([[0, 0], [0.4, 0], [1, 0]]), abs=1e-6)
    assert policy(states)[:3] == pytest.approx(found["velocity"][:3], abs=1e-6)


def test_other_candidates_and_more_people_are_exported_too(tmp_path):
    torch.manual_seed(6)
    ahead = LookAhead(speeds=2, headings=6, step=0.4, discount=0.8, collision=-1.0, discomfort_distance=0.5, norm=0.7, side="left")
    see = JointState(people=2, trained_speed=0.7)
    policy = value_policy(SarlNetwork(0.1, ahead), see)
    export_onnx(policy, tmp_path / "one.onnx")
    states = see(observation(rows=5, pedestrians=8, max_vy=0.4, seed=3))
    promised = policy.network.returns(policy.arrays, states)
    assert answers(tmp_path / "one.onnx", state=states)["promised"] == pytest.approx(promised, abs=1e-5)
    said = notes(tmp_path / "one.onnx")
    assert np.float32(json.loads(said["candidates"])).tobytes() == ahead.velocities.tobytes()
    assert json.loads(said["ahead"])["step"] == 0.4 and json.loads(said["observe"])["people"] == 2


def test_the_file_of_a_value_policy_says_what_a_state_is(value):
    policy, path = value
    said = notes(path)
    parts, units = json.loads(said["parts"]), json.loads(said["units"])
    assert (said["format"], said["encoding"], said["seed"]) == ("agora.policy", "joint_state", "5") and said["network"] in VALUES
    assert sorted(k for first, last in parts.values() for k in range(first, last)) == list(range(policy.observe.length))
    assert parts.keys() == units.keys() and "towards the goal" in said["frame"]


@pytest.mark.parametrize("network", [AgRlNetwork, DsRnnNetwork])
@pytest.mark.parametrize("places_only", [True, False])
@pytest.mark.parametrize("rows", [1, 7])
def test_a_policy_with_a_memory_answers_and_remembers_the_same(tmp_path, rows, places_only, network):
    torch.manual_seed(4)
    see = RobotAndPeople(people=5, trained_speed=0.8, places_only=places_only)
    actor = network(width=0.1).learner(Shape(see, 2, period=0.4)).policy({"seed": "4"})
    actor.arrays["actor.2.bias"][:] = (1.2, -0.9) if places_only else (0.0, 0.0)
    export_onnx(actor, tmp_path / "one.onnx")
    mine = theirs = np.zeros((rows, actor.state_size), np.float32)
    shift = np.random.default_rng(3)
    o = observation(rows=rows, pedestrians=8, max_vy=0.4, seed=6)
    here, ahead = np.zeros((rows, 3), np.float32), np.float32([[1, 0, 0]] * rows)
    lengths = []
    for people in (5, 1, 0, 5, 5):
        moved = replace(o, pose=o.pose + shift.uniform(-0.5, 0.5, o.pose.shape).astype(np.float32))  # others become the nearest
        seen = emptied(see(moved), people)
        action, mine = actor.step(seen, mine)
        found = answers(tmp_path / "one.onnx", observation=seen, memory=theirs)
        theirs = found["next_memory"]
        assert found["action"] == pytest.approx(action, abs=1e-5)
        assert theirs == pytest.approx(mine, abs=1e-5)
        velocity = see.velocities(action, o.limits, here, ahead) / see.scale(o.limits)[:, None]
        assert found["velocity"] == pytest.approx(velocity, abs=1e-5)
        lengths += np.hypot(*action.T).tolist()
    assert (min(lengths) > 1.0) == places_only and (max(lengths) < 1.0) != places_only  # long ones are shortened
    said = notes(tmp_path / "one.onnx")
    assert (said["encoding"], json.loads(said["period"]), json.loads(said["observe"])["places_only"]) == (
        "robot_and_people",
        0.4,
        places_only,
    )


def test_a_file_uses_no_operators_but_those_of_opset_17(value):
    model = onnx.load(value[1])
    assert [(one.domain, one.version) for one in model.opset_import] == [("", 17)]
    assert {node.domain for node in model.graph.node} == {""}


@pytest.mark.parametrize("name", ["hall", "sarl", "ds_rnn", "ga3c_cadrl"])
def test_the_header_of_a_file_names_its_network_and_encoding(tmp_path, name):
    policy, path = load_policy(name), tmp_path / "again.safetensors"
    policy.save(path)
    again, said = load_policy(path), read_weights(path)[0]
    assert (again.network, again.observe, again.body, again.period) == (policy.network, policy.observe, policy.body, policy.period)
    assert make("networks", json.loads(said)["network"]["name"]).__class__ is policy.network.__class__
    assert make("encodings", json.loads(said)["observe"]["name"]).__class__ is policy.observe.__class__
    assert {key: array.tobytes() for key, array in again.arrays.items()} == {
        key: array.tobytes() for key, array in policy.arrays.items()
    }


@pytest.mark.parametrize(
    ("format_", "version", "message"),
    [
        ("agora.policy", "8", "got agora.policy 8$"),
        *((f"agora.{kind}", "1", f"got agora.{kind} 1; a file of an earlier") for kind in ("actor", "ga3c", "policy", "value")),
        ("ycilop.aroga", "2", "got ycilop.aroga 2$"),
    ],
)
def test_a_file_of_another_version_or_format_is_refused_by_name(tmp_path, format_, version, message):
    path = tmp_path / "own.safetensors"
    random_policy(np.random.default_rng(1), (2, "tanh")).save(path)
    path.write_bytes(
        save(load(path.read_bytes()), metadata={"format": format_, "version": version, "policy": read_weights(path)[0]})
    )
    with pytest.raises(InputError, match=f"own.safetensors: expected a file of agora.policy 2, {message}"):
        load_policy(path)


def test_a_damaged_file_and_none_are_refused_by_name(tmp_path):
    path = tmp_path / "own.safetensors"
    random_policy(np.random.default_rng(1), (2, "tanh")).save(path)
    path.write_bytes(path.read_bytes()[:99])
    with pytest.raises(InputError, match="not a safetensors file"):
        load_policy(path)
    with pytest.raises(InputError, match="there is no such file"):
        load_policy(tmp_path / "none.safetensors")
