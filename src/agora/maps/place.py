"""A place: a map, what stands in it, and what its parts are for; what map generators make."""

from __future__ import annotations

from dataclasses import dataclass

from agora.maps.furniture import Furniture
from agora.maps.grid import Map
from agora.maps.zones import Zone


@dataclass(frozen=True, eq=False)
class Place:
    """A map with its furniture and zones.

    Attributes:
        map: static surroundings, with the furniture in it.
        furniture: what stands in the map, for 3-D worlds, pictures and pedestrians who use it.
        zones: parts of the map.
    """

    map: Map
    furniture: tuple[Furniture, ...] = ()
    zones: tuple[Zone, ...] = ()
