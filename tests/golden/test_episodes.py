"""Golden episodes come out to the bit, whatever compiled the kernels, and when."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.golden.episodes import episodes, golden

ROOT = Path(__file__).parents[2]
MEANT = "results have changed; if that is meant, raise the versions of the suites and run python -m tests.golden.episodes"


def test_golden_episodes_come_out_to_the_bit():
    expected = golden()
    found = episodes(expected["columns"])
    here = found["rows"]
    new = sorted(here.keys() - expected["rows"].keys())
    rows = [f"{key}: {row} became {here.get(key)}" for key, row in expected["rows"].items() if row != here.get(key)]
    columns = [name for name, digest in expected["columns"].items() if digest != found["columns"][name] and not new]  # of all rows
    if rows or columns:
        pytest.fail("\n".join([MEANT, f"columns: {', '.join(columns)}", *rows]), pytrace=False)
    if new:
        pytest.fail(f"new: {', '.join(new)}; python -m tests.golden.episodes adds them", pytrace=False)


@pytest.mark.slow
@pytest.mark.parametrize("processor", ["x86-64-v3", "the host"])
def test_golden_episodes_do_not_depend_on_the_processor_or_on_whether_kernels_come_from_the_cache(tmp_path, processor):
    named = {} if processor == "the host" else {"NUMBA_CPU_NAME": processor}
    path = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | named | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": path}
    for _ in ("compiled", "cached"):
        arguments = [sys.executable, "-m", "tests.golden.episodes", "--print"]
        printed = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True).stdout
        assert json.loads(printed) == golden()
    assert list(tmp_path.rglob("*.nbc"))
