"""The measurements of the manual: a changed dependency makes them stale, and pages mark stale values."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.narrow import kept

from agora.benchmark.informed import INFORMED
from tests.learned import wall_readers

sys.path.append(str(Path(__file__).parents[1] / "docs"))

import rows
import standings
from measurements import catalogue, freshness

EDITION = "social@2026.12"


@pytest.fixture
def stale_teb(monkeypatch):
    """Make the measurements of the edition and of `planners` fresh, except that TEB was changed after its row of the edition."""
    states = {}
    for one in catalogue.catalogue():
        if one.table in (EDITION, "planners"):
            changed = ("planner",) if (one.table, one.key) == (EDITION, "teb") else ()
            states[one.name] = freshness.Freshness(one, "stale" if changed else "fresh", changed)
    for module in (freshness, rows):
        monkeypatch.setattr(module, "freshness", lambda: states)


@pytest.mark.usefixtures("stale_teb")
def test_pages_and_the_readme_mark_stale_values():
    marks = {row["planner"]: row["stale"] for row in rows.measured(EDITION)}
    assert marks["teb"] == "stale" and marks["orca"] == ""
    assert any("| `teb` (stale) |" in line for line in standings.standings())
    lines = [rows.measured_line(row)[0] for row in rows.measured(EDITION)]
    assert "`teb` (stale)" in lines and "`orca`" in lines


def test_every_measured_planner_of_the_catalogue_has_a_row_and_every_name_is_unique():
    every = list(catalogue.catalogue())
    assert len({one.name for one in every}) == len(every)
    kept = {row["planner"] for row in rows.measured(EDITION)}
    assert {one.key for one in every if one.table == EDITION and one.measured} == kept | {INFORMED}


@pytest.mark.usefixtures("stale_teb")
def test_the_list_counts_states_by_table_and_names_what_changed(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["freshness.py"])
    assert freshness.main() == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("social_2026_12 "))
    others = sum(one.table == EDITION for one in catalogue.catalogue()) - 1
    assert line.split()[1:] == [f"{others}", "1", "0", "planner", "(1)"]
    monkeypatch.setattr(sys, "argv", ["freshness.py", "TEB"])
    freshness.main()
    assert "stale    social_2026_12[teb]" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["freshness.py", "tebb"])
    with pytest.raises(SystemExit, match="no measurement is called tebb; the tables are planners, social_2026_12"):
        freshness.main()


def test_the_narrow_places_are_measured_with_the_planners_that_their_table_may_have():
    keys = {one.key for one in catalogue.catalogue() if one.table == "narrow"}
    assert keys == wall_readers() - {"recovering"}
    assert {row["planner"] for row in kept()} <= keys


CATALOGUE = """
import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("real_catalogue", {real!r})
real = sys.modules["real_catalogue"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(real)
Measurement = real.Measurement


def catalogue():
    for key in ("one", "two"):
        kept = ROOT / f"rows of {{key}}"
        depends = {{name: (ROOT / f"{{name}}.txt").read_text() for name in ("engine", key)}}
        yield Measurement("a table", key, (f"echo made >> '{{kept.name}}'",), depends, kept.name, kept.exists())
"""
"""A catalogue of two measurements that append a line to a file."""


@pytest.fixture
def small(tmp_path):
    """Return the root of a repository with a small catalogue, and a function that runs freshness.py there."""
    folder = tmp_path / "docs" / "measurements"
    shutil.copytree(freshness.HERE, folder, ignore=shutil.ignore_patterns(".pytask", "__pycache__", "pytask.lock"))
    (folder / "catalogue.py").write_text(CATALOGUE.format(real=str(freshness.HERE / "catalogue.py")))
    for name in ("engine", "one", "two"):
        (tmp_path / f"{name}.txt").write_text("1")

    def run(*arguments: str) -> list[str]:
        command = [sys.executable, str(folder / "freshness.py"), *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return [" ".join(line.split()) for line in done.stdout.splitlines()]

    return tmp_path, run


def test_making_a_measurement_runs_its_commands_and_only_a_changed_dependency_makes_it_stale(small):
    root, run = small
    one, two = (root / f"rows of {name}" for name in ("one", "two"))
    assert run("a_table") == ["missing a_table[one]", "missing a_table[two]"]
    run("--make", "a_table[one]")
    assert one.read_text() == "made\n" and not two.exists()
    assert run("a_table") == ["fresh a_table[one]", "missing a_table[two]"]
    run("--make")
    assert one.read_text() == "made\n" and two.read_text() == "made\n"
    (root / "two.txt").write_text("2")
    assert run("a_table") == ["fresh a_table[one]", "stale a_table[two] two"]
    (root / "engine.txt").write_text("2")
    assert run("a_table") == ["stale a_table[one] engine", "stale a_table[two] engine, two"]
    run("--make", "two")
    assert one.read_text() == "made\n" and two.read_text() == "made\nmade\n"
    assert run("a_table") == ["stale a_table[one] engine", "fresh a_table[two]"]
