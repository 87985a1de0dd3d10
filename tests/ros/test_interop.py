"""Restated message packages have the md5 sums that their upstreams publish, and hold nothing that Noetic could not build."""

import ast
import importlib
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import roslib.message

SOURCE = Path(__file__).parents[2] / "src"
PACKAGES = sorted(path.parent for path in (SOURCE / "interop").glob("*/package.xml"))
PUBLISHED = [line.split() for line in (Path(__file__).parent / "md5.txt").read_text().splitlines() if not line.startswith("#")]
PARTS_OF_ACTION = ("Action", "ActionGoal", "ActionResult", "ActionFeedback", "Goal", "Result", "Feedback")


def types(package: Path) -> set[str]:
    plain = {path.stem for kind in ("msg", "srv") for path in (package / kind).glob(f"*.{kind}")}
    return plain | {path.stem + part for path in package.glob("action/*.action") for part in PARTS_OF_ACTION}


@pytest.mark.parametrize("package", {name.split("/")[0]: None for name, _, _ in PUBLISHED})
def test_every_restated_type_has_the_sum_that_its_upstream_publishes(package: str) -> None:
    for name, sum_, repository in PUBLISHED:
        if name.startswith(f"{package}/"):
            found = roslib.message.get_message_class(name) or roslib.message.get_service_class(name)
            assert found is not None, f"{name} was not built"
            assert found._md5sum == sum_, f"{name} is not what {repository} defines"


def test_every_restated_type_is_in_the_table_and_the_table_has_no_other() -> None:
    here = {f"{package.name}/{name}" for package in PACKAGES for name in types(package)}
    assert here == {name for name, _, _ in PUBLISHED}


def test_every_sum_names_the_repository_and_the_whole_commit() -> None:
    for name, sum_, repository in PUBLISHED:
        assert re.fullmatch(r"[0-9a-f]{32}", sum_), name
        assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", repository), name


@pytest.mark.parametrize("package", [SOURCE / "agora_msgs", *PACKAGES], ids=lambda package: package.name)
def test_message_packages_hold_nothing_newer_than_noetic(package: Path) -> None:
    manifest = ET.parse(package / "package.xml").getroot()
    depends = {element.text for element in manifest if element.tag.endswith("depend")}
    own = {other.name for other in PACKAGES}
    noetic = {
        "catkin",
        "message_generation",
        "message_runtime",
        "actionlib_msgs",
        "geometry_msgs",
        "nav_msgs",
        "sensor_msgs",
        "std_msgs",
    }
    assert manifest.get("format") in ("2", "3")
    assert depends <= own | noetic
    commands = set(re.findall(r"^(\w+)\(", (package / "CMakeLists.txt").read_text(), re.M))
    assert commands <= {
        "cmake_minimum_required", "project", "find_package", "add_message_files", "add_service_files", "add_action_files",
        "generate_messages", "catkin_package",
    }  # fmt: skip
    version = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", (package / "CMakeLists.txt").read_text())
    assert version and tuple(map(int, version[1].split("."))) <= (3, 16), "Ubuntu 20.04 has CMake 3.16"
    files = {path.relative_to(package).parts[0] for path in package.rglob("*") if path.is_file()} - {"README.md", "CATKIN_IGNORE"}
    assert files <= {"package.xml", "CMakeLists.txt", "msg", "srv", "action"}


@pytest.mark.parametrize("package", ["agora_msgs", *(package.name for package in PACKAGES)])
def test_generated_code_is_python_3_8(package: str) -> None:
    folder = Path(importlib.import_module(package).__file__ or "").parent
    files = list(folder.rglob("*.py"))
    assert len(files) > 2
    for path in files:
        ast.parse(path.read_text(), feature_version=(3, 8))
