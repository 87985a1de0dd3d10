"""Parts that a stranger adds, from a planner to a policy: the manual's pages are followed in a fresh environment."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.environments import ROOT, Environment
from tests.test_docs import blocks

CONTRIBUTING = ROOT / "CONTRIBUTING.md"
OTHERS = ("a_crowd_model", "an_executor", "a_simulator", "a_backend", "a_sensor", "a_trainer", "a_policy")
CROWD_MODEL, EXECUTOR, SIMULATOR, BACKEND, SENSOR, TRAINER, POLICY = PAGES = [
    ROOT / "docs" / "how-to" / f"add_{what}.md" for what in OTHERS
]
TYPED = """
import contextlib, io, json, sys
from typer.testing import CliRunner
from agora.cli.app import app
lines, block = json.loads(sys.stdin.read())
said = []
for words in lines:
    answer = CliRunner().invoke(app, words[1:], catch_exceptions=False)
    assert answer.exit_code == 0, (words, answer.output)
    said.append(answer.stdout)
with contextlib.redirect_stdout(io.StringIO()) as printed:
    exec(compile(block, "page", "exec", dont_inherit=True), {"__name__": "page"})
print(json.dumps([*said, printed.getvalue()]))
"""
"""Types commands, then runs Python, in one process: each would load the same modules and kernels again."""


class Stranger(NamedTuple):
    """Somebody with a folder of the files that a page shows, and an environment that has Agora."""

    page: Path
    folder: Path
    environment: Environment

    @property
    def console(self) -> list[list[str]]:
        """The words of the page's commands."""
        return [shlex.split(line) for line in self.block("console").splitlines()]

    def block(self, language: str) -> str:
        """The page's first block of a language that is no file."""
        return next(block.text for block in blocks(self.page) if block.language == language and block.file is None)

    def type(self) -> dict[str, str]:
        """Run the page's commands, and return what each command of ``agora`` said."""
        said = {}
        for words in self.console:
            if words[0] == "pip":
                self.environment.pip(*words[2:], where=self.folder)
            else:
                said[words[1]] = self.environment.run(*words, where=self.folder)
        return said

    def follow(self, *more: str) -> dict[str, str]:
        """Run the page's commands of ``agora``, ``more`` of them, and its Python, and return what each said.

        A benchmark has two episodes of a stage, and the process of the command for a worker where the page names none.
        """
        pip, *typed = self.console
        assert pip == ["pip", "install", "--editable", "."]
        for words in typed:
            if words[1] == "bench":
                words += ["--episodes", "2"]
                words += [] if {"--workers", "--executor"} & set(words) else ["--workers", "0"]
        given = [[*typed, *map(shlex.split, more)], self.block("python")]
        out = self.environment.run("python", "-c", TYPED, where=self.folder, given=json.dumps(given))
        return dict(zip([*(words[1] for words in typed), *more, "python"], json.loads(out.splitlines()[-1]), strict=True))


def _written(page: Path, folder: Path) -> Path:
    """A folder with the files that a page shows."""
    folder.mkdir()
    for block in blocks(page):
        if block.file is not None:
            (folder / block.file).write_text(block.text, encoding="utf-8")
    return folder


@pytest.fixture
def stranger(tmp_path):
    """Who follows CONTRIBUTING."""
    environment = Environment.make(tmp_path / "environment")
    environment.add_checkout()
    return Stranger(CONTRIBUTING, _written(CONTRIBUTING, tmp_path / "own"), environment)


@pytest.fixture(scope="module")
def strangers(tmp_path_factory):
    """Who follow the other pages, by page: all in one environment, into which their folders are installed at once."""
    folder = tmp_path_factory.mktemp("strangers")
    environment = Environment.make(folder / "environment")
    environment.add_checkout()
    made = {page: Stranger(page, _written(page, folder / page.stem), environment) for page in PAGES}
    environment.pip(*(word for page in PAGES for word in ("--editable", f"./{page.stem}")), where=folder)
    return made


def test_contributing_shows_one_file_and_one_entry_point(stranger):
    assert sorted(path.name for path in stranger.folder.iterdir()) == ["polite.py", "pyproject.toml"]
    assert (stranger.folder / "polite.py").read_text(encoding="utf-8").count("\n") < 40


def test_a_planner_is_added_as_contributing_says(stranger):
    said = stranger.type()
    assert "polite" in said["list"].replace(",", "").split()
    assert said["run"].startswith("demo/hall/0")
    assert "polite:distance=1.2" in said["bench"] and "pure_pursuit" in said["bench"]
    assert "polite:distance=1.2" in (stranger.folder / "results" / "polite" / "report.html").read_text(encoding="utf-8")
    stranger.environment.run("python", "-c", stranger.block("python"), where=stranger.folder)


def test_a_crowd_model_is_added_as_the_manual_says(strangers):
    stranger = strangers[CROWD_MODEL]
    assert sorted(path.name for path in stranger.folder.iterdir()) == ["promenade.yaml", "pyproject.toml", "strollers.py"]
    said = stranger.follow()
    assert "stroll" in said["list"].replace(",", "").split()
    assert said["run"].startswith("promenade/mixed/0")


def test_an_executor_is_added_as_the_manual_says(strangers):
    stranger = strangers[EXECUTOR]
    assert sorted(path.name for path in stranger.folder.iterdir()) == ["elsewhere.py", "pyproject.toml"]
    said = stranger.follow()
    assert "elsewhere" in said["list"].replace(",", "").split()
    assert "pure_pursuit" in said["bench"]


def test_a_simulator_is_added_as_the_manual_says(strangers):
    stranger = strangers[SIMULATOR]
    assert sorted(path.name for path in stranger.folder.iterdir()) == ["glide.py", "pyproject.toml"]
    said = stranger.follow()
    assert "glide" in said["list"].replace(",", "").split()
    assert "pure_pursuit" in said["bench"]
    run = (stranger.folder / "results" / "demo" / "run.yaml").read_text(encoding="utf-8")
    assert "glide" in run and "slip: 0.3" in run


def test_an_engine_is_added_as_the_manual_says(strangers):
    stranger = strangers[BACKEND]
    assert sorted(path.name for path in stranger.folder.iterdir()) == ["plain.py", "pyproject.toml"]
    said = stranger.follow()
    assert "plain" in said["list"].replace(",", "").split()
    assert "pure_pursuit" in said["bench"]
    run = (stranger.folder / "results" / "demo" / "run.yaml").read_text(encoding="utf-8")
    assert "plain" in run and "hurry: 0.8" in run


def test_sensors_derived_channels_and_cameras_are_added_as_the_manual_says(strangers):
    stranger = strangers[SENSOR]
    files = ["depth.py", "forecast.py", "painted.py", "pyproject.toml"]
    assert sorted(path.name for path in stranger.folder.iterdir()) == files
    said = stranger.follow()
    assert all(name in said["list"] for name in ("depth_row", "forecast", "painting", "scan"))
    assert "shy" in said["bench"]
    run = (stranger.folder / "results" / "seen" / "run.yaml").read_text(encoding="utf-8")
    assert "careful" in run and "foresighted" in run


def test_a_trainer_is_added_as_the_manual_says(strangers):
    stranger = strangers[TRAINER]
    assert sorted(path.name for path in stranger.folder.iterdir()) == ["guess.yaml", "guessing.py", "pyproject.toml"]
    said = stranger.follow()
    assert "guessing" in said["list"].replace(",", "").split()
    assert "seed 1, demo/crossing: success" in said["train"]
    card = (stranger.folder / "results" / "guess" / "card.md").read_text(encoding="utf-8")
    assert "Trainer `guessing`" in card and "| `guesses` | 2 |" in card and "commit" in card


def test_an_encoding_a_network_and_a_reward_are_added_trained_driven_and_exported_as_the_manual_says(strangers):
    stranger = strangers[POLICY]
    assert sorted(path.name for path in stranger.folder.iterdir()) == ["pyproject.toml", "wary.py", "wary.yaml"]
    show = "agora policy show results/wary/policy.safetensors"
    said = stranger.follow(show)
    for kind, name in {"encodings": "bearings", "networks": "leaky", "rewards": "patience"}.items():
        [line] = [line for line in said["list"].splitlines() if line.startswith(f"{kind}: ")]
        assert name in line.replace(",", "").split()
    assert "seed 1, demo/crossing: success" in said["train"]
    assert said["run"].startswith("demo/hall/0") and "policy" in said["bench"] and said["policy"].strip() == "wary.onnx"
    shown = said[show]
    assert "leaky with 83 weights: size=8, leak=0.5" in shown and "6 values, encoded by bearings: reach=3" in shown
    assert "Leaky(size=8, leak=0.5) Bearings(reach=3.0) own" in said["python"]
