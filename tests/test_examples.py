"""Every example runs, is short and needs no screen."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

RUN_ELSEWHERE = ("ros_planner", "remote_planner", "depth_joystick")
# by tests/ros/test_bag_of_the_graph.py, tests/planners/test_remote.py and tests/benchmark/test_joystick_sight.py
EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", [path for path in EXAMPLES if path.stem not in RUN_ELSEWHERE], ids=lambda path: path.stem)
def test_an_example_runs(path, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISPLAY", raising=False)
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_one_idea(path):
    assert path.read_text(encoding="utf-8").count("\n") < 60


def test_the_examples_planner_keeps_the_contract():
    from agora.testing import check_planner

    polite = runpy.run_path(str(EXAMPLES[0].parent / "my_planner.py"))["Polite"]
    check_planner(polite())


def test_the_examples_pedestrians_are_pushed_apart_and_towards_their_waypoint():
    import numpy as np

    from agora.interfaces import CrowdScene

    model = runpy.run_path(str(EXAMPLES[0].parent / "my_crowd_model.py"))["Sidestep"]()
    flat = np.zeros((1, 3), np.float32)
    scene = CrowdScene(
        position=np.array([[[1.0, 2.0], [1.7, 2.0], [1.2, 2.1]]], np.float32),
        velocity=np.zeros((1, 3, 2), np.float32),
        waypoint=np.array([[[1.0, 9.0], [1.7, 9.0], [0.0, 0.0]]], np.float32),
        radius=flat + 0.3,
        preferred_speed=flat + 1.2,
        active=np.array([[True, True, False]]),
        group=flat.astype(np.int32) - 1,
        id=np.array([[1, 2, -1]], np.int32),
        heading=flat,
        type=flat.astype(np.int32),
        state=flat.astype(np.int32),
        wall_distance=flat + 50,
        wall_direction=np.zeros((1, 3, 2), np.float32),
        clearance=lambda points: (np.full(points.shape[:2], 50.0), np.zeros(points.shape)),
        robot_position=np.zeros((1, 0, 2), np.float32),
        robot_velocity=np.zeros((1, 0, 2), np.float32),
        robot_radius=np.zeros((1, 0), np.float32),
        robot_active=np.zeros((1, 0), np.bool_),
        sees_pedestrians=True,
        dt=0.05,
    )
    left, right, _ = model.compute(scene)[0]
    push = 2.0 * np.exp(-0.1 / 0.4)
    assert left == pytest.approx([-push, 1.2 / 0.5 + 0.5 * push], rel=1e-5)
    assert right == pytest.approx([push, 1.2 / 0.5 - 0.5 * push], rel=1e-5)
