"""Hints about extras: each names a command that works where it is printed."""

from __future__ import annotations

import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from agora import extras

ROOT = Path(__file__).resolve().parents[1]
OPTIONAL = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
OF_USERS = sorted(set(OPTIONAL) - {"test", "check", "dev", "docs", "bench"})


@pytest.mark.parametrize("extra", OF_USERS)
def test_a_hint_names_this_python_the_packages_of_the_extra_and_the_pins_of_the_checkout(extra):
    python, *words = shlex.split(extras.how_to_install(extra))
    assert python == sys.executable and words[:3] == ["-m", "pip", "install"]
    assert words[3:5] == ["--constraint", str(ROOT / "requirements.lock")]
    assert {str(Requirement(word)) for word in words[5:]} == {str(Requirement(line)) for line in OPTIONAL[extra]} != set()


def test_away_from_a_checkout_a_hint_has_no_pins(monkeypatch, tmp_path):
    monkeypatch.setattr(extras, "_CHECKOUT", tmp_path)
    assert shlex.split(extras.how_to_install("validate"))[1:4] == ["-m", "pip", "install"]
    assert "--constraint" not in extras.how_to_install("validate")
    assert "reading bags needs the package rosbags; install it: " in str(extras.missing("reading bags needs", "rosbags", "ros"))


def test_pages_and_code_name_no_index_that_would_have_to_know_agora():
    folders = ((ROOT / "docs", "**/*.md"), (ROOT / "src", "**/*.md"), (ROOT, "*.md"), (ROOT / "src" / "agora", "**/*.py"))
    pages = [path for folder, pattern in folders for path in folder.glob(pattern)]
    asked = {}
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"install[^\n]*agora-nav\[|install\s+'?agora-nav", text), path
        asked |= {extra: path for extra in re.findall(r"--editable '\.\[(\w+)\]'", text)}
    assert asked.keys() <= OPTIONAL.keys() and len(asked) >= 6


def test_make_ros_brings_what_reads_bags():
    rules = dict(re.findall(r"^([\w ]+): (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert "$(VENV)/.ros" in rules["workspace"].split()
