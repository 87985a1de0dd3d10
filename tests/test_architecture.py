"""The shape of the library: what it may import, how big its parts are, what has no types."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import agora.testing
from agora.registry import KINDS

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "src" / "agora"
FILES = sorted(LIBRARY.rglob("*.py"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}
PACKAGES = sorted(path.parent for path in (ROOT / "src").rglob("package.xml"))
OF_NODES = sorted(
    path
    for package in PACKAGES
    for path in package.rglob("*")
    if path.suffix == ".py" or (path.parent.name == "nodes" and path.is_file() and not path.suffix)
)
COMPILED = {"device", "hidden", "inlined", "kernel", "lean", "lean_inlined", "lean_kernel", "part", "spliced"}

IMPORT_ALL = """
import importlib, pkgutil, sys
import agora
for module in pkgutil.walk_packages(agora.__path__, "agora."):
    torches = ("agora.learning.sb3", "agora.learning.trainers.", "agora.policies.learners.")  # made of PyTorch's classes
    if not module.name.startswith(torches):
        importlib.import_module(module.name)
import numpy, random
held = (numpy.random.Generator, numpy.random.RandomState, random.Random)
for name, module in list(sys.modules.items()):
    if name.split(".")[0] == "agora":
        for key, value in vars(module).items():
            if isinstance(value, held):
                print(f"{name}.{key} is a random generator")
heavy = {"matplotlib", "onnxruntime", "optuna", "rospy", "sklearn", "stable_baselines3", "tf2_ros", "tkinter", "torch"}
for name in sorted(heavy & set(sys.modules)):
    print(f"{name} was imported")
"""

IMPORT_CLI = """
import sys
import agora.cli.app
print(*sorted({"numba", "numpy", "pyarrow", "pydantic", "ruamel", "scipy"} & set(sys.modules)))
"""


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def is_compiled(function: ast.FunctionDef) -> bool:
    names = {ast.unparse(d.func if isinstance(d, ast.Call) else d).rpartition(".")[2] for d in function.decorator_list}
    return bool(names & COMPILED)


def has_all_types(function: ast.FunctionDef) -> bool:
    given = function.args
    arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    named = [a for a in arguments if a is not None and a.arg not in ("self", "cls")]
    return function.returns is not None and all(a.annotation is not None for a in named)


def python(code: str) -> str:
    blind = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, env=blind)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_the_library_needs_no_ros_no_screen_no_torch_and_holds_no_generator():
    assert python(IMPORT_ALL) == ""


def test_the_command_line_starts_without_the_engine():
    assert python(IMPORT_CLI) == ""


def test_the_check_would_find_what_it_looks_for():
    assert "random generator" in python(
        IMPORT_ALL.replace("import agora\n", "import agora, random\nagora.held = random.Random(1)\n")
    )
    assert "tkinter was imported" in python("import sys, types\nsys.modules['tkinter'] = types.ModuleType('tkinter')" + IMPORT_ALL)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(LIBRARY)))
def test_files_and_functions_stay_small(path):
    assert path.read_text(encoding="utf-8").count("\n") <= 450
    for function in functions(TREES[path]):
        if not is_compiled(function):
            first = function.body[1 if ast.get_docstring(function) and len(function.body) > 1 else 0]
            assert function.end_lineno - first.lineno < 55, function.name


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(LIBRARY)))
def test_only_compiled_functions_have_arguments_without_types(path):
    for function in functions(TREES[path]):
        assert has_all_types(function) or is_compiled(function), f"{path}:{function.lineno}: {function.name}"


def test_files_are_named_for_what_they_hold():
    vague = {"utils.py", "util.py", "helpers.py", "common.py", "misc.py", "constants.py"}
    assert not [path for path in FILES if path.name in vague]


def test_the_core_and_the_engine_know_no_clock():
    clocks = {"time", "datetime", "sched"}
    for path, tree in TREES.items():
        if path.relative_to(LIBRARY).parts[0] not in ("core", "engine", "pedestrians", "planners", "sensors", "metrics", "tasks"):
            continue
        imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
        imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
        assert not imported & clocks, path


def roots(path: Path) -> set[str]:
    """The packages that a file imports anywhere."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = [name.name for node in nodes if isinstance(node, ast.Import) for name in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(LIBRARY)))
def test_the_library_imports_nothing_of_ros_anywhere(path):
    of_ros = {
        "actionlib",
        "cv_bridge",
        "dynamic_reconfigure",
        "genpy",
        "rosbag",
        "rosgraph",
        "roslaunch",
        "roslib",
        "rospkg",
        "rospy",
    }
    assert not [
        name for name in roots(path) if name in of_ros or name.endswith(("_msgs", "_srvs")) or name.startswith(("agora_", "tf2_"))
    ]


def test_a_ros_package_imports_no_other_but_the_shared_two():
    assert OF_NODES
    for path in OF_NODES:
        own = next(package.name for package in PACKAGES if path.is_relative_to(package))
        others = {name for name in roots(path) if name.startswith("agora_")} - {own, "agora_msgs", "agora_ros"}
        assert not others, f"{path.relative_to(ROOT)} imports {others}"


@pytest.mark.parametrize("path", OF_NODES, ids=lambda p: str(p.relative_to(ROOT / "src")))
def test_files_and_functions_of_ros_packages_stay_small(path):
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= (40 if path.parent.name == "nodes" else 450)
    for function in functions(ast.parse(text)):
        assert function.end_lineno - function.lineno < 70, function.name


def test_every_ros_package_says_what_it_is_for():
    assert PACKAGES
    for package in PACKAGES:
        shared = package.parent if package.parent.name == "interop" else package
        assert (shared / "README.md").is_file(), package.name
        assert f"`{package.name}`" in (ROOT / "src/README.md").read_text(encoding="utf-8") + (shared / "README.md").read_text()


BELOW = {"core", "errors", "seeds", "config", "registry", "maps", "robots", "sensors", "world", "perception", "draft", "interfaces"}
OTHER_NAMES = {"local planner": "planner", "scenario card": "card", "sensor": "channel"}


@pytest.mark.parametrize("path", [path for path in FILES if path.parent.name == "interfaces"], ids=lambda path: path.name)
def test_interfaces_import_nothing_above_them_not_even_for_types(path):
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("agora."):
            assert node.module.split(".")[1] in BELOW, f"line {node.lineno}: {node.module}"


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_page_for_its_authors_and_a_contract_suite(kind):
    name = OTHER_NAMES.get(KINDS[kind], KINDS[kind]).replace(" ", "_")
    assert (LIBRARY / "interfaces" / f"{name}.py").is_file()
    assert f"check_{KINDS[kind].replace(' ', '_').removeprefix('local_').removeprefix('scenario_')}" in agora.testing.__all__


def stated(module: str) -> tuple[Path, set[str] | None]:
    """The file of a module, and what its ``__all__`` names; None where it has none."""
    file = LIBRARY.parent.joinpath(*module.split("."))
    file = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
    tree = TREES.get(file, ast.Module([], []))
    lists = [n.value for n in tree.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "__all__"]
    return file, set(ast.literal_eval(lists[0])) if lists else None


def taken_from_the_library(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Module and name of all that a file takes from the library; names that it takes through an imported module, too."""
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "agora":
            for alias in node.names:
                if stated(f"{node.module}.{alias.name}")[0] in TREES:
                    modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                else:
                    yield node.module, alias.name
        elif isinstance(node, ast.Import):
            assert not any(alias.name.split(".")[0] == "agora" for alias in node.names), "from agora... import ..., please"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield modules[node.value.id], node.attr


PAGES = [path for path in sorted((ROOT / "docs").rglob("*.md")) if not {"_build", "generated", "decisions"} & set(path.parts)]
OF_USERS = [*OF_NODES, *sorted((ROOT / "examples").glob("*.py")), *PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


@pytest.mark.parametrize("path", OF_USERS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_our_own_nodes_examples_and_pages_take_only_what_is_public(path):
    text = path.read_text(encoding="utf-8")
    parts = re.findall(r"```python\n(.*?)```", text, re.DOTALL) if path.suffix == ".md" else [text]
    for part in parts:
        for module, name in taken_from_the_library(ast.parse(part)):
            public = stated(module)[1]
            assert public is not None and name in public, f"{module} does not name {name!r} in __all__"


def test_every_dependency_is_pinned_to_one_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pinned = {plain(line.partition("==")[0]) for line in lines if re.fullmatch(r"[\w.-]+==[\w.]+", line)}
    assert len(pinned) == len([line for line in lines if not line.startswith("#")])
    assert {plain(re.match(r"[\w.-]+", line)[0]) for line in asked} - {"agora-nav"} <= pinned


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
