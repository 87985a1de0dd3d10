"""Simulators: they move robots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

from agora.core.state import Floats

if TYPE_CHECKING:
    from agora.interfaces.channel import Offer
    from agora.world.start import Start
    from agora.world.world import World

Ability = Literal["step", "exact_contacts", "pause", "delete", "rgbd"]
"""What a simulator is able to do.

``step``: it takes physics steps one by one, when it is asked to; benchmarks, training and lock step in ROS need that.
``exact_contacts``: walls stop robots at the moment of touching. The others are of the drivers in ROS: ``pause``, to let time stand;
``delete``, to take robots and obstacles away again; ``rgbd``, to make depth images.
"""


class Bodies(Protocol):
    """The simulated robots of a batch.

    Attributes:
        walls: (W, R) when a wall stopped each robot in the last step, as a share of the step from 0 to 1; 2 if none did.
    """

    walls: Floats

    def reset(self, world: int, start: Start) -> None:
        """Begin an episode in one world. Its robots are at their start in `World.robots`."""

    def move(self, now: int) -> Callable[[int, int], None]:
        """Return the function of (first, last) that moves the robots of worlds ``first <= w < last`` by one step of ``world.dt``.

        It reads generation ``now`` (0 or 1) of the robots and ``world.commands`` (W, R, 3). It writes the other generation and
        ``walls``. It does not change worlds that are done. Several threads call it at the same time for different worlds.

        A robot whose pose or velocity it writes as NaN is lost: it stays where it was, and its episode ends as ``simulator_failed``
        with the text in ``World.lost`` for its world.
        """

    def sensors(self) -> Mapping[str, Offer]:
        """Return the channels that the simulator measures itself, such as the images of a camera, by their names.

        A registered channel of this name declares the parameters and fields, and its ``bind`` requests the offer
        (`agora.interfaces.Source.offered`).
        """

    def close(self) -> None:
        """Release all resources."""


class Simulator(Protocol):
    """Moves robots; a frozen dataclass of its parameters.

    The library moves pedestrians, sweeps contacts with pedestrians and robots, and decides outcomes, with every simulator.
    """

    can: ClassVar[frozenset[Ability]]

    def bodies(self, world: World) -> Bodies:
        """Return the robots of a batch, whose records in ``world`` exist and whose episodes have not begun."""
