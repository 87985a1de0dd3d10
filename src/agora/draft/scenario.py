"""Scenario files in arena-rosnav's JSON format, which are accepted unchanged. A file contains one start situation with goals.

The keys are the fields of the dataclasses below; the keys of `Pedestrian` are those of the message ``pedsim_msgs/Ped``. Lengths are
in metres and angles in radians. The angle of a pose or point may be omitted; it is then 0.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from agora.config import load, plain
from agora.core.state import REACTIONS, SOCIAL_STATES
from agora.errors import InputError, nearest
from agora.files import write_whole
from agora.maps.frame import moved
from agora.maps.grid import Map
from agora.ranges import Chance, Distance, Duration, Factor, Number, Period, WalkingSpeed, Within, meant_degrees

__all__ = ["Pedestrian"]

Pose = tuple[float, ...]
"""x, y and heading; a missing heading is 0, and headings are wrapped to (-pi, pi]."""

MOVES = ("walking", "running")
"""The states that need waypoints."""
TALKS = ("talking", "listening", "telling")
"""The states that need a partner."""
GIVEN = (*MOVES, "idle", *TALKS, "texting", "phone", "interacting", "queueing", "sitting", "working")
"""The social states that a scenario may specify."""
_OF_ROBOTS = tuple(state for state in SOCIAL_STATES if state not in GIVEN)
_WORDS = {
    **dict.fromkeys(("wait", "waiting", "stand", "standing", "still", "stay", "staying"), "idle"),
    **dict.fromkeys(("phoning", "calling", "telephoning", "on the phone"), "phone"),
    **dict.fromkeys(("chat", "chatting", "conversation", "speaking", "discussing"), "talking"),
    **dict.fromkeys(("tellstory", "storytelling"), "telling"),
    **dict.fromkeys(("queuing", "lining up"), "queueing"),
}
"""Other names of some states."""

_OLDER = {"format", "pedsim_agents", "static_obstacles", "robot_position", "robot_goal", "map_path"}
_OLDEST = {"scenarios"}


def pose_of(key: str, values: Pose) -> Pose:
    """Return x, y and the heading, wrapped to (-pi, pi], from two or three numbers.

    Raises:
        ValueError: the number of values is wrong, or the heading exceeds two turns; the message begins with the key.
    """
    if len(values) not in (2, 3):
        raise ValueError(f"{key} must be [x, y] or [x, y, heading], not {len(values)} numbers")
    return (values[0], values[1], heading_of(key, values[2] if len(values) == 3 else 0.0))


def heading_of(key: str, heading: float) -> float:
    """Return a heading wrapped to (-pi, pi].

    Raises:
        ValueError: the heading exceeds two turns; the message begins with the key.
    """
    if abs(heading) > 2 * math.tau:
        raise ValueError(f"{key}: a heading of {heading:g} is more than two turns{meant_degrees(heading, 0.0)}")
    return heading if -math.pi < heading <= math.pi else math.pi - (math.pi - heading) % math.tau


@dataclass(frozen=True)
class Robot:
    """The start and the goal of a robot.

    Attributes:
        start: pose of the robot at the start.
        goal: goal pose of the robot.
    """

    start: Pose
    goal: Pose

    def __post_init__(self) -> None:
        for key in ("start", "goal"):
            object.__setattr__(self, key, pose_of(key, getattr(self, key)))


@dataclass(frozen=True)
class Obstacle:
    """A static obstacle, or an interactive obstacle, which pedestrians use.

    Attributes:
        name: unique name.
        model: shape, e.g. "shelf".
        pos: pose.
        type: type of the obstacle for pedestrians.
        interaction_radius: distance within which pedestrians use it, m.
    """

    name: str
    model: str
    pos: Pose
    type: str | None = None
    interaction_radius: Distance | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "pos", pose_of("pos", self.pos))


@dataclass(frozen=True)
class Pedestrian:
    """A pedestrian; the crowd model decides values that are None.

    Attributes:
        name: unique name.
        pos: pose at the start. A heading of 0, which editors write by default, is ignored for pedestrians who walk or talk: they
            face the first waypoint or the partner.
        waypoints: points to walk to, each x, y and a third number. The third number is documented as a radius but is a heading in
            many files; it is kept but has no effect, and ``waypoint_radius`` is used instead.
        type: "adult", "child", "elder" ..., also as "human/adult".
        model: appearance of the pedestrian.
        waypoint_mode: 0 for a loop, 1 for random order, 2 to follow the list once and stay at the last waypoint.
        waypoint_radius: distance from a waypoint at which it counts as reached, m.
        id: as in the message ``pedsim_msgs/Ped``.
        yaml_file: as in the message ``pedsim_msgs/Ped``.
        configuration: as in the message ``pedsim_msgs/Ped``.
        number_of_peds: number of pedestrians that the entry stands for: NAME_0, NAME_1, ... side by side around the position; one
            if missing or 0.
        vmax: maximum speed, m/s.
        start_up_mode: when the pedestrian starts: at once, after some time, or when a robot is nearby.
        wait_time: time to wait, s, for "wait_timer".
        trigger_zone_radius: distance to the robot, m, for "trigger_zone".
        *_probability: probability of entering a social state, each time it is evaluated.
        max_talking_distance: maximum distance between people who talk, m.
        max_servicing_radius: maximum distance for a service, m.
        *_base_time: typical duration of a social state, s.
        force_factor_desired: factor of the desired force.
        force_factor_obstacle: factor of the obstacle force.
        force_factor_social: factor of the social force.
        force_factor_robot: factor of the robot's force.
        heading: heading at the start, rad, instead of the third number of ``pos``; unlike in ``pos``, 0 is not ignored and means
            east.
        state: social state at the start, which random events do not change: walking, running, idle, talking, listening, telling,
            texting, phone, interacting, queueing, sitting or working. A person who walks or runs needs waypoints. A person who is
            texting or on the phone follows its waypoints, if any, at half speed. In all other states the person stands at ``pos``.
        partners: name or names of the pedestrian's conversation partners, which need not name this pedestrian in turn. If no state
            is given, the state is "talking".
        state_time: time at which the state ends, s; by default the end of the episode. A ``start_up_mode`` also ends the state.
        reaction: reaction to robots: regular, impassive, surprised, curious, scared or threatening.
    """

    name: str
    pos: Pose
    waypoints: tuple[Pose, ...] = ()
    type: str = "adult"
    model: str = "actor1"
    waypoint_mode: Literal[0, 1, 2] = 1
    waypoint_radius: Annotated[float, Within(0.0, 1000.0, above=True)] | None = None
    id: int | str | None = None
    yaml_file: str | None = None
    number_of_peds: Annotated[int, Within(0, 10_000)] | None = None
    vmax: WalkingSpeed | None = None
    start_up_mode: Literal["default", "wait_timer", "trigger_zone"] | None = None
    wait_time: Duration | None = None
    trigger_zone_radius: Distance | None = None
    max_talking_distance: Distance | None = None
    max_servicing_radius: Distance | None = None
    chatting_probability: Chance | None = None
    tell_story_probability: Chance | None = None
    group_talking_probability: Chance | None = None
    talking_and_walking_probability: Chance | None = None
    requesting_service_probability: Chance | None = None
    requesting_guide_probability: Chance | None = None
    requesting_follower_probability: Chance | None = None
    talking_base_time: Duration | None = None
    tell_story_base_time: Duration | None = None
    group_talking_base_time: Duration | None = None
    talking_and_walking_base_time: Duration | None = None
    receiving_service_base_time: Duration | None = None
    requesting_service_base_time: Duration | None = None
    force_factor_desired: Factor | None = None
    force_factor_obstacle: Factor | None = None
    force_factor_social: Factor | None = None
    force_factor_robot: Factor | None = None
    configuration: str | None = None
    heading: float | None = None
    state: str | None = None
    partners: str | tuple[str, ...] | None = field(default=None, metadata={"key": "with"})
    state_time: Period | None = None
    reaction: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "pos", pose_of("pos", self.pos))
        if self.reaction not in (None, *REACTIONS):
            raise ValueError(f"reaction: no reaction to robots called {self.reaction!r}; {nearest(str(self.reaction), REACTIONS)}")
        self._settle_heading()
        self._settle_state()
        for number, point in enumerate(self.waypoints):
            if len(point) not in (2, 3):
                raise ValueError(f"waypoints must be [x, y] or [x, y, radius]; waypoint {number} has {len(point)} numbers")
        points = tuple((point[0], point[1], point[2] if len(point) == 3 else 0.0) for point in self.waypoints)
        object.__setattr__(self, "waypoints", points)

    @property
    def people(self) -> int:
        """Number of people that the entry stands for."""
        return max(self.number_of_peds or 1, 1)

    def _settle_heading(self) -> None:
        """Wrap the heading to one turn."""
        if self.heading is None:
            return
        heading = heading_of("heading", self.heading)
        object.__setattr__(self, "heading", heading)
        if self.pos[2] not in (0.0, heading):
            raise ValueError(f"heading is {heading:g}, but the third number of pos is {self.pos[2]:g}; leave one of them out")

    def _settle_state(self) -> None:
        """Check the state, which is "talking" if only partners are given."""
        if self.partners is not None:
            names = (self.partners,) if isinstance(self.partners, str) else tuple(dict.fromkeys(self.partners))
            if not names or self.name in names:
                raise ValueError(
                    f"with: {self.name!r} must talk with at least one other pedestrian, got {', '.join(names) or 'nobody'}"
                )
            object.__setattr__(self, "partners", names)
            object.__setattr__(self, "state", self.state or "talking")
        if self.state is None:
            if self.state_time is not None:
                raise ValueError("state_time: has no effect without a state; give the key state too")
            return
        if self.state in _OF_ROBOTS:
            raise ValueError(f"state: {self.state!r} is a reaction to an approaching robot; give the key reaction instead")
        if self.state not in GIVEN:
            word = _WORDS.get(self.state.lower(), self.state.lower())
            raise ValueError(f"state: no state called {self.state!r}; {nearest(word, GIVEN)}")
        if self.partners is not None and self.state not in TALKS:
            raise ValueError(
                f"with: a pedestrian that is {self.state!r} does not talk; the key with needs one of the states {', '.join(TALKS)}"
            )
        if self.state in MOVES and not self.waypoints:
            raise ValueError(f"state: {self.state!r} needs waypoints; for a pedestrian that stays, use 'idle'")


@dataclass(frozen=True)
class Obstacles:
    """The obstacles and pedestrians in a scenario.

    Attributes:
        static: static obstacles.
        interactive: obstacles that pedestrians use.
        dynamic: pedestrians.
    """

    static: tuple[Obstacle, ...] = ()
    interactive: tuple[Obstacle, ...] = ()
    dynamic: tuple[Pedestrian, ...] = ()

    def __post_init__(self) -> None:
        names: set[str] = set()
        for name in [thing.name for thing in self.static + self.interactive] + [person.name for person in self.dynamic]:
            if name in names:
                raise ValueError(f"two obstacles are called {name!r}")
            names.add(name)


@dataclass(frozen=True)
class Scenario:
    """A start situation with goals.

    Attributes:
        robots: one entry per robot.
        obstacles: obstacles and pedestrians.
        map: name of the scenario's world.
        resets: number of times that Arena used to run the scenario; not used.
    """

    robots: tuple[Robot, ...]
    obstacles: Obstacles = field(default_factory=Obstacles)
    map: str | None = None
    resets: Number | None = None

    def moved(self, by: tuple[float, float]) -> Scenario:
        """Return the scenario with all positions shifted by an offset, m."""

        def there(point: Pose) -> Pose:
            x, y = moved(point[:2], by).tolist()
            return (x, y, *point[2:])

        o = self.obstacles
        return replace(
            self,
            robots=tuple(Robot(there(r.start), there(r.goal)) for r in self.robots),
            obstacles=Obstacles(
                static=tuple(replace(thing, pos=there(thing.pos)) for thing in o.static),
                interactive=tuple(replace(thing, pos=there(thing.pos)) for thing in o.interactive),
                dynamic=tuple(replace(p, pos=there(p.pos), waypoints=tuple(map(there, p.waypoints))) for p in o.dynamic),
            ),
        )


def scenario_in(place: Map, path: str | Path) -> Scenario:
    """Read a scenario file and convert its positions to the frame of a map.

    Raises:
        InputError: as for `read_scenario`.
    """
    scenario, (x, y) = read_scenario(path), place.offset
    return scenario.moved((-x, -y)) if x or y else scenario


def read_scenario(path: str | Path) -> Scenario:
    """Read a scenario file.

    Raises:
        InputError: the file cannot be read, has an older format, or is not a scenario; the message gives file, line and key.
    """
    try:
        return load(path, Scenario)
    except InputError as error:
        found = older_format(keys_of(path))
        if found:
            raise InputError(f"{path}: this is {found}; expected the keys robots and obstacles {{static, dynamic}}") from error
        raise


def keys_of(path: str | Path) -> set[str]:
    """Return the keys of a file; an empty set if the file cannot be read."""
    try:
        return set(load(path, dict[str, Any]))
    except InputError:
        return set()


def older_format(keys: set[str]) -> str:
    """Return a description of the older format to which a file with these keys belongs; empty if no known older format has such
    keys.
    """
    if "obstacles" in keys:
        return ""
    if len(keys & _OLDER) >= 2:
        old = "a scenario in arena-tools' old format (pedsim_agents, robot_position), which Arena 3.0 does not read either"
        return f"{old}; agora scenario convert rewrites it"
    return "a file in the format before arena-tools (a list of scenarios with scenes and watchers)" if keys & _OLDEST else ""


def write_scenario(scenario: Scenario, path: str | Path) -> None:
    """Write a scenario file that `read_scenario` and arena-rosnav can read; fields that are None are omitted.

    Raises:
        InputError: the file cannot be written, or a number is non-finite.
    """
    path = Path(path)
    try:
        write_whole(path, scenario_text(scenario))
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error}") from error


def scenario_text(scenario: Scenario) -> str:
    """Return the text of a scenario file; fields that are None are omitted."""
    return json.dumps(_without_none(plain(scenario)), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    return [_without_none(item) for item in value] if isinstance(value, list) else value
