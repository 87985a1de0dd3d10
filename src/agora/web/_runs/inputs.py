"""The server content that a run uses, copied to the run's folder as it was at the time of the request.

The folder ``asked`` of a run has the layout of the server's folder: ``suites``, ``scenarios``, ``worlds``, ``policies``, ``runs``.
Workers read from it, so later edits and removals neither change a run nor keep it from being resumed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from agora.benchmark.provenance.inputs import inputs
from agora.errors import InputError
from agora.files import write_whole
from agora.learning.run import RECORD
from agora.reporting.merged_runs import ASKED
from agora.share import folder
from agora.tasks.suite import load_suite
from agora.tasks.suite_file import OWN
from agora.web.settings import Settings


def settings_of_run(settings: Settings, run: Path) -> Settings:
    """Return settings whose folder provides the content for a run: the run's folder ``asked`` or, if that folder does not exist,
    the server's folder.
    """
    return replace(settings, folder=run / ASKED, database=settings.url) if (run / ASKED).is_dir() else settings


def keep_inputs(settings: Settings, run: Path, suite: str, planners: Iterable[Any]) -> None:
    """Copy the server content that a run uses to the run's folder, which is created if necessary.

    Args:
        settings: settings of the server.
        run: folder of the run.
        suite: name or file of the run's suite, for `agora.tasks.suite.load_suite`.
        planners: planners of the run.

    Raises:
        OSError: the disk is full, or a file has been removed in the meantime.
    """
    home = settings.folder.resolve()
    for file in set(_files(settings, suite, tuple(planners))):
        if file.is_relative_to(home):
            place = run / ASKED / file.relative_to(home)
            place.parent.mkdir(parents=True, exist_ok=True)
            write_whole(place, file.read_bytes())


def describe_suite(run: Path, name: str, suite: Callable[[str], str]) -> dict[str, str]:
    """Return the suite of a run: its ``name``, the ``path`` and ``text`` of its original file, and ``now``, which is "changed" or
    "gone" if a user's suite has changed or been removed since then, and empty otherwise.

    Args:
        run: folder of the run.
        name: name of the suite in the web interface.
        suite: function that converts the name of a suite to an argument of `agora.tasks.suite.load_suite`.

    Raises:
        InputError: the suite no longer exists, and the run does not have a copy.
    """
    own = name.removeprefix(OWN)
    places = (run / ASKED / "suites" / f"{own}.yaml", run / ASKED / "scenarios" / f"{own}.json")
    kept = next((place for place in places if own != name and place.is_file()), None)
    if kept is None:
        found = suite(name)
        file = Path(found) if own != name else folder("configs") / "benchmark" / f"{found}.yaml"
        return {"name": name, "path": str(file), "text": file.read_text(encoding="utf-8"), "now": ""}
    described = {"name": name, "path": str(kept), "text": kept.read_text(encoding="utf-8")}
    try:
        changed = Path(suite(name)).read_bytes() != kept.read_bytes()
    except InputError:
        return {**described, "now": "gone"}
    return {**described, "now": "changed" if changed else ""}


def _files(settings: Settings, suite: str, planners: tuple[Any, ...]) -> Iterator[Path]:
    """Yield the files that a run uses. All stages of a user's suite are included, because the suite's file is always read
    completely.
    """
    file = Path(suite).resolve()
    parts: list[Any] = [planners]
    if file.is_relative_to(settings.folder.resolve()):
        yield file
        parts += load_suite(suite).stages
    for part in parts:
        with suppress(InputError):  # missing data; the run reports it when it gets to that stage
            for name in map(Path, inputs(part)):
                yield name
                if name.is_relative_to(runs := settings.runs.resolve()):  # the training's record determines the name of its policy
                    yield runs / name.relative_to(runs).parts[0] / RECORD
