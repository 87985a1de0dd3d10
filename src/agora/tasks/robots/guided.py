"""Robots that cycle through a list of waypoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from agora.config import load
from agora.core.state import Doubles
from agora.draft.placement import component_of, room_at_border
from agora.draft.scenario import Pose, pose_of
from agora.draft.task import Task
from agora.errors import PlacementError
from agora.ranges import Checked, Robots
from agora.tasks.budget import enough_goals
from agora.yaml_tree import location_of


@dataclass(frozen=True)
class Route:
    """The keys of a waypoint file.

    Attributes:
        waypoints: poses x, y, heading, or points x, y.
        start: start pose of the first robot; random if not given.
    """

    waypoints: tuple[Pose, ...]
    start: Pose | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "waypoints", tuple(pose_of("waypoints", point) for point in self.waypoints))
        if self.start is not None:
            object.__setattr__(self, "start", pose_of("start", self.start))


@dataclass(frozen=True)
class Guided(Checked):
    """Arena's ``guided``: robots drive to one waypoint after another in a loop.

    An episode ends with a time-out or a contact. Without waypoints, robots do not move. Waypoints and the start are given in the
    frame of the map file.

    Attributes:
        waypoints: poses x, y, heading, or points x, y.
        file: path of a file with a list ``waypoints`` and, optionally, a ``start``; used instead of ``waypoints`` and ``start``.
        start: start pose of the first robot. If not given, the robot starts at a random pose from which the waypoints can be
            reached, like all other robots.
        count: number of robots.
    """

    uses: ClassVar = frozenset({"random places"})

    waypoints: tuple[Pose, ...] = ()
    file: str = ""
    start: Pose | None = None
    count: Robots = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        route = Route(self.waypoints, self.start)
        object.__setattr__(self, "waypoints", route.waypoints)
        object.__setattr__(self, "start", route.start)
        if self.file and (self.waypoints or self.start):
            raise ValueError("file cannot be combined with waypoints or start")
        if self.file:
            self.route()

    def route(self) -> Route:
        """Return the waypoints and the start, which are read from the file if a file is given.

        Raises:
            InputError: the file cannot be read or does not have this format.
        """
        return load(self.file, Route) if self.file else Route(self.waypoints, self.start)

    def with_waypoint(self, waypoint: Pose) -> Guided:
        """Return the mode with a waypoint appended to the waypoint list, for RViz's goal tool."""
        route = self.route()
        return replace(self, file="", waypoints=(*route.waypoints, waypoint), start=route.start)

    def restarted(self, pose: Pose) -> Guided:
        """Return the mode with an empty waypoint list and the given start pose, for RViz's pose estimate tool."""
        return replace(self, file="", waypoints=(), start=pose)

    def place(self, task: Task) -> list[tuple[Doubles, Doubles]]:
        """Return start poses and goals.

        Raises:
            PlacementError: a waypoint or the start is off the map, has no room for the robot, or cannot be reached from the other
                points.
        """
        route = self.route()
        points = task.map.from_file(np.reshape(route.waypoints, (-1, 3)))
        fixed = task.map.from_file(np.reshape([] if route.start is None else [route.start], (-1, 3)))
        self._check(task, points, fixed)
        known = np.vstack([fixed, points])
        clearance = task.radius + task.safety
        anchor = {"connected_to": known[0], "passage": task.radius} if len(known) else {}
        keep_out = np.column_stack([fixed[:, :2], np.full(len(fixed), 2 * clearance)])
        drawn = task.place(clearance, self.count - len(fixed), apart=2 * clearance, keep_out=keep_out, **anchor)
        headings = task.stream.uniform(-np.pi, np.pi, (len(drawn),))
        starts = np.vstack([fixed, np.column_stack([drawn, headings])])
        routes = [(start, points if len(points) else start[None]) for start in starts]
        return [(start, self._cycle(task, goals, routes)) for start, goals in routes]

    def _cycle(self, task: Task, points: Doubles, routes: Sequence[tuple[Doubles, Doubles]]) -> Doubles:
        """Return the waypoints, repeated in a cycle until there are more than a robot can reach before the time-out."""
        steps = np.hypot(*(points[:, :2] - np.roll(points[:, :2], 1, axis=0)).T)
        count = enough_goals(task, float(steps.min()), routes)
        return points[np.arange(max(count, len(points))) % len(points)]

    def _check(self, task: Task, points: Doubles, fixed: Doubles) -> None:
        """Check that the robot fits at every given point, and that each point can be reached from every other point."""
        components = component_of(task.map, task.radius, inside=True)
        named: list[tuple[str, tuple[str | int, ...], Doubles]] = [("start", ("start",), pose) for pose in fixed]
        named += [(f"waypoint {k}", ("waypoints", k), pose) for k, pose in enumerate(points)]
        first = 0
        for name, keys, (x, y, heading) in named:
            least = room_at_border(task.radius, heading if name == "start" else None)
            row, column = task.map.cell_of((x, y))
            component = int(components[row, column]) if task.map.margin((x, y)) >= least else 0
            first = first or component
            if component and component == first:
                continue
            where = location_of(self.file, *keys) if self.file else name
            fault = "cannot be reached from the others" if component else f"has no room for a robot of radius {task.radius:g} m"
            raise PlacementError(f"{where}: in map {task.map.name!r}, {task.map.place((x, y))} {fault}")
