"""Backends: engines that advance the worlds of a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from agora.draft.periods import Periods
from agora.draft.sidestep import Sidestep
from agora.draft.steps import Steps
from agora.draft.unsteady import Unsteady
from agora.interfaces.simulator import Ability, Simulator
from agora.world.records import EVERY_CONTACT

if TYPE_CHECKING:
    from agora.draft.stage import Minding
    from agora.interfaces.behaviour import Behaviour
    from agora.interfaces.channel import Offer
    from agora.interfaces.crowd_model import AnyCrowdModel
    from agora.world.start import Start
    from agora.world.world import World


@dataclass(frozen=True)
class Terms:
    """The conditions of a batch that an engine must implement.

    Attributes:
        periods: periods of physics, control, crowd and sensors.
        crowd: the crowd model that moves simulated pedestrians, or several; None leaves them where they are.
        behaviours: behaviours that decide where pedestrians want to go and how fast, in this order.
        sees_pedestrians: whether simulated pedestrians react to each other.
        sees_robots: whether simulated pedestrians react to robots.
        ends: sum of END bits (`agora.world.records`) of contacts that end an episode; the others are counted.
        remove: whether robots that have ended leave the world.
        routes: whether pedestrians find their way around walls (`agora.engine.routes`).
        careful: whether nobody steps into a wall, a robot or a pedestrian whom they see.
        yields: as in `agora.engine.crowd.EngineCrowd`.
        sidestep: the way in which recorded pedestrians step aside for robots whom they see; None if they do not.
        minding: time at which the pedestrians of each crowd model react to a robot; early if not given.
        unsteady: fluctuation of the pace and the direction of simulated pedestrians; None for none.
        steps: limits on the turning of simulated pedestrians who walk in steps.
    """

    periods: Periods = field(default_factory=Periods)
    crowd: AnyCrowdModel | Sequence[AnyCrowdModel] | None = None
    behaviours: tuple[Behaviour, ...] = ()
    sees_pedestrians: bool = True
    sees_robots: bool = True
    ends: int = EVERY_CONTACT
    remove: bool = False
    routes: bool = False
    careful: bool = False
    yields: bool = True
    sidestep: Sidestep | None = None
    minding: tuple[Minding, ...] = ()
    unsteady: Unsteady | None = None
    steps: Steps = field(default_factory=Steps)

    @property
    def models(self) -> tuple[AnyCrowdModel, ...]:
        """The crowd models."""
        return () if self.crowd is None else tuple(self.crowd) if isinstance(self.crowd, Sequence) else (self.crowd,)


class Backend(Protocol):
    """A running engine: it advances the episodes of W worlds, and publishes their state in the records of a `World`.

    Loops, environments and nodes read positions, outcomes and contacts from these records between two calls. Sensor readings and
    recordings are computed from them. An engine may work on the records directly, or keep its own state elsewhere and copy it into
    them.

    Attributes:
        world: the worlds. Both of its generations are used: the current time, and the previously published one.
        offers: channels that the engine measures itself, by their names (`agora.interfaces.Bodies.sensors`); {} if none.
    """

    @property
    def world(self) -> World:
        """The state of the worlds."""

    @property
    def offers(self) -> Mapping[str, Offer]:
        """Channels that the engine measures itself."""

    def holds(self, start: Start) -> bool:
        """Return whether a world can take an episode, even one that did not exist when the engine was created.

        `agora.world.world.World.holds` answers this for the records.
        """

    def reset(self, world: int, start: Start) -> None:
        """Begin an episode in one world, whose records `agora.world.world.World.reset` sets; the other worlds continue."""

    def adopt(self, world: int) -> None:
        """Continue from the current records of one world, which its user has changed.

        Users give a robot its next goal, end a robot whose planner failed, leave a world (``status.clock.done``), or move somebody.
        They do not call this for ``world.commands``, which an engine reads whenever it advances.
        """

    def advance(self, steps: int, after_step: Callable[[], None]) -> None:
        """Advance every world that is not done by some physics steps of ``world.dt``; the others do not change by a single bit.

        A robot follows ``world.commands`` (W, R, 3), within its limits, and stands still after its end. `agora.engine.rules` has
        the order of outcomes: contact, arrival, time limit.

        Args:
            steps: number of steps.
            after_step: to be called whenever the records have advanced: after every step, or at least after the last one.
        """

    def close(self) -> None:
        """Release all resources."""


@runtime_checkable
class WholeSimulator(Protocol):
    """A simulator with its own engine, which moves everybody and decides outcomes; a frozen dataclass of its parameters."""

    can: ClassVar[frozenset[Ability]]

    def backend(self, world: World, terms: Terms, led: bool) -> Backend:
        """Return the engine of a batch.

        Args:
            world: its records, in which no episode has begun; the engine takes ownership.
            terms: conditions of all episodes.
            led: whether a caller writes ``world.next_pedestrians`` before every single step; otherwise the engine moves
                pedestrians.

        Raises:
            InputError: the engine does not support these terms.
        """


AnySimulator = Simulator | WholeSimulator
"""A simulator that moves robots in the library's engine, or one that brings its own engine."""
