"""Pedestrians, furniture and static discs at random places."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Annotated, ClassVar

import numpy as np

from agora.core.state import Doubles
from agora.draft.task import Task
from agora.errors import UnknownNameError
from agora.maps.furniture import model_of
from agora.ranges import Checked, Distance, NotNegative, Positive, Within
from agora.seeds import Stream
from agora.tasks.population import MOST, add_furniture, add_pedestrians, robot_places

__all__ = ["Amount", "Random"]


@dataclass(frozen=True)
class Amount(Checked):
    """The number of obstacles of one class, and their models, in the format of Arena 3.0's files.

    Attributes:
        min: minimum number; all numbers from ``min`` to ``max`` are equally likely.
        max: maximum number.
        models: names of models; one is drawn for each obstacle.
        weights: weight of each model; only the ratios of the weights matter. Without weights, all models are equally likely.
    """

    min: int = 0
    max: int = 0
    models: tuple[str, ...] = ()
    weights: tuple[NotNegative, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.min <= self.max <= MOST:
            raise ValueError(f"min and max: expected 0 <= min <= max <= {MOST}, got min {self.min} and max {self.max}")
        if self.max and not self.models:
            raise ValueError("models must name at least one model if max is above 0")
        if self.weights and (len(self.weights) != len(self.models) or not 0 < sum(self.weights) < 1e300):
            raise ValueError(f"weights must have one value for each of the {len(self.models)} models, not all 0")

    def draw(self, stream: Stream) -> list[str]:
        """Draw the number of obstacles, and return the model of each obstacle."""
        count = stream.integer(self.min, self.max)
        steps = list(accumulate(self.weights or (1.0,) * len(self.models)))
        last = max((k for k, weight in enumerate(self.weights) if weight > 0), default=len(steps) - 1)
        drawn = (bisect_right(steps, float(stream.uniform(0.0, steps[-1]))) for _ in range(count))
        return [self.models[min(k, last)] for k in drawn]


@dataclass(frozen=True)
class Random(Checked):
    """Uniformly drawn numbers of pedestrians and static obstacles.

    The pedestrians' types and reactions are drawn with the proportions in the suite's ``people``. They are drawn from a separate
    random stream, so that changing the proportions does not change the positions, as long as the sizes are the same. A group walks
    at the pace of its slowest type.

    Attributes:
        dynamic: minimum and maximum number of pedestrians, or a mapping with min, max, models (their looks) and weights, as in
            Arena 3.0.
        static: minimum and maximum number of static discs, or a mapping with min, max, models (of furniture) and weights.
        interactive: furniture that pedestrians use, as a mapping with min, max, models and weights.
        static_radius: minimum and maximum radius of the discs, m.
        waypoints: number of waypoints of each pedestrian; the last waypoint is the pedestrian's start.
        clearance: distance from starts and waypoints to walls, m.
        keep_clear: distance between robots' starts or goals and pedestrians' starts or static obstacles, m.
        group_size: minimum and maximum number of members of a walking group; the members share their waypoints. 1, 1 for no groups.
    """

    uses: ClassVar = frozenset({"random places", "people"})

    dynamic: tuple[int, int] | Amount = (0, 0)
    static: tuple[int, int] | Amount = (0, 0)
    interactive: Amount = Amount()
    static_radius: tuple[Positive, Positive] = (0.2, 0.5)
    waypoints: Annotated[int, Within(1, MOST)] = 2
    clearance: Distance = 0.5
    keep_clear: Distance = 1.5
    group_size: tuple[int, int] = (1, 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("dynamic", "static", "group_size"):
            range_ = getattr(self, name)
            if not isinstance(range_, Amount) and not (1 if name == "group_size" else 0) <= range_[0] <= range_[1] <= MOST:
                raise ValueError(f"{name} must be [min, max], at most {MOST}, got {list(range_)}")
        for name in ("static", "interactive"):
            for model in getattr(getattr(self, name), "models", ()):
                try:
                    model_of(model)
                except UnknownNameError as error:
                    raise ValueError(f"{name}: {error}") from error
        if not self.static_radius[0] <= self.static_radius[1]:
            raise ValueError(f"static_radius must be [min, max], got {list(self.static_radius)}")

    def unread(self) -> dict[str, str]:
        """Return the parameters that have no effect given the other parameters, and the reasons."""
        if isinstance(self.static, Amount) or self.static[1] == 0:
            return {"static_radius": "without static discs"}
        return {}

    def place(self, task: Task) -> None:
        """Add furniture, discs and pedestrians to the task.

        Raises:
            PlacementError: there is no room.
        """
        if not isinstance(self.static, Amount):
            self._discs(task, self.static, robot_places(task, self.keep_clear, goals=True))
        static = self.static.draw(task.stream) if isinstance(self.static, Amount) else []
        interactive = self.interactive.draw(task.stream) if self.interactive.max else []
        add_furniture(task, [("static", m) for m in static] + [("interactive", m) for m in interactive], self.keep_clear)
        if isinstance(self.dynamic, Amount):
            looks = self.dynamic.draw(task.stream)
        else:
            looks = ["actor1"] * task.stream.integer(*self.dynamic)
        group = 1 + max((person.group for person in task.pedestrians), default=-1)
        while looks:
            size = min(task.stream.integer(*self.group_size), len(looks))
            add_pedestrians(
                task,
                looks[:size],
                waypoints=self.waypoints,
                clearance=self.clearance,
                keep_clear=self.keep_clear,
                group=group if size > 1 else -1,
            )
            group += size > 1
            del looks[:size]

    def _discs(self, task: Task, range_: tuple[int, int], taken: Doubles) -> None:
        count = task.stream.integer(*range_)
        if not count:
            return
        radii = task.stream.uniform(*self.static_radius, (count,))
        apart = 2 * self.static_radius[1] + 2 * (task.radius + task.safety)
        keep_out = taken + np.array([0.0, 0.0, self.static_radius[1]])
        centres = task.place(apart - self.static_radius[1], count, apart=apart, keep_out=keep_out)
        discs = np.column_stack([centres, radii])
        task.map = replace(task.map, discs=np.vstack([task.map.discs, discs]))
