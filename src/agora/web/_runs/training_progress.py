"""A training run in its folder, in the format used by the front end: the progress of each seed, its curve, and its files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from agora.config import load, plain
from agora.errors import InputError, UnknownNameError
from agora.files import naming
from agora.learning.card import CARD, PAGE, PICTURE, SEED, SeedRecord
from agora.learning.checkpoint import point_of, steps_of
from agora.learning.run import CHECKPOINT, CURVE, POLICY, RECORD, policy_kept
from agora.learning.seeds import seed_folder
from agora.web._user_planners.policies import Policies

MOST = 4 << 20
"""Maximum size of the part of a curve that is read at a time, bytes."""


def describe_training(run: Path, policies: Policies) -> dict[str, Any]:
    """Return the training run in a folder: its file, its seeds and, after the first round, its policy."""
    training = load(run / RECORD, dict[str, Any])
    return {
        "training": training,
        "file": str(run / RECORD),
        "seeds": [_seed(run, seed) for seed in training["seeds"]],
        "policy": policies.of_run(run),
        "files": [name for name in _files(run) if _files(run)[name].is_file()],
    }


def _seed(run: Path, seed: int) -> dict[str, Any]:
    place = seed_folder(run, seed)
    record = plain(load(place / SEED, SeedRecord)) if (place / SEED).is_file() else None
    return {
        "seed": seed,
        "begun": place.is_dir(),
        "checkpoint": steps_of(place / CHECKPOINT),
        "whole": record is not None,
        "results": [] if record is None else record["results"],
    }


def curve(run: Path, seed: int, version: str = "", offset: int = 0) -> dict[str, Any]:
    """Return the new points of a curve.

    Args:
        run: folder of the training run.
        seed: seed of the training run.
        version: version from the previous request; the curve of a resumed training run has a new version.
        offset: bytes read by previous requests.

    Returns:
        ``version`` and ``offset`` for the next request, the new ``points``, ``fresh``, which is true if the new points start with
        the curve's first point, and ``more``, which is true if there are further points.

    Raises:
        UnknownNameError: the training run does not have this seed.
        ResultsError: a line of the curve's file is not a point.
    """
    training = load(run / RECORD, dict[str, Any])
    if seed not in training["seeds"]:
        raise UnknownNameError("seed", str(seed), map(str, training["seeds"]))
    path = seed_folder(run, seed) / CURVE
    if not path.is_file():
        return {"version": "", "offset": 0, "points": [], "fresh": True, "more": False}
    with naming(path), path.open("rb") as file:
        about = os.fstat(file.fileno())
        fresh = str(about.st_ino) != version or not 0 <= offset <= about.st_size
        start = 0 if fresh else offset
        file.seek(start)
        data = file.read(MOST)
    whole = data[: data.rfind(b"\n") + 1]
    end = start + len(whole)
    points = [point_of(line, str(path)) for line in whole.decode("utf-8", "replace").splitlines()]
    return {"version": str(about.st_ino), "offset": end, "points": points, "fresh": fresh, "more": len(data) == MOST}


def file_of(run: Path, name: str) -> Path:
    """Return a file of a training run for download.

    Raises:
        UnknownNameError: there is no file with this name. InputError: the file does not exist yet.
    """
    files = _files(run)
    if name not in files:
        raise UnknownNameError("file", name, files)
    if not files[name].is_file():
        raise InputError(f"{name}: does not exist yet")
    return files[name]


def _files(run: Path) -> dict[str, Path]:
    """Return the files of a training run, keyed by their names for download."""
    seeds = load(run / RECORD, dict[str, Any])["seeds"]
    best = policy_kept(seed_folder(run, seeds[0])) or run / POLICY
    curves = {f"curve_{seed}.jsonl": seed_folder(run, seed) / CURVE for seed in seeds}
    return {POLICY: best, **{name: run / name for name in (CARD, PAGE, PICTURE, RECORD)}, **curves}
