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
        periods: periods of the physics, control, crowd and sensor updates.
        crowd: the crowd model that moves simulated pedestrians, or several such models; None leaves the pedestrians where they are.
        behaviours: behaviours that decide where pedestrians want to go and how fast, in the order in which they run.
        sees_pedestrians: whether simulated pedestrians react to each other.
        sees_robots: whether simulated pedestrians react to robots.
        ends: sum of the END bits (`agora.world.records`) of those kinds of contact that end an episode; other contacts are only
            counted.
        remove: whether a robot leaves the world when its episode has ended.
        routes: whether pedestrians find their way around walls (`agora.engine.routes`).
        careful: whether pedestrians never step into a wall, robot or pedestrian that they see.
        yields: whether pedestrians walk in steps and yield to people ahead (`agora.engine.crowd.EngineCrowd`).
        sidestep: how recorded pedestrians step aside for robots that they see; None if they do not.
        minding: when the pedestrians of each crowd model react to robots (`agora.draft.stage.Share`); early by default.
        unsteady: fluctuations in the walking speed and direction of simulated pedestrians; None for no fluctuations.
        steps: limits on how fast simulated pedestrians turn if they walk in discrete steps.
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
    """A running engine, which advances the episodes of W worlds and publishes their state in the records of a `World`.

    Episode loops, learning environments and ROS nodes read positions, outcomes and contacts from these records between two calls.
    Sensor readings and recordings are computed from the records. An engine may work on the records directly, or it may keep its
    state elsewhere and copy it into the records.

    Attributes:
        world: the state of the worlds. Callers read both generations of the records, the current and the previous one.
        offers: channels that the engine measures itself, keyed by channel name (`agora.interfaces.Bodies.sensors`); {} if none.
    """

    @property
    def world(self) -> World:
        """The state of the worlds."""

    @property
    def offers(self) -> Mapping[str, Offer]:
        """Channels that the engine measures itself."""

    def holds(self, start: Start) -> bool:
        """Return whether a world has room for an episode, including one that was created after the engine.

        `agora.world.world.World.holds` checks the records.
        """

    def reset(self, world: int, start: Start) -> None:
        """Begin an episode in one world; `agora.world.world.World.reset` sets its records. The other worlds continue."""

    def adopt(self, world: int) -> None:
        """Continue one world from its current records, which the caller has changed.

        Callers change the records to set a robot's next goal, to end the episode of a robot whose planner failed, to abandon a
        world (``status.clock.done``), or to move a pedestrian or robot. Changing ``world.commands`` does not require this call: the
        engine reads the commands whenever it advances.
        """

    def advance(self, steps: int, after_step: Callable[[], None]) -> None:
        """Advance every unfinished world by a number of physics steps of ``world.dt``. Finished worlds do not change at all.

        A robot follows ``world.commands`` (W, R, 3) within its limits until its episode ends, and then stands still.
        `agora.engine.rules` defines the precedence of outcomes: contact, arrival, time limit.

        Args:
            steps: number of physics steps.
            after_step: function called each time the records have advanced: after every step, or at least after the last one.
        """

    def close(self) -> None:
        """Release all resources."""


@runtime_checkable
class WholeSimulator(Protocol):
    """A simulator with its own engine, which moves all robots and pedestrians and determines outcomes; a frozen dataclass of its
    parameters.
    """

    can: ClassVar[frozenset[Ability]]

    def backend(self, world: World, terms: Terms, led: bool) -> Backend:
        """Return the engine of a batch.

        Args:
            world: records of the batch, in which no episode has begun; the engine takes ownership of them.
            terms: conditions that apply to all episodes.
            led: whether the caller writes ``world.next_pedestrians`` before every single step; if False, the engine moves the
                pedestrians.

        Raises:
            InputError: the engine does not support these terms.
        """


AnySimulator = Simulator | WholeSimulator
"""A simulator that moves robots in the library's engine, or one that brings its own engine."""
