"""Every line of `make bench` runs, without timing: each compares the results of both sides before it times them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_line_of_make_bench_runs_and_is_in_the_table_of_its_page():
    command = [sys.executable, "benchmarks/run.py", "--smoke"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    names = found.stdout.split()
    page = (ROOT / "benchmarks" / "README.md").read_text()
    cells = [cell for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE) for cell in re.findall(r"`([^`]+)`", row)]
    patterns = [re.sub(r"-(P|W|PLANNER)(?=-|$)", r"-\\w+", re.escape(cell).replace(r"\-", "-")) for cell in cells]
    assert len(names) > 30
    assert [name for name in names if not any(re.fullmatch(pattern, name) for pattern in patterns)] == []
