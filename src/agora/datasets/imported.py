"""A world read from another program's file, and the folder that it is written to."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from agora.draft.scenario import Scenario, write_scenario
from agora.maps.grid import Map
from agora.maps.place import Place
from agora.maps.save import whole, write_world


@dataclass
class Imported:
    """The contents of a file.

    Attributes:
        map: map of its obstacles.
        scenario: robots and people.
        notes: differences from how the other program interprets the file, one line each.
    """

    map: Map
    scenario: Scenario
    notes: list[str] = field(default_factory=list)


def write_imported(read: Imported, output: Path, name: str) -> Imported:
    """Write a world folder with the map, and with the robots and people in ``scenarios/NAME.json``; return the contents.

    Args:
        read: contents of the file.
        output: folder of the world, which must be missing or empty.
        name: name of the scenario.

    Raises:
        InputError: the folder cannot be written.
    """
    with whole(output, "--output") as folder:
        write_world(Place(read.map), folder, ())
        (folder / "scenarios").mkdir()
        write_scenario(read.scenario, folder / "scenarios" / f"{name}.json")
    return read
