"""Draws editions of suites, whose worlds depend on a text that did not exist when the planners were frozen.

An edition is a separate suite, ``configs/benchmark/SUITE@NAME.yaml``, so it does not change when the original suite changes.
"""

from __future__ import annotations

import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from agora.benchmark.provenance.planner_code import digest_of
from agora.config import plain
from agora.draft.edition import MARK, Edition
from agora.errors import InputError
from agora.files import write_whole
from agora.interfaces import DrawnPlaces
from agora.planners.presets import named_planner, preset_names, runnable_planners
from agora.share import checkout, folder
from agora.tasks.suite import Suite, load_suite, with_seed

__all__ = ["draw"]

_NAME = re.compile(r"\d{4}\.\d{2}(\.\d+)?")
_MOST = 1000


def draw(
    suite: str, name: str, text: str, *, published: str, source: str, episodes: int | None = None
) -> tuple[Path, dict[str, str]]:
    """Draw an edition of a suite at the checked-out commit, and return its file and the planners that cannot run on this machine.

    Args:
        suite: name of a suite that comes with Agora.
        name: name of the edition: year and month, such as 2026.12.
        text: public text; its lines are joined with single spaces.
        published: time at which the text was published, in ISO 8601 with a time zone; must be later than the commit.
        source: address at which the text can be read.
        episodes: number of episodes per stage; the number of places is scaled in proportion. If None, the suite's numbers are kept.

    Raises:
        InputError: the edition already exists, Agora does not run from an unmodified clone, or the text is older than the commit.
    """
    if not _NAME.fullmatch(name):
        raise InputError(f"edition {name!r}: expected a year and a month, such as 2026.12")
    if episodes is not None and not 1 <= episodes <= _MOST:
        raise InputError(f"episodes: expected an integer in [1, {_MOST}], got {episodes}")
    base, path = load_suite(suite), folder("configs") / "benchmark" / f"{suite}{MARK}{name}.yaml"
    if base.edition is not None or base.name != suite:
        raise InputError(f"suite {suite!r}: expected the name of a suite that comes with Agora and is not an edition")
    if path.exists():
        raise InputError(f"{path}: already exists; an edition can be drawn only once")
    commit, committed = _frozen()
    digests, left_out = _planners()
    said = {"text": " ".join(text.split()), "published": published, "source": source, "drawn": datetime.now(UTC).date().isoformat()}
    try:
        edition = Edition(commit=commit, committed=committed, version=base.version, planners=digests, **said)
    except ValueError as error:
        raise InputError(f"edition {name}: {error}") from error
    tree = yaml.safe_load((folder("configs") / "benchmark" / f"{suite}.yaml").read_text(encoding="utf-8"))
    write_whole(
        path,
        yaml.safe_dump(
            _edited(tree, base, path.stem, edition, episodes),
            sort_keys=False,
            width=140,
            allow_unicode=True,
            default_flow_style=None,
        ),
    )
    load_suite(path.stem)
    return path, left_out


def _edited(tree: dict[str, Any], suite: Suite, name: str, edition: Edition, episodes: int | None) -> dict[str, Any]:
    """Return the plain data of an edition's file, made from the plain data of the suite's file."""
    seed = edition.seed_of(name)
    drawn = with_seed(suite, seed)
    stages = []
    for stage, own, made in zip(tree["stages"], suite.stages, drawn.stages, strict=True):
        stage = {key: value for key, value in stage.items() if key != "seed"}
        if episodes is not None:
            stage["episodes"] = episodes
        if isinstance(made.world.part, DrawnPlaces):
            stage["world"] = {**stage["world"], "seed": made.world.part.seed}
            if episodes is not None and "count" in stage["world"]:
                stage["world"]["count"] = max(1, round(stage["world"]["count"] * episodes / own.count))
        stages.append(stage)
    description = f"Edition {name.partition(MARK)[2]} of {suite.name}. {tree.get('description', '')}".strip()
    head = {"name": name, "seed": seed, "split": "test", "description": description}
    return {**{key: value for key, value in tree.items() if key != "stages"}, **head, "edition": plain(edition), "stages": stages}


def _planners() -> tuple[dict[str, str], dict[str, str]]:
    """Return the digests of the planners and presets that can run on this machine, by name, and the reasons why the others
    cannot.
    """
    names, left_out = runnable_planners()
    digests = {name: digest_of(named_planner(name)[1]) for name in names}
    for name in preset_names():
        try:
            digests[name] = digest_of(named_planner(name)[1])
        except InputError as error:
            left_out[name] = str(error)
    return dict(sorted(digests.items())), left_out


def _frozen() -> tuple[str, str]:
    """Return the checked-out commit and its time.

    Raises:
        InputError: Agora does not run from a clone, or the clone has been modified.
    """
    root = checkout()
    if root is None:
        raise InputError(
            "an edition records the commit, so it must be drawn in a clone of Agora's repository, not by an installed package"
        )
    try:
        if changes := _git(root, "status", "--porcelain"):
            raise InputError(f"{root}: has uncommitted changes, such as {changes.splitlines()[0].strip()!r}; commit them")
        commit, committed = _git(root, "show", "--no-patch", "--format=%H %cI", "HEAD").split()
    except (OSError, subprocess.CalledProcessError) as error:
        raise InputError(f"{root}: git cannot read the current commit: {error}") from error
    return commit, committed


def _git(root: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True).stdout.strip()
