"""The scenarios of a server: its worlds' scenarios, which can be viewed and copied, and users' scenarios, which are edited in the
web interface.

A user's scenario is the file ``scenarios/NAME.json`` in the server's folder, which `agora run` and `agora bench` read directly. It
is written atomically, and only if the change is based on its latest version.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from agora.config import parse
from agora.draft.scenario import Scenario
from agora.draft.surroundings import Surroundings
from agora.draft.task import Task
from agora.errors import InputError, UnknownNameError
from agora.maps.furniture import Furniture, model_of
from agora.robots.model import load_robot
from agora.tasks.faults import faults, task_in
from agora.tasks.suite_file import OWN
from agora.tasks.told import told
from agora.web._user_content.store import Store, version_of
from agora.web._user_content.worlds import Worlds

LARGEST = 1 << 20
"""Maximum size of a scenario's file, bytes."""

ROBOT = "jackal"
"""The robot that drives in scenarios, and for which they are checked."""

_KEYS = re.compile(r"(?:obstacles\.)?(robots|static|interactive|dynamic)(?:\[|\.)(\d+)\]?\.?([\w.\[\]]*)")


class Scenarios:
    """The scenarios of a server.

    Args:
        folder: folder of users' scenarios; created when the first scenario is stored.
        worlds: worlds that scenarios may name.
    """

    def __init__(self, folder: Path, worlds: Worlds) -> None:
        self._worlds, self.store = worlds, Store(folder, "scenario", ".json", self.get)

    def all(self) -> list[dict[str, Any]]:
        """Return all scenarios in the format used by the front end, users' scenarios first."""
        own = [(file, "") for file in self.store.files().values()]
        others = [(file, world) for world in self._worlds.names() for file in sorted(self._files(world))]
        return [_summary(file, file.stat().st_mtime_ns, world) for file, world in own + others]

    def suites(self) -> list[dict[str, Any]]:
        """Return users' scenarios as suites of one episode each."""
        return [
            {
                "name": f"{OWN}{name}",
                "kind": "scenario",
                "description": "One of your scenarios.",
                "stages": [{"name": name, "count": 1}],
                "missing": "",
                "path": str(file),
            }
            for name, file in self.store.files().items()
        ]

    def get(self, name: str) -> dict[str, Any]:
        """Return a user's scenario with its version, problems and sentences.

        Raises:
            UnknownNameError: there is no scenario with this name. InputError: its file cannot be read.
        """
        return {"name": name, **self._open(self.store.path(name))}

    def get_of_world(self, world: str, name: str) -> dict[str, Any]:
        """Return a scenario that belongs to a world, in the same format as a user's scenario.

        Raises:
            UnknownNameError: there is no such world or scenario. InputError: the file cannot be read.
        """
        files = {file.stem: file for file in self._files(world)}
        if name not in files:
            raise UnknownNameError(f"scenario of {world}", name, files)
        opened = self._open(files[name], world)
        return {"name": f"{world}-{name}", **opened, "content": {"map": world} | opened["content"] | {"map": world}}

    def put(self, name: str, text: str, version: str) -> dict[str, Any]:
        """Store a user's scenario, and return it as stored.

        Args:
            name: name of the scenario.
            text: text of its file.
            version: version on which the change is based; empty for a new scenario.

        Raises:
            InputError: the name or the text is invalid, or the world does not exist; nothing is written.
            ConflictError: the scenario has been changed in the meantime; nothing is written.
        """
        self._worlds.folder(_world_of(_read(text)))
        data = json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n"
        self.store.put(name, data.encode(), version)
        return self.get(name)

    def file(self, name: str) -> bytes:
        """Return the file of a user's scenario.

        Raises:
            UnknownNameError: there is no scenario with this name.
        """
        return self.store.path(name).read_bytes()

    def remove(self, name: str) -> None:
        """Remove a user's scenario.

        Raises:
            UnknownNameError: there is no scenario with this name.
        """
        self.store.remove(name)

    def check(self, text: str) -> dict[str, Any]:
        """Return the problems of a scenario, and sentences that describe how everyone in it will behave.

        The ``element`` of a problem or a sentence, such as robots.0, dynamic.2, static.1 or interactive.0, is empty if it does not
        concern a specific element.
        """
        try:
            scenario = _read(text)
            task = self._task(scenario)
        except InputError as error:
            return {"problems": [_problem(line) for line in str(error).splitlines()], "sentences": []}
        people = [f"dynamic.{k}" for k, one in enumerate(scenario.obstacles.dynamic) for _ in range(one.people)]
        elements = [f"robots.{k}" for k in range(len(scenario.robots))] + people
        problems = [] if task.robots else [_problem("the scenario has no robot yet; place its start and goal")]
        for fault in faults(task):
            x, y = task.map.to_file((fault.x, fault.y))
            kind, number = fault.of
            element = "" if number < 0 else people[number] if kind == "pedestrian" else f"robots.{number}"
            problems.append({"text": fault.text, "element": element, "place": [round(float(x), 3), round(float(y), 3)]})
        return {
            "problems": problems,
            "sentences": [{"text": text, "element": element} for text, element in zip(told(task), elements, strict=True)],
        }

    def names_in_world(self, world: str) -> list[str]:
        """Return the names of users' scenarios that use a world."""
        files = self.store.files().items()
        return [name for name, file in files if _summary(file, file.stat().st_mtime_ns, "")["world"] == world]

    def check_in_world(self, world: str) -> list[dict[str, Any]]:
        """Return users' scenarios that use a world, each with its problems."""
        texts = {
            name: self.store.path(name).read_text(encoding="utf-8-sig", errors="replace") for name in self.names_in_world(world)
        }
        return [{"name": name, "problems": self.check(text)["problems"]} for name, text in texts.items()]

    def _task(self, scenario: Scenario) -> Task:
        """Create a scenario in its world, without checking it."""
        place = self._worlds.place(_world_of(scenario))
        x, y = place.map.offset
        moved = scenario.moved((-x, -y)) if x or y else scenario
        world = Surroundings(place.map, moved, furniture=place.furniture, zones=place.zones)
        return task_in(world, load_robot(ROBOT).radius)

    def _files(self, world: str) -> Iterator[Path]:
        return (self._worlds.folder(world) / "scenarios").glob("*.json")

    def _open(self, file: Path, world: str = "") -> dict[str, Any]:
        """Return the content of a file with its version, problems and sentences."""
        data = file.read_bytes()
        text = data.decode("utf-8", "replace")
        _read(text)
        content = json.loads(text)
        if world:
            content["map"] = world
        checked = self.check(json.dumps(content))
        return {"world": content.get("map") or "", "version": version_of(data), "content": content, **checked}


def text_of(content: Any) -> str:
    """Return the text of a scenario's file, given a text or plain data."""
    return content if isinstance(content, str) else json.dumps(content)


def _read(text: str) -> Scenario:
    """Read a scenario's text.

    Raises:
        InputError: the text is too long, or not a scenario.
    """
    if len(text.encode("utf-8", "replace")) > LARGEST:
        raise InputError(f"scenario: the file is larger than {LARGEST >> 20} MiB")
    return parse(text, Scenario, "scenario", is_json=True)


def _world_of(scenario: Scenario) -> str:
    if not scenario.map:
        raise InputError('scenario: map: no world given; set the key map, such as "map": "hall"')
    return scenario.map


def _problem(line: str) -> dict[str, Any]:
    """Return a line of a message as a problem in the format used by the front end."""
    text = re.sub(r"^scenario(?::\d+)?: |^scenario of '[^']*': ", "", line)
    found = _KEYS.match(text)
    if found is None:
        return {"text": text, "element": "", "place": None}
    kind, number, key = found.groups()
    rest = text[found.end() :].removeprefix(": ")
    return {
        "text": f"{key}: {rest}" if key and not rest.startswith(f"{key}:") else rest,
        "element": f"{kind}.{number}",
        "place": None,
    }


@lru_cache(maxsize=1024)
def _summary(file: Path, changed: int, world: str) -> dict[str, Any]:
    """Return a list entry for a scenario; ``world`` is the world whose folder contains it, or empty for a user's scenario."""
    said = {"name": file.stem, "origin": "world" if world else "own", "world": world, "robots": 0, "people": 0, "wrong": ""}
    try:
        scenario = parse(file.read_text(encoding="utf-8-sig", errors="replace"), Scenario, file.name, is_json=True)
    except InputError as error:
        return {**said, "wrong": str(error)}
    people = sum(person.people for person in scenario.obstacles.dynamic)
    return {**said, "world": world or scenario.map or "", "robots": len(scenario.robots), "people": people}


def furniture_outline(model: str) -> dict[str, Any]:
    """Return the outline of a furniture model in the format used by the front end: the parts that touch the floor, in the model's
    frame.

    Raises:
        UnknownNameError: the model is unknown.
    """
    piece = Furniture(model, 0.0, 0.0)
    return {
        "name": model,
        "radius": round(model_of(model).radius, 3),
        "polygons": [np.round(polygon, 3).tolist() for polygon in piece.polygons()],
        "discs": np.round(piece.discs(), 3).tolist(),
    }
