"""A run and its entries, for the tests of the leaderboard."""

from __future__ import annotations

import dataclasses
import shutil

import pytest
from tests.leaderboard.entries import HERE

from agora.benchmark.bench import run_all
from agora.benchmark.request import Request
from agora.leaderboard.submission import Words, submit
from agora.planners.presets import named_planner
from agora.tasks.suite import load_suite


@pytest.fixture(scope="module")
def cut():
    """A suite that comes with Agora, cut to two stages of two episodes."""
    whole = load_suite("single_pedestrian")
    patch = pytest.MonkeyPatch()
    short = dataclasses.replace(whole, stages=tuple(dataclasses.replace(stage, episodes=2) for stage in whole.stages[:2]))
    for module in ("submission", "verification", "page"):
        patch.setattr(f"agora.leaderboard.{module}.load_suite", lambda name: short if name == short.name else load_suite(name))
    yield short
    patch.undo()


@pytest.fixture(scope="module")
def run(cut, tmp_path_factory):
    """A finished run of two planners on this suite."""
    folder = tmp_path_factory.mktemp("leaderboard") / "run"
    run_all(Request(cut, dict(named_planner(text) for text in ("go_to_goal", "pure_pursuit:speed=0.5")), folder, HERE))
    return folder


@pytest.fixture(scope="module")
def made(run):
    """The entries of both planners."""
    return submit(run, run.parent / "board", words=Words(author="A. Author", description="Two lines.\nThe second."))


@pytest.fixture
def entry(made, tmp_path):
    """A copy of the entry of go_to_goal."""
    return shutil.copytree(made[0], tmp_path / "board" / made[0].name)
