"""Value policies: their networks are those of PyTorch, their look-ahead is that of CrowdNav's code, their files are strict."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.numpy import load, save

from agora.costmap.window import Window
from agora.errors import InputError, UnknownNameError
from agora.interfaces import Costmap, Shape
from agora.planners.learned.crowdnav import Sarl, SarlStar
from agora.policies.joint_state import PERSON, ROBOT, JointState
from agora.policies.look_ahead import LookAhead, look_ahead, norm_rewards, pairs_of, present_in, wrong_side
from agora.policies.networks.value import to_robot_frame
from agora.policies.policy import load_policy
from agora.registry import make
from agora.testing.scenes import observation


def learner_of(name, width=0.3):
    return make("networks", name, width=width).learner(Shape(JointState(), 2))


@pytest.fixture(params=["cadrl", "lstm_rl", "sa_cadrl", "sarl"])
def module(request):
    torch.manual_seed(7)
    return learner_of(request.param)


@pytest.fixture
def policy(module):
    return module.policy({"label": "small", "seed": "7"})


def values(policy, pairs, present):
    return policy.network.values(policy.arrays, pairs, present)


def returns(policy, seen):
    return policy.network.returns(policy.arrays, seen)


def chosen(policy, seen, allowed=None):
    return policy.network.choose(policy.arrays, seen, allowed)


def states(rows=7, people=5, seed=3):
    return JointState(people=people)(observation(rows=rows, pedestrians=8, max_vy=0.4, seed=seed))


def state_of(*people, goal=4.0, speed=1.0, radius=0.3):
    """The state of a robot that stands, with people (x, y, vx, vy, radius) in its goal frame."""
    return np.float32([[goal, speed, radius, 0, 0, 1, 0, *(value for person in people for value in (*person, 1.0))]])


def test_values_are_those_of_torch_with_any_number_of_people(module, policy):
    pairs, _ = pairs_of(states())
    present = np.arange(5) < np.array([0, 1, 2, 3, 4, 5, 5])[:, None]
    theirs = module(torch.from_numpy(pairs), torch.from_numpy(present)).detach().numpy()
    assert values(policy, pairs, present) == pytest.approx(theirs, abs=2e-6)


def test_a_row_knows_of_no_other_and_an_empty_place_counts_nothing(policy):
    seen = states()
    whole = returns(policy, seen)
    assert returns(policy, seen[2:3]).tobytes() == whole[2:3].tobytes()
    padded = np.hstack([seen, np.zeros((7, 2 * PERSON), np.float32)])
    assert returns(policy, padded).tobytes() == whole.tobytes()


def test_the_order_of_people_means_nothing_to_those_who_pool_them():
    torch.manual_seed(1)
    pairs, present = pairs_of(states())
    order = [3, 0, 4, 2, 1]
    for name in ("sarl", "cadrl", "sa_cadrl"):
        policy = learner_of(name).policy({})
        assert values(policy, pairs[:, order], present[:, order]) == pytest.approx(values(policy, pairs, present), abs=1e-6)


def pair_of(robot, person, goal=4.0):
    """The pair of a robot with a velocity and a person (x, y, vx, vy), both of 0.3 m, in the robot's goal frame."""
    x, y, vx, vy = person
    return np.float32([goal, 1.0, 0.0, 0.3, *robot, x, y, vx, vy, 0.3, math.hypot(x, y), 0.6])


WRONG = {
    "meets somebody on its right, and goes left": ((0.9, 0.1), (3.0, -1.0, -1.0, 0.05)),
    "meets somebody exactly opposite on its right": ((0.9, 0.1), (4.9, -1.9, -1.0, 0.0)),
    "overtakes on the right": ((0.9, -0.1), (2.0, 0.5, 0.5, 0.0)),
    "is overtaken on its right, and goes left": ((0.4, 0.1), (-1.0, -0.5, 0.9, 0.1)),
    "passes behind who comes from the left": ((0.9, 0.0), (2.0, 0.5, 0.0, -0.5)),
    "passes in front of who comes from the right": ((0.9, 0.0), (2.0, -1.5, 0.0, 0.5)),
}
RIGHT = {
    "meets somebody on its left": ((0.9, 0.1), (3.0, 1.0, -1.0, 0.05)),
    "meets somebody on its right, and goes right": ((0.9, -0.1), (3.0, -1.0, -1.0, 0.05)),
    "meets somebody far away": ((0.9, 0.1), (5.1, -1.0, -1.0, 0.0)),
    "meets somebody more than 30 degrees off": ((0.9, 0.1), (3.0, -1.0, -0.8, 0.6)),
    "overtakes on the left": ((0.9, 0.1), (2.0, 0.5, 0.5, 0.0)),
    "follows at the same speed": ((0.55, -0.05), (2.0, 0.5, 0.5, 0.0)),
    "stands": ((0.0, 0.0), (3.0, -1.0, -1.0, 0.0)),
    "meets somebody who stands": ((0.9, 0.1), (3.0, -1.0, 0.0, 0.0)),
    "passes in front of who comes from the left": ((0.9, 0.0), (2.0, 1.5, 0.0, -0.5)),
    "lets pass who comes from the right": ((0.9, 0.0), (2.0, -0.5, 0.0, 0.5)),
}


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG.keys())
def test_these_break_the_norm_to_keep_right(case):
    assert wrong_side(pair_of(*case)[None]).tolist() == [True]
    assert wrong_side(pair_of(*case, goal=0.9)[None]).tolist() == [False]  # near the goal anything goes


@pytest.mark.parametrize("case", RIGHT.values(), ids=RIGHT.keys())
def test_these_keep_right(case):
    assert wrong_side(pair_of(*case)[None]).tolist() == [False]


def test_who_keeps_left_is_who_keeps_right_in_a_mirror():
    pairs, _ = pairs_of(states(rows=400))
    pairs = pairs.reshape(-1, pairs.shape[-1])
    mirrored = pairs * np.where(np.isin(np.arange(13), (5, 7, 9)), np.float32(-1), np.float32(1))
    broken = wrong_side(pairs)
    assert 0.02 < broken.mean() < 0.5
    assert wrong_side(mirrored, "left").tolist() == broken.tolist()


def test_a_step_on_the_wrong_side_costs_a_share_of_what_driving_straight_gains():
    """Half of the value of the metre between 4 m and 3 m, for a quarter of a second."""
    seen, ahead = state_of((3.0, -1.0, -1.0, 0.0, 0.3)), LookAhead(norm=0.5)
    pairs, with_norm, _ = look_ahead(seen, ahead)
    cost = with_norm - look_ahead(seen, LookAhead())[1]
    broken = wrong_side(pairs[0, :, 0])
    assert 0 < broken.sum() < len(broken)
    assert cost[0] == pytest.approx(np.where(broken, -0.5 * 0.25 * (0.9**3 - 0.9**4), 0.0), abs=1e-6)
    after = np.hstack(
        [pairs[0, :, 0][:, [0, 1, 3, 4, 5]], np.ones((81, 1)), np.zeros((81, 1)), pairs[0, :, 0, 6:11], np.ones((81, 1))]
    )
    assert norm_rewards(np.repeat(seen, 81, 0), after.astype(np.float32), ahead) == pytest.approx(cost[0], abs=1e-6)


def test_the_candidates_are_those_of_crowdnav():
    velocities = LookAhead().velocities
    assert velocities.shape == (81, 2)
    speeds = [(math.exp((i + 1) / 5) - 1) / (math.e - 1) for i in range(5)]
    assert sorted({round(float(np.hypot(*v)), 5) for v in velocities}) == pytest.approx([0.0, *speeds], abs=1e-5)
    assert velocities[LookAhead().straight].tolist() == pytest.approx([1.0, 0.0])
    assert np.hypot(*velocities[1:].mean(0)) == pytest.approx(0.0, abs=1e-6)  # headings all around


def test_a_step_is_rewarded_as_in_crowdnav():
    ahead, straight = LookAhead(), LookAhead().straight
    assert look_ahead(state_of((0.8, 0.0, -1.0, 0.0, 0.3)), ahead)[1][0, straight] == -0.25  # they meet during the step
    _, rewards, _ = look_ahead(state_of((0.0, 0.7, 0.0, 0.0, 0.3)), ahead)
    assert rewards[0, 0] == pytest.approx(-0.5 * 0.25 * (0.2 - 0.1), abs=1e-6)  # it stands .1 m from a person
    assert rewards[0, 4 * ahead.speeds + ahead.straight] == -0.25  # a quarter turn to the left, into the person
    _, rewards, _ = look_ahead(state_of((3.0, 3.0, 0.0, 0.0, 0.3), goal=0.5), ahead)
    assert rewards[0, straight] == 1.0  # .25 m are left, less than the radius
    assert rewards[0, 0] == 0.0


def test_people_keep_their_velocity_and_the_frame_turns_with_the_goal():
    ahead = LookAhead()
    left = 4 * ahead.speeds + ahead.straight  # 1 m/s at a right angle to the goal's direction
    pairs, _, discounts = look_ahead(state_of((1.0, 2.0, -0.4, 0.2, 0.35), goal=3.0, speed=0.8), ahead)
    assert discounts[0] == pytest.approx(0.9 ** (0.25 * 0.8), rel=1e-5)
    moved, goal = np.array([0.9, 2.05]) - (0.0, 0.2), np.array([3.0, -0.2])
    ex = goal / np.hypot(*goal)
    into = np.array([ex, [-ex[1], ex[0]]])
    expected = [
        np.hypot(*goal),
        0.8,
        0,
        0.3,
        *(into @ (0, 0.8)),
        *(into @ moved),
        *(into @ (-0.4, 0.2)),
        0.35,
        np.hypot(*moved),
        0.65,
    ]
    assert pairs[0, left, 0] == pytest.approx(expected, abs=1e-5)


def test_it_chooses_what_promises_most_of_what_is_allowed(policy):
    seen = states()
    promised = returns(policy, seen)
    best = policy.network.ahead.velocities[promised.argmax(1)] * seen[:, 1:2]
    assert chosen(policy, seen) == pytest.approx(best)
    allowed = np.ones(promised.shape, bool)
    allowed[np.arange(7), promised.argmax(1)] = False
    second = np.where(allowed, promised, -np.inf).argmax(1)
    assert chosen(policy, seen, allowed) == pytest.approx(policy.network.ahead.velocities[second] * seen[:, 1:2])


def test_alone_and_on_its_last_step_it_goes_straight_to_the_goal_and_does_not_stop_short_of_it(policy):
    nobody = (0.0,) * 5
    alone = state_of(nobody, goal=5.0)
    alone[0, ROBOT + PERSON - 1] = 0.0
    assert chosen(policy, alone).tolist() == [[1.0, 0.0]]
    near = state_of((2.0, 2.0, 0.0, 0.0, 0.3), goal=0.1)
    assert chosen(policy, near)[0].tolist() == pytest.approx([0.4, 0.0])  # .1 m in .25 s


def test_velocities_turn_into_the_robots_frame():
    seen = state_of((2.0, 2.0, 0.0, 0.0, 0.3))
    seen[0, 5:7] = math.cos(0.7), math.sin(0.7)  # it faces .7 rad to the left of the goal
    assert to_robot_frame(np.float32([[0.5, 0.0]]), seen)[0] == pytest.approx([0.5 * math.cos(0.7), -0.5 * math.sin(0.7)])


def test_a_velocity_into_a_wall_is_left_out_and_one_along_it_is_not(tmp_path, policy):
    policy.save(tmp_path / "own.safetensors")
    planner = SarlStar(file=str(tmp_path / "own.safetensors"), window=Window(size=4.0, resolution=0.1, sources=("map",)))
    cost = np.zeros((1, 40, 40), np.uint8)
    cost[0, :, 27] = 254  # cells from x = .7 to .8 m of the robot, which stands in the middle
    o = observation(rows=1, pedestrians=3, max_vy=1.0)
    o = replace(o, pose=np.float32([[3.0, -2.0, 0.4]]), goal=np.float32([[9.0, -2.0, 0.0]]))
    o = replace(o, costmap=Costmap(cost, np.float32([[1.0, -4.0]]), 0.1), radius=np.float32([0.3]))
    [open_] = planner._open_candidates(o, policy.see(o), np.float32([1.0]))
    straight, left = policy.network.ahead.straight, 4 * policy.network.ahead.speeds + policy.network.ahead.straight
    assert open_[0] and open_[left] and not open_[straight]
    assert open_[1]  # .13 m/s leads to .13 m in the second that it looks ahead, .27 m before the wall's face
    back = 8 * policy.network.ahead.speeds + policy.network.ahead.straight
    inside = replace(o, pose=np.float32([[3.5, -2.0, 0.4]]))  # its disc reaches into the wall
    [open_] = planner._open_candidates(inside, policy.see(inside), np.float32([1.0]))
    assert open_[back] and not open_[straight]


def zeros(*shape):
    return np.zeros(shape, np.float32)


def changed(path, arrays=None, **metadata):
    content = load(path.read_bytes())
    header = json.loads(path.read_bytes()[8 : 8 + int.from_bytes(path.read_bytes()[:8], "little")])["__metadata__"]
    path.write_bytes(save({**content, **(arrays or {})}, metadata=header | metadata))


def said(**changes):
    whole = {"network": {"name": "sarl", "width": 0.3}, "observe": {"name": "joint_state", "people": 5}}
    return json.dumps({name: part | changes.get(name, {}) for name, part in whole.items()})


@pytest.mark.parametrize("wrong", [{"speeds": 0}, {"headings": -3}, {"step": 0.0}, {"discount": 0.0}, {"reached": math.nan}])
def test_a_look_ahead_that_makes_no_sense_is_refused_by_name(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        LookAhead(**wrong)


def test_what_was_saved_is_read_back(tmp_path, policy):
    path = tmp_path / "own" / "one.safetensors"
    policy.save(path)
    read = load_policy(path)
    assert (read.network, read.observe, dict(read.about), read.label) == (
        policy.network, policy.observe, {"label": "small", "seed": "7"}, "small",
    )  # fmt: skip
    assert returns(read, states()).tobytes() == returns(policy, states()).tobytes()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (lambda p: p.write_bytes(p.read_bytes()[:200]), "not a safetensors file"),
        (lambda p: p.write_bytes(b"\x80\x04pickle"), "a pickle, which Agora does not open"),
        (lambda p: changed(p, version="3"), "expected a file of agora.policy 2, got agora.policy 3"),
        (lambda p: changed(p, policy=said(network={"name": "sarle"})), "no network called 'sarle'.*sarl"),
        (lambda p: changed(p, policy=said(network={"ahead": {"speeds": 0}})), "speeds: expected an integer in"),
        (lambda p: changed(p, policy=said(observe={"name": "observe"})), "observe.people: unknown key"),
        (lambda p: changed(p, policy=said(observe={"people": 0})), "people"),
        (lambda p: changed(p, policy=said(observe={"peoples": 5})), "peoples.*people"),
        (lambda p: changed(p, {"mlp3.0.weight": zeros(5, 45)}), r"mlp3.0.weight: expected the shape \(21, 45\), got \(5, 45\)"),
        (lambda p: changed(p, {"mlp1.0.bias": zeros(44)}), r"mlp1.0.bias: expected the shape \(45,\), got \(44,\)"),
        (lambda p: changed(p, {"attention.0.weight": zeros(30, 30)}), r"attention.0.weight: expected the shape \(60, 30\)"),
        (lambda p: changed(p, {"mlp1.0.bias": zeros()}), r"mlp1.0.bias: expected the shape \(45,\), got \(\)"),
        (lambda p: changed(p, {"more": zeros(1)}), "weight more is not part of SarlNetwork"),
        (lambda p: changed(p, {"mlp1.0.bias": np.full(45, np.nan, np.float32)}), "mlp1.0.bias must be finite"),
        (lambda p: changed(p, {"mlp1.0.bias": np.zeros(45)}), "mlp1.0.bias must be finite float32, got float64"),
        (lambda p: p.unlink(), "no such file|cannot be read"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_by_name(tmp_path, how, message):
    path = tmp_path / "one.safetensors"
    learner_of("sarl").policy({}).save(path)
    how(path)
    with pytest.raises(InputError, match=message) as error:
        load_policy(path)
    assert str(path) in str(error.value)


def test_a_label_is_one_of_the_labels(policy):
    with pytest.raises(InputError, match="label must be one of faithful, small"):
        _ = replace(policy, about={"label": "perfect"}).label
    with pytest.raises(UnknownNameError, match="no policy called 'sarll'"):
        Sarl(file="sarll").policy  # noqa: B018


def test_present_people_are_those_with_a_one():
    assert present_in(states()).tolist() == [[bool(row[ROBOT + PERSON * p + 5]) for p in range(5)] for row in states()]


def test_driving_needs_neither_torch_nor_gymnasium():
    script = (
        "import sys; from agora.planners.learned.crowdnav import Sarl; Sarl().policy; "
        "assert not {'torch', 'gymnasium'} & set(sys.modules), set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
