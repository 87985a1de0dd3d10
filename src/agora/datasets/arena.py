"""Imports worlds, scenarios, robots, obstacles and benchmarks from an Arena 3.0 installation. Arena's licence does not allow Agora
to ship these files.

Each file is read first and copied only if Agora can use it; robots and obstacles are converted to Agora's own formats. A second
import of the same installation produces the same files.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from agora.config import dump, load
from agora.datasets.arena_contests import Playable, playable_contest, playable_suite
from agora.datasets.arena_entities import obstacle_of, robot_of
from agora.draft.scenario import read_scenario, write_scenario
from agora.errors import InputError
from agora.files import write_whole
from agora.maps.io import MapFile, read_map
from agora.maps.zones import read_zones
from agora.share import data_home
from agora.tasks.arena_tools import convert

_DEEPEST = 5


@dataclass
class Report:
    """A report on an import.

    Attributes:
        taken: names of imported items by kind: worlds, scenarios, robots, obstacles, suites, contests.
        skipped: items that were not imported, each with the reason, and notes on conversions that may be unexpected.
    """

    taken: dict[str, list[str]] = field(
        default_factory=lambda: {kind: [] for kind in ("worlds", "scenarios", "robots", "obstacles", "suites", "contests")}
    )
    skipped: list[str] = field(default_factory=list)


def import_arena(source: str | Path, target: str | Path) -> Report:
    """Copy the parts of an Arena installation that Agora can use.

    Args:
        source: the ``arena_simulation_setup`` package, with ``worlds/`` and ``entities/``, or a folder up to five levels above it;
            benchmarks are taken from the ``arena_bringup`` package in the same folder.
        target: folder to which ``worlds/<name>/``, ``robots/<name>.yaml`` and ``obstacles/<name>.yaml`` are written;
            ``benchmark/``, whose stages refer to worlds by name, is written only if ``target`` is the data folder.

    Raises:
        InputError: the package is missing, or the target cannot be written.
    """
    root, target = _package(Path(source)), Path(target)
    benchmark = _nearest(Path(source), lambda folder: (folder / "configs" / "benchmark" / "config.yaml").is_file())
    report = Report()
    try:
        for world in _folders(root / "worlds"):
            _world(world, target / "worlds" / world.name, report)
        for robot in _folders(root / "entities" / "robots"):
            _entity(robot_of, robot, target, "robots", report)
        for obstacle in _folders(root / "entities" / "obstacles" / "static"):
            _entity(obstacle_of, obstacle, target, "obstacles", report)
        for dynamic in _folders(root / "entities" / "obstacles" / "dynamic"):
            report.skipped.append(f"obstacles/dynamic/{dynamic.name}: skipped: the type of a pedestrian determines its shape")
        if benchmark is not None and target.absolute() != data_home().absolute():
            report.skipped.append(
                f"{benchmark}: skipped: its benchmark refers to worlds by name, which works only for worlds in the data folder"
            )
        elif benchmark is not None:
            _benchmark(benchmark / "configs" / "benchmark", target / "benchmark", report)
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error}") from error
    return report


def _package(source: Path) -> Path:
    """Return the topmost folder at or below ``source`` that contains ``worlds`` and ``entities``."""
    if not source.is_dir():
        raise InputError(f"{source}: expected the folder of an Arena installation")
    found = _nearest(source, lambda folder: (folder / "worlds").is_dir() and (folder / "entities").is_dir())
    if found is None:
        raise InputError(f"{source}: no folder in it contains worlds and entities; expected Arena's arena_simulation_setup")
    return found


def _nearest(source: Path, wanted: Callable[[Path], bool]) -> Path | None:
    """Return the topmost folder at or below ``source`` for which ``wanted`` is true."""
    level = [source]
    for _ in range(_DEEPEST + 1):
        for folder in level:
            if wanted(folder):
                return folder
        level = [inner for folder in level for inner in _folders(folder)]
    return None


def _folders(place: Path) -> Iterator[Path]:
    """Yield the visible subfolders of a folder, sorted by name; nothing if the folder does not exist."""
    if not place.is_dir():
        return iter(())
    return iter(sorted(p for p in place.iterdir() if p.is_dir() and not p.is_symlink() and not p.name.startswith(".")))


def _world(source: Path, target: Path, report: Report) -> None:
    """Import a world: its map, zones, roles and readable scenarios."""
    yaml = source / "map" / "map.yaml"
    try:
        read_map(yaml)
        image = load(yaml, MapFile).image
    except InputError as error:
        report.skipped.append(f"world {source.name}: {_one_line(error)}")
        return
    inside = (yaml.parent / image).resolve().is_relative_to(yaml.parent.resolve())
    if not inside:
        report.skipped.append(f"world {source.name}: its image {image} is outside its map folder")
        return
    for file in (image, "map.yaml"):
        _copy(source / "map" / file, target / "map" / file)
    report.taken["worlds"].append(source.name)
    zones = source / "map" / "zones.yaml"
    if zones.is_file():
        _checked(zones, target / "map" / "zones.yaml", read_zones, report)
    for roles in sorted((source / "zones").glob("*.yaml")):
        _checked(roles, target / "zones" / roles.name, lambda path: load(path, dict), report)
    for scenario in sorted((source / "scenarios").glob("*.json")):
        _scenario(scenario, target / "scenarios" / scenario.name, report)


def _checked(source: Path, target: Path, read: Callable[[Path], object], report: Report) -> None:
    """Copy a file if ``read`` can read it; otherwise, add the reason to the report."""
    try:
        read(source)
    except InputError as error:
        report.skipped.append(_one_line(error))
    else:
        _copy(source, target)


def _scenario(source: Path, target: Path, report: Report) -> None:
    """Copy a scenario, or convert an arena-tools scenario to the current format."""
    name = f"{source.parent.parent.name}/{source.stem}"
    try:
        read_scenario(source)
    except InputError as wrong:
        try:
            converted = convert(source)
        except InputError:
            report.skipped.append(_one_line(wrong))
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        write_scenario(converted, target)
        report.skipped.append(f"{source}: converted from arena-tools' format")
    else:
        _copy(source, target)
    report.taken["scenarios"].append(name)


def _entity(read: Callable[[Path], object], source: Path, target: Path, kind: str, report: Report) -> None:
    """Read a robot or an obstacle, and write it as an Agora file."""
    try:
        made = read(source)
    except InputError as error:
        report.skipped.append(f"{kind[:-1]} {source.name}: {_one_line(error)}")
        return
    (target / kind).mkdir(parents=True, exist_ok=True)
    write_whole(target / kind / f"{source.name}.yaml", dump(made))
    report.taken[kind].append(source.name)


def _benchmark(source: Path, target: Path, report: Report) -> None:
    """Import the suites and contests that can be run at least in part, and ``config.yaml`` if at least one suite and one contest
    were imported.
    """
    kinds: dict[str, Callable[[Path], Playable]] = {"suites": playable_suite, "contests": playable_contest}
    for kind, read in kinds.items():
        for path in sorted((source / kind).glob("*.yaml")):
            try:
                found = read(path)
            except InputError as error:
                report.skipped.append(f"{kind[:-1]} {path.stem}: {_one_line(error)}")
                continue
            report.skipped += found.reasons
            if found.text:
                (target / kind).mkdir(parents=True, exist_ok=True)
                write_whole(target / kind / path.name, found.text)
                report.taken[kind].append(path.stem)
    if report.taken["suites"] and report.taken["contests"]:
        _copy(source / "config.yaml", target / "config.yaml")


def _one_line(error: InputError) -> str:
    """Return the first problem in an error, and the number of further problems."""
    first, *more = str(error).splitlines()
    return first + (f" (and {len(more)} more)" if more else "")


def _copy(source: Path, target: Path) -> None:
    """Copy a file atomically."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    shutil.copyfile(source, part)
    os.replace(part, target)
