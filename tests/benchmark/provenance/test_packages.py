"""The code that makes a run is in its record, so that no run is of two versions of Agora, or of a planner's package."""

from __future__ import annotations

import importlib
import subprocess
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest
from tests.naughty import Naughty
from tests.suites import plane

from agora import __version__
from agora.benchmark.bench import bench, rows_of, run_all
from agora.benchmark.events import Kept
from agora.benchmark.provenance import packages as module
from agora.benchmark.provenance.machine import Machine
from agora.benchmark.provenance.packages import change, changed_files, manifest, names, packages
from agora.benchmark.request import Options, Request
from agora.config import load
from agora.errors import InputError, ResultsError
from agora.interfaces import Declaration
from agora.metrics.registered import metrics
from agora.planners.presets import named_planner
from agora.policies.dense_layers import Layer, weights_of
from agora.policies.networks.mlp import Mlp
from agora.policies.policy import Policy
from agora.registry import Named
from agora.tasks.suite import load_suite

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

PARTS = """
from dataclasses import dataclass


@dataclass(frozen=True)
class Odour:
    channel = "odour"
    fields = ()
    needs = ()

    def bind(self, *_):
        pass


@dataclass(frozen=True)
class Encoding:
    length = 4
    actions = 2
"""


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
    for name in [name for name in sys.modules if name.partition(".")[0] in ("roundabout", "lab")]:
        del sys.modules[name]


@dataclass(frozen=True)
class Reads:
    """A planner that names a channel, and that drives with a policy from a file."""

    needs: str = "path"
    policy: Policy | None = None

    @property
    def declares(self):
        return Declaration(needs=(self.needs,))

    def plan(self, observation, memory):
        return (0.0, 0.0, 0.0), None


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A small copy of Agora's code in the place of Agora; a function says that a program is started with the files as they are."""
    folder = tmp_path / "checkout" / "agora"
    (folder / "planners").mkdir(parents=True)
    for name in ("__init__.py", "planners/__init__.py", "planners/dwa.py", "planners/orca.py"):
        (folder / name).write_text(f"NAME = {name!r}\n")
    monkeypatch.setattr(module, "_AGORA", folder)

    def start():
        monkeypatch.setattr(module, "_IMPORTED", tuple(module._lines(folder)))
        return folder

    start()
    return start


def test_agora_is_always_there_by_version_and_code():
    found = packages(plane(), dict([named_planner("dwa_ros+polite")]), metrics())
    assert list(found) == ["agora-nav"] and found["agora-nav"].startswith(f"{__version__}, code ")
    assert packages() == found


def test_the_code_of_agora_is_every_source_file_and_nothing_that_python_or_a_wheel_puts_beside_them(copy):
    folder = copy()
    before, listed = packages(), manifest()
    assert [line.partition("  ")[2] for line in listed.splitlines()] == [
        "agora/__init__.py",
        "agora/planners/__init__.py",
        "agora/planners/dwa.py",
        "agora/planners/orca.py",
    ]
    assert subprocess.run(["b2sum", "-l", "128", "-c"], input=listed, cwd=folder.parent, text=True, check=True, capture_output=True)
    for name in ("__pycache__/dwa.cpython-311.py", "_share/configs/one.py", "web/front/node_modules/gyp/a.py", "planners/notes.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    assert packages() == before
    (folder / "planners" / "dwa.py").write_text("NAME = 'other'\n")
    assert packages() != before and changed_files(listed) == "agora/planners/dwa.py (changed)"
    (folder / "planners" / "orca.py").unlink()
    (folder / "planners" / "teb.py").write_text("")
    assert changed_files(listed) == "agora/planners/dwa.py (changed), agora/planners/orca.py (gone), agora/planners/teb.py (new)"


def test_a_program_that_was_started_before_agora_s_files_changed_begins_no_run(copy, tmp_path):
    folder = copy()
    (folder / "planners" / "orca.py").write_text("NAME = 'other'\n")
    request = Request(plane(episodes=1), {"rounds": Named("naughty", Naughty())}, tmp_path / "run", HERE)
    with pytest.raises(InputError, match=r"since this program started: agora/planners/orca\.py \(changed\); restart the program"):
        run_all(request)
    assert not (tmp_path / "run").exists()
    copy()
    assert len(run_all(request)) == 1


def test_a_run_is_not_resumed_with_other_code_of_agora(copy, tmp_path):
    folder, run = copy(), tmp_path / "run"
    request = Request(load_suite("demo").part(("hall",), 2), dict([named_planner("go_to_goal")]), run, HERE)
    events = bench(request)
    for event in events:
        if isinstance(event, Kept):
            events.close()  # as a kill between two shards
            break
    was = (folder / "planners" / "dwa.py").read_text()
    (folder / "planners" / "dwa.py").write_text("NAME = 'other'\n")
    copy()
    words = r"package agora-nav was 0\.1\.0, code \w+ and is 0\.1\.0, code \w+: agora/planners/dwa\.py \(changed\) since the run"
    with pytest.raises(ResultsError, match=f"{words} started; put the code back, or choose another folder"):
        run_all(replace(request, resume=True))
    assert len(rows_of(run)) == 1
    (folder / "planners" / "dwa.py").write_text(was)
    copy()
    assert len(run_all(replace(request, resume=True))) == 2


def test_a_run_during_which_agora_s_code_changes_ends_with_an_error_and_is_never_resumed(copy, tmp_path):
    folder, run = copy(), tmp_path / "run"
    request = Request(plane(episodes=2), {"rounds": Named("naughty", Naughty())}, run, HERE)
    was = (folder / "planners" / "dwa.py").read_text()
    with pytest.raises(ResultsError, match=r"agora/planners/dwa\.py \(changed\) during the run, so its rows may mix both versions"):
        for _ in bench(request):
            (folder / "planners" / "dwa.py").write_text("NAME = 'other'\n")
    (folder / "planners" / "dwa.py").write_text(was)
    with pytest.raises(ResultsError, match="code .*, then .* since the run started"):
        run_all(replace(request, resume=True))


def test_a_run_is_not_resumed_with_other_versions_of_what_computes_its_numbers(tmp_path, monkeypatch):
    request = Request(plane(episodes=1), {"rounds": Named("naughty", Naughty())}, tmp_path / "run", HERE)
    run_all(request)
    here = Machine.here()
    monkeypatch.setattr(Machine, "here", staticmethod(lambda: replace(here, packages=here.packages | {"numba": "0.1"})))
    with pytest.raises(ResultsError, match=rf"numba was {here.packages['numba']} when the run started and is now 0\.1; "):
        run_all(replace(request, resume=True))


def test_a_stranger_s_package_is_there_by_version_and_code_and_what_has_no_distribution_by_its_code(package):
    found = packages(package.planner(), {"circle": Named("naughty", Naughty())})
    assert list(found) == ["agora-nav", "round-about", "tests"]
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
    assert {"agora-nav", "round-about", "tests"} == set(packages(derived()))


def test_what_a_component_names_by_a_text_is_seen_too(package, monkeypatch):
    package.write("parts.py", PARTS)
    parts = importlib.import_module("roundabout.parts")
    with monkeypatch.context() as patch:
        patch.setattr("agora.engine.wiring.make", lambda kind, name, **_: parts.Odour())
        assert "round-about" in packages(Reads(needs="odour"))
    assert "round-about" not in packages(Reads())
    network, arrays = Mlp((), "tanh"), weights_of([Layer(np.zeros((4, 2), np.float32), np.zeros(2, np.float32))])
    policy = Policy(parts.Encoding(), network, arrays)
    assert "round-about" in packages(Reads(policy=policy))


def test_to_name_the_packages_of_a_planner_that_is_a_program_asks_no_program():
    asked = []

    class Program(Reads):
        @property
        def declares(self):
            asked.append(self)
            raise InputError("nothing is listening")

    assert names(Program()) == {"agora-nav", "tests"} and not asked
    assert packages(Program()).keys() == {"agora-nav", "tests"} and asked


def test_a_module_in_a_folder_that_is_no_package_is_there_with_its_whole_folder(package):
    (package.folder / "lab").mkdir()
    (package.folder / "lab" / "planner.py").write_text(CODE.replace("roundabout.speed", "lab.speed"))
    (package.folder / "lab" / "speed.py").write_text("SPEED = 0.4\n")
    importlib.invalidate_caches()
    planner = {"rounds": Named("rounds", importlib.import_module("lab.planner").Rounds())}
    before = packages(planner)
    (package.folder / "lab" / "speed.py").write_text("SPEED = 0.5\n")
    assert change(before, packages(planner)).startswith("package lab was ")


@pytest.mark.parametrize("what", ["the version", "a line of code"])
def test_a_run_is_not_resumed_with_another_version_of_its_planner(package, tmp_path, what):
    suite, run = plane(episodes=2), tmp_path / "run"
    run_all(Request(suite, package.planner(), run, HERE))
    was = load(run / "run.yaml", dict)["packages"]["round-about"]
    if what == "the version":
        package.install("2.0")
    else:
        package.write("speed.py", "SPEED = 0.8\n")
    with pytest.raises(ResultsError, match=rf"package round-about was {was} and is .* since the run started; put the code back"):
        run_all(Request(suite, package.planner(), run, HERE, resume=True))
    if what == "the version":
        package.install("1.0")
    else:
        package.write("speed.py", "SPEED = 0.4\n")
    assert len(run_all(Request(suite, package.planner(), run, HERE, resume=True))) == 2
