"""One robot's recorded episode: the data used by metrics, plots and replays."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from agora.core.declared import axes
from agora.core.state import Array, Bools, Doubles, Ints, RobotTraits

if TYPE_CHECKING:
    from agora.maps.grid import Map

__all__ = ["Contact", "ContactKind", "Outcome", "Reason", "Recording"]


class Outcome(enum.IntEnum):
    """Outcome of a robot's episode; the value is the number used in files and ROS messages."""

    REACHED = 0
    PEDESTRIAN_COLLISION = 101
    WALL_COLLISION = 102
    ROBOT_COLLISION = 103
    TIMEOUT = 104
    PLANNER_FAILED = 105
    OUT_OF_MAP = 106
    SIMULATOR_FAILED = 107

    @property
    def label(self) -> str:
        """The name used in tables: ``reached``, ``pedestrian_collision`` ..."""
        return self.name.lower()


FAILURES = frozenset({Outcome.PLANNER_FAILED.label, Outcome.SIMULATOR_FAILED.label})
"""Labels of the outcomes for which a failure is described as text, because the robot could not continue."""


class Reason(enum.IntEnum):
    """The reason why a robot does not simply follow its path; the value is the number used in planner memories and files.

    Planners give the reasons up to ``GAVE_UP`` (`agora.interfaces.NOTES`). The library adds the others. ``NO_PATH`` is for a robot
    without a path to its goal. The rest are for a robot that has moved less than 0.1 m in the last 5 s and whose planner notes no
    reason (`agora.engine.standing`): ``NO_HEADWAY`` if it is commanded to move but makes no progress; other reasons if it is
    commanded to stop with a person or another robot within 1 m, with a wall within 0.3 m, or with nothing nearby.
    """

    NONE = 0
    NO_PATH = 1
    BLOCKED = 2
    START_IN_CONTACT = 3
    NOT_CONVERGED = 4
    ESCAPING = 5
    RETREATING = 6
    WAITING = 7
    AVOIDING_GROUP = 8
    RECOVERING = 9
    GAVE_UP = 10
    NO_HEADWAY = 11
    STANDS_BY_SOMEBODY = 12
    STANDS_BY_WALL = 13
    STANDS = 14

    @property
    def label(self) -> str:
        """The name used in tables: ``no_path``, ``blocked`` ...; empty if there is no reason."""
        return self.name.lower() if self else ""

    @property
    def observed(self) -> bool:
        """True for reasons that the library records for robots whose planner does not record a reason."""
        return self >= Reason.NO_HEADWAY


class ContactKind(enum.IntEnum):
    """The kind of the party that a robot touched."""

    PEDESTRIAN = 1
    WALL = 2
    ROBOT = 3


class Closer(enum.StrEnum):
    """The party that closed the gap before a contact: the robot, the other party (a pedestrian or another robot), or both."""

    ROBOT = "robot"
    PERSON = "person"
    BOTH = "both"


STANDING = 0.05
"""Speed of the contact point below which a robot counts as stationary, m/s: robot_sf's value, as in the ``stalled_time`` metric."""

EVEN = 0.1
"""Both parties count as having closed the gap if the robot's share differs from a half by no more than this."""


class Closing(NamedTuple):
    """The speeds at which a robot and the touched party approached each other in the step of their contact.

    Attributes:
        robot: speed of the robot's contact point along the contact's normal towards the party, m/s; negative if it moved away.
        party: speed of the party towards the robot, m/s.
        standing: whether the robot's contact point was slower than `STANDING` in every direction.
    """

    robot: float
    party: float
    standing: bool

    @property
    def share(self) -> float:
        """The robot's share of the closing speed, from 0 to 1. A party that moves away contributes 0; the share is 0 if neither
        party approached.
        """
        robot, party = max(self.robot, 0.0), max(self.party, 0.0)
        return robot / (robot + party) if robot > 0.0 else 0.0

    @property
    def closer(self) -> Closer:
        """The party with the larger share of the closing speed (Tsoi et al. 2022, SEAN 2.0); never a robot that was stationary."""
        if self.standing or self.share < 0.5 - EVEN:
            return Closer.PERSON
        return Closer.ROBOT if self.share > 0.5 + EVEN else Closer.BOTH


class Contact(NamedTuple):
    """A contact: the moment at which a robot begins to touch one party.

    Attributes:
        time: time since the start of the episode, s; detected at physics rate and interpolated to the moment of contact.
        kind: kind of the party.
        party: id of the pedestrian, or number of the robot; -1 for a wall.
        x: position of the robot's centre, x, m.
        y: position of the robot's centre, y, m.
        closing: speeds at which the two parties approached each other; None for a wall, or if not recorded.
    """

    time: float
    kind: ContactKind
    party: int
    x: float
    y: float
    closing: Closing | None = None


def number_type(name: str) -> Any:
    """Return the number type of a channel's readings, given its name in a file, such as ``uint8``.

    Raises:
        ValueError: the type is neither numeric nor boolean.
    """
    if name not in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"):
        raise ValueError(f"readings of a channel: expected numbers, got {name!r}")
    return np.dtype(name)


@dataclass(frozen=True, eq=False, kw_only=True)
class Recording:
    """An episode of one robot with P pedestrians: T samples at control rate, the first at time 0.

    Files contain the fields in this order, with the axes and types declared in this class (`agora.core.declared`).

    Attributes:
        time: (T,) time of the samples, s.
        pose: (T, 3) x, y, heading, m and rad, map frame.
        twist: (T, 3) vx, vy, omega in the robot's frame, m/s and rad/s.
        goal: (3,) goal pose, m and rad.
        goal_tolerance: distance from the goal within which it counts as reached, m.
        radius: radius of the disc around the robot's footprint, m.
        max_speed: maximum speed of the robot, m/s.
        pedestrian_position: (T, P, 2) positions, m.
        pedestrian_velocity: (T, P, 2) velocities, m/s.
        pedestrian_heading: (T, P) headings, rad.
        pedestrian_present: (T, P) whether a pedestrian is present; values of absent pedestrians are meaningless.
        pedestrian_radius: (P,) radii, m.
        pedestrian_id: (P,) ids.
        pedestrian_group: (T, P) group number of each pedestrian; -1 if none.
        undisturbed: (T, P, 2) positions that the pedestrians would have had without robots (`agora.engine.undisturbed`), m; None if
            not requested.
        pedestrian_state: (T, P) social states, as indices into `agora.core.state.SOCIAL_STATES`; None if no behaviour set them.
        contacts: contact events at physics rate, in chronological order.
        outcome: how the episode ended.
        timeout: time limit, s.
        shortest_path: length of the shortest path of this robot from start to goal, m; infinite if there is none
            (`agora.tasks.budget.shortest_way`).
        map: static surroundings; None for an empty plane.
        planning_time: (C,) wall-clock time of each control call, excluding Numba compilation, s; not reproducible.
        clipped: number of twists that exceeded the limits.
        asked_again: number of planner calls for several robots that failed, after which the planner was called for this robot
            alone; not reproducible.
        failure: exception of a failed planner, or message of a failed simulator, as text.
        command: (T - 1, 3) the commanded twist at each call, in the robot's frame, before limits and delay. None if not recorded.
        reason: (T - 1,) number of the `Reason` at each call of the planner; None if not recorded, as in bags from a real robot.
        speed_limit: (T - 1,) speed limit that an interplanner gave the local planner, as a fraction of its top speed. None without
            an interplanner.
        danger: (T - 1,) level of danger from 0 to 1, as rated by an interplanner. None without an interplanner.
        robot: (1, 1) traits of the robot, which include its limits and its outline; None if not recorded.
        command_delay: time from a command to its effect, s.
        reference_path: length of the path that was published with the world, m; None if no path was published.
        shortest_turn: sum of the turns along the shortest path, starting with the turn from the initial heading, rad; None if there
            is no path or it was not recorded.
        door: (T,) opening of the map's door, 0 to 1; None for a map without a moving door.
        planned_path: (K, 3) the robot's global paths, concatenated: time, x and y of each point, s and m. Each path is valid until
            the time of the next path. A path with a single point, at the robot's position, means that there was no path. None if
            the planner read no path, or if not recorded.
        sensors: readings of the recorded channels at each call of the planner, by channel and field: (T - 1, ...), with the field's
            type. The "scan" channel has the ``ranges`` field.
    """

    outcome: Outcome
    failure: str = ""
    clipped: int = 0
    asked_again: int = 0
    map: Map | None = None
    goal_tolerance: float
    radius: float
    max_speed: float
    timeout: float
    shortest_path: float
    goal: Doubles = field(metadata=axes("3"))
    contacts: tuple[Contact, ...]
    time: Doubles = field(metadata=axes("T"))
    pose: Doubles = field(metadata=axes("T 3", stored=np.float32))
    twist: Doubles = field(metadata=axes("T 3", stored=np.float32))
    pedestrian_position: Doubles = field(metadata=axes("T P 2", stored=np.float32, masked=True))
    pedestrian_velocity: Doubles = field(metadata=axes("T P 2", stored=np.float32, masked=True))
    pedestrian_heading: Doubles = field(metadata=axes("T P", stored=np.float32, masked=True))
    pedestrian_present: Bools = field(metadata=axes("T P", np.bool_))
    pedestrian_radius: Doubles = field(metadata=axes("P", stored=np.float32))
    pedestrian_id: Ints = field(metadata=axes("P", np.int32))
    pedestrian_group: Ints = field(metadata=axes("T P", np.int32))
    undisturbed: Doubles | None = field(default=None, metadata=axes("T P 2", stored=np.float32, masked=True))
    pedestrian_state: Ints | None = field(default=None, metadata=axes("T P", np.int32, stored=np.int8, masked=True))
    door: Doubles | None = field(default=None, metadata=axes("T", stored=np.float32))
    command: Doubles | None = field(default=None, metadata=axes("T-1 3", stored=np.float32))
    reason: Ints | None = field(default=None, metadata=axes("T-1", np.int32, stored=np.int8))
    speed_limit: Doubles | None = field(default=None, metadata=axes("T-1", stored=np.float32))
    danger: Doubles | None = field(default=None, metadata=axes("T-1", stored=np.float32))
    planned_path: Doubles | None = field(default=None, metadata=axes("K 3", stored=np.float32))
    reference_path: float | None = None
    shortest_turn: float | None = None
    robot: RobotTraits | None = None
    command_delay: float = 0.0
    sensors: dict[str, dict[str, Array]] = field(default_factory=dict)
    planning_time: Array = field(default_factory=lambda: np.zeros(0), metadata=axes("C", kept=False))
