"""Simulators, which move robots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

from agora.core.state import Floats

if TYPE_CHECKING:
    from agora.interfaces.channel import Offer
    from agora.world.start import Start
    from agora.world.world import World

Ability = Literal["step", "exact_contacts", "pause", "delete", "rgbd"]
"""The capabilities of a simulator.

``step``: it advances by single physics steps on request; benchmarks, training and lock step in ROS require this.
``exact_contacts``: walls stop robots at the moment of contact. The other capabilities belong to the ROS drivers: ``pause``, to
pause time; ``delete``, to remove robots and obstacles; ``rgbd``, to produce depth images.
"""


class Bodies(Protocol):
    """The simulated robots of a batch.

    Attributes:
        walls: (W, R) time within the last step at which a wall stopped the robot, as a fraction of the step from 0 to 1; 2 if no
            wall stopped it.
    """

    walls: Floats

    def reset(self, world: int, start: Start) -> None:
        """Begin an episode in one world. Its robots are already at their start poses in `World.robots`."""

    def move(self, now: int) -> Callable[[int, int], None]:
        """Return a function of (first, last) that moves the robots of worlds ``first <= w < last`` by one step of ``world.dt``.

        The function reads generation ``now`` (0 or 1) of the robots and ``world.commands`` (W, R, 3). It writes the robots' other
        generation and ``walls``, and does not change finished worlds. Several threads may call it at the same time for different
        worlds.

        If the function writes NaN for a robot's pose or velocity, the robot is lost: it stays where it was, and its episode ends as
        ``simulator_failed``. The message is the text in ``World.lost`` for this world.
        """

    def sensors(self) -> Mapping[str, Offer]:
        """Return the channels that the simulator measures itself, such as camera images, keyed by channel name.

        The registered channel with the same name declares the parameters and fields, and its ``bind`` method requests the
        simulator's channel (`agora.interfaces.Source.offered`).
        """

    def close(self) -> None:
        """Release all resources."""


class Simulator(Protocol):
    """Moves robots; a frozen dataclass of its parameters.

    The library itself moves the pedestrians, detects contacts with pedestrians and robots by sweeping, and decides outcomes.
    """

    can: ClassVar[frozenset[Ability]]

    def bodies(self, world: World) -> Bodies:
        """Return the robots of a batch. Their records in ``world`` already exist, but their episodes have not begun."""
