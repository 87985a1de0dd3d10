"""The workspace: what a user may add to it, and what it makes of it."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
NODES = sorted(path for path in ROOT.glob("src/agora_*/nodes/*") if path.is_file())
MANIFESTS = sorted([*ROOT.glob("src/*/package.xml"), *ROOT.glob("src/interop/*/package.xml")])


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A copy of src/interop in a workspace of its own."""
    shutil.copytree(ROOT / "src" / "interop", tmp_path / "ours" / "src" / "interop", ignore=shutil.ignore_patterns("CATKIN_IGNORE"))
    return tmp_path / "ours"


def step_back(workspace: Path, *paths: Path) -> tuple[str, set[str]]:
    """Return the output of src/interop/step_back where ROS looks for packages in ``paths``, and the packages that stay out."""
    env = {**os.environ, "ROS_PACKAGE_PATH": ":".join(map(str, paths))}
    done = subprocess.run([workspace / "src/interop/step_back"], env=env, capture_output=True, text=True, check=True)
    return done.stdout, {ignored.parent.name for ignored in workspace.glob("src/interop/*/CATKIN_IGNORE")}


def test_a_restated_package_steps_back_for_the_real_one_and_returns_when_that_is_gone(workspace: Path, tmp_path: Path) -> None:
    real = tmp_path / "underlay" / "share"
    shutil.copytree(workspace / "src/interop/pedsim_msgs", real / "pedsim_msgs")
    said, out = step_back(workspace, real, workspace / "src")
    assert out == {"pedsim_msgs"}
    assert str(real / "pedsim_msgs") in said
    shutil.rmtree(real)
    assert step_back(workspace, workspace / "src") == ("", set())


def test_a_workspace_is_not_an_upstream_of_itself(workspace: Path) -> None:
    shutil.copytree(workspace / "src/interop/mbf_msgs", workspace / "build/ros/install/share/mbf_msgs")
    assert step_back(workspace, workspace / "src", workspace / "build/ros/install/share") == ("", set())


def test_rosinstall_names_upstreams_at_whole_commits() -> None:
    entries = YAML(typ="safe").load(ROOT / ".rosinstall")
    assert [set(entry) for entry in entries] == [{"git"}] * len(entries)
    for entry in (entry["git"] for entry in entries):
        assert set(entry) == {"local-name", "uri", "version"}
        assert re.fullmatch(r"https://github\.com/[\w-]+/[\w-]+\.git", entry["uri"])
        assert re.fullmatch(r"[0-9a-f]{40}", entry["version"])
    names = [entry["git"]["local-name"] for entry in entries]
    assert len(names) == len(set(names))
    expected = "flatland move_base_flex navigation teb_local_planner pedsim_ros gazebo_ros_pkgs ROS-TCP-Endpoint"
    assert set(expected.split()) <= set(names)


def test_rosinstall_pins_the_commits_whose_messages_are_restated() -> None:
    pinned = {entry["git"]["uri"][len("https://github.com/") : -len(".git")]: entry["git"]["version"]
              for entry in YAML(typ="safe").load(ROOT / ".rosinstall")}  # fmt: skip
    table = [
        line.split()[2].split("@") for line in (ROOT / "tests/ros/md5.txt").read_text().splitlines() if not line.startswith("#")
    ]
    both = {repository: commit for repository, commit in table if repository in pinned}
    assert len(both) >= 4
    assert both == {repository: pinned[repository] for repository in both}


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda manifest: manifest.parent.name)
def test_every_package_depends_on_what_is_there(manifest: Path) -> None:
    depends = {element.text or "" for element in ET.parse(manifest).getroot() if element.tag.endswith("depend")}
    for name in sorted(depends):
        there = importlib.util.find_spec(name) or subprocess.run(["rospack", "find", name], capture_output=True).returncode == 0
        assert there, f"{name} is neither a Python module nor a package here"


def sourced(space: Path, command: str, where: Path = ROOT) -> str:
    """Return the output of a command in a shell that has sourced a space and knows nothing else; another Python comes first on its
    path.
    """
    env = {"HOME": os.environ["HOME"], "PATH": "/usr/bin:/bin", "ROS_LOG_DIR": "/tmp", "TERM": "dumb"}
    script = f". '{space}/setup.bash' && {command}"
    done = subprocess.run(["bash", "-c", script], env=env, cwd=where, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(params=["devel", "install"])
def space(request: pytest.FixtureRequest) -> Path:
    """The devel space and the install space that ``make workspace`` fills; elsewhere the install space may be missing."""
    found = Path(os.environ["CMAKE_PREFIX_PATH"].split(":")[0]).parent / request.param
    if not found.exists() and os.environ.get("CI") != "true":
        pytest.skip(f"{found} was not made")
    return found


def test_the_sourced_python_has_agora_and_the_messages(space: Path) -> None:
    said = sourced(space, "python3 -c 'import agora, agora_ros, agora_msgs.msg, rospy; print(agora_msgs.__file__)'")
    assert said.startswith(f"{space}/")


def test_start_arena_is_found_by_its_package_and_by_its_path(space: Path, tmp_path: Path) -> None:
    by_package = sourced(space, "roslaunch --nodes agora_bringup start_arena.launch headless:=2", where=tmp_path)
    assert "/task_generator_server" in by_package.split()
    assert sourced(space, "roslaunch --nodes launch/start_arena.launch headless:=2") == by_package
    files = sourced(space, "roslaunch --files agora_bringup start_arena.launch headless:=2", where=tmp_path).split()
    assert files and all(Path(file).is_file() for file in files)


@pytest.mark.parametrize("node", NODES, ids=lambda node: f"{node.parts[-3]}/{node.name}")
def test_every_node_is_found_in_both_spaces(node: Path, space: Path) -> None:
    assert node.stat().st_mode & 0o111 == 0o111
    assert node.read_text().startswith("#!/usr/bin/env python3\n")
    assert (space / "lib" / node.parts[-3] / node.name).exists()


def test_every_module_is_found_in_both_spaces(space: Path) -> None:
    files = sorted(ROOT.glob("src/agora_*/src/**/*.py"))
    names = [".".join(file.with_suffix("").parts[len(ROOT.parts) + 3 :]).removesuffix(".__init__") for file in files]
    assert "agora_simulators.drivers.flatland" in names
    sourced(space, f"python3 -c 'import importlib.util, sys; list(map(importlib.util.find_spec, sys.argv[1:]))' {' '.join(names)}")


@pytest.mark.slow
def test_catkin_build_makes_the_same_workspace(tmp_path: Path) -> None:
    sources = tmp_path / "src"
    shutil.copytree(ROOT / "src", sources, ignore=shutil.ignore_patterns("agora", "__pycache__"), symlinks=True)
    (sources / "CMakeLists.txt").unlink(missing_ok=True)
    shutil.copytree(ROOT / "launch", tmp_path / "launch")
    env = {**os.environ, "TERM": "dumb", "HOME": str(tmp_path)}
    python = f"-DPYTHON_EXECUTABLE={sys.executable}"
    for words in (["config", "--init", "--cmake-args", python], ["build", "--no-status"]):
        done = subprocess.run(["catkin", *words], cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert sourced(tmp_path / "devel", "python3 -c 'import agora_msgs.msg as m; print(m.__file__)'").startswith(str(tmp_path))


def test_packages_that_are_missing_are_named_in_one_command(tmp_path: Path) -> None:
    (tmp_path / "install-ros").write_text((ROOT / "docker/install-ros").read_text())
    (tmp_path / "install-ros").chmod(0o755)
    (tmp_path / "ros-packages.txt").write_text("# a note\nros-of-nobody\npython3-rospy\n")
    (tmp_path / "id").write_text("#!/bin/sh\necho 1000\n")
    (tmp_path / "id").chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run([tmp_path / "install-ros"], env=env, capture_output=True, text=True)
    assert done.returncode == 1
    assert "sudo apt-get install --no-install-recommends ros-of-nobody\n" in done.stderr
