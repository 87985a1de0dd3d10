"""The shape of the library: what it may import, how big its parts are, what has no types."""

from __future__ import annotations

import ast
import functools
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
IN_LIBRARY = frozenset(FILES)
PACKAGES = sorted(path.parent for path in (ROOT / "src").rglob("package.xml"))
OF_NODES = [
    path
    for package in PACKAGES
    for path in sorted(package.rglob("*"))
    if path.suffix == ".py" or (path.parent.name == "nodes" and path.is_file() and not path.suffix)
]
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
heavy = {"cv2", "matplotlib", "onnxruntime", "optuna", "rospy", "sklearn", "stable_baselines3", "tf2_ros", "tkinter", "torch"}
for name in sorted(heavy & set(sys.modules)):
    print(f"{name} was imported")
"""

IMPORT_CLI = """
import sys
import agora.cli.app
print(*sorted({"numba", "numpy", "pyarrow", "ruamel", "scipy"} & set(sys.modules)))
"""


@functools.cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file; each process that collects tests would pay for those of all files at once."""
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module", autouse=True)
def _trees_end_with_the_module() -> Iterator[None]:
    """Let go of the trees: millions of objects, which every collection of garbage looks at."""
    yield
    tree_of.cache_clear()


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


def first_line(function: ast.FunctionDef) -> int:
    """The line of a function's first statement after its docstring."""
    return function.body[1 if ast.get_docstring(function) and len(function.body) > 1 else 0].lineno


def where(path: Path, node: ast.FunctionDef | ast.ImportFrom | None = None) -> str:
    """A file of the checkout, or a place in it, in words."""
    file = path.relative_to(ROOT).as_posix()
    return file if node is None else f"{file}:{node.lineno}: {node.name if isinstance(node, ast.FunctionDef) else node.module}"


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
    held = "import agora, random, sys, types\nagora.held = random.Random(1)\nsys.modules['tkinter'] = types.ModuleType('tkinter')\n"
    alone = IMPORT_ALL.replace("import agora\n", held).replace('pkgutil.walk_packages(agora.__path__, "agora.")', "[]")
    assert python(alone).splitlines() == ["agora.held is a random generator", "tkinter was imported"]


def test_imports_point_one_way_and_siblings_import_each_other_only_where_it_is_listed():
    code = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"  # it sets up logging anew
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stdout + run.stderr


def test_files_and_functions_stay_small():
    assert len(FILES) > 500
    assert not [where(path) for path in FILES if path.read_text(encoding="utf-8").count("\n") > 450]
    assert not [
        where(path, function)
        for path in FILES
        for function in functions(tree_of(path))
        if not is_compiled(function) and function.end_lineno - first_line(function) >= 55
    ]


def test_only_compiled_functions_have_arguments_without_types():
    assert not [
        where(path, function)
        for path in FILES
        for function in functions(tree_of(path))
        if not has_all_types(function) and not is_compiled(function)
    ]


def test_files_are_named_for_what_they_hold():
    vague = {"utils.py", "util.py", "helpers.py", "common.py", "misc.py", "constants.py"}
    assert not [path for path in FILES if path.name in vague]


def test_the_core_and_the_engine_know_no_clock():
    clocks = {"time", "datetime", "sched"}
    for path in FILES:
        if path.relative_to(LIBRARY).parts[0] not in (
            "channels",
            "core",
            "engine",
            "optics",
            "pedestrians",
            "planners",
            "simulators",
            "metrics",
            "tasks",
        ):
            continue
        tree = tree_of(path)
        imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
        imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
        assert not imported & clocks, path


def roots(tree: ast.Module) -> set[str]:
    """The packages that a file imports anywhere."""
    nodes = list(ast.walk(tree))
    names = [name.name for node in nodes if isinstance(node, ast.Import) for name in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    return {name.partition(".")[0] for name in names}


def test_the_library_imports_nothing_of_ros_anywhere():
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
        (where(path), name)
        for path in FILES
        for name in roots(tree_of(path))
        if name in of_ros or name.endswith(("_msgs", "_srvs")) or name.startswith(("agora_", "tf2_"))
    ]


def test_a_ros_package_imports_no_other_but_the_shared_two():
    assert OF_NODES
    for path in OF_NODES:
        own = next(package.name for package in PACKAGES if path.is_relative_to(package))
        others = {name for name in roots(tree_of(path)) if name.startswith("agora_")} - {own, "agora_msgs", "agora_ros"}
        assert not others, f"{where(path)} imports {others}"


def test_files_and_functions_of_ros_packages_stay_small():
    most = {path: 40 if path.parent.name == "nodes" else 450 for path in OF_NODES}
    assert not [where(path) for path in OF_NODES if path.read_text(encoding="utf-8").count("\n") > most[path]]
    assert not [
        where(path, function)
        for path in OF_NODES
        for function in functions(tree_of(path))
        if function.end_lineno - function.lineno >= 70
    ]


def test_every_ros_package_says_what_it_is_for():
    assert PACKAGES
    for package in PACKAGES:
        shared = package.parent if package.parent.name == "interop" else package
        assert (shared / "README.md").is_file(), package.name
        assert f"`{package.name}`" in (ROOT / "src/README.md").read_text(encoding="utf-8") + (shared / "README.md").read_text()


BELOW = {"core", "errors", "seeds", "config", "registry", "maps", "robots", "optics", "world", "perception", "draft", "interfaces"}
OTHER_NAMES = {"local planner": "planner", "scenario card": "card", "sensor": "channel"}


def test_interfaces_import_nothing_above_them_not_even_for_types():
    imports = [
        (path, node)
        for path in sorted((LIBRARY / "interfaces").glob("*.py"))
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("agora.")
    ]
    assert len(imports) > 50
    assert not [where(path, node) for path, node in imports if node.module.split(".")[1] not in BELOW]


def test_every_kind_has_a_page_for_its_authors_and_a_contract_suite():
    for kind in KINDS.values():
        assert (LIBRARY / "interfaces" / f"{OTHER_NAMES.get(kind, kind).replace(' ', '_')}.py").is_file(), kind
        assert f"check_{kind.replace(' ', '_').removeprefix('local_').removeprefix('scenario_')}" in agora.testing.__all__, kind


def stated(module: str) -> tuple[Path, set[str] | None]:
    """The file of a module, and what its ``__all__`` names, or what a package imports as itself; None where it has neither."""
    file = LIBRARY.parent.joinpath(*module.split("."))
    file = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
    tree = tree_of(file) if file in IN_LIBRARY else ast.Module([], [])
    lists = [n.value for n in tree.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "__all__"]
    exported = {a.name for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names if a.asname == a.name}
    return file, set(ast.literal_eval(lists[0])) if lists else exported or None


def taken_from_the_library(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Module and name of all that a file takes from the library; names that it takes through an imported module, too."""
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "agora":
            for alias in node.names:
                if stated(f"{node.module}.{alias.name}")[0] in IN_LIBRARY:
                    modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                else:
                    yield node.module, alias.name
        elif isinstance(node, ast.Import):
            modules |= {alias.asname or "agora": "agora" for alias in node.names if alias.name == "agora"}
            others = [alias.name for alias in node.names if alias.name != "agora.learning"]  # which tells Gymnasium what there is
            assert not any(name.startswith("agora.") for name in others), f"{ast.unparse(node)}: from agora..., please"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield modules[node.value.id], node.attr


PAGES = [path for path in sorted((ROOT / "docs").rglob("*.md")) if not {"_build", "generated", "decisions"} & set(path.parts)]
OF_USERS = [*OF_NODES, *sorted((ROOT / "examples").glob("*.py")), *PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


def test_our_own_nodes_examples_and_pages_take_only_what_is_public():
    taken = [
        (path, module, name)
        for path in OF_USERS
        for part in programs(path)
        for module, name in taken_from_the_library(ast.parse(part))
    ]
    assert len(taken) > 300
    assert not [
        f"{where(path)}: {module} does not name {name!r} in __all__"
        for path, module, name in taken
        if name not in (stated(module)[1] or ())
    ]


def programs(path: Path) -> list[str]:
    """The programs of a page, or the one that a file is."""
    text = path.read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL) if path.suffix == ".md" else [text]


def test_every_dependency_is_pinned_to_one_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pinned = {plain(line.partition("==")[0]) for line in lines if re.fullmatch(r"[\w.-]+==[\w.]+", line)}
    assert len(pinned) == len([line for line in lines if not line.startswith("#")])
    assert {plain(re.match(r"[\w.-]+", line)[0]) for line in asked} - {"agora-nav"} <= pinned


def test_the_library_imports_every_dependency_of_the_base_install():
    """A package that only an extra needs belongs in that extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    modules = {"pillow": "PIL", "pyyaml": "yaml", "ruamel.yaml": "ruamel"}
    asked = {modules.get(name, name) for name in (re.match(r"[\w.-]+", line)[0] for line in project["dependencies"])}
    imported = set()
    for path in (ROOT / "src" / "agora").rglob("*.py"):
        for node in ast.walk(tree_of(path)):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            imported |= {name.partition(".")[0] for name in names}
    assert asked <= imported, asked - imported


OF_NO_MODULE = {
    "absurd_values": "every number of every kind of file",
    "architecture": "the shape of the library",
    "benchmark.instructions": "the folder benchmarks",
    "benchmark.make_bench": "the folder benchmarks",
    "damaged_files": "every format",
    "docs": "the manual",
    "english": "the manual, docstrings and messages",
    "docstrings": "every docstring",
    "episode_batch": "every loop over control periods",
    "examples": "the folder examples",
    "far_places": "every file with places",
    "front_door": "what `import agora` offers",
    "measurements": "measured values of the manual",
    "plugin": "the pages for authors of components",
    "ros_pages": "the pages and launch files of the ROS graph",
    "convergence": "whole episodes under every crowd model and with every robot",
    "symmetry": "whole episodes under every crowd model",
    "wheel": "the package",
    "benchmark.barn_table": "a script of the folder benchmarks",
    "benchmark.executors.ray_cluster": "a real cluster, slow",
    "core.plain_python": "every planner and crowd model without a compiler",
    "draft.generated_placement": "generated places",
    "engine.collision_resolution_parity": "a twin of its kernel",
    "engine.making_way_parity": "a twin of its kernel",
    "engine.minding": "crowd models and behaviours together",
    "engine.published_collision_resolution_parity": "a twin of its kernel",
    "engine.standing_back_parity": "a twin of its kernel",
    "learning.several_robots": "the environment with several robots",
    "maps.generators.every_generator": "each of them",
    "metrics.every_metric": "each of them",
    "pedestrians.models.arena_models": "three small crowd models",
    "pedestrians.models.crowdnav_circle": "the published rates of a crowd",
    "pedestrians.models.every_model": "each of them",
    "pedestrians.behaviours.groups_and_states": "two behaviours together",
    "perception.simulated_groups": "the published rates of finding groups",
    "planners.bad_input": "every planner, in episodes",
    "planners.inter.interplanners": "those of Arena",
    "planners.learned.sa_cadrl": "the side to which its robots keep",
    "planners.local.crowdnav_circle": "the published rates of a planner",
    "planners.low_acceleration": "every planner that searches a dynamic window, and others",
    "planners.narrow_places": "every planner that reads walls",
    "planners.notes": "from the call to the file",
    "planners.people_behind_walls": "every planner that reads pedestrians",
    "planners.requires": "from the declaration to the command line",
    "planners.top_speed": "every planner and robot",
    "policies.networks.onnx_ga3c": "an exported network",
    "predictors.every_predictor": "each of them",
    "robots.description": "URDF and SDF of every robot",
    "tasks.arena_paper": "a suite",
    "tasks.effect": "every key of a suite",
    "tasks.legged": "a suite",
    "tasks.modules.modules": "each of them",
    "tasks.obstacles.modes": "each of them",
    "tasks.obstacles.obstacles_of_arena": "modes of Arena",
    "tasks.robots.modes": "each of them",
    "tasks.robots.robots_that_go_on": "modes with several goals",
    "tasks.social": "a suite",
    "tasks.splits": "suites for training and testing",
    "tasks.taga": "a suite",
    "tasks.worlds.worlds": "each of them",
    "upstreams": "the script of make upstreams",
    "web.account_pages": "the pages of accounts, in a browser",
    "web.editor_pages": "the scenario editor, in a browser",
    "web.pages": "the built pages, in a browser",
    "web.planner_pages": "planners that are code, in a browser",
    "web.suite_pages": "the suite editor, in a browser",
    "web.training_pages": "the page of trainings, in a browser",
    "web.world_pages": "the drawing of worlds, in a browser",
    "testing.contract_of_planners": "planners that break the contract",
}
"""Tests that are named for no module of the library, and what they test."""
NOT_OF_THE_LIBRARY = {"golden": "episodes of every suite", "ros": "the ROS packages"}
"""Folders of tests that are named for no package of the library."""


def test_what_is_private_is_imported_only_by_the_package_that_it_is_part_of():
    """A module or package whose name begins with an underscore serves the package that it lies in, with all inside."""
    strangers = []
    for path in [*FILES, *OF_NODES]:
        own = ".".join(path.relative_to(LIBRARY.parent).with_suffix("").parts)
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "agora":
                modules = [m for a in node.names if stated(m := f"{node.module}.{a.name}")[0] in IN_LIBRARY] or [node.module]
                for parts in (module.split(".") for module in modules):
                    owners = [".".join(parts[:k]) for k, part in enumerate(parts) if part.startswith("_")]
                    strangers += [where(path, node) for owner in owners if not own.startswith(f"{owner}.")]
    assert not strangers


def test_the_drawing_of_the_house_shows_every_door():
    drawn = set(re.findall(r">([\w, .]+)</text>", (ROOT / "docs" / "images" / "house.svg").read_text(encoding="utf-8")))
    assert set(KINDS) <= drawn
    assert {path.parent.name for path in LIBRARY.glob("*/__init__.py")} <= drawn


def test_a_test_lies_where_its_module_lies_and_has_its_name():
    stray = set()
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        place = path.relative_to(ROOT / "tests").parent
        name = path.stem.removeprefix("test_")
        if place.parts[:1] and place.parts[0] in NOT_OF_THE_LIBRARY:
            continue
        package = functools.reduce(either, place.parts, LIBRARY)
        assert (package / "__init__.py").is_file(), f"{where(path)}: the library has no package {place}"
        if not either(package, f"{name}.py").is_file() and not (either(package, name) / "__init__.py").is_file():
            stray.add(".".join((*place.parts, name)))
    assert sorted(stray) == sorted(OF_NO_MODULE)


def either(folder: Path, name: str) -> Path:
    """Return the file or folder of a name in a folder of the library; if there is none, the private one, with an underscore."""
    return folder / name if (folder / name).exists() else folder / f"_{name}"


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
