"""A stranger's planner: CONTRIBUTING is followed word by word in a fresh environment."""

from __future__ import annotations

import shlex

import pytest

from tests.environments import ROOT, Environment
from tests.test_docs import blocks


@pytest.fixture
def stranger(tmp_path):
    """A folder with the files that CONTRIBUTING shows, and an environment that has Agora."""
    folder = tmp_path / "polite"
    folder.mkdir()
    environment = Environment.make(tmp_path / "environment")
    environment.add_checkout()
    for block in blocks(ROOT / "CONTRIBUTING.md"):
        if block.file is not None:
            (folder / block.file).write_text(block.text, encoding="utf-8")
    return folder, environment


def test_contributing_shows_one_file_and_one_entry_point(stranger):
    folder, _ = stranger
    assert sorted(path.name for path in folder.iterdir()) == ["polite.py", "pyproject.toml"]
    assert (folder / "polite.py").read_text(encoding="utf-8").count("\n") < 40


def test_a_planner_is_added_as_contributing_says(stranger):
    folder, environment = stranger
    _, _, console, python, *_ = blocks(ROOT / "CONTRIBUTING.md")
    said = {}
    for line in console.text.splitlines():
        words = shlex.split(line)
        if words[0] == "pip":
            assert words[1] == "install"
            environment.pip(*words[2:], where=folder)
        else:
            said[words[1]] = environment.run(*words, where=folder)
    assert "polite" in said["list"].replace(",", "").split()
    assert said["run"].startswith("demo/hall/0")
    assert "polite:distance=1.2" in said["bench"] and "pure_pursuit" in said["bench"]
    assert "polite:distance=1.2" in (folder / "results" / "polite" / "report.html").read_text(encoding="utf-8")
    environment.run("python", "-c", python.text, where=folder)
