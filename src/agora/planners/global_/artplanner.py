"""ArtPlanner on the map: a lazy roadmap of poses in which the torso is free and the feet find ground, and the fastest path through
the roadmap.

Source and differences: `agora.planners._roadmaps.plan` and `agora.planners._roadmaps.stance`. Upstream plans on the elevation map
around the robot. This planner uses the whole map (`agora.maps.ground`): steps that the robot cannot climb are obstacles, gaps and
edges that it can step over are unknown, and feet are not placed on unknown cells.

Limitations: if the map's free area is larger than ``vertices / density``, the poses are sparser, and narrow passages may not be
found. The planner is meant for robots that can move sideways and turn in place, not for cars.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np

from agora.core.state import Doubles, Floats
from agora.interfaces import PathRequest
from agora.planners._roadmaps.plan import Drawing, plan
from agora.planners._roadmaps.stance import bodies
from agora.ranges import Chance, Checked, Distance, Length, Number, Positive, TopSpeed, Within
from agora.seeds import key_of

__all__ = ["ArtPlanner"]

_MOST = 2048  # maximum number of poses of a path


@dataclass(frozen=True)
class ArtPlanner(Checked):
    """Samples poses where the roadmap is sparse, connects poses that are close to each other, and takes the fastest path to the
    goal.

    Attributes:
        lon: forward speed assumed in the cost, m/s.
        lat: sideways speed assumed in the cost, m/s.
        yaw: turning rate assumed in the cost, rad/s.
        foot_x: longitudinal distance of the feet from the robot's centre, as a fraction of half the robot's length.
        foot_y: lateral distance of the feet from the robot's centre, as a fraction of half the robot's width.
        foot_reach: side of the box within which a foot must find ground, as a fraction of the robot's length; 0 for a robot without
            feet.
        density: number of roadmap poses per m2.
        vertices: maximum number of poses in the roadmap.
        attempts: maximum number of samples drawn for each pose.
        edge: maximum length of an edge, m.
        start_radius: distance from an invalid start within which a valid pose is searched for, m (published: 0.2).
        spacing: distance between poses of the path, m.
        seed: seed of the random samples.
    """

    fits_outline: ClassVar[bool] = True
    """Whether the planner plans for the outline (`agora.interfaces.GlobalPlanner`)."""

    lon: TopSpeed = 0.5
    lat: TopSpeed = 0.1
    yaw: Positive = 0.5
    foot_x: Chance = 0.51 / 0.655
    foot_y: Chance = 0.2 / 0.325
    foot_reach: Chance = 0.2 / 1.31
    density: Annotated[float, Within(1.0, 10_000.0)] = 100.0
    vertices: Annotated[int, Within(10, 500_000)] = 50_000
    attempts: Annotated[int, Within(1, 1000)] = 50
    edge: Length = 0.5
    start_radius: Distance = 0.5
    spacing: Length = 0.1
    seed: Number = 0

    @cached_property
    def drawing(self) -> Drawing:
        """Return the settings for the kernel."""
        f = np.float32
        key, counts = key_of("artplanner", self.seed, "roadmap"), (self.vertices, self.attempts)
        return Drawing(key, f(self.density), *counts, f(self.edge), f(self.start_radius), f(0.0))

    def path(self, request: PathRequest) -> Floats | None:
        """Return the path (K, 3) of poses from the start to the goal, m and rad; None if there is no path, or the start or goal is
        outside the map.
        """
        way = self.find_poses(request)
        return None if way is None else _resample_poses(way, self.spacing).astype(np.float32)

    def find_poses(self, request: PathRequest) -> Doubles | None:
        """Return the poses (K, 3) between which the path is straight; None if there is no path."""
        place = request.map
        if not place.contains(request.goal[:2]):
            return None
        corner = np.array([*place.origin, 0.0])
        start, goal = ((np.asarray(pose, np.float64) - corner).astype(np.float32)[None] for pose in (request.start, request.goal))
        outline = np.array(request.footprint, np.float32).reshape(1, -1, 2)
        body = bodies(outline, np.full(1, request.radius, np.float32), self.foot_x, self.foot_y, self.foot_reach)
        blocked = np.ascontiguousarray(place.cells, np.uint8)
        foothold = np.ones_like(blocked) if place.unknown is None else np.ascontiguousarray(~place.unknown, np.uint8)
        out, counts, touching = np.empty((1, _MOST, 3), np.float32), np.zeros(1, np.int64), np.zeros(1, np.bool_)
        paces = np.array([[self.lon, self.lat, self.yaw]], np.float32)
        ground = (np.float32(place.resolution), blocked[None], foothold[None])
        plan(
            self.drawing,
            *ground,
            body,
            paces,
            start,
            goal,
            np.zeros(1, np.int64),
            np.zeros(1, np.float32),
            out,
            counts,
            touching,
            0,
            1,
        )
        if counts[0] == 0:
            return None
        way: Doubles = out[0, : counts[0]].astype(np.float64) + corner
        if touching[0]:
            heading = way[0, 2] if math.isnan(request.start[2]) else request.start[2]
            way = np.vstack(([*request.start[:2], heading], way))
        return way


def _resample_poses(way: Doubles, spacing: float) -> Doubles:
    """Return poses (K, 3) on a path, at most ``spacing`` m apart; the heading changes uniformly between the original poses."""
    found = [way[:1]]
    for a, b in zip(way, way[1:], strict=False):
        step = b - a
        step[2] = math.remainder(step[2], math.tau)
        pieces = max(math.ceil(math.hypot(*step[:2]) / spacing - 1e-6), 1)
        found.append(a + step * (np.arange(1, pieces + 1)[:, None] / pieces))
    poses = np.concatenate(found)
    poses[:, 2] = np.pi - np.mod(np.pi - poses[:, 2], 2.0 * np.pi)
    return poses
