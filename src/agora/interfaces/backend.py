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
    """The part of a batch's conditions that an engine has to keep.

    Attributes:
        periods: periods of physics, control, crowd and sensors.
        crowd: the crowd model that moves simulated pedestrians, or several; None leaves them where they are.
        behaviours: behaviours that decide where pedestrians want to go and how fast, one after the other.
        sees_pedestrians: whether simulated pedestrians react to each other.
        sees_robots: whether simulated pedestrians react to robots.
        ends: sum of END bits (`agora.world.records`) of contacts that end an episode; the others are counted.
        remove: whether robots that have ended leave the world.
        routes: whether pedestrians find their way round walls (`agora.engine.routes`).
        careful: whether nobody steps into a wall, a robot or a pedestrian whom they see.
        yields: as in `agora.engine.crowd.EngineCrowd`.
        sidestep: the way in which recorded pedestrians step aside for robots whom they see; None if they do not.
        minding: time at which the pedestrians of each crowd model mind a robot; early where not given.
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
    """An engine at work: it advances the episodes of W worlds, and shows them in the records of a `World`.

    Loops, environments and nodes read these records between two calls, and take from them who is where, what ended and what was
    touched. Sensors are computed from them, recordings are made of them. An engine may work on the records themselves, or keep a
    state of its own elsewhere and copy it.

    Attributes:
        world: shows the worlds. Both of its generations count: this moment, and the one before it that was shown.
        offers: channels that the engine measures itself, by their names (`agora.interfaces.Bodies.sensors`); {} if none.
    """

    @property
    def world(self) -> World:
        """Shows the worlds."""

    @property
    def offers(self) -> Mapping[str, Offer]:
        """Channels that the engine measures itself."""

    def holds(self, start: Start) -> bool:
        """Return whether a world can be given an episode, also one that was not there when the engine was made.

        `agora.world.world.World.holds` says it of the records.
        """

    def reset(self, world: int, start: Start) -> None:
        """Begin an episode in one world, as `agora.world.world.World.reset` sets its records; the others go on."""

    def adopt(self, world: int) -> None:
        """Go on from what the records of one world say now: its user has changed them.

        Users give a robot its next goal, end one whose planner failed, leave a world (``status.clock.done``), or put somebody
        elsewhere. They do not tell of ``world.commands``, which an engine reads whenever it advances.
        """

    def advance(self, steps: int, after_step: Callable[[], None]) -> None:
        """Let some physics steps of ``world.dt`` pass in every world that is not done; the others stay as they are, bit for bit.

        A robot follows ``world.commands`` (W, R, 3), as its traits allow, and stands where it has ended. `agora.engine.rules`
        has the order of outcomes: contact, arrival, time limit.

        Args:
            steps: how many.
            after_step: to be called whenever the records show a later moment: after every step, or at least after the last one.
        """

    def close(self) -> None:
        """Give back what was opened."""


@runtime_checkable
class WholeSimulator(Protocol):
    """A simulator that moves everybody, and judges: it brings an engine of its own. A frozen dataclass of its parameters."""

    can: ClassVar[frozenset[Ability]]

    def backend(self, world: World, terms: Terms, led: bool) -> Backend:
        """Return the engine of a batch.

        Args:
            world: its records, in which no episode has begun; it becomes the engine's.
            terms: what all episodes share.
            led: others write ``world.next_pedestrians`` before every step, and steps are taken one by one; else the engine
                moves pedestrians.

        Raises:
            InputError: terms that the engine does not keep.
        """


AnySimulator = Simulator | WholeSimulator
"""A simulator that moves robots in the library's engine, or one that brings its own engine."""
