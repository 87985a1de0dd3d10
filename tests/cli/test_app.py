"""The command line: it says what it can do, does it, and refuses what it cannot with exit code 2, leaving nothing behind."""

from __future__ import annotations

import importlib
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.naughty import Naughty
from tests.suites import suite, write_world

from agora import __version__
from agora.benchmark.results.store import read_rows
from agora.cli.app import main
from agora.config import dump
from agora.registry import Named, ready

COMMANDS = ["bench", "edition", "tune", "run", "report", "list", "robot", "doctor", "data", "data status", "data import"]
COMMANDS += ["validate", "calibrate", "compare", "table", "export", "export rosbag", "export csv", "export mcap"]
COMMANDS += ["map", "map list", "map generate", "map show", "map validate", "map export"]
COMMANDS += ["import", "import arena", "import arena-reward", "import arena-training"]


@pytest.fixture
def agora(monkeypatch, capsys, tmp_path):
    """Runs the command line in an empty folder; returns exit code, output and errors."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("COLUMNS", "150")

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["agora", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A file of a suite that is quick to run."""
    folder = tmp_path_factory.mktemp("places")
    path = folder / "small.yaml"
    path.write_text(dump(suite(write_world(folder / "room"), episodes=2, timeout=1.0, crowds=["helbing"])))
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_what_it_does_and_what_each_option_means(agora, command):
    code, help_, _ = agora(*command.split(), "--help")
    assert code == 0
    lines = [line for line in help_.splitlines() if line.startswith("│ ")]
    starts = [line.strip("│ ") for line in lines if re.match(r"│ (\* )? {0,5}(--|[a-z{])", line)]  # others continue a line
    assert starts
    assert all(re.search(r" {2,}\S.*[A-Za-z]{2,}", line) for line in starts), lines
    assert re.search(r"[A-Z][a-z].*\.", help_)


@pytest.mark.parametrize("width", [60, 100])
def test_help_wraps_to_the_width_of_the_terminal(agora, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    for command in COMMANDS:
        lines = [line.rstrip() for line in agora(*command.split(), "--help")[1].splitlines()]
        assert max(map(len, lines)) <= width, command
        text = lines[2 : next((k for k, line in enumerate(lines) if line.startswith("╭")), len(lines))]
        for line, below in itertools.pairwise(text):
            assert not line or not below or len(line) + len(below.split()[0]) >= width - 2, f"{command}: {line!r} ends early"


def test_help_names_every_command_and_the_version_is_told(agora):
    _, help_, _ = agora("--help")
    assert all(command.split()[0] in help_ for command in COMMANDS)
    assert agora("--version") == (0, f"{__version__}\n", "")


def test_a_planner_that_fails_is_told_with_its_line_and_ends_with_code_1(agora, small, monkeypatch):
    importlib.import_module("agora.benchmark.request_form")  # which would keep what it is given here, were it imported meanwhile
    blind = Naughty("raises", after=2, beyond=-99.0)
    monkeypatch.setattr("agora.benchmark.control.named_planner", lambda text, inter: (text, Named(text, blind)))
    code, said, _ = agora("run", small, "--planner", "mine", "--picture", "there.png")
    assert code == 1 and "mine: planner_failed" in said and Path("there.png").is_file()
    assert re.search(
        r"robot 1: its planner failed after 0\.20 s: ZeroDivisionError: on purpose \(naughty.py, line \d+, in raises:", said
    )


def test_help_needs_none_of_the_heavy_packages():
    code = "import sys; sys.argv = ['agora', '--help']\nfrom agora.cli.app import main\ntry: main()\nexcept SystemExit: pass\n"
    code += "print(sorted({'numba', 'numpy', 'pyarrow', 'matplotlib', 'torch', 'rclpy', 'rospy', 'scipy'} & set(sys.modules)))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines()[-1] == "[]"


def test_what_can_be_named_is_listed_for_people_and_machines(agora):
    code, text, _ = agora("list")
    listed = json.loads(agora("list", "--json")[1])
    assert code == 0
    assert {"demo"} <= set(listed["suites"]) and {"orca", "dwa"} <= set(listed["planners"]) and "jackal" in listed["robots"]
    assert {"helbing", "orca"} <= set(listed["crowd_models"]) and "folder" in listed["worlds"] and "success" in listed["metrics"]
    assert all(f"{kind}: " in text for kind in listed)
    lines = agora("list", "planners")[1].splitlines()
    assert [line.split()[0] for line in lines] == listed["planners"]
    assert all(re.fullmatch(r"\w+ {2,}\S.*[a-z]{2,}.*", line) for line in lines), lines
    assert agora("list", "robots")[1].splitlines() == listed["robots"]
    assert json.loads(agora("list", "robots", "--json")[1]) == {"robots": listed["robots"]}


def test_the_description_of_a_robot_is_printed_for_rviz_and_for_gazebo(agora):
    assert agora("robot", "jackal")[1].startswith('<?xml version="1.0"?>\n<robot name="jackal">')
    assert '<sdf version="1.6">' in agora("robot", "jackal", "--format", "sdf")[1]
    code, _, problem = agora("robot", "jackal", "--format", "xacro")
    assert code == 2 and "expected urdf or sdf" in problem


def test_the_doctor_says_what_is_there_and_fails_where_something_is_missing(agora, monkeypatch):
    code, text, _ = agora("doctor")
    assert code == 0 and "MISSING" not in text and "kernels compile" in text
    monkeypatch.setattr("agora.doctor.find_spec", lambda name: None if name == "av" else object())
    code, text, _ = agora("doctor")
    assert code == 1
    assert [line for line in text.splitlines() if line.startswith("MISSING")] == ["MISSING av: video"]


def test_the_doctor_calls_nothing_ok_that_is_not_there(agora, monkeypatch):
    monkeypatch.setattr("agora.doctor.find_spec", lambda name: None if name in ("torch", "rospy") else object())
    code, text, _ = agora("doctor")
    assert code == 0
    assert [line.split()[0] for line in text.splitlines() if " torch" in line or " ROS" in line] == ["absent", "absent"]
    assert "absent  torch: training: not found (" in text and "pip install" in text


def test_one_episode_is_run_and_shown_in_every_way(agora, small):
    code, text, _ = agora(
        "run", small, "-p", "orca", "--episode", "1", "--picture", "a.png", "--video", "a.mp4", "--replay", "a.html"
    )
    assert code == 0
    assert text.startswith("small/helbing/1  seed 3  orca: timeout\n")
    numbers = [line.split()[0] for line in text.splitlines() if line.startswith("  ")]
    assert len(numbers) == 9 + 1 and numbers[0] == "success" and re.search(r"path_length +\d\.\d+ m\n", text)
    assert text.endswith("picture  a.png\nvideo    a.mp4\nreplay   a.html\n")
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")
    assert b"ftyp" in Path("a.mp4").read_bytes()[:12]
    assert "<canvas" in Path("a.html").read_text()


def test_one_metric_or_all_are_printed_where_that_is_asked_for(agora, small):
    run = ("run", small, "-p", "go_to_goal", "--simulator", "native")

    def printed(*more: str) -> list[str]:
        return [line.split()[0] for line in agora(*run, *more)[1].splitlines() if line.startswith("  ")]

    assert printed("-m", "timeout", "--metric", "path_length") == ["timeout", "path_length"]
    assert sorted(printed("--all")) == sorted(json.loads(agora("list", "metrics", "--json")[1])["metrics"])


def test_the_command_that_a_failure_names_runs_that_episode_again(agora, small, tmp_path, monkeypatch):
    importlib.import_module("agora.benchmark.control")
    blind = Naughty("raises", after=2, beyond=-99.0)
    for place in ("agora.planners.presets.named_planner", "agora.benchmark.control.named_planner"):
        monkeypatch.setattr(place, lambda text, inter="": (text.replace("/", "|"), Named(text, blind)))
    how = ("--workers", "0", "--no-control", "--seed", "5", "--simulator", "native")
    code, said, _ = agora("bench", small, "-p", "mine:file=a/b", "-o", "out", *how)
    assert code == 1
    again = next(line for line in said.splitlines() if "to repeat that episode: " in line).partition(": ")[2]
    words = shlex.split(again)
    given = dict(zip(words[3::2], words[4::2], strict=True))
    assert words[:3] == ["agora", "run", str(small)] and given["--planner"] == "mine:file=a/b" and given["--seed"] == "5"
    assert given["--simulator"] == "native" and set(given) == {*given, "--stage", "--episode"}
    code, said, _ = agora(*words[1:])
    assert code == 1 and "ZeroDivisionError: on purpose" in said


@pytest.mark.parametrize("command", ["run", "bench"])
def test_whoever_stops_reading_the_output_gets_all_files(small, tmp_path, command):
    """The reader is gone before the first line is printed."""
    picture, folder = tmp_path / "f.png", tmp_path / "out"
    more = ["--picture", str(picture)] if command == "run" else ["-o", str(folder), "--workers", "0", "--no-control"]
    arguments = [sys.executable, "-c", "from agora.cli.app import main; main()", command, str(small), "-p", "go_to_goal", *more]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert picture.is_file() if command == "run" else (folder / "report.html").is_file()


def test_a_suite_is_run_reported_and_resumed(agora, small):
    code, text, error = agora("bench", small, "-p", "orca", "-p", "go_to_goal", "-o", "out", "--workers", "0", "--videos", "1")
    assert (code, error) == (0, "")
    assert re.search(r"go_to_goal +│ 4", text) and "report  out/report.html" in text
    assert len(list(Path("out/video").glob("*.mp4"))) == 2
    page = Path("out/report.html").read_text()
    Path("out/report.html").unlink()
    assert agora("report", "out") == (0, "out/report.html\n", "")
    assert Path("out/report.html").read_text() == page
    refused = agora("bench", small, "-p", "orca", "-p", "go_to_goal", "-o", "out")
    assert refused[0] == 2 and "--resume" in refused[2]
    assert agora("bench", small, "-p", "orca", "-p", "go_to_goal", "-o", "out", "--workers", "0", "--resume")[0] == 0
    other = agora("bench", small, "-p", "orca", "-p", "go_to_goal", "-o", "out", "--resume", "--seed", "4")
    assert other[0] == 2 and "suite.seed was 3, but is now 4" in other[2]


def test_a_strangers_planner_that_ends_its_process_fails_in_a_worker_and_one_that_is_killed_is_named(small, tmp_path):
    module = "from dataclasses import dataclass\nimport os\n\nfrom agora.interfaces import Declaration\n"
    module += "@dataclass(frozen=True)\nclass Quitter:\n"
    module += "    at: float = 5.0\n    signal: int = 0\n"
    module += "    declares = Declaration()\n    def plan(self, observation, memory):\n"
    module += (
        "        if observation.goal[0] > self.at:\n            os.kill(os.getpid(), self.signal) if self.signal else os._exit(9)\n"
    )
    module += "        return (0.3, 0.0, 0.1), None\n"
    (tmp_path / "quitter.py").write_text(module)
    info = tmp_path / "quitter-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: quitter\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[agora.planners]\nquitter = quitter:Quitter\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    arguments = [sys.executable, "-c", "from agora.cli.app import main; main()"]
    arguments += ["bench", str(small), "-o", str(tmp_path / "out")]
    arguments += [word for name in ("quitter", "quitter:signal=9", "quitter:at=99") for word in ("-p", name)]
    how = {"env": os.environ | {"PYTHONPATH": path}, "capture_output": True, "text": True, "check": False}
    assert subprocess.run([*arguments, "--workers", "0"], **how).returncode == -9  # nothing in a process outlives its death
    ended = subprocess.run([*arguments, "--resume"], **how)
    assert ended.returncode == 1, ended.stderr
    lost = (tmp_path / "out" / "interrupted.txt").read_text().splitlines()
    assert 0 < len(lost) <= 2
    assert all(line.endswith("\tits worker died (exit code -9)") and "/quitter:signal=9/0" in line for line in lost)
    assert f"{len(lost)} episodes have no row" in ended.stderr
    assert re.search(r"quitter +│ 4", ended.stdout) and re.search(r"quitter:at=99 +│ 4", ended.stdout)
    page = (tmp_path / "out" / "report.html").read_text()
    assert "its worker died (exit code -9)" in page
    assert "ProcessExit: os._exit(9) (quitter.py, line 12, in plan: " in page


def test_without_a_planner_all_that_are_registered_are_compared(agora, small, tmp_path):
    code, out, err = agora("bench", small, "-o", tmp_path / "run", "--workers", "0", "--trajectories", "none")
    assert code == 0, err
    assert {row["planner"] for row in read_rows(tmp_path / "run" / "episodes")} == set(ready("planners"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("bench dmo -p orca", "no suite called 'dmo'; did you mean 'demo'?"),
        ("bench nowhere.yaml -p orca", "nowhere.yaml: there is no such file"),
        ("bench demo -p orka", "no planner called 'orka'; did you mean 'orca'?"),
        ("bench demo -p dwa:sim_tme=2", "planner 'dwa:sim_tme=2': sim_tme: unknown key; did you mean 'sim_time'?"),
        ("bench demo -p dwa:sim_time=soon", "sim_time: expected a number, got 'soon'"),
        ("bench demo -p dwa:sim_time=.nan", "sim_time: expected a finite number, got nan"),
        ("bench demo -p dwa:sim_time=0", "sim_time: expected a number in (0, 36000], got 0"),
        ("bench demo -p orca --trajectories some", "--trajectories: expected one of all, failed, none, got 'some'"),
        ("bench demo -p orca --batch 0", "--batch: expected an integer of at least 1, got 0"),
        ("bench demo -p orca --seed -1", "Invalid value for '--seed'"),
        ("tune orca --suite demo --held-out planners", "suite 'demo' is for tests"),
        ("calibrate waypoint", "crowd model 'waypoint' declares no parameters"),
        ("validate helbing helbing_simpel", "helbing_simple"),
        (
            "tune orca --suite planners_training --held-out demo --objective sucess",
            "no metric called 'sucess'; did you mean 'success'?",
        ),
        ("tune orca:padding=3 --suite planners_training --held-out demo", "padding is 3.0; tuning covers 0 to 0.5"),
        ("run demo -p orca -p dwa", "--planner is given 2 times, but takes one value"),
        ("bench demo -p orca --batch 1 -p dwa --batch 1", "--batch is given 2 times, but takes one value"),
        ("map generate hall -o a --output b --seed 1", "--output is given 2 times, but takes one value"),
        ("run demo -p orca --all --metric success", "--all cannot be combined with --metric"),
        ("run demo -p orca --metric sucess", "no metric called 'sucess'; did you mean 'success'?"),
        ("run demo -p orca --episode 99", "--episode: stage 'hall' has episodes 0 to 7, got 99"),
        ("run demo -p orca --stage hal", "no stage called 'hal'; did you mean 'hall'?"),
        ("run demo -p orca --picture a.gif", "--picture a.gif: expected a name that ends in .png or .pdf or .svg"),
        ("run demo -p orca --video a.avi", "--video a.avi: expected a name that ends in .mp4"),
        (
            "run demo -p orca --replay nowhere/a.html",
            "--replay nowhere/a.html: cannot be written; expected a file name in an existing, writable folder",
        ),
        ("run demo -p orca --live", "no screen: neither DISPLAY nor WAYLAND_DISPLAY is set"),
        ("report .", "contains no run.yaml; expected a run folder"),
        ("list robotz", "no kind called 'robotz'; did you mean 'robots'?"),
        ("data import brn .", "no data set called 'brn'; did you mean 'barn'?"),
        ("data import barn .", "not the data set 'barn': it lacks"),
        ("benhc demo", "No such command 'benhc'"),
    ],
)
def test_what_cannot_be_done_is_refused_with_exit_code_2_and_nothing_is_written(agora, monkeypatch, arguments, message):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    code, out, error = agora(*arguments.split())
    assert code == 2
    assert message in " ".join(error.replace("│", " ").split())
    assert "Traceback" not in error and out == ""
    assert list(Path().iterdir()) == []


def test_data_is_found_by_its_folder_and_brought_in(agora, monkeypatch, data):
    monkeypatch.setenv("AGORA_DATA", str(Path("mine").absolute()))
    lines = agora("data", "status")[1].splitlines()
    assert [line.split()[:2] for line in lines] == [[name, "absent"] for name in ("eth_ucy", "socnavbench", "barn", "dynabarn")]
    code, said, error = agora("data", "import", "dynabarn", data / "dynabarn")
    assert (code, error) == (0, "")
    assert Path(said.strip()).is_dir()
    assert "dynabarn       complete" in agora("data", "status")[1]
