"""The rostests of every package pass; each starts a roscore of its own."""

import os
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
FILES = sorted(SOURCE.glob("*/test/*.test"))


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parts[-3]}/{file.stem}")
def test_rostest(file: Path, tmp_path: Path) -> None:
    env = {
        **os.environ,
        "PWD": str(tmp_path),  # where a recorder begins its folder
        "ROS_HOME": str(tmp_path / "home"),
        "ROS_TEST_RESULTS_DIR": str(tmp_path / "results"),
        "ROS_IP": "127.0.0.1",
    }
    done = subprocess.run(["rostest", "--text", str(file)], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "* TESTS: 0" not in done.stdout, f"{file} holds no test"
