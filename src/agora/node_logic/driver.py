"""The protocol of a driver in ROS: one world of robots, whose pedestrians somebody else moves.

The simulator node (`agora_simulators`) drives it and knows nothing else of it. `agora.node_logic.one_world` runs the simulators of
the registry; the drivers of flatland, Gazebo and Unity are in the ROS package. Names are those of the episode, as its author
spelled them. A simulator has one user at a time: the node calls it under a lock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from agora.core import state
from agora.core.recording import Contact
from agora.core.state import Array, Bools, Doubles, Floats, Minds, Pedestrians, Robots, Traits
from agora.errors import AgoraError

if TYPE_CHECKING:
    from agora.channels.camera import Camera
    from agora.draft.stage import Stage
    from agora.interfaces import Ability
    from agora.maps.grid import Map
    from agora.optics.lidar import Lidar
    from agora.robots.model import RobotModel
    from agora.world.start import Start

__all__ = ["Entity", "PeopleAtStep", "Reading", "RobotStanding", "Driver", "SimulatorLostError"]


class SimulatorLostError(AgoraError):
    """A simulator that is another process has gone, or was started anew: the episode is lost."""


@dataclass(frozen=True, eq=False)
class PeopleAtStep:
    """Pedestrians of one world at one physics step: records of width 1 world.

    Attributes:
        step: physics steps since the episode began.
        now: present positions and velocities.
        traits: traits, which do not change.
        minds: activities and moods.
    """

    step: int
    now: Pedestrians
    traits: Traits
    minds: Minds

    @property
    def slots(self) -> int:
        """The number of pedestrians that there is room for."""
        return int(self.now.x.shape[1])

    @staticmethod
    def room(count: int, step: int = 0) -> PeopleAtStep:
        """Room for some pedestrians, all absent."""
        slots = state.padded(count)
        return PeopleAtStep(step, state.pedestrians(1, slots), state.traits(1, slots), state.minds(1, slots))


@dataclass(frozen=True, eq=False)
class Entity:
    """Something to put into the world.

    Attributes:
        name: name of the entity.
        kind: kind of the entity.
        pose: (3,) x, y, heading, m and rad.
        model: model of a robot.
        furniture: name of an obstacle in `agora.maps.furniture.MODELS`.
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
        robot: number of the robot.
        time: time of the scan, s since the episode began.
        ranges: (B,) m.
        lidar: lidar that took it.
    """

    robot: int
    time: float
    ranges: Floats
    lidar: Lidar


@dataclass(frozen=True)
class RobotStanding:
    """The state of a robot's episode.

    Attributes:
        ended: whether it is over.
        goal: number of the robot's present goal; every new goal has a higher one.
        outcome: `agora.core.recording.Outcome` once it has ended, -1 before.
        end_time: time of the end, s since the episode began.
        clipped: number of commands beyond the limits.
        contacts: number of contacts so far.
        failure: message of the planner, if it failed, or of the simulator.
        target: pose of that goal, exact: x, y, heading, m and rad.
        by_hand: number of the robot's goals so far that `Driver.set_goal` set.
    """

    ended: bool = False
    goal: int = 0
    outcome: int = -1
    end_time: float = 0.0
    clipped: int = 0
    contacts: int = 0
    failure: str = ""
    target: tuple[float, float, float] = (0.0, 0.0, 0.0)
    by_hand: int = 0


class Driver(Protocol):
    """A world with its robots.

    Attributes:
        name: name of the driver.
        can: abilities; where time passes by itself, it cannot ``step``.
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
        """The models of the robots."""

    @property
    def robots(self) -> Robots:
        """The robots of the world, (1, R)."""

    @property
    def commands(self) -> Floats:
        """The twists (R, 3) of the last `command`, before limits and delay; zeros before the first."""

    @property
    def done(self) -> bool:
        """True where every robot has ended."""

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

    def set_goal(self, name: str, goal: Doubles) -> int:
        """Give a robot another goal (3,), the last one of its episode, and return the goal's number.

        A robot that has ended is under way again. The episode has its whole time limit again.

        Raises:
            UnknownNameError: there is no such robot.
            InputError: the robot cannot be at the goal: it is not finite, outside the map, or too near an obstacle.
        """

    def set_pedestrians(self, people: PeopleAtStep) -> None:
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
        """Wait until the world has moved on, at most so long, where time passes by itself; return whether it has.

        Raises:
            SimulatorLostError: it has gone.
        """

    def pause(self) -> None:
        """Let time stand, where it passes by itself and the simulator can ``pause``."""

    def resume(self) -> None:
        """Let time pass again."""

    def readings(self) -> Sequence[Reading]:
        """The scans since the last call that `begin`, `advance` or `wait` brought."""

    def look(self, robot: int, camera: Camera) -> Mapping[str, Array]:
        """Return what a robot's camera sees now, where the simulator can ``rgbd``.

        The images are by the fields of the channel; there is none where none is due.

        Raises:
            InputError: nothing here can draw them.
        """

    def standing(self) -> Sequence[RobotStanding]:
        """Return the state of every robot's episode."""

    def contacts(self) -> Sequence[tuple[int, Contact]]:
        """Return the robots that began to touch something since the last call."""

    def touching(self) -> Bools:
        """Return which robots touch something now (R,)."""

    def close(self) -> None:
        """Give everything back; nothing is called afterwards."""
