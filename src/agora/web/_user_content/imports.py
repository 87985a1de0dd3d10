"""Imports files: scenarios of Agora, Arena and arena-tools, map_server maps, and world folders as zip archives.

Each file is recognised by its content and stored atomically as a user's world or scenario, with a report on the understood and the
ignored keys.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from agora.config import build, dump, parse
from agora.draft.scenario import Scenario, older_format, scenario_text
from agora.errors import InputError
from agora.maps.furniture import Furniture
from agora.maps.io import MapFile, ShapesFile
from agora.maps.zones import ZoneFile
from agora.tasks.arena_tools import ArenaToolsFile, renewed
from agora.web._user_content.archives import MOST_UNPACKED, UNFIT, unpack_archive
from agora.web._user_content.import_report import ImportReport, keep_known_keys
from agora.web._user_content.scenarios import LARGEST, Scenarios
from agora.web._user_content.store import ConflictError
from agora.web._user_content.worlds import IMAGES, Worlds, check_image
from agora.yaml_tree import value_text

_SHEETS = (".yaml", ".yml")
_KINDS = {
    "map.yaml": MapFile,
    "shapes.yaml": ShapesFile,
    "zones.yaml": tuple[ZoneFile, ...],
    "furniture.json": tuple[Furniture, ...],
}
"""The files in a world's folder ``map`` that Agora reads, other than images and ``ground.npz``."""

_LINKS = {"id": "the current format does not number agents", "yaml_file": "not needed: the model is named after this file"}
_EXPECTED = "expected a scenario (.json), a map_server map (its .yaml and its image together), or a zipped world folder (.zip)"


class Importer:
    """Stores the content of imported files.

    Args:
        worlds: worlds of the server.
        scenarios: scenarios of the server.
    """

    def __init__(self, worlds: Worlds, scenarios: Scenarios) -> None:
        self._worlds, self._scenarios = worlds, scenarios

    def import_files(self, files: Sequence[tuple[str, bytes]], name: str, world: str) -> dict[str, Any]:
        """Import one or more files.

        Args:
            files: names and contents of the files.
            name: name of the new world; if empty, derived from the name of the first file.
            world: world for scenarios that do not name an existing world.

        Returns:
            The new ``world``, if any, the names of the new ``scenarios``, and the lists ``understood`` and ``dropped``, whose
            entries have ``file``, ``key`` and ``words``.

        Raises:
            InputError: the files are of an unknown kind or invalid; nothing is stored.
        """
        report = ImportReport()
        for file, _ in files:
            if UNFIT.search(file) or "/" in file or "\\" in file or not 0 < len(file) <= 200:
                raise InputError(
                    f"file: the name {UNFIT.sub('?', file)[:80]!r} contains characters that are not allowed in file names"
                )
        if len(files) == 1 and (files[0][1].startswith(b"PK\x03\x04") or files[0][0].lower().endswith(".zip")):
            made = self._import_archive(*files[0], name, report)
            return {"world": made, "scenarios": [], **report.plain()}
        texts = {file: data for file, data in files if not file.lower().endswith((*IMAGES, *_SHEETS))}
        sheets = {file: data for file, data in files if file.lower().endswith(_SHEETS)}
        images = {file: data for file, data in files if file.lower().endswith(IMAGES)}
        if len(files) == 1 and sheets and older_format(set(_values(*files[0]))):
            texts, sheets = sheets, {}
        found = {file: read_scenario(file, data, report) for file, data in texts.items()}
        made = self._import_map(sheets, images, name, report) if sheets or images else ""
        known = {**self._worlds.names()}
        names = [self._keep_scenario(file, scenario, made or world, known, report) for file, scenario in found.items()]
        return {"world": made, "scenarios": names, **report.plain()}

    def _import_map(self, sheets: Mapping[str, bytes], images: Mapping[str, bytes], name: str, report: ImportReport) -> str:
        """Store a map_server map, and return its name."""
        if len(sheets) != 1 or len(images) != 1:
            got = ", ".join([*sheets, *images])
            raise InputError(
                f"a map consists of two files, uploaded together: its .yaml and its image ({', '.join(IMAGES)}); got {got}"
            )
        (sheet, text), (image, data) = *sheets.items(), *images.items()
        values = keep_known_keys(_values(sheet, text), MapFile, sheet, report)
        file = build(values, MapFile, sheet)
        if PurePosixPath(file.image).name != image:
            report.add_understood(sheet, "image", f"{value_text(file.image)} is not the uploaded image; {image} was used")
        _report_values(values, sheet, report)
        name = name or _name_of(sheet)
        written = dump(build({**values, "image": image}, MapFile, sheet))

        def fill(folder: Path) -> None:
            (folder / "map").mkdir()
            (folder / "map" / "map.yaml").write_text(written, encoding="utf-8")
            (folder / "map" / image).write_bytes(data)
            check_image(folder / "map" / image)

        self._worlds.keep(name, fill)
        return name

    def _keep_scenario(self, file: str, scenario: Scenario, world: str, known: Mapping[str, str], report: ImportReport) -> str:
        """Store a scenario under an unused name, and return the name."""
        named = scenario.map
        if named not in known:
            if not world:
                raise InputError(
                    f"{file}: map: {f'no world called {named!r}' if named else 'no world given'}; choose a world for the scenario"
                )
            words = f"there is no world {named!r} on this server" if named else "the file specifies no world"
            report.add_dropped(file, "map", f"{words}; {world} is used")
            scenario = Scenario(scenario.robots, scenario.obstacles, world, scenario.resets)
        stem, number = _name_of(file), 1
        while True:
            name = stem if number == 1 else f"{stem[:76]}-{number}"
            try:
                self._scenarios.put(name, scenario_text(scenario), "")
            except ConflictError:
                number += 1
            else:
                return name

    def _import_archive(self, archive: str, data: bytes, name: str, report: ImportReport) -> str:
        """Store the world in an archive, and return its name."""
        entries = unpack_archive(data, archive)
        root, map_files = _root(entries, archive)
        kept: dict[str, bytes] = {}
        for path, content in entries.items():
            inside = _path_in_world(PurePosixPath(path), root, map_files)
            if inside.startswith("map/") and inside.removeprefix("map/") in _KINDS:
                kept[inside] = _map_file(inside.removeprefix("map/"), content, report)
            elif inside == "map/ground.npz":
                kept[inside] = _ground(content)
                report.add_understood(inside, "", "ground heights")
            elif re.fullmatch(r"scenarios/[^/]+\.json", inside):
                stem = _name_of(inside)
                kept[f"scenarios/{stem}.json"] = scenario_text(read_scenario(inside, content, report)).encode()
            elif not (inside.startswith("map/") and inside.lower().endswith(IMAGES)):
                report.add_dropped(path, "", "is not a world file that Agora reads")
        if "map/map.yaml" in kept:
            _add_image(kept, {_path_in_world(PurePosixPath(path), root, map_files): path for path in entries}, entries, report)
        name = name or _name_of(root.name if root.name else archive)

        def fill(folder: Path) -> None:
            for path, content in kept.items():
                (folder / path).parent.mkdir(exist_ok=True)
                (folder / path).write_bytes(content)
                if path.lower().endswith(IMAGES):
                    check_image(folder / path)

        self._worlds.keep(name, fill)
        return name


def read_scenario(file: str, data: bytes, report: ImportReport) -> Scenario:
    """Return the scenario in a file of Agora, Arena 3.0 or arena-tools.

    Args:
        file: name of the file.
        data: contents of the file.
        report: report to which the understood and the ignored keys are added.

    Raises:
        InputError: the file is not a scenario, or is invalid.
    """
    values = _values(file, data)
    _refuse_controls(values, file)
    former = older_format(set(values))
    if "arena-tools" in former and "before" not in former:
        found = renewed(build(keep_known_keys(values, ArenaToolsFile, file, report), ArenaToolsFile, file), file)
        report.add_understood(file, "", "a scenario in arena-tools' former format, converted to the current one")
        report.add_understood(file, "robot_position, robot_goal", "start and goal of the robot")
        for number, agent in enumerate(values.get("pedsim_agents") or ()):
            for key in _LINKS.keys() & agent.keys():
                report.add_dropped(file, f"pedsim_agents[{number}].{key}", _LINKS[key])
    elif former:
        raise InputError(f"{file}: this is {former}, which Agora does not read")
    else:
        if not {key.lower() for key in values} & {"robots", "obstacles"}:
            raise InputError(f"{file}: not a scenario: it has neither robots nor obstacles, nor arena-tools' keys; {_EXPECTED}")
        found = build(keep_known_keys(values, Scenario, file, report), Scenario, file)
        report.add_understood(file, "robots", f"{len(found.robots)} with start and goal")
    o = found.obstacles
    for key, before, some in (
        ("dynamic", "pedsim_agents", o.dynamic),
        ("static", "static_obstacles", o.static),
        ("interactive", "interactive_obstacles", o.interactive),
    ):
        if some:
            report.add_understood(file, before if former else f"obstacles.{key}", f"{len(some)} of them")
    if found.map:
        report.add_understood(file, "map_path" if former else "map", f"the world {found.map}")
    if found.resets is not None:
        report.add_understood(file, "resets", "kept, but not used on this server")
    return found


def _values(file: str, data: bytes) -> dict[str, Any]:
    """Return the mapping in a JSON or YAML text."""
    if len(data) > LARGEST:
        raise InputError(f"{file}: is larger than {LARGEST >> 20} MiB; {_EXPECTED}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not UTF-8 text; {_EXPECTED}") from error
    is_json = file.lower().endswith(".json")
    if not is_json and not file.lower().endswith(_SHEETS):
        raise InputError(f"{file}: {_EXPECTED}")
    return parse(text, dict[str, Any], file, is_json=is_json)


def _refuse_controls(value: Any, file: str, key: str = "") -> None:
    """Reject strings with control characters, which are invisible; markup counts as ordinary text."""
    if isinstance(value, dict):
        for name, one in value.items():
            _refuse_controls(name, file, key)
            _refuse_controls(one, file, f"{key}.{name}" if key else name)
    elif isinstance(value, list):
        for number, one in enumerate(value):
            _refuse_controls(one, file, f"{key}[{number}]")
    elif isinstance(value, str) and re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", value):
        raise InputError(f"{file}: {key}: has control characters, which are not allowed in names: {value_text(value)}")


def _report_values(values: Mapping[str, Any], file: str, report: ImportReport) -> None:
    """Record the understood values of a map file."""
    for key, value in values.items():
        report.add_understood(file, key, f"{value}" if isinstance(value, list) else value_text(value))


def _name_of(file: str) -> str:
    """Return a valid name derived from a file name."""
    stem = re.sub(r"\.(json|ya?ml|zip)$", "", PurePosixPath(file).name, flags=re.IGNORECASE)
    return re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-_")[:78] or "opened"


def _root(entries: Mapping[str, bytes], archive: str) -> tuple[PurePosixPath, PurePosixPath]:
    """Return the folder of the only world in an archive, and the folder of its map files; the two are the same in Arena's former
    layout ``maps/NAME``.
    """
    sheets = [PurePosixPath(path) for path in entries if PurePosixPath(path).name in ("map.yaml", "shapes.yaml")]
    places = {sheet.parent for sheet in sheets if "__MACOSX" not in sheet.parts}
    if not places:
        raise InputError(f"{archive}: contains no world: no map/map.yaml and no map/shapes.yaml")
    if len(places) > 1:
        raise InputError(f"{archive}: contains {len(places)} maps ({', '.join(sorted(map(str, places)))}); expected one world")
    (place,) = places
    return (place.parent, place) if place.name == "map" else (place, place)


def _path_in_world(path: PurePosixPath, root: PurePosixPath, map_files: PurePosixPath) -> str:
    """Return the path of an entry relative to its world's folder, or the entry's own path if it is outside that folder."""
    if path.parent == map_files:
        return f"map/{path.name}"
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def _map_file(name: str, content: bytes, report: ImportReport) -> bytes:
    """Return a file of a world's map, reduced to the keys that Agora knows."""
    if len(content) > LARGEST * 4:
        raise InputError(f"{name}: is larger than {LARGEST * 4 >> 20} MiB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: not UTF-8 text") from error
    kind: Any = _KINDS[name]
    raw: Any = parse(text, Any, name, is_json=name.endswith(".json"))
    _refuse_controls(raw, name)
    values = keep_known_keys(raw, kind, name, report)
    build(values, kind, name)
    if isinstance(values, dict):
        _report_values({key: value for key, value in values.items() if not isinstance(value, list) or len(value) < 5}, name, report)
    else:
        report.add_understood(name, "", f"{len(values)} entries")
    return (dump(values) if name.endswith(".yaml") else f"{json.dumps(values, ensure_ascii=False)}\n").encode()


def _ground(content: bytes) -> bytes:
    """Return the ground heights, which are stored as a NumPy archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except zipfile.BadZipFile as error:
        raise InputError("ground.npz: not a NumPy file") from error
    if size > MOST_UNPACKED:
        raise InputError(f"ground.npz: is larger than {MOST_UNPACKED >> 20} MiB when it is unpacked")
    return content


def _add_image(kept: dict[str, bytes], places: Mapping[str, str], entries: Mapping[str, bytes], report: ImportReport) -> None:
    """Add the image named by the map, and record other images as ignored."""
    named = parse(kept["map/map.yaml"].decode(), MapFile, "map.yaml").image
    if PurePosixPath(named).name != named or not named.lower().endswith(IMAGES):
        raise InputError(f"map.yaml: image: expected the name of a file next to it ({', '.join(IMAGES)}), got {value_text(named)}")
    if f"map/{named}" not in places and "map/shapes.yaml" not in kept:
        raise InputError(f"map.yaml: image: {value_text(named)} is not in the archive")
    for inside, path in places.items():
        if inside == f"map/{named}":
            kept[inside] = entries[path]
        elif inside.startswith("map/") and inside.lower().endswith(IMAGES):
            report.add_dropped(path, "", "is not the image that map.yaml names")
