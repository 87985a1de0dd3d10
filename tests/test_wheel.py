"""The shipped wheel: built from the sdist, in an empty environment, away from the checkout."""

from __future__ import annotations

import sys
import tarfile
import zipfile

import pytest

from agora.benchmark.provenance.packages import packages
from tests.environments import ROOT, Environment


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """The wheel, built from the unpacked sdist, and the names of the files in the sdist."""
    place = tmp_path_factory.mktemp("shipped")
    builder = Environment.make(place / "builder")
    build = (sys.executable, "-m", "hatchling", "build", "--directory", str(place))
    builder.run(*build, "--target", "sdist", where=ROOT)
    [sdist] = place.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(
            place / "source", **({"filter": "data"} if hasattr(tarfile, "data_filter") else {})
        )  # not in Debian's 3.11.2
    [source] = (place / "source").iterdir()
    builder.run(*build, "--target", "wheel", where=source)
    [wheel] = place.glob("*.whl")
    return wheel, {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()}


def test_the_sdist_has_what_a_builder_needs_and_nothing_that_was_made(shipped):
    _, files = shipped
    assert {"pyproject.toml", "README.md", "LICENSE", "requirements.lock", "configs/benchmark/demo.yaml"} <= files
    made = ("results/", "build/", "devel/", "install/", "docs/_build/", ".venv/", ".catkin", "src/CMakeLists.txt")
    assert not [name for name in files if name.startswith(made) or "__pycache__" in name or name.endswith("CATKIN_IGNORE")]


def test_configs_and_scenarios_travel_in_the_wheel(shipped):
    wheel, _ = shipped
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("configs", "scenarios"):
        expected = {f"agora/_share/{path.relative_to(ROOT)}" for path in (ROOT / folder).rglob("*") if path.is_file()}
        assert expected and expected <= names
    assert not [name for name in names if name.startswith("agora/web/front/")], "the wheel has the built pages, not their sources"
    assert "agora/py.typed" in names and "agora/viewer/templates/page.html" in names
    assert not [name for name in names if name.split("/")[0] not in ("agora",) and ".dist-info" not in name]


@pytest.fixture(scope="module")
def user(shipped, tmp_path_factory):
    """An environment into which the wheel was installed, and an empty folder."""
    wheel, _ = shipped
    environment = Environment.make(tmp_path_factory.mktemp("user") / "environment")
    away = tmp_path_factory.mktemp("away")
    environment.pip(str(wheel), where=away)
    return environment, away


def test_the_wheel_lists_what_it_brings(user):
    environment, away = user
    where = environment.run("python", "-c", "import agora; print(agora.__file__)", where=away)
    assert where.startswith(str(environment.folder))
    said = environment.run("agora", "list", where=away)
    assert "jackal" in said and "demo" in said and "pure_pursuit" in said


def test_the_wheel_s_code_has_the_digest_of_the_checkout_s_so_that_runs_of_both_are_one(user):
    environment, away = user
    code = "from agora.benchmark.provenance.packages import packages; print(packages()['agora-nav'])"
    assert environment.run("python", "-c", code, where=away).strip() == packages()["agora-nav"]


@pytest.mark.slow
def test_the_wheel_runs_an_episode(user):
    environment, away = user
    said = environment.run(
        "agora", "run", "demo", "--planner", "go_to_goal", "--stage", "corridor", "--picture", "a.png", where=away
    )
    assert said.startswith("demo/corridor/0") and "path_length" in said
    assert (away / "a.png").stat().st_size > 1000
