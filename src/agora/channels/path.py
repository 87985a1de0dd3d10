"""The "path" channel: the global path of each robot, as set by its provider (`agora.engine.paths`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from agora.channels.rows import flat
from agora.core.state import Array, Doubles, Floats, read_only
from agora.interfaces import Bound, Channel, Field, Source


@dataclass(frozen=True)
class GlobalPath:
    """The global path of a robot."""

    channel: ClassVar[str] = "path"
    needs: ClassVar[Collection[str | Channel]] = ()

    @property
    def fields(self) -> Mapping[str, Field]:
        """Return the fields: points (K, 2), m, which repeat the last point after ``path_count``."""
        return {"path": Field(("points", 2), "m", "map"), "path_count": Field((), low=0.0, kind=np.int32)}

    def bind(self, source: Source) -> Bound:
        """Return the paths of a batch, initially without points."""
        paths = HeldPaths(source.room(self.fields, points=1))
        return Bound(paths.reading, views=paths.views, part=paths)


class HeldPaths:
    """Paths that stay until they are replaced.

    Args:
        reading: arrays (W, R, K, 2) and (W, R) of empty paths; the arrays are enlarged for longer paths.
    """

    def __init__(self, reading: dict[str, Array]) -> None:
        self.reading = reading

    def set(self, world: int, robot: int, path: Floats | Doubles) -> None:
        """Set the path (K, 2) of a robot, m; (0, 2) for no path."""
        held, k = self.reading["path"], len(path)
        if k > held.shape[2]:
            grown = np.zeros((*held.shape[:2], 2 * k, 2), np.float32)
            grown[:, :, : held.shape[2]] = held
            grown[:, :, held.shape[2] :] = held[:, :, -1:]
            held = self.reading["path"] = grown
        self.reading["path_count"][world, robot] = k
        held[world, robot, :k] = path
        held[world, robot, k:] = path[-1] if k else 0

    def of(self, world: int, robot: int) -> Floats:
        """Return the path (K, 2) of a robot, m; (0, 2) if the robot has no path."""
        path: Floats = self.reading["path"][world, robot, : self.reading["path_count"][world, robot]].copy()
        return path

    def views(self) -> Mapping[str, Any]:
        """Return the fields that observations expose."""
        return {name: read_only(flat(array)) for name, array in self.reading.items()}
