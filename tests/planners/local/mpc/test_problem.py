from __future__ import annotations

import logging
import math
import os
import shutil
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from agora.planners.local.mpc import _problem as mpc_problem
from agora.planners.local.mpc._problem import LAYOUT, Bounds, Form, Problem

SMALL = Form(4, 3, "unicycle", "forward_differences", False)
METHODS = ("forward_differences", "midpoint_differences", "crank_nicolson_differences")
COMPILES = shutil.which(os.environ.get("CC") or "cc") is not None
THINGS = ((0.5, 0.12, 0.25), (0.9, -0.3, 0.2), (30.0, 0.0, 0.0))


def answer(problem, goal=(1.1, 0.3, 0.4), dt=0.35):
    """The solution on the way to a pose past two discs."""
    form = problem.form
    parameters = {name: np.zeros((size, 1)) for name, size in LAYOUT.items()}
    stages = np.arange(form.steps + 1)[None]
    numbers = {"period": 0.1, "dt": dt, "slack_weight": 1e3, "braking": 3.0, "time_weight": float(form.free_time), "active": 1.0}
    parameters |= {name: np.full((1, 1), value) for name, value in numbers.items()}
    parameters |= {
        "first": (stages == 0) * 1.0,
        "index": stages * 1.0,
        "goal": np.array([goal]).T,
        "rate": np.array([[3.0, 4.0, 3.0]]).T,
    }
    if not form.free_time:
        parameters["state_weight"] = np.where(stages == form.steps, [[10.0], [10.0], [0.5]], [[2.0], [2.0], [0.25]])
        parameters["control_weight"] = np.array([[0.1], [0.05], [0.1]])
    things = np.array(THINGS)[: form.obstacles]
    if form.free_time:
        things = np.column_stack((things, np.zeros((len(things), 2))))
    states = np.zeros((form.steps + 1, form.states))
    states[:, :2] = np.linspace((0.0, 0.0), goal[:2], form.steps + 1)
    states[:, 3 + form.axes :] = dt
    least = [[-0.5, -2.0, -0.7], [1.2, 2.0, 0.7]]
    bounds = Bounds(np.array(least)[:, : form.axes], 2.0, (0.01, 10.0))
    start = np.zeros(3 + form.axes)
    guess = states, np.full((form.steps, form.axes), 0.1)
    return problem.solve(start, guess, parameters, np.broadcast_to(things, (form.steps, *things.shape)), bounds)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("free", [False, True])
def test_a_solution_moves_as_its_method_says_and_keeps_all_bounds(method, free):
    form = Form(9, 3, "unicycle", method, free)
    found = answer(Problem(form, 100, 1e-6, compiled=False))
    assert found.converged
    x, y, heading, v, w = found.states.T[:5]
    dt = found.states[:, 5] if free else np.full(10, 0.35)
    assert np.ptp(dt) < 1e-9
    v, w, dt, step = found.commands[:, 0], found.commands[:, 1], dt[:-1], np.diff(found.states[:, :3], axis=0)
    seen = {
        METHODS[0]: [heading[:-1]],
        METHODS[1]: [heading[:-1] + 0.5 * dt * w],
        METHODS[2]: [heading[:-1], heading[1:]],
    }[method]
    assert step[:, 0] == pytest.approx(dt * v * np.mean([np.cos(h) for h in seen], axis=0), abs=1e-6)
    assert step[:, 1] == pytest.approx(dt * v * np.mean([np.sin(h) for h in seen], axis=0), abs=1e-6)
    assert step[:, 2] == pytest.approx(dt * w, abs=1e-6)
    changes = np.diff(np.concatenate((np.zeros((1, 2)), found.commands, np.zeros((1, 2)))), axis=0)
    after = np.concatenate(([0.1], dt))[:, None]
    assert (np.abs(changes) <= after * (3.0, 4.0) + 1e-6).all()
    assert v.min() >= -0.5 - 1e-6 and v.max() <= 1.2 + 1e-6 and np.abs(w).max() <= 2.0 + 1e-6
    for tx, ty, reach in THINGS[:2]:
        assert (np.hypot(x[1:] - tx, y[1:] - ty) + found.slack >= reach - 1e-4).all()
    assert found.slack.max() < 1e-3
    if free:
        assert found.states[-1, :3] == pytest.approx((1.1, 0.3, 0.4), abs=1e-6)


def test_a_metre_too_near_costs_its_weight():
    """A goal in a disc: the last pose is as much nearer than wanted as makes the costs of both equal at the margin."""
    form = Form(5, 3, "unicycle", "forward_differences", False)
    found = answer(Problem(form, 100, 1e-6, compiled=False), goal=(0.5, 0.12, 0.0), dt=0.5)
    assert found.converged
    assert math.hypot(found.states[-1, 0] - 0.5, found.states[-1, 1] - 0.12) == pytest.approx(0.25, abs=2e-3)


def test_compiled_and_not_the_solution_has_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.setattr(mpc_problem, "folder", lambda: tmp_path)
    made, plain = (Problem(SMALL, 100, 1e-4, compiled=compiled) for compiled in (True, False))
    assert made.compiled == COMPILES and not plain.compiled
    one, other = answer(made), answer(plain)
    assert one.states.tobytes() == other.states.tobytes() and one.commands.tobytes() == other.commands.tobytes()
    assert one.iterations == other.iterations and one.converged


def test_two_that_compile_a_problem_at_the_same_time_leave_one_whole_file(tmp_path, monkeypatch):
    monkeypatch.setattr(mpc_problem, "folder", lambda: tmp_path)
    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(lambda _: Problem(SMALL, 100, 1e-4), range(2)))
    assert [one.compiled for one in made] == [COMPILES] * 2
    assert [file.suffix for file in tmp_path.iterdir()] == [".so"] * COMPILES


def test_a_damaged_file_is_said_and_made_anew(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(mpc_problem, "folder", lambda: tmp_path / "first")
    before = answer(Problem(SMALL, 100, 1e-4))
    kept = {file.name: file.read_bytes() for file in (tmp_path / "first").iterdir()}
    (tmp_path / "second").mkdir()
    monkeypatch.setattr(mpc_problem, "folder", lambda: tmp_path / "second")
    for name, whole in kept.items():
        middle = len(whole) // 2
        file = tmp_path / "second" / name
        for damaged in (b"half a file", whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]):
            caplog.clear()
            file.unlink(missing_ok=True)  # the library that is loaded stays as it is
            file.write_bytes(damaged)
            again = Problem(SMALL, 100, 1e-4)
            warnings = [record.message for record in caplog.records if record.levelno >= logging.WARNING]
            assert again.compiled and warnings == [f"{file} is damaged and will be created again"]
            assert answer(again).states.tobytes() == before.states.tobytes() and file.stat().st_size > 1000


def test_without_a_compiler_or_a_place_to_keep_it_a_problem_is_solved_all_the_same(tmp_path, monkeypatch):
    blocked = tmp_path / "a file"
    blocked.write_text("")
    monkeypatch.setattr(mpc_problem, "folder", lambda: blocked / "mpc")
    assert answer(Problem(SMALL, 100, 1e-4)).converged
    monkeypatch.setenv("CC", str(tmp_path / "no compiler"))
    monkeypatch.setattr(mpc_problem, "folder", lambda: tmp_path / "mpc")
    plain = Problem(SMALL, 100, 1e-4)
    assert not plain.compiled and answer(plain).converged
