"""The protocol of a ROS driver: one world of robots whose pedestrians are moved externally.

The simulator node (`agora_simulators`) uses a driver only through this protocol. `agora.node_logic.one_world` runs the registered
simulators; the drivers for Flatland, Gazebo and Unity are in the ROS package. Names are spelled as in the episode. Only one thread
uses a driver at a time, because the node calls it while holding a lock.
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
    """The process of an external simulator has ended or was restarted, so the episode is lost."""


@dataclass(frozen=True, eq=False)
class PeopleAtStep:
    """The pedestrians of one world at one physics step, as records with W = 1.

    Attributes:
        step: number of physics steps since the episode began.
        now: current positions and velocities.
        traits: constant properties of the pedestrians.
        minds: activities and moods of the pedestrians.
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
        """Return a record with ``count`` empty slots for pedestrians."""
        slots = state.padded_slots(count)
        return PeopleAtStep(step, state.pedestrians(1, slots), state.traits(1, slots), state.minds(1, slots))


@dataclass(frozen=True, eq=False)
class Entity:
    """A robot or obstacle to add to the world.

    Attributes:
        name: name of the entity.
        kind: kind of the entity, a robot or an obstacle.
        pose: (3,) x, y and heading, m and rad.
        model: model of the robot, if the entity is a robot.
        furniture: name of the obstacle's model in `agora.maps.furniture.MODELS`, if the entity is an obstacle.
        description: URDF, SDF or YAML text, for simulators that need one; if empty, the model's own description is used.
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
        robot: index of the robot.
        time: time of the scan since the episode began, s.
        ranges: (B,) measured ranges, m.
        lidar: lidar that took the scan.
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
        goal: number of the robot's current goal; every new goal has a higher number.
        outcome: `agora.core.recording.Outcome` once the episode has ended, -1 before.
        end_time: time at which the episode ended, s after its beginning.
        clipped: number of commands that exceeded the limits.
        contacts: number of contacts so far.
        failure: message of the planner or the simulator, if it failed.
        target: exact pose of the current goal: x, y and heading, m and rad.
        by_hand: number of goals that `Driver.set_goal` has set so far.
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
    """A driver: one world with its robots.

    Attributes:
        name: name of the driver.
        can: capabilities of the driver; a driver that runs in real time cannot ``step``.
    """

    name: str
    can: frozenset[Ability]

    @property
    def dt(self) -> float:
        """Physics step, s."""

    @property
    def step(self) -> int:
        """Number of physics steps since the episode began."""

    @property
    def began(self) -> float:
        """Time stamp of the start of the episode, s."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the robots, in the order used in all arrays."""

    @property
    def models(self) -> tuple[RobotModel, ...]:
        """The models of the robots."""

    @property
    def robots(self) -> Robots:
        """The robots of the world, (1, R)."""

    @property
    def commands(self) -> Floats:
        """The twists (R, 3) from the last `command`, before limits and delay; zeros before the first call."""

    @property
    def done(self) -> bool:
        """True if the episodes of all robots have ended."""

    def begin(self, start: Start, stage: Stage, names: Sequence[str], since: float) -> None:
        """Load an episode: the map, robots with the given names, furniture, and pedestrians at the start. Time is paused
        afterwards.

        ``since`` is the time stamp of the episode's start, s, which must be later than all previous time stamps.

        Raises:
            InputError: the simulator cannot represent the episode; the previous episode is lost.
        """

    def set_map(self, place: Map) -> None:
        """Replace the static surroundings; robots and pedestrians keep their poses."""

    def spawn(self, entity: Entity) -> None:
        """Add an obstacle, or a robot without a goal, to the world.

        Raises:
            InputError: the name is taken, or the model is unknown.
        """

    def move(self, name: str, pose: Doubles) -> None:
        """Move a robot or obstacle to a pose (3,), at which it is at rest.

        Raises:
            UnknownNameError: the name is unknown.
        """

    def delete(self, name: str) -> None:
        """Remove a robot or an obstacle.

        Raises:
            UnknownNameError: the name is unknown.
        """

    def set_goal(self, name: str, goal: Doubles) -> int:
        """Give a robot another goal (3,), which becomes the last goal of its episode, and return the goal's number.

        A robot whose episode has ended becomes active again. The time limit of the episode restarts.

        Raises:
            UnknownNameError: the robot is unknown.
            InputError: the goal is non-finite, is outside the map, or is too close to an obstacle for the robot.
        """

    def set_pedestrians(self, people: PeopleAtStep) -> None:
        """Set the pedestrians at ``people.step``, which is the current step or the step that the next `advance` reaches.

        Between calls, pedestrians continue at their velocities. The arguments are copied.
        """

    def command(self, twists: Floats, failures: Mapping[int, str]) -> None:
        """Set the twists (R, 3) that apply until the next call; the episodes of robots whose planner failed end with the given
        reason.
        """

    def advance(self) -> None:
        """Advance by one physics step, if the driver can ``step``; once all robots are `done`, nothing changes.

        Raises:
            SimulatorLostError: the simulator is gone.
        """

    def wait(self, seconds: float) -> bool:
        """If the simulator runs in real time, wait until the world has advanced, but at most ``seconds``; return whether it has
        advanced.

        Raises:
            SimulatorLostError: the simulator is gone.
        """

    def pause(self) -> None:
        """Pause time, if the simulator runs in real time and can ``pause``."""

    def resume(self) -> None:
        """Resume time."""

    def readings(self) -> Sequence[Reading]:
        """Return the scans that `begin`, `advance` and `wait` have taken since the last call."""

    def look(self, robot: int, camera: Camera) -> Mapping[str, Array]:
        """Return the current images of a robot's camera, if the simulator has the ``rgbd`` capability.

        The images are keyed by the channel's field names; the result is empty if no image is due.

        Raises:
            InputError: no renderer is installed.
        """

    def standing(self) -> Sequence[RobotStanding]:
        """Return the state of every robot's episode."""

    def contacts(self) -> Sequence[tuple[int, Contact]]:
        """Return the robots that have begun to touch an object since the last call."""

    def touching(self) -> Bools:
        """Return whether each robot (R,) is currently touching an object."""

    def close(self) -> None:
        """Release all resources; no method is called afterwards."""
