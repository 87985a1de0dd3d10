"""Parts that a stranger adds, from a planner to a policy: the manual's pages are followed in a fresh environment."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.environments import ROOT, Environment
from tests.test_docs import blocks

CONTRIBUTING, CROWD_MODEL = ROOT / "CONTRIBUTING.md", ROOT / "docs" / "how-to" / "add_a_crowd_model.md"
OTHERS = ("an_executor", "a_simulator", "a_backend", "a_sensor", "a_trainer", "a_policy")
EXECUTOR, SIMULATOR, BACKEND, SENSOR, TRAINER, POLICY = (ROOT / "docs" / "how-to" / f"add_{what}.md" for what in OTHERS)


class Stranger(NamedTuple):
    """Somebody with a folder of the files that a page shows, and an environment that has Agora."""

    page: Path
    folder: Path
    environment: Environment

    def block(self, language: str) -> str:
        """The page's first block of a language that is no file."""
        return next(block.text for block in blocks(self.page) if block.language == language and block.file is None)

    def type(self) -> dict[str, str]:
        """Run the page's commands, and return what each command of ``agora`` said."""
        said = {}
        for line in self.block("console").splitlines():
            words = shlex.split(line)
            if words[0] == "pip":
                assert words[1] == "install"
                self.environment.pip(*words[2:], where=self.folder)
            else:
                said[words[1]] = self.environment.run(*words, where=self.folder)
        return said


@pytest.fixture
def stranger(tmp_path, request):
    folder = tmp_path / "own"
    folder.mkdir()
    environment = Environment.make(tmp_path / "environment")
    environment.add_checkout()
    for block in blocks(request.param):
        if block.file is not None:
            (folder / block.file).write_text(block.text, encoding="utf-8")
    return Stranger(request.param, folder, environment)


@pytest.mark.parametrize("stranger", [CONTRIBUTING], indirect=True)
def test_contributing_shows_one_file_and_one_entry_point(stranger):
    assert sorted(path.name for path in stranger.folder.iterdir()) == ["polite.py", "pyproject.toml"]
    assert (stranger.folder / "polite.py").read_text(encoding="utf-8").count("\n") < 40


@pytest.mark.parametrize("stranger", [CONTRIBUTING], indirect=True)
def test_a_planner_is_added_as_contributing_says(stranger):
    said = stranger.type()
    assert "polite" in said["list"].replace(",", "").split()
    assert said["run"].startswith("demo/hall/0")
    assert "polite:distance=1.2" in said["bench"] and "pure_pursuit" in said["bench"]
    assert "polite:distance=1.2" in (stranger.folder / "results" / "polite" / "report.html").read_text(encoding="utf-8")
    stranger.environment.run("python", "-c", stranger.block("python"), where=stranger.folder)


@pytest.mark.parametrize("stranger", [CROWD_MODEL], indirect=True)
def test_a_crowd_model_is_added_as_the_manual_says(stranger):
    assert sorted(path.name for path in stranger.folder.iterdir()) == ["promenade.yaml", "pyproject.toml", "strollers.py"]
    said = stranger.type()
    assert "stroll" in said["list"].replace(",", "").split()
    assert said["run"].startswith("promenade/mixed/0")
    stranger.environment.run("python", "-c", stranger.block("python"), where=stranger.folder)


@pytest.mark.parametrize("stranger", [EXECUTOR], indirect=True)
def test_an_executor_is_added_as_the_manual_says(stranger):
    assert sorted(path.name for path in stranger.folder.iterdir()) == ["elsewhere.py", "pyproject.toml"]
    said = stranger.type()
    assert "elsewhere" in said["list"].replace(",", "").split()
    assert "pure_pursuit" in said["bench"]
    stranger.environment.run("python", "-c", stranger.block("python"), where=stranger.folder)


@pytest.mark.parametrize("stranger", [SIMULATOR], indirect=True)
def test_a_simulator_is_added_as_the_manual_says(stranger):
    assert sorted(path.name for path in stranger.folder.iterdir()) == ["glide.py", "pyproject.toml"]
    said = stranger.type()
    assert "glide" in said["list"].replace(",", "").split()
    assert "pure_pursuit" in said["bench"]
    run = (stranger.folder / "results" / "demo" / "run.yaml").read_text(encoding="utf-8")
    assert "glide" in run and "slip: 0.3" in run
    stranger.environment.run("python", "-c", stranger.block("python"), where=stranger.folder)


@pytest.mark.parametrize("stranger", [BACKEND], indirect=True)
def test_an_engine_is_added_as_the_manual_says(stranger):
    assert sorted(path.name for path in stranger.folder.iterdir()) == ["plain.py", "pyproject.toml"]
    said = stranger.type()
    assert "plain" in said["list"].replace(",", "").split()
    assert "pure_pursuit" in said["bench"]
    run = (stranger.folder / "results" / "demo" / "run.yaml").read_text(encoding="utf-8")
    assert "plain" in run and "hurry: 0.8" in run
    stranger.environment.run("python", "-c", stranger.block("python"), where=stranger.folder)


@pytest.mark.parametrize("stranger", [SENSOR], indirect=True)
def test_sensors_derived_channels_and_cameras_are_added_as_the_manual_says(stranger):
    files = ["depth.py", "forecast.py", "painted.py", "pyproject.toml"]
    assert sorted(path.name for path in stranger.folder.iterdir()) == files
    said = stranger.type()
    assert all(name in said["list"] for name in ("depth_row", "forecast", "painting", "scan"))
    assert "shy" in said["bench"]
    run = (stranger.folder / "results" / "seen" / "run.yaml").read_text(encoding="utf-8")
    assert "careful" in run and "foresighted" in run
    stranger.environment.run("python", "-c", stranger.block("python"), where=stranger.folder)


@pytest.mark.parametrize("stranger", [TRAINER], indirect=True)
def test_a_trainer_is_added_as_the_manual_says(stranger):
    assert sorted(path.name for path in stranger.folder.iterdir()) == ["guess.yaml", "guessing.py", "pyproject.toml"]
    said = stranger.type()
    assert "guessing" in said["list"].replace(",", "").split()
    assert "seed 1, demo/crossing: success" in said["train"]
    card = (stranger.folder / "results" / "guess" / "card.md").read_text(encoding="utf-8")
    assert "Trainer `guessing`" in card and "| `guesses` | 2 |" in card and "commit" in card
    stranger.environment.run("python", "-c", stranger.block("python"), where=stranger.folder)


@pytest.mark.parametrize("stranger", [POLICY], indirect=True)
def test_an_encoding_a_network_and_a_reward_are_added_trained_driven_and_exported_as_the_manual_says(stranger):
    assert sorted(path.name for path in stranger.folder.iterdir()) == ["pyproject.toml", "wary.py", "wary.yaml"]
    said = stranger.type()
    for kind, name in {"encodings": "bearings", "networks": "leaky", "rewards": "patience"}.items():
        [line] = [line for line in said["list"].splitlines() if line.startswith(f"{kind}: ")]
        assert name in line.replace(",", "").split()
    assert "seed 1, demo/crossing: success" in said["train"]
    assert said["run"].startswith("demo/hall/0") and "policy" in said["bench"] and said["policy"].strip() == "wary.onnx"
    shown = stranger.environment.run("agora", "policy", "show", "results/wary/policy.safetensors", where=stranger.folder)
    assert "leaky of 83 weights: size=8, leak=0.5" in shown and "6 values of bearings: reach=3" in shown
    told = stranger.environment.run("python", "-c", stranger.block("python"), where=stranger.folder)
    assert "Leaky(size=8, leak=0.5) Bearings(reach=3.0) own" in told
