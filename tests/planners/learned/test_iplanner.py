"""iPlanner drives along the spline of the key points that its network answers, and stops where it fears a collision."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from scipy.interpolate import CubicHermiteSpline

from agora.channels.camera import Camera
from agora.core.recording import Outcome
from agora.episode import Conditions, Episodes
from agora.errors import InputError
from agora.planners.learned.iplanner import IPlanner
from agora.policies.encoding import Observe
from agora.policies.key_points import KeyPoints, spline
from agora.policies.policy import Policy, TrainedRobot
from agora.robots.model import load_robot
from agora.tasks.suite import load_suite
from agora.testing.scenes import observation

JACKAL = load_robot("jackal")
SEE = KeyPoints(beams=9, points=5, reach=4.0, brisk=1.0)


def answering(folder: Any, points: list[tuple[float, float]], fear: float) -> IPlanner:
    """A planner whose network always answers these points, m, and this logarithm of the odds of a collision."""
    layer = torch.nn.Linear(SEE.length, 11)
    torch.nn.init.zeros_(layer.weight)
    layer.bias.data = torch.tensor([*(np.ravel(points) / SEE.reach), fear], dtype=torch.float32)
    Policy.of_torch(SEE, [layer], {"label": "small"}, TrainedRobot.of(JACKAL)).save(folder / "one.safetensors")
    return IPlanner(str(folder / "one.safetensors"))


def robots(rows: int = 2, **other: Any) -> Any:
    """Robots that look along x, whose paths lead straight to a goal at a bearing of 0.8 rad."""
    goal = np.tile(np.float32([4 * np.cos(0.8), 4 * np.sin(0.8), 0.0]), (rows, 1))
    path = np.stack([np.zeros((rows, 2), np.float32), goal[:, :2]], 1)
    o = observation(rows=rows, beams=JACKAL.lidar.beams)
    still = {"pose": np.zeros((rows, 3), np.float32), "goal": goal, "path": path, "path_count": np.full(rows, 2, np.int32)}
    angles = np.linspace(JACKAL.lidar.angle_min, JACKAL.lidar.angle_max, JACKAL.lidar.beams).astype(np.float32)
    return dataclasses.replace(o, **{**still, "limits": JACKAL.limits(rows), "scan_angles": angles, **other})


def test_the_spline_goes_through_its_points_and_is_hermites(rng):
    points = rng.normal(size=(5, 2)).astype(np.float32)
    path = spline(5, 51) @ points
    assert path[0] == pytest.approx(0.0, abs=1e-7)
    assert path[10::10] == pytest.approx(points, abs=1e-5)
    whole = np.vstack([[0.0, 0.0], points])
    slope = np.diff(whole, axis=0)
    tangent = np.vstack([slope[:1], 0.5 * (slope[1:] + slope[:-1]), slope[-1:]])
    assert path == pytest.approx(CubicHermiteSpline(np.arange(6), whole, tangent)(np.linspace(0, 5, 51)), abs=1e-5)


def test_points_on_a_line_ahead_are_driven_straight_and_as_fast_as_the_path_is_long(tmp_path):
    planner = answering(tmp_path, [(0.3 * k, 0.0) for k in range(1, 6)], -9.0)
    assert planner.act(robots(), {}).twists == pytest.approx(np.tile([1.5, 0.0, 0.0], (2, 1)), abs=1e-4)
    slow = dataclasses.replace(JACKAL.limits(2), max_vx=np.float32([0.4, 9.0]))
    assert planner.act(robots(limits=slow), {}).twists[:, 0] == pytest.approx([0.4, 1.5], abs=1e-4)


def test_points_on_an_arc_are_driven_with_its_curvature_and_points_behind_are_turned_to(tmp_path):
    along = 0.3 * np.arange(1, 6)
    arc = [(np.sin(s), 1.0 - np.cos(s)) for s in along]
    vx, _, omega = answering(tmp_path, arc, -9.0).act(robots(1), {}).twists[0]
    assert vx == pytest.approx(1.5, rel=0.02) and omega == pytest.approx(vx, rel=0.03)
    behind = answering(tmp_path, [(-0.3 * k, 0.1 * k) for k in range(1, 6)], -9.0).act(robots(1), {}).twists[0]
    assert behind[:2].tolist() == [0.0, 0.0] and behind[2] == pytest.approx(4.0)


def test_it_stops_after_three_feared_paths_and_turns_to_its_goal_until_it_fears_no_more(tmp_path):
    ahead = [(0.3 * k, 0.0) for k in range(1, 6)]
    afraid, memory, given = answering(tmp_path, ahead, 0.5), {}, []
    for _ in range(4):
        answer = afraid.act(robots(1), memory)
        memory = answer.memory
        given.append(answer.twists[0].tolist())
    assert given[0] == given[1] == pytest.approx([1.5, 0.0, 0.0], abs=1e-4)
    assert given[2] == given[3] == pytest.approx([0.0, 0.0, 1.6], abs=1e-4)
    calm = answering(tmp_path, ahead, -0.5)
    assert calm.act(robots(1), memory).twists[0] == pytest.approx([1.5, 0.0, 0.0], abs=1e-4)
    assert dataclasses.replace(afraid, fear=1.0).act(robots(1), memory).twists[0, 0] == pytest.approx(1.5, abs=1e-4)


def test_its_encoding_hides_the_twist_and_states_bad_sizes():
    o = robots()
    assert (SEE(o) == SEE(dataclasses.replace(o, twist=o.twist + 1.0))).all()
    for wrong, said in (({"beams": 0}, "beams: must be at least 1"), ({"samples": 5}, "samples: must be more than points = 5")):
        with pytest.raises(InputError, match=said):
            KeyPoints(**wrong)


def test_it_sees_images_row_by_row_before_the_goal_and_a_pixel_without_a_reading_as_far():
    see = KeyPoints(beams=3, sensors=(Camera(what=("depth",), width=4, height=2, depth_max=9.0),))
    depth = np.float32([[[1.0, 2.0, 0.0, 4.0], [5.0, 6.0, 7.0, 9.0]]])
    seen = see(robots(1, sensors={"camera": {"depth": depth}}))[0]
    assert see.length == len(seen) == 14
    assert seen[3:11] == pytest.approx([0.1, 0.2, 1.0, 0.4, 0.5, 0.6, 0.7, 0.9], abs=1e-6)
    assert seen[11:] == pytest.approx([1.0, np.cos(0.8), np.sin(0.8)], abs=1e-6)
    order, sign = see.mirror
    mirrored = seen[order] * sign
    assert mirrored[:3].tolist() == seen[2::-1].tolist()
    assert mirrored[3:11] == pytest.approx([0.4, 1.0, 0.2, 0.1, 0.9, 0.7, 0.6, 0.5], abs=1e-6)
    assert mirrored[11:] == pytest.approx([1.0, np.cos(0.8), -np.sin(0.8)], abs=1e-6)
    assert (mirrored[order] * sign == seen).all()
    with pytest.raises(InputError, match=r"key_points: rgb of camera is no image of rows and columns: \(2, 4, 3\)"):
        KeyPoints(sensors=(Camera(what=("rgb",), width=4, height=2),))


def test_a_policy_whose_actions_are_no_paths_is_refused(tmp_path):
    see = Observe(9)
    Policy.of_torch(see, [torch.nn.Linear(see.length, 2)], {"label": "small"}).save(tmp_path / "other.safetensors")
    planner = IPlanner(str(tmp_path / "other.safetensors"))
    with pytest.raises(InputError, match=r"other.safetensors: iplanner drives with the encoding key_points, got Observe"):
        planner.act(robots(), {})


def test_it_gets_through_fields_that_it_was_not_trained_on():
    suite = load_suite("iplanner")
    starts = [suite.start("fields", k) for k in range(6)]
    ends = [robot.outcome for _, (robot,) in Episodes(starts, IPlanner(), Conditions.of(suite.stage("fields")))]
    assert ends.count(Outcome.REACHED) >= 5
