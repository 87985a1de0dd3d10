"""Cloning comes to do what its driver does, from a planner or from files, and repeats its curve after an interruption."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.learning.trainers.runs import Interrupted, Notes, trained
from tests.suites import plane

from agora.errors import InputError
from agora.interfaces import Observation
from agora.learning.demonstrations import read_samples
from agora.learning.trainers.cloning import Cloning
from agora.learning.trainers.imitation import Lessons
from agora.policies.encoding import Observe, to_twists
from agora.policies.networks.mlp import Mlp
from agora.robots.model import load_robot

BLIND = Observe(beams=0, goal_range=8.0)
SUITE = plane(robots={"name": "random", "distance": 3.0}, robot="jackal", timeout=5.0)
LESSONS = Lessons("go_to_goal", rounds=6, mixing=0, worlds=8, horizon=12, updates=40, batch=4, rate=0.01, value_weight=0.0)
SMALL = Cloning(network=Mlp((24,), "tanh"), observe=BLIND, lessons=LESSONS, lap=2)


def demonstration(rng: np.random.Generator, count: int, beams: int = 720) -> dict[str, np.ndarray]:
    """A robot that always turns to its goal, faster the more it lies aside, and drives at 1 m/s."""
    goal = rng.uniform(-4, 4, (count, 2)).astype(np.float32)
    command = np.column_stack([np.ones(count), np.zeros(count), np.arctan2(goal[:, 1], goal[:, 0])]).astype(np.float32)
    scan = rng.uniform(0.5, 9.0, (count, beams)).astype(np.float32)
    return {"scan": scan, "twist": np.roll(command, 1, 0), "local_goal": goal, "command": command}


def test_a_network_comes_to_do_what_the_planner_does():
    notes = trained(SMALL, SUITE, "plane")
    errors = [values["action_loss"] for _, values in notes.curve]
    assert errors[-1] < 0.2 * errors[0]
    assert all(values["teacher_drives"] == 1.0 for _, values in notes.curve)
    assert notes.validated[:3] == [1, 2, 4]


@pytest.mark.parametrize("mixing", [0, 4])
def test_a_training_that_was_interrupted_comes_to_the_same_curve_and_network(mixing):
    cloning = dataclasses.replace(SMALL, lessons=dataclasses.replace(LESSONS, mixing=mixing, memory=3))
    whole = trained(cloning, SUITE, "plane")
    broken = Notes(SUITE, "plane", dies_at=5 * 96)
    with pytest.raises(Interrupted):
        list(cloning.train(broken))
    assert broken.kept[0]["rounds"] == 4
    resumed = trained(cloning, SUITE, "plane", resumed=broken.kept)
    assert [point for point in whole.curve if point[0] > 4 * 96] == resumed.curve
    assert all((whole.kept[1][name] == array).all() for name, array in resumed.kept[1].items())


def test_recorded_demonstrations_are_seen_as_the_robot_saw_them_and_learned(tmp_path, rng):
    for k, count in enumerate((40, 61, 7)):
        np.savez_compressed(tmp_path / f"{k}.npz", **demonstration(rng, count))
    robot, observe = load_robot("jackal"), Observe(9, scan_range=5.0, goal_range=4.0)
    beams = robot.lidar.beams
    for k, count in enumerate((40, 61, 7)):
        np.savez_compressed(tmp_path / f"{k}.npz", **demonstration(rng, count, beams))
    samples = read_samples(tmp_path, observe, robot)
    assert [len(done) for _, done in samples] == [40, 61, 7]
    with np.load(tmp_path / "1.npz") as kept:
        seen, done = samples[1]
        twists = to_twists(done, robot.limits(61))
        assert twists == pytest.approx(kept["command"], abs=1e-5)
        away = np.hypot(*kept["local_goal"].T)
        assert seen[:, 9] == pytest.approx(np.minimum(away / 4.0, 1.0), abs=1e-5)
        assert seen[:, 10] == pytest.approx(kept["local_goal"][:, 0] / away, abs=1e-5)
        assert seen[:, 0] == pytest.approx(np.minimum(kept["scan"][:, : beams // 9].min(1) / 5.0, 1.0), abs=1e-5)

    cloning = dataclasses.replace(SMALL, observe=observe, demonstrations=str(tmp_path))
    notes = trained(cloning, SUITE, "plane")
    errors = [values["action_loss"] for _, values in notes.curve]
    assert errors[-1] < 0.3 * errors[0]
    assert {steps for steps, _ in notes.curve} == {(4 + 6) * 12}  # 40 and 61 steps in sequences of 12, the last of them overlap
    answer = notes.policies[-1](seen)
    assert np.corrcoef(answer[:, -1], done[:, -1])[0, 1] > 0.9


def test_demonstrations_that_cannot_be_learned_from_are_refused(tmp_path, rng):
    robot = load_robot("jackal")
    with pytest.raises(InputError, match="contains no demonstrations"):
        read_samples(tmp_path, BLIND, robot)
    with pytest.raises(InputError, match="pedestrians, a path or sensors"):
        np.savez_compressed(tmp_path / "a.npz", **demonstration(rng, 30, robot.lidar.beams))
        read_samples(tmp_path, Observe(9, pedestrians=2), robot)
    with pytest.raises(InputError, match="all 1 demonstrations are shorter than horizon = 31"):
        trained(
            dataclasses.replace(SMALL, demonstrations=str(tmp_path), lessons=dataclasses.replace(LESSONS, horizon=31)),
            SUITE,
            "plane",
        )
    np.savez_compressed(tmp_path / "b.npz", **demonstration(rng, 5, 11))
    with pytest.raises(InputError, match=r"b.npz: has scans of 11 beams"):
        read_samples(tmp_path, BLIND, robot)
    lost = demonstration(rng, 5, robot.lidar.beams)
    lost["local_goal"][:] = np.nan
    np.savez_compressed(tmp_path / "b.npz", **lost)
    with pytest.raises(InputError, match=r"b.npz: the goal is unknown"):
        read_samples(tmp_path, BLIND, robot)
    (tmp_path / "b.npz").write_bytes(b"PK\x03\x04 torn")
    with pytest.raises(InputError, match=r"b.npz: damaged, or not a demonstration"):
        read_samples(tmp_path, BLIND, robot)


def test_the_steps_of_an_observation_hold_nothing_but_scan_goal_and_twist():
    """The values that `read_samples` makes up (pose, radius, footprint, period) are not seen."""
    robot = load_robot("jackal")
    pose, nobody = np.float32([[0, 0, 0]]), np.zeros((1, 4, 2), np.float32)
    given = {"twist": np.float32([[0.3, 0, 0.1]]), "goal": np.float32([[2, 1, 0]]), "limits": robot.limits(1)}
    one = Observation(pose, radius=np.float32([0.0]), footprint=nobody, dt=0.0, **given)
    other = Observation(pose, radius=np.float32([0.4]), footprint=nobody + 1, dt=0.2, **given)
    assert (BLIND(one) == BLIND(other)).all()
