"""The protocol of a driver in ROS: one world of robots, whose pedestrians are moved from outside.

The simulator node (`agora_simulators`) uses a driver through this protocol alone. `agora.node_logic.one_world` runs the simulators
of the registry; the drivers of flatland, Gazebo and Unity are in the ROS package. Names are spelled as in the episode. A simulator
has one user at a time: the node calls it under a lock.
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
    """The process of an external simulator has ended or was restarted: the episode is lost."""


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
        """The number of pedestrian slots."""
        return int(self.now.x.shape[1])

    @staticmethod
    def room(count: int, step: int = 0) -> PeopleAtStep:
        """Return slots for pedestrians, all absent."""
        slots = state.padded_slots(count)
        return PeopleAtStep(step, state.pedestrians(1, slots), state.traits(1, slots), state.minds(1, slots))


@dataclass(frozen=True, eq=False)
class Entity:
    """A robot or obstacle to add to the world.

    Attributes:
        name: name of the entity.
        kind: kind of the entity.
        pose: (3,) x, y, heading, m and rad.
        model: model of a robot.
        furniture: name of an obstacle in `agora.maps.furniture.MODELS`.
        description: URDF, SDF or YAML text for simulators that need one; if empty, the model's own description.
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
        ended: whether the episode has ended.
        goal: number of the robot's present goal; every new goal has a higher number.
        outcome: `agora.core.recording.Outcome` once it has ended, -1 before.
        end_time: time of the end, s since the episode began.
        clipped: number of commands beyond the limits.
        contacts: number of contacts so far.
        failure: message of the planner or the simulator, if it failed.
        target: exact pose of the present goal: x, y, heading, m and rad.
        by_hand: number of goals set by `Driver.set_goal` so far.
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
        can: abilities; a driver in real time cannot ``step``.
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
        """Stamp of the start of the episode, s."""

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
        """True if the episodes of all robots have ended."""

    def begin(self, start: Start, stage: Stage, names: Sequence[str], since: float) -> None:
        """Load an episode: map, robots with these names, furniture, and pedestrians at the start; time is paused afterwards.

        ``since`` is the stamp of its start, s, later than all previous stamps.

        Raises:
            InputError: the simulator cannot represent the episode. The previous episode is then lost.
        """

    def set_map(self, place: Map) -> None:
        """Change the static surroundings; robots and pedestrians keep their poses."""

    def spawn(self, entity: Entity) -> None:
        """Add an obstacle, or a robot without a goal, to the world.

        Raises:
            InputError: the name is taken, or the model unknown.
        """

    def move(self, name: str, pose: Doubles) -> None:
        """Move a robot or an obstacle to a pose (3,), at rest.

        Raises:
            UnknownNameError: the name is unknown.
        """

    def delete(self, name: str) -> None:
        """Remove a robot or an obstacle.

        Raises:
            UnknownNameError: the name is unknown.
        """

    def set_goal(self, name: str, goal: Doubles) -> int:
        """Give a robot another goal (3,), the last one of its episode, and return the goal's number.

        A robot whose episode has ended becomes active again. The time limit of the episode restarts.

        Raises:
            UnknownNameError: the robot is unknown.
            InputError: the robot cannot be at the goal: it is not finite, outside the map, or too near an obstacle.
        """

    def set_pedestrians(self, people: PeopleAtStep) -> None:
        """Set the pedestrians at ``people.step``: the present step, or the next step of `advance`.

        Between calls, they continue with their velocity. Arguments are copied.
        """

    def command(self, twists: Floats, failures: Mapping[int, str]) -> None:
        """Set the twists (R, 3) until the next call; robots whose planner failed end with the given reason."""

    def advance(self) -> None:
        """Take a physics step, if the driver can ``step``; nothing changes after all robots are `done`.

        Raises:
            SimulatorLostError: the simulator is gone.
        """

    def wait(self, seconds: float) -> bool:
        """With a simulator in real time, wait until the world has advanced, up to a timeout; return whether it has.

        Raises:
            SimulatorLostError: the simulator is gone.
        """

    def pause(self) -> None:
        """Pause time, if the simulator runs in real time and can ``pause``."""

    def resume(self) -> None:
        """Resume time."""

    def readings(self) -> Sequence[Reading]:
        """Return the scans since the last call, from `begin`, `advance` or `wait`."""

    def look(self, robot: int, camera: Camera) -> Mapping[str, Array]:
        """Return the present images of a robot's camera, if the simulator can ``rgbd``.

        Images are keyed by the fields of the channel; the result is empty if no image is due.

        Raises:
            InputError: no renderer is installed.
        """

    def standing(self) -> Sequence[RobotStanding]:
        """Return the state of every robot's episode."""

    def contacts(self) -> Sequence[tuple[int, Contact]]:
        """Return the robots that began to touch something since the last call."""

    def touching(self) -> Bools:
        """Return which robots touch something now (R,)."""

    def close(self) -> None:
        """Release all resources; no method is called afterwards."""
