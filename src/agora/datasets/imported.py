"""A world read from another program's file, and how it is written to a folder."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from agora.draft.scenario import Scenario, write_scenario
from agora.maps.grid import Map
from agora.maps.place import Place
from agora.maps.save import whole, write_world


@dataclass
class Imported:
    """The contents of another program's file, converted to Agora.

    Attributes:
        map: map of the obstacles.
        scenario: robots and people.
        notes: differences from how the other program interprets the file, one line per difference.
    """

    map: Map
    scenario: Scenario
    notes: list[str] = field(default_factory=list)


def write_imported(read: Imported, output: Path, name: str) -> Imported:
    """Write a world folder that contains the map and, in ``scenarios/NAME.json``, the robots and people; return ``read``.

    Args:
        read: converted contents of the file.
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
