"""The start of an episode, with all random draws made and all files read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from agora.core.declared import axes, declared_arrays, empty_arrays
from agora.core.state import SOCIAL_STATES, Bools, Doubles, Ints
from agora.maps.furniture import Furniture
from agora.maps.grid import Map
from agora.ranges import Chance, Distance, Duration
from agora.robots.model import RobotModel
from agora.world.trajectories import Trajectories

__all__ = ["PedestrianStarts", "RobotStart", "Start", "Thing"]

GOAL_TOLERANCE = 0.3
"""Default distance at which a goal counts as reached, m."""

WIDEST_GOAL = 5.0
"""Maximum goal tolerance that a file may set, m. A robot farther away is not at its goal, and a larger value such as 15 is probably
in degrees.
"""


@dataclass(frozen=True, eq=False)
class RobotStart:
    """A robot at the start.

    Attributes:
        model: model of the robot.
        pose: (3,) x, y and heading, m and rad.
        goals: (G, 3) poses to reach one after another, G >= 1; the episode ends at the last one.
        legs: (G,) length of the shortest path to each goal, from the start or the previous goal, m; None if it was not computed.
        turn: total rotation along the path to the first goal, starting from the initial heading, rad; None if there is no path or
            ``legs`` is None.
    """

    model: RobotModel
    pose: Doubles = field(metadata=axes("3"))
    goals: Doubles = field(metadata=axes("G 3"))
    legs: Doubles | None = field(default=None, metadata=axes("G"))
    turn: float | None = None


@dataclass(frozen=True)
class Thing:
    """A piece of furniture in an episode; it is already included in the cells and shapes of the map.

    Attributes:
        name: unique name, e.g. "S_shelf_1".
        kind: whether the piece is static, or interactive, i.e. used by pedestrians.
        furniture: model and pose of the piece.
    """

    name: str
    kind: Literal["static", "interactive"]
    furniture: Furniture


@dataclass(frozen=True)
class Habits:
    """A scenario's settings for the social states of one pedestrian; the behaviour chooses values that are None.

    Attributes:
        chat_probability: probability of starting a conversation between two people, evaluated every 0.5 s.
        story_probability: probability of starting to tell a story, evaluated every 0.5 s.
        group_probability: probability of starting a group conversation, evaluated every 0.5 s.
        stroll_probability: probability of starting a conversation while walking, evaluated every 0.5 s.
        chat_time: typical duration of a conversation between two people, s.
        story_time: typical duration of a story, s.
        group_time: typical duration of a group conversation, s.
        stroll_time: typical duration of a conversation while walking, s.
        talk_distance: maximum distance for a conversation, m.
        wait_time: time for which the pedestrian waits at the start, s.
        trigger_radius: distance to a robot at which the waiting pedestrian starts to move, m; 0 for no such condition.
    """

    chat_probability: Chance | None = None
    story_probability: Chance | None = None
    group_probability: Chance | None = None
    stroll_probability: Chance | None = None
    chat_time: Duration | None = None
    story_time: Duration | None = None
    group_time: Duration | None = None
    stroll_time: Duration | None = None
    talk_distance: Distance | None = None
    wait_time: Duration = 0.0
    trigger_radius: Distance = 0.0


@dataclass(frozen=True, eq=False)
class PedestrianStarts:
    """The P simulated pedestrians at the start.

    Attributes:
        position: (P, 2) positions, m.
        speed: (P,) preferred speed, m/s.
        radius: (P,) body radii, m.
        group: (P,) number of the walking group, -1 if none.
        id: (P,) ids.
        waypoints: (P, K, 2) waypoints, m.
        waypoint_count: (P,) number of valid waypoints of each pedestrian.
        mode: (P,) waypoint mode: 0 for a loop, 1 for random order, 2 to stay at the last waypoint, 3 to leave the world at the last
            waypoint. In modes 0 and 1, pedestrians whose waypoints are a single place (`one_place`) stay there.
        tolerance: (P,) distance at which a waypoint counts as reached, m.
        velocity: (P, 2) velocities, m/s.
        heading: (P,) headings, rad; by default towards the first waypoint.
        model: (P,) index of the crowd model in the stage's list; by default the first.
        type: (P,) types, as indices into `agora.core.state.TYPES`; by default adults.
        reaction: (P,) reactions to robots, as indices into `agora.core.state.REACTIONS`; by default regular.
        state: (P,) initial social states, as indices into `agora.core.state.SOCIAL_STATES`; by default walking.
        state_time: (P,) time at which the initial state ends, s; 0 for a state that behaviours may change at any time
            (`agora.pedestrians.behaviours.given_states`).
        state_radius: (P,) distance to a robot at which the initial state also ends, m; 0 for no such condition.
        talk: (P,) number of the conversation that the pedestrian takes part in at the start, -1 if none.
        habits: habits, one per pedestrian; empty if no pedestrian has individual habits.
        waits: (P, K) waiting time before setting out for each waypoint, s.
        company: (P, 3) distance at which to accompany the nearest robot, m, and the start and end times, s. By default, pedestrians
            neither wait nor accompany robots (`agora.pedestrians.behaviours.cues`).
        doing: (P, K) activity while waiting before setting out for each waypoint, as an index into
            `agora.core.state.SOCIAL_STATES`, -1 if none.
        facing: (P, K) heading during that activity, rad.
        enters: (P,) time at which each pedestrian enters the world, s. People who are present at the start come first, and all
            others follow in ascending order of time. By default, all are present at the start.
    """

    position: Doubles = field(metadata=axes("P 2"))
    speed: Doubles = field(metadata=axes("P"))
    radius: Doubles = field(metadata=axes("P"))
    group: Ints = field(metadata=axes("P", np.int32))
    id: Ints = field(metadata=axes("P", np.int32))
    waypoints: Doubles = field(metadata=axes("P K 2"))
    waypoint_count: Ints = field(metadata=axes("P", np.int32))
    mode: Ints = field(metadata=axes("P", np.int32))
    tolerance: Doubles = field(metadata=axes("P"))
    velocity: Doubles = field(metadata=axes("P 2"))
    heading: Doubles = field(default_factory=lambda: np.zeros(0), metadata=axes("P"))
    model: Ints = field(default_factory=lambda: np.zeros(0, np.int32), metadata=axes("P", np.int32))
    type: Ints = field(default_factory=lambda: np.zeros(0, np.int32), metadata=axes("P", np.int32))
    reaction: Ints = field(default_factory=lambda: np.zeros(0, np.int32), metadata=axes("P", np.int32))
    state: Ints = field(default_factory=lambda: np.zeros(0, np.int32), metadata=axes("P", np.int32))
    habits: tuple[Habits, ...] = ()
    waits: Doubles = field(default_factory=lambda: np.zeros((0, 0)), metadata=axes("P K"))
    company: Doubles = field(default_factory=lambda: np.zeros((0, 3)), metadata=axes("P 3"))
    doing: Ints = field(default_factory=lambda: np.zeros((0, 0), np.int32), metadata=axes("P K", np.int32))
    facing: Doubles = field(default_factory=lambda: np.zeros((0, 0)), metadata=axes("P K"))
    enters: Doubles = field(default_factory=lambda: np.zeros(0), metadata=axes("P"))
    state_time: Doubles = field(default_factory=lambda: np.zeros(0), metadata=axes("P"))
    state_radius: Doubles = field(default_factory=lambda: np.zeros(0), metadata=axes("P"))
    talk: Ints = field(default_factory=lambda: np.zeros(0, np.int32), metadata=axes("P", np.int32))

    def __post_init__(self) -> None:
        ahead = self.waypoints[:, 0] - self.position
        walking = SOCIAL_STATES.index("walking")
        given = {
            "heading": np.arctan2(ahead[:, 1], ahead[:, 0]),
            "model": 0,
            "type": 0,
            "reaction": 0,
            "state": walking,
            "talk": -1,
        }
        for name, value in given.items():
            if len(getattr(self, name)) == 0:
                kind = np.float64 if name == "heading" else np.int32
                object.__setattr__(self, name, np.full(len(self.id), value, kind))
        listed = self.waypoints.shape[:2]
        zeros = {"waits": listed, "company": (len(self.id), 3), "facing": listed}
        for name, shape in (zeros | dict.fromkeys(("enters", "state_time", "state_radius"), listed[:1])).items():
            if not getattr(self, name).size:
                object.__setattr__(self, name, np.zeros(shape))
        if not self.doing.size:
            object.__setattr__(self, "doing", np.full(listed, -1, np.int32))

    @property
    def at_first(self) -> int:
        """One more than the index of the last pedestrian present at the start."""
        there = np.flatnonzero(self.enters <= 0)
        return int(there[-1]) + 1 if len(there) else 0

    @property
    def one_place(self) -> Bools:
        """(P,) whether a pedestrian's waypoints are a single place, i.e. whether all are within the tolerance of the first
        waypoint.
        """
        length, count = self.waypoints.shape[1], self.waypoint_count[:, None]
        away = self.waypoints - self.waypoints[:, :1]
        apart = np.hypot(away[..., 0], away[..., 1])
        return np.asarray(((apart <= self.tolerance[:, None]) | (np.arange(length) >= count)).all(axis=1))

    def moved(self, ids: Ints, position: Doubles, velocity: Doubles, heading: Doubles) -> PedestrianStarts:
        """Return a copy in which the pedestrians with the given ``ids`` (K,) have new positions and velocities (K, 2) and headings
        (K,).
        """
        place = {int(i): k for k, i in enumerate(self.id)}
        mine = [(place[int(i)], k) for k, i in enumerate(ids) if int(i) in place]
        here, there = [a for a, _ in mine], [b for _, b in mine]
        given = {"position": position, "velocity": velocity, "heading": heading}
        fresh = {name: getattr(self, name).copy() for name in given}
        for name, values in given.items():
            fresh[name][here] = np.asarray(values)[there]
        return replace(self, **fresh)

    @staticmethod
    def none() -> PedestrianStarts:
        """Return an empty set of pedestrians."""
        return PedestrianStarts(**empty_arrays(PedestrianStarts, tuple(declared_arrays(PedestrianStarts)), P=0, K=1))  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Start:
    """The complete start state of an episode.

    Attributes:
        entry: name of the episode, ``suite/stage/episode``; together with the seed, it determines the keys of all random streams.
        seed: seed of the episode.
        map: static surroundings.
        robots: the R robots.
        pedestrians: simulated pedestrians.
        timeout: time limit, s.
        goal_tolerance: distance at which a goal counts as reached, m.
        heading_tolerance: deviation from the goal heading within which a goal counts as reached, rad; pi or more accepts any
            heading.
        replay: recorded pedestrians, which occupy the slots after the simulated ones.
        replay_radius: radius of recorded pedestrians, m.
        replay_phase: (n,) time offset by which each recorded pedestrian is ahead, s; empty for no offsets.
        things: furniture that is on the map during the episode.
        names: names of the simulated pedestrians, e.g. "D_actor1_1", for simulators that display them.
        looks: appearances of the simulated pedestrians, e.g. "actor1", for simulators that display them.
        furniture: furniture on the map that pedestrians can use.
        reference_path: length of the reference path published with the world, m.
    """

    entry: str
    seed: int
    map: Map
    robots: tuple[RobotStart, ...]
    pedestrians: PedestrianStarts
    timeout: float
    goal_tolerance: float = GOAL_TOLERANCE
    heading_tolerance: float = float(np.pi)
    replay: Trajectories | None = None
    replay_radius: float = 0.3
    replay_phase: Doubles = field(default_factory=lambda: np.zeros(0), metadata=axes("n"))
    things: tuple[Thing, ...] = ()
    names: tuple[str, ...] = ()
    looks: tuple[str, ...] = ()
    furniture: tuple[Furniture, ...] = ()
    reference_path: float | None = None

    @property
    def crowd_size(self) -> int:
        """Number of pedestrian slots that the episode needs."""
        return len(self.pedestrians.id) + (0 if self.replay is None else len(self.replay.id))
