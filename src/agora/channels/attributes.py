"""Semantic attributes of the pedestrians that each robot knows of; they are the input of semantic maps and costmap layers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from agora.channels.rows import tracks_of
from agora.core.jit import bind, lean_kernel
from agora.core.scalar import atan2
from agora.core.semantics import MOTION, attribute_number, evidence_of, motion_evidence
from agora.core.state import Array
from agora.costmap.layers import put_layers
from agora.errors import InputError
from agora.interfaces import Bound, Channel, CostmapLayer, Field, Setting, Source
from agora.perception.perception import TRACKS, Level

if TYPE_CHECKING:
    from agora.maps.grid import Map


@lean_kernel
def _of_people(attributes, people, minds, robots, heading, evidence, first, last):
    """Write headings (N, P) and evidence (A, N, P) of the pedestrians in every robot's row."""
    count = robots.x.shape[1]
    for w in range(first, last):
        for r in range(count):
            n = w * count + r
            for i in range(people.x.shape[1]):
                heading[n, i] = people.heading[w, i]
                for a in range(attributes.size):
                    evidence[a, n, i] = evidence_of(attributes[a], people, minds, w, i)


@lean_kernel
def _of_tracks(attributes, velocity, robots, heading, evidence, first, last):
    """Write the attributes of tracks: only those that can be derived from a pedestrian's motion."""
    count = robots.x.shape[1]
    for n in range(first * count, last * count):
        for i in range(velocity.shape[1]):
            vx, vy = velocity[n, i, 0], velocity[n, i, 1]
            heading[n, i] = atan2(vy, vx)
            for a in range(attributes.size):
                evidence[a, n, i] = motion_evidence(attributes[a], vx, vy)


@dataclass(frozen=True)
class Attributes:
    """Attributes of pedestrians. This channel is not registered; other channels list it in their ``needs``.

    Attributes:
        names: names in `agora.core.semantics.ATTRIBUTES`.
        level: level of perception; if pedestrians are tracks, only attributes that can be derived from their motion are computed.
    """

    channel: ClassVar[str] = "attributes"
    needs: ClassVar[Collection[str | Channel]] = ("pedestrians",)

    names: tuple[str, ...]
    level: Level = "truth"

    @staticmethod
    def under(setting: Setting, names: tuple[str, ...]) -> Attributes:
        """Return the attributes that can be computed with the stage's perception of pedestrians."""
        return Attributes(names, setting.perception.source)

    @property
    def fields(self) -> Mapping[str, Field]:
        """Return the fields: headings (Q,), rad, and evidence (A, Q)."""
        return {"heading": Field(("pedestrians",), "rad"), "evidence": Field((len(self.names), "pedestrians"))}

    def bind(self, source: Source) -> Bound:
        """Return the attributes of a batch.

        Raises:
            InputError: an attribute cannot be computed.
        """
        numbers = np.array([attribute_number(name) for name in self.names], np.int64)
        named = self.level not in TRACKS
        if not named and (hidden := [name for name in self.names if name not in MOTION]):
            raise InputError(f"pedestrians: {self.level}: {', '.join(hidden)} cannot be derived from tracks of pedestrians")
        world, told = source.world, tracks_of(source.readings["pedestrians"])
        heading = np.zeros(told.present.shape, np.float32)
        evidence = np.zeros((len(numbers), *told.present.shape), np.float32)
        calls = []
        for people, robots in (world.generation(g) for g in (0, 1)):
            kernel, given = (_of_people, (people, world.minds)) if named else (_of_tracks, (told.velocity,))
            calls.append(bind(kernel, numbers, *given, robots, heading, evidence))

        def read(first: int, last: int) -> None:
            calls[world.now](first, last)

        def costs(row: int, layers: tuple[CostmapLayer, ...], place: Map) -> Array:
            """Return the costs (rows, columns) uint8 that layers add to a whole map, based on what the robot of a row knows."""
            n = slice(row, row + 1)
            return put_layers(layers, told.position[n], told.velocity[n], heading[n], evidence[:, n], told.present[n], place)

        axes = (world.layout.worlds, world.layout.robots, told.present.shape[1])
        reading: dict[str, Any] = {"heading": heading.reshape(axes)}
        reading["evidence"] = np.moveaxis(evidence.reshape(len(numbers), *axes), 0, 2)
        return Bound(reading, read=read, part=costs)


def rows_of(reading: Mapping[str, Array]) -> tuple[Any, Any]:
    """Return the headings (N, Q) and evidence (A, N, Q) of a reading in the form that kernels use, without copying."""
    heading, evidence = reading["heading"], np.moveaxis(reading["evidence"], 2, 0)
    rows = heading.shape[0] * heading.shape[1]
    return heading.reshape(rows, heading.shape[2]), evidence.reshape(len(evidence), rows, heading.shape[2])
