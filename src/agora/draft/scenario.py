"""Scenario files: the JSON of arena-rosnav, one start situation with goals, accepted unchanged.

The keys are the fields of the dataclasses below; `Pedestrian` has those of the message ``pedsim_msgs/Ped``. Lengths are metres,
angles radians. Poses and points may leave out the angle, which then is 0.
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
"""x, y and heading; two numbers are taken as heading 0, and headings are put into (-pi, pi]."""

MOVES = ("walking", "running")
"""The states that need a way."""
TALKS = ("talking", "listening", "telling")
"""The states that need somebody else."""
GIVEN = (*MOVES, "idle", *TALKS, "texting", "phone", "interacting", "queueing", "sitting", "working")
"""The social states that a scenario may give."""
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
    """Return x, y and the heading, put into (-pi, pi], of two or three numbers.

    Raises:
        ValueError: there are more or fewer, or the heading is more than two turns; the message begins with the key.
    """
    if len(values) not in (2, 3):
        raise ValueError(f"{key} must be [x, y] or [x, y, heading], not {len(values)} numbers")
    return (values[0], values[1], heading_of(key, values[2] if len(values) == 3 else 0.0))


def heading_of(key: str, heading: float) -> float:
    """Return a heading put into (-pi, pi].

    Raises:
        ValueError: it is more than two turns; the message begins with the key.
    """
    if abs(heading) > 2 * math.tau:
        raise ValueError(f"{key}: a heading of {heading:g} is more than two turns{meant_degrees(heading, 0.0)}")
    return heading if -math.pi < heading <= math.pi else math.pi - (math.pi - heading) % math.tau


@dataclass(frozen=True)
class Robot:
    """The start and the goal of a robot.

    Attributes:
        start: pose at the start.
        goal: pose of the goal.
    """

    start: Pose
    goal: Pose

    def __post_init__(self) -> None:
        for key in ("start", "goal"):
            object.__setattr__(self, key, pose_of(key, getattr(self, key)))


@dataclass(frozen=True)
class Obstacle:
    """A static obstacle, or one that pedestrians use (interactive).

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
    """A pedestrian; values that are None are up to the crowd model.

    Attributes:
        name: unique name.
        pos: pose at the start. A heading of 0, which editors write by default, is ignored for pedestrians who walk or talk: they
            look to the first waypoint, or to the partner.
        waypoints: points to walk to, each x, y and a third number, which is documented as a radius but holds headings in many
            files: it is kept but has no effect; ``waypoint_radius`` is used.
        type: "adult", "child", "elder" ..., also as "human/adult".
        model: looks of the pedestrian.
        waypoint_mode: 0 in a loop, 1 in random order, 2 once and stay at the last.
        waypoint_radius: distance from a waypoint at which it counts as reached, m.
        id: as in the message.
        yaml_file: as in the message.
        configuration: as in the message.
        number_of_peds: number of pedestrians of the entry: NAME_0, NAME_1, ... side by side around the place; one if missing or 0.
        vmax: largest speed, m/s.
        start_up_mode: condition for its start: at once, after some time, or with a robot nearby.
        wait_time: time to wait, s, for "wait_timer".
        trigger_zone_radius: distance of the robot, m, for "trigger_zone".
        *_probability: of entering a social state, each time it is asked.
        max_talking_distance: largest distance of a talk, m.
        max_servicing_radius: largest distance of a service, m.
        *_base_time: typical duration of a social state, s.
        force_factor_desired: factor of the desired force.
        force_factor_obstacle: factor of the obstacle force.
        force_factor_social: factor of the social force.
        force_factor_robot: factor of the robot's force.
        heading: heading at the start, rad, instead of the third number of ``pos``; 0 is east here.
        state: social state at the start, which no random event changes: walking, running, idle, talking, listening, telling,
            texting, phone, interacting, queueing, sitting or working. A person who walks or runs needs waypoints, and one who is
            texting or on the phone follows its waypoints, if any, at half the speed; everybody else stands at ``pos``.
        partners: name, or names, of its conversation partners; they do not have to name it in turn. The state is "talking" if none
            is given.
        state_time: time at which the state ends, s; at the end of the episode if not given. A ``start_up_mode`` ends it too.
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
                raise ValueError(f"waypoints must be [x, y] or [x, y, radius]; number {number} has {len(point)} numbers")
        points = tuple((point[0], point[1], point[2] if len(point) == 3 else 0.0) for point in self.waypoints)
        object.__setattr__(self, "waypoints", points)

    @property
    def people(self) -> int:
        """Number of people of the entry."""
        return max(self.number_of_peds or 1, 1)

    def _settle_heading(self) -> None:
        """Put the heading into one turn."""
        if self.heading is None:
            return
        heading = heading_of("heading", self.heading)
        object.__setattr__(self, "heading", heading)
        if self.pos[2] not in (0.0, heading):
            raise ValueError(f"heading is {heading:g}, but the third number of pos is {self.pos[2]:g}; leave one of them out")

    def _settle_state(self) -> None:
        """Check the state, which is "talking" where only partners are given."""
        if self.partners is not None:
            names = (self.partners,) if isinstance(self.partners, str) else tuple(dict.fromkeys(self.partners))
            if not names or self.name in names:
                raise ValueError(f"with: {self.name!r} must talk with another pedestrian, got {', '.join(names) or 'nobody'}")
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
                f"with: a pedestrian that is {self.state!r} does not talk; with needs one of the states {', '.join(TALKS)}"
            )
        if self.state in MOVES and not self.waypoints:
            raise ValueError(f"state: {self.state!r} needs waypoints; for a pedestrian that stays, use 'idle'")


@dataclass(frozen=True)
class Obstacles:
    """The obstacles and pedestrians of a scenario.

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
        robots: robots, one entry each.
        obstacles: obstacles and pedestrians.
        map: name of its world.
        resets: number of times that Arena once played it; not used.
    """

    robots: tuple[Robot, ...]
    obstacles: Obstacles = field(default_factory=Obstacles)
    map: str | None = None
    resets: Number | None = None

    def moved(self, by: tuple[float, float]) -> Scenario:
        """The scenario with all its places moved by an offset, m."""

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
    """Read a scenario file, with its places in the frame of a map.

    Raises:
        InputError: as `read_scenario`.
    """
    scenario, (x, y) = read_scenario(path), place.offset
    return scenario.moved((-x, -y)) if x or y else scenario


def read_scenario(path: str | Path) -> Scenario:
    """Read a scenario file.

    Raises:
        InputError: the file cannot be read, is of an older format, or holds something else; names file, line and key.
    """
    try:
        return load(path, Scenario)
    except InputError as error:
        found = older_format(keys_of(path))
        if found:
            raise InputError(f"{path}: this is {found}; expected the keys robots and obstacles {{static, dynamic}}") from error
        raise


def keys_of(path: str | Path) -> set[str]:
    """Return the keys of a file; none where it cannot be read."""
    try:
        return set(load(path, dict[str, Any]))
    except InputError:
        return set()


def older_format(keys: set[str]) -> str:
    """Return the former format of a file with these keys that is not a scenario; empty if it is just wrong."""
    if "obstacles" in keys:
        return ""
    if len(keys & _OLDER) >= 2:
        old = "a scenario in arena-tools' old format (pedsim_agents, robot_position), which Arena 3.0 does not read either"
        return f"{old}; agora scenario convert rewrites it"
    return "a file in the format before arena-tools (a list of scenarios with scenes and watchers)" if keys & _OLDEST else ""


def write_scenario(scenario: Scenario, path: str | Path) -> None:
    """Write a scenario file that `read_scenario` and arena-rosnav read; fields that are None are left out.

    Raises:
        InputError: the file cannot be written, or a number is not finite.
    """
    path = Path(path)
    try:
        write_whole(path, scenario_text(scenario))
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error}") from error


def scenario_text(scenario: Scenario) -> str:
    """Return the text of a scenario's file; fields that are None are left out."""
    return json.dumps(_without_none(plain(scenario)), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    return [_without_none(item) for item in value] if isinstance(value, list) else value
