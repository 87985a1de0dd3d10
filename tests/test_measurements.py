"""The measurements of the manual: a changed dependency makes them stale, and pages mark stale values."""

from __future__ import annotations

import dataclasses
import itertools
import shutil
import sys
from pathlib import Path

import pytest
from benchmarks.narrow import kept

from tests.learned import wall_readers

sys.path.append(str(Path(__file__).parents[1] / "docs"))

import rows
import standings
from measurements import catalogue, freshness

EDITION = "social@2026.12"


@pytest.fixture
def states(monkeypatch, tmp_path):
    """Return a function that gives the states of the measurements of a table, if the dependencies of a planner are others."""
    folder, copies = freshness.HERE, itertools.count()
    every = [one for one in catalogue.catalogue() if one.table in (EDITION, "planners")]

    def found(label: str = "", **changed: str) -> dict[str, freshness.Freshness]:
        parts = [dataclasses.replace(one, depends=dict(one.depends) | changed) if one.key == label else one for one in every]
        copy = tmp_path / f"docs_{next(copies)}" / "measurements"
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(".pytask", "__pycache__"))
        monkeypatch.setattr(freshness, "HERE", copy)
        monkeypatch.setattr(catalogue, "catalogue", lambda: iter(parts))
        monkeypatch.setattr(freshness, "catalogue", lambda: iter(parts))
        sys.modules.pop("task_measure", None)  # pytask collects tasks when it imports the file
        freshness.freshness.cache_clear()
        return freshness.freshness()

    yield found
    freshness.freshness.cache_clear()


def test_values_are_fresh_until_a_dependency_changes_and_only_those_of_that_planner_become_stale(states):
    before = states()
    fresh = {name for name, one in before.items() if one.state == "fresh"}
    assert "social_2026_12[teb]" in fresh and "planners[teb]" not in fresh
    after = states("teb", planner="other")
    assert after["social_2026_12[teb]"].state == "stale" and after["social_2026_12[teb]"].changed == ("planner",)
    assert {name for name, one in after.items() if one.state == "fresh"} == fresh - {"social_2026_12[teb]"}
    assert states("teb", engine="other", suite="another")["social_2026_12[teb]"].changed == ("engine", "suite")


def test_pages_and_the_readme_mark_stale_values(states):
    states("teb", planner="other")
    marks = {row["planner"]: row["stale"] for row in rows.measured(EDITION)}
    assert marks["teb"] == "stale" and marks["orca"] == ""
    assert any("| `teb` (stale) |" in line for line in standings.standings())
    lines = [rows.measured_line(row)[0] for row in rows.measured(EDITION)]
    assert "`teb` (stale)" in lines and "`orca`" in lines


def test_every_measured_planner_of_the_catalogue_has_a_row_and_every_name_is_unique(states):
    every = list(states().values())
    assert len({one.measurement.name for one in every}) == len(every)
    kept = {row["planner"] for row in rows.measured(EDITION)}
    assert {one.measurement.key for one in every if one.measurement.table == EDITION and one.state != "missing"} == kept


def test_the_narrow_places_are_measured_with_the_planners_that_their_table_may_have():
    keys = {one.key for one in catalogue.catalogue() if one.table == "narrow"}
    assert keys == wall_readers() - {"recovering"}
    assert {row["planner"] for row in kept()} <= keys


def test_the_list_counts_states_by_table_and_names_what_changed(states, capsys, monkeypatch):
    states("teb", planner="other")
    monkeypatch.setattr(sys, "argv", ["freshness.py"])
    assert freshness.main() == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("social_2026_12 "))
    assert line.split()[1:] == ["37", "1", "0", "planner", "(1)"]
    monkeypatch.setattr(sys, "argv", ["freshness.py", "TEB"])
    freshness.main()
    assert "stale    social_2026_12[teb]" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["freshness.py", "tebb"])
    with pytest.raises(SystemExit, match="no measurement is called tebb; the tables are planners, social_2026_12"):
        freshness.main()
