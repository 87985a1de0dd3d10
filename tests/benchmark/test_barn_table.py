"""The script ``benchmarks/barn.py`` on data that has only some of the published worlds."""

from __future__ import annotations

import subprocess
import sys

from tests.small_sets import small_barn

from agora.share import folder


def test_published_runs_of_worlds_that_the_data_lacks_are_counted_and_left_out(tmp_path):
    place = small_barn(tmp_path / "barn")
    (place / "metrics.csv").write_text("world\n4\n")
    runs = ("4,1,0,0,12.5", "4,0,1,0,3.25", "6,1,0,0,9.0", "12,0,0,1,50.0")
    (place / "dwa_reference_runs.csv").write_text("\n".join(("world,success,collision,timeout,time_s", *runs)) + "\n")
    script = folder("configs").parent / "benchmarks" / "barn.py"
    done = subprocess.run([sys.executable, script], env={"AGORA_DATA": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "| published | 2 | 0.500 (0.500 to 0.500) | 0.500" in done.stdout
    assert "published: 2 of 4 runs are left out: the data lacks their 2 worlds" in done.stderr
