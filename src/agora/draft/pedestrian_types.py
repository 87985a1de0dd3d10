"""Types of pedestrians, with their speed, size, range of sight and fearfulness; the data are in
``configs/pedestrians/types.yaml``.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from agora.config import load
from agora.core.state import TYPES
from agora.errors import InputError
from agora.ranges import Checked, NotNegative, Positive
from agora.share import folder

Normal = tuple[Positive, NotNegative]


@dataclass(frozen=True)
class PedestrianType(Checked):
    """The traits of pedestrians of one type; pairs are the mean and standard deviation over the pedestrians.

    Attributes:
        speed: factor applied to the crowd's speed.
        radius: factor applied to the crowd's radius.
        running: running speed as a multiple of the walking speed.
        stress_high: stress above which the pedestrian panics.
        energy_low: energy below which the pedestrian rests.
        energy_high: energy above which the pedestrian may run.
        social_low: social need below which the pedestrian has talked enough.
        social_high: social need above which the pedestrian looks for company.
        minimum_time: minimum time in a state, s (at least 1).
        vision: range of sight, m.
        half_angle: half the angle of the field of view, degrees.
        personal_radius: distance to a robot's centre within which the pedestrian is stressed by the robot, m (at least 0.5).
        fear: stress per second caused by a robot within ``personal_radius``.
        curiosity: rate at which the pedestrian decides to approach a robot in sight, 1/s.
    """

    speed: Positive = 1.0
    radius: Positive = 1.0
    running: Positive = 2.0
    stress_high: Normal = (0.8, 0.05)
    energy_low: Normal = (0.2, 0.05)
    energy_high: Normal = (0.8, 0.05)
    social_low: Normal = (0.2, 0.05)
    social_high: Normal = (0.8, 0.05)
    minimum_time: Normal = (2.0, 0.5)
    vision: Normal = (5.0, 0.5)
    half_angle: Normal = (45.0, 5.0)
    personal_radius: Normal = (1.0, 0.1)
    fear: NotNegative = 0.2
    curiosity: NotNegative = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, (mean, deviation) in self.normals.items():
            if not (mean > 0 and deviation >= 0):
                raise ValueError(f"{name} must be [mean, deviation] with mean > 0 and deviation >= 0, got {[mean, deviation]}")

    @property
    def normals(self) -> dict[str, Normal]:
        """The parameters that vary between pedestrians of this type, by name."""
        return {name: value for name, value in vars(self).items() if isinstance(value, tuple)}


def types_file() -> Path:
    """Return the path of the types file."""
    return folder("configs") / "pedestrians" / "types.yaml"


@functools.cache
def pedestrian_types() -> dict[str, PedestrianType]:
    """Return all types by name, in the order of `agora.core.state.TYPES`.

    Raises:
        InputError: the file is invalid, or does not contain exactly these types.
    """
    path = types_file()
    types = load(path, dict[str, PedestrianType])
    if set(types) != set(TYPES):
        raise InputError(f"{path}: expected the types {', '.join(TYPES)}, got {', '.join(types)}")
    return {name: types[name] for name in TYPES}
