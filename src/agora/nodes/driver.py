"""The protocol of a driver in ROS: one world of robots, whose pedestrians somebody else moves.

The simulator node (`agora_simulators`) drives it and knows nothing else of it. `agora.nodes.one_world` runs the simulators of
the registry; the drivers of flatland, Gazebo and Unity are in the ROS package. Names are those of the episode, as its author
spelled them. A simulator has one user at a time: the node calls it under a lock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from agora.core import state
from agora.core.recording import Contact
from agora.core.state import Bools, Doubles, Floats, Minds, Pedestrians, Robots, Traits
from agora.errors import AgoraError

if TYPE_CHECKING:
    from agora.draft.stage import Stage
    from agora.interfaces import Ability
    from agora.maps.grid import Map
    from agora.robots.model import RobotModel
    from agora.sensors.lidar import Lidar
    from agora.world.start import Start

__all__ = ["Entity", "People", "Reading", "RobotStanding", "Driver", "SimulatorLostError"]


class SimulatorLostError(AgoraError):
    """A simulator that is another process has gone, or was started anew: the episode is lost."""


@dataclass(frozen=True, eq=False)
class People:
    """Pedestrians of one world at one physics step: records of width 1 world.

    Attributes:
        step: physics steps since the episode began. now: where they are. traits: what they are like. minds: what they do.
    """

    step: int
    now: Pedestrians
    traits: Traits
    minds: Minds

    @property
    def slots(self) -> int:
        """How many there is room for."""
        return int(self.now.x.shape[1])

    @staticmethod
    def room(count: int, step: int = 0) -> People:
        """Room for some pedestrians, all absent."""
        slots = state.padded(count)
        return People(step, state.pedestrians(1, slots), state.traits(1, slots), state.minds(1, slots))


@dataclass(frozen=True, eq=False)
class Entity:
    """Something to put into the world.

    Attributes:
        name: of its own. kind: what it is. pose: (3,) x, y, heading.
        model: of a robot. furniture: name in `agora.maps.furniture.MODELS` of an obstacle.
        description: URDF, SDF or YAML text for simulators that want one; empty for the one that belongs to the model.
    """

    name: str
    kind: Literal["robot", "obstacle"]
    pose: Doubles
    model: RobotModel | None = None
    furniture: str = ""
    description: str = ""


class Reading(NamedTuple):
    """A scan.

    Attributes:
        robot: number of the robot. time: when it was taken, s since the episode began. ranges: (B,) m. lidar: what took it.
    """

    robot: int
    time: float
    ranges: Floats
    lidar: Lidar


@dataclass(frozen=True)
class RobotStanding:
    """How a robot's episode stands.

    Attributes:
        ended: whether it is over. goal: number of the goal that it is on its way to.
        outcome: `agora.core.recording.Outcome` once it has ended, -1 before. end_time: s since the episode began.
        clipped: commands beyond the limits. contacts: so far. failure: what the planner said, if it failed.
        target: x, y, heading of that goal.
    """

    ended: bool = False
    goal: int = 0
    outcome: int = -1
    end_time: float = 0.0
    clipped: int = 0
    contacts: int = 0
    failure: str = ""
    target: tuple[float, float, float] = (0.0, 0.0, 0.0)


class Driver(Protocol):
    """One world.

    Attributes:
        name: of the driver.
        can: what it is able to do; where time passes by itself, it cannot ``step``.
    """

    name: str
    can: frozenset[Ability]

    @property
    def dt(self) -> float:
        """Physics step, s."""

    @property
    def step(self) -> int:
        """Physics steps since the episode began."""

    @property
    def began(self) -> float:
        """Stamp of the moment at which the episode began, s."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the robots, in the order of every array."""

    @property
    def models(self) -> tuple[RobotModel, ...]:
        """What the robots are."""

    @property
    def robots(self) -> Robots:
        """Where the robots are, one world (1, R)."""

    @property
    def done(self) -> bool:
        """Whether every robot has ended."""

    def begin(self, start: Start, stage: Stage, names: Sequence[str], since: float) -> None:
        """Adopt an episode: map, robots with these names, furniture, pedestrians at the start; time stands afterwards.

        ``since`` is the stamp at which it begins, s, later than any before.

        Raises:
            InputError: something that this simulator cannot show. The episode before is gone then.
        """

    def set_map(self, place: Map) -> None:
        """Change the static surroundings; robots and pedestrians stay where they are."""

    def spawn(self, entity: Entity) -> None:
        """Put a robot, which has no goal, or an obstacle into the world.

        Raises:
            InputError: the name is taken, or the model unknown.
        """

    def move(self, name: str, pose: Doubles) -> None:
        """Put a robot or an obstacle somewhere else (3,), at rest.

        Raises:
            UnknownNameError: there is none.
        """

    def delete(self, name: str) -> None:
        """Take a robot or an obstacle away.

        Raises:
            UnknownNameError: there is none.
        """

    def set_goal(self, name: str, goal: Doubles) -> None:
        """Give a robot another goal (3,), the last one of its episode; one that has ended is under way again.

        Raises:
            UnknownNameError: there is none.
        """

    def set_pedestrians(self, people: People) -> None:
        """Take pedestrians from outside, at ``people.step``: the present step, or the one that `advance` goes to.

        Between two calls they go on with their velocity. What is passed is copied.
        """

    def command(self, twists: Floats, failures: Mapping[int, str]) -> None:
        """Set the twists (R, 3) that count until the next call; robots whose planner failed end with the reason given."""

    def advance(self) -> None:
        """Take a physics step, where it can ``step``; nothing changes once all is `done`.

        Raises:
            SimulatorLostError: it has gone.
        """

    def wait(self, seconds: float) -> bool:
        """Where time passes by itself: wait until the world has moved on, at most so long; whether it has.

        Raises:
            SimulatorLostError: it has gone.
        """

    def pause(self) -> None:
        """Let time stand, where it passes by itself and the simulator can ``pause``."""

    def resume(self) -> None:
        """Let time pass again."""

    def readings(self) -> Sequence[Reading]:
        """The scans since the last call that `begin`, `advance` or `wait` brought."""

    def standing(self) -> Sequence[RobotStanding]:
        """How every robot's episode stands."""

    def contacts(self) -> Sequence[tuple[int, Contact]]:
        """Which robots began to touch something since the last call."""

    def touching(self) -> Bools:
        """Which robots touch something now (R,)."""

    def close(self) -> None:
        """Give everything back; nothing is called afterwards."""
