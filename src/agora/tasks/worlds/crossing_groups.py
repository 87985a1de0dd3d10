"""TAGA's environment: a robot and people who cross an open area, and groups who stand or walk in it.

S. Sarker Roy et al. 2025, TAGA, which extends the environment of S. Liu et al., "Intention aware robot crowd navigation with
attention-based interaction graph", ICRA 2023; the constants are taken from the authors' code (UK-Roy/crowd_nav_with_group, 27
February 2025).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from agora.core.state import LOOP, Doubles
from agora.draft.people import Person
from agora.draft.scenario import Robot, Scenario
from agora.draft.surroundings import Surroundings
from agora.errors import PlacementError
from agora.maps.grid import Map
from agora.ranges import Checked, Distance, Fraction, NotNegative, Positive, Within
from agora.seeds import Stream

_TRIES = 10_000


@dataclass(frozen=True)
class CrossingGroups(Checked):
    """A plane with a robot, people who walk from one point on a circle to another, and standing groups; for the ``scenario`` modes.

    The robot's start and goal are drawn together until they are far enough apart. A group forms a ring, a V, a grid or a row; the
    first group never forms a row. The centre of the first group is at a fraction of the line from the robot's start to its goal.
    Members who would be too close to someone are shifted at random. All other people start on the circle, opposite their first
    waypoint; later waypoints, which the ``restless`` behaviour uses, are random points on the circle. The circle and the area are
    centred on (0, 0).

    With ``dynamic``, all groups except the first walk, as in the paper (section IV-B); in the authors' code, all groups stand. A
    randomly chosen member leads the group to the point opposite its start and then to random points on the circle. The leader uses
    the stage's first crowd model (Eq. 5: ORCA), and the other members use the second crowd model (Eq. 6: ``leader_follower``), in
    which the first member of a group is the leader.

    In the original, a person who reaches a goal vanishes and restarts on the circle; in Agora, the person continues to the next
    waypoint.

    Attributes:
        people: total number of people.
        groups: number of groups.
        group_size: minimum and maximum number of members of a group.
        dynamic: whether all groups except the first walk; the stage's crowd must then have two ``models``.
        group_radius: minimum and maximum radius of a ring, or distance between neighbours in the other formations, m.
        share: position of the first group, as a fraction of the line from the robot's start to its goal.
        arena: maximum |x| and |y| of the robot's start and goal, and of the centres of all groups except the first, m.
        distance: minimum distance between the robot's start and goal, m.
        apart: minimum distance between the centres of groups, m.
        spacing: minimum distance from group members to everyone else, to the robot's start and goal, and to people's first
            waypoints, m.
        circle: radius of the circle, m.
        circle_noise: maximum noise of starts and waypoints in either direction along each axis, m; it is multiplied by the
            preferred speed.
        circle_offset: if above 0, the noise of starts is instead uniform from 0 to this offset along each axis, m, and independent
            of the speed.
        room: minimum gap between starts on the circle, and between these starts and the robot's start and goal, m.
        robot_radius: radius of the robot, m.
        radius: minimum and maximum radius of pedestrians, m.
        speed: minimum and maximum preferred speed, m/s; speeds above ``top_speed`` are reduced to ``top_speed``.
        top_speed: maximum preferred speed, m/s.
        waypoints: number of waypoints of each walking person.
    """

    people: Annotated[int, Within(0, 1000)] = 20
    groups: Annotated[int, Within(0, 1000)] = 2
    group_size: tuple[int, int] = (3, 4)
    dynamic: bool = False
    group_radius: tuple[float, float] = (1.0, 1.3)
    share: Fraction = 0.7
    arena: Positive = 6.0
    distance: Distance = 8.0
    apart: NotNegative = 3.3
    spacing: Distance = 0.9
    circle: Positive = 6.0 * math.sqrt(2.0)
    circle_noise: NotNegative = 0.5
    circle_offset: NotNegative = 0.0
    room: Distance = 0.25
    robot_radius: Distance = 0.3
    radius: tuple[float, float] = (0.3, 0.5)
    speed: tuple[float, float] = (0.5, 1.5)
    top_speed: Positive = 1.0
    waypoints: Annotated[int, Within(1, 1000)] = 12

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least in {"group_size": 2, "group_radius": 0.1, "radius": 0.01, "speed": 0.01}.items():
            low, high = getattr(self, name)
            if not least <= low <= high:
                raise ValueError(f"{name} must be [min, max] with min at least {least}, got {[low, high]}")
        if self.groups * self.group_size[1] > self.people:
            raise ValueError(f"people must be enough for {self.groups} groups of up to {self.group_size[1]}, got {self.people}")
        if not self.share < 1.0:
            raise ValueError(f"share must be below 1, got {self.share}")
        if not self.distance <= 2.0 * self.arena:
            raise ValueError(f"distance must be in [0, 2 arena], got {self.distance}")

    def unread(self) -> dict[str, str]:
        """Return the parameters that have no effect given the other parameters, and the reasons."""
        return {"circle_noise": f"with circle_offset: {self.circle_offset:g}"} if self.circle_offset > 0 else {}

    def names(self) -> list[str]:
        """Return the name of the only world, which is redrawn for every episode."""
        return ["crossing_groups"]

    def world(self, name: str, stream: Stream) -> Surroundings:
        """Draw the robot's start and goal, the groups, and the walkers.

        Raises:
            PlacementError: there is no room.
        """
        for _ in range(_TRIES):
            start, goal = stream.uniform(-self.arena, self.arena, (2, 2))
            if np.hypot(*(goal - start)) >= self.distance:
                break
        else:
            raise PlacementError(f"no start and goal at least {self.distance} m apart found in {_TRIES} tries")
        people: list[Person] = []
        middles: list[Doubles] = []
        for number in range(self.groups):
            middles.append(self._middle(stream, middles) if middles else start + self.share * (goal - start))
            members = self._members(stream, people, number, middles[-1], np.vstack([start, goal]))
            people += self._led(stream, members) if self.dynamic and number else members
        for _ in range(self.people - len(people)):
            self._walker(stream, people, np.vstack([start, goal]))
        half = self.circle + max(2.0 * self.circle_noise * self.speed[1], self.circle_offset) + 3.0
        headings = stream.uniform(-math.pi, math.pi, 2)
        robot = Robot(*((float(x), float(y), float(turn)) for (x, y), turn in zip((start, goal), headings, strict=True)))
        return Surroundings(Map.open((-half, -half), (half, half)), Scenario((robot,)), people=tuple(people))

    def _middle(self, stream: Stream, others: list[Doubles]) -> Doubles:
        for _ in range(_TRIES):
            point: Doubles = stream.uniform(-self.arena, self.arena, 2)
            if all(np.hypot(*(point - other)) >= self.apart for other in others):
                return point
        raise PlacementError(f"no centre of a group at least {self.apart} m from the other centres found in {_TRIES} tries")

    def _members(self, stream: Stream, people: list[Person], number: int, middle: Doubles, taken: Doubles) -> list[Person]:
        """Return the members of a standing group, which keep clear of ``people`` and ``taken``."""
        members: list[Person] = []
        size, scale = stream.integer(*self.group_size), float(stream.uniform(*self.group_radius))
        kinds = [_ring, _vee, _grid, _row][: 3 if number == 0 else 4]
        for place in middle + scale * kinds[stream.integer(0, len(kinds) - 1)](size):
            others = np.vstack([taken, *(np.vstack([p.position, p.waypoints[0]]) for p in (*people, *members))])
            for _ in range(_TRIES):
                if np.hypot(*(others - place).T).min() >= self.spacing:
                    break
                place = place + stream.uniform(-0.2, 0.2, 2)
            else:
                raise PlacementError(f"no place for a member of group {number}")
            radius, heading = float(stream.uniform(*self.radius)), math.atan2(*(middle - place)[::-1])
            model = 0 if self.dynamic else None
            members.append(Person(place, place[None], 0.0, radius, 2, number, heading=heading, model=model, state="talking"))
        return members

    def _led(self, stream: Stream, members: list[Person]) -> list[Person]:
        """Return the members of a walking group, with the leader first."""
        leader, speed = members[stream.integer(0, len(members) - 1)], float(stream.uniform(*self.speed))
        route = np.vstack([-leader.position, self._on_circle(stream, speed, self.waypoints - 1)])
        like: dict[str, Any] = {"waypoints": route, "speed": min(speed, self.top_speed), "mode": LOOP, "state": "walking"}
        ordered = [leader, *(member for member in members if member is not leader)]
        heading = math.atan2(*(route[0] - leader.position)[::-1])
        return [replace(m, **like, heading=heading, tolerance=m.radius, model=int(k > 0)) for k, m in enumerate(ordered)]

    def _walker(self, stream: Stream, people: list[Person], taken: Doubles) -> None:
        speed, radius = float(stream.uniform(*self.speed)), float(stream.uniform(*self.radius))
        others = [(place, p.radius) for p in people for place in (p.position, p.waypoints[0])]
        keep = np.array([(*place, r) for place, r in others] + [(*place, self.robot_radius) for place in taken])
        for _ in range(_TRIES):
            place = self._start_on_circle(stream, speed)
            if (np.hypot(*(keep[:, :2] - place).T) >= radius + keep[:, 2] + self.room).all():
                break
        else:
            raise PlacementError("no place for a pedestrian on the circle")
        route = np.vstack([-place, self._on_circle(stream, speed, self.waypoints - 1)])
        people.append(
            Person(place, route, min(speed, self.top_speed), radius, LOOP, tolerance=radius, model=0 if self.dynamic else None)
        )

    def _start_on_circle(self, stream: Stream, speed: float) -> Doubles:
        if self.circle_offset == 0.0:
            return self._on_circle(stream, speed, 1).reshape(2)
        angle, offset = float(stream.uniform(0.0, math.tau)), stream.uniform(0.0, self.circle_offset, 2)
        place: Doubles = self.circle * np.array([math.cos(angle), math.sin(angle)]) + offset
        return place

    def _on_circle(self, stream: Stream, speed: float, count: int) -> Doubles:
        """Return positions (count, 2) on the circle; each position takes three draws: the angle, and the noise in x and y."""
        drawn = stream.uniform(shape=(count, 3))
        directions = np.array([(math.cos(angle), math.sin(angle)) for angle in math.tau * drawn[:, 0]]).reshape(count, 2)
        noise = -self.circle_noise + 2.0 * self.circle_noise * drawn[:, 1:]
        places: Doubles = self.circle * directions + speed * noise
        return places


def _ring(size: int) -> Doubles:
    """Return positions (size, 2) relative to the centre, in units of ``group_radius``, as in the authors' code. `_row`, `_vee` and
    `_grid` do the same for the other formations.
    """
    angle = math.tau * np.arange(size) / size
    return np.column_stack((np.cos(angle), np.sin(angle)))


def _row(size: int) -> Doubles:
    return np.column_stack((np.arange(size) - size // 2, np.zeros(size))).astype(float)


def _vee(size: int) -> Doubles:
    k, half = np.arange(size), size // 2
    row = np.abs(k - half) * np.where(k < half, -1, 1)
    return np.column_stack((np.where(k < half, k, k - half), row)).astype(float)


def _grid(size: int) -> Doubles:
    side = math.ceil(math.sqrt(size))
    return np.column_stack((np.arange(size) % side, np.arange(size) // side)).astype(float)
