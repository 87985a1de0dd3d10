"""The hot kernels need as many instructions as when the counts were stored: a guard against slower code that needs no clock."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "instructions.py"
needs_valgrind = pytest.mark.skipif(shutil.which("valgrind") is None and os.environ.get("CI") != "true", reason="needs valgrind")


@pytest.fixture(scope="module")
def instructions() -> ModuleType:
    spec = importlib.util.spec_from_file_location("instructions", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@needs_valgrind
def test_hot_kernels_need_as_many_instructions_as_before(instructions):
    now = instructions.count()
    told = "counts have changed; if that is meant, say why and run python benchmarks/instructions.py --write\n"
    different = instructions.differences(instructions.stored(), now)
    assert not different, told + "\n".join(different)


def test_a_difference_shows_both_counts(instructions):
    found = instructions.differences({"a": 1000, "b": 1000, "c": 10, "d": 1}, {"a": 1049, "b": 1051, "c": 9, "e": 2})
    assert found == ["b: 1,000 became 1,051 (+5%)", "c: 10 became 9 (-10%)", "d: 1 became none", "e: none became 2"]
