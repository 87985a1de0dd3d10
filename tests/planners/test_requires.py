"""Planners that need an extra of Agora's installation: what is said where it is not there, and who runs without being named."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from types import ModuleType
from typing import ClassVar

import pytest
from typer.testing import CliRunner

from agora import extras
from agora.cli.app import app
from agora.errors import InputError, UnknownNameError
from agora.interfaces import Declaration
from agora.planners.local.go_to_goal import GoToGoal
from agora.planners.presets import named_planner, runnable_planners
from agora.registry import available, ready

PACKAGES = {"learning": ["torch-of-nowhere>=2.6", "numpy>=1.24"], "onnx": ["numpy>=1.24"]}


@dataclass(frozen=True)
class Deep(GoToGoal):
    """Goes to the goal, and claims to need a network for it."""

    declares: ClassVar[Declaration] = Declaration(requires=("onnx", "learning"))


@dataclass(frozen=True)
class Light(GoToGoal):
    """Needs what is there."""

    declares: ClassVar[Declaration] = Declaration(requires=("onnx",))


@pytest.fixture
def registered(monkeypatch):
    """Three planners alone: one lacks a package, one lacks it when it is imported, one has all."""
    module = ModuleType("deep")
    module.Deep, module.Light = Deep, Light
    monkeypatch.setitem(sys.modules, "deep", module)
    places = {"deep": "deep:Deep", "light": "deep:Light", "rash": "agora.no_such_module:Rash"}
    known = available("planners")
    for name in list(known):
        monkeypatch.delitem(known, name)
    for name, place in places.items():
        monkeypatch.setitem(known, name, EntryPoint(name, place, "agora.planners"))
    monkeypatch.setattr(extras, "packages_of", PACKAGES.__getitem__)


def test_a_planner_whose_extra_is_not_here_is_refused_with_the_package_and_the_command(registered):
    with pytest.raises(InputError) as refused:
        named_planner("deep:speed=0.7")
    said, _, command = str(refused.value).partition("; install them: ")
    assert said == "planner 'deep:speed=0.7': packages of the extra learning are not installed: torch-of-nowhere"
    assert shlex.split(command)[:4] == [sys.executable, "-m", "pip", "install"] and "torch-of-nowhere>=2.6" in command
    assert named_planner("light")[1].part == Light()


def test_those_that_can_run_here_are_told_from_those_that_cannot_and_why(registered):
    here, reasons = runnable_planners()
    assert here == ["light"] and list(reasons) == ["deep", "rash"]
    assert "torch-of-nowhere" in reasons["deep"] and "no_such_module" in reasons["rash"]


def test_a_benchmark_without_planners_takes_those_that_can_run_and_says_which_it_left_out(registered, monkeypatch, tmp_path):
    ran = []

    def bench(request):
        ran.extend(request.planners)
        yield from ()

    monkeypatch.setattr("agora.benchmark.bench.bench", bench)
    monkeypatch.setattr("agora.cli.bench.finish", lambda folder, video, again: None)
    done = CliRunner().invoke(app, ["bench", "demo", "--no-control", "--output", str(tmp_path / "out")], catch_exceptions=False)
    assert done.exit_code == 0 and ran == ["light"]
    assert "left out: deep: packages of the extra learning" in done.output and "left out: rash: " in done.output


def test_an_extra_that_there_is_not_is_told_the_nearest():
    with pytest.raises(UnknownNameError, match="no extra called 'lerning'.*learning"):
        extras.lacking(("lerning",))
    with pytest.raises(ValueError, match="requires must be collections"):
        Declaration(requires="learning")


def test_every_planner_of_the_library_runs_with_the_extras_of_the_tests():
    assert runnable_planners()[0] == ready("planners")
