"""The names of `agora` itself."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import agora
import agora.testing


@pytest.mark.parametrize("package", [agora, agora.testing])
def test_every_name_is_the_thing_of_its_module(package):
    assert sorted(package._HOMES) == sorted(package.__all__)
    for name, home in package._HOMES.items():
        assert getattr(package, name) is getattr(sys.modules[home], name)
        assert getattr(package, name).__doc__


@pytest.mark.parametrize("package", [agora, agora.testing])
def test_type_checkers_read_the_same_names(package):
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    [hidden] = [node for node in tree.body if isinstance(node, ast.If)]
    assert {name.name: one.module for one in hidden.body for name in one.names} == package._HOMES


def test_what_runs_in_processes_of_the_contract_of_executors_imports_no_other_contract():
    code = (
        "import agora.testing.executors, sys; print([m for m in sys.modules if m.startswith(('agora.testing.', 'agora.engine'))])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "['agora.testing.errors', 'agora.testing.executors']\n"


def test_importing_agora_imports_nothing_else_of_it():
    code = "import agora, sys; print([m for m in sys.modules if m.startswith('agora.') or m in ('numba', 'torch')], dir(agora)[-1])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "[] report\n"


def test_a_name_that_is_not_there_is_told_with_those_that_are():
    with pytest.raises(AttributeError, match=r"no attribute 'load_siute'; it has .*load_suite"):
        _ = agora.load_siute
    with pytest.raises(AttributeError, match=r"'agora.testing' has no attribute 'check_planer'; it has .*check_planner"):
        _ = agora.testing.check_planer


def test_a_run_is_asked_for_measured_and_read_again(tmp_path):
    form = agora.RequestForm(suite="demo", planners=("go_to_goal",), output=tmp_path / "run", workers=0, control=False)
    events = list(agora.bench(form.request()))
    kept = agora.recordings(tmp_path / "run")
    assert agora.report(tmp_path / "run") == tmp_path / "run" / "report.html"
    assert events and set(kept) == set(agora.recordings(tmp_path / "run", list(kept)))
    from agora.benchmark.results.store import read_rows

    rows = {row["key"]: row for row in read_rows(tmp_path / "run" / "episodes")} or {}
    key, recording = next(iter(kept.items()))
    values = agora.measure(recording, "path_length", "collisions")
    assert list(values) == ["path_length", "collisions"] and rows[key]["path_length"] == values["path_length"]
    assert set(values) < set(agora.measure(recording))
    with pytest.raises(agora.AgoraError, match="did you mean 'path_length'"):
        agora.measure(recording, "path_lenght")
