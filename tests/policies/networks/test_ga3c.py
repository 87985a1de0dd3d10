"""GA3C-CADRL's policies: what they see, what their actions mean, and their files."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch
from safetensors.numpy import load, save

from agora.errors import InputError
from agora.interfaces import Shape
from agora.policies.agents import CHOICES, Agents
from agora.policies.joint_state import PERSON, ROBOT
from agora.policies.networks.ga3c import Ga3cNetwork, read
from agora.policies.policy import Policy, load_policy
from agora.robots.model import load_robot
from agora.testing.scenes import Move, observation

SEE = Agents(people=3, reach=9.5, preferred_speed=0.9)
ABOUT = {"label": "small", "training": "ga3c_cadrl", "seed": "4", "steps": "20"}


@pytest.fixture
def policy():
    torch.manual_seed(4)
    network = Ga3cNetwork(width=0.1).learner(Shape(SEE, 2, period=0.2))
    torch.nn.init.normal_(network.choice.weight, 0.0, 0.5)
    return network.policy(ABOUT)


@pytest.fixture
def file(tmp_path, policy):
    path = tmp_path / "own" / "one.safetensors"
    policy.save(path)
    return path


def scores_of(policy, seen):
    return policy.network.scores(policy.arrays, seen)


def test_the_eleven_actions_are_the_published_ones():
    degrees = [(float(speed), round(math.degrees(float(turn) * math.pi / 6.0), 9)) for speed, turn in CHOICES]
    fast = [(1.0, turn) for turn in (-30.0, -15.0, 0.0, 15.0, 30.0)]
    assert degrees == fast + [(speed, turn) for speed in (0.5, 0.0) for turn in (-30.0, 0.0, 30.0)]


def test_the_numbers_that_the_network_reads_are_scaled_as_published():
    row = np.zeros((1, Agents(people=2).length), np.float32)
    row[0, :7] = 4.0, 1.0, 0.3, 0.7, 0.1, 0.0, 1.0
    row[0, ROBOT : ROBOT + PERSON] = 3.0, -4.0, 0.5, -0.25, 0.4, 1.0
    host, others, present = read(row)
    assert host[0] == pytest.approx([4.0 / 5.0, 0.5 * math.pi / 3.14, 0.0, -0.2], abs=1e-6)
    assert others[1, 0] == pytest.approx([0.6, -0.8, 0.5, -0.25, -0.1, 0.7 / 5.0, 5.0 - 0.7 - 1.0], abs=1e-6)
    assert present.tolist() == [[False], [True]]


def test_the_nearest_others_are_read_last_and_people_and_robots_alike():
    o = observation(rows=6, pedestrians=7)
    see = Agents(people=4)
    slots = see(o)[:, ROBOT:].reshape(6, 4, PERSON)
    away = np.where(slots[..., -1] > 0, np.hypot(slots[..., 0], slots[..., 1]), np.inf)
    assert (np.diff(away[:, ::-1], axis=1)[np.isfinite(away[:, 1:][:, ::-1])] <= 1e-6).all()
    _, others, present = read(see(o))
    apart = np.where(present, others[..., 6], np.inf)
    assert np.isfinite(apart[-1]).all() and (apart[-1] <= apart[0]).all()
    assert see.needs == {"pedestrians", "robots"}


def test_a_row_does_not_depend_on_the_others_to_the_bit(policy):
    seen = SEE(observation(rows=7, pedestrians=5))
    scores = scores_of(policy, seen)
    for rows in (slice(0, 1), slice(3, 4), slice(2, 7)):
        assert scores_of(policy, np.ascontiguousarray(seen[rows])).tobytes() == scores[rows].tobytes()


def test_who_is_not_there_changes_nothing_and_more_slots_neither(policy):
    seen = SEE(observation(rows=5, pedestrians=1))
    empty = seen[:, ROBOT:].reshape(5, 3, PERSON)[..., -1] == 0.0
    other = seen.copy()
    other[:, ROBOT:].reshape(5, 3, PERSON)[empty, :-1] = 7.7
    wide = np.concatenate([seen, np.zeros((5, 2 * PERSON), np.float32)], 1)
    assert empty.any()
    for one in (other, wide):
        assert scores_of(policy, one).tobytes() == scores_of(policy, seen).tobytes()


def test_what_is_seen_does_not_depend_on_how_the_map_is_turned():
    here, there = (SEE(observation(rows=5, move=move)) for move in (Move(), Move(dx=14.0, dy=-9.1, turn=-1.3)))
    assert there == pytest.approx(here, abs=1e-4)


def test_an_action_turns_by_its_heading_change_within_the_period_and_drives_at_its_share_of_the_preferred_speed():
    see, limits = Agents(preferred_speed=0.8), load_robot("crowdnav").limits(11)
    twists = see.twists(CHOICES, limits, np.zeros((11, 3), np.float32), np.ones((11, 3), np.float32))
    assert twists[:, 0] == pytest.approx(0.8 * CHOICES[:, 0]) and not twists[:, 1].any()
    assert twists[:, 2] * 0.2 == pytest.approx(CHOICES[:, 1] * math.pi / 6.0, abs=1e-6)
    back = see.actions(twists, limits, np.zeros((11, 3), np.float32), np.ones((11, 3), np.float32))
    assert back == pytest.approx(CHOICES, abs=1e-6)
    wild = see.twists(np.float32([[3.0, -9.0], [-1.0, 0.0]]), load_robot("crowdnav").limits(2), np.zeros((2, 3)), np.ones((2, 3)))
    assert wild[0] == pytest.approx([0.8, 0.0, -math.pi / 6.0 / 0.2], abs=1e-5) and not wild[1].any()
    slow = see.twists(CHOICES, load_robot("rlca").limits(11), np.zeros((11, 3)), np.ones((11, 3)))
    assert np.abs(slow[:, 2]).max() == pytest.approx(1.0)


def test_robots_that_cannot_take_every_action_are_not_trained():
    Agents().check(load_robot("crowdnav"))
    for name in ("rlca", "f1tenth"):
        with pytest.raises(InputError, match=f"robot {name!r} cannot turn by 30 degrees in place in 0.2 s"):
            Agents().check(load_robot(name))
    with pytest.raises(InputError, match="period: expected a number above 0"):
        Agents(period=0.0)


def changed(path, arrays=None, **metadata):
    content = load(path.read_bytes())
    kept = {name: array for name, array in {**content, **(arrays or {})}.items() if array is not None}
    path.write_bytes(save(kept, metadata=header(path) | metadata))


def header(path):
    whole = path.read_bytes()
    return json.loads(whole[8 : 8 + int.from_bytes(whole[:8], "little")])["__metadata__"]


def said(path, **changes):
    whole = json.loads(header(path)["policy"])
    changed(path, policy=json.dumps(whole | {name: whole[name] | new for name, new in changes.items()}))


def test_what_was_saved_is_read_back(file, policy):
    read_back, seen = load_policy(file), SEE(observation(rows=4))
    assert (read_back.observe, dict(read_back.about), read_back.label) == (SEE, ABOUT, "small")
    assert scores_of(read_back, seen).tobytes() == scores_of(policy, seen).tobytes()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (lambda p: p.write_bytes(p.read_bytes()[:200]), "not a safetensors file"),
        (lambda p: p.write_bytes(b"\x80\x04pickle"), "a pickle, which Agora does not open"),
        (lambda p: changed(p, version="7"), "expected a file of agora.policy 2, got agora.policy 7"),
        (lambda p: changed(p, {"lstm.weight": np.zeros((6, 24), np.float32)}), r"lstm.weight: expected the shape \(7, 24\), got"),
        (lambda p: changed(p, {"lstm.state_weight": np.zeros(0, np.float32)}), "expected the shape"),
        (lambda p: changed(p, {"lstm.state_weight": np.zeros((), np.float32)}), "expected the shape"),
        (lambda p: changed(p, {"hidden.0.bias": np.zeros((), np.float32)}), "expected the shape"),
        (lambda p: changed(p, {"choice.bias": np.zeros(9, np.float32)}), r"choice.bias: expected the shape \(11,\), got \(9,\)"),
        (lambda p: changed(p, {"choice.bias": np.full(11, np.nan, np.float32)}), "weight choice.bias must be finite float32"),
        (lambda p: changed(p, {"choice.bias": np.zeros(11)}), "weight choice.bias must be finite float32, got float64"),
        (lambda p: changed(p, {"lstm.state_bias": None}), "weight lstm.state_bias is missing"),
        (lambda p: changed(p, {"critic.bias": np.zeros(1, np.float32)}), "weight critic.bias is not part of Ga3cNetwork"),
        (lambda p: said(p, observe={"people": 0}), "people: expected an integer"),
        (lambda p: said(p, observe={"people": 10**12}), "people: expected an integer"),
        (lambda p: said(p, observe={"period": 0.0}), "period: expected a number above 0"),
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


def test_weights_without_a_file_and_names_are_refused_alike(policy):
    with pytest.raises(InputError, match="weight lstm.bias is missing"):
        Policy(SEE, policy.network, {name: array for name, array in policy.arrays.items() if name != "lstm.bias"})
