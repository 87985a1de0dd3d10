"""Determines which information a planner has about pedestrians, walls and the map, from the channels that the planner reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Literal

from agora.channels.costmap import LocalCostmap
from agora.channels.path import GlobalPath
from agora.channels.pedestrians import KnownPedestrians
from agora.engine.wiring import Wiring
from agora.perception.perception import LEVELS, Level
from agora.registry import Named

__all__ = ["blind", "unaware"]

_WALL_LESS = {"path", "pedestrians", "robots", "semantics"}
"""Channels that do not show walls."""

_PEOPLE_LESS = {"path", "robots"}
"""Channels that do not show people."""


@dataclass(frozen=True)
class Knowledge:
    """The information that a robot has in addition to its own pose and goal.

    Attributes:
        pedestrians: level of perception; "none" if the planner reads no pedestrians.
        map: whether the robot knows the map, through a global path or a costmap of the walls.
        channels: names of all channels that the planner reads.
    """

    pedestrians: Level | Literal["none"]
    map: Literal["map", "none"]
    channels: tuple[str, ...]

    @staticmethod
    def of(planner: Named, told: Iterable[Level]) -> Knowledge:
        """Return the knowledge of a planner that runs at the given levels of perception; the most informative level counts."""
        wiring, levels = Wiring.of(planner.part.declares.needs), set(told)
        made_of = [provider for provider, _ in wiring.order]
        asks = any(isinstance(one, KnownPedestrians) for one in made_of)
        level = next(level for level in LEVELS if level in levels) if asks else "none"
        mapped = any(isinstance(one, GlobalPath) or (isinstance(one, LocalCostmap) and one.shows_walls) for one in made_of)
        return Knowledge(level, "map" if mapped else "none", tuple(sorted(name for name, _ in wiring.shown)))


def blind(planners: Mapping[str, Named]) -> list[str]:
    """Return the labels of planners whose channels do not show walls; a path may still lead them around walls."""
    return [label for label, planner in planners.items() if _reads_only(planner, _WALL_LESS)]


def unaware(planners: Mapping[str, Named]) -> list[str]:
    """Return the labels of planners whose channels do not show people."""
    return [label for label, planner in planners.items() if _reads_only(planner, _PEOPLE_LESS)]


def _reads_only(planner: Named, channels: Set[str]) -> bool:
    """Return whether a planner reads only the given channels; False if it cannot name its channels."""
    try:
        return channels >= set(planner.part.declares.channels)
    except Exception:  # noqa: BLE001 - an external planner may raise anything; its episodes report the error
        return False
