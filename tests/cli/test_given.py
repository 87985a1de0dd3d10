"""Every option of every command has an effect, or is refused by its name beside the options that leave it without one."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import pytest
from typer.main import get_command

from agora.cli.app import app, main

EFFECTIVE = {
    "run": "planner stage episode picture video replay live pedestrians seed simulator metric every",
    "bench": "planner stage episodes quick output executor threads batch resume add trajectories pedestrians seed simulator "
    "counterfactual no_control",
    "validate": "every table scene predictor places output alone unsteady behaviour",
    "calibrate": "trials seed output resume leave_one_out motion alone unsteady behaviour quick threads",
    "tune": "suite held_out objective trials minutes seed prune output preset workers resume",
    "play": "check video live",
    "edition": "text published source episodes",
    "look": "output stage episode time robot planner camera show seed simulator",
    "compare": "output baseline",
    "table": "kind metric stage planner own output",
    "figures": "metric kind",
    "leaderboard": "output alone",
    "list": "as_json",
    "robot": "kind",
    "train": "output seed resume minutes",
    "import hunav": "map output",
    "import irsim": "seed output",
    "bag": "people output robot goal odometry planner replay demonstrations metric every",
    "submit": "connect check",
    "web": "host port database workers accounts allow_code browser",
    "scenario show": "robot output",
    "scenario generate": "output seed values",
    "scenario validate": "robot output",
    "scenario convert": "output",
    "map generate": "output seed count kinds",
    "map show": "output",
    "map validate": "radius",
    "map export": "output kinds height",
    "data import": "columns scene",
    "policy export": "output",
    "export socnavbench": "output key",
    "export mcap": "output",
    "export socnavdata": "output key context",
    "export demonstrations": "output",
    "export rosbag": "output key",
    "export csv": "output",
    "import arena": "output",
    "import arena-reward": "safe_distance subgoals",
    "import arena-training": "output reward",
    "import pedsim": "output seed",
    "server worker": "database count executor",
    "server backup": "database output",
    "server restore": "database",
    "server invite": "database role user address",
    "serve socnavbench": "episodes output address recv send asynchronous patience render_mode resume video",
}
"""The options that every mode of a command reads; the others are in `CASES`."""

FORMER = {"mcap", "socnavbench", "socnavdata", "demonstrations"}

CASES: list[tuple[str, str, dict[str, str]]] = [
    ("run", "run demo -p dwa+polite", {"interplanner": "bypass"}),
    ("bench", "bench demo -p dwa+polite -p teb+meta", {"interplanner": "polite"}),
    ("bench", "bench demo -p dwa --executor processes:workers=1", {"workers": "4"}),
    ("bench", "bench demo -p dwa --trajectories none", {"video": "2", "record": "scan"}),
    ("bench", "bench demo -p dwa", {"ros_launch": "a.launch"}),
    ("bench", "bench limits -p dwa --quick", {"episodes": "2"}),
    ("bench", "bench demo -p socnavbench", {"batch": "2", "pedestrians": "truth", "trajectories": "all"}),
    (
        "validate",
        "validate --predictor constant_velocity",
        {"table": "", "scene": "zara03", "seed": "0", "behaviour": "groups", "threads": "3"},
    ),
    ("validate", "validate orca helbing", {"seed": "4"}),
    ("validate", "validate orca", {"quick": "", "threads": "2", "scene": "zara03"}),
    ("validate", "validate orca", {"suite": "demo", "episodes": "2"}),
    (
        "validate",
        "validate --places",
        {"table": "", "scene": "zara03", "alone": "", "unsteady": "", "behaviour": "groups", "quick": "", "threads": "3"},
    ),
    ("validate", "validate --places --suite demo", {"seed": "4"}),
    ("submit", "submit results/x", {"episodes": "3", "seed": "4", "workers": "0"}),
    (
        "submit",
        "submit results/x --check",
        {"planner": "dwa", "name": "a", "author": "b", "description": "c", "replays": "1", "output": "x"},
    ),
    ("calibrate", "calibrate anticipation --motion", {"alone": "", "unsteady": ""}),
    ("web", "web --workers 0", {"executor": "ray"}),
    ("web", "web", {"name": "host", "proxy": "10.0.0.1"}),
    ("scenario show", "scenario show ./a.json", {"seed": "2", "values": "width=3"}),
    ("scenario validate", "scenario validate ./a.json", {"seed": "2", "values": "width=3"}),
    ("map generate", "map generate office -o place", {"height": "3.0"}),
    ("map show", "map show hall", {"seed": "2"}),
    ("map export", "map export hall -o place", {"seed": "2"}),
    ("data import", "data import eth_ucy .", {"frame_rate": "25", "scale": "2"}),
    ("export mcap", "export mcap here -o there", {"key": "demo/hall/0/dwa"}),
    ("serve socnavbench", "serve socnavbench", {"repeats": "3", "camera": "width=64"}),
    ("serve socnavbench", "serve socnavbench --recv a --send b", {"address": "c"}),
]
"""Commands, what the user writes, and options that have no effect then, with a value."""


def options() -> dict[str, dict[str, str]]:
    """The options of every command: by its name, the names of their parameters and how they are written."""
    found: dict[str, dict[str, str]] = {}

    def walk(command: Any, path: str) -> None:
        for name, inner in getattr(command, "commands", {}).items():
            walk(inner, f"{path} {name}".strip())
        if not hasattr(command, "commands"):
            written = {o.name: max(o.opts, key=len) for o in command.params if o.param_type_name == "option" and o.name != "help"}
            found[path] = written

    walk(get_command(app), "")
    return {name: written for name, written in found.items() if written and name not in FORMER}


OPTIONS = options()


def test_every_option_is_read_in_every_mode_or_has_a_mode_that_refuses_it():
    known = {name: set(text.split()) for name, text in EFFECTIVE.items()}
    for command, _, refused in CASES:
        known.setdefault(command, set()).update(refused)
    assert known == {name: set(written) for name, written in OPTIONS.items()}


@pytest.mark.parametrize(
    ("line", "name", "option"),
    [
        (f"{line} {OPTIONS[command][name]} {value}", name, OPTIONS[command][name])
        for command, line, refused in CASES
        for name, value in refused.items()
    ],
)
def test_an_option_without_effect_is_refused_by_its_name(line, name, option, monkeypatch, capsys, tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "a.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["agora", *shlex.split(line)])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr().err
    assert ended.value.code == 2 and (option in said or name in said), said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "here"], "nothing is begun"
