"""The pages and launch files of the ROS graph name every component that their arguments can name."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from agora.errors import InputError
from agora.node_logic.relay import Relay
from agora.planners.presets import named_interplanner
from agora.registry import available
from agora.robots.model import load_robot

ROOT = Path(__file__).parents[1]
KINDS = {
    "inter_planner": "interplanners",
    "tm_robots": "robots_modes",
    "tm_obstacles": "obstacles_modes",
    "tm_modules": "modules",
    "behaviours": "behaviours",
}
"""Arguments whose documentation lists names, and the kind of component that each names."""


@pytest.mark.parametrize("argument", KINDS)
def test_the_launch_files_documentation_of_an_argument_names_every_component(argument):
    root = ElementTree.parse(ROOT / "launch" / "start_arena.launch").getroot()
    said = next(arg.get("doc") for arg in root.iter("arg") if arg.get("name") == argument)
    names = said.partition(":")[2] or said
    assert re.findall(r"\w+", names.partition(";")[0]) == sorted(available(KINDS[argument]))


@pytest.mark.parametrize("argument", sorted(KINDS.keys() - {"inter_planner"}))
def test_the_manual_has_a_row_for_every_mode_module_and_behaviour(argument):
    page = (ROOT / "docs/how-to/task_generator_in_ros.md").read_text(encoding="utf-8")
    table = page.partition(f"| `{argument}` |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == sorted(available(KINDS[argument]))


def test_the_page_on_move_base_flex_names_the_interplanners_that_can_stand_in_front_of_it():
    page = (ROOT / "docs/how-to/move_base_flex.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| `inter_planner` \| (.*) \|$", page, re.MULTILINE)
    fit = []
    for name in sorted(available("interplanners")):
        try:
            Relay(load_robot("jackal"), named_interplanner(name))
        except InputError:
            continue
        fit.append(name)
    assert re.findall(r"`(\w+)`", row) == fit


def test_every_argument_that_a_page_gives_to_the_launch_file_is_declared():
    root = ElementTree.parse(ROOT / "launch" / "start_arena.launch").getroot()
    declared, given = {arg.get("name") for arg in root.iter("arg")}, set()
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        for command in re.findall(r"start_arena\.launch([^`\n]*)", text):
            given |= set(re.findall(r"(?<![\w/~])(\w+):=", command))
    assert given <= declared and {"tm_obstacles", "record_data_dir", "episodes"} <= given, given - declared
