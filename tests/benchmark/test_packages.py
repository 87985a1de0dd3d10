"""The packages of a run's components are in its record, so that it is not resumed with another version of a planner."""

from __future__ import annotations

import importlib
import sys

import pytest
from tests.naughty import Naughty
from tests.suites import plane

from agora import __version__
from agora.benchmark import packages as module
from agora.benchmark.bench import run_all
from agora.benchmark.packages import change, packages
from agora.benchmark.request import Options, Request
from agora.config import load
from agora.errors import ResultsError
from agora.metrics.registered import metrics
from agora.planners.presets import named_planner
from agora.registry import Named

HERE = Options(workers=0, batch=1)
CODE = '''
from dataclasses import dataclass
from typing import ClassVar

from agora.interfaces import Declaration
from roundabout.speed import SPEED


@dataclass(frozen=True)
class Rounds:
    """Drives in a circle."""

    declares: ClassVar[Declaration] = Declaration()

    def plan(self, observation, memory):
        return (SPEED, 0.0, 0.3), None
'''


class Package:
    """A stranger's package, `roundabout`, of the distribution `round-about`."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "roundabout").mkdir()
        self.write("__init__.py", "")
        self.write("planner.py", CODE)
        self.write("speed.py", "SPEED = 0.4\n")
        self.install("1.0")

    def write(self, name, text):
        (self.folder / "roundabout" / name).write_text(text)

    def install(self, version):
        for old in self.folder.glob("*.dist-info"):
            (old / "METADATA").unlink()
            (old / "top_level.txt").unlink()
            old.rmdir()
        place = self.folder / f"round_about-{version}.dist-info"
        place.mkdir()
        (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: round-about\nVersion: {version}\n")
        (place / "top_level.txt").write_text("roundabout\n")
        importlib.invalidate_caches()

    def planner(self):
        return {"rounds": Named("rounds", importlib.import_module("roundabout.planner").Rounds())}


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    module._distributions.cache_clear()
    yield Package(folder)
    module._distributions.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "roundabout"]:
        del sys.modules[name]


def test_agora_s_own_components_are_there_by_the_version_alone():
    assert packages(plane(), dict([named_planner("dwa_ros+polite")]), metrics()) == {"agora-nav": __version__}


def test_a_stranger_s_package_is_there_by_version_and_code_and_what_has_no_distribution_by_its_code(package):
    found = packages(package.planner(), {"circle": Named("naughty", Naughty())})
    assert list(found) == ["round-about", "tests"]
    assert found["round-about"].startswith("1.0, code ")
    assert found["tests"].startswith("code ")


def test_the_code_is_that_of_the_whole_package_and_of_nothing_else(package):
    before = packages(package.planner())
    package.write("notes.txt", "not code")
    assert packages(package.planner()) == before
    package.write("speed.py", "SPEED = 0.5\n")
    after = packages(package.planner())
    assert change(before, after) == f"package round-about was {before['round-about']} and is {after['round-about']}"


def test_a_component_within_another_and_what_it_is_derived_from_are_seen(package):
    inner = package.planner()["rounds"]
    assert "round-about" in packages([{"outer": Named("naughty", Naughty(mischief=[inner]))}])
    derived = type("Derived", (type(inner.part),), {"__module__": "tests.naughty"})
    assert {"round-about", "tests"} == set(packages(derived()))


@pytest.mark.parametrize("what", ["the version", "a line of code"])
def test_a_run_is_not_resumed_with_another_version_of_its_planner(package, tmp_path, what):
    suite, run = plane(episodes=2), tmp_path / "run"
    run_all(Request(suite, package.planner(), run, HERE))
    was = load(run / "run.yaml", dict)["packages"]["round-about"]
    if what == "the version":
        package.install("2.0")
    else:
        package.write("speed.py", "SPEED = 0.8\n")
    with pytest.raises(
        ResultsError, match=rf"package round-about was {was} and is .* since the run was begun; install what it was"
    ):
        run_all(Request(suite, package.planner(), run, HERE, resume=True))
    if what == "the version":
        package.install("1.0")
    else:
        package.write("speed.py", "SPEED = 0.4\n")
    assert len(run_all(Request(suite, package.planner(), run, HERE, resume=True))) == 2
