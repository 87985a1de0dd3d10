"""Editions: worlds that follow from a commit and a later text, and marks of planners that were changed after the draw."""

from __future__ import annotations

import hashlib
import os
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from agora import share
from agora.benchmark import editions
from agora.benchmark.bench import bench
from agora.benchmark.editions import draw
from agora.benchmark.provenance import planner_code
from agora.benchmark.provenance.planner_code import CHANGED, NOT_DRAWN, after_draw, digest_of
from agora.benchmark.request import Options, Request
from agora.benchmark.results.run_folder import RunFolder
from agora.cli.app import app
from agora.cli.results import finish
from agora.config import dump, load, parse
from agora.draft.edition import Edition
from agora.errors import InputError
from agora.leaderboard.entry import Entry
from agora.leaderboard.page import write
from agora.leaderboard.submission import submit
from agora.leaderboard.verification import Sample, check
from agora.planners.local.go_to_goal import GoToGoal
from agora.planners.presets import named_planner
from agora.registry import Named
from agora.reporting.merged_runs import merged
from agora.reporting.report import report
from agora.tasks.suite import Suite, load_suite, suite_names, with_seed

SMALL = """
name: small
version: 3
seed: 5
description: A canteen and a plane.
stages:
  - name: canteen
    episodes: 2
    seed: 77
    world: {name: generated, generator: canteen, count: 2, seed: 9}
    robots: {name: random, distance: 4.0}
    timeout: 2.0
  - name: plane
    episodes: 2
    world: {name: open, width: 9.0, height: 8.0}
    robots: {name: random, distance: 4.0}
    timeout: 2.0
"""
BEACON = {"text": "5c2f e11a", "published": "2021-12-03T12:00:00+00:00", "source": "https://beacon.example/4711"}


def git(root: Path, *words: str) -> str:
    name, at = ["-c", "user.name=a", "-c", "user.email=a@b"], {"GIT_COMMITTER_DATE": "2021-12-01T00:00:00+00:00"}
    done = subprocess.run(["git", "-C", str(root), *name, *words], capture_output=True, text=True, check=True, env=os.environ | at)
    return done.stdout.strip()


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A clone with the suite ``small``, in which editions can be drawn."""
    root, real = tmp_path / "clone", share.folder("configs")
    (root / "configs" / "benchmark").mkdir(parents=True)
    for entry in real.iterdir():
        if entry.name != "benchmark":
            (root / "configs" / entry.name).symlink_to(entry)
    (root / "scenarios").symlink_to(share.folder("scenarios"))
    (root / "configs" / "benchmark" / "small.yaml").write_text(SMALL)
    git(tmp_path, "init", "-q", str(root))
    git(root, "add", "-A")
    git(root, "commit", "-qm", "The planners are frozen")
    monkeypatch.setattr(share, "checkout", lambda: root)
    monkeypatch.setattr(editions, "checkout", lambda: root)
    monkeypatch.setattr(editions, "runnable_planners", lambda: (["go_to_goal", "pure_pursuit"], {"mpc": "needs casadi"}))
    monkeypatch.setattr(editions, "preset_names", list)
    return root


def test_an_edition_is_drawn_by_one_command_and_runs_under_its_name(clone):
    options = [word for key, value in BEACON.items() for word in (f"--{key}", value)]
    said = CliRunner().invoke(app, ["edition", "small", "2021.12", *options, "--episodes", "3"])
    assert said.exit_code == 0, said.output
    assert "run it with: agora bench small@2021.12" in said.output and "not in the draw: mpc: needs casadi" in said.output
    suite = load_suite("small@2021.12")
    assert suite_names() == ["small", "small@2021.12"]
    assert [stage.count for stage in suite.stages] == [3, 3] and suite.stages[0].world.part.count == 3
    commit = git(clone, "rev-parse", "HEAD")
    expected = hashlib.sha256(f"small@2021.12\n{commit}\n5c2f e11a".encode()).hexdigest()[:8]
    assert suite.seed == int(expected, 16) and suite.seed_of("canteen") == suite.seed
    assert suite.edition.commit == commit and suite.edition.version == suite.version == 3
    assert suite.edition.planners == {name: digest_of(named_planner(name)[1]) for name in ("go_to_goal", "pure_pursuit")}


def test_an_edition_has_new_worlds_that_do_not_change_with_its_suite(clone):
    path, _ = draw("small", "2021.12", **BEACON)
    first = load_suite(path.stem).start("canteen", 1)
    assert not np.array_equal(first.map.occupied, load_suite("small").start("canteen", 1).map.occupied)
    assert (
        first.map.occupied.tobytes()
        == with_seed(load_suite("small"), load_suite(path.stem).seed).start("canteen", 1).map.occupied.tobytes()
    )
    (clone / "configs" / "benchmark" / "small.yaml").write_text(SMALL.replace("canteen, count", "office, count").replace("3", "4"))
    again = load_suite(path.stem).start("canteen", 1)
    assert np.array_equal(again.map.occupied, first.map.occupied) and np.array_equal(again.robots[0].pose, first.robots[0].pose)


@pytest.mark.parametrize(
    ("suite", "name", "beacon", "message"),
    [
        ("small", "2021.12", {"published": "2020-01-01T00:00:00+00:00"}, "published must be later than the commit"),
        ("small", "2021.12", {"published": "9021-01-01T00:00:00+00:00"}, "published must not be later than the date of the draw"),
        ("small", "2021.12", {"published": "3.12.2021"}, "published must be a time such as"),
        ("small", "2021.12", {"published": "2021-12-03T12:00:00"}, "published must have a time zone"),
        ("small", "2021.12", {"text": " "}, "text must be one line"),
        ("small", "first", {}, "edition 'first': expected a year and a month, such as 2026.12"),
        ("smal", "2021.12", {}, "small"),
    ],
)
def test_an_invalid_draw_is_refused(clone, suite, name, beacon, message):
    with pytest.raises(InputError, match=message):
        draw(suite, name, **(BEACON | beacon))
    assert suite_names() == ["small"]


def test_a_draw_needs_a_clean_commit_and_is_made_once(clone):
    draw("small", "2021.12", **BEACON)
    with pytest.raises(InputError, match="already exists; an edition can be drawn only once"):
        draw("small", "2021.12", **BEACON)
    with pytest.raises(InputError, match=r"has uncommitted changes, such as .*small@2021.12.yaml"):
        draw("small", "2022.01", **BEACON)
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", "An edition")
    with pytest.raises(InputError, match="is not an edition"):
        draw("small@2021.12", "2022.01", **BEACON)
    draw("small", "2022.01", **BEACON)
    assert len({load_suite(name).seed for name in suite_names()}) == 3


def test_an_edition_accepts_only_the_seed_computed_from_its_text(clone):
    path, _ = draw("small", "2021.12", **BEACON)
    suite = load_suite(path.stem)
    assert with_seed(suite, None) == with_seed(suite, suite.seed) == suite
    with pytest.raises(InputError, match="'small@2021.12' is an edition, whose seed is fixed by its draw; leave it out"):
        with_seed(suite, 5)
    path.write_text(path.read_text().replace("5c2f e11a", "5c2f e11b"))
    with pytest.raises(InputError, match="seed must be .* derived from the name, commit and text"):
        load_suite(path.stem)


@dataclass(frozen=True)
class Mine(GoToGoal):
    """A planner of this test."""


def edition_of(**planners: Named) -> Edition:
    drawn = {name: digest_of(planner) for name, planner in planners.items()}
    return Edition("a" * 40, "2026-12-01T00:00:00+00:00", "x", "2026-12-02T00:00:00+00:00", "here", "2026-12-02", 1, drawn)


def test_planners_are_marked_by_their_code_parameters_and_weights(monkeypatch, tmp_path):
    go, pursuit, policy = (named_planner(name)[1] for name in ("go_to_goal", "pure_pursuit", "learned_dwa"))
    edition = edition_of(go_to_goal=go, pure_pursuit=pursuit, learned_dwa=policy)
    as_drawn = {"go_to_goal": go, "renamed": pursuit, "learned_dwa": policy}
    assert after_draw(edition, as_drawn) == {}
    slower, other = named_planner("pure_pursuit:speed=0.3")[1], Named("mine", Mine())
    assert after_draw(edition, {"pure_pursuit:speed=0.3": slower, "mine": other}) == {
        "pure_pursuit:speed=0.3": CHANGED,
        "mine": NOT_DRAWN,
    }
    real = planner_code._file
    edited = tmp_path / "steering.py"
    edited.write_bytes(real("agora.planners.steering").read_bytes() + b"\nEDITED = 1\n")
    monkeypatch.setattr(planner_code, "_file", lambda name: edited if name == "agora.planners.steering" else real(name))
    assert after_draw(edition, as_drawn) == dict.fromkeys(("go_to_goal", "renamed"), CHANGED), "they import the edited module"
    monkeypatch.setattr(planner_code, "_file", real)
    monkeypatch.setattr(planner_code, "inputs", lambda planner: {"learned_dwa.safetensors": "0"} if planner is policy else {})
    assert after_draw(edition, as_drawn) == {"learned_dwa": CHANGED}, "its weights were changed"


CODE = '''"""A module."""

from __future__ import annotations

from agora.core import jit  # compiles


class Planner:
    """A planner."""

    speed: float = 0.5  # m/s
    """Preferred speed."""

    def act(self):
        import math

        text = """é"""  # a value, not a docstring
        return math.pi, text
'''


def test_only_code_counts():
    assert planner_code.code_of(CODE).splitlines() == [
        "class Planner:",
        "    speed: float = 0.5",
        "    def act(self):",
        '        text = """é"""',
        "        return math.pi, text",
    ]
    edits = {"compiles": "compiled", '"""A planner."""': '"""Another planner."""', "agora.core": "agora.moved", "# m/s": "# m / s"}
    for old, new in edits.items():
        assert planner_code.code_of(CODE.replace(old, new)) == planner_code.code_of(CODE)
    for old, new in {"0.5": "0.6", "é": "e", "    def": "def", "Planner:": "Planner():"}.items():
        assert planner_code.code_of(CODE.replace(old, new)) != planner_code.code_of(CODE)


def test_a_module_that_becomes_a_package_leaves_the_digest(monkeypatch, tmp_path):
    pursuit, real = named_planner("pure_pursuit")[1], planner_code._file
    drawn, name = digest_of(pursuit), "agora.planners.steering"
    moved = {name: tmp_path / "__init__.py", f"{name}._turns": tmp_path / "_turns.py"}
    moved[f"{name}._turns"].write_bytes(real(name).read_bytes())
    moved[name].write_text(f'"""Steering."""\n\nfrom {name}._turns import turn as turn\n')
    monkeypatch.setattr(planner_code, "_file", lambda module: moved.get(module) or real(module))
    assert digest_of(pursuit) == drawn


def test_a_planner_that_delegates_changes_with_the_planners_it_calls():
    chosen = {
        name.removeprefix("agora.planners.local.")
        for name in planner_code._closure(planner_code.modules(named_planner("all_in_one")[1]))
    }
    assert {"teb._planner", "teb.plan", "pure_pursuit"} <= chosen
    guided = planner_code._closure(planner_code.modules(named_planner("pure_pursuit+polite")[1]))
    assert {"agora.planners.local.pure_pursuit", "agora.planners.inter.polite"} <= set(guided)


def test_a_planner_changed_after_the_draw_is_marked_in_every_table(tmp_path, capsys):
    drawn = edition_of(go_to_goal=named_planner("go_to_goal")[1])
    base = parse(SMALL, Suite)
    name = "small@2021.12"
    plane = replace(base.stages[1], episodes=2)
    suite = Suite(name, (plane,), seed=drawn.seed_of(name), edition=replace(drawn, planners={**drawn.planners, "mine": "0" * 32}))
    planners = {"go_to_goal": named_planner("go_to_goal")[1], "mine": Named("mine", Mine())}
    for _ in bench(Request(suite, planners, tmp_path / "run", Options(workers=0))):
        pass
    record = RunFolder.read(tmp_path / "run").record
    assert record.after_draw == {"mine": CHANGED}
    marked = f"mine ({CHANGED})"
    finish(tmp_path / "run", "0")
    out = " ".join(capsys.readouterr().out.split())
    assert "mine (changed after the draw)" in out and "go_to_goal (" not in out
    page = report(tmp_path / "run").read_text()
    assert page.count(marked) > 5 and f'<th scope="row" data-value="{marked}">' in page and "go_to_goal (changed" not in page
    found = merged([tmp_path / "run"])
    assert found.planners == ["go_to_goal", marked] and {row["planner"] for row in found.rows} == {"go_to_goal", marked}
    assert found.names[marked] == "mine"


def test_an_entry_of_a_planner_changed_after_the_draw_is_marked_on_the_leaderboard(clone, tmp_path):
    path, _ = draw("small", "2021.12", **BEACON, episodes=1)
    suite, slow = load_suite(path.stem), "pure_pursuit:speed=0.3"
    planners = {name: named_planner(name)[1] for name in ("pure_pursuit", slow)}
    for _ in bench(Request(suite, planners, tmp_path / "run", Options(workers=0))):
        pass
    own, changed = submit(tmp_path / "run", tmp_path / "board")
    entries = {place: load(place / "entry.yaml", Entry) for place in (own, changed)}
    assert [entry.after_draw for entry in entries.values()] == ["", CHANGED] and own.parent.name == "small@2021.12"
    page = write([tmp_path / "board"], tmp_path / "page.html", with_own=False).read_text()
    assert f"{slow} ({CHANGED})" in page and "pure_pursuit (changed" not in page
    assert check(own, Sample(1, 1), Options(workers=0)).agrees and check(changed, Sample(1, 1), Options(workers=0)).agrees
    (changed / "entry.yaml").write_text(dump(replace(entries[changed], after_draw="")))
    found = check(changed, Sample(1, 1), Options(workers=0))
    assert found.problems == ("after_draw: the entry says 'nothing', but on this machine the planner is 'changed after the draw'",)
